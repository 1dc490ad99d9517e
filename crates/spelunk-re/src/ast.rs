//! The syntax tree of a Python pattern. Flags are resolved while parsing: every node by itself determines what it
//! matches.

/// What counts as a word character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Words {
    /// Python's: letters, numbers and `_`.
    Python,
    /// Those that the engines use for word boundaries, which include combining marks. Used for patterns with
    /// boundaries, because both must agree: otherwise `\b\w+\b` finds nothing in Hindi.
    Boundaries,
}

/// One part of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// One character.
    Char {
        /// The character.
        c: char,
        /// Which others are equivalent.
        fold: Fold,
    },
    /// `.`
    Any {
        /// Whether it matches a newline.
        newline: bool,
    },
    /// `[a-z]`, `\d`
    Set {
        /// Whether it matches everything else.
        negated: bool,
        /// Its parts.
        items: Vec<Item>,
        /// Which letters are equivalent.
        fold: Fold,
    },
    /// A place.
    Assertion(Assertion),
    /// A capturing group.
    Group {
        /// Its number.
        idx: usize,
        /// Its content.
        node: Box<Node>,
    },
    /// `\1`
    Backref {
        /// The number of the group.
        idx: usize,
        /// Which letters are equivalent.
        fold: Fold,
    },
    /// Also the empty pattern, and a non-capturing group.
    Concat(Vec<Node>),
    /// `a|b`
    Alt(Vec<Node>),
    /// `a*`, `a{2,3}`
    Repeat {
        /// What is repeated.
        node: Box<Node>,
        /// At least so often.
        min: u32,
        /// At most so often.
        max: Option<u32>,
        /// In which order lengths are tried.
        kind: Kind,
    },
    /// `(?=a)`, `(?<!a)`
    Look {
        /// What is looked for.
        node: Box<Node>,
        /// Whether after the place, not before it.
        is_ahead: bool,
        /// Whether it must not be there.
        negated: bool,
    },
    /// `(?>a)`
    Atomic(Box<Node>),
    /// `(?(1)yes|no)`
    Condition {
        /// The number of the group.
        idx: usize,
        /// If the group took part.
        yes: Box<Node>,
        /// If it did not.
        no: Box<Node>,
    },
}

/// Which letters are equivalent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fold {
    /// None.
    Exact,
    /// `A` and `a` are equivalent, `Ä` and `ä` are not.
    Ascii,
    /// Those of Unicode's simple case folding.
    Unicode,
}

/// A zero-width assertion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assertion {
    /// `\A`, `^` without `M`
    TextStart,
    /// `^` with `M`
    LineStart,
    /// `$` with `M`
    LineEnd,
    /// `$` without `M`: at the end, or before a final newline.
    Dollar,
    /// `\Z`
    TextEnd,
    /// `\b`, `\B`
    Boundary {
        /// `\B`
        negated: bool,
        /// Whether only ASCII letters are letters.
        ascii: bool,
    },
}

/// In which order a repetition tries lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Longest first.
    Greedy,
    /// Shortest first.
    Lazy,
    /// Only the longest.
    Possessive,
}

/// Part of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item {
    /// Characters from the first to the second.
    Range(char, char),
    /// `\d`, `\S`
    Category {
        /// Of which kind.
        class: Category,
        /// Whether all others are meant.
        negated: bool,
        /// Whether only ASCII counts.
        ascii: bool,
    },
}

/// A kind of characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Category {
    /// `\d`
    Digit,
    /// `\s`
    Space,
    /// `\w`
    Word,
}

impl Node {
    /// What matches the empty string only.
    pub fn empty() -> Self {
        Self::Concat(Vec::new())
    }

    /// The child nodes.
    pub fn children(&self) -> Vec<&Node> {
        match self {
            Self::Char { .. }
            | Self::Any { .. }
            | Self::Set { .. }
            | Self::Assertion(_)
            | Self::Backref { .. } => Vec::new(),
            Self::Group { node, .. }
            | Self::Repeat { node, .. }
            | Self::Look { node, .. }
            | Self::Atomic(node) => {
                vec![node]
            }
            Self::Concat(nodes) | Self::Alt(nodes) => nodes.iter().collect(),
            Self::Condition { yes, no, .. } => vec![yes, no],
        }
    }

    /// Whether the predicate holds for it or any descendant. Recursion is bounded by the parser's nesting limit.
    pub fn any(&self, is_such: &dyn Fn(&Node) -> bool) -> bool {
        is_such(self) || self.children().into_iter().any(|child| child.any(is_such))
    }

    /// Whether it has look-around, back-references or atomic groups: what the linear engine does not support.
    pub fn needs_backtracking(&self) -> bool {
        self.any(&|node| {
            matches!(
                node,
                Self::Look { .. }
                    | Self::Backref { .. }
                    | Self::Atomic(_)
                    | Self::Condition { .. }
                    | Self::Repeat { kind: Kind::Possessive, .. }
                    | Self::Assertion(Assertion::Boundary { negated: true, ascii: true })
            )
        })
    }

    /// Whether it has `$` without `M`, which looks ahead if the text ends with a newline.
    pub fn has_dollar(&self) -> bool {
        self.any(&|node| *node == Self::Assertion(Assertion::Dollar))
    }

    /// How the engines are to interpret `\w` in it.
    pub fn words(&self) -> Words {
        let is_boundary = |node: &Self| matches!(node, Self::Assertion(Assertion::Boundary { .. }));
        if self.any(&is_boundary) { Words::Boundaries } else { Words::Python }
    }

    /// Whether it may match the empty string.
    pub fn may_be_empty(&self) -> bool {
        self.width(&[]).min == 0
    }

    /// Whether it may prefer an empty match to a longer one at the same position, as lazy repetitions and alternatives
    /// may.
    pub fn may_prefer_empty(&self) -> bool {
        self.any(&|node| {
            let is_empty_alternative =
                matches!(node, Self::Alt(nodes) if nodes.iter().any(Self::may_be_empty));
            is_empty_alternative
                || matches!(node, Self::Repeat { kind: Kind::Lazy, .. } | Self::Condition { .. })
        })
    }

    /// The minimum and maximum number of characters it consumes. `widths` are those of the groups before it.
    pub fn width(&self, widths: &[Option<Width>]) -> Width {
        match self {
            Self::Char { .. } | Self::Any { .. } | Self::Set { .. } => Width { min: 1, max: Some(1) },
            Self::Assertion(_) | Self::Look { .. } => Width::NONE,
            Self::Group { node, .. } | Self::Atomic(node) => node.width(widths),
            Self::Backref { idx, .. } => {
                widths.get(*idx).copied().flatten().unwrap_or(Width { min: 0, max: None })
            }
            Self::Concat(nodes) => nodes.iter().fold(Width::NONE, |sum, node| sum.and(node.width(widths))),
            Self::Alt(nodes) => {
                let all = nodes.iter().map(|node| node.width(widths));
                all.reduce(Width::or).unwrap_or(Width::NONE)
            }
            Self::Condition { yes, no, .. } => yes.width(widths).or(no.width(widths)),
            Self::Repeat { node, min, max, .. } => {
                let once = node.width(widths);
                let most = match (once.max, max) {
                    (Some(0), _) => Some(0),
                    (Some(chars), Some(max)) => Some(chars.saturating_mul(u64::from(*max))),
                    (None, _) | (_, None) => None,
                };
                Width { min: once.min.saturating_mul(u64::from(*min)), max: most }
            }
        }
    }
}

/// Bounds in characters; no maximum if unbounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Width {
    /// The minimum.
    pub min: u64,
    /// The maximum.
    pub max: Option<u64>,
}

impl Width {
    /// Of what consumes nothing.
    pub const NONE: Self = Self { min: 0, max: Some(0) };

    fn and(self, other: Self) -> Self {
        let max = self.max.zip(other.max).map(|(a, b)| a.saturating_add(b));
        Self { min: self.min.saturating_add(other.min), max }
    }

    fn or(self, other: Self) -> Self {
        let max = self.max.zip(other.max).map(|(a, b)| a.max(b));
        Self { min: self.min.min(other.min), max }
    }
}
