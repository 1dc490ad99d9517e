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


# The texts that a cell works with most, as strings of the session: [host object, string or None, uses so far].
__sp_texts = []
# The last part of a text that stays outside: [host object, first place, part, where the last access ended].
__sp_page = [None, 0, "", -1]


def __sp_real(value, n_uses_max):
    # A text as a string of the session, once it is used more than `n_uses_max` times; None before, and if it is too large.
    if type(value).__name__ != "Text":
        return None
    for entry in __sp_texts:
        if entry[0] is value:
            break
    else:
        if len(__sp_texts) >= 4:
            __sp_texts.pop(0)
        entry = [value, None, 0]
        __sp_texts.append(entry)
    if entry[1] is None and entry[2] is not None:
        entry[2] += 1
        if entry[2] > n_uses_max:
            entry[1] = __sp_host_call(value, "__real__")
            if entry[1] is None:
                entry[2] = None
    return entry[1]


def __sp_text_of(value):
    # What needs the whole text works on a string of the session.
    if type(value) is str or not __sp_is_handle(value):
        return value
    real = __sp_real(value, 0)
    return value if real is None else real


def __sp_near(value):
    # What needs a part of the text asks the host, unless it is repeated.
    if type(value) is str or not __sp_is_handle(value):
        return value
    real = __sp_real(value, 16)
    return value if real is None else real


def __sp_paged(value, start, stop):
    # value[start:stop] of a text that stays outside; None if it is not one of several parts that follow each other.
    first, part, last = __sp_page[1], __sp_page[2], __sp_page[3]
    is_same = __sp_page[0] is value
    if is_same and first <= start and stop <= first + len(part):
        __sp_page[3] = stop
        return part[start - first:stop - first]
    __sp_page[0], __sp_page[3] = value, stop
    if not is_same or not 0 <= start - last <= 4096 or stop - start > 65536:
        return None
    __sp_page[1], __sp_page[2] = start, __sp_host_call(value, "__getitem__", {"__sp_slice": (start, start + 131072, None)})
    return __sp_page[2][:stop - start]


def __sp_item(value, key):
    kind = type(value)
    if kind is str:
        return __sp_wide_item(value, key)
    if kind is list or kind is dict or kind is tuple:
        return value[key]
    for entry in __sp_texts:
        if entry[0] is value and entry[1] is not None and type(key) is int:
            return __sp_wide_item(entry[1], key)
    if __sp_is_handle(value):
        if kind.__name__ == "Text" and type(key) is int:
            real = __sp_real(value, 16)
            if real is not None:
                return __sp_wide_item(real, key)
            found = __sp_paged(value, key, key + 1) if key >= 0 else None
            if found:
                return found
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
    for entry in __sp_texts:
        if entry[0] is value and entry[1] is not None:
            return __sp_wide_slice(entry[1], start, stop, step)
    if __sp_is_handle(value):
        real = __sp_real(value, 0 if step is not None else 16)
        if real is not None:
            return __sp_wide_slice(real, start, stop, step)
        if step is None and type(start) is int and type(stop) is int and 0 <= start < stop and kind.__name__ == "Text":
            found = __sp_paged(value, start, stop)
            if found is not None:
                return found
        return __sp_host_call(value, "__getitem__", {"__sp_slice": (start, stop, step)})
    if step is None:
        return value[start:stop]
    return value[start:stop:step]


def __sp_in(item, value):
    kind = type(value)
    if kind is str or kind is list or kind is dict or kind is set or kind is tuple:
        return item in value
    if __sp_is_handle(value):
        real = __sp_real(value, 16)
        return __sp_host_call(value, "__contains__", item) if real is None else item in real
    if __sp_is_lazy(value):
        return item in __sp_all(value)
    return item in value


def __sp_shown(value):
    kind = type(value)
    if kind is str or kind is int or kind is float:
        return value
    if __sp_is_handle(value):
        real = __sp_text_of(value)
        return real if type(real) is str else __sp_host_call(value, "__str__")
    return value
