//! Content types: the format of a document, determined by its name, its extension or its first lines. The content type
//! decides how a document is split and which analyst reads it. The role of a context is unrelated; see `store/kind.rs`.

use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};
use regex::Regex;
use spelunk_types::named;

pub(crate) mod delimited;
mod log_line;
mod name;
mod sniff;

pub(crate) use log_line::is_log_start;

/// The format of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContentType {
    /// Source code.
    SourceCode,
    /// Tables: CSV, TSV.
    StructuredData,
    /// One JSON value.
    Json,
    /// One JSON value per line.
    Jsonl,
    /// Records with a timestamp.
    Log,
    /// Natural language.
    Prose,
    /// Text in tags.
    Markup,
    /// Settings and build rules.
    Config,
    /// None of these.
    Unknown,
}

named! { ContentType {
    SourceCode = "source_code", StructuredData = "structured_data", Json = "json", Jsonl = "jsonl", Log = "log",
    Prose = "prose", Markup = "markup", Config = "config", Unknown = "unknown",
} }

impl ContentType {
    /// How regular its text is.
    pub fn structure(self) -> Structure {
        match self {
            Self::StructuredData | Self::Json | Self::Jsonl | Self::Config => Structure::Structured,
            Self::Prose => Structure::Unstructured,
            Self::SourceCode | Self::Log | Self::Markup | Self::Unknown => Structure::Mixed,
        }
    }
}

/// How regular a text is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Structure {
    /// Only fields.
    Structured,
    /// Sentences.
    Unstructured,
    /// Both.
    Mixed,
}

named! { Structure { Structured = "structured", Unstructured = "unstructured", Mixed = "mixed" } }

/// How the type was determined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Via {
    /// By the whole file name: `Makefile`.
    Name,
    /// By the extension.
    Extension,
    /// By the first lines.
    Sniffed,
    /// By the user, for this file.
    Override,
    /// By a custom kind.
    Custom,
}

named! { Via {
    Name = "name", Extension = "extension", Sniffed = "sniffing", Override = "override", Custom = "custom",
} }

/// What is known about the format of one document.
#[derive(Debug, Clone)]
pub struct Detected {
    /// The format; for a custom kind, its base type.
    pub content_type: ContentType,
    /// How it was determined.
    pub via: Via,
    /// The language of source code, if known: `c_sharp`.
    pub language: Option<&'static str>,
    /// The user's custom kind, if one applies.
    pub custom: Option<Arc<CustomKind>>,
}

/// A content type that the user defined.
#[derive(Debug, Clone)]
pub struct CustomKind {
    /// The name in reports: `protobuf`.
    pub name: String,
    /// In lower case, without the dot.
    pub extensions: Vec<String>,
    /// Whole file names.
    pub names: Vec<String>,
    /// The type whose rules apply where this kind has none of its own.
    pub base: ContentType,
    /// A matching line begins a unit that should stay whole.
    pub boundary: Option<Regex>,
    /// The target size of a chunk in lines.
    pub target_lines: Option<u64>,
    /// Additional instructions for an analyst.
    pub analyst_prompt: Option<String>,
}

/// An invalid type override.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum BadOverride {
    #[error("`{argument}` does not have the form GLOB=TYPE")]
    Form { argument: String },
    #[error("`{pattern}` is not a valid file name pattern")]
    Pattern {
        pattern: String,
        #[source]
        source: globset::Error,
    },
    #[error("there is no content type `{name}`")]
    UnknownType { name: String },
}

/// Detects content types. An override takes precedence over every rule, and a custom kind over the built-in ones.
#[derive(Debug, Clone, Default)]
pub struct Detector {
    /// The types that the user assigned to files, built in or custom.
    overrides: Vec<(GlobMatcher, ContentType, Option<Arc<CustomKind>>)>,
    custom: Vec<Arc<CustomKind>>,
}

impl Detector {
    /// The number of lines of a document that are examined.
    pub const SNIFF_LINES_MAX: usize = 50;

    /// Assigns the named type, built in or added before, to documents whose names match. `*` stays inside a directory,
    /// `**` does not; a pattern without `/` matches only the file name. The first matching pattern wins.
    pub fn with_override(mut self, pattern: &str, type_name: &str) -> Result<Self, BadOverride> {
        let custom = self.custom.iter().find(|kind| kind.name == type_name).cloned();
        let content_type =
            custom.as_ref().map(|kind| kind.base).or_else(|| ContentType::from_name(type_name));
        let content_type =
            content_type.ok_or_else(|| BadOverride::UnknownType { name: type_name.to_owned() })?;
        let anywhere = if pattern.contains('/') { pattern.to_owned() } else { format!("**/{pattern}") };
        let glob = GlobBuilder::new(&anywhere).literal_separator(true).build();
        let glob = glob.map_err(|source| BadOverride::Pattern { pattern: pattern.to_owned(), source })?;
        self.overrides.push((glob.compile_matcher(), content_type, custom));
        Ok(self)
    }

    /// Assigns types as users write them: `GLOB=TYPE`.
    pub fn with_overrides(self, overrides: &[String]) -> Result<Self, BadOverride> {
        overrides.iter().try_fold(self, |detector, argument| match argument.rsplit_once('=') {
            Some((pattern, name)) => detector.with_override(pattern, name),
            None => Err(BadOverride::Form { argument: argument.clone() }),
        })
    }

    /// The names of all types, custom kinds first.
    pub fn type_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.custom.iter().map(|kind| kind.name.as_str()).collect();
        names.extend(ContentType::ALL.map(ContentType::name));
        names
    }

    /// Adds a kind. If two kinds claim a name, the first wins.
    #[must_use]
    pub fn with_custom(mut self, kind: CustomKind) -> Self {
        self.custom.push(Arc::new(kind));
        self
    }

    /// Detects the format of a document. `text` may be only its beginning: at most 50 lines and 64 KiB are examined.
    pub fn detect(&self, name: &str, text: &str) -> Detected {
        let head = sniff::Head::of(text);
        let file_name = name.rsplit('/').next().unwrap_or(name);
        let language = name::language_of(file_name);
        let assigned = self.overrides.iter().find(|(glob, ..)| glob.is_match(name));
        if let Some(&(_, content_type, ref custom)) = assigned {
            return Detected { content_type, via: Via::Override, language, custom: custom.clone() };
        }
        if let Some(kind) = self.custom.iter().find(|kind| kind.claims(file_name)) {
            let custom = Some(Arc::clone(kind));
            return Detected { content_type: kind.base, via: Via::Custom, language, custom };
        }
        let file_name = name::without_copy_suffix(file_name);
        let language = name::language_of(file_name);
        if let Some(content_type) = name::type_of_name(file_name) {
            return Detected { content_type, via: Via::Name, language, custom: None };
        }
        let (content_type, via) = by_extension_or_text(file_name, &head);
        let language = match (content_type, via) {
            (ContentType::SourceCode, Via::Sniffed) => head.language(),
            _ => language,
        };
        Detected { content_type, via, language, custom: None }
    }
}

impl CustomKind {
    fn claims(&self, file_name: &str) -> bool {
        let extension = name::extension_of(file_name);
        self.names.iter().any(|name| name == file_name)
            || self.extensions.iter().any(|own| Some(own) == extension.as_ref())
    }
}

/// The extension if it is trusted, otherwise the first lines decide.
fn by_extension_or_text(file_name: &str, head: &sniff::Head<'_>) -> (ContentType, Via) {
    let Some((known, confidence)) =
        name::extension_of(file_name).and_then(|extension| name::type_of_extension(&extension))
    else {
        return (head.content_type().unwrap_or(ContentType::Unknown), Via::Sniffed);
    };
    let sniffed = match confidence {
        name::Confidence::High => None,
        // Comments in settings look like headings, and tags like anything; only text that parses or repeats counts.
        name::Confidence::Medium => head
            .content_type()
            .filter(|found| matches!(found, ContentType::Json | ContentType::Jsonl | ContentType::Log)),
        // Program output may read like sentences and still be a log.
        name::Confidence::Low => head.content_type().filter(|found| {
            let is_weak = matches!(found, ContentType::Prose | ContentType::SourceCode);
            known != ContentType::Log || !is_weak
        }),
    };
    match sniffed {
        Some(found) if found != known => (found, Via::Sniffed),
        Some(_) | None => (known, Via::Extension),
    }
}

#[cfg(test)]
mod tests;
