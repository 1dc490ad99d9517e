# What every session has.

import asyncio as __sp_asyncio


def __sp_echo(value):
    if value is not None:
        print(repr(value))


# Functions of the host that may be awaited. A cell that awaits gets something to await; in a pool of threads each call waits
# by itself, so that all of them are with the host at once.

__sp_async = False
__sp_pool = [0]


def __sp_ask(now, later, args, kwargs):
    if __sp_pool[0]:
        return __sp_asyncio.run(later(*args, **kwargs))
    if __sp_async:
        return later(*args, **kwargs)
    return now(*args, **kwargs)
