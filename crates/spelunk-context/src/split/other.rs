//! Everything without rules of its own (markup, config, unknown): cut between lines, all equally good.

use super::{Splitter, to_boundaries};
use crate::lines::line_marks;
use crate::pack::{Boundary, Mark, Strength};

/// Cuts between lines.
#[derive(Debug, Clone, Copy)]
pub struct Other;

impl Splitter for Other {
    fn boundaries(&self, text: &str) -> Vec<Boundary> {
        to_boundaries(text, marks(text))
    }
}

pub(super) fn marks(text: &str) -> impl Iterator<Item = Mark> {
    line_marks(text, |_, _| Strength::Sentence)
}
