# Namespaces, attributes and small builtins that the interpreter does not have.

__sp_names = []
__sp_more_names = {}
__sp_modules = {}
__sp_loaders = {}


class __sp_Module:
    def __init__(self, name, members):
        self.__name__ = name
        for key, value in members.items():
            setattr(self, key, value)

    def __repr__(self):
        return "<module '" + self.__name__ + "'>"


def __sp_module(name, load):
    __sp_loaders[name] = load


def __sp_loaded(name):
    if name not in __sp_modules:
        if name not in __sp_loaders:
            raise ModuleNotFoundError("No module named '" + name + "'")
        __sp_modules[name] = __sp_Module(name, __sp_loaders[name]())
    return __sp_modules[name]


def __sp_import(name, leaf=False, *rest):
    if "." not in name:
        return __sp_loaded(name) if name in __sp_loaders else __sp_native_module(name)
    top = name.split(".")[0]
    module = __sp_loaded(name) if name in __sp_loaders else __sp_native_module(name)
    if leaf is True:
        return module
    parent = __sp_loaded(top) if top in __sp_loaders else __sp_native_module(top)
    if isinstance(parent, __sp_Module):
        setattr(parent, name.split(".")[1], module)
    return parent


def __sp_native_module(name):
    if not name.replace(".", "").replace("_", "").isalnum():
        raise ModuleNotFoundError("No module named '" + name + "'")
    box = {}
    exec("import " + name + " as module", box, box)
    return box["module"]


def __sp_from(module, name):
    found = __sp_import(module, True)
    try:
        return getattr(found, name)
    except AttributeError:
        pass
    whole = module + "." + name
    if whole in __sp_loaders:
        return __sp_loaded(whole)
    raise ImportError("cannot import name '" + name + "' from '" + module + "'")


def __sp_same(value):
    return value


def __sp_is_ours(name):
    return name.startswith("__sp_")


class __sp_Globals:
    def __getitem__(self, name):
        if __sp_known(name):
            try:
                return eval(name, None, {})
            except NameError:
                pass
        if name == "__name__":
            return "__main__"
        raise KeyError(name)

    def __setitem__(self, name, value):
        if not __sp_is_name(name):
            raise KeyError(name)
        __sp_more_names[name] = True
        exec("global " + name + "\n" + name + " = __sp_value", None, {"__sp_value": value})

    def __contains__(self, name):
        if name == "__name__" or name == "__builtins__":
            return True
        if not __sp_known(name):
            return False
        try:
            eval(name, None, {})
            return True
        except NameError:
            return False

    def __iter__(self):
        return iter(self.keys())

    def keys(self):
        return [name for name in __sp_candidates() if name in self]

    def values(self):
        return [self[name] for name in self.keys()]

    def items(self):
        return [(name, self[name]) for name in self.keys()]

    def get(self, name, default=None):
        try:
            return self[name]
        except KeyError:
            return default

    def setdefault(self, name, default=None):
        if name not in self:
            self[name] = default
        return self[name]

    def update(self, other=(), **more):
        pairs = other.items() if hasattr(other, "items") else other
        if isinstance(other, dict):
            pairs = list(other.items())
        for name, value in pairs:
            self[name] = value
        for name, value in more.items():
            self[name] = value

    def pop(self, name, *default):
        if name in self:
            value = self[name]
            __sp_unbind(name)
            return value
        if default:
            return default[0]
        raise KeyError(name)

    def copy(self):
        return dict(self.items())

    def __sp_len__(self):
        return len(self.keys())

    def __repr__(self):
        return repr(self.copy())


def __sp_is_name(name):
    return isinstance(name, str) and name.isidentifier() and not __sp_is_ours(name)


def __sp_known(name):
    return __sp_is_name(name) and (name in __sp_names or name in __sp_more_names)


def __sp_candidates():
    found = [name for name in __sp_names if not __sp_is_ours(name)]
    return found + [name for name in __sp_more_names if name not in found]


def __sp_unbind(name):
    exec("global " + name + "\ntry:\n raise SystemExit\nexcept SystemExit as " + name + ":\n pass")


def __sp_globals():
    return __sp_Globals()


def __sp_hide(names):
    return {name: value for name, value in names.items() if not __sp_is_ours(name) and (name in __sp_names or not name.startswith("__"))}


def __sp_namespace(value):
    if isinstance(value, __sp_Globals):
        return None
    return value


def __sp_rewritten(code, is_expression):
    if not isinstance(code, str):
        return code
    return __sp_host_rewrite(code, is_expression)


def __sp_eval_code(code):
    if isinstance(code, __sp_Code):
        code = code.text
    return __sp_rewritten(code, True)


def __sp_exec_code(code):
    if isinstance(code, __sp_Code):
        code = code.text
    return __sp_rewritten(code, False)


class __sp_Code:
    def __init__(self, text):
        self.text = text


def __sp_compile(source, filename="<string>", mode="exec", *rest, **more):
    return __sp_Code(source)


def __sp_type_methods(kind):
    if kind is str:
        return "capitalize casefold center count encode endswith expandtabs find format index isalnum isalpha isascii isdecimal isdigit isidentifier islower isnumeric isprintable isspace istitle isupper join ljust lower lstrip maketrans partition removeprefix removesuffix replace rfind rindex rjust rpartition rsplit rstrip split splitlines startswith strip swapcase title translate upper zfill"
    if kind is list:
        return "append clear copy count extend index insert pop remove reverse sort"
    if kind is dict:
        return "clear copy fromkeys get items keys pop popitem setdefault update values"
    if kind is set or kind is frozenset:
        return "add clear copy difference difference_update discard intersection intersection_update isdisjoint issubset issuperset pop remove symmetric_difference union update"
    if kind is tuple:
        return "count index"
    if kind is int:
        return "as_integer_ratio bit_count bit_length conjugate denominator from_bytes imag numerator real to_bytes"
    if kind is float:
        return "as_integer_ratio conjugate fromhex hex imag is_integer real"
    if kind is bytes:
        return "count decode endswith find hex index join replace split startswith strip"
    return {
        "Counter": "clear copy elements fromkeys get items keys most_common pop popitem setdefault subtract total update values",
        "defaultdict": "clear copy default_factory fromkeys get items keys pop popitem setdefault update values",
        "deque": "append appendleft clear copy count extend extendleft index insert maxlen pop popleft remove reverse rotate",
        "re.Match": "end expand group groupdict groups lastindex pos re span start string",
        "re.Pattern": "findall finditer flags fullmatch groupindex groups match pattern search split sub subn",
        "Match": "end expand group groupdict groups lastindex pos re span start string",
        "Pattern": "findall finditer flags fullmatch groupindex groups match pattern search split sub subn",
    }.get(__sp_kind_name(kind), "")


def __sp_kind_name(kind):
    text = str(kind)
    if text.startswith("<class '") and text.endswith("'>"):
        return text[8:-2]
    return text


def __sp_has_method(value, name):
    return name in __sp_type_methods(value if __sp_is_type(value) else type(value)).split()


def __sp_is_type(value):
    return str(type(value)) == "<class 'type'>"


def __sp_meth(value, name, call):
    try:
        return __sp_get(value, name)
    except AttributeError:
        if __sp_is_type(value):
            return call
        methods = __sp_type_methods(type(value))
        if methods and name not in methods.split():
            raise
        return __sp_Bound(value, name, call).run


class __sp_Bound:
    def __init__(self, value, name, call):
        self.value = value
        self.name = name
        self.call = call

    def run(self, *args, **kwargs):
        return self.call(self.value, *args, **kwargs)


def __sp_hasattr(value, name):
    if hasattr(value, name):
        return True
    if __sp_has_method(value, name):
        return True
    if name in ("__iter__", "__len__", "__getitem__", "__contains__"):
        return isinstance(value, (str, list, tuple, dict, set, frozenset, bytes)) and (name != "__getitem__" or not isinstance(value, set))
    if name == "__call__":
        return __sp_callable(value)
    if name in ("__name__", "__dict__", "__doc__", "__class__", "__module__", "__next__", "__enter__", "__cause__"):
        try:
            __sp_attr(value, name)
            return True
        except AttributeError:
            return False
    return False


def __sp_getattr(value, name, *default):
    try:
        return __sp_attr(value, name)
    except AttributeError:
        if __sp_has_method(value, name):
            call = eval("lambda o, *a, **k: o." + name + "(*a, **k)")
            return call if __sp_is_type(value) else __sp_Bound(value, name, call).run
        if default:
            return default[0]
        raise


def __sp_setattr(value, name, new):
    return __sp_set(value, name, new)


def __sp_attr(value, name):
    if name == "__name__" or name == "__qualname__":
        return __sp_name_of(value)
    if name == "__dict__":
        return __sp_vars(value)
    if name == "__class__":
        return type(value)
    if name in ("__cause__", "__context__", "__traceback__", "__suppress_context__", "__notes__"):
        return __sp_exception_attr(value, name)
    if name == "__mro__":
        return tuple(__sp_mro(value)) + (object,)
    if name == "__bases__":
        return tuple(__sp_bases(value)) or (object,)
    if name == "__self__" and isinstance(value, __sp_Bound):
        return value.value
    try:
        return __sp_get(value, name)
    except AttributeError:
        if name == "__doc__":
            return __sp_doc_of(value)
        if name == "__module__":
            return "__main__"
        if name in ("lastindex", "lastgroup"):
            return __sp_match_last(value, name)
        if name == "__members__":
            return {member.name: member for member in value}
        if name == "__annotations__":
            return {}
        if isinstance(value, BaseException):
            return __sp_error_attr(value, name)
        raise


def __sp_doc_of(value):
    text = repr(value)
    if text.startswith("<function '"):
        return __sp_host_doc(text[11:].split("'")[0])
    return None


def __sp_name_of(value):
    try:
        return getattr(value, "__name__")
    except AttributeError:
        pass
    text = repr(value)
    if text.startswith("<class '"):
        return text[8:-2].split(".")[-1]
    for start in ("<function '", "<built-in function ", "<function "):
        if text.startswith(start):
            name = text[len(start):].split("'")[0].split(" at ")[0]
            return (name if name.startswith("<") else name.rstrip(">")).split(".")[-1]
    if isinstance(value, __sp_Wrapped):
        return value.name
    raise AttributeError("'" + type(value).__name__ + "' object has no attribute '__name__'")


class __sp_Wrapped:
    def __init__(self, function, like):
        self.function = function
        self.name = __sp_name_of(like)
        self.__wrapped__ = like

    def __call__(self, *args, **kwargs):
        return self.function(*args, **kwargs)


def __sp_vars(*value):
    if not value:
        return __sp_Globals()
    names = [name for name in __sp_host_attributes(value[0]) if not __sp_is_ours(name)]
    if not names and isinstance(value[0], (int, str, list, dict, tuple, set, float)):
        raise TypeError("vars() argument must have __dict__ attribute")
    return {name: getattr(value[0], name) for name in names}


def __sp_dir(*value):
    if not value:
        return sorted(["__builtins__", "__name__"] + __sp_Globals().keys())
    value = value[0]
    if isinstance(value, __sp_Globals):
        return sorted(["get", "items", "keys", "pop", "setdefault", "update", "values"])
    names = __sp_type_methods(value if __sp_is_type(value) else type(value)).split()
    names = names + list(__sp_host_attributes(value))
    if not __sp_is_type(value):
        names = names + list(__sp_host_attributes(type(value)))
    return sorted({name for name in names if not __sp_is_ours(name)})


def __sp_callable(value):
    kind = str(type(value))
    if kind in ("<class 'function'>", "<class 'type'>", "<class 'builtin_function_or_method'>", "<class 'functools.partial'>", "<class 'method'>"):
        return True
    if "function" in kind or "partial" in kind or "lru_cache" in kind:
        return True
    return hasattr(value, "__call__")


def __sp_help(*value):
    if not value:
        print("Type help(name) for what a function does.")
        return
    doc = __sp_doc_of(value[0])
    if doc is None:
        try:
            doc = getattr(value[0], "__doc__")
        except AttributeError:
            doc = None
    print(doc if doc else repr(value[0]))


def __sp_input(*prompt):
    raise RuntimeError("input() is not available in this sandbox; use the variables and functions you were given")


def __sp_exit(*code):
    raise SystemExit(str(code[0]) if code and code[0] is not None else "")


def __sp_breakpoint(*args, **kwargs):
    return None


def __sp_copyright(*args):
    return None


def __sp_ascii(value):
    return "".join(char if ord(char) < 128 else ("\\x%02x" % ord(char) if ord(char) < 256 else ("\\u%04x" % ord(char) if ord(char) < 65536 else "\\U%08x" % ord(char))) for char in repr(value))


def __sp_delattr(value, name):
    if name not in __sp_host_attributes(value):
        raise AttributeError("'" + type(value).__name__ + "' object has no attribute '" + name + "'")
    raise NotImplementedError("attributes cannot be deleted here; set it to None")


def __sp_slice_type(*bounds):
    return __sp_Slice(*bounds)


class __sp_Slice:
    def __init__(self, *bounds):
        if len(bounds) == 1:
            self.start, self.stop, self.step = None, bounds[0], None
        else:
            self.start, self.stop, self.step = (list(bounds) + [None])[:3]

    def __repr__(self):
        return "slice(" + repr(self.start) + ", " + repr(self.stop) + ", " + repr(self.step) + ")"

    def indices(self, length):
        picked = range(length)[self.start:self.stop:self.step]
        return (picked.start, picked.stop, picked.step)


def __sp_bytes(*args):
    if len(args) == 1 and isinstance(args[0], (list, tuple, range)):
        return bytes.fromhex("".join("%02x" % item for item in args[0]))
    if len(args) >= 2 and isinstance(args[0], str):
        return args[0].encode(*args[1:])
    return bytes(*args)


def __sp_bytearray(*args):
    raise NotImplementedError("bytearray is not available; use bytes or a list of numbers")


def __sp_from_bytes(kind, data, byteorder="big", signed=False):
    data = list(data)
    if byteorder == "little":
        data = data[::-1]
    value = 0
    for byte in data:
        value = value * 256 + byte
    if signed and data and data[0] >= 128:
        value -= 256 ** len(data)
    return value


def __sp_to_bytes(value, length=1, byteorder="big", signed=False):
    if value < 0:
        value += 256 ** length
    found = []
    for _ in range(length):
        found.append(value % 256)
        value //= 256
    if value:
        raise OverflowError("int too big to convert")
    return __sp_bytes(found if byteorder == "little" else found[::-1])


def __sp_as_integer_ratio(value):
    if isinstance(value, int):
        return (value, 1)
    try:
        return value.as_integer_ratio()
    except AttributeError:
        den = 1
        while value != int(value):
            value *= 2
            den *= 2
        return (int(value), den)


def __sp_round(value, digits):
    # The interpreter multiplies and divides; Python rounds the exact value.
    if isinstance(value, float) and isinstance(digits, int) and 0 <= digits < 18 and abs(value) < 1e15:
        return float(("%." + str(digits) + "f") % value)
    return round(value, digits)


def __sp_len(value):
    try:
        return len(value)
    except TypeError:
        kind = type(value)
        if hasattr(kind, "__len__"):
            return kind.__len__(value)
        if hasattr(kind, "__sp_len__"):
            return kind.__sp_len__(value)
        if __sp_is_handle(value):
            real = __sp_real(value, 64)
            return __sp_host_call(value, "__len__") if real is None else __sp_wide_len(real)
        raise


def __sp_bool(value):
    kind = type(value)
    if kind in (bool, int, str, list, dict, tuple, set, float):
        return bool(value)
    if value is None:
        return False
    if __sp_is_handle(value):
        return __sp_host_call(value, "__len__") > 0
    if hasattr(kind, "__bool__"):
        return kind.__bool__(value)
    if hasattr(kind, "__len__"):
        return kind.__len__(value) > 0
    return bool(value)


def __sp_dict(value):
    if isinstance(value, __sp_Globals):
        return value.copy()
    if __sp_is_handle(value):
        return dict(__sp_all(__sp_host_call(value, "items")))
    return dict(value)


def __sp_del_item(value, key):
    if isinstance(value, dict):
        value.pop(key)
        return
    if isinstance(value, list):
        if isinstance(key, __sp_Slice):
            value[key.start:key.stop:key.step] = []
            return
        if not -len(value) <= key < len(value):
            raise IndexError("list assignment index out of range")
        value.pop(key)
        return
    if isinstance(value, __sp_Globals):
        value.pop(key)
        return
    kind = type(value)
    if hasattr(kind, "__delitem__"):
        return kind.__delitem__(value, key)
    if __sp_has_method(value, "pop"):
        value.pop(key)
        return
    if __sp_kind_name(kind).endswith("deque"):
        found = list(value)
        found.pop(key)
        value.clear()
        value.extend(found)
        return
    raise TypeError("'" + kind.__name__ + "' object doesn't support item deletion")


def __sp_del_slice(value, start, stop, step):
    if step is None or step == 1:
        value[start:stop] = []
        return
    gone = set(range(len(value))[start:stop:step])
    value[:] = [item for idx, item in enumerate(value) if idx not in gone]
