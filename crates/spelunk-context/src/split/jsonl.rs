//! JSON lines: a value per line, cut between lines. A line that is no JSON is still a line.

use super::{Splitter, to_boundaries};
use crate::lines::line_marks;
use crate::pack::{Boundary, Mark, Strength};

/// Cuts between lines.
#[derive(Debug, Clone, Copy)]
pub struct JsonLines;

impl Splitter for JsonLines {
    fn boundaries(&self, text: &str) -> Vec<Boundary> {
        to_boundaries(text, marks(text))
    }
}

pub(super) fn marks(text: &str) -> impl Iterator<Item = Mark> {
    line_marks(text, |_, _| Strength::Item)
}
