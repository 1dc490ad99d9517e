//! Fuzz targets for the code that parses untrusted input. A target is a function of bytes that panics if an invariant
//! is violated; [`TARGETS`] lists them all. The binary of this crate feeds them mutated samples on stable Rust, and
//! files of `corpus/`, which keeps inputs that broke something.

mod archives;
mod catalogues;
mod cells;
mod choice;
mod corpus;
mod detectors;
mod documents;
mod journals;
mod mutate;
mod objects;
mod plans;
mod requests;
mod settings;
mod splitters;
mod sqlite;
mod streams;

pub use corpus::{CorpusFile, corpus};
pub use mutate::Mutator;

/// A function that panics if an invariant is violated.
pub type Target = fn(&[u8]);

/// Every target, by its name.
pub const TARGETS: [(&str, Target); 22] = [
    ("splitters", splitters::splitters),
    ("detectors", detectors::detectors),
    ("plans", plans::plans),
    ("structures", plans::structures),
    ("cells", cells::cells),
    ("journal", journals::journal),
    ("events", journals::events),
    ("settings", settings::settings),
    ("head", requests::head),
    ("form", requests::form),
    ("message", requests::message),
    ("pdf", documents::pdf),
    ("docx", documents::docx),
    ("html", documents::html),
    ("image", documents::image),
    ("sqlite", sqlite::sqlite),
    ("archive", archives::archive),
    ("sse", streams::sse),
    ("frames", streams::frames),
    ("remote", streams::remote),
    ("catalogue", catalogues::catalogue),
    ("objects", objects::objects),
];

/// A refusal is short and printable: it quotes untrusted input, and may reach a terminal.
fn check_message(message: &str) {
    assert!(!message.is_empty() && message.chars().count() <= 2000, "{} characters", message.chars().count());
    assert!(!message.chars().any(char::is_control), "{message:?} cannot be printed");
}

#[cfg(test)]
mod tests;
