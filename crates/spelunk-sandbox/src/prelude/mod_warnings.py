class __sp_CatchWarnings:
    def __init__(self, *args, **kwargs):
        self.record = kwargs.get("record", False)

    def __enter__(self):
        return [] if self.record else None

    def __exit__(self, kind, error, traceback):
        return None


def __sp_load_warnings():
    return {"warn": __sp_ignore, "filterwarnings": __sp_ignore, "simplefilter": __sp_ignore, "resetwarnings": __sp_ignore, "catch_warnings": __sp_CatchWarnings}


__sp_module("warnings", __sp_load_warnings)
