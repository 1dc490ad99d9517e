"""Sessions and cells: the last part of the worker script. One session per process."""
import ast
import builtins
import io
import linecache

_SHOWN_FIRST, _SHOWN_LAST = 3, 8
_LINE_CHARS_MAX = 200
_TRACE_CHARS_MAX = 20_000
_SCRATCH_BYTES_MAX = 64 << 20
_CELL_STACK_BYTES = 64 << 20

_exceptions = {}
_limits = {}
_sources = {}
_files = {}
_functions = {}
_module = types.ModuleType("__main__")
_names = _module.__dict__
_names.pop("__doc__"), _names.pop("__package__"), _names.pop("__loader__"), _names.pop("__spec__")
_names["__builtins__"] = builtins


class _Output(io.TextIOBase):
    """A cell's output, of which only the beginning and the end are kept."""

    encoding, errors = "utf-8", "strict"

    def __init__(self, chars_max):
        self.tail_max = max(chars_max // 3, 1)
        self.chars_max, self.head_max = chars_max, chars_max - chars_max // 3
        self.head, self.tail, self.n_head, self.n_tail, self.n_chars = [], [], 0, 0, 0

    def writable(self):
        return True

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError("write() argument must be str, not %s" % type(text).__name__)
        self.n_chars += len(text)
        room = self.head_max - self.n_head
        if room > 0:
            self.head.append(text[:room])
            self.n_head += min(room, len(text))
        if len(text) > room:
            self.tail.append(text[max(room, 0):][-2 * self.tail_max:])
            self.n_tail += len(self.tail[-1])
            if self.n_tail > 4 * self.tail_max:
                self.tail = ["".join(self.tail)[-self.tail_max:]]
                self.n_tail = len(self.tail[0])
        return len(text)

    def to_wire(self):
        head, tail = "".join(self.head), "".join(self.tail)
        if self.n_chars <= self.chars_max:
            head, tail = head + tail, ""
        return {"head": _clean(head), "tail": _clean(tail[-self.tail_max:]), "n_chars": self.n_chars}


class _Discard(io.TextIOBase):
    """Standard error, which is not part of a cell's output."""

    def writable(self):
        return True

    def write(self, text):
        return len(text)


_output = _Output(0)


def _source_lines(name, line, column, end_line, end_column):
    """The source line of a position in a cell, with markers below. Columns are in characters."""
    source = _sources.get(name, "").split("\n")
    text = source[line - 1] if 0 < line <= len(source) else ""
    shown = text.lstrip()
    indent = len(text) - len(shown)
    if not shown.strip():
        return []
    lines = ["    " + shown.rstrip()[:_LINE_CHARS_MAX]]
    if column is not None:
        start = max(column - indent, 0)
        end = end_column - indent if end_line == line else len(shown.rstrip())
        if start < _LINE_CHARS_MAX:
            lines.append("    " + " " * start + "^" * max(1, min(end - start, _LINE_CHARS_MAX - start)))
    return lines


def _frame_lines(code, lasti, line):
    """The traceback lines of one of a cell's frames."""
    column = end_column = end_line = None
    if hasattr(code, "co_positions"):
        positions = list(code.co_positions())
        if 0 <= lasti // 2 < len(positions):
            found = positions[lasti // 2]
            if None not in found and found[0] == line:
                source = _sources.get(code.co_filename, "").split("\n")
                chars = lambda n_line, n_bytes: len(source[n_line - 1].encode()[:n_bytes].decode("utf-8", "replace"))
                _, end_line, column, end_column = found
                column, end_column = chars(line, column), chars(end_line, end_column)
    name = "<module>" if code.co_name.startswith("__sp_") else code.co_name
    place = '  File "%s", line %d, in %s' % (code.co_filename, line, name)
    return [place] + _source_lines(code.co_filename, line, column, end_line, end_column)


def _format_traceback(frames, last):
    """A traceback: the frames of cells, and the last line."""
    frames = [frame for frame in frames if frame[0].co_filename in _sources]
    lines = ["Traceback (most recent call last):"] if frames else []
    n_left_out = len(frames) - _SHOWN_FIRST - _SHOWN_LAST
    for idx, frame in enumerate(frames):
        if n_left_out > 0 and _SHOWN_FIRST <= idx < _SHOWN_FIRST + n_left_out:
            if idx == _SHOWN_FIRST:
                lines.append("  ... [%d more calls] ..." % n_left_out)
            continue
        lines += _frame_lines(*frame)
    return "\n".join(lines + [last])


def _raised_message(kind, message, traceback, is_poisoned):
    cut = lambda text: _clean(text if len(text) <= _TRACE_CHARS_MAX else text[:_TRACE_CHARS_MAX] + "...")
    raised = {"kind": cut(kind), "message": cut(message), "traceback": cut(traceback), "is_poisoned": is_poisoned}
    return {"step": {"raised": {"output": _output.to_wire(), "raised": raised}}}


def _exception_message(error):
    """The message about an exception that ended a cell."""
    kind = type(error).__name__
    try:
        message = str(error)
        message = message if type(message) is str else ""
    except Exception:
        message = "<exception str() failed>"
    if isinstance(error, SyntaxError) and error.filename in _sources:
        return _syntax_error_message(error, kind)
    frames, at = [], error.__traceback__
    while at is not None:
        frames.append((at.tb_frame.f_code, at.tb_lasti, at.tb_lineno))
        at = at.tb_next
    last = "%s: %s" % (kind, message) if message else kind
    return _raised_message(kind, message, _format_traceback(frames, last), isinstance(error, MemoryError))


def _syntax_error_message(error, kind):
    lines = ['  File "%s", line %d' % (error.filename, error.lineno or 1)]
    column = (error.offset or 1) - 1
    end_line, end_offset = getattr(error, "end_lineno", None), getattr(error, "end_offset", None)
    end = end_offset - 1 if end_offset and end_line == error.lineno else column + 1
    lines += _source_lines(error.filename, error.lineno or 1, column, error.lineno or 1, max(end, column + 1))
    lines.append("%s: %s" % (kind, error.msg))
    return _raised_message(kind, error.msg or "", "\n".join(lines), False)


def _stack_of(frame):
    frames = []
    while frame is not None:
        frames.append((frame.f_code, frame.f_lasti, frame.f_lineno))
        frame = frame.f_back
    return frames[::-1]


def _stop_cell(kind, message):
    """Ends the cell from its own thread. None of its code runs after this."""
    traceback = _format_traceback(_stack_of(sys._getframe(1)), "%s: %s" % (kind, message))
    _messages.put(("stop", _raised_message(kind, message, traceback, False), None))
    _park_for_good()


class _Rewrite(ast.NodeTransformer):
    """Makes awaiting a plain value return that value; changes nothing else."""

    def visit_Await(self, node):
        self.generic_visit(node)
        wrapped = ast.Call(ast.Name("__sp_awaited", ast.Load()), [node.value], [])
        node.value = ast.fix_missing_locations(ast.copy_location(wrapped, node.value))
        return node


_ASYNC = (ast.Await, ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith)


def _is_async(tree):
    for node in ast.walk(tree):
        if isinstance(node, _ASYNC) or isinstance(node, ast.Name) and node.id == "asyncio":
            return True
        if isinstance(node, ast.Import) and any(name.name.split(".")[0] == "asyncio" for name in node.names):
            return True
        if isinstance(node, ast.ImportFrom) and node.module == "asyncio":
            return True
    return False


def _echo(value):
    if value is not None:
        _names["_"] = value
        print(repr(value))


def _run_code(name, source):
    """Runs a cell in this thread and returns how it ended."""
    try:
        tree = ast.parse(source, name)
        _cell.is_async = _is_async(tree)
        if _cell.is_async:
            tree = _Rewrite().visit(tree)
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            last = tree.body[-1]
            wrapped = ast.Call(ast.Name("__sp_echo", ast.Load()), [last.value], [])
            last.value = ast.fix_missing_locations(ast.copy_location(wrapped, last.value))
        code = compile(tree, name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        if code.co_flags & 0x80:
            import asyncio

            policy = asyncio.get_event_loop_policy()
            if policy.get_event_loop().is_running():
                # An earlier cell was abandoned inside this loop.
                policy.set_event_loop(policy.new_event_loop())
            policy.get_event_loop().run_until_complete(eval(code, _names))
        else:
            exec(code, _names)
        while _cell.queued or _cell.waiting:
            _flush()
        _flush_files()
        return {"step": {"done": {"output": _output.to_wire()}}}
    except BaseException as error:
        try:
            _flush_files()
        except Exception:
            # The first error is the one to report.
            pass
        return _exception_message(error)


_OUT_OF_MEMORY = None


class _Runner:
    """The thread that runs cells, with a stack for deep recursion. Cells share it until one is abandoned in it: with a
    thread per cell, the address of a stack would depend on when the thread before ended."""

    def __init__(self):
        self.jobs = _queue.SimpleQueue()
        threading.stack_size(_CELL_STACK_BYTES)
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()
        threading.stack_size(1 << 20)

    def run(self):
        while True:
            work = self.jobs.get()
            try:
                ended = work()
            except BaseException:
                ended = None
            work = None
            _messages.put(("end", ended, None))


_runner = None


def _start(work):
    global _runner
    _runner = _runner or _Runner()
    _runner.jobs.put(work)
    return _runner.thread


def _stop_at_limit(thread):
    frame = sys._current_frames().get(thread.ident)
    message = "time limit exceeded: this cell used more than %d ms of CPU time" % _limits["cell_ms_max"]
    traceback = _format_traceback(_stack_of(frame), "TimeoutError: " + message)
    _send(_raised_message("TimeoutError", message, traceback, True))
    os._exit(0)


def _next_message(thread, left):
    """The cell's next message, and its remaining CPU time."""
    started = _real_process_time()
    while True:
        before, rest = _real_process_time(), max(left - (_real_process_time() - started), 0.001)
        try:
            return _messages.get(timeout=rest), left - (_real_process_time() - started)
        except _queue.Empty:
            now = _real_process_time()
            # A cell that used no CPU meanwhile waits for something that will never happen.
            if now - started >= left or now - before < rest / 1000:
                _stop_at_limit(thread)


def _supervise(thread, is_cell):
    """Talks to the host for a cell until it is over. Time counts only while the cell computes."""
    global _runner
    left = _limits["cell_ms_max"] / 1000
    while True:
        (kind, content, answer), left = _next_message(thread, left)
        if kind == "stop":
            _runner = None
            return content
        if kind == "end":
            return _OUT_OF_MEMORY if content is None else content
        if not is_cell:
            answer.put([{"raise": {"kind": "RuntimeError", "message": "no host call is possible here"}}] * len(content))
            continue
        frame = _frame({"step": {"calls": content}})
        if len(frame) > _FRAME_BYTES_MAX:
            too_large = {"kind": "ValueError", "message": "the arguments are too large for a host call: pass less text"}
            answer.put([{"raise": too_large}] * len(content))
            continue
        _send_frame(frame)
        _, resumed = _receive()
        if "finish" in resumed["replies"]:
            _runner = None
            return {"step": {"finished": {"output": _output.to_wire()}}}
        answer.put(resumed["replies"])


def _feed(source, name):
    global _cell, _output
    _cell = _Cell(_limits["cell_calls_max"])
    _output = _Output(_limits["output_chars_max"])
    sys.stdout, sys.stderr, sys.stdin = _output, _Discard(), io.StringIO("")
    _sources[name] = source
    linecache.cache[name] = (len(source), None, [line + "\n" for line in source.split("\n")], name)
    return _supervise(_start(lambda: _run_code(name, source)), True)


def _variable(name):
    if name.startswith("__") or name not in _names:
        return "no_variable"

    def encode():
        try:
            return {"variable": _ToWire()(_names[name])}
        except _TooLarge:
            kind = type(_names[name]).__name__
            return {"variable": {"$o": [kind, "<%s, too large to show>" % kind]}}

    return _supervise(_start(encode), False)


class _Scratch:
    """A file in memory. Its content is stored when it is flushed, closed or garbage-collected."""

    _path = None

    def _bind(self, path):
        self._path = path
        return self

    def flush(self):
        super().flush()
        if self._path is None:
            return
        content = self.getvalue()
        content = content.encode() if isinstance(content, str) else content
        n_bytes = sum(len(other) for path, other in _files.items() if path != self._path) + len(content)
        if n_bytes > _SCRATCH_BYTES_MAX + _given_bytes:
            raise OSError(28, "No space left on device", self._path)
        _files[self._path] = content

    def close(self):
        if not self.closed:
            try:
                self.flush()
            finally:
                super().close()

    def __del__(self):
        try:
            self.close()
        except OSError:
            # Nothing could catch it here.
            pass


class _ScratchText(_Scratch, io.StringIO):
    pass


class _ScratchBytes(_Scratch, io.BytesIO):
    pass


_given_bytes = 0
_plain_open = io.open


def _key(path):
    return os.path.normpath(os.path.join("/", os.fspath(path)))


def _open(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None):
    """Opens a file of the session; the kernel decides about all other paths."""
    if not isinstance(file, (str, os.PathLike)):
        return _plain_open(file, mode, buffering, encoding, errors, newline, closefd, opener)
    key, is_bytes = _key(file), "b" in mode
    if not set(mode) <= set("rwaxbt+U") or "x" in mode and key in _files:
        raise FileExistsError(17, "File exists", file) if "x" in mode else ValueError("invalid mode: %r" % mode)
    if set(mode) & set("wax+"):
        scratch = _ScratchBytes() if is_bytes else _ScratchText(newline="")
        if "w" not in mode and "x" not in mode:
            if key not in _files and "a" not in mode:
                raise FileNotFoundError(2, "No such file or directory", file)
            old = _files.get(key, b"")
            scratch.write(old if is_bytes else old.decode(encoding or "utf-8", errors or "strict"))
            if "a" not in mode:
                scratch.seek(0)
        return scratch._bind(key)
    if key not in _files:
        return _plain_open(file, mode, buffering, encoding, errors, newline, closefd, opener)
    content = io.BytesIO(_files[key])
    return content if is_bytes else io.TextIOWrapper(content, encoding or "utf-8", errors, newline)


def _help(thing=None):
    """Prints the documentation of a host function or of any other object."""
    if getattr(thing, "__name__", None) in _functions and thing is _functions[thing.__name__]:
        print(thing.__doc__)
    elif thing is not None:
        import pydoc

        print(pydoc.plain(pydoc.render_doc(thing)))


def _exit(code=None):
    raise SystemExit(code)


def _no_input(prompt=""):
    raise RuntimeError("input() is not available in this sandbox")


def _install_builtins():
    """Installs the built-in names and file functions of a session."""
    builtins.open = io.open = _open
    builtins.help, builtins.exit, builtins.quit, builtins.input = _help, _exit, _exit, _no_input
    builtins.__sp_awaited, builtins.__sp_echo = _awaited, _echo
    exists, isfile, remove = os.path.exists, os.path.isfile, os.remove
    os.path.exists = lambda path: isinstance(path, (str, os.PathLike)) and _key(path) in _files or exists(path)
    os.path.isfile = lambda path: isinstance(path, (str, os.PathLike)) and _key(path) in _files or isfile(path)
    os.remove = os.unlink = lambda path, **more: None if _files.pop(_key(path), None) is not None else remove(path, **more)
    os.environ.clear()
    sys.modules["__main__"] = _module


def _open_session(setup):
    global _limits, _given_bytes
    _limits = setup["limits"]
    _make_deterministic(setup["clock_ms"], setup["seed"], any("-packages" in entry for entry in sys.path))
    _install_builtins()
    for function in setup["functions"]:
        made = _host_function(function["name"], function["doc"], function["is_awaitable"])
        _functions[function["name"]] = _names[function["name"]] = made
    for name in setup["exceptions"]:
        _exceptions[name] = _names[name] = type(name, (Exception,), {"__module__": "__main__"})
    for name, value in setup["variables"]:
        _names[name] = value
    for path, content in setup["files"]:
        _files[_key(path)] = content if isinstance(content, bytes) else str(content).encode()
    _given_bytes = sum(map(len, _files.values()))
    if _handles:
        _patch_re()
    if "_files" in _functions:
        _patch_files()
    # The worker's own frames do not count against the cell.
    sys.setrecursionlimit(_limits["recursion_max"] + 20)
    if setup["prelude"].strip():
        ended = _feed(setup["prelude"], "<prelude>")
        _sources.clear()
        if "done" not in ended["step"]:
            what = ended["step"].get("raised", {}).get("raised", {}).get("traceback", "it asks the host")
            return {"broken": {"what": "the prelude of the setup does not run: " + what}}
    return "opened"


def _serve():
    global _OUT_OF_MEMORY
    n_cells = 0
    while True:
        name, content = _receive()
        if name == "open":
            answer = _open_session(content["setup"])
            raised = {"kind": "MemoryError", "message": "", "traceback": "MemoryError", "is_poisoned": True}
            nothing = {"head": "", "tail": "", "n_chars": 0}
            _OUT_OF_MEMORY = _frame({"step": {"raised": {"output": nothing, "raised": raised}}})
        elif name == "feed":
            n_cells += 1
            _limits["cell_ms_max"] = content["cell_ms_max"]
            answer = _feed(content["code"], "<cell %d>" % n_cells)
        elif name == "variable":
            answer = _variable(content["name"])
        else:
            os._exit(0)
        _send_frame(answer) if isinstance(answer, bytes) else _send(answer)


try:
    _serve()
except MemoryError:
    # The cell's data leaves no memory for a reply, so this one was encoded in advance.
    _send_frame(_OUT_OF_MEMORY)
    os._exit(0)
