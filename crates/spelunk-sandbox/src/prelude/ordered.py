# Dictionaries of classes that the interpreter does not have.

class __sp_Ordered:
    # A dictionary with methods of its own.
    def __init__(self, *args, **kwargs):
        self.data = {}
        self.update(*args, **kwargs)

    def update(self, *args, **kwargs):
        if args:
            pairs = args[0].items() if hasattr(args[0], "items") or isinstance(args[0], dict) else args[0]
            for key, value in pairs:
                self.data[key] = value
        for key, value in kwargs.items():
            self.data[key] = value

    def __getitem__(self, key):
        return self.data[key]

    def __setitem__(self, key, value):
        self.data[key] = value

    def __delitem__(self, key):
        self.data.pop(key)

    def __contains__(self, key):
        return key in self.data

    def __iter__(self):
        return iter(list(self.data))

    def __sp_len__(self):
        return len(self.data)

    def __bool__(self):
        return len(self.data) > 0

    def __eq__(self, other):
        return self.data == (other.data if hasattr(other, "data") else other)

    def keys(self):
        return self.data.keys()

    def values(self):
        return self.data.values()

    def items(self):
        return self.data.items()

    def get(self, key, default=None):
        return self.data.get(key, default)

    def setdefault(self, key, default=None):
        return self.data.setdefault(key, default)

    def pop(self, *args):
        return self.data.pop(*args)

    def popitem(self, last=True):
        key = list(self.data)[-1 if last else 0]
        return (key, self.data.pop(key))

    def move_to_end(self, key, last=True):
        value = self.data.pop(key)
        if last:
            self.data[key] = value
        else:
            rest = dict(self.data)
            self.data.clear()
            self.data[key] = value
            self.data.update(rest)

    def clear(self):
        self.data.clear()

    def copy(self):
        return type(self)(self.data)

    def __repr__(self):
        return "OrderedDict(" + (repr(self.data) if self.data else "") + ")"


class __sp_ChainMap:
    def __init__(self, *maps):
        self.maps = list(maps) or [{}]

    def __getitem__(self, key):
        for one in self.maps:
            if key in one:
                return one[key]
        raise KeyError(key)

    def __setitem__(self, key, value):
        self.maps[0][key] = value

    def __delitem__(self, key):
        self.maps[0].pop(key)

    def __contains__(self, key):
        return any(key in one for one in self.maps)

    def merged(self):
        found = {}
        for one in self.maps[::-1]:
            for key, value in one.items():
                found[key] = value
        return found

    def __iter__(self):
        return iter(list(self.merged()))

    def __sp_len__(self):
        return len(self.merged())

    def keys(self):
        return self.merged().keys()

    def values(self):
        return self.merged().values()

    def items(self):
        return self.merged().items()

    def get(self, key, default=None):
        return self[key] if key in self else default

    def new_child(self, child=None):
        return __sp_ChainMap({} if child is None else child, *self.maps)

    def __repr__(self):
        return "ChainMap(" + ", ".join([repr(one) for one in self.maps]) + ")"
