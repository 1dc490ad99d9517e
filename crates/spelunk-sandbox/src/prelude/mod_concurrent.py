def __sp_load_concurrent():
    return {"futures": __sp_import("concurrent.futures", True)}


__sp_module("concurrent", __sp_load_concurrent)
