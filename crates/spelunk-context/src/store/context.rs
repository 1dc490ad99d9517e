//! The context: a named handle on explorable content. It holds everything that is known about the content and none of
//! the content itself.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::store::{ContextKind, IdFault, LoadPolicy, StoreError};
use crate::{ContentType, Structure};

/// The id of a context: 1 to 200 bytes on one line, without space at its ends, and none of the reserved words.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContextId(Arc<str>);

impl ContextId {
    /// The longest id.
    pub const BYTES_MAX: usize = 200;
    /// Words that stand where an id stands in the addresses of the HTTP server.
    pub const RESERVED: [&str; 3] = ["register", "search", "stats"];

    /// Checks the rules.
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
    /// For people.
    pub name: String,
    /// Its role.
    pub kind: ContextKind,
    /// How its text is written, if whoever registered it knew.
    pub content_type: Option<String>,
    /// Where the text comes from.
    pub source: ContextSource,
    /// Whatever else is known.
    pub metadata: Metadata,
    /// How long its text may be used again.
    pub policy: LoadPolicy,
    /// When it was registered or replaced.
    pub registered_at_ms: u64,
    /// What the text was like when it was last looked at; `None` before the first time.
    pub revision: Option<ContextRevision>,
    /// How often it was looked at.
    pub access: AccessCounts,
}

impl Context {
    /// How regular its text is, as far as its content type tells. A type that only the user knows may be anything.
    pub fn structure(&self) -> Option<Structure> {
        let content_type = self.content_type.as_deref()?;
        Some(ContentType::from_name(content_type).map_or(Structure::Mixed, ContentType::structure))
    }
}

/// What else is known of a context, in the order of its keys. A map would take half a kilobyte for two entries.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Metadata(Box<[(Box<str>, Box<str>)]>);

impl Metadata {
    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.iter().find(|(own, _)| *own == key).map(|(_, value)| value)
    }

    /// All of them.
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
    /// Text that was given when the context was registered.
    Inline {
        /// Its BLAKE3 digest, hexadecimal.
        digest: String,
        /// Its length.
        size_bytes: u64,
    },
    /// A function of this process.
    Loader {
        /// Under which it is registered, in every process anew.
        name: String,
    },
    /// Something that is neither a file nor ours to fetch. A loader of the same name reads it.
    Uri {
        /// With its scheme.
        uri: String,
    },
}

/// What a text was like when it was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContextRevision {
    /// The size of its source.
    pub size_bytes: u64,
    /// When a file was last written.
    pub modified_ms: Option<u64>,
    /// BLAKE3 of its bytes, hexadecimal, once somebody asked for it.
    pub digest: Option<String>,
}

/// How often a context was looked at, over all processes that saved their counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AccessCounts {
    /// Peeks.
    pub peeks: u64,
    /// Greps, searches over all contexts included.
    pub greps: u64,
    /// Pages.
    pub pages: u64,
    /// Loads of the whole.
    pub loads: u64,
    /// The last of them.
    pub last_accessed_ms: Option<u64>,
}

impl AccessCounts {
    pub(crate) fn add(&mut self, more: &Self) {
        self.peeks = self.peeks.saturating_add(more.peeks);
        self.greps = self.greps.saturating_add(more.greps);
        self.pages = self.pages.saturating_add(more.pages);
        self.loads = self.loads.saturating_add(more.loads);
        self.last_accessed_ms = self.last_accessed_ms.max(more.last_accessed_ms);
    }
}

/// What it takes to register a context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewContext {
    /// Unique in the store.
    pub id: ContextId,
    /// For people. At most 200 characters.
    pub name: String,
    /// Its role.
    pub kind: ContextKind,
    /// How its text is written, if known.
    pub content_type: Option<String>,
    /// Where the text comes from.
    pub source: NewSource,
    /// At most 64 entries of 100 bytes for a key and 2000 for a value.
    pub metadata: BTreeMap<String, String>,
    /// `None` takes the policy of the kind.
    pub policy: Option<LoadPolicy>,
}

impl NewContext {
    /// A context with the name of its id, the kind's policy and nothing else known.
    pub fn new(id: ContextId, kind: ContextKind, source: NewSource) -> Self {
        let name = id.as_str().to_owned();
        Self { id, name, kind, content_type: None, source, metadata: BTreeMap::new(), policy: None }
    }
}

/// Where the text of a new context comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewSource {
    /// A file. It must be there, and be a file.
    File(PathBuf),
    /// The text itself.
    Inline(String),
    /// A function that is, or will be, registered under this name.
    Loader(String),
    /// An address with a scheme. `file:` is read as a file.
    Uri(String),
}
