# Places in large texts, found without walking from the beginning: the interpreter counts all characters for `find` with a
# start, and walks to every place in a text that is not ASCII.

__sp_wide = {}


def __sp_parts(text):
    # The parts of 1024 characters and the length of a large text that is not ASCII, False for a large one that is, and
    # None for a small text. Looking one up is cheaper than asking for its length.
    if text[2048:2049] == "":
        return None
    found = __sp_wide.get(text)
    if found is None:
        if len(__sp_wide) >= 16:
            __sp_wide.clear()
        found = False
        if not text.isascii():
            parts = __sp_host_parts(text)
            found = (parts, 1024 * (len(parts) - 1) + len(parts[-1]))
        __sp_wide[text] = found
    return found


def __sp_between(text, parts, start, stop):
    # text[start:stop], for 0 <= start.
    if parts is False:
        return text[start:stop]
    stop = min(stop, parts[1])
    if start >= stop:
        return ""
    first, last = start // 1024, (stop - 1) // 1024
    part = parts[0][first] if first == last else "".join(parts[0][first:last + 1])
    return part[start - 1024 * first:stop - 1024 * first]


def __sp_wide_item(text, idx):
    parts = __sp_parts(text)
    if not parts or type(idx) is not int:
        return text[idx]
    if idx < 0:
        idx += parts[1]
    if not 0 <= idx < parts[1]:
        raise IndexError("string index out of range")
    return parts[0][idx // 1024][idx % 1024]


def __sp_wide_slice(text, start, stop, step):
    parts = __sp_parts(text)
    if not parts or step is not None:
        return text[start:stop] if step is None else text[start:stop:step]
    start, stop = __sp_bounds(start, stop, parts[1])
    return __sp_between(text, parts, start, stop)


def __sp_wide_len(text):
    if type(text) is str:
        parts = __sp_parts(text)
        if parts:
            return parts[1]
    return __sp_len(text)


def __sp_bounds(start, stop, length):
    start = 0 if start is None else start
    stop = length if stop is None else stop
    start = max(start + length, 0) if start < 0 else start
    stop = max(stop + length, 0) if stop < 0 else min(stop, length)
    return start, stop


def __sp_text_find(text, sub, *bounds):
    if type(text) is not str or type(sub) is not str or not sub:
        return text.find(sub, *bounds)
    parts = __sp_parts(text)
    if parts is None:
        return text.find(sub, *bounds)
    start, stop = __sp_bounds(bounds[0], bounds[1] if len(bounds) > 1 else None, parts[1] if parts else len(text))
    n_sub = len(sub)
    width = 128 + n_sub
    while start + n_sub <= stop:
        end = min(start + width, stop)
        at = __sp_between(text, parts, start, end).find(sub)
        if at >= 0:
            return start + at
        start = end - n_sub + 1
        width *= 4
    return -1


def __sp_text_rfind(text, sub, *bounds):
    if type(text) is not str or type(sub) is not str or not sub:
        return text.rfind(sub, *bounds)
    parts = __sp_parts(text)
    if parts is None:
        return text.rfind(sub, *bounds)
    start, stop = __sp_bounds(bounds[0], bounds[1] if len(bounds) > 1 else None, parts[1] if parts else len(text))
    n_sub = len(sub)
    width = 128 + n_sub
    while start + n_sub <= stop:
        begin = max(stop - width, start)
        at = __sp_between(text, parts, begin, stop).rfind(sub)
        if at >= 0:
            return begin + at
        stop = begin + n_sub - 1
        width *= 4
    return -1


def __sp_text_index(text, *args):
    if type(text) is not str:
        return text.index(*args)
    found = __sp_text_find(text, *args)
    if found < 0:
        raise ValueError("substring not found")
    return found


def __sp_text_rindex(text, *args):
    if type(text) is not str:
        return text.rindex(*args)
    found = __sp_text_rfind(text, *args)
    if found < 0:
        raise ValueError("substring not found")
    return found


def __sp_text_startswith(text, prefix, *bounds):
    if type(text) is not str or type(prefix) is not str or len(bounds) != 1 or not prefix:
        return text.startswith(prefix, *bounds)
    parts = __sp_parts(text)
    if parts is None:
        return text.startswith(prefix, *bounds)
    start = __sp_bounds(bounds[0], None, parts[1] if parts else len(text))[0]
    return __sp_between(text, parts, start, start + len(prefix)) == prefix
