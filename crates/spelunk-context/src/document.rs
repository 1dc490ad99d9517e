//! A source as the caller names it, and a document: one readable item of it. Neither holds the text of a file.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use spelunk_types::BlobId;

use crate::{ObjectsHandle, ServerHandle};

/// A file as an earlier scan found it. If it has grown, only its first bytes are the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pin {
    /// Its size.
    pub bytes: u64,
    /// Its modification time, if its digest includes it: see [`DocEntry::digest_time`].
    pub modified: Option<SystemTime>,
}

/// The documents of an earlier scan, by name.
pub type Pins = HashMap<String, Pin>;

/// A source, as the caller names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SourceInput {
    /// A file or a directory.
    Path(PathBuf),
    /// A file or directory, with the path as typed, which becomes the document's name if it only descends.
    Typed {
        /// The resolved path.
        path: PathBuf,
        /// The path as typed.
        typed: PathBuf,
    },
    /// Text sent with the request. Its secrets are removed before it is used; see [`given_text`](crate::given_text).
    Text {
        /// The name shown in citations: `stdin`.
        name: String,
        /// The raw bytes; UTF-8 or anything else a file may hold.
        bytes: Vec<u8>,
    },
    /// Such text as a run saved it. It is used unchanged, so that a later version, which may detect more secrets, gets
    /// the text that the run began with. Secrets are still redacted when it is read.
    Kept {
        /// The name shown in citations: `stdin`.
        name: String,
        /// The saved bytes.
        bytes: Vec<u8>,
    },
    /// A database server that the user named.
    Database(ServerHandle),
    /// A bucket of objects that the user named.
    Objects(ObjectsHandle),
}

/// One readable item of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct DocEntry {
    /// The index in the corpus, which is sorted by name.
    pub idx: u32,
    /// A relative path with `/` as the separator; unique in the corpus and safe to print.
    pub name: String,
    /// The size on disk at the scan; the text may be longer or shorter. Bytes appended later do not count.
    pub bytes: u64,
    /// The number of lines, if the scan read all of it and it is not UTF-16.
    pub lines: Option<u64>,
    /// The file's modification time at the scan.
    pub modified: Option<SystemTime>,
    /// BLAKE3 of the raw bytes, including secrets; of samples for a large file (see `scan_read/sample.rs`).
    pub digest: BlobId,
    /// Where the bytes are.
    pub origin: Origin,
    /// Whether this is text extracted from a PDF, DOCX, HTML or SQLite file. Its size and digest are those of the text.
    pub extracted: bool,
    /// The database whose tables this text describes.
    pub database: Option<Database>,
    /// Whether secrets are redacted when its text is read; see [`crate::redact`].
    pub redacts: bool,
    /// Whether the scan found secrets, or did not look for them. It does not look, and this is false, where secrets are
    /// allowed.
    pub has_secrets: bool,
    /// Whether the scan looked for the words of a search and found none; see [`View::may_hold`](crate::View::may_hold).
    pub(crate) lacks_sought: bool,
}

/// The database that a document describes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Database {
    /// In this SQLite file.
    File(PathBuf),
    /// On this server.
    Server(ServerHandle),
}

/// The location of a document's bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// In this file, by its canonical path.
    File(PathBuf),
    /// In memory: sent with the request.
    Text(Arc<[u8]>),
}
