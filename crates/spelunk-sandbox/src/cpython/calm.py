"""The same in each run: a clock that moves with each reading, chance from a seed, addresses of nothing real. What must be
changed in a module is changed when it is imported, because most sessions import few."""
import _thread
import posix
import threading
import time
from _frozen_importlib_external import PathFinder

_real_process_time = time.process_time


class _Clock:
    now_ms = 0
    start_ms = 0

    def read(self):
        now_ms = self.now_ms
        self.now_ms += 1
        return now_ms

    def sleep(self, seconds):
        if seconds < 0:
            raise ValueError("sleep length must be non-negative")
        self.now_ms += int(seconds * 1000)


_clock = _Clock()


def _quiet_time(module):
    gmtime, strftime = module.gmtime, module.strftime
    wall = lambda: _clock.read() / 1000
    since = lambda: (_clock.read() - _clock.start_ms) / 1000
    module.time = wall
    module.time_ns = lambda: _clock.read() * 1_000_000
    module.monotonic = module.perf_counter = module.process_time = module.thread_time = since
    for name in ("monotonic_ns", "perf_counter_ns", "process_time_ns", "thread_time_ns"):
        setattr(module, name, lambda: (_clock.read() - _clock.start_ms) * 1_000_000)
    module.clock_gettime = lambda _clock_id: wall()
    module.sleep = _clock.sleep
    module.gmtime = lambda seconds=None: gmtime(wall() if seconds is None else seconds)
    module.localtime = module.gmtime
    module.strftime = lambda form, when=None: strftime(form, gmtime(wall()) if when is None else when)
    module.ctime = lambda seconds=None: module.asctime(module.gmtime(seconds))


class _Chance:
    """Bytes from the seed, where the kernel's would be."""

    def __init__(self, seed):
        import _random
        self.source = _random.Random(seed)

    def __call__(self, n_bytes):
        return self.source.getrandbits(8 * n_bytes).to_bytes(n_bytes, "little") if n_bytes else b""


def _quiet_process():
    """What tells one process from another, or how long it has run."""
    since = lambda: (_clock.read() - _clock.start_ms) / 1000
    fixed = {"getpid": 1, "getppid": 0, "getpgrp": 1, "getsid": 1, "getpgid": 1, "getloadavg": (0.0, 0.0, 0.0)}
    for name, value in fixed.items():
        setattr(os, name, lambda *_, value=value: value)
        setattr(posix, name, getattr(os, name))
    os.times = posix.times = lambda: posix.times_result((since(), 0.0, 0.0, 0.0, since()))
    for name in ("stat", "lstat", "readlink", "access", "listdir", "scandir", "statvfs"):
        setattr(os, name, _without_proc(getattr(posix, name)))
        setattr(posix, name, getattr(os, name))
    threading.get_native_id = _thread.get_native_id = lambda: 1


def _quiet_resource(module):
    module.getrusage = lambda _who: module.struct_rusage((0.0, 0.0) + (0,) * 14)


def _without_proc(call):
    """`/proc`, `/sys` and `/dev` differ from process to process. Their files cannot be read; their links and times could."""

    def looked(path=".", *args, **more):
        if isinstance(path, (str, bytes, os.PathLike)):
            name = os.path.normpath(os.fsdecode(path))
            if name.lstrip("/").split("/")[0] in ("proc", "sys", "dev") and name.startswith("/"):
                raise PermissionError(13, "Permission denied", os.fspath(path))
        return call(path, *args, **more)

    return looked


def _quiet_random(module):
    seeded = module.Random.seed

    def seed(self, a=None, version=2):
        seeded(self, os.urandom(16) if a is None else a, version)

    module.Random.seed = seed
    module.seed = module._inst.seed
    module.seed(_seed)


_seed = 0
_after_import = {"random": _quiet_random, "resource": _quiet_resource}


class _Loader:
    def __init__(self, loader, change):
        self.loader, self.change = loader, change

    def create_module(self, spec):
        return self.loader.create_module(spec)

    def exec_module(self, module):
        self.loader.exec_module(module)
        self.change(module)

    def __getattr__(self, name):
        return getattr(self.loader, name)


class _Finder:
    """Finds what the others find, and sees to it that a module is changed once it ran."""

    def find_spec(self, name, path, target=None):
        change = _after_import.get(name)
        if name in _REFUSED:
            raise ModuleNotFoundError("`%s` is not available in this sandbox" % name, name=name)
        if change is None:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, change)
        return spec


# Native code is confined like all else, but nobody needs it here.
_REFUSED = ("ctypes", "_ctypes", "cffi")


def _be_calm(clock_ms, seed, keeps_datetime):
    global _seed
    _seed = seed
    _clock.now_ms = _clock.start_ms = clock_ms
    _quiet_time(time)
    os.urandom = posix.urandom = _Chance(seed)
    _quiet_process()
    sys.meta_path.insert(0, _Finder())
    if not keeps_datetime:
        # Its twin in Python reads the clock above, the one in C reads the real one.
        sys.modules["_datetime"] = sys.modules["_zoneinfo"] = None
