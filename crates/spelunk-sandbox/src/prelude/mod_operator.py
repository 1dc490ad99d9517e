def __sp_load_operator():
    def itemgetter(*keys):
        if len(keys) == 1:
            key = keys[0]
            return lambda value: __sp_item(value, key)
        return lambda value: tuple([__sp_item(value, key) for key in keys])

    def deep(value, name):
        for part in name.split("."):
            value = __sp_get(value, part)
        return value

    def attrgetter(*names):
        if len(names) == 1:
            name = names[0]
            return lambda value: deep(value, name)
        return lambda value: tuple([deep(value, name) for name in names])

    def methodcaller(name, *args, **kwargs):
        call = eval("lambda o, a, k: o." + name + "(*a, **k)") if name.isidentifier() else None
        return lambda value: call(value, args, kwargs)

    def setitem(a, b, c):
        a[b] = c

    return {
        "itemgetter": itemgetter, "attrgetter": attrgetter, "methodcaller": methodcaller,
        "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "truediv": lambda a, b: a / b,
        "floordiv": lambda a, b: a // b, "mod": lambda a, b: a % b, "pow": lambda a, b: a ** b, "neg": lambda a: -a, "pos": lambda a: +a,
        "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": __sp_lt, "gt": __sp_gt, "le": __sp_le, "ge": __sp_ge,
        "and_": lambda a, b: a & b, "or_": lambda a, b: a | b, "xor": lambda a, b: a ^ b, "not_": lambda a: not a, "inv": lambda a: ~a,
        "lshift": lambda a, b: a << b, "rshift": lambda a, b: a >> b, "contains": lambda a, b: b in a, "getitem": lambda a, b: a[b],
        "setitem": setitem, "delitem": __sp_del_item, "concat": lambda a, b: a + b, "is_": lambda a, b: a is b,
        "is_not": lambda a, b: a is not b, "truth": __sp_bool, "abs": abs, "index": lambda a: int(a), "iadd": lambda a, b: a + b,
        "countOf": lambda a, b: len([one for one in a if one == b]), "indexOf": lambda a, b: list(a).index(b),
    }


__sp_module("operator", __sp_load_operator)
