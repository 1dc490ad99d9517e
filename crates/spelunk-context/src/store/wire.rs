//! The registry's file format: a JSON object with `version`, `updated_at_ms` and `contexts`, one context per line so
//! that a damaged line costs one context. Also the lines of the access log and the records of a memory graph file.
//! Formats are stable: a field never changes its meaning.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use crate::store::{AccessEntry, Action, Context, ContextId, ContextKind, ContextSource, LoadPolicy};

/// The version that this engine writes, and the newest that it reads.
pub(crate) const VERSION: u64 = 1;

#[derive(Debug, Default)]
pub(crate) struct Parsed {
    pub(crate) contexts: Vec<Context>,
    /// Entries that could not be parsed. 0 for an undamaged file.
    pub(crate) n_lost: usize,
    /// Whether the file as a whole is JSON in our format.
    pub(crate) is_whole: bool,
    /// The version it declares, if readable.
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
        serde_json::to_writer(&mut bytes, &Line::from(context))?;
    }
    bytes.extend_from_slice(b"\n]}\n");
    Ok(bytes)
}

/// Parses as much as possible. A file that is not valid JSON as a whole is parsed line by line.
pub(crate) fn parse_registry(bytes: &[u8]) -> Parsed {
    // The usual case, parsed directly; then a file with invalid entries.
    if let Ok(file) = serde_json::from_slice::<File<Line>>(bytes) {
        return Parsed::of(file.version, file.contexts.into_iter().map(Some));
    }
    match serde_json::from_slice::<File<serde_json::Value>>(bytes) {
        Ok(file) => {
            let line = |value: serde_json::Value| {
                let of_other = || serde_json::from_value::<OtherLine>(value.clone()).ok().map(Line::from);
                serde_json::from_value(value.clone()).ok().or_else(of_other)
            };
            Parsed::of(file.version, file.contexts.into_iter().map(line))
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
            parsed.version = version_of_head(line);
        } else if !line.is_empty() && line != b"]}" {
            parsed.take(serde_json::from_slice::<Line>(line).ok());
        }
    }
    parsed.without_repetition()
}

fn version_of_head(line: &[u8]) -> Option<u64> {
    let closed = [line, b"]}"].concat();
    serde_json::from_slice::<Head>(&closed).ok().map(|head| head.version)
}

impl Parsed {
    fn of(version: u64, lines: impl Iterator<Item = Option<Line>>) -> Self {
        let mut parsed = Self { is_whole: true, version: Some(version), ..Self::default() };
        for line in lines {
            parsed.take(line);
        }
        parsed.without_repetition()
    }

    pub(crate) fn is_undamaged(&self) -> bool {
        self.is_whole && self.n_lost == 0
    }

    fn take(&mut self, line: Option<Line>) {
        match line.and_then(Line::into_context) {
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

/// One context.
#[derive(Serialize, Deserialize)]
struct Line {
    id: String,
    name: String,
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    content_type: Option<String>,
    source: Source,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    metadata: BTreeMap<String, String>,
    policy: Policy,
    registered_at_ms: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    revision: Option<ContextRevision>,
    #[serde(default, skip_serializing_if = "AccessCounts::is_none")]
    access: AccessCounts,
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

impl From<OtherLine> for Line {
    fn from(other: OtherLine) -> Self {
        let OtherLine { id, name, kind, source_path, metadata } = other;
        let source = if source_path.contains("://") {
            Source::Uri(source_path)
        } else if source_path.starts_with('<') {
            Source::Loader(id.clone())
        } else {
            Source::File(source_path)
        };
        let text = |value: serde_json::Value| {
            if let serde_json::Value::String(text) = value { text } else { value.to_string() }
        };
        let policy = ContextKind::from_name(&kind).map_or(LoadPolicy::Lazy, |kind| kind.default_policy());
        // Those programs store session contexts in the file, too.
        let policy = if policy.is_durable() { policy } else { LoadPolicy::Lazy };
        Self {
            id,
            name,
            kind,
            content_type: None,
            source,
            metadata: metadata.into_iter().map(|(key, value)| (key, text(value))).collect(),
            policy: policy.into(),
            registered_at_ms: 0,
            revision: None,
            access: AccessCounts::default(),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Source {
    File(String),
    Inline { digest: String, size_bytes: u64 },
    Loader(String),
    Uri(String),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Policy {
    Hot,
    Lazy,
    Refresh,
    TtlMs(u64),
    Session,
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
    /// BLAKE3 of its bytes in hexadecimal, once requested.
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

impl From<&Context> for Line {
    fn from(context: &Context) -> Self {
        Self {
            id: context.id.as_str().to_owned(),
            name: context.name.clone(),
            kind: context.kind.name().to_owned(),
            content_type: context.content_type.clone(),
            source: Source::from(&context.source),
            metadata: context
                .metadata
                .iter()
                .map(|(key, value)| (key.to_owned(), value.to_owned()))
                .collect(),
            policy: Policy::from(context.policy),
            registered_at_ms: context.registered_at_ms,
            revision: context.revision.clone(),
            access: context.access,
        }
    }
}

impl From<&ContextSource> for Source {
    fn from(source: &ContextSource) -> Self {
        match source {
            // Paths that are not Unicode are refused at registration.
            ContextSource::File { path } => Self::File(path.to_string_lossy().into_owned()),
            ContextSource::Inline { digest, size_bytes } => {
                Self::Inline { digest: digest.clone(), size_bytes: *size_bytes }
            }
            ContextSource::Loader { name } => Self::Loader(name.clone()),
            ContextSource::Uri { uri } => Self::Uri(uri.clone()),
        }
    }
}

impl From<LoadPolicy> for Policy {
    fn from(policy: LoadPolicy) -> Self {
        match policy {
            LoadPolicy::Hot => Self::Hot,
            LoadPolicy::Lazy => Self::Lazy,
            LoadPolicy::Refresh => Self::Refresh,
            LoadPolicy::Ttl { ttl_ms } => Self::TtlMs(ttl_ms),
            LoadPolicy::Session => Self::Session,
            LoadPolicy::Query => Self::Query,
        }
    }
}

impl Line {
    /// `None` if a field is invalid. The file is hostile input.
    fn into_context(self) -> Option<Context> {
        Some(Context {
            id: ContextId::new(&self.id).ok()?,
            name: self.name,
            kind: ContextKind::from_name(&self.kind)?,
            content_type: self.content_type,
            source: self.source.into_source()?,
            metadata: self.metadata.into(),
            policy: match self.policy {
                Policy::Hot => LoadPolicy::Hot,
                Policy::Lazy => LoadPolicy::Lazy,
                Policy::Refresh => LoadPolicy::Refresh,
                Policy::TtlMs(ttl_ms) => LoadPolicy::Ttl { ttl_ms },
                Policy::Session => return None,
                Policy::Query => LoadPolicy::Query,
            },
            registered_at_ms: self.registered_at_ms,
            revision: self.revision,
            access: self.access,
        })
    }
}

impl Source {
    fn into_source(self) -> Option<ContextSource> {
        Some(match self {
            Self::File(path) => ContextSource::File { path: path.into() },
            // The digest becomes a file name: accept nothing but a digest.
            Self::Inline { digest, .. } if !is_digest(&digest) => return None,
            Self::Inline { digest, size_bytes } => ContextSource::Inline { digest, size_bytes },
            Self::Loader(name) => ContextSource::Loader { name },
            Self::Uri(uri) => ContextSource::Uri { uri },
        })
    }
}

fn is_digest(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

#[derive(Serialize, Deserialize)]
struct AccessLine {
    at_ms: u64,
    action: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    context: Option<String>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    detail: String,
}

pub(crate) fn access_lines(entries: &[AccessEntry]) -> String {
    let line = |entry: &AccessEntry| AccessLine {
        at_ms: entry.at_ms,
        action: entry.action.name().to_owned(),
        context: entry.context.as_ref().map(ToString::to_string),
        detail: entry.detail.clone(),
    };
    let lines = entries.iter().filter_map(|entry| serde_json::to_string(&line(entry)).ok());
    lines.map(|line| line + "\n").collect()
}

/// The entries of an access log. A line that was cut off by a crash is left out.
pub(crate) fn parse_accesses(bytes: &[u8]) -> Vec<AccessEntry> {
    let entry = |line: &[u8]| {
        let AccessLine { at_ms, action, context, detail } = serde_json::from_slice(line).ok()?;
        let action = Action::from_name(&action)?;
        let context = context.map(ContextId::new).transpose().ok()?;
        Some(AccessEntry { action, context, detail, at_ms })
    };
    bytes.split(|&byte| byte == b'\n').filter_map(entry).collect()
}

/// A memory graph in one JSON object.
#[derive(Debug, Deserialize)]
pub(crate) struct GraphFile {
    pub(crate) nodes: Vec<GraphNode>,
    #[serde(default)]
    pub(crate) edges: Vec<GraphEdge>,
}

/// A node. Only its label is required; the id defaults to the label.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct GraphNode {
    #[serde(default)]
    pub(crate) label: Option<String>,
    #[serde(default)]
    pub(crate) id: Option<serde_json::Value>,
    #[serde(default, alias = "type", alias = "node_type")]
    pub(crate) kind: Option<String>,
    #[serde(default)]
    pub(crate) domain: Option<String>,
    #[serde(default)]
    pub(crate) description: Option<String>,
    #[serde(default, alias = "accesses")]
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
