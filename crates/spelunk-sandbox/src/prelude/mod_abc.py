def __sp_load_abc():
    return {"ABC": __sp_Marker("ABC"), "ABCMeta": __sp_Marker("ABCMeta"), "abstractmethod": __sp_same, "abstractproperty": __sp_property}


__sp_module("abc", __sp_load_abc)
