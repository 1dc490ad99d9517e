//! The syntax tree of a Python pattern. Flags are resolved: a node alone says what it matches.

/// What counts as a word character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Words {
    /// Python's: letters, numbers and `_`.
    Python,
    /// The engines' word characters, which include combining marks. Used if the pattern has
    /// boundaries, because both must agree: otherwise `\b\w+\b` finds nothing in Hindi.
    Boundaries,
}

/// One part of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the syntax says it")]
pub enum Node {
    /// One character.
    Char { c: char, fold: Fold },
    /// `.`
    Any { newline: bool },
    /// `[a-z]`, `\d`
    Set { negated: bool, items: Vec<Item>, fold: Fold },
    /// A zero-width assertion.
    Assertion(Assertion),
    /// A capturing group.
    Group { idx: usize, node: Box<Node> },
    /// `\1`
    Backref { idx: usize, fold: Fold },
    /// A sequence; also the empty pattern and a non-capturing group.
    Concat(Vec<Node>),
    /// `a|b`
    Alt(Vec<Node>),
    /// `a*`, `a{2,3}`
    Repeat {
        node: Box<Node>,
        min: u32,
        /// The maximum count; `None` if unbounded.
        max: Option<u32>,
        kind: Kind,
    },
    /// `(?=a)`, `(?<!a)`
    Look { node: Box<Node>, is_ahead: bool, negated: bool },
    /// `(?>a)`
    Atomic(Box<Node>),
    /// `(?(1)yes|no)`
    Condition { idx: usize, yes: Box<Node>, no: Box<Node> },
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
        /// Whether only ASCII characters are word characters.
        ascii: bool,
    },
}

/// The order in which a repetition tries lengths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Longest first.
    Greedy,
    /// Shortest first.
    Lazy,
    /// Only the longest.
    Possessive,
}

/// An item of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Item {
    /// A range of characters, inclusive.
    Range(char, char),
    /// `\d`, `\S`
    Category { class: Category, negated: bool, ascii: bool },
}

/// A category of characters.
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
    /// A node that matches only the empty string.
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

    /// Whether the predicate holds for this node or a descendant. The parser's nesting limit bounds recursion.
    pub fn any(&self, is_such: &dyn Fn(&Node) -> bool) -> bool {
        is_such(self) || self.children().into_iter().any(|child| child.any(is_such))
    }

    /// Whether it needs what the linear engine lacks: look-around, back-references or atomic groups.
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

    /// Whether it has `$` without `M`, which needs look-ahead if the text ends with a newline.
    pub fn has_dollar(&self) -> bool {
        self.any(&|node| *node == Self::Assertion(Assertion::Dollar))
    }

    /// What `\w` matches in this pattern.
    pub fn words(&self) -> Words {
        let is_boundary = |node: &Self| matches!(node, Self::Assertion(Assertion::Boundary { .. }));
        if self.any(&is_boundary) { Words::Boundaries } else { Words::Python }
    }

    /// Whether it may match the empty string.
    pub fn may_be_empty(&self) -> bool {
        self.width(&[]).min == 0
    }

    /// Whether it may prefer an empty match to a longer one at the same position: `a??`, `|a`.
    pub fn may_prefer_empty(&self) -> bool {
        self.any(&|node| {
            let is_empty_alternative =
                matches!(node, Self::Alt(nodes) if nodes.iter().any(Self::may_be_empty));
            is_empty_alternative
                || matches!(node, Self::Repeat { kind: Kind::Lazy, .. } | Self::Condition { .. })
        })
    }

    /// The minimum and maximum number of characters it consumes. `widths` are those of earlier groups.
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

/// How many characters a node consumes; no maximum if unbounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Width {
    /// The minimum.
    pub min: u64,
    /// The maximum.
    pub max: Option<u64>,
}

impl Width {
    /// The width of a node that consumes nothing.
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
