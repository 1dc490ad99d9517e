def __sp_load_importlib():
    return {"import_module": lambda name, *rest: __sp_import(name, True), "reload": __sp_same, "util": __sp_Module("importlib.util", {"find_spec": __sp_find_spec})}


def __sp_find_spec(name, *rest):
    try:
        return __sp_import(name, True)
    except ModuleNotFoundError:
        return None


__sp_module("importlib", __sp_load_importlib)
