//! The syntax tree of a Python pattern. Flags are resolved while parsing: every node by itself determines what it
//! matches.

/// One part of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Node {
    Char {
        c: char,
        fold: Fold,
    },
    /// `.`
    Any {
        newline: bool,
    },
    Set {
        negated: bool,
        items: Vec<Item>,
        fold: Fold,
    },
    Assertion(Assertion),
    /// A capturing group.
    Group {
        idx: usize,
        node: Box<Node>,
    },
    Backref {
        idx: usize,
        fold: Fold,
    },
    /// Also the empty pattern, and a non-capturing group.
    Concat(Vec<Node>),
    Alt(Vec<Node>),
    Repeat {
        node: Box<Node>,
        min: u32,
        max: Option<u32>,
        kind: Kind,
    },
    Look {
        node: Box<Node>,
        is_ahead: bool,
        negated: bool,
    },
    Atomic(Box<Node>),
    /// `(?(1)yes|no)`
    Condition {
        idx: usize,
        yes: Box<Node>,
        no: Box<Node>,
    },
}

/// Which letters are equivalent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fold {
    Exact,
    /// `A` and `a` are equivalent, `Ä` and `ä` are not.
    Ascii,
    Unicode,
}

/// A zero-width assertion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Assertion {
    TextStart,
    LineStart,
    LineEnd,
    /// `$` without `M`: at the end, or before a final newline.
    Dollar,
    TextEnd,
    Boundary {
        negated: bool,
        ascii: bool,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Greedy,
    Lazy,
    Possessive,
}

/// Part of a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    Range(char, char),
    Category { class: Category, negated: bool, ascii: bool },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Category {
    Digit,
    Space,
    Word,
}

impl Node {
    pub(super) fn empty() -> Self {
        Self::Concat(Vec::new())
    }

    /// The child nodes.
    pub(super) fn children(&self) -> Vec<&Node> {
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
    pub(super) fn any(&self, is_such: &dyn Fn(&Node) -> bool) -> bool {
        is_such(self) || self.children().into_iter().any(|child| child.any(is_such))
    }

    /// The minimum and maximum number of characters it consumes. `widths` are those of the groups before it.
    pub(super) fn width(&self, widths: &[Option<Width>]) -> Width {
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
pub(super) struct Width {
    pub(super) min: u64,
    pub(super) max: Option<u64>,
}

impl Width {
    pub(super) const NONE: Self = Self { min: 0, max: Some(0) };

    fn and(self, other: Self) -> Self {
        let max = self.max.zip(other.max).map(|(a, b)| a.saturating_add(b));
        Self { min: self.min.saturating_add(other.min), max }
    }

    fn or(self, other: Self) -> Self {
        let max = self.max.zip(other.max).map(|(a, b)| a.max(b));
        Self { min: self.min.min(other.min), max }
    }
}
