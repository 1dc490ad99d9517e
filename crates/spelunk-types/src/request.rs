//! What was asked, as recorded by the first event of a run: sources, strategy, model. Never contains a secret.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::BlobId;

/// Text in an event: short text is inline, long text is a blob written before the event that references it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Text {
    /// The text itself.
    Inline {
        /// The text itself.
        text: String,
    },
    /// The text is stored as a blob.
    Blob {
        /// The blob, in UTF-8.
        blob: BlobId,
        /// Its length.
        bytes: u64,
    },
}

impl Text {
    /// Longer text becomes a blob.
    pub const INLINE_BYTES_MAX: usize = 2048;
    /// Longer replies and answers become blobs. More than for other text: each is written once, with an event that is
    /// synced anyway, and a separate file would cost two more syncs.
    pub const SAID_INLINE_BYTES_MAX: usize = 16 << 10;

    /// The blob that holds this text, if it is not inline.
    pub fn blob(&self) -> Option<&BlobId> {
        match self {
            Self::Inline { .. } => None,
            Self::Blob { blob, .. } => Some(blob),
        }
    }
}

/// What a corpus contains, for readers of the journal that do not have the sources.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CorpusRecord {
    /// One line per document: digest, bytes, name.
    pub documents: Text,
    /// The text of a small corpus, as strategies see it. It may be missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Text>,
    /// The number of lines of all documents, if the scan counted them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<u64>,
    /// The modification times, in nanoseconds since 1970, of large documents: their digests include them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub modified_ns: BTreeMap<String, u64>,
}

/// Where bytes come from, in a form that a resumed run can open again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum SourceSpec {
    /// A file or a directory.
    Path {
        /// As the user wrote it, but absolute.
        path: String,
        /// As the user wrote it, if that names a file relative to the working directory: the name shown in citations.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    /// Text that arrived with the request (standard input, an API body) and is stored as a blob.
    Text {
        /// The name shown in citations: `stdin`.
        name: String,
        /// The text.
        content: Text,
    },
    /// Files that were uploaded to a fleet: every node can fetch them.
    Snapshot {
        /// The list of the files.
        manifest: BlobId,
        /// The file that is meant, if it is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file: Option<String>,
        /// As the user wrote it, if that names a file relative to the working directory: the name shown in citations.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    /// A database server.
    Database {
        /// Its URL, without the password.
        url: String,
    },
    /// The objects of a bucket.
    Objects {
        /// `s3://BUCKET/PREFIX`.
        url: String,
    },
}

impl SourceSpec {
    /// The list of the files that were uploaded to a fleet.
    pub fn manifest(&self) -> Option<&BlobId> {
        if let Self::Snapshot { manifest, .. } = self { Some(manifest) } else { None }
    }

    /// The text that arrived with the request.
    pub fn content(&self) -> Option<&Text> {
        match self {
            Self::Path { .. } | Self::Snapshot { .. } | Self::Database { .. } | Self::Objects { .. } => None,
            Self::Text { content, .. } => Some(content),
        }
    }
}

/// What a scan includes beyond the default, and what it excludes. Recorded with a run, so that a resumed run reads the
/// same documents; a field missing from an older journal has its old behaviour.
///
/// A glob without a `/` is matched against the last component of a path, one with a `/` against the path from the
/// source's root; `*` stays within one component, `**` crosses them. A glob that matches a directory matches everything
/// in it. A file that the user named explicitly is not matched against globs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one independent switch of the command line")]
pub struct ScanOptions {
    /// Include files whose names suggest secrets, and do not redact secrets in text. Off unless a person asked for it.
    pub allow_secrets: bool,
    /// The same, only for files that match these globs.
    pub allow_secret_globs: Vec<String>,
    /// Only files that match these globs; empty means all. They override the default exclusions, never secrets.
    pub include: Vec<String>,
    /// Exclude files that match these globs; overrides `include`.
    pub exclude: Vec<String>,
    /// Whether to descend into subdirectories.
    pub recursive: bool,
    /// Whether to respect `.gitignore` and `.ignore` files.
    pub gitignore: bool,
    /// The maximum number of documents over all sources; 0 means no limit. Files left out are listed in the reports.
    pub files_max: u64,
    /// Which files to keep if there are more than `files_max`.
    pub order: FileOrder,
    /// Whether HTML is converted to Markdown.
    pub extract_html: bool,
    /// Content types by name, `GLOB=TYPE`, before every rule.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub types: Vec<String>,
    /// Whether an analysis splits all text by tokens, whatever its type.
    #[serde(skip_serializing_if = "crate::is_default")]
    pub plain: bool,
}

impl Default for ScanOptions {
    fn default() -> Self {
        Self {
            allow_secrets: false,
            allow_secret_globs: Vec::new(),
            include: Vec::new(),
            exclude: Vec::new(),
            recursive: true,
            gitignore: true,
            files_max: 0,
            order: FileOrder::Size,
            extract_html: false,
            types: Vec::new(),
            plain: false,
        }
    }
}

names! { "file order",
/// Which files to prefer if not all can be kept. The corpus itself is sorted by name regardless.
#[derive(Default)]
pub enum FileOrder {
    /// The largest first.
    #[default]
    Size = "size",
    /// By name.
    Path = "path",
    /// Files that explain the rest first: a readme, then manifests, configuration, source code, and everything else.
    /// Within each group, those nearer to the root first, then by name.
    Priority = "priority",
}
}

names! { "strategy",
/// How a frame answers.
pub enum Strategy {
    /// Looks at the text first, and chooses among the others step by step.
    Auto = "auto",
    /// One call with the whole text, or with the best passages if it does not fit.
    Direct = "direct",
    /// The recursive loop: the model writes code that explores the text and calls sub-models on parts of it.
    Repl = "repl",
    /// An index finds passages, and one call answers from them.
    Search = "search",
    /// An analyst suited to its content reads every part, and the findings are merged.
    Map = "map",
    /// Like `map`, but only for the parts that share words with the question.
    Hybrid = "hybrid",
    /// The model works with tools on its own files and writes its answer into one.
    Agent = "agent",
    /// Reads one part, within `map`.
    Analyst = "analyst",
    /// Merges findings, within `map`.
    Synthesis = "synthesis",
    /// A program written by the caller, run through the same frames (see `Engine::start_program`).
    Program = "program",
}
}

/// The model that a run calls, without the key.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ModelRef {
    /// The wire format: `openai`, `anthropic`, `scripted`.
    pub provider: String,
    /// The name the provider uses for the model.
    pub name: String,
    /// The base URL, without credentials.
    pub base_url: String,
}

/// Models that a run may call besides those for the root and sub-calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherModels {
    /// The model that merges findings, if it is not the root's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synthesis: Option<ModelRef>,
    /// The names under which code can call other models.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

impl fmt::Display for ModelRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.name)
    }
}

#[cfg(test)]
mod tests;
