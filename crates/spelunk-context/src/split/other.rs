//! Everything without rules of its own (markup, config, unknown): cut between lines, all equally good.

use crate::lines::line_marks;
use crate::pack::{Mark, Strength};

pub(super) fn marks(text: &str) -> impl Iterator<Item = Mark> {
    line_marks(text, |_, _| Strength::Sentence)
}
