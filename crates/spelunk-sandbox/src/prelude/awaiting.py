# Awaiting what is no coroutine.

async def __sp_value(value):
    return value


def __sp_awaitable(value):
    if str(type(value)) == "<class 'coroutine'>":
        return value
    if hasattr(type(value), "__sp_await__"):
        return value.__sp_await__()
    if hasattr(type(value), "__await__"):
        return __sp_value(__sp_last_of(type(value).__await__(value)))
    return __sp_value(value)


def __sp_last_of(value):
    return value


def __sp_entered(value):
    kind = type(value)
    if hasattr(kind, "__aenter__"):
        return __sp_Entered(value)
    return value


class __sp_Entered:
    def __init__(self, value):
        self.value = value

    def __enter__(self):
        return __sp_asyncio.run(__sp_awaitable(type(self.value).__aenter__(self.value)))

    def __exit__(self, kind, error, traceback):
        return __sp_asyncio.run(__sp_awaitable(type(self.value).__aexit__(self.value, kind, error, traceback)))


def __sp_aiter(value):
    return value


def __sp_now(value):
    if str(type(value)) == "<class 'coroutine'>" or hasattr(type(value), "__sp_await__"):
        return __sp_asyncio.run(__sp_awaitable(value))
    return value
