//! The registry's file format: a JSON object with `version`, `updated_at_ms` and `contexts`, one context per line so
//! that a damaged line costs one context. Also the lines of the access log and the records of a memory graph file.
//! Formats are stable: a field never changes its meaning.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::path::PathBuf;

use serde::de::{Deserializer, Error as _};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use crate::store::{ContextId, ContextKind, Metadata};

/// The version that this engine writes, and the newest that it reads.
pub(crate) const VERSION: u64 = 1;

#[derive(Debug, Default)]
pub(crate) struct Parsed {
    pub(crate) contexts: Vec<Context>,
    /// Entries that could not be parsed. 0 for an undamaged file.
    pub(crate) n_lost: usize,
    /// Whether the file as a whole is JSON in our format.
    pub(crate) is_whole: bool,
    pub(crate) version: Option<u64>,
}

pub(crate) fn registry_bytes<'a>(
    updated_at_ms: u64,
    contexts: impl Iterator<Item = &'a Context>,
) -> serde_json::Result<Vec<u8>> {
    let mut bytes =
        format!("{{\"version\":{VERSION},\"updated_at_ms\":{updated_at_ms},\"contexts\":[").into_bytes();
    for (idx, context) in contexts.enumerate() {
        bytes.extend_from_slice(if idx > 0 { b",\n" } else { b"\n" });
        serde_json::to_writer(&mut bytes, context)?;
    }
    bytes.extend_from_slice(b"\n]}\n");
    Ok(bytes)
}

/// Parses as much as possible. A file that is not valid JSON as a whole is parsed line by line.
pub(crate) fn parse_registry(bytes: &[u8]) -> Parsed {
    // The usual case, parsed directly; then a file with invalid entries.
    if let Ok(file) = serde_json::from_slice::<File<Context>>(bytes) {
        return Parsed::of(file.version, file.contexts.into_iter().map(Some));
    }
    match serde_json::from_slice::<File<serde_json::Value>>(bytes) {
        Ok(file) => {
            let context = |value: serde_json::Value| {
                let other = || serde_json::from_value::<OtherLine>(value.clone()).ok()?.into_context();
                serde_json::from_value(value.clone()).ok().or_else(other)
            };
            Parsed::of(file.version, file.contexts.into_iter().map(context))
        }
        Err(_) => salvage(bytes),
    }
}

/// Parses every line that is a valid context by itself. The first line holds the version, the last closes the list.
fn salvage(bytes: &[u8]) -> Parsed {
    // A newer registry may have another format, but still declares its version.
    let mut parsed = Parsed::default();
    if let Ok(head) = serde_json::from_slice::<Head>(bytes)
        && head.version > VERSION
    {
        parsed.version = Some(head.version);
        return parsed;
    }
    for (idx, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let line = line.trim_ascii();
        let line = line.strip_suffix(b",").unwrap_or(line);
        if idx == 0 {
            let closed = [line, b"]}"].concat();
            parsed.version = serde_json::from_slice::<Head>(&closed).ok().map(|head| head.version);
        } else if !line.is_empty() && line != b"]}" {
            parsed.take(serde_json::from_slice(line).ok());
        }
    }
    parsed.without_repetition()
}

impl Parsed {
    fn of(version: u64, contexts: impl Iterator<Item = Option<Context>>) -> Self {
        let mut parsed = Self { is_whole: true, version: Some(version), ..Self::default() };
        contexts.for_each(|context| parsed.take(context));
        parsed.without_repetition()
    }

    pub(crate) fn is_undamaged(&self) -> bool {
        self.is_whole && self.n_lost == 0
    }

    fn take(&mut self, context: Option<Context>) {
        match context.filter(|context| context.policy.is_durable()) {
            Some(context) => self.contexts.push(context),
            None => self.n_lost += 1,
        }
    }

    /// Of two contexts with the same id, keeps the later one at the position of the first.
    fn without_repetition(mut self) -> Self {
        let mut places: HashMap<ContextId, usize> = HashMap::with_capacity(self.contexts.len());
        let mut kept: Vec<Context> = Vec::with_capacity(self.contexts.len());
        for context in self.contexts {
            match places.get(context.id.as_str()) {
                Some(&place) => {
                    kept[place] = context;
                    self.n_lost += 1;
                }
                None => {
                    places.insert(context.id.clone(), kept.len());
                    kept.push(context);
                }
            }
        }
        self.contexts = kept;
        self
    }
}

#[derive(Deserialize)]
struct File<T> {
    version: u64,
    contexts: Vec<T>,
}

#[derive(Deserialize)]
struct Head {
    version: u64,
}

/// A named handle on explorable content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Context {
    /// Unique in its store.
    pub id: ContextId,
    /// The display name.
    pub name: String,
    /// Its role.
    #[serde(serialize_with = "as_text", deserialize_with = "kind")]
    pub kind: ContextKind,
    /// The format of its text, if the registrant knew it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// Where the text comes from.
    pub source: ContextSource,
    /// Other known facts.
    #[serde(default, skip_serializing_if = "Metadata::is_empty")]
    pub metadata: Metadata,
    /// How long its text may be reused.
    pub policy: LoadPolicy,
    /// When it was registered or replaced.
    pub registered_at_ms: u64,
    /// The state of the text at the last access; `None` before the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<ContextRevision>,
    /// How often it was accessed.
    #[serde(default, skip_serializing_if = "AccessCounts::is_none")]
    pub access: AccessCounts,
}

/// A context in the format of similar programs.
#[derive(Deserialize)]
struct OtherLine {
    id: String,
    name: String,
    #[serde(rename = "type")]
    kind: String,
    source_path: String,
    #[serde(default)]
    metadata: BTreeMap<String, serde_json::Value>,
}

impl OtherLine {
    fn into_context(self) -> Option<Context> {
        let Self { id, name, kind, source_path, metadata } = self;
        let source = if source_path.contains("://") {
            ContextSource::Uri(source_path)
        } else if source_path.starts_with('<') {
            ContextSource::Loader(id.clone())
        } else {
            ContextSource::File(source_path.into())
        };
        let text = |value: serde_json::Value| {
            if let serde_json::Value::String(text) = value { text } else { value.to_string() }
        };
        let metadata: BTreeMap<String, String> =
            metadata.into_iter().map(|(key, value)| (key, text(value))).collect();
        let kind = ContextKind::from_name(&kind)?;
        // Those programs store session contexts in the file, too.
        let policy = Some(kind.default_policy()).filter(|policy| policy.is_durable());
        Some(Context {
            id: ContextId::new(id).ok()?,
            name,
            kind,
            content_type: None,
            source,
            metadata: metadata.into(),
            policy: policy.unwrap_or(LoadPolicy::Lazy),
            registered_at_ms: 0,
            revision: None,
            access: AccessCounts::default(),
        })
    }
}

/// Where the text of a context comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ContextSource {
    /// A file, by its absolute path, which is Unicode: others are refused at registration. Links in it are resolved
    /// when it is read.
    File(PathBuf),
    /// Text supplied at registration.
    Inline {
        /// Its BLAKE3 digest in hexadecimal.
        #[serde(deserialize_with = "digest")]
        digest: String,
        /// Its length.
        size_bytes: u64,
    },
    /// A function of this process, by the name under which every process must add it again.
    Loader(String),
    /// Something that is neither a file nor fetched by the store. A loader of the same name reads it.
    Uri(String),
}

/// How long an obtained text may be reused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoadPolicy {
    /// Loaded at the first access of any sort, and evicted last.
    Hot,
    /// Loaded on demand, cached while there is room and the source is unchanged.
    Lazy,
    /// Obtained again at every access, except for pages after the first, so that pages fit together.
    Refresh,
    /// Reused for this long after loading. An inline text cannot be obtained again: it expires this long after it was
    /// registered.
    TtlMs(u64),
    /// Lives as long as the store it was registered in, and is not written to the registry.
    Session,
    /// Obtained again at every access, and never cached.
    Query,
}

/// The state of a text when it was accessed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextRevision {
    /// The size of its source.
    pub size_bytes: u64,
    /// The modification time of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified_ms: Option<u64>,
    /// BLAKE3 of its bytes in hexadecimal, if it was needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

/// How often a context was accessed, over all processes that saved their counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AccessCounts {
    /// Peeks.
    pub peeks: u64,
    /// Greps, including searches over all contexts.
    pub greps: u64,
    /// Pages.
    pub pages: u64,
    /// Loads of the whole text.
    pub loads: u64,
    /// The time of the last access.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_accessed_ms: Option<u64>,
}

impl AccessCounts {
    fn is_none(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn add(&mut self, more: &Self) {
        self.peeks = self.peeks.saturating_add(more.peeks);
        self.greps = self.greps.saturating_add(more.greps);
        self.pages = self.pages.saturating_add(more.pages);
        self.loads = self.loads.saturating_add(more.loads);
        self.last_accessed_ms = self.last_accessed_ms.max(more.last_accessed_ms);
    }
}

impl Serialize for ContextId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ContextId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl Serialize for Metadata {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Metadata {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        BTreeMap::deserialize(deserializer).map(Self::from)
    }
}

fn as_text<S: Serializer>(value: &impl fmt::Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

fn kind<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ContextKind, D::Error> {
    let name = String::deserialize(deserializer)?;
    ContextKind::from_name(&name).ok_or_else(|| D::Error::custom("it is not a kind"))
}

/// The digest becomes a file name: accept nothing but a digest.
fn digest<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    let is_digest = text.len() == 64 && text.bytes().all(is_digit);
    if is_digest { Ok(text) } else { Err(D::Error::custom("it is not a digest")) }
}

/// The kind of access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Action {
    List,
    Peek,
    Grep,
    Page,
    Load,
    Search,
}

spelunk_types::named! { Action {
    List = "list", Peek = "peek", Grep = "grep", Page = "page", Load = "load", Search = "search",
} }

/// One access.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessEntry {
    /// The time of access.
    pub at_ms: u64,
    /// The kind of access.
    pub action: Action,
    /// The context accessed; `None` for all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<ContextId>,
    /// The pattern or page, at most 200 characters.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

pub(crate) fn access_lines(entries: &[AccessEntry]) -> String {
    entries.iter().filter_map(|entry| serde_json::to_string(entry).ok()).map(|line| line + "\n").collect()
}

/// The entries of an access log. A line that was cut off by a crash is left out.
pub(crate) fn parse_accesses(bytes: &[u8]) -> Vec<AccessEntry> {
    bytes.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

#[derive(Debug, Deserialize)]
pub(crate) struct GraphFile {
    pub(crate) nodes: Vec<GraphNode>,
    #[serde(default)]
    pub(crate) edges: Vec<GraphEdge>,
}

/// A node. Only its label is required; the id defaults to the label.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct GraphNode {
    pub(crate) label: Option<String>,
    pub(crate) id: Option<serde_json::Value>,
    #[serde(alias = "type", alias = "node_type")]
    pub(crate) kind: Option<String>,
    pub(crate) domain: Option<String>,
    pub(crate) description: Option<String>,
    #[serde(alias = "accesses")]
    pub(crate) access_count: u64,
}

/// An edge. Edges are counted, not followed, so a circle is harmless.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct GraphEdge {
    #[serde(alias = "from")]
    pub(crate) source: serde_json::Value,
    #[serde(alias = "to")]
    pub(crate) target: serde_json::Value,
}
