"""Frames and values, in the encoding of `wire.rs`. The first part of the worker script: it also moves the pipes away from
descriptors 0 and 1, which the code of a cell may use."""
import sys

sys.path[:] = sys.argv[1:]
sys.argv[:] = [""]
import os
import json
import collections
import types

_DEPTH_MAX = 39
_VALUES_MAX = 1_000_000
_FRAME_BYTES_MAX = 128 << 20
_REPR_CHARS_MAX = 500
_INT_BITS_MAX = 100_000

_frames_in, _frames_out = os.dup(0), os.dup(1)


def _detach():
    """Makes reads from descriptor 0 end at once and writes to 1 fail with a broken pipe."""
    for descriptor, end in ((0, 0), (1, 1)):
        pipe = os.pipe()
        os.dup2(pipe[end], descriptor)
        os.close(pipe[0])
        os.close(pipe[1])


_detach()


def _read_exactly(n_bytes):
    pieces = []
    while n_bytes:
        piece = os.read(_frames_in, min(n_bytes, 1 << 20))
        if not piece:
            os._exit(0)
        pieces.append(piece)
        n_bytes -= len(piece)
    return b"".join(pieces)


def _receive():
    """The name and content of the next message."""
    body = _read_exactly(int.from_bytes(_read_exactly(4), "little"))
    message = json.loads(body, object_hook=_from_wire)
    if isinstance(message, str):
        return message, None
    ((name, content),) = message.items()
    return name, content


def _frame(message):
    body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    return len(body).to_bytes(4, "little") + body


def _send_frame(frame):
    rest = memoryview(frame)
    while rest:
        rest = rest[os.write(_frames_out, rest):]


def _send(message):
    _send_frame(_frame(message))


class _TooLarge(Exception):
    pass


def _clean(text):
    """Text that UTF-8 can encode, always as a plain `str`."""
    text = str.__str__(text)
    try:
        text.encode("utf-8")
        return text
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _opaque(value):
    try:
        shown = repr(value)
        shown = shown if type(shown) is str else "<?>"
    except Exception:
        shown = "<%s>" % type(value).__name__
    return {"$o": [_clean(type(value).__name__), _clean(shown[:_REPR_CHARS_MAX])]}


_LISTS = (list, collections.deque, range, type({}.keys()), type({}.values()), type({}.items()))


class _ToWire:
    """Encodes the values of one message. They are counted, because a short program can build a huge tree."""

    def __init__(self):
        self.n_values = 0
        self.n_bytes = 0
        self.path = set()

    def __call__(self, value):
        self.n_values += 1
        if self.n_values > _VALUES_MAX or self.n_bytes > _FRAME_BYTES_MAX // 2:
            raise _TooLarge
        kind = type(value)
        if value is None or kind is bool:
            return value
        if kind is _Handle or issubclass(kind, _Handle):
            return {"$h": list(_handle_key(value))}
        if issubclass(kind, str):
            return self.text(value)
        if issubclass(kind, int):
            return self.integer(value) if not issubclass(kind, bool) else bool(value)
        if issubclass(kind, float):
            shown = float.__repr__(value)
            plain = len(shown) <= 16 and shown.lstrip("-")[0].isdigit() and "e" not in shown
            return float(value) if plain else {"$f": shown}
        if issubclass(kind, (bytes, bytearray)):
            self.n_bytes += 2 * len(value)
            return {"$b": bytes(value).hex()}
        if kind is slice and all(end is None or type(end) is int for end in (value.start, value.stop, value.step)):
            return {"$s": [value.start, value.stop, value.step]}
        return self.container(value, kind)

    def text(self, value):
        self.n_bytes += str.__len__(value)
        if self.n_bytes > _FRAME_BYTES_MAX // 2:
            raise _TooLarge
        return _clean(value)

    def integer(self, value):
        if -(1 << 63) <= value < 1 << 63:
            return int(value)
        if value.bit_length() > _INT_BITS_MAX:
            return {"$o": ["int", "<an integer of %d bits>" % value.bit_length()]}
        digits_max = sys.get_int_max_str_digits()
        sys.set_int_max_str_digits(0)
        try:
            return {"$i": int.__repr__(value)}
        finally:
            sys.set_int_max_str_digits(digits_max)

    def container(self, value, kind):
        is_known = issubclass(kind, (tuple, dict, set, frozenset) + _LISTS)
        if not is_known:
            return _opaque(value)
        if len(self.path) >= _DEPTH_MAX or id(value) in self.path:
            return {"$o": [_clean(kind.__name__), "..."]}
        self.path.add(id(value))
        try:
            # Iterates with the base classes' methods: a subclass may override them.
            if issubclass(kind, dict):
                return {"$d": [[self(key), self(item)] for key, item in list(dict.items(value))]}
            if issubclass(kind, tuple):
                return {"$t": [self(item) for item in tuple.__iter__(value)]}
            if issubclass(kind, (set, frozenset)):
                base = set if issubclass(kind, set) else frozenset
                return {"$set": [self(item) for item in list(base.__iter__(value))]}
            return [self(item) for item in list(value)]
        finally:
            self.path.discard(id(value))


def _from_wire(thing):
    """Decodes a tagged object. Message envelopes have no `$` and are returned unchanged."""
    if len(thing) != 1:
        return thing
    ((tag, content),) = thing.items()
    make = _MAKERS.get(tag)
    return thing if make is None else make(content)


def _dict_of(pairs):
    return {tuple(key) if isinstance(key, list) else key: value for key, value in pairs}


_MAKERS = {
    "$t": tuple,
    "$set": set,
    "$d": _dict_of,
    "$i": int,
    "$f": float,
    "$b": bytes.fromhex,
    "$s": lambda ends: slice(*ends),
    "$h": lambda key: _handle_of(*key),
    "$o": lambda _: None,
}
