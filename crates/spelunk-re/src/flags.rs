//! The flags of Python's `re`, with Python's numbers.

/// A set of flags.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Flags(u32);

impl Flags {
    /// No flags.
    pub const NONE: Self = Self(0);
    /// `re.I`
    pub const IGNORE_CASE: Self = Self(2);
    /// `re.L`, which is invalid for text patterns.
    pub const LOCALE: Self = Self(4);
    /// `re.M`
    pub const MULTI_LINE: Self = Self(8);
    /// `re.S`
    pub const DOT_ALL: Self = Self(16);
    /// `re.U`, set in every pattern without `re.A`.
    pub const UNICODE: Self = Self(32);
    /// `re.X`
    pub const VERBOSE: Self = Self(64);
    /// `re.A`
    pub const ASCII: Self = Self(256);

    /// From the number that Python code passes. Unknown bits are dropped.
    pub fn from_python(bits: u64) -> Self {
        let known = 2 | 4 | 8 | 16 | 32 | 64 | 256;
        Self(u32::try_from(bits & known).unwrap_or(0))
    }

    /// The number that Python code sees.
    pub fn to_python(self) -> u64 {
        u64::from(self.0)
    }

    /// Whether all of these are set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The union of both.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(crate) fn overlaps(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The flags of a group that turns some on and some off.
    pub(crate) fn scoped(self, add: Self, del: Self) -> Self {
        let kinds = Self::ASCII.with(Self::UNICODE);
        let kept = if add.overlaps(kinds) { self.0 & !kinds.0 } else { self.0 };
        Self((kept | add.0) & !del.0)
    }

    pub(crate) fn of_letter(letter: char) -> Option<Self> {
        Some(match letter {
            'i' => Self::IGNORE_CASE,
            'L' => Self::LOCALE,
            'm' => Self::MULTI_LINE,
            's' => Self::DOT_ALL,
            'u' => Self::UNICODE,
            'x' => Self::VERBOSE,
            'a' => Self::ASCII,
            // `re.T` has no effect.
            't' => Self::NONE,
            _ => return None,
        })
    }
}
