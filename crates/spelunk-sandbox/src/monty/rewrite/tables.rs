//! What the interpreter supports and lacks, by name.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::Flags;

/// A list of names, written as words.
type Names = LazyLock<BTreeSet<&'static str>>;

fn names(words: &'static str) -> BTreeSet<&'static str> {
    words.split_whitespace().collect()
}

/// What replaces a name that code reads, if it needs a replacement.
pub(super) fn replacement(name: &str) -> Option<Cow<'static, str>> {
    if SHIMMED.contains(name) {
        return Some(Cow::Owned(format!("__sp_{name}")));
    }
    REPLACED.iter().find(|(replaced, _)| *replaced == name).map(|(_, code)| Cow::Borrowed(*code))
}

/// Names that the prelude defines, each as `__sp_` and the name.
static SHIMMED: Names = LazyLock::new(|| {
    names(
        "callable dir vars globals help input exit issubclass ascii delattr compile breakpoint bytearray property \
         staticmethod classmethod ConnectionError ConnectionResetError ConnectionRefusedError \
         ConnectionAbortedError BrokenPipeError InterruptedError ChildProcessError ProcessLookupError \
         BlockingIOError EOFError BufferError FloatingPointError ReferenceError SystemError UnicodeError \
         StopAsyncIteration GeneratorExit IndentationError TabError Warning UserWarning DeprecationWarning \
         FutureWarning RuntimeWarning SyntaxWarning ImportWarning UnicodeWarning BytesWarning ResourceWarning \
         PendingDeprecationWarning ExceptionGroup aiter copyright",
    )
});

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

/// Builtins that the interpreter has. The prelude calls them by its own names.
pub(crate) static NATIVE_BUILTINS: Names = LazyLock::new(|| {
    names(
        "abs all any bin chr divmod enumerate filter getattr hasattr hash hex id isinstance len map max min next \
         oct ord pow print repr reversed round setattr sorted sum type zip format eval exec open str int float \
         bool list dict set tuple frozenset bytes range iter object complex locals",
    )
});

/// Exceptions that the interpreter has.
pub(super) static NATIVE_EXCEPTIONS: Names = LazyLock::new(|| {
    names(
        "Exception BaseException SystemExit KeyboardInterrupt ArithmeticError OverflowError ZeroDivisionError \
         LookupError IndexError KeyError RuntimeError NotImplementedError RecursionError AttributeError NameError \
         UnboundLocalError ValueError UnicodeDecodeError UnicodeEncodeError ImportError ModuleNotFoundError \
         OSError FileNotFoundError FileExistsError IsADirectoryError NotADirectoryError PermissionError \
         TimeoutError AssertionError MemoryError StopIteration SyntaxError TypeError",
    )
});

/// Types whose methods are used as functions: `str.lower`.
pub(super) static BUILTIN_TYPES: Names =
    LazyLock::new(|| names("str dict list set int float bytes tuple frozenset"));

/// Methods of builtin values. Code that references one without calling it gets a function.
pub(super) static METHODS: Names = LazyLock::new(|| {
    names(
        "add append appendleft bit_length capitalize casefold center clear copy count date decode difference \
         difference_update discard elements encode end endswith expandtabs extend extendleft find findall \
         finditer format format_map fullmatch get group groupdict groups hex index insert intersection \
         intersection_update is_integer isalnum isalpha isascii isdecimal isdigit isdisjoint isidentifier islower \
         isnumeric isoformat isprintable isspace issubset issuperset istitle isupper items join keys ljust lower \
         lstrip match most_common partition pop popitem popleft read readline readlines remove removeprefix \
         removesuffix replace reverse rfind rindex rjust rotate rpartition rsplit rstrip search setdefault span \
         split splitlines start startswith strftime strip sub subtract swapcase symmetric_difference title union \
         update upper values zfill",
    )
});

/// Attributes that need special handling.
pub(super) static ATTRIBUTES: Names = LazyLock::new(|| {
    names(
        "__class__ __name__ __dict__ __doc__ __cause__ __context__ __traceback__ __mro__ __bases__ __module__ \
         __qualname__ __wrapped__ __members__ __version__ __annotations__ __defaults__ __code__ __notes__ \
         __file__ lastindex lastgroup __len__ __suppress_context__ __signature__ __self__",
    )
});

/// Attributes of caught exceptions.
pub(super) static ERROR_ATTRIBUTES: Names =
    LazyLock::new(|| names("pos lineno colno msg doc errno strerror code"));

/// Functions whose results are builtin values.
pub(super) static PLAIN_CALLS: Names = LazyLock::new(|| {
    names(
        "range len list dict set tuple sorted int float str sum repr round abs min max defaultdict Counter deque \
         frozenset",
    )
});

/// Methods whose results are builtin values.
pub(super) static PLAIN_METHODS: Names = LazyLock::new(|| {
    names(
        "split strip lower upper join splitlines replace findall group groups lstrip rstrip format startswith \
         endswith find rfind count index keys most_common partition rpartition rsplit title span",
    )
});

/// Functions that take any iterable and exhaust it before they return.
pub(super) static CONSUMERS: Names =
    LazyLock::new(|| names("sum any all list tuple set dict sorted max min enumerate frozenset zip Counter"));

/// Methods with more options than the interpreter supports. The prelude implements each as a function.
pub(super) static METHOD_CALLS: Names = LazyLock::new(|| {
    names("isocalendar translate maketrans expand add_note with_traceback from_bytes to_bytes format_map")
});

/// Text methods that take positions.
pub(super) static PLACE_METHODS: Names = LazyLock::new(|| names("find rfind index rindex startswith"));

/// Text methods that need the whole text, and those that look at a part.
pub(super) static WHOLE_METHODS: Names = LazyLock::new(|| {
    names(
        "capitalize casefold encode isascii lower lstrip partition removeprefix removesuffix replace rpartition rsplit \
         rstrip split splitlines strip swapcase title upper",
    )
});
pub(super) static PART_METHODS: Names =
    LazyLock::new(|| names("count endswith find index rfind rindex startswith"));

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
