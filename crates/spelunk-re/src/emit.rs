//! Writes a parsed pattern in the syntax of the Rust engines. Every character and set is written out, so nothing can
//! have another meaning there: no flags, no set operations, no names.

use std::fmt::Write as _;

use crate::ast::{Assertion, Category, Fold, Item, Kind, Node, Words};

/// The engine that a pattern is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The linear-time engine. It has no look-around, so `$` matches only at the end: the text must
    /// not end with a newline, or its end must not be visible.
    Linear,
    /// The backtracking engine.
    Backtracking,
}

/// Writes patterns for one engine.
#[derive(Debug, Clone, Copy)]
pub struct Emitter<'n> {
    /// The target engine.
    pub target: Target,
    /// What counts as a word character.
    pub words: Words,
    /// The groups that keep their names.
    pub names: &'n [(String, usize)],
}

impl Emitter<'_> {
    /// The pattern in the engine's syntax.
    pub fn pattern(self, node: &Node) -> String {
        let mut out = String::new();
        self.node(node, &mut out);
        out
    }

    fn node(self, node: &Node, out: &mut String) {
        match node {
            Node::Char { c, fold } => folded(&[Item::Range(*c, *c)], *fold, out, |items, out| match items {
                [Item::Range(c, last)] if c == last => literal(*c, out),
                items => self.set(false, items, out),
            }),
            Node::Any { newline: true } => out.push_str("(?s:.)"),
            Node::Any { newline: false } => out.push_str("[^\\n]"),
            Node::Set { negated, items, fold } => {
                folded(items, *fold, out, |items, out| self.set(*negated, items, out));
            }
            Node::Assertion(place) => self.place(*place, out),
            Node::Group { idx, node } => match self.names.iter().find(|(_, named)| named == idx) {
                Some((name, _)) => self.wrapped(&format!("(?P<{name}>"), node, out),
                None => self.wrapped("(", node, out),
            },
            Node::Backref { idx, fold } => {
                let flag = if *fold == Fold::Exact { "" } else { "i" };
                let _ = write!(out, "(?{flag}:\\{idx})");
            }
            Node::Concat(nodes) => {
                for node in nodes {
                    if matches!(node, Node::Alt(_)) {
                        self.wrapped("(?:", node, out);
                    } else {
                        self.node(node, out);
                    }
                }
            }
            Node::Alt(nodes) => {
                for (idx, node) in nodes.iter().enumerate() {
                    out.push_str(if idx == 0 { "" } else { "|" });
                    self.node(node, out);
                }
            }
            Node::Repeat { node, min, max, kind } => self.repeat(node, *min, *max, *kind, out),
            Node::Look { node, is_ahead, negated } => {
                let open = match (is_ahead, negated) {
                    (true, false) => "(?=",
                    (true, true) => "(?!",
                    (false, false) => "(?<=",
                    (false, true) => "(?<!",
                };
                self.wrapped(open, node, out);
            }
            Node::Atomic(node) => self.wrapped("(?>", node, out),
            Node::Condition { idx, yes, no } => {
                let _ = write!(out, "(?({idx})");
                self.wrapped("(?:", yes, out);
                out.push('|');
                self.wrapped("(?:", no, out);
                out.push(')');
            }
        }
    }

    fn wrapped(self, open: &str, node: &Node, out: &mut String) {
        out.push_str(open);
        self.node(node, out);
        out.push(')');
    }

    fn repeat(self, node: &Node, min: u32, max: Option<u32>, kind: Kind, out: &mut String) {
        if kind == Kind::Possessive {
            out.push_str("(?>");
        }
        self.wrapped("(?:", node, out);
        let _ = match (min, max) {
            (0, None) => write!(out, "*"),
            (1, None) => write!(out, "+"),
            (0, Some(1)) => write!(out, "?"),
            (min, None) => write!(out, "{{{min},}}"),
            (min, Some(max)) => write!(out, "{{{min},{max}}}"),
        };
        match kind {
            Kind::Greedy => {}
            Kind::Lazy => out.push('?'),
            Kind::Possessive => out.push(')'),
        }
    }

    fn place(self, place: Assertion, out: &mut String) {
        out.push_str(match (place, self.target) {
            (Assertion::TextStart, _) => "\\A",
            (Assertion::LineStart, _) => "(?m:^)",
            (Assertion::LineEnd, _) => "(?m:$)",
            (Assertion::Dollar, Target::Backtracking) => "(?=\\n?\\z)",
            (Assertion::TextEnd, _) | (Assertion::Dollar, Target::Linear) => "\\z",
            (Assertion::Boundary { negated: false, ascii: false }, _) => "\\b",
            (Assertion::Boundary { negated: true, ascii: false }, _) => "\\B",
            (Assertion::Boundary { negated: false, ascii: true }, Target::Linear) => "(?-u:\\b)",
            // An ASCII `\B` could match inside a character; here it matches only between characters.
            (Assertion::Boundary { negated, ascii: true }, Target::Backtracking | Target::Linear) => {
                let boundary = "(?<=[0-9A-Za-z_])(?![0-9A-Za-z_])|(?<![0-9A-Za-z_])(?=[0-9A-Za-z_])";
                let _ = if negated { write!(out, "(?!{boundary})") } else { write!(out, "(?:{boundary})") };
                return;
            }
        });
    }

    fn set(self, negated: bool, items: &[Item], out: &mut String) {
        out.push_str(if negated { "[^" } else { "[" });
        for item in items {
            match *item {
                Item::Range(low, high) if low == high => literal(low, out),
                Item::Range(low, high) => {
                    literal(low, out);
                    out.push('-');
                    literal(high, out);
                }
                Item::Category { class, negated, ascii } => {
                    out.push_str(if negated { "[^" } else { "[" });
                    out.push_str(self.category(class, ascii));
                    out.push(']');
                }
            }
        }
        out.push(']');
    }

    fn category(self, class: Category, ascii: bool) -> &'static str {
        match (class, ascii) {
            (Category::Digit, true) => "0-9",
            (Category::Digit, false) => "\\p{Nd}",
            (Category::Space, true) => "\\t-\\r\\x{20}",
            (Category::Space, false) => "\\s\\x{1c}-\\x{1f}",
            (Category::Word, true) => "0-9A-Za-z_",
            (Category::Word, false) => match self.words {
                Words::Python => "\\p{L}\\p{N}_",
                Words::Boundaries => "\\w",
            },
        }
    }
}

/// Valid in a set and outside of one.
fn literal(c: char, out: &mut String) {
    if c.is_ascii_alphanumeric() {
        out.push(c);
    } else {
        let _ = write!(out, "\\x{{{:x}}}", u32::from(c));
    }
}

/// Writes items so that equivalent letters match each other.
fn folded(items: &[Item], fold: Fold, out: &mut String, write: impl FnOnce(&[Item], &mut String)) {
    match fold {
        Fold::Exact => write(items, out),
        Fold::Unicode => {
            out.push_str("(?i:");
            write(items, out);
            out.push(')');
        }
        Fold::Ascii => {
            let mut all = items.to_vec();
            for item in items {
                if let Item::Range(low, high) = *item {
                    all.extend(other_case(low, high, 'a'..='z', char::to_ascii_uppercase));
                    all.extend(other_case(low, high, 'A'..='Z', char::to_ascii_lowercase));
                }
            }
            write(&all, out);
        }
    }
}

/// The letters of a range that are in `letters`, in the other case.
fn other_case(
    low: char,
    high: char,
    letters: std::ops::RangeInclusive<char>,
    flip: fn(&char) -> char,
) -> Option<Item> {
    let (low, high) = (low.max(*letters.start()), high.min(*letters.end()));
    (low <= high).then(|| Item::Range(flip(&low), flip(&high)))
}
