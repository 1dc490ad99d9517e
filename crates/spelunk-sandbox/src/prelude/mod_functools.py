import functools as __sp_functools


def __sp_wraps(like, *args, **kwargs):
    def decorate(function):
        return __sp_Wrapped(function, like)
    return decorate


def __sp_total_ordering(cls):
    def derived(name):
        def run(self, other):
            if hasattr(cls, "__lt__") and name != "__lt__":
                less, equal = cls.__lt__(self, other), self == other
                return {"__gt__": not less and not equal, "__le__": less or equal, "__ge__": not less}[name]
            if hasattr(cls, "__gt__"):
                more, equal = cls.__gt__(self, other), self == other
                return {"__lt__": not more and not equal, "__le__": not more, "__ge__": more or equal}[name]
            if hasattr(cls, "__le__"):
                below, equal = cls.__le__(self, other), self == other
                return {"__lt__": below and not equal, "__gt__": not below, "__ge__": not below or equal}[name]
            above, equal = cls.__ge__(self, other), self == other
            return {"__gt__": above and not equal, "__lt__": not above, "__le__": not above or equal}[name]
        return run
    roots = [name for name in ("__lt__", "__gt__", "__le__", "__ge__") if hasattr(cls, name)]
    made = {name: derived(name) for name in ("__lt__", "__gt__", "__le__", "__ge__") if name not in roots}
    for name, method in made.items():
        setattr(cls, name, method)
    return cls


def __sp_cmp_to_key(compare):
    class Key:
        def __init__(self, value):
            self.value = value

        def __lt__(self, other):
            return compare(self.value, other.value) < 0

        def __gt__(self, other):
            return compare(self.value, other.value) > 0

        def __eq__(self, other):
            return compare(self.value, other.value) == 0
    return Key


class __sp_SingleDispatch:
    def __init__(self, function):
        self.function = function
        self.registry = []

    def register(self, kind, function=None):
        if function is None:
            return lambda function: self.register(kind, function)
        self.registry.insert(0, (kind, function))
        return function

    def __call__(self, *args, **kwargs):
        for kind, function in self.registry:
            if type(args[0]) is kind or __sp_isinstance(args[0], kind):
                return function(*args, **kwargs)
        return self.function(*args, **kwargs)


def __sp_reduce(function, iterable, *initial):
    return __sp_functools.reduce(function, __sp_all(iterable), *initial)


def __sp_load_functools():
    return {
        "cache": __sp_functools.cache, "lru_cache": __sp_functools.lru_cache, "partial": __sp_functools.partial,
        "reduce": __sp_reduce, "wraps": __sp_wraps, "total_ordering": __sp_total_ordering, "cmp_to_key": __sp_cmp_to_key,
        "update_wrapper": lambda function, like, *rest: __sp_Wrapped(function, like), "singledispatch": __sp_SingleDispatch,
        "cached_property": __sp_property, "partialmethod": __sp_functools.partial,
    }


__sp_module("functools", __sp_load_functools)
