# Modules of which little is used.

def __sp_load_numbers():
    return {name: __sp_Marker(name) for name in ("Number", "Real", "Integral", "Rational", "Complex")}


def __sp_load_keyword():
    words = "False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield".split()
    return {"kwlist": words, "iskeyword": lambda word: word in words}


def __sp_load_timeit():
    import time
    return {"default_timer": time.time, "timeit": lambda *args, **kwargs: 0.001}


def __sp_load_platform():
    return {"python_version": lambda: "3.14.0", "system": lambda: "Linux", "platform": lambda: "Linux", "machine": lambda: "", "node": lambda: ""}


def __sp_load_gc():
    return {"collect": lambda *args: 0, "disable": __sp_ignore, "enable": __sp_ignore}


def __sp_load_uuid():
    def made():
        import random
        return __sp_Uuid("%032x" % random.getrandbits(128))
    return {"uuid4": made, "uuid1": made}


class __sp_Uuid:
    def __init__(self, digits):
        self.hex = digits

    def __str__(self):
        text = self.hex
        return "-".join([text[:8], text[8:12], text[12:16], text[16:20], text[20:]])

    def __repr__(self):
        return "UUID('" + str(self) + "')"


class __sp_SyncQueue:
    def __init__(self, maxsize=0):
        self.items = []

    def put(self, item, *args, **kwargs):
        self.items.append(item)

    def put_nowait(self, item):
        self.items.append(item)

    def get(self, *args, **kwargs):
        if not self.items:
            raise __sp_raise(RuntimeError("the queue is empty and would never be filled"))
        return self.items.pop(0)

    def get_nowait(self):
        return self.get()

    def empty(self):
        return not self.items

    def qsize(self):
        return len(self.items)

    def task_done(self):
        return None

    def join(self):
        return None


def __sp_load_queue():
    return {"Queue": __sp_SyncQueue, "SimpleQueue": __sp_SyncQueue, "Empty": RuntimeError, "Full": RuntimeError}


def __sp_load_secrets():
    import random
    return {"choice": random.choice, "randbelow": random.randrange, "token_hex": lambda n=32: "%0*x" % (2 * n, random.getrandbits(8 * n))}


def __sp_load_calendar():
    names = "January February March April May June July August September October November December".split()
    days = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()

    def isleap(year):
        return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)

    def monthrange(year, month):
        import datetime
        length = [31, 29 if isleap(year) else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
        return (datetime.date(year, month, 1).weekday(), length)

    return {"month_name": [""] + names, "month_abbr": [""] + [name[:3] for name in names], "day_name": days, "day_abbr": [day[:3] for day in days], "isleap": isleap, "monthrange": monthrange}


__sp_module("numbers", __sp_load_numbers)
__sp_module("keyword", __sp_load_keyword)
__sp_module("timeit", __sp_load_timeit)
__sp_module("platform", __sp_load_platform)
__sp_module("gc", __sp_load_gc)
__sp_module("uuid", __sp_load_uuid)
__sp_module("queue", __sp_load_queue)
__sp_module("secrets", __sp_load_secrets)
__sp_module("calendar", __sp_load_calendar)
