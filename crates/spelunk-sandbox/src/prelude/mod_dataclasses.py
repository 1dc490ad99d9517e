import dataclasses as __sp_dataclasses


def __sp_field_names(value):
    cls = value if str(type(value)) == "<class 'type'>" else type(value)
    return list(getattr(cls, "__annotations__"))


def __sp_asdict(value, *, dict_factory=dict):
    if isinstance(value, dict):
        return {key: __sp_asdict_part(one) for key, one in value.items()}
    return dict_factory([(name, __sp_asdict_part(getattr(value, name))) for name in __sp_field_names(value)])


def __sp_asdict_part(value):
    if isinstance(value, (list, tuple)):
        found = [__sp_asdict_part(one) for one in value]
        return found if isinstance(value, list) else tuple(found)
    if isinstance(value, dict):
        return {key: __sp_asdict_part(one) for key, one in value.items()}
    if __sp_dataclasses.is_dataclass(value) and str(type(value)) != "<class 'type'>":
        return __sp_asdict(value)
    return value


class __sp_Field:
    def __init__(self, name, kind):
        self.name = name
        self.type = kind

    def __repr__(self):
        return "Field(name=" + repr(self.name) + ")"


def __sp_fields(value):
    cls = value if str(type(value)) == "<class 'type'>" else type(value)
    return tuple([__sp_Field(name, kind) for name, kind in getattr(cls, "__annotations__").items()])


def __sp_replaced(value, **changes):
    found = {name: getattr(value, name) for name in __sp_field_names(value)}
    found.update(changes)
    return type(value)(**found)


def __sp_load_dataclasses():
    return {
        "dataclass": __sp_dataclass, "field": __sp_dataclasses.field, "asdict": __sp_asdict,
        "astuple": lambda value: tuple(__sp_asdict(value).values()), "fields": __sp_fields, "replace": __sp_replaced,
        "is_dataclass": __sp_dataclasses.is_dataclass, "MISSING": __sp_dataclasses.MISSING,
        "FrozenInstanceError": __sp_dataclasses.FrozenInstanceError,
    }


def __sp_dataclass(*args, **options):
    order = options.pop("order", False)
    options.pop("slots", None)
    options.pop("kw_only", None)

    def decorate(cls):
        __sp_field_defaults[cls] = {name: getattr(cls, name) for name in __sp_field_names(cls) if hasattr(cls, name)}
        made = __sp_dataclasses.dataclass(**options)(cls) if options else __sp_dataclasses.dataclass(cls)
        if order:
            for name, run in __sp_tuple_orders().items():
                setattr(made, name, run)
        return made
    return decorate(args[0]) if args else decorate


def __sp_tuple_orders():
    def pair(a, b):
        names = __sp_field_names(a)
        return tuple([getattr(a, name) for name in names]), tuple([getattr(b, name) for name in names])

    def lt(self, other):
        a, b = pair(self, other)
        return a < b

    def le(self, other):
        a, b = pair(self, other)
        return a <= b

    def gt(self, other):
        a, b = pair(self, other)
        return a > b

    def ge(self, other):
        a, b = pair(self, other)
        return a >= b
    return {"__lt__": lt, "__le__": le, "__gt__": gt, "__ge__": ge}


__sp_module("dataclasses", __sp_load_dataclasses)
