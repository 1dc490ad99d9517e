import itertools as __sp_itertools


def __sp_islice(iterable, *bounds):
    if not (__sp_is_lazy(iterable) or __sp_is_handle(iterable)):
        return __sp_itertools.islice(iterable, *bounds)
    start, stop, step = 0, None, 1
    if len(bounds) == 1:
        stop = bounds[0]
    else:
        start, stop = bounds[0] or 0, bounds[1]
        if len(bounds) > 2 and bounds[2] is not None:
            step = bounds[2]
    advance = __sp_steps(iterable)
    state = [0, start]

    def run():
        while True:
            if stop is not None and state[1] >= stop:
                raise StopIteration
            item = advance()
            state[0] += 1
            if state[0] - 1 == state[1]:
                state[1] += step
                return item
    return __sp_Lazy(run)


def __sp_takewhile(test, iterable):
    if not __sp_is_lazy(iterable):
        return iter(__sp_taken(test, __sp_all(iterable)))
    advance = __sp_steps(iterable)

    def run():
        item = advance()
        if not test(item):
            raise StopIteration
        return item
    return __sp_Lazy(run)


def __sp_taken(test, items):
    found = []
    for item in items:
        if not test(item):
            break
        found.append(item)
    return found


def __sp_eager(function):
    def run(*args, **kwargs):
        return function(*[__sp_all(arg) if __sp_is_lazy(arg) or __sp_is_handle(arg) else arg for arg in args], **kwargs)
    return run


def __sp_groupby(iterable, key=None):
    found = []
    for item in __sp_all(iterable):
        group = item if key is None else key(item)
        if not found or found[-1][0] != group:
            found.append((group, []))
        found[-1][1].append(item)
    return iter([(group, iter(items)) for group, items in found])


class __sp_Chain:
    def __call__(self, *iterables):
        return iter([item for iterable in iterables for item in __sp_all(iterable)])

    def from_iterable(self, iterables):
        return iter([item for iterable in __sp_all(iterables) for item in __sp_all(iterable)])


def __sp_batched(iterable, n):
    items = list(__sp_all(iterable))
    return iter([tuple(items[at:at + n]) for at in range(0, len(items), n)])


def __sp_starmap(function, iterable):
    return iter([function(*args) for args in __sp_all(iterable)])


def __sp_load_itertools():
    found = {
        "islice": __sp_islice, "takewhile": __sp_takewhile, "groupby": __sp_groupby, "chain": __sp_Chain(), "batched": __sp_batched,
        "starmap": __sp_starmap, "count": __sp_itertools.count, "cycle": __sp_itertools.cycle, "repeat": __sp_itertools.repeat,
        "accumulate": __sp_eager(__sp_itertools.accumulate), "combinations": __sp_eager(__sp_itertools.combinations),
        "combinations_with_replacement": __sp_eager(__sp_itertools.combinations_with_replacement),
        "compress": __sp_eager(__sp_itertools.compress), "dropwhile": __sp_eager(__sp_itertools.dropwhile),
        "filterfalse": __sp_eager(__sp_itertools.filterfalse), "pairwise": __sp_eager(__sp_itertools.pairwise),
        "permutations": __sp_eager(__sp_itertools.permutations), "product": __sp_eager(__sp_itertools.product),
        "tee": __sp_eager(__sp_itertools.tee), "zip_longest": __sp_eager(__sp_itertools.zip_longest),
    }
    return found


__sp_module("itertools", __sp_load_itertools)
