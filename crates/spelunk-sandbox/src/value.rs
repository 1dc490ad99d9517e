//! Values passed between a cell and the host. Plain data only: no functions, classes or files.

/// One value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `None`.
    None,
    /// `True` or `False`.
    Bool(bool),
    /// An integer that fits into 64 bits.
    Int(i64),
    /// A larger one, in decimal.
    BigInt(String),
    /// A float, including infinities and NaN.
    Float(f64),
    /// Text.
    Str(String),
    /// Bytes.
    Bytes(Vec<u8>),
    /// A list, or any other sequence that is not a tuple.
    List(Vec<Value>),
    /// A tuple.
    Tuple(Vec<Value>),
    /// A set, in iteration order.
    Set(Vec<Value>),
    /// A dictionary in insertion order.
    Dict(Vec<(Value, Value)>),
    /// `slice(start, stop, step)`, as in `context[a:b]` on a host object.
    Slice(Option<i64>, Option<i64>, Option<i64>),
    /// A host object.
    Handle(Handle),
    /// Anything else, by its `repr`. Only sent from the cell to the host.
    Opaque {
        /// The name of its class.
        type_name: String,
        /// `repr(value)`, truncated.
        repr: String,
    },
}

/// A host object as a cell sees it. Every operation on it reaches the host as a call with this receiver: `len(h)` as
/// `__len__()`, `h[i]` and `h[a:b]` as `__getitem__(i)`, `x in h` as `__contains__(x)`, `str(h)` and f-strings as
/// `__str__()`, `h.name(…)` as `name(…)`, `re.findall(p, h, f)` as `re.findall(p, f)` and likewise for every function
/// of `re`, and iteration as `__iter__(cursor)`, which returns `(items, next_cursor)` with `None` at the end.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Handle {
    /// The value of `type(h).__name__`.
    pub class: String,
    /// Its number.
    pub id: u64,
}

impl Value {
    /// The text, if it is text.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::Str(text) = self { Some(text) } else { None }
    }

    /// The value of `type(value).__name__`.
    pub fn type_name(&self) -> &str {
        match self {
            Self::None => "NoneType",
            Self::Bool(_) => "bool",
            Self::Int(_) | Self::BigInt(_) => "int",
            Self::Float(_) => "float",
            Self::Str(_) => "str",
            Self::Bytes(_) => "bytes",
            Self::List(_) => "list",
            Self::Tuple(_) => "tuple",
            Self::Set(_) => "set",
            Self::Dict(_) => "dict",
            Self::Slice(..) => "slice",
            Self::Handle(handle) => &handle.class,
            Self::Opaque { type_name, .. } => type_name,
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Str(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Str(text)
    }
}
