# Threads and tasks: all at once where they only wait for the host, else one after the other.

class __sp_Future:
    def __init__(self):
        self.state = "pending"
        self.value = None
        self.error = None
        self.pending = None
        self.callbacks = []

    def settle(self, run):
        if self.state == "done":
            return
        try:
            self.value = run()
        except BaseException as error:
            self.error = error
        self.state = "done"
        for callback in self.callbacks:
            callback(self)

    def wait(self):
        if self.state == "pending" and self.pending is not None:
            __sp_settle_all(self.group if hasattr(self, "group") else [self], True)

    def result(self, timeout=None):
        self.wait()
        if self.state == "pending":
            raise __sp_raise(RuntimeError("Result is not set."))
        if self.error is not None:
            raise self.error
        return self.value

    def exception(self, timeout=None):
        self.wait()
        return None if self.error is None else __sp_caught(self.error)

    def done(self):
        return self.state == "done"

    def running(self):
        return False

    def cancel(self):
        return False

    def cancelled(self):
        return False

    def set_result(self, value):
        self.settle(lambda: value)

    def set_exception(self, error):
        self.error = error
        self.state = "done"

    def add_done_callback(self, callback):
        if self.state == "done":
            callback(self)
        else:
            self.callbacks.append(callback)

    def set_name(self, name):
        return None

    def get_name(self):
        return "Task"

    def __sp_await__(self):
        return __sp_settled(self)


async def __sp_settled(future):
    return future.result()


async def __sp_in_task(function, args, kwargs):
    return function(*args, **kwargs)


async def __sp_guarded(awaitable):
    # A failure is kept as a value: one that fails must not stop the others.
    try:
        return (True, await __sp_awaitable(awaitable))
    except BaseException as error:
        return (False, error)


def __sp_together(awaitables):
    return __sp_asyncio.run(__sp_asyncio.gather(*[__sp_guarded(one) for one in awaitables]))


def __sp_settle_all(futures, is_pool=False):
    waiting = [future for future in futures if future.state == "pending" and future.pending is not None]
    __sp_pool[0] += 1 if is_pool else 0
    results = __sp_together([future.pending for future in waiting])
    __sp_pool[0] -= 1 if is_pool else 0
    for future, (is_fine, found) in zip(waiting, results):
        if is_fine:
            future.value = found
        else:
            future.error = found
        future.state = "done"
        for callback in future.callbacks:
            callback(future)


def __sp_submitted(function, args, kwargs):
    future = __sp_Future()
    future.pending = __sp_in_task(function, args, kwargs)
    return future


class __sp_Executor:
    def __init__(self, *args, **kwargs):
        self.futures = []

    def submit(self, function, *args, **kwargs):
        future = __sp_submitted(function, args, kwargs)
        future.group = self.futures
        self.futures.append(future)
        return future

    def map(self, function, *iterables, timeout=None, chunksize=1):
        calls = zip(*[__sp_all(one) for one in iterables])
        futures = [self.submit(function, *args) for args in calls]
        __sp_settle_all(futures, True)
        return iter([future.result() for future in futures])

    def shutdown(self, wait=True, cancel_futures=False):
        __sp_settle_all(self.futures, True)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if error is None:
            __sp_settle_all(self.futures, True)


def __sp_as_completed(futures, timeout=None):
    futures = list(__sp_all(futures))
    __sp_settle_all(futures, True)
    return iter(futures)


def __sp_wait(futures, timeout=None, return_when=None):
    futures = list(__sp_all(futures))
    __sp_settle_all(futures, True)
    return __sp_Waited(set(futures), set())


class __sp_Waited:
    def __init__(self, done, not_done):
        self.done = done
        self.not_done = not_done

    def __iter__(self):
        return iter([self.done, self.not_done])
