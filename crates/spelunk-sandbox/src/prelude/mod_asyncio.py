def __sp_gather(*awaitables, return_exceptions=False):
    awaitables = [one.coroutine() if isinstance(one, __sp_Task) else __sp_awaitable(one) for one in awaitables]
    if return_exceptions:
        return __sp_gathered([__sp_guarded(one) for one in awaitables])
    return __sp_asyncio.gather(*awaitables)


async def __sp_gathered(guarded):
    found = await __sp_asyncio.gather(*guarded)
    return [value if is_fine else __sp_caught(value) for is_fine, value in found]


class __sp_Task:
    # A task that was made and not awaited yet. All of them run when one is awaited.
    def __init__(self, awaitable):
        self.future = __sp_Future()
        self.future.pending = awaitable
        __sp_open_tasks.append(self)

    def coroutine(self):
        return __sp_task_value(self)

    def __sp_await__(self):
        return __sp_task_value(self)

    def settle(self):
        tasks = [task for task in __sp_open_tasks if task.future.state == "pending"]
        __sp_open_tasks.clear()
        __sp_settle_all([task.future for task in tasks])

    def result(self):
        if self.future.state == "pending":
            raise __sp_raise(RuntimeError("Result is not ready."))
        return self.future.result()

    def exception(self):
        return self.future.exception()

    def done(self):
        return self.future.state == "done"

    def cancel(self, *args):
        return False

    def cancelled(self):
        return False

    def add_done_callback(self, callback):
        self.future.add_done_callback(callback)

    def get_name(self):
        return "Task"


__sp_open_tasks = []


async def __sp_task_value(task):
    if task.future.state == "pending":
        task.settle()
    return task.future.result()


def __sp_run_main(awaitable, debug=None):
    return __sp_asyncio.run(__sp_awaitable(awaitable))


async def __sp_wait_for(awaitable, timeout=None):
    return await __sp_awaitable(awaitable)


def __sp_completed(awaitables, timeout=None):
    tasks = [one if isinstance(one, __sp_Task) else __sp_Task(one) for one in __sp_all(awaitables)]
    return iter(tasks)


async def __sp_wait_tasks(awaitables, timeout=None, return_when=None):
    tasks = [one if isinstance(one, __sp_Task) else __sp_Task(one) for one in __sp_all(awaitables)]
    for task in tasks:
        await task.coroutine()
    return (set(tasks), set())


class __sp_Semaphore:
    def __init__(self, value=1):
        self.value = value

    def __enter__(self):
        return None

    def __exit__(self, kind, error, traceback):
        return None

    def acquire(self):
        return __sp_value(True)

    def release(self):
        return None

    def locked(self):
        return False


class __sp_TaskGroup:
    def __init__(self):
        self.tasks = []

    def create_task(self, awaitable, name=None):
        task = __sp_Task(awaitable)
        self.tasks.append(task)
        return task

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        if error is None:
            __sp_settle_all([task.future for task in self.tasks])
            for task in self.tasks:
                task.future.result()


class __sp_Loop:
    def run_until_complete(self, awaitable):
        return __sp_run_main(awaitable)

    def create_task(self, awaitable):
        return __sp_Task(awaitable)

    def run_in_executor(self, executor, function, *args):
        return __sp_Task(__sp_in_task(function, args, {}))

    def is_running(self):
        return True

    def close(self):
        return None

    def time(self):
        return 0.0


class __sp_Queue:
    def __init__(self, maxsize=0):
        self.items = []

    def put_nowait(self, item):
        self.items.append(item)

    def get_nowait(self):
        if not self.items:
            raise __sp_raise(RuntimeError("the queue is empty"))
        return self.items.pop(0)

    def put(self, item):
        self.items.append(item)
        return __sp_value(None)

    def get(self):
        return __sp_value(self.get_nowait())

    def empty(self):
        return not self.items

    def qsize(self):
        return len(self.items)

    def task_done(self):
        return None

    def join(self):
        return __sp_value(None)


async def __sp_to_thread(function, *args, **kwargs):
    return function(*args, **kwargs)


def __sp_timeout(*args):
    return __sp_Semaphore()


def __sp_load_asyncio():
    return {
        "gather": __sp_gather, "run": __sp_run_main, "sleep": __sp_asyncio.sleep, "create_task": __sp_new_task, "ensure_future": __sp_new_task,
        "wait_for": __sp_wait_for, "as_completed": __sp_completed, "wait": __sp_wait_tasks, "Semaphore": __sp_Semaphore,
        "BoundedSemaphore": __sp_Semaphore, "Lock": __sp_Semaphore, "Event": __sp_Semaphore, "TaskGroup": __sp_TaskGroup, "Queue": __sp_Queue,
        "get_event_loop": __sp_Loop, "get_running_loop": __sp_Loop, "new_event_loop": __sp_Loop, "set_event_loop": lambda loop: None,
        "to_thread": __sp_to_thread, "timeout": __sp_timeout, "TimeoutError": TimeoutError, "shield": __sp_same,
        "iscoroutine": lambda value: str(type(value)) == "<class 'coroutine'>", "iscoroutinefunction": lambda value: False,
        "Task": __sp_Task, "Future": __sp_Future, "FIRST_COMPLETED": "FIRST_COMPLETED", "ALL_COMPLETED": "ALL_COMPLETED",
        "FIRST_EXCEPTION": "FIRST_EXCEPTION", "CancelledError": KeyboardInterrupt,
    }


def __sp_new_task(awaitable, *, name=None, context=None):
    return awaitable if isinstance(awaitable, __sp_Task) else __sp_Task(__sp_awaitable(awaitable))


__sp_module("asyncio", __sp_load_asyncio)
