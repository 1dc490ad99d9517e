"""Files stored by the host. If the setup has the host function `_files(what, path, data)`, a cell's `open`, `pathlib` and
`os` operations call it. The machine's files are then hidden, except for modules that are imported."""
import builtins
import io
import os
import stat as _stat_module
import sys
import threading
import weakref

_open_files = []


def _flush_files():
    """Flushes open files, so that a cell's files are written when it ends."""
    for file in [reference() for reference in _open_files]:
        if file is not None and not file.closed:
            file.flush()
    _open_files[:] = [reference for reference in _open_files if reference() is not None]


def _file_call(what, path, data=None):
    """Calls the host. The call counts, but the limit does not stop it: a cell may well read many files."""
    _cell.n_calls += 1
    to_wire = _ToWire()
    try:
        args = [to_wire(value) for value in (what, path, data)]
    except _TooLarge:
        raise OSError(27, "File too large: write less at once") from None
    prepared = {"name": "_files", "receiver": None, "args": args, "kwargs": []}
    task = getattr(_thread_local, "task", None)
    value, error = task.wait_for(prepared) if task else _exchange([prepared])[0]
    if error is not None:
        if isinstance(error, OSError) and error.errno is None:
            # `pathlib` checks `errno`; the message contains it.
            message = str(error)
            number = message[7:].split("]")[0] if message.startswith("[Errno ") else ""
            error.errno = int(number) if number.isdecimal() else 5
        raise error
    return value


class _Kept:
    """A file that is written to the host when it is flushed or closed."""

    _path = None

    def _bind(self, path, is_appending, saved):
        self._path, self._is_appending, self._saved = path, is_appending, saved
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
        if content == self._saved:
            return
        if self._is_appending:
            _file_call("append", self._path, content[len(self._saved):])
        else:
            _file_call("write", self._path, content)
        self._saved = content

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
        # A file that was not closed is still saved. The main thread talks to the host, so it cannot wait for a call here.
        if threading.current_thread() is not threading.main_thread():
            self.close()


class _KeptText(_Kept, io.StringIO):
    encoding, errors = "utf-8", "strict"


class _KeptBytes(_Kept, io.BytesIO):
    pass


class _Entry:
    """An entry of `os.scandir`."""

    def __init__(self, parent_path, name):
        self.name, self.path = name, os.path.join(parent_path, name)

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


def _patch_files():
    """Replaces the machine's files with the host's."""

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
        # `pathlib` passes `locale` if no encoding is given.
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
            return opened._bind(name, False, old)
        # The file is created now, so that a path that may not be written fails here.
        call("append" if kinds == {"a"} else "write", name, b"")
        return opened._bind(name, kinds == {"a"}, b"" if is_bytes else "")

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

    def predicate(what):
        return lambda path: isinstance(path, (str, bytes, os.PathLike)) and call(what, name_of(path))

    def list_names(path="."):
        return call("list", name_of(path))

    def not_implemented(*args, **kwargs):
        raise OSError(38, "Function not implemented for files of the folder")

    if sys.version_info < (3, 11):
        # Before Python 3.11, `pathlib` binds the functions it calls when it is imported.
        import pathlib

        for name in ("stat", "open", "listdir", "scandir", "mkdir", "unlink", "rmdir", "rename", "replace", "chmod"):
            late_bound = lambda *args, _name=name, **kwargs: getattr(io if _name == "open" else os, _name)(*args, **kwargs)
            setattr(pathlib._normal_accessor, name, late_bound)
    builtins.open = io.open = host_open
    os.stat = os.lstat = host_stat
    os.mkdir = host_mkdir
    os.remove = os.unlink = lambda path, *, dir_fd=None: call("remove", name_of(path))
    os.rmdir = lambda path, *, dir_fd=None: call("remove", name_of(path))
    os.listdir = list_names
    os.scandir = lambda path=".": _Entries([_Entry(name_of(path), name) for name in list_names(path)])
    os.path.exists = os.path.lexists = predicate("exists")
    os.path.isfile, os.path.isdir = predicate("is_file"), predicate("is_dir")
    os.path.islink = lambda path: False
    os.path.getsize = lambda path: call("size", name_of(path))
    os.rename = os.replace = os.link = os.symlink = os.chmod = os.chdir = os.truncate = not_implemented
    os.access = lambda path, mode, **kwargs: call("exists", name_of(path))
    os.getcwd = lambda: "/"
