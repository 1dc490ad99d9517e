//! Fuzz targets for the code that parses untrusted input. A target is a function of bytes that panics if an invariant
//! is violated; [`TARGETS`] lists them all. The binary of this crate feeds them mutated samples on stable Rust, and
//! files of `corpus/`, which keeps inputs that broke something. With `cargo fuzz` on nightly, the whole of a target
//! file is:
//!
//! ```text
//! #![no_main]
//! libfuzzer_sys::fuzz_target!(|data: &[u8]| spelunk_fuzz::splitters(data));
//! ```

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

pub use archives::archive;
pub use catalogues::catalogue;
pub use cells::cells;
pub use corpus::{CorpusFile, corpus};
pub use detectors::detectors;
pub use documents::{docx, html, image, pdf};
pub use journals::{events, journal};
pub use mutate::Mutator;
pub use objects::objects;
pub use plans::{plans, structures};
pub use requests::{form, head, message};
pub use settings::settings;
pub use splitters::splitters;
pub use sqlite::sqlite;
pub use streams::{frames, remote, sse};

/// A function that panics if an invariant is violated.
pub type Target = fn(&[u8]);

/// Every target, by its name.
pub const TARGETS: [(&str, Target); 22] = [
    ("splitters", splitters),
    ("detectors", detectors),
    ("plans", plans),
    ("structures", structures),
    ("cells", cells),
    ("journal", journal),
    ("events", events),
    ("settings", settings),
    ("head", head),
    ("form", form),
    ("message", message),
    ("pdf", pdf),
    ("docx", docx),
    ("html", html),
    ("image", image),
    ("sqlite", sqlite),
    ("archive", archive),
    ("sse", sse),
    ("frames", frames),
    ("remote", remote),
    ("catalogue", catalogue),
    ("objects", objects),
];

/// A refusal is short and printable: it quotes untrusted input, and may reach a terminal.
fn check_message(message: &str) {
    assert!(!message.is_empty() && message.chars().count() <= 2000, "{} characters", message.chars().count());
    assert!(!message.chars().any(char::is_control), "{message:?} cannot be printed");
}

#[cfg(test)]
mod tests;
