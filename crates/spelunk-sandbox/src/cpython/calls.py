"""Host calls. A cell's code runs in its own thread. The main thread talks to the host and enforces the time limit; it never
resumes a cell that is over, so none of that cell's `except` and `finally` blocks can run.

If code starts threads for its calls (`ThreadPoolExecutor`) or awaits them, one task runs at a time, in program order; calls
that are waiting are sent together."""
import threading
import _queue

_messages = _queue.SimpleQueue()
_thread_local = threading.local()


class _Cell:
    """The running cell: its call limit, and its waiting calls and tasks."""

    def __init__(self, calls_max):
        self.calls_max = calls_max
        self.n_calls = 0
        self.is_async = False
        # Prepared calls, each with the function that resumes its caller.
        self.waiting = []
        # Tasks that have not started because too many are running.
        self.queued = []
        self.n_running = 0


_cell = _Cell(0)


def _park_for_good():
    """Blocks the calling thread forever, because its cell is over."""
    while True:
        _queue.SimpleQueue().get()


def _exchange(calls):
    """Sends calls to the host and waits for the replies. Returns one outcome per call."""
    answer = _queue.SimpleQueue()
    _messages.put(("calls", calls, answer))
    return [_outcome(reply) for reply in answer.get()]


def _outcome(reply):
    if "return" in reply:
        return reply["return"], None
    raised = reply["raise"]
    return None, _exception_of(raised["kind"], raised["message"])


def _exception_of(kind, message):
    exception_type = _exceptions.get(kind) or getattr(builtins, kind, None)
    if kind == "JSONDecodeError":
        return json.JSONDecodeError(message, "", 0)
    if not (isinstance(exception_type, type) and issubclass(exception_type, BaseException)):
        exception_type = _exceptions[kind] = type(kind, (Exception,), {"__module__": "__main__"})
    try:
        return exception_type(message)
    except Exception:
        return Exception(message)


def _prepare(name, receiver, args, kwargs):
    """Encodes a call. It counts toward the limit now, not when it is sent."""
    cell = _cell
    cell.n_calls += 1
    if cell.n_calls > cell.calls_max:
        _stop_cell("RuntimeError", "this cell made more than %d host calls" % cell.calls_max)
    to_wire = _ToWire()
    try:
        return {
            "name": name,
            "receiver": receiver,
            "args": [to_wire(value) for value in args],
            "kwargs": [[key, to_wire(value)] for key, value in kwargs.items()],
        }
    except _TooLarge:
        raise ValueError("the arguments are too large for a host call: pass less text") from None


def _call(name, receiver, args, kwargs):
    """Calls the host and waits, in the cell's thread or in a task."""
    prepared = _prepare(name, receiver, args, kwargs)
    task = getattr(_thread_local, "task", None)
    value, error = task.wait_for(prepared) if task else _exchange([prepared])[0]
    if error is not None:
        raise error
    return value


def _flush():
    """Sends all waiting calls and resumes their callers in turn. `False` if nothing waited and no task could start."""
    waiting, _cell.waiting = _cell.waiting, []
    if not waiting:
        return _begin_queued()
    outcomes = _exchange([call for call, _ in waiting])
    for (_, resume), outcome in zip(waiting, outcomes):
        resume(outcome)
    _begin_queued()
    return True


def _begin_queued():
    began = False
    while _cell.queued and _cell.n_running < _cell.queued[0].n_max:
        _cell.queued.pop(0).begin()
        began = True
    return began


class _Task:
    """A function in its own thread, which runs only when it is its turn."""

    def __init__(self, work, n_max, done):
        self.work, self.n_max, self.done = work, n_max, done
        self.go = _queue.SimpleQueue()
        self.back = _queue.SimpleQueue()

    def begin(self):
        _cell.n_running += 1
        threading.Thread(target=self.run, daemon=True).start()
        self.back.get()

    def run(self):
        _thread_local.task = self
        try:
            outcome = self.work(), None
        except BaseException as error:
            outcome = None, error
        _cell.n_running -= 1
        self.done(*outcome)
        self.back.put(None)

    def wait_for(self, call):
        _cell.waiting.append((call, self.resume))
        self.back.put(None)
        return self.go.get()

    def resume(self, outcome):
        self.go.put(outcome)
        self.back.get()


def _patch_futures(module):
    """Executors and futures whose threads take turns."""
    base = sys.modules["concurrent.futures._base"]

    class Future(base.Future):
        def result(self, timeout=None):
            while not self.done() and _flush():
                pass
            return super().result(0 if timeout is None else timeout)

        def exception(self, timeout=None):
            while not self.done() and _flush():
                pass
            return super().exception(0 if timeout is None else timeout)

    class ThreadPoolExecutor(base.Executor):
        def __init__(self, max_workers=None, thread_name_prefix="", initializer=None, initargs=()):
            if max_workers is not None and max_workers <= 0:
                raise ValueError("max_workers must be greater than 0")
            self._n_max = min(max_workers or 32, 64)
            self._futures, self._is_over = [], False
            if initializer is not None:
                initializer(*initargs)

        def submit(self, fn, /, *args, **kwargs):
            if self._is_over:
                raise RuntimeError("cannot schedule new futures after shutdown")
            future = Future()
            future.set_running_or_notify_cancel()

            def done(value, error):
                future.set_result(value) if error is None else future.set_exception(error)

            self._futures.append(future)
            _cell.queued.append(_Task(lambda: fn(*args, **kwargs), self._n_max, done))
            _begin_queued()
            return future

        def shutdown(self, wait=True, *, cancel_futures=False):
            self._is_over = True
            while not all(future.done() for future in self._futures) and _flush():
                pass

    def as_completed(futures, timeout=None):
        waiting = list(dict.fromkeys(futures))
        while waiting:
            ready = [future for future in waiting if future.done()]
            waiting = [future for future in waiting if not future.done()]
            yield from ready
            if not ready and not _flush():
                raise module.TimeoutError("%d futures unfinished" % len(waiting))

    def wait(futures, timeout=None, return_when="ALL_COMPLETED"):
        futures = set(futures)
        enough = all if return_when == "ALL_COMPLETED" else any
        while not enough(future.done() for future in futures) and _flush():
            pass
        done = {future for future in futures if future.done()}
        return base.DoneAndNotDoneFutures(done, futures - done)

    module.ThreadPoolExecutor, module.Future = ThreadPoolExecutor, Future
    module.as_completed, module.wait = as_completed, wait


def _patch_asyncio(module):
    """Event loops that use the session's clock and wait only for the host."""

    class Loop(module.BaseEventLoop):
        def __init__(self):
            super().__init__()
            self._selector = self
            self._clock_resolution = 1e-6

        def time(self):
            return _clock.now_ms / 1000

        def select(self, timeout):
            if timeout == 0 or self._ready or _flush():
                return []
            if timeout is None:
                raise RuntimeError("this code waits for something that can never happen")
            _clock.now_ms += max(1, round(timeout * 1000))
            return []

        def _process_events(self, events):
            pass

        def _write_to_self(self):
            pass

        def run_in_executor(self, executor, func, *args):
            future = self.create_future()

            def done(value, error):
                if not future.cancelled():
                    future.set_result(value) if error is None else future.set_exception(error)

            _cell.queued.append(_Task(lambda: func(*args), 32, done))
            _begin_queued()
            return future

    class Policy(module.DefaultEventLoopPolicy):
        _loop_factory = Loop
        loop = None

        def get_event_loop(self):
            if self.loop is None or self.loop.is_closed():
                self.loop = Loop()
            return self.loop

        def set_event_loop(self, loop):
            self.loop = loop

        def new_event_loop(self):
            return Loop()

    def run(main, **_):
        if not module.iscoroutine(main):
            main = _awaited(main)
        outer = module._get_running_loop()
        module._set_running_loop(None)
        loop = Loop()
        try:
            return loop.run_until_complete(main)
        finally:
            loop.close()
            module._set_running_loop(outer)

    module.set_event_loop_policy(Policy())
    module.run = run


async def _awaited(value):
    """Awaits a value, or returns it unchanged if it is not awaitable."""
    if hasattr(value, "__await__"):
        return await value
    return value


async def _call_async(prepared):
    import asyncio

    future = asyncio.get_running_loop().create_future()

    def resume(outcome):
        if not future.cancelled():
            future.set_result(outcome[0]) if outcome[1] is None else future.set_exception(outcome[1])

    _cell.waiting.append((prepared, resume))
    return await future


def _host_function(name, doc, is_awaitable):
    def function(*args, **kwargs):
        if is_awaitable and _cell.is_async and getattr(_thread_local, "task", None) is None:
            return _call_async(_prepare(name, None, args, kwargs))
        return _call(name, None, args, kwargs)

    function.__name__ = function.__qualname__ = name
    function.__doc__, function.__module__ = doc, "__main__"
    try:
        # For `inspect.signature`: the first line of the documentation is the signature.
        stub = {}
        exec("from __future__ import annotations\ndef %s: pass" % doc.split("\n")[0], stub)
        function.__wrapped__ = stub[name]
    except (SyntaxError, KeyError):
        pass
    return function


_after_import["concurrent.futures"] = _patch_futures
_after_import["asyncio"] = _patch_asyncio
