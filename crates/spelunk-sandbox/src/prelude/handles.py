# Host objects: everything that is done with one is asked of the host.

def __sp_is_handle(value):
    kind = type(value)
    return str(kind) in __sp_handle_types and kind not in __sp_own_names and kind not in __sp_infos


def __sp_handle_is(value, kinds):
    name = type(value).__name__
    if name == "Text":
        return kinds is str or kinds is object
    if name == "Documents":
        return kinds is dict or kinds is object
    if name == "Records":
        return kinds is list or kinds is object
    return kinds is object or kinds is type(value)


def __sp_item(value, key):
    kind = type(value)
    if kind is str:
        return __sp_wide_item(value, key)
    if kind is list or kind is dict or kind is tuple:
        return value[key]
    if __sp_is_handle(value):
        if isinstance(key, __sp_Slice):
            return __sp_host_call(value, "__getitem__", {"__sp_slice": (key.start, key.stop, key.step)})
        return __sp_host_call(value, "__getitem__", key)
    return value[key]


def __sp_slice(value, start, stop, step):
    kind = type(value)
    if kind is str:
        return __sp_wide_slice(value, start, stop, step)
    if step is None and (kind is list or kind is tuple):
        return value[start:stop]
    if __sp_is_handle(value):
        return __sp_host_call(value, "__getitem__", {"__sp_slice": (start, stop, step)})
    if step is None:
        return value[start:stop]
    return value[start:stop:step]


def __sp_in(item, value):
    kind = type(value)
    if kind is str or kind is list or kind is dict or kind is set or kind is tuple:
        return item in value
    if __sp_is_handle(value):
        return __sp_host_call(value, "__contains__", item)
    if __sp_is_lazy(value):
        return item in __sp_all(value)
    return item in value


def __sp_shown(value):
    kind = type(value)
    if kind is str or kind is int or kind is float:
        return value
    if __sp_is_handle(value):
        return __sp_host_call(value, "__str__")
    return value
