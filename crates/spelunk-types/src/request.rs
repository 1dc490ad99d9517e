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
    /// Longer replies and answers become blobs. More than for other text: each is written once, with an event that is
    /// waited for anyway, and a file of its own would cost two more waits.
    pub const SAID_INLINE_BYTES_MAX: usize = 16 << 10;

    /// The blob this text lives in, if it is not inline.
    pub fn blob(&self) -> Option<&BlobId> {
        match self {
            Self::Inline { .. } => None,
            Self::Blob { blob, .. } => Some(blob),
        }
    }
}

/// What a corpus holds, for readers of the record that have no sources.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CorpusRecord {
    /// A line for each document: digest, bytes, name.
    pub documents: Text,
    /// The text of a small corpus, as it is given out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<Text>,
}

impl CorpusRecord {
    /// The blobs it names.
    pub fn blobs(&self) -> impl Iterator<Item = &BlobId> {
        self.documents.blob().into_iter().chain(self.context.as_ref().and_then(Text::blob))
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
        /// As the user wrote it, where that names a file from where they stood: the name shown in citations.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    /// Text that arrived with the request (standard input, an API body) and is kept as a blob.
    Text {
        /// The name shown in citations: `stdin`.
        name: String,
        /// The text.
        content: Text,
    },
}

/// What a scan takes in beyond the ordinary, and what it leaves out. Part of a run's record, so that a resumed run
/// reads the same documents; a field that an older journal does not have is as it was then.
///
/// A glob without a `/` is held against the last part of a path, one with a `/` against the path from the source's
/// root; `*` stays within one part, `**` crosses them. A glob that matches a directory stands for all that lies in it.
/// A file that the user named itself is not held against globs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "each is one independent switch of the command line")]
pub struct ScanOptions {
    /// Files whose names say secret enter too, and secrets in text stay as they are. Off unless a person asked for it.
    pub allow_secrets: bool,
    /// The same, only for the files that these globs match.
    pub allow_secret_globs: Vec<String>,
    /// Only what these globs match; empty means all. They beat the default exclusions, never secrets.
    pub include: Vec<String>,
    /// Nothing that these globs match; they beat `include`.
    pub exclude: Vec<String>,
    /// Whether directories below a directory are entered.
    pub recursive: bool,
    /// Whether `.gitignore` and `.ignore` files are obeyed.
    pub gitignore: bool,
    /// How many documents at most, over all sources; 0 is all. What is left out is listed in the reports.
    pub files_max: u64,
    /// Which files stay when there are more than `files_max`.
    pub order: FileOrder,
    /// Whether HTML is read as Markdown instead of as it is.
    pub extract_html: bool,
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
        }
    }
}

/// Which files come first when not all may stay. The corpus itself is sorted by name whatever the order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileOrder {
    /// The largest first.
    #[default]
    Size,
    /// By name.
    Path,
    /// What explains the rest first: a readme, then manifests, then configuration, then source code, then everything
    /// else. Within each, those nearer to the root first, then by name.
    Priority,
}

impl FileOrder {
    /// Every order, in the order of help.
    pub const ALL: [Self; 3] = [Self::Size, Self::Path, Self::Priority];

    /// The name in flags and events.
    pub fn name(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::Path => "path",
            Self::Priority => "priority",
        }
    }
}

/// How a frame answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// One call with everything that fits; the best passages where not all of it does.
    Direct,
    /// The recursive loop: the model writes code that explores the text, and asks sub-models about parts of it.
    Repl,
    /// An index finds passages, and one call answers from them.
    Search,
    /// Every part is read by the analyst that fits it, and what they find is put together.
    Map,
    /// The same over the parts that share words with the question.
    Hybrid,
    /// The model works with tools on files of its own, and writes its answer into one.
    Agent,
    /// Reads one part, within `map`.
    Analyst,
    /// Puts findings together, within `map`.
    Synthesis,
    /// A program of the caller's own, driven through the same frames (see `Engine::start_program`).
    Program,
}

impl Strategy {
    /// The name in flags, settings and events.
    pub fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Repl => "repl",
            Self::Search => "search",
            Self::Map => "map",
            Self::Hybrid => "hybrid",
            Self::Agent => "agent",
            Self::Analyst => "analyst",
            Self::Synthesis => "synthesis",
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
            "repl" => Ok(Self::Repl),
            "search" => Ok(Self::Search),
            "map" => Ok(Self::Map),
            "hybrid" => Ok(Self::Hybrid),
            "agent" => Ok(Self::Agent),
            "analyst" => Ok(Self::Analyst),
            "synthesis" => Ok(Self::Synthesis),
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

/// Whom a run may ask besides its root's model and that of its sub-calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherModels {
    /// Who puts findings together, if not the root's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synthesis: Option<ModelRef>,
    /// The names under which code can ask other models.
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
