# Generators. The body of one is a task of its own; a value is handed over in an attribute, and the two sides wake each
# other. Loops get the items of generators and host objects in batches.

__sp_n_generators = [0]


class __sp_Generator:
    def __init__(self, function, args, kwargs):
        __sp_n_generators[0] += 1
        self.key = 2 * __sp_n_generators[0]
        self.function = function
        self.args = args
        self.kwargs = kwargs
        self.state = "new"
        self.value = None
        self.sent = None
        self.thrown = None
        self.error = None

    def __iter__(self):
        return self

    def __next__(self):
        return self.send(None)

    def send(self, value):
        if self.state == "running":
            raise ValueError("generator already executing")
        if self.state == "done":
            raise StopIteration
        self.sent = value
        if self.state == "new":
            self.state = "running"
            __sp_spawn(__sp_run(self))
        else:
            self.state = "running"
            __sp_host_wake(self.key)
        while self.state == "running":
            __sp_asyncio.run(__sp_host_park(self.key + 1))
        if self.state == "done":
            if self.error is not None:
                error = self.error
                self.error = None
                raise error
            raise StopIteration
        return self.value

    def throw(self, error, *more):
        if self.state == "new" or self.state == "done":
            self.state = "done"
            raise __sp_raise(error)
        self.thrown = error
        return self.send(None)

    def close(self):
        if self.state == "paused":
            self.thrown = SystemExit("generator closed")
            try:
                self.send(None)
            except (StopIteration, SystemExit):
                pass
        self.state = "done"

    def __repr__(self):
        return "<generator object " + __sp_name_of(self.function) + ">"


async def __sp_stop():
    raise KeyboardInterrupt("spawned")


def __sp_spawn(body):
    try:
        __sp_asyncio.run(__sp_asyncio.gather(body, __sp_stop()))
    except KeyboardInterrupt:
        pass


async def __sp_run(generator):
    try:
        generator.result = generator.function(generator, *generator.args, **generator.kwargs)
    except StopIteration:
        generator.error = RuntimeError("generator raised StopIteration")
    except BaseException as error:
        generator.error = error
    generator.state = "done"
    __sp_host_wake(generator.key + 1)


def __sp_generator(function):
    def make(*args, **kwargs):
        return __sp_Generator(function, args, kwargs)
    return make


def __sp_yield(generator, value):
    generator.value = value
    generator.state = "paused"
    __sp_host_wake(generator.key + 1)
    __sp_asyncio.run(__sp_host_park(generator.key))
    if generator.thrown is not None:
        error = generator.thrown
        generator.thrown = None
        raise __sp_raise(error)
    return generator.sent


def __sp_yield_from(generator, items):
    if isinstance(items, __sp_Generator):
        sent = None
        while True:
            try:
                value = items.send(sent)
            except StopIteration:
                return items.result if hasattr(items, "result") else None
            sent = __sp_yield(generator, value)
    batches = __sp_batches(items)
    while batches.more():
        for item in batches.batch:
            __sp_yield(generator, item)


def __sp_is_lazy(value):
    return isinstance(value, (__sp_Generator, __sp_Lazy, __sp_Batches))


class __sp_Lazy:
    # An iterator made of a function that gives the next item or raises StopIteration.
    def __init__(self, step):
        self.step = step

    def __iter__(self):
        return self

    def __next__(self):
        return self.step()

    def send(self, value):
        return self.step()


class __sp_Batches:
    # Items in batches, or one by one.
    def __init__(self, value):
        self.value = value
        self.batch = value
        self.state = "whole"
        self.rest = None

    def __iter__(self):
        return self

    def __next__(self):
        while True:
            if self.rest is None:
                if not self.more():
                    raise StopIteration
                self.rest = iter(self.batch)
            try:
                return next(self.rest)
            except StopIteration:
                self.rest = None

    def more(self):
        if self.rest is not None:
            self.batch = list(self.rest)
            self.rest = None
            if self.batch:
                return True
        if self.state == "whole":
            self.state = "over"
            return True
        if self.state == "over":
            return False
        if self.state == "host":
            if self.cursor is None:
                return False
            found = __sp_host_call(self.value, self.name, *self.args, self.cursor if self.started else 0)
            self.started = True
            self.batch, self.cursor = found[0], found[1]
            if self.wrap is not None:
                self.batch = [self.wrap(item) for item in self.batch]
            return True
        try:
            self.batch = (self.value.__next__(),)
            return True
        except StopIteration:
            return False


def __sp_batches(value):
    made = __sp_Batches(value)
    if isinstance(value, __sp_Batches):
        return value
    if isinstance(value, __sp_EnumType):
        made.batch = list(value.members.values())
    elif __sp_is_lazy(value):
        made.state = "lazy"
    elif __sp_is_handle(value):
        __sp_host_batches(made, "__iter__", (), None)
    elif hasattr(type(value), "__iter__") and str(type(value)).startswith("<class '") and type(value) in __sp_infos:
        return __sp_batches(type(value).__iter__(value))
    elif hasattr(type(value), "__next__"):
        made.state = "lazy"
    elif hasattr(type(value), "__iter__"):
        return __sp_batches(type(value).__iter__(value))
    elif hasattr(type(value), "__getitem__"):
        made.batch = __sp_by_index(value)
    return made


def __sp_held(value):
    if not isinstance(value, __sp_Batches):
        return __sp_batches(value)
    made = __sp_Batches(value)
    made.state = "lazy"
    return made


def __sp_by_index(value):
    found = []
    idx = 0
    while True:
        try:
            found.append(value[idx])
        except IndexError:
            return found
        idx += 1


def __sp_host_batches(made, name, args, wrap):
    made.state = "host"
    made.name = name
    made.args = args
    made.wrap = wrap
    made.cursor = 0
    made.started = False


def __sp_all(value):
    kind = type(value)
    if kind is list or kind is str or kind is dict or kind is tuple or kind is set:
        return value
    batches = __sp_batches(value)
    if batches.state == "whole":
        return batches.batch
    found = []
    while batches.more():
        found.extend(batches.batch)
    return found


def __sp_steps(value):
    batches = __sp_batches(value)
    return batches.value.__next__ if batches.state == "lazy" else batches.__next__


def __sp_iter_of(value, *sentinel):
    if sentinel:
        def until():
            found = value()
            if found == sentinel[0]:
                raise StopIteration
            return found
        return __sp_Lazy(until)
    if __sp_is_lazy(value):
        return value
    if __sp_is_handle(value):
        return __sp_batches(value)
    if hasattr(type(value), "__iter__") and type(value) not in (str, list, dict, tuple, set):
        return type(value).__iter__(value)
    return iter(value)


def __sp_next(value, *default):
    try:
        if hasattr(type(value), "__next__"):
            return value.__next__()
        return next(value)
    except StopIteration:
        if default:
            return default[0]
        raise


def __sp_enumerate(iterable, start=0):
    batches = __sp_batches(iterable)
    if batches.state == "whole":
        return iter(enumerate(batches.batch, start))
    step = __sp_steps(batches)
    count = [start - 1]

    def numbered():
        item = step()
        count[0] += 1
        return (count[0], item)
    return __sp_Lazy(numbered)


def __sp_zip(*iterables, strict=False):
    if not any(__sp_is_lazy(one) or __sp_is_handle(one) for one in iterables):
        return iter(list(zip(*[__sp_all(one) for one in iterables], strict=strict)))
    steps = [__sp_steps(one) for one in iterables]
    return __sp_Lazy(lambda: tuple([step() for step in steps]))


def __sp_flat(make, value):
    kind = type(value)
    if kind is list or kind is str or kind is dict or kind is tuple or kind is set:
        return make(value)
    batches = __sp_batches(value)
    if batches.state == "whole":
        return make(batches.batch)
    found = make([])
    while batches.more():
        part = make(batches.batch)
        if isinstance(found, list):
            found.extend(part)
        else:
            found.update(part)
    return found


def __sp_stepped(make, value):
    if not __sp_is_lazy(value):
        return iter(__sp_flat(make, value))
    advance = __sp_steps(value)
    waiting = []

    def step():
        while not waiting:
            waiting.extend(make((advance(),)))
        return waiting.pop(0)
    return __sp_Lazy(step)
