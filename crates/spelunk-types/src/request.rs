//! What was asked, as the first event of a run records it: sources, strategy, model. No secret fits in here.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{BlobId, IdError};

/// Text in an event: short text stands in the line, long text is a blob written before the event that names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Text {
    /// The text itself.
    Inline {
        /// The text itself.
        text: String,
    },
    /// Where the text is.
    Blob {
        /// The bytes, UTF-8.
        blob: BlobId,
        /// How many.
        bytes: u64,
    },
}

impl Text {
    /// Longer text becomes a blob.
    pub const INLINE_BYTES_MAX: usize = 2048;

    /// The blob this text lives in, if it is not inline.
    pub fn blob(&self) -> Option<&BlobId> {
        match self {
            Self::Inline { .. } => None,
            Self::Blob { blob, .. } => Some(blob),
        }
    }
}

/// Where bytes come from, in a form that a resumed run can open again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum SourceSpec {
    /// A file or a directory.
    Path {
        /// As the user wrote it, made absolute.
        path: String,
    },
    /// Text that arrived with the request (standard input, an API body) and is kept as a blob.
    Text {
        /// The name shown in citations: `stdin`.
        name: String,
        /// The text.
        content: Text,
    },
}

/// What a scan takes in and leaves out, so that a resumed run reads the same documents. A field that an older journal
/// does not have is as it was then.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one independent switch of the command line")]
pub struct ScanSpec {
    /// Secrets enter as they are.
    pub allow_secrets: bool,
    /// The same, only for the files that these globs match.
    pub allow_secret_globs: Vec<String>,
    /// Only what these globs match; empty means all.
    pub include: Vec<String>,
    /// Nothing that these globs match.
    pub exclude: Vec<String>,
    /// Whether directories below a directory are entered.
    pub recursive: bool,
    /// Whether `.gitignore` files are obeyed.
    pub gitignore: bool,
    /// How many documents at most; 0 is all.
    pub files_max: u64,
    /// Which stay when there are more: `size`, `path` or `priority`.
    pub order: String,
    /// Whether HTML is read as Markdown.
    pub extract_html: bool,
}

impl Default for ScanSpec {
    fn default() -> Self {
        Self {
            allow_secrets: false,
            allow_secret_globs: Vec::new(),
            include: Vec::new(),
            exclude: Vec::new(),
            recursive: true,
            gitignore: true,
            files_max: 0,
            order: "size".to_owned(),
            extract_html: false,
        }
    }
}

/// How a frame answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// One call with everything that fits; the best passages where not all of it does.
    Direct,
    /// A program of the caller's own, driven through the same frames (see `Engine::start_program`).
    Program,
}

impl Strategy {
    /// The name in flags, settings and events.
    pub fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Program => "program",
        }
    }
}

impl fmt::Display for Strategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Strategy {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        match text {
            "direct" => Ok(Self::Direct),
            "program" => Ok(Self::Program),
            other => Err(IdError { expected: "strategy", found: other.chars().take(64).collect() }),
        }
    }
}

/// Which model a run asks, without the key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelRef {
    /// The wire format: `openai`, `anthropic`, `scripted`.
    pub provider: String,
    /// The model's name, as the provider knows it.
    pub name: String,
    /// Where requests go, without credentials.
    pub base_url: String,
}

impl fmt::Display for ModelRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.name)
    }
}
