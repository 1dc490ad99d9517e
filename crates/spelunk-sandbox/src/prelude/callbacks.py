# Builtins that call a function for each item, in Python: the function may wait for the host.

def __sp_map(function, *iterables):
    if len(iterables) == 1:
        return iter([function(item) for item in __sp_all(iterables[0])])
    return iter([function(*items) for items in zip(*[__sp_all(iterable) for iterable in iterables])])


def __sp_filter(function, iterable):
    if function is None:
        return iter([item for item in __sp_all(iterable) if __sp_bool(item)])
    return iter([item for item in __sp_all(iterable) if __sp_bool(function(item))])


def __sp_sorted(iterable, *, key=None, reverse=False):
    items = list(__sp_all(iterable))
    keys = items if key is None else [key(item) for item in items]
    if __sp_is_ordered(keys):
        return __sp_merge_sorted(items, keys, reverse)
    order = sorted(range(len(items)), key=lambda idx: keys[idx], reverse=reverse)
    return [items[idx] for idx in order]


def __sp_is_ordered(keys):
    for key in keys:
        if isinstance(key, (tuple, list)):
            if __sp_is_ordered(key):
                return True
        elif type(key) in (int, str, float, bool):
            continue
        elif hasattr(type(key), "__lt__") or hasattr(type(key), "__gt__"):
            return True
    return False


def __sp_merge_sorted(items, keys, reverse):
    pairs = list(zip(keys, items))
    if reverse:
        pairs.reverse()
    width = 1
    while width < len(pairs):
        merged = []
        for start in range(0, len(pairs), 2 * width):
            left, right = pairs[start:start + width], pairs[start + width:start + 2 * width]
            a = b = 0
            while a < len(left) and b < len(right):
                if __sp_lt(right[b][0], left[a][0]):
                    merged.append(right[b])
                    b += 1
                else:
                    merged.append(left[a])
                    a += 1
            merged.extend(left[a:])
            merged.extend(right[b:])
        pairs = merged
        width *= 2
    if reverse:
        pairs.reverse()
    return [item for key, item in pairs]


def __sp_sort(value, *args, **kwargs):
    if isinstance(value, list):
        value[:] = __sp_sorted(value, **kwargs)
        return None
    return value.sort(*args, **kwargs)


def __sp_best(items, key, default, name, better):
    items = list(__sp_all(items))
    if not items:
        if default is not __sp_missing:
            return default[0]
        raise ValueError(name + "() iterable argument is empty")
    best = items[0]
    best_key = key(best) if key else best
    for item in items[1:]:
        item_key = key(item) if key else item
        if better(item_key, best_key):
            best, best_key = item, item_key
    return best


__sp_missing = []


def __sp_min(*args, key=None, **more):
    items = args[0] if len(args) == 1 else args
    return __sp_best(items, key, [more["default"]] if "default" in more else __sp_missing, "min", __sp_lt)


def __sp_max(*args, key=None, **more):
    items = args[0] if len(args) == 1 else args
    return __sp_best(items, key, [more["default"]] if "default" in more else __sp_missing, "max", __sp_gt)


def __sp_compared(a, b, name, mirrored):
    kind = type(a)
    if hasattr(kind, name) and not isinstance(a, (int, str, float)):
        found = getattr(kind, name)(a, b)
        if found is not NotImplemented:
            return True, found
    kind = type(b)
    if hasattr(kind, mirrored) and not isinstance(b, (int, str, float)):
        found = getattr(kind, mirrored)(b, a)
        if found is not NotImplemented:
            return True, found
    return False, None


def __sp_is_pair(a, b):
    return (isinstance(a, tuple) and isinstance(b, tuple)) or (isinstance(a, list) and isinstance(b, list))


def __sp_pair_lt(a, b):
    for x, y in zip(a, b):
        if x != y:
            return __sp_lt(x, y)
    return len(a) < len(b)


def __sp_lt(a, b):
    kind = type(a)
    if kind is int or kind is float or kind is str:
        if type(b) is kind:
            return a < b
    done, found = __sp_compared(a, b, "__lt__", "__gt__")
    if done:
        return found
    if __sp_is_pair(a, b) and __sp_is_ordered(a):
        return __sp_pair_lt(a, b)
    return a < b


def __sp_gt(a, b):
    kind = type(a)
    if kind is int or kind is float or kind is str:
        if type(b) is kind:
            return a > b
    done, found = __sp_compared(a, b, "__gt__", "__lt__")
    if done:
        return found
    if __sp_is_pair(a, b) and __sp_is_ordered(a):
        return __sp_pair_lt(b, a)
    return a > b


def __sp_le(a, b):
    done, found = __sp_compared(a, b, "__le__", "__ge__")
    return found if done else a <= b


def __sp_ge(a, b):
    done, found = __sp_compared(a, b, "__ge__", "__le__")
    return found if done else a >= b
