def __sp_no_pickle(*args, **kwargs):
    raise NotImplementedError("pickle is not available in this sandbox; variables persist between cells, and json stores data as text")


def __sp_load_pickle():
    return {"dumps": __sp_no_pickle, "loads": __sp_no_pickle, "dump": __sp_no_pickle, "load": __sp_no_pickle, "HIGHEST_PROTOCOL": 5, "PickleError": ValueError}


__sp_module("pickle", __sp_load_pickle)
