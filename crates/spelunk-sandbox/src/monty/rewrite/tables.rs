//! What the interpreter supports and lacks, by name.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::Flags;

/// Lists of names, each written as words.
macro_rules! names {
    ($($(#[$doc:meta])* $vis:vis $name:ident = $words:literal;)*) => {
        $($(#[$doc])* $vis static $name: LazyLock<BTreeSet<&'static str>> =
            LazyLock::new(|| $words.split_whitespace().collect());)*
    };
}

/// What replaces a name that code reads, if it needs a replacement.
pub(super) fn replacement(name: &str) -> Option<Cow<'static, str>> {
    if SHIMMED.contains(name) {
        return Some(Cow::Owned(format!("__sp_{name}")));
    }
    REPLACED.iter().find(|(replaced, _)| *replaced == name).map(|(_, code)| Cow::Borrowed(*code))
}

names! {
    /// Names that the prelude defines, each as `__sp_` and the name.
    SHIMMED =
        "callable dir vars globals help input exit issubclass ascii delattr compile breakpoint bytearray \
         property staticmethod classmethod ConnectionError ConnectionResetError ConnectionRefusedError \
         ConnectionAbortedError BrokenPipeError InterruptedError ChildProcessError ProcessLookupError \
         BlockingIOError EOFError BufferError FloatingPointError ReferenceError SystemError UnicodeError \
         StopAsyncIteration GeneratorExit IndentationError TabError Warning UserWarning \
         DeprecationWarning FutureWarning RuntimeWarning SyntaxWarning ImportWarning UnicodeWarning \
         BytesWarning ResourceWarning PendingDeprecationWarning ExceptionGroup aiter copyright";

    /// Builtins that the interpreter has. The prelude calls them by its own names.
    pub(crate) NATIVE_BUILTINS =
        "abs all any bin chr divmod enumerate filter getattr hasattr hash hex id isinstance len map max \
         min next oct ord pow print repr reversed round setattr sorted sum type zip format eval exec open \
         str int float bool list dict set tuple frozenset bytes range iter object complex locals";

    /// Exceptions that the interpreter has.
    pub(super) NATIVE_EXCEPTIONS =
        "Exception BaseException SystemExit KeyboardInterrupt ArithmeticError OverflowError \
         ZeroDivisionError LookupError IndexError KeyError RuntimeError NotImplementedError \
         RecursionError AttributeError NameError UnboundLocalError ValueError UnicodeDecodeError \
         UnicodeEncodeError ImportError ModuleNotFoundError OSError FileNotFoundError FileExistsError \
         IsADirectoryError NotADirectoryError PermissionError TimeoutError AssertionError MemoryError \
         StopIteration SyntaxError TypeError";

    /// Types whose methods are used as functions: `str.lower`.
    pub(super) BUILTIN_TYPES = "str dict list set int float bytes tuple frozenset";

    /// Methods of builtin values. Code that references one without calling it gets a function.
    pub(super) METHODS =
        "add append appendleft bit_length capitalize casefold center clear copy count date decode \
         difference difference_update discard elements encode end endswith expandtabs extend extendleft \
         find findall finditer format format_map fullmatch get group groupdict groups hex index insert \
         intersection intersection_update is_integer isalnum isalpha isascii isdecimal isdigit isdisjoint \
         isidentifier islower isnumeric isoformat isprintable isspace issubset issuperset istitle isupper \
         items join keys ljust lower lstrip match most_common partition pop popitem popleft read readline \
         readlines remove removeprefix removesuffix replace reverse rfind rindex rjust rotate rpartition \
         rsplit rstrip search setdefault span split splitlines start startswith strftime strip sub \
         subtract swapcase symmetric_difference title union update upper values zfill";

    /// Attributes that need special handling.
    pub(super) ATTRIBUTES =
        "__class__ __name__ __dict__ __doc__ __cause__ __context__ __traceback__ __mro__ __bases__ \
         __module__ __qualname__ __wrapped__ __members__ __version__ __annotations__ __defaults__ \
         __code__ __notes__ __file__ lastindex lastgroup __len__ __suppress_context__ __signature__ \
         __self__";

    /// Attributes of caught exceptions.
    pub(super) ERROR_ATTRIBUTES = "pos lineno colno msg doc errno strerror code";

    /// Functions whose results are builtin values.
    pub(super) PLAIN_CALLS =
        "range len list dict set tuple sorted int float str sum repr round abs min max defaultdict \
         Counter deque frozenset";

    /// Methods whose results are builtin values.
    pub(super) PLAIN_METHODS =
        "split strip lower upper join splitlines replace findall group groups lstrip rstrip format \
         startswith endswith find rfind count index keys most_common partition rpartition rsplit title \
         span";

    /// Functions that take any iterable and exhaust it before they return.
    pub(super) CONSUMERS = "sum any all list tuple set dict sorted max min enumerate frozenset zip Counter";

    /// Methods with more options than the interpreter supports. The prelude implements each as a function.
    pub(super) METHOD_CALLS =
        "isocalendar translate maketrans expand add_note with_traceback from_bytes to_bytes format_map";

    /// Text methods that take positions.
    pub(super) PLACE_METHODS = "find rfind index rindex startswith";

    /// Text methods that need the whole text, and those that look at a part.
    pub(super) WHOLE_METHODS =
        "capitalize casefold encode isascii lower lstrip partition removeprefix removesuffix replace \
         rpartition rsplit rstrip split splitlines strip swapcase title upper";

    pub(super) PART_METHODS = "count endswith find index rfind rindex startswith";
}

/// Names with another replacement.
const REPLACED: [(&str, &str); 13] = [
    ("quit", "__sp_exit"),
    ("slice", "__sp_slice_type"),
    ("memoryview", "__sp_bytes"),
    ("__import__", "__sp_import"),
    ("__builtins__", "__sp_import(\"builtins\")"),
    ("__file__", "'<cell>'"),
    ("__doc__", "None"),
    ("__spec__", "None"),
    ("__package__", "None"),
    ("IOError", "OSError"),
    ("EnvironmentError", "OSError"),
    ("EncodingWarning", "__sp_Warning"),
    ("anext", "__sp_next"),
];

/// Records what a module introduces.
type SetFlags = fn(&mut Flags);

/// Modules with features that the interpreter cannot handle by itself.
pub(super) const MODULE_FLAGS: [(&str, SetFlags); 8] = [
    ("collections", |flags| flags.len = true),
    ("enum", |flags| {
        flags.inherits = true;
        flags.len = true;
        flags.order = true;
    }),
    ("fractions", |flags| flags.order = true),
    ("array", |flags| flags.len = true),
    ("contextlib", |flags| flags.inherits = true),
    ("io", |flags| flags.inherits = true),
    ("abc", |flags| flags.inherits = true),
    ("typing", |flags| flags.inherits = true),
];
