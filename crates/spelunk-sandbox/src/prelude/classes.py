# Bases, properties and the other things of classes that the interpreter does not have.

__sp_infos = {}
__sp_field_defaults = {}


class __sp_Info:
    def __init__(self, cls, bases, own):
        self.cls = cls
        self.bases = bases
        self.own = own
        self.native = None
        self.properties = {}
        self.mro = [cls]


class __sp_Property:
    def __init__(self, fget=None, fset=None, fdel=None, doc=None):
        self.fget = fget
        self.fset = fset
        self.fdel = fdel

    def setter(self, fset):
        return __sp_Property(self.fget, fset, self.fdel)

    def getter(self, fget):
        return __sp_Property(fget, self.fset, self.fdel)

    def deleter(self, fdel):
        return __sp_Property(self.fget, self.fset, fdel)


def __sp_property(fget=None, fset=None, fdel=None, doc=None):
    return __sp_Property(fget, fset, fdel, doc)


class __sp_Static:
    def __init__(self, function):
        self.function = function

    def run(self, *args, **kwargs):
        return self.function(*args, **kwargs)


def __sp_staticmethod(function):
    return __sp_Static(function).run


class __sp_ClassMethod:
    def __init__(self, function):
        self.function = function


def __sp_classmethod(function):
    return __sp_ClassMethod(function)


class __sp_BoundClass:
    def __init__(self, cls, function):
        self.cls = cls
        self.function = function

    def run(self, *args, **kwargs):
        return self.function(self.cls, *args, **kwargs)


class __sp_Exception:
    def __init__(self, *args):
        self.args = args

    def __str__(self):
        args = __sp_args_of(self)
        if len(args) == 1:
            return str(args[0])
        return str(args) if args else ""

    def __repr__(self):
        args = __sp_args_of(self)
        return type(self).__name__ + ("(" + repr(args[0]) + ")" if len(args) == 1 else repr(tuple(args)))


def __sp_args_of(error):
    try:
        return tuple(getattr(error, "args"))
    except AttributeError:
        return ()


__sp_exception_members = ["__init__", "__str__", "__repr__"]


def __sp_is_exception_type(value):
    return str(type(value)) == "<class 'type'>" and __sp_is_native_exception(value)


def __sp_is_native_exception(kind):
    return kind in __sp_native_exceptions


__sp_native_exceptions = [
    Exception, BaseException, SystemExit, KeyboardInterrupt, ArithmeticError, OverflowError, ZeroDivisionError, LookupError,
    IndexError, KeyError, RuntimeError, NotImplementedError, RecursionError, AttributeError, NameError, UnboundLocalError,
    ValueError, UnicodeDecodeError, UnicodeEncodeError, ImportError, ModuleNotFoundError, OSError, FileNotFoundError,
    FileExistsError, IsADirectoryError, NotADirectoryError, PermissionError, TimeoutError, AssertionError, MemoryError,
    StopIteration, SyntaxError, TypeError,
]


class __sp_Marker:
    def __init__(self, name, make=None):
        self.__name__ = name
        self.make = make

    def __getitem__(self, key):
        return self

    def __call__(self, *args, **kwargs):
        return None

    def __repr__(self):
        return self.__name__


def __sp_class(cls, bases, own, **options):
    bases = [base for base in bases if base is not object and not isinstance(base, (list, tuple))]
    for base in bases:
        if isinstance(base, __sp_Marker) and base.make is not None:
            return base.make(cls, own, options)
        if isinstance(base, __sp_EnumType):
            return __sp_make_enum(cls, own, options, base.base)
    bases = [base for base in bases if not isinstance(base, __sp_Marker)]
    info = __sp_Info(cls, bases, own)
    __sp_infos[cls] = info
    lines = []
    for base in bases:
        if __sp_is_exception_type(base):
            info.native = info.native or base
        elif str(type(base)) != "<class 'type'>":
            raise TypeError("a class cannot inherit from " + repr(base))
        elif base in (dict, list, str, int, float, tuple, set, bytes, bool, frozenset):
            raise NotImplementedError("classes cannot inherit from " + base.__name__ + " here; keep a " + base.__name__ + " in an attribute")
        else:
            known = __sp_info_of(base)
            info.native = info.native or known.native
            lines.append(known.mro)
    info.mro = [cls] + __sp_merge([list(line) for line in lines] + [[base for base in bases if not __sp_is_exception_type(base)]])
    for name in own:
        __sp_bind_member(cls, name, getattr(cls, name), info)
    for base in info.mro[1:]:
        known = __sp_info_of(base)
        for name in known.own:
            if name not in info.own and name not in info.properties:
                if name in known.properties:
                    info.properties[name] = known.properties[name]
                    setattr(cls, name, known.properties[name])
                elif not __sp_defines(cls, name):
                    value = known.raw.get(name)
                    __sp_bind_member(cls, name, value, info)
        __sp_inherit_annotations(cls, base)
    if info.native is not None:
        for name in __sp_exception_members:
            if not __sp_defines(cls, name):
                setattr(cls, name, getattr(__sp_Exception, name))
    for base in info.mro[1:]:
        if "__init_subclass__" in __sp_info_of(base).own:
            __sp_info_of(base).raw["__init_subclass__"](cls, **options)
            break
    return cls


def __sp_inherit_annotations(cls, base):
    try:
        inherited = getattr(base, "__annotations__")
        own = getattr(cls, "__annotations__")
    except AttributeError:
        return
    for name, value in __sp_field_defaults.get(base, {}).items():
        if name not in own:
            setattr(cls, name, value)
    if inherited:
        merged = dict(inherited)
        merged.update(own)
        setattr(cls, "__annotations__", merged)


def __sp_bind_member(cls, name, value, info):
    if not hasattr(info, "raw"):
        info.raw = {}
    info.raw[name] = value
    if isinstance(value, __sp_Property):
        info.properties[name] = value
    if isinstance(value, __sp_ClassMethod):
        value = __sp_BoundClass(cls, value.function).run
    setattr(cls, name, value)


def __sp_defines(cls, name):
    try:
        getattr(cls, name)
        return True
    except AttributeError:
        return False


__sp_own_names = {}

# Members that a class of the prelude may have.
__sp_probed = "__init__ __str__ __repr__ __eq__ __hash__ __len__ __iter__ __next__ __getitem__ __setitem__ __delitem__ __contains__ __call__ __enter__ __exit__ __lt__ __bool__ default encode decode run start join is_alive update keys values items get pop setdefault copy clear popitem move_to_end write read getvalue emit format"


def __sp_members(cls, names):
    __sp_own_names[cls] = names


def __sp_info_of(cls):
    if cls not in __sp_infos:
        names = __sp_own_names[cls] if cls in __sp_own_names else __sp_probed.split()
        own = [name for name in names if hasattr(cls, name)]
        info = __sp_Info(cls, [], own)
        info.raw = {name: getattr(cls, name) for name in own}
        __sp_infos[cls] = info
    info = __sp_infos[cls]
    if not hasattr(info, "raw"):
        info.raw = {}
    return info


def __sp_merge(lines):
    found = []
    lines = [line for line in lines if line]
    while lines:
        for line in lines:
            head = line[0]
            if not any(head in other[1:] for other in lines):
                break
        else:
            raise TypeError("Cannot create a consistent method resolution order (MRO) for bases")
        found.append(head)
        lines = [[one for one in line if one is not head] for line in lines]
        lines = [line for line in lines if line]
    return found


def __sp_mro(cls):
    if isinstance(cls, __sp_EnumType):
        cls = cls.cls
    if __sp_is_exception_type(cls) or cls not in __sp_infos:
        return [cls]
    info = __sp_infos[cls]
    return info.mro + ([info.native] if info.native is not None else [])


def __sp_bases(cls):
    return __sp_infos[cls].bases if cls in __sp_infos else []


def __sp_super(cls, value, name):
    start = value if cls is None else cls
    kind = value if str(type(value)) == "<class 'type'>" else type(value)
    line = __sp_info_of(kind).mro
    rest = line[line.index(cls) + 1:] if cls in line else line[1:]
    if name is None:
        return __sp_Super(rest, value, kind)
    return __sp_super_member(rest, value, kind, name)


class __sp_Super:
    def __init__(self, rest, value, kind):
        self.rest = rest
        self.value = value
        self.kind = kind


def __sp_super_member(rest, value, kind, name):
    for base in rest:
        known = __sp_info_of(base)
        if name in known.raw:
            member = known.raw[name]
            if isinstance(member, __sp_Property):
                return member.fget(value)
            if isinstance(member, __sp_ClassMethod):
                return __sp_BoundClass(kind, member.function).run
            if __sp_callable(member):
                return __sp_Partial(member, value).run
            return member
    native = __sp_info_of(kind).native
    if native is not None and name in __sp_exception_members:
        return __sp_Partial(getattr(__sp_Exception, name), value).run
    if name in ("__init__", "__init_subclass__", "__setattr__", "__post_init__", "__enter__", "__exit__"):
        if name == "__setattr__":
            return __sp_Partial(setattr, value).run
        return __sp_ignore
    if name == "__repr__" or name == "__str__":
        return __sp_Partial(__sp_default_repr, value).run
    if name == "__eq__":
        return __sp_Partial(__sp_identical, value).run
    if name == "__new__":
        return __sp_new
    raise AttributeError("'super' object has no attribute '" + name + "'")


def __sp_ignore(*args, **kwargs):
    return None


def __sp_identical(a, b):
    return a is b


def __sp_new(cls, *args, **kwargs):
    raise NotImplementedError("__new__ cannot be called here; do it in __init__ or in a function")


def __sp_default_repr(value):
    return "<__main__." + type(value).__name__ + " object>"


class __sp_Partial:
    def __init__(self, function, value):
        self.function = function
        self.value = value

    def run(self, *args, **kwargs):
        return self.function(self.value, *args, **kwargs)


def __sp_get(value, name):
    if isinstance(value, __sp_Super):
        return __sp_super_member(value.rest, value.value, value.kind, name)
    try:
        found = getattr(value, name)
    except AttributeError:
        kind = type(value)
        if hasattr(kind, "__getattr__") and not name.startswith("__sp_"):
            return kind.__getattr__(value, name)
        raise
    if isinstance(found, __sp_Property) and str(type(value)) != "<class 'type'>":
        if found.fget is None:
            raise AttributeError("property '" + name + "' has no getter")
        return found.fget(value)
    return found


def __sp_set(value, name, new):
    kind = type(value)
    found = None
    if hasattr(kind, name):
        found = getattr(kind, name)
    if isinstance(found, __sp_Property):
        if found.fset is None:
            raise AttributeError("property '" + name + "' of '" + kind.__name__ + "' object has no setter")
        return found.fset(value, new)
    if hasattr(kind, "__setattr__"):
        return kind.__setattr__(value, name, new)
    setattr(value, name, new)


def __sp_isinstance(value, kinds):
    if isinstance(kinds, (tuple, list)):
        return any(__sp_isinstance(value, kind) for kind in kinds)
    if isinstance(kinds, __sp_EnumType):
        return type(value) is kinds.cls
    if isinstance(kinds, __sp_Marker):
        return __sp_is_marker(value, kinds.__name__)
    if __sp_is_handle(value):
        return __sp_handle_is(value, kinds)
    kind = type(value)
    if kind in __sp_infos:
        return kinds is object or kinds in __sp_mro(kind) or (__sp_infos[kind].native is not None and __sp_is_subexception(__sp_infos[kind].native, kinds))
    if kinds in __sp_infos:
        return False
    if kinds is __sp_slice_type:
        return isinstance(value, __sp_Slice)
    return isinstance(value, kinds)


def __sp_is_subexception(kind, parent):
    if kind is parent or parent is BaseException:
        return True
    return __sp_is_exception_type(parent) and isinstance(kind("x"), parent)


def __sp_is_marker(value, name):
    if name == "Callable":
        return __sp_callable(value)
    if name in ("Any", "object", "Generic"):
        return True
    if name == "Hashable":
        return not isinstance(value, (list, dict, set))
    if name in ("Mapping", "MutableMapping", "Dict"):
        return isinstance(value, dict)
    if name in ("Sequence", "MutableSequence"):
        return isinstance(value, (list, tuple)) or (name == "Sequence" and isinstance(value, (str, bytes, range)))
    if name == "List":
        return isinstance(value, list)
    if name in ("Set", "MutableSet"):
        return isinstance(value, (set, frozenset))
    if name in ("Iterable", "Collection", "Container", "Sized"):
        return isinstance(value, (list, tuple, dict, set, frozenset, str, bytes, range)) or hasattr(value, "__iter__")
    if name in ("Iterator", "Generator"):
        return hasattr(value, "__next__") or str(type(value)).endswith("iterator'>")
    if name in ("Number", "Real"):
        return isinstance(value, (int, float))
    if name == "Integral":
        return isinstance(value, int)
    return False


def __sp_issubclass(cls, parents):
    if isinstance(parents, (tuple, list)):
        return any(__sp_issubclass(cls, parent) for parent in parents)
    if parents is object or cls is parents:
        return True
    if cls in __sp_infos:
        return parents in __sp_mro(cls) or (__sp_infos[cls].native is not None and __sp_is_subexception(__sp_infos[cls].native, parents))
    if __sp_is_exception_type(cls):
        return __sp_is_subexception(cls, parents)
    if cls is bool and parents is int:
        return True
    if str(type(cls)) != "<class 'type'>":
        raise TypeError("issubclass() arg 1 must be a class")
    if "defaultdict" in str(cls) or "Counter" in str(cls):
        return parents is dict
    return False


def __sp_type(name, bases, members):
    cls = type(name, (), members)
    return __sp_class(cls, bases, list(members))


class __sp_EnumType:
    def __init__(self, cls, base):
        self.cls = cls
        self.base = base
        self.__name__ = cls.__name__
        self.members = {}

    def __call__(self, value):
        for member in self.members.values():
            if member.value == value:
                return member
        if self.base.__name__ in ("Flag", "IntFlag"):
            return __sp_flag_of(self, value)
        raise ValueError(repr(value) + " is not a valid " + self.__name__)

    def __getitem__(self, name):
        return self.members[name]

    def __iter__(self):
        return iter(list(self.members.values()))

    def __contains__(self, value):
        return any(member is value or member.value == value for member in self.members.values())

    def __sp_len__(self):
        return len(self.members)

    def __repr__(self):
        return "<enum '" + self.__name__ + "'>"


def __sp_enum_repr(self):
    return "<" + type(self).__name__ + "." + self.name + ": " + repr(self.value) + ">"


def __sp_enum_str(self):
    return type(self).__name__ + "." + self.name


def __sp_enum_value_str(self):
    return str(self.value)


def __sp_enum_hash(self):
    return hash(self.name)


def __sp_value_of(other):
    return getattr(other, "value") if hasattr(other, "value") else other


def __sp_enum_eq_value(self, other):
    return self.value == __sp_value_of(other)


def __sp_enum_eq(self, other):
    return self is other


def __sp_make_enum(cls, own, options, base):
    kind = __sp_EnumType(cls, base)
    cls.__repr__ = cls.__repr__ if "__repr__" in own else __sp_enum_repr
    valued = base.__name__ in ("IntEnum", "StrEnum", "IntFlag")
    if "__str__" not in own:
        cls.__str__ = __sp_enum_value_str if valued else __sp_enum_str
    cls.__hash__ = __sp_enum_hash
    cls.__eq__ = __sp_enum_eq_value if valued else __sp_enum_eq
    if valued or base.__name__ == "Flag":
        for name in ("__lt__", "__le__", "__gt__", "__ge__", "__add__", "__sub__", "__mul__", "__int__", "__index__"):
            setattr(cls, name, __sp_enum_operator(name))
        for name in ("__or__", "__and__", "__xor__"):
            setattr(cls, name, __sp_flag_operator(kind, name))
    last = 0
    for name in own:
        value = getattr(cls, name)
        if name.startswith("_") or __sp_callable(value) or isinstance(value, (__sp_Property, __sp_ClassMethod)):
            if isinstance(value, __sp_ClassMethod):
                setattr(cls, name, __sp_BoundClass(kind, value.function).run)
                setattr(kind, name, __sp_BoundClass(kind, value.function).run)
            elif __sp_callable(value) and str(type(value)) != "<class 'function'>":
                setattr(kind, name, value)
            continue
        if isinstance(value, __sp_Auto):
            if base.__name__ == "StrEnum":
                value = name.lower()
            elif base.__name__ in ("Flag", "IntFlag"):
                value = 1 if not last else last * 2
            else:
                value = last + 1
        if isinstance(value, int):
            last = value
        member = None
        for known in kind.members.values():
            if known.value == value:
                member = known
        if member is None:
            member = __sp_plain_instance(cls)
            member.name = name
            member.value = value
            member._name_ = name
            member._value_ = value
            if "__init__" in own:
                init = getattr(cls, "__init__")
                init(member, *(value if isinstance(value, tuple) else (value,)))
        kind.members[name] = member
        setattr(cls, name, member)
        setattr(kind, name, member)
    info = __sp_Info(cls, [], own)
    info.raw = {name: getattr(cls, name) for name in own}
    info.properties = {name: getattr(cls, name) for name in own if isinstance(getattr(cls, name), __sp_Property)}
    __sp_infos[cls] = info
    return kind


def __sp_plain_instance(cls):
    if not hasattr(cls, "__init__"):
        return cls()
    init = getattr(cls, "__init__")
    setattr(cls, "__init__", __sp_ignore_init)
    made = cls()
    setattr(cls, "__init__", init)
    return made


def __sp_ignore_init(self):
    return None


class __sp_Auto:
    pass


def __sp_enum_operator(name):
    def run(self, *other):
        a = self.value
        b = __sp_value_of(other[0]) if other else None
        if name == "__lt__":
            return a < b
        if name == "__le__":
            return a <= b
        if name == "__gt__":
            return a > b
        if name == "__ge__":
            return a >= b
        if name == "__add__":
            return a + b
        if name == "__sub__":
            return a - b
        if name == "__mul__":
            return a * b
        return int(a)
    return run


def __sp_flag_operator(kind, name):
    def run(self, other):
        a, b = self.value, __sp_value_of(other)
        return kind(a | b if name == "__or__" else (a & b if name == "__and__" else a ^ b))
    return run


def __sp_flag_of(kind, value):
    names = [name for name, member in kind.members.items() if member.value & value]
    made = __sp_plain_instance(kind.cls)
    made.name = "|".join(names)
    made.value = value
    return made
