//! Huge context as an explorable thing: sources are scanned into a corpus of documents, and a view is the only way to
//! see them. Synchronous; knows no model and no prompt. Names, sizes and text found here are hostile input.

mod cite;
mod corpus;
mod decode;
mod digest;
mod error;
mod name;
mod outline;
mod report;
mod secrets;
mod source;
#[cfg(test)]
mod testing;
mod view;

pub use cite::check_citation;
pub use corpus::{Corpus, DocEntry, Origin, ScanOptions, SourceInput};
pub use digest::ScanProgress;
pub use error::{Nearest, NotText, SourceError};
pub use outline::{ExtensionShare, Outline};
pub use report::{ScanReport, SkipReason};
pub use view::View;
