import typing as __sp_typing


def __sp_named_tuple_class(cls, own, options):
    import collections
    names = list(getattr(cls, "__annotations__"))
    defaults = [getattr(cls, name) for name in names if name in own]
    return collections.namedtuple(cls.__name__, names, defaults=defaults)


def __sp_typed_dict_class(cls, own, options):
    return dict


def __sp_load_typing():
    found = {}
    for name in "AbstractSet AnyStr AsyncGenerator AsyncIterable AsyncIterator Awaitable BinaryIO Collection Container ContextManager Coroutine Counter DefaultDict Deque ForwardRef Hashable IO ItemsView KeysView LiteralString Match MutableMapping MutableSequence MutableSet NotRequired OrderedDict ParamSpec Pattern Required Reversible Sized SupportsFloat SupportsInt Text TextIO TypeAlias TypeGuard Unpack ValuesView Concatenate Generic Protocol".split():
        found[name] = __sp_Marker(name)
    for name in "Annotated Any Callable ClassVar Dict Final FrozenSet Generator Iterable Iterator List Literal Mapping Never NoReturn Optional Self Sequence Set Tuple Type TypeVar Union".split():
        found[name] = getattr(__sp_typing, name)
    named = __sp_Marker("NamedTuple", __sp_named_tuple_class)
    found["NamedTuple"] = named
    found["TypedDict"] = __sp_Marker("TypedDict", __sp_typed_dict_class)
    found["TYPE_CHECKING"] = False
    found["cast"] = lambda kind, value: value
    found["NewType"] = lambda name, kind: kind
    for name in ("overload", "final", "no_type_check", "runtime_checkable", "override"):
        found[name] = __sp_same
    found["get_type_hints"] = lambda value, *rest: __sp_attr(value, "__annotations__")
    found["TypeVar"] = lambda name, *args, **kwargs: __sp_Marker(name)
    return found


__sp_module("typing", __sp_load_typing)
