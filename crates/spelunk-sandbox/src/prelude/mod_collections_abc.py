def __sp_load_abcs():
    names = "Callable Hashable Mapping MutableMapping Sequence MutableSequence Set MutableSet Iterable Collection Container Sized Iterator Generator Awaitable Coroutine Reversible KeysView ItemsView ValuesView"
    return {name: __sp_Marker(name) for name in names.split()}


__sp_module("collections.abc", __sp_load_abcs)
