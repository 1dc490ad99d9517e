//! Content types: what kind of text a document is, told by its name, its extension or its first lines. A content type
//! is a format; it decides how a document is cut and which analyst reads it. What a context is for is another matter.

use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};
use regex::Regex;

mod language;
mod name;
mod sniff;

pub use language::Language;

/// The format of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ContentType {
    /// Programs.
    SourceCode,
    /// Tables: CSV, TSV.
    StructuredData,
    /// One JSON value.
    Json,
    /// One JSON value per line.
    Jsonl,
    /// Records with a time.
    Log,
    /// Text for people.
    Prose,
    /// Text in tags.
    Markup,
    /// Settings and build rules.
    Config,
    /// None of these.
    Unknown,
}

impl ContentType {
    /// Every type, in the order of reports.
    pub const ALL: [Self; 9] = [
        Self::SourceCode,
        Self::StructuredData,
        Self::Json,
        Self::Jsonl,
        Self::Log,
        Self::Prose,
        Self::Markup,
        Self::Config,
        Self::Unknown,
    ];

    /// The word for it in settings and reports: `source_code`.
    pub fn name(self) -> &'static str {
        match self {
            Self::SourceCode => "source_code",
            Self::StructuredData => "structured_data",
            Self::Json => "json",
            Self::Jsonl => "jsonl",
            Self::Log => "log",
            Self::Prose => "prose",
            Self::Markup => "markup",
            Self::Config => "config",
            Self::Unknown => "unknown",
        }
    }

    /// The type of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|content_type| content_type.name() == name)
    }

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
    /// Fields all the way.
    Structured,
    /// Sentences.
    Unstructured,
    /// Both.
    Mixed,
}

impl Structure {
    /// The word for it in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Structured => "structured",
            Self::Unstructured => "unstructured",
            Self::Mixed => "mixed",
        }
    }
}

/// What told the type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Via {
    /// The whole file name: `Makefile`.
    Name,
    /// The extension.
    Extension,
    /// The first lines.
    Sniffed,
    /// The user, for this file.
    Override,
    /// The user, with a type of their own.
    Custom,
}

impl Via {
    /// The word for it in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Extension => "extension",
            Self::Sniffed => "sniffing",
            Self::Override => "override",
            Self::Custom => "custom",
        }
    }
}

/// What is known about the format of one document.
#[derive(Debug, Clone)]
pub struct Detected {
    /// The format; of a custom kind, the one it is based on.
    pub content_type: ContentType,
    /// What told it.
    pub via: Via,
    /// The language of source code, where it is known.
    pub language: Option<Language>,
    /// The user's own kind, where one applies.
    pub custom: Option<Arc<CustomKind>>,
}

/// A content type that the user defined.
#[derive(Debug, Clone)]
pub struct CustomKind {
    /// The word for it in reports: `protobuf`.
    pub name: String,
    /// In lower case, without the dot.
    pub extensions: Vec<String>,
    /// Whole file names.
    pub names: Vec<String>,
    /// The type whose rules hold where this kind has none of its own.
    pub base: ContentType,
    /// A line that matches begins something that should stay whole.
    pub boundary: Option<Regex>,
    /// Lines of a chunk.
    pub target_lines: Option<u64>,
    /// What an analyst is told beyond the ordinary.
    pub analyst_prompt: Option<String>,
}

/// A word of the user's about types that cannot be taken.
#[derive(Debug, thiserror::Error)]
pub enum BadOverride {
    /// The pattern for names cannot be read.
    #[error("`{pattern}` is not a pattern for file names")]
    Pattern {
        /// As the user wrote it.
        pattern: String,
        /// What is wrong with it.
        #[source]
        source: globset::Error,
    },
    /// There is no type of that name, neither built in nor the user's own.
    #[error("there is no content type `{name}`")]
    UnknownType {
        /// As the user wrote it.
        name: String,
    },
}

/// Tells content types. The user's word goes before every rule, and a custom kind before the built-in ones.
#[derive(Debug, Clone, Default)]
pub struct Detector {
    overrides: Vec<(GlobMatcher, Told)>,
    custom: Vec<Arc<CustomKind>>,
}

/// What the user says that files are.
#[derive(Debug, Clone)]
enum Told {
    BuiltIn(ContentType),
    Own(Arc<CustomKind>),
}

impl Detector {
    /// Lines of a document that are looked at.
    pub const SNIFF_LINES_MAX: usize = 50;

    /// Documents whose names match are of the type of that name, built in or added before. `*` stays inside a
    /// directory, `**` does not; a pattern without `/` matches the file name alone. The first pattern that matches wins.
    pub fn with_override(mut self, pattern: &str, type_name: &str) -> Result<Self, BadOverride> {
        let own = self.custom.iter().find(|kind| kind.name == type_name);
        let told = own.map(|kind| Told::Own(Arc::clone(kind)));
        let told = told.or_else(|| ContentType::from_name(type_name).map(Told::BuiltIn));
        let told = told.ok_or_else(|| BadOverride::UnknownType { name: type_name.to_owned() })?;
        let anywhere = if pattern.contains('/') { pattern.to_owned() } else { format!("**/{pattern}") };
        let glob = GlobBuilder::new(&anywhere).literal_separator(true).build();
        let glob = glob.map_err(|source| BadOverride::Pattern { pattern: pattern.to_owned(), source })?;
        self.overrides.push((glob.compile_matcher(), told));
        Ok(self)
    }

    /// The names of all types, the user's own first.
    pub fn type_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.custom.iter().map(|kind| kind.name.as_str()).collect();
        names.extend(ContentType::ALL.map(ContentType::name));
        names
    }

    /// Adds a kind. Of two kinds that claim a name, the first wins.
    #[must_use]
    pub fn with_custom(mut self, kind: CustomKind) -> Self {
        self.custom.push(Arc::new(kind));
        self
    }

    /// What a document is. `text` may be only its beginning: 50 lines are looked at, and no more than 64 KiB.
    pub fn detect(&self, name: &str, text: &str) -> Detected {
        let head = sniff::Head::of(text);
        let file_name = name.rsplit('/').next().unwrap_or(name);
        let language = name::language_of(file_name);
        if let Some((_, told)) = self.overrides.iter().find(|(glob, _)| glob.is_match(name)) {
            let (content_type, custom) = match told {
                Told::BuiltIn(content_type) => (*content_type, None),
                Told::Own(kind) => (kind.base, Some(Arc::clone(kind))),
            };
            return Detected { content_type, via: Via::Override, language, custom };
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

/// The language of a document, by its name.
pub(crate) fn language_of(name: &str) -> Option<Language> {
    name::language_of(name.rsplit('/').next().unwrap_or(name))
}

impl CustomKind {
    fn claims(&self, file_name: &str) -> bool {
        let extension = name::extension_of(file_name);
        self.names.iter().any(|name| name == file_name)
            || self.extensions.iter().any(|own| Some(own) == extension.as_ref())
    }
}

/// The extension where it is to be trusted, and else what the first lines say.
fn by_extension_or_text(file_name: &str, head: &sniff::Head<'_>) -> (ContentType, Via) {
    let Some(known) = name::extension_of(file_name).and_then(|extension| name::type_of_extension(&extension))
    else {
        return (head.content_type().unwrap_or(ContentType::Unknown), Via::Sniffed);
    };
    let sniffed = match known.confidence {
        name::Confidence::High => None,
        // Comments in settings look like headings and tags like anything; only what parses or repeats is believed.
        name::Confidence::Medium => head
            .content_type()
            .filter(|found| matches!(found, ContentType::Json | ContentType::Jsonl | ContentType::Log)),
        // The output of a program may read like sentences and still be a log.
        name::Confidence::Low => head.content_type().filter(|found| {
            let is_weak = matches!(found, ContentType::Prose | ContentType::SourceCode);
            known.content_type != ContentType::Log || !is_weak
        }),
    };
    match sniffed {
        Some(found) if found != known.content_type => (found, Via::Sniffed),
        Some(_) | None => (known.content_type, Via::Extension),
    }
}

#[cfg(test)]
mod tests;
