def __sp_load_urllib():
    return {"parse": __sp_import("urllib.parse", True)}


__sp_module("urllib", __sp_load_urllib)
