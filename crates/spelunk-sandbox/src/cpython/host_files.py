"""Files that the host keeps: where the setup has the host function `_files(what, path, data)`, what a cell does with `open`,
`pathlib` and `os` becomes a call of it. The files of the machine are then out of sight, but for modules that are imported."""
import builtins
import io
import os
import stat as _stat_module
import sys
import threading
import weakref

_open_files = []


def _settle_files():
    """Writes what is still open: a cell that ends has written its files."""
    for file in [kept() for kept in _open_files]:
        if file is not None and not file.closed:
            file.flush()
    _open_files[:] = [kept for kept in _open_files if kept() is not None]


def _file_call(what, path, data=None):
    """Asks the host. It counts like any call, but is not refused for it: reading many files is what files are for."""
    _cell.n_calls += 1
    to_wire = _ToWire()
    try:
        args = [to_wire(value) for value in (what, path, data)]
    except _TooLarge:
        raise OSError(27, "File too large: write less at once") from None
    prepared = {"name": "_files", "receiver": None, "args": args, "kwargs": []}
    task = getattr(_here, "task", None)
    value, error = task.wait_for(prepared) if task else _ask([prepared])[0]
    if error is not None:
        if isinstance(error, OSError) and error.errno is None:
            # The number stands in the message; `pathlib` looks for it.
            said = str(error)
            number = said[7:].split("]")[0] if said.startswith("[Errno ") else ""
            error.errno = int(number) if number.isdecimal() else 5
        raise error
    return value


class _Kept:
    """A file that is written to the host when it is flushed or closed."""

    _path = None

    def _begin(self, path, is_appending, kept):
        self._path, self._is_appending, self._kept = path, is_appending, kept
        _open_files.append(weakref.ref(self))
        return self

    @property
    def name(self):
        return self._path

    def flush(self):
        super().flush()
        if self._path is None:
            return
        content = self.getvalue()
        if content == self._kept:
            return
        if self._is_appending:
            _file_call("append", self._path, content[len(self._kept):])
        else:
            _file_call("write", self._path, content)
        self._kept = content

    def close(self):
        if self.closed:
            return
        try:
            self.flush()
        finally:
            super().close()

    def __exit__(self, *raised):
        self.close()

    def __del__(self):
        # Who forgets to close a file means to have written it. The main thread speaks with the host and cannot wait for it.
        if threading.current_thread() is not threading.main_thread():
            self.close()


class _KeptText(_Kept, io.StringIO):
    encoding, errors = "utf-8", "strict"


class _KeptBytes(_Kept, io.BytesIO):
    pass


class _Entry:
    """What `os.scandir` gives for a name."""

    def __init__(self, below, name):
        self.name, self.path = name, os.path.join(below, name)

    def is_dir(self, *, follow_symlinks=True):
        return os.path.isdir(self.path)

    def is_file(self, *, follow_symlinks=True):
        return os.path.isfile(self.path)

    def is_symlink(self):
        return False

    def is_junction(self):
        return False

    def stat(self, *, follow_symlinks=True):
        return os.stat(self.path)

    def inode(self):
        return 0

    def __fspath__(self):
        return self.path


class _Entries:
    def __init__(self, entries):
        self._entries = iter(entries)

    def __iter__(self):
        return self._entries

    def __next__(self):
        return next(self._entries)

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        return None

    def close(self):
        pass


def _teach_files():
    """Puts the host's files in the place of the machine's."""

    call = _file_call

    def name_of(path):
        path = os.fspath(path)
        return path.decode() if isinstance(path, bytes) else path

    def host_open(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None):
        if not isinstance(file, (str, bytes, os.PathLike)):
            return _plain_open(file, mode, buffering, encoding, errors, newline, closefd, opener)
        name, is_bytes, kinds = name_of(file), "b" in mode, set(mode) & set("rwax")
        if not set(mode) <= set("rwaxbt+") or len(kinds) != 1 or {"b", "t"} <= set(mode):
            raise ValueError("invalid mode: %r" % mode)
        # `locale` is what `pathlib` says for none.
        encoding = "utf-8" if encoding in (None, "locale") else encoding
        if encoding.lower().replace("_", "-") not in ("utf-8", "utf8", "ascii", "us-ascii", "utf-8-sig"):
            raise LookupError("files of the folder are UTF-8, not %s: open it with 'rb' and decode it" % encoding)
        if kinds == {"r"} and "+" not in mode:
            content = io.BytesIO(call("read_bytes", name))
            return content if is_bytes else io.TextIOWrapper(content, encoding, errors, newline)
        if kinds == {"x"} and call("exists", name):
            raise FileExistsError(17, "File exists", name)
        opened = _KeptBytes() if is_bytes else _KeptText(newline=newline if newline in ("", "\n") else "\n")
        if kinds == {"r"}:
            old = call("read_bytes", name)
            old = old if is_bytes else old.decode("utf-8", errors or "strict")
            opened.write(old)
            opened.seek(0)
            return opened._begin(name, False, old)
        # The place is made now: one that may not be written says so here.
        call("append" if kinds == {"a"} else "write", name, b"")
        return opened._begin(name, kinds == {"a"}, b"" if is_bytes else "")

    def host_stat(path, *, dir_fd=None, follow_symlinks=True):
        if isinstance(path, int):
            raise OSError(9, "Bad file descriptor")
        name = name_of(path)
        if call("is_dir", name):
            mode, size = _stat_module.S_IFDIR | 0o755, 0
        else:
            mode, size = _stat_module.S_IFREG | 0o644, call("size", name)
        return os.stat_result((mode, 0, 0, 1, 0, 0, size, 0, 0, 0))

    def host_mkdir(path, mode=0o777, *, dir_fd=None):
        name = name_of(path)
        if call("exists", name):
            raise FileExistsError(17, "File exists", name)
        parent = os.path.dirname(name.rstrip("/"))
        if parent and not call("is_dir", parent):
            raise FileNotFoundError(2, "No such file or directory", name)
        call("make_directory", name)

    def asks(what):
        return lambda path: isinstance(path, (str, bytes, os.PathLike)) and call(what, name_of(path))

    def listed(path="."):
        return call("list", name_of(path))

    def missing(*given, **more):
        raise OSError(38, "Function not implemented for files of the folder")

    if sys.version_info < (3, 11):
        # This `pathlib` keeps what it calls from the moment it was imported.
        import pathlib

        for name in ("stat", "open", "listdir", "scandir", "mkdir", "unlink", "rmdir", "rename", "replace", "chmod"):
            later = lambda *given, _name=name, **more: getattr(io if _name == "open" else os, _name)(*given, **more)
            setattr(pathlib._normal_accessor, name, later)
    builtins.open = io.open = host_open
    os.stat = os.lstat = host_stat
    os.mkdir = host_mkdir
    os.remove = os.unlink = lambda path, *, dir_fd=None: call("remove", name_of(path))
    os.rmdir = lambda path, *, dir_fd=None: call("remove", name_of(path))
    os.listdir = listed
    os.scandir = lambda path=".": _Entries([_Entry(name_of(path), name) for name in listed(path)])
    os.path.exists = os.path.lexists = asks("exists")
    os.path.isfile, os.path.isdir = asks("is_file"), asks("is_dir")
    os.path.islink = lambda path: False
    os.path.getsize = lambda path: call("size", name_of(path))
    os.rename = os.replace = os.link = os.symlink = os.chmod = os.chdir = os.truncate = missing
    os.access = lambda path, mode, **more: call("exists", name_of(path))
    os.getcwd = lambda: "/"
