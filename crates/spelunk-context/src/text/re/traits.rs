//! Properties of a pattern: how much text must be held before a match is final, and whether to mask it first.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange, HirKind};

use spelunk_re::{Emitter, Node, Target, Words};

use crate::secrets::MASK;

const CHAR_BYTES_MAX: u64 = 4;

/// Beyond this, the length of a match is no longer useful for deciding where a window is final.
const REACH_BYTES_MAX: u64 = 4 * 1024 * 1024;

#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct Traits {
    /// Whether it needs what the linear engine lacks: look-around, back-references or atomic groups.
    pub(super) needs_backtracking: bool,
    /// Whether it has `$` without `M`, which needs look-ahead if the text ends with a newline.
    pub(super) has_dollar: bool,
    pub(super) words: Words,
    /// The maximum bytes of a match and of all text that it depends on.
    pub(super) reach_bytes: Option<u64>,
    /// Characters that no match contains or examines: matches before one are final.
    pub(super) barrier: Option<Barrier>,
    pub(super) behind_bytes: u64,
    pub(super) may_be_empty: bool,
    /// Whether it may prefer an empty match to a longer one at the same position.
    pub(super) may_prefer_empty: bool,
    /// Whether a match in the masked text is always a match in the original text too, except for keys: the search may
    /// then use the original text and check for secrets only where it finds something.
    pub(super) is_found_unmasked: bool,
    /// Whether a mask character can be part of a match at all.
    pub(super) takes_masks: bool,
}

impl Traits {
    pub(super) fn of(node: &Node) -> Self {
        let (needs_backtracking, words) = (node.needs_backtracking(), node.words());
        let emitter = Emitter { target: Target::Linear, words, names: &[] };
        let mut taken = ExaminedChars::default();
        taken.add(node, emitter);
        Self {
            needs_backtracking,
            has_dollar: node.has_dollar(),
            words,
            reach_bytes: reach(node).map(|chars| (chars + 2).saturating_mul(CHAR_BYTES_MAX)),
            behind_bytes: behind(node).saturating_add(2).saturating_mul(CHAR_BYTES_MAX),
            may_be_empty: node.may_be_empty(),
            may_prefer_empty: node.may_prefer_empty(),
            is_found_unmasked: !needs_backtracking && words == Words::Python && taken.masks_are_anything,
            takes_masks: contains(&taken.chars, MASK),
            barrier: Barrier::of(&taken.chars),
        }
    }

    pub(super) fn of_literal(text: &str) -> Self {
        Self {
            needs_backtracking: false,
            has_dollar: false,
            words: Words::Python,
            // In the document, masked text may be shorter.
            reach_bytes: Some((text.chars().count() as u64 + 2).saturating_mul(CHAR_BYTES_MAX)),
            barrier: None,
            behind_bytes: CHAR_BYTES_MAX,
            may_be_empty: false,
            may_prefer_empty: false,
            is_found_unmasked: !text.contains(MASK),
            takes_masks: text.contains(MASK),
        }
    }

    /// How far before the end of a window its matches are final, if their length determines that.
    pub(super) fn sure_reach_bytes(&self) -> Option<u64> {
        self.reach_bytes.filter(|reach| *reach <= REACH_BYTES_MAX)
    }

    /// Whether some window can have a final part.
    pub(super) fn may_be_sure(&self) -> bool {
        self.sure_reach_bytes().is_some() || self.barrier.is_some()
    }
}

#[derive(Debug, Clone)]
pub(super) enum Barrier {
    /// A newline; there may be others, but it is common and the fastest to find.
    Newline,
    /// All characters outside the class.
    Outside { ascii: Box<[bool; 128]>, class: ClassUnicode },
}

impl Barrier {
    fn of(taken: &ClassUnicode) -> Option<Self> {
        if !contains(taken, '\n') {
            return Some(Self::Newline);
        }
        if complement(taken).ranges().is_empty() {
            return None;
        }
        let mut ascii = Box::new([false; 128]);
        for (byte, is_in) in (0_u8..).zip(ascii.iter_mut()) {
            *is_in = contains(taken, char::from(byte));
        }
        Some(Self::Outside { ascii, class: taken.clone() })
    }

    /// The offset after the last barrier in the text, looking back at most `bytes_max`.
    pub(super) fn last_end(&self, text: &str, bytes_max: usize) -> Option<usize> {
        match self {
            Self::Newline => memchr::memrchr(b'\n', text.as_bytes()).map(|at| at + 1),
            Self::Outside { ascii, class } => {
                let from = text.ceil_char_boundary(text.len().saturating_sub(bytes_max));
                let is_taken = |c: char| match ascii.get(c as usize) {
                    Some(is_taken) => *is_taken,
                    None => contains(class, c),
                };
                let tail = text.get(from..).unwrap_or_default();
                let found = tail.char_indices().rev().find(|(_, c)| !is_taken(*c));
                found.map(|(at, c)| from + at + c.len_utf8())
            }
        }
    }
}

/// The characters that a pattern consumes or examines.
struct ExaminedChars {
    chars: ClassUnicode,
    /// Whether every part that accepts a mask also accepts every other character except whitespace.
    masks_are_anything: bool,
}

impl Default for ExaminedChars {
    fn default() -> Self {
        Self { chars: ClassUnicode::empty(), masks_are_anything: true }
    }
}

impl ExaminedChars {
    fn add(&mut self, node: &Node, emitter: Emitter<'_>) {
        if matches!(node, Node::Char { .. } | Node::Any { .. } | Node::Set { .. }) {
            let class = class_of(node, emitter);
            if contains(&class, MASK) {
                // Secrets other than keys have no whitespace: excluding only whitespace accepts them.
                let is_blank = |c: char| c <= ' ' || c == '\x7f' || c.is_whitespace();
                let is_blanks = |range: &ClassUnicodeRange| (range.start()..=range.end()).all(is_blank);
                self.masks_are_anything &= complement(&class).ranges().iter().all(is_blanks);
            }
            self.chars.union(&class);
        }
        if matches!(node, Node::Backref { .. }) {
            // The text it repeats was already counted, in one case or the other. On failure only one case is
            // counted, which is safe only for sets that contain everything; our tables have no such set.
            self.chars.try_case_fold_simple().unwrap_or_default();
        }
        // An assertion has no children: `$` examines a newline, but only as the last character of a text.
        for child in node.children() {
            self.add(child, emitter);
        }
    }
}

/// The characters that one node accepts, as the engine will interpret it.
fn class_of(node: &Node, emitter: Emitter<'_>) -> ClassUnicode {
    let hir = regex_syntax::parse(&emitter.pattern(node));
    match hir.as_ref().map(regex_syntax::hir::Hir::kind) {
        Ok(HirKind::Class(regex_syntax::hir::Class::Unicode(class))) => class.clone(),
        Ok(HirKind::Literal(literal)) => {
            let text = str::from_utf8(&literal.0).unwrap_or_default();
            ClassUnicode::new(text.chars().map(|c| ClassUnicodeRange::new(c, c)))
        }
        // One character is a class or a literal; for anything else, no character is excluded.
        _ => ClassUnicode::new([ClassUnicodeRange::new('\0', char::MAX)]),
    }
}

fn contains(class: &ClassUnicode, c: char) -> bool {
    let ranges = class.ranges();
    let n_before = ranges.partition_point(|range| range.end() < c);
    ranges.get(n_before).is_some_and(|range| range.start() <= c)
}

fn complement(class: &ClassUnicode) -> ClassUnicode {
    let mut rest = class.clone();
    rest.negate();
    rest
}

/// How many characters a match contains or examines from its beginning on; unbounded for a back-reference.
fn reach(node: &Node) -> Option<u64> {
    match node {
        Node::Char { .. } | Node::Any { .. } | Node::Set { .. } => Some(1),
        Node::Assertion(_) => Some(0),
        Node::Backref { .. } => None,
        Node::Group { node, .. } | Node::Atomic(node) | Node::Look { node, .. } => reach(node),
        Node::Concat(nodes) => {
            nodes.iter().try_fold(0_u64, |sum, node| Some(sum.saturating_add(reach(node)?)))
        }
        Node::Alt(nodes) => nodes.iter().try_fold(0, |most: u64, node| Some(most.max(reach(node)?))),
        Node::Condition { yes, no, .. } => Some(reach(yes)?.max(reach(no)?)),
        Node::Repeat { node, max, .. } => match (reach(node)?, max) {
            (0, _) => Some(0),
            (once, Some(max)) => Some(once.saturating_mul(u64::from(*max))),
            (_, None) => None,
        },
    }
}

/// The characters before a match that a look-behind examines.
fn behind(node: &Node) -> u64 {
    let own = if let Node::Look { node, is_ahead: false, .. } = node {
        node.width(&[]).max.unwrap_or(0)
    } else {
        0
    };
    own + node.children().into_iter().map(behind).max().unwrap_or(0)
}
