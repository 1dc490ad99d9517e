//! Fences: finds the code in a model's reply. A reply is scanned once, line by line; whatever opens a fence, a tag, a
//! tool call or `FINAL(` at the start of a line is taken whole, and everything else is prose. A reply is hostile input:
//! the work is linear in its length and the number of cells is bounded, whatever it contains.

mod call;
mod close;
mod final_text;
mod opener;
mod python;
mod scan;

pub use final_text::FinalText;
pub(crate) use python::is_shallow;

use scan::Scan;

/// The most cells taken from one reply.
pub const CELLS_MAX: usize = 32;

/// What a reply contains.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ParsedReply {
    /// The code, in order.
    pub cells: Vec<CodeCell>,
    /// The answer, if the text outside of code contains one. The first one counts.
    pub final_text: Option<FinalText>,
    /// Whatever is neither code, nor the answer, nor thinking, trimmed.
    pub prose: String,
    /// How many cells there were beyond [`CELLS_MAX`].
    pub n_dropped: u64,
}

/// One piece of code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeCell {
    /// The code without its fence, with `\n` line endings and no trailing newline; blank lines are kept.
    pub code: String,
    /// The line of the reply on which the code begins, from 1; for a tool call, the line on which the call begins.
    pub line: u32,
    /// Whether the reply ended before the fence was closed: the code may be truncated.
    pub is_cut: bool,
}

/// Finds the code in a reply.
///
/// Code is the content of a fence of backticks or tildes labelled `repl`, `python`, `python3` or `py`, of an unlabelled
/// fence if it is a Python program that does something, of `<python>` or `<repl>` tags (or `<code>`, if it is such a
/// program), and of tool calls: a `<tool_call>` or a JSON object at the start of a line that is `{"code": …}` or names
/// a Python tool. A labelled fence may open at the end of a line of prose. A fence is closed by the first fence line
/// that is not within a Python string. The content of `<think>` is ignored.
pub fn find_cells(reply: &str) -> ParsedReply {
    Scan::new(reply).run().0
}

#[cfg(test)]
mod tests;
