def __sp_load_enum():
    found = {}
    for name in ("Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"):
        base = __sp_Marker(name)
        base.make = __sp_enum_maker(base)
        found[name] = base
    found["auto"] = __sp_Auto
    found["unique"] = __sp_same
    return found


def __sp_enum_maker(base):
    return lambda cls, own, options: __sp_make_enum(cls, own, options, base)


__sp_module("enum", __sp_load_enum)
