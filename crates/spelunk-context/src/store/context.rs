//! The context: a named handle on explorable content. It holds all that is known about it, but no text.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::store::{AccessCounts, ContextKind, ContextRevision, IdFault, LoadPolicy, StoreError};
use crate::{ContentType, Structure};

/// The id of a context: 1 to 200 bytes on one line, without leading or trailing whitespace, and not a reserved word.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContextId(Arc<str>);

impl ContextId {
    /// The maximum length of an id.
    pub const BYTES_MAX: usize = 200;
    /// Words that occur in place of an id in the URLs of the HTTP server.
    pub const RESERVED: [&str; 3] = ["register", "search", "stats"];

    /// Validates an id.
    pub fn new(id: impl AsRef<str>) -> Result<Self, StoreError> {
        let id = id.as_ref();
        match fault_of(id) {
            None => Ok(Self(id.into())),
            Some(why) => {
                let printable = crate::name::printable_text(id);
                Err(StoreError::BadId { id: crate::name::shortened(&printable, 60).into_owned(), why })
            }
        }
    }

    /// The id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn fault_of(id: &str) -> Option<IdFault> {
    if id.is_empty() {
        Some(IdFault::Empty)
    } else if id.len() > ContextId::BYTES_MAX {
        Some(IdFault::TooLong)
    } else if id.trim() != id {
        Some(IdFault::SpaceAtTheEnds)
    } else if crate::name::printable_text(id) != id {
        Some(IdFault::Control)
    } else if ContextId::RESERVED.contains(&id) {
        Some(IdFault::Reserved)
    } else {
        None
    }
}

impl fmt::Display for ContextId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Borrow<str> for ContextId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// A named handle on explorable content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// Unique in its store.
    pub id: ContextId,
    /// The display name.
    pub name: String,
    /// Its role.
    pub kind: ContextKind,
    /// The format of its text, if the registrant knew it.
    pub content_type: Option<String>,
    /// Where the text comes from.
    pub source: ContextSource,
    /// Other known facts.
    pub metadata: Metadata,
    /// How long its text may be reused.
    pub policy: LoadPolicy,
    /// When it was registered or replaced.
    pub registered_at_ms: u64,
    /// The state of the text at the last access; `None` before the first.
    pub revision: Option<ContextRevision>,
    /// How often it was accessed.
    pub access: AccessCounts,
}

impl Context {
    /// How regular its text is, by its content type; `None` without one. An unknown type counts as mixed.
    pub fn structure(&self) -> Option<Structure> {
        let content_type = self.content_type.as_deref()?;
        Some(ContentType::from_name(content_type).map_or(Structure::Mixed, ContentType::structure))
    }
}

/// Other facts about a context, sorted by key. A map would take half a kilobyte for two entries.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Metadata(Box<[(Box<str>, Box<str>)]>);

impl Metadata {
    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.iter().find(|(own, _)| *own == key).map(|(_, value)| value)
    }

    /// All entries.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (&**key, &**value))
    }
}

impl From<BTreeMap<String, String>> for Metadata {
    fn from(map: BTreeMap<String, String>) -> Self {
        Self(map.into_iter().map(|(key, value)| (key.into(), value.into())).collect())
    }
}

/// Where the text of a context comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContextSource {
    /// A file, by its absolute path.
    File {
        /// Links in it are resolved when it is read.
        path: PathBuf,
    },
    /// Text supplied at registration.
    Inline {
        /// Its BLAKE3 digest in hexadecimal.
        digest: String,
        /// Its length.
        size_bytes: u64,
    },
    /// A function of this process.
    Loader {
        /// The name under which every process must add it again.
        name: String,
    },
    /// Something that is neither a file nor fetched by the store. A loader of the same name reads it.
    Uri {
        /// With its scheme.
        uri: String,
    },
}

impl ContextSource {
    /// The path of a file, the only source that changes by itself.
    pub(super) fn file(&self) -> Option<&Path> {
        if let Self::File { path } = self { Some(path) } else { None }
    }

    /// The digest of a text supplied at registration.
    pub(super) fn inline_digest(&self) -> Option<&str> {
        if let Self::Inline { digest, .. } = self { Some(digest) } else { None }
    }
}

/// The description of a context to register.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewContext {
    /// Unique in the store.
    pub id: ContextId,
    /// The display name, at most 200 characters.
    pub name: String,
    /// Its role.
    pub kind: ContextKind,
    /// The format of its text, if known.
    pub content_type: Option<String>,
    /// Where the text comes from.
    pub source: NewSource,
    /// At most 64 entries, with keys up to 100 bytes and values up to 2000.
    pub metadata: BTreeMap<String, String>,
    /// `None` uses the policy of the kind.
    pub policy: Option<LoadPolicy>,
}

impl NewContext {
    /// A context named after its id, with the kind's policy and no further facts.
    pub fn new(id: ContextId, kind: ContextKind, source: NewSource) -> Self {
        let name = id.as_str().to_owned();
        Self { id, name, kind, content_type: None, source, metadata: BTreeMap::new(), policy: None }
    }
}

/// Where the text of a new context comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewSource {
    /// A regular file that exists.
    File(PathBuf),
    /// The text itself.
    Inline(String),
    /// A function registered under this name, now or later.
    Loader(String),
    /// An address with a scheme. A `file:` URI is read as a file.
    Uri(String),
}
