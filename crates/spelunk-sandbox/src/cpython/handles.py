"""Host objects. Every operation on one is a host call; the functions of `re` also accept one in place of text."""
import re

_keys = {}
_handles = {}


class _Handle:
    """A host object. Its key is stored outside it, so that no attribute reveals it."""

    __slots__ = ("__weakref__",)

    def __len__(self):
        return _method(self, "__len__")

    def __getitem__(self, key):
        return _method(self, "__getitem__", key)

    def __contains__(self, item):
        return _method(self, "__contains__", item)

    def __iter__(self):
        return _iterate(self, "__iter__")

    def __str__(self):
        return _method(self, "__str__")

    def __repr__(self):
        return _method(self, "__repr__")

    def __format__(self, form):
        return format(str(self), form)

    def __add__(self, other):
        return _method(self, "__add__", other)

    def __radd__(self, other):
        return _method(self, "__radd__", other)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError("'%s' object has no attribute '%s'" % (type(self).__name__, name))
        method = lambda *args, **kwargs: _call(name, list(_handle_key(self)), args, kwargs)
        method.__name__ = name
        return method

    def __setattr__(self, name, value):
        raise AttributeError("'%s' object attribute '%s' is read-only" % (type(self).__name__, name))


# The type that `isinstance` sees.
_LIKE = {"Text": str, "Documents": dict, "Records": list}
_classes = {}


def _handle_of(class_name, number):
    key = (class_name, number)
    if key not in _handles:
        like = _LIKE.get(class_name)
        if class_name not in _classes:
            body = {"__slots__": (), "__module__": "__main__"}
            if like is not None:
                body["__class__"] = property(lambda self: like)
            _classes[class_name] = type(class_name, (_Handle,), body)
        handle = object.__new__(_classes[class_name])
        _handles[key], _keys[id(handle)] = handle, key
    return _handles[key]


def _is_handle(value):
    return issubclass(type(value), _Handle) and id(value) in _keys


def _handle_key(handle):
    try:
        return _keys[id(handle)]
    except KeyError:
        raise TypeError("cannot create instances of host objects") from None


def _method(handle, name, *args):
    return _call(name, list(_handle_key(handle)), args, {})


def _iterate(handle, name, *args):
    """Items from the host, fetched in batches."""
    cursor = 0
    while True:
        items, cursor = _method(handle, name, *args, cursor)
        yield from items
        if cursor is None:
            return


class _Match:
    """A match in a host object, made from the host's reply."""

    def __init__(self, reply, pattern, handle):
        self._groups, self._spans = reply
        self.re, self.string = pattern, handle
        self.pos, self.endpos = 0, None

    def _idx(self, group):
        idx = self.re.groupindex.get(group) if isinstance(group, str) else group
        if not isinstance(idx, int) or not 0 <= idx < len(self._groups):
            raise IndexError("no such group")
        return idx

    def group(self, *groups):
        found = tuple(self._groups[self._idx(group)] for group in groups or (0,))
        return found[0] if len(found) == 1 else found

    def __getitem__(self, group):
        return self._groups[self._idx(group)]

    def groups(self, default=None):
        return tuple(default if text is None else text for text in self._groups[1:])

    def groupdict(self, default=None):
        return {name: default if self[idx] is None else self[idx] for name, idx in self.re.groupindex.items()}

    def span(self, group=0):
        return tuple(self._spans[self._idx(group)])

    def start(self, group=0):
        return self.span(group)[0]

    def end(self, group=0):
        return self.span(group)[1]

    @property
    def lastindex(self):
        found = [idx for idx, text in enumerate(self._groups) if idx and text is not None]
        return found[-1] if found else None

    @property
    def lastgroup(self):
        return {idx: name for name, idx in self.re.groupindex.items()}.get(self.lastindex)

    @property
    def __class__(self):
        return re.Match

    def __repr__(self):
        return "<re.Match object; span=%r, match=%r>" % (self.span(), self.group())


def _search_handle(name, pattern, flags, handle, rest):
    """Calls a function of `re` on a host object."""
    if isinstance(pattern, re.Pattern):
        pattern, flags = pattern.pattern, pattern.flags & ~re.UNICODE
    flags = int(flags)
    wrap = lambda reply: None if reply is None else _Match(reply, _plain_compile(pattern, flags), handle)
    if name == "finditer":
        return (wrap(reply) for reply in _iterate(handle, "re.finditer", pattern, flags))
    if name in ("sub", "subn") and callable(rest[0]):
        return _replace_matches(name, pattern, flags, handle, *rest)
    found = _method(handle, "re." + name, pattern, flags, *rest)
    return wrap(found) if name in ("search", "match", "fullmatch") else found


def _replace_matches(name, pattern, flags, handle, replace, count=0):
    pieces, at, n_replaced = [], 0, 0
    for match in _search_handle("finditer", pattern, flags, handle, ()):
        if count and n_replaced >= count:
            break
        pieces += [handle[at:match.start()], replace(match)]
        at, n_replaced = match.end(), n_replaced + 1
    pieces.append(handle[at:])
    return "".join(pieces) if name == "sub" else ("".join(pieces), n_replaced)


_plain_compile = re.compile


class _Pattern:
    """A compiled pattern that also takes host objects."""

    def __init__(self, plain):
        self.__dict__["_plain"] = plain

    def __getattr__(self, name):
        plain = getattr(self._plain, name)
        at = _TEXT_AT.get(name)
        if at is None:
            return plain

        def method(*args, **kwargs):
            text = args[at - 1] if len(args) >= at else kwargs.get("string")
            if not _is_handle(text):
                return plain(*args, **kwargs)
            rest = list(args[:at - 1]) + list(args[at:]) + [kwargs[key] for key in ("maxsplit", "count") if key in kwargs]
            return _search_handle(name, self._plain, 0, text, rest)

        return method

    @property
    def __class__(self):
        return re.Pattern

    def __repr__(self):
        return repr(self._plain)

    def __eq__(self, other):
        return self._plain == getattr(other, "_plain", other)

    def __hash__(self):
        return hash(self._plain)

    def __reduce__(self):
        return _plain_compile, (self._plain.pattern, self._plain.flags)


# The position of the text among the arguments; the pattern is at 0.
_TEXT_AT = {"search": 1, "match": 1, "fullmatch": 1, "findall": 1, "finditer": 1, "split": 1, "sub": 2, "subn": 2}


def _patch_re():
    """Used only in sessions with host objects; in all others `re` is unchanged."""

    def patched(name, at):
        plain = getattr(re, name)

        def function(pattern, *args, **kwargs):
            text = args[at - 1] if len(args) >= at else kwargs.get("string")
            if not _is_handle(text):
                return plain(pattern, *args, **kwargs)
            rest = list(args[:at - 1])
            trailing = list(args[at:])
            limit = "maxsplit" if name == "split" else "count"
            if name in ("split", "sub", "subn"):
                rest.append(trailing.pop(0) if trailing else kwargs.get(limit, 0))
            flags = trailing.pop(0) if trailing else kwargs.get("flags", 0)
            return _search_handle(name, pattern, flags, text, rest)

        function.__name__, function.__doc__ = name, plain.__doc__
        return function

    for name, at in _TEXT_AT.items():
        setattr(re, name, patched(name, at))
    re.compile = lambda pattern, flags=0: _Pattern(_plain_compile(pattern, flags))
