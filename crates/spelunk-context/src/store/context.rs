//! The parts of a context: its id, what is known about it, and the description from which one is registered.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::name::{printable_text, shortened};
use crate::store::{Context, ContextKind, ContextSource, IdFault, LoadPolicy, StoreError};
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
            Some(why) => Err(StoreError::BadId { id: shortened(&printable_text(id), 60), why }),
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
    } else if printable_text(id) != id {
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

impl Context {
    /// The size of its source at the last access; 0 before the first.
    pub(super) fn size_bytes(&self) -> u64 {
        self.revision.as_ref().map_or(0, |revision| revision.size_bytes)
    }

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

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
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

impl ContextSource {
    /// The path of a file, the only source that changes by itself.
    pub(super) fn file(&self) -> Option<&Path> {
        if let Self::File(path) = self { Some(path) } else { None }
    }

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
