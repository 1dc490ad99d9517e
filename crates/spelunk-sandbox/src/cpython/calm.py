"""Makes runs repeatable: a clock that advances when it is read, random numbers from a seed, fixed process ids. Modules are
patched when they are imported, because most sessions import few."""
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


def _patch_time(module):
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


class _SeededBytes:
    """Random bytes from the seed, in place of the kernel's."""

    def __init__(self, seed):
        import _random
        self.source = _random.Random(seed)

    def __call__(self, n_bytes):
        return self.source.getrandbits(8 * n_bytes).to_bytes(n_bytes, "little") if n_bytes else b""


def _patch_process():
    """Hides what distinguishes processes: their ids, their load and times, and `/proc`."""
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


def _patch_resource(module):
    module.getrusage = lambda _who: module.struct_rusage((0.0, 0.0) + (0,) * 14)


def _without_proc(call):
    """Hides `/proc`, `/sys` and `/dev`, which vary between processes. The kernel hides their contents, not their metadata."""

    def guarded(path=".", *args, **kwargs):
        if isinstance(path, (str, bytes, os.PathLike)):
            name = os.path.normpath(os.fsdecode(path))
            if name.lstrip("/").split("/")[0] in ("proc", "sys", "dev") and name.startswith("/"):
                raise PermissionError(13, "Permission denied", os.fspath(path))
        return call(path, *args, **kwargs)

    return guarded


def _patch_random(module):
    plain_seed = module.Random.seed

    def seed(self, a=None, version=2):
        plain_seed(self, os.urandom(16) if a is None else a, version)

    module.Random.seed = seed
    module.seed = module._inst.seed
    module.seed(_seed)


_seed = 0
_after_import = {"random": _patch_random, "resource": _patch_resource}


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
    """Finds modules as the other finders do, and patches a module after it is executed."""

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


# Native code is confined like everything else, but no cell needs it.
_REFUSED = ("ctypes", "_ctypes", "cffi")


def _make_deterministic(clock_ms, seed, keeps_c_datetime):
    global _seed
    _seed = seed
    _clock.now_ms = _clock.start_ms = clock_ms
    _patch_time(time)
    os.urandom = posix.urandom = _SeededBytes(seed)
    _patch_process()
    sys.meta_path.insert(0, _Finder())
    if not keeps_c_datetime:
        # The Python implementation reads the clock above; the C one reads the real clock.
        sys.modules["_datetime"] = sys.modules["_zoneinfo"] = None
