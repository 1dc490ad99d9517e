//! Fences: where the code of a model's reply is. A reply is read once from its beginning, line by line; what opens a
//! fence, a tag, a tool call or `FINAL(` at the start of a line is taken whole, and everything else is prose. A reply is
//! hostile input: the work is linear in its length and the number of cells is bounded, whatever it says.

mod call;
mod close;
mod final_text;
mod opener;
mod python;
mod scan;

pub use final_text::FinalText;

use scan::Scan;

/// The most cells that are taken from one reply.
pub const CELLS_MAX: usize = 32;

/// What is in a reply.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// The code, in the order of the reply.
    pub cells: Vec<FoundCell>,
    /// The answer, if the text outside of code gives one. The first one counts.
    pub final_text: Option<FinalText>,
    /// What is neither code, nor the answer, nor thinking, without blank space around it.
    pub prose: String,
    /// How many cells there were beyond [`CELLS_MAX`].
    pub n_dropped: u64,
}

/// One piece of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundCell {
    /// The code, without its fence, with `\n` at its line ends and none behind its last line; blank lines stay.
    pub code: String,
    /// The line of the reply on which the code begins, from 1; that of the whole call where it is in a tool call.
    pub line: u32,
    /// Whether the reply ended before the fence was closed: the code may be cut.
    pub is_cut: bool,
}

/// Finds the code of a reply.
///
/// Code is what stands in a fence of backticks or tildes labelled `repl`, `python`, `python3` or `py`, in an unlabelled
/// fence if it is a Python program that does something, between `<python>` or `<repl>` tags, and in tool calls: a
/// `<tool_call>` or a JSON object at the start of a line that is `{"code": …}` or names a Python tool. A fence is closed
/// by the first fence line that is not within a Python string. What stands in `<think>` is not looked at.
pub fn find_cells(reply: &str) -> Found {
    Scan::new(reply).run().0
}

#[cfg(test)]
mod tests;
