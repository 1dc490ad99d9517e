//! Memory graphs: a file of nodes and edges as contexts, one for an overview and one for each domain. Texts are
//! rendered from the current file when they are read. The loader name encodes all that rendering needs, so these
//! contexts survive a restart.
//!
//! The file is either one JSON object `{"nodes": [...], "edges": [...]}` or JSON lines. A node has a `label` or an `id`,
//! and may have `type`, `domain`, `description` and `access_count`; an edge has `source` and `target`, or `from` and `to`.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::name::{printable_text, shortened};
use crate::store::wire::{GraphEdge, GraphFile, GraphNode};
use crate::store::{Context, ContextId, ContextKind, Factory, NewContext, NewSource, StoreError};
use crate::{ReadError, Reader};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct GraphView {
    pub(super) path: PathBuf,
    /// `None` for the overview.
    domain: Option<String>,
}

#[derive(Debug, Default)]
struct Graph {
    nodes: Vec<GraphNode>,
    edges: Vec<GraphEdge>,
}

const GRAPH_BYTES_MAX: u64 = 64 * 1024 * 1024;
const DOMAINS_MAX: usize = 1000;
const TOP_NODES: usize = 20;
const DOMAIN_NODES_MAX: usize = 50;
const DESCRIPTION_CHARS_MAX: usize = 100;
const LABEL_CHARS_MAX: usize = 200;
const LOADER_PREFIX: &str = "memory-graph:";

impl Factory<'_> {
    /// Registers `memory:graph_overview`, and `memory:domain:<d>` for at most 1000 domains. Existing contexts are kept.
    pub fn from_memory_graph(&self, path: &Path) -> Result<Vec<Arc<Context>>, StoreError> {
        let path = std::path::absolute(path)
            .map_err(|error| StoreError::BadGraph { path: path.to_owned(), reason: error.to_string() })?;
        let overview_id = ContextId::new("memory:graph_overview")?;
        self.store.check_place(&path).map_err(|refusal| refusal.into_error(&overview_id))?;
        let graph = Graph::read(&path)?;
        let overview = GraphView { path: path.clone(), domain: None };
        let mut new = vec![new_of_view(overview_id, "Memory graph", &overview)];
        for domain in graph.domains().into_keys().take(DOMAINS_MAX) {
            let shown = shortened(&printable_text(&domain), 100);
            let Ok(id) = ContextId::new(format!("memory:domain:{}", shown.trim())) else { continue };
            let view = GraphView { path: path.clone(), domain: Some(domain) };
            new.push(new_of_view(id, &format!("Memory: {shown}"), &view));
        }
        new.retain(|new| self.store.get(new.id.as_str()).is_err());
        self.store.register_all(new)
    }
}

fn new_of_view(id: ContextId, name: &str, view: &GraphView) -> NewContext {
    let mut new = NewContext::new(id, ContextKind::Memory, NewSource::Loader(view.loader_name()));
    name.clone_into(&mut new.name);
    new.metadata.insert("source".to_owned(), "memory_graph".to_owned());
    if let Some(domain) = &view.domain {
        new.metadata.insert("domain".to_owned(), shortened(domain, LABEL_CHARS_MAX));
    }
    new
}

impl GraphView {
    /// The domain is prefixed with its length, because it may contain any character.
    fn loader_name(&self) -> String {
        let path = self.path.display();
        match &self.domain {
            None => format!("{LOADER_PREFIX}overview:{path}"),
            Some(domain) => format!("{LOADER_PREFIX}domain:{}:{domain}:{path}", domain.len()),
        }
    }

    pub(super) fn from_loader_name(name: &str) -> Option<Self> {
        let rest = name.strip_prefix(LOADER_PREFIX)?;
        if let Some(path) = rest.strip_prefix("overview:") {
            return Some(Self { path: path.into(), domain: None });
        }
        let (bytes, rest) = rest.strip_prefix("domain:")?.split_once(':')?;
        let (domain, rest) = rest.split_at_checked(bytes.parse().ok()?)?;
        let path = rest.strip_prefix(':')?;
        Some(Self { path: path.into(), domain: Some(domain.to_owned()) })
    }

    pub(super) fn render(&self) -> Result<String, StoreError> {
        let graph = Graph::read(&self.path)?;
        Ok(self.domain.as_ref().map_or_else(|| graph.overview(), |domain| graph.domain(domain)))
    }
}

impl Graph {
    fn read(path: &Path) -> Result<Self, StoreError> {
        let bad = |reason: String| StoreError::BadGraph { path: path.to_owned(), reason };
        // The file is parsed, not shown: what is shown is redacted when it is read as a context.
        let text = Reader::open(path)
            .and_then(|reader| reader.with_redaction(false).load(GRAPH_BYTES_MAX))
            .map_err(|error: ReadError| bad(error.to_string()))?;
        match serde_json::from_str::<GraphFile>(&text) {
            Ok(file) => Ok(Self { nodes: file.nodes, edges: file.edges }),
            Err(_) => Self::of_lines(&text).map_err(bad),
        }
    }

    fn of_lines(text: &str) -> Result<Self, String> {
        let mut graph = Self::default();
        for (idx, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            if let Ok(edge) = serde_json::from_str::<GraphEdge>(line) {
                graph.edges.push(edge);
                continue;
            }
            match serde_json::from_str::<GraphNode>(line) {
                Ok(node) if node.label.is_some() || node.id.is_some() => graph.nodes.push(node),
                Ok(_) | Err(_) => return Err(format!("line {} is neither a node nor an edge", idx + 1)),
            }
        }
        Ok(graph)
    }

    fn n_dangling(&self) -> usize {
        let labels = self.nodes.iter().filter_map(|node| node.label.clone()).map(serde_json::Value::from);
        let ids = self.nodes.iter().filter_map(|node| node.id.clone());
        let known: HashSet<String> = labels.chain(ids).map(|name| name.to_string()).collect();
        let is_known = |end: &serde_json::Value| known.contains(&end.to_string());
        self.edges.iter().filter(|edge| !is_known(&edge.source) || !is_known(&edge.target)).count()
    }

    fn domains(&self) -> BTreeMap<String, u64> {
        let mut domains = BTreeMap::new();
        for domain in
            self.nodes.iter().filter_map(|node| node.domain.as_ref()).filter(|domain| !domain.is_empty())
        {
            *domains.entry(domain.clone()).or_default() += 1;
        }
        domains
    }

    fn overview(&self) -> String {
        let mut text = format!("Memory graph\nNodes: {}\nEdges: {}\n", self.nodes.len(), self.edges.len());
        let n_dangling = self.n_dangling();
        if n_dangling > 0 {
            text.push_str(&format!("Edges to missing nodes: {n_dangling}\n"));
        }
        let domains = self.domains();
        if !domains.is_empty() {
            text.push_str("\nDomains:\n");
        }
        for (domain, n_nodes) in domains.iter().take(DOMAINS_MAX) {
            text.push_str(&format!("  - {} ({n_nodes})\n", on_one_line(domain, LABEL_CHARS_MAX)));
        }
        let mut by_access: Vec<&GraphNode> = self.nodes.iter().collect();
        // The sort is stable: nodes with equal counts stay in file order.
        by_access.sort_by_key(|node| std::cmp::Reverse(node.access_count));
        text.push_str(&format!(
            "\nMost used nodes ({} of {}):\n",
            by_access.len().min(TOP_NODES),
            by_access.len()
        ));
        for node in by_access.into_iter().take(TOP_NODES) {
            text.push_str(&format!("  - {} ({})\n", label(node), kind(node)));
        }
        text
    }

    fn domain(&self, domain: &str) -> String {
        let nodes: Vec<&GraphNode> =
            self.nodes.iter().filter(|node| node.domain.as_deref() == Some(domain)).collect();
        let mut text = format!(
            "Domain: {}\nNodes: {} of {} shown\n\n",
            on_one_line(domain, LABEL_CHARS_MAX),
            nodes.len().min(DOMAIN_NODES_MAX),
            nodes.len()
        );
        for node in nodes.into_iter().take(DOMAIN_NODES_MAX) {
            text.push_str(&format!("[{}] {}\n", kind(node), label(node)));
            if let Some(description) =
                node.description.as_deref().filter(|description| !description.is_empty())
            {
                text.push_str(&format!("    {}\n", on_one_line(description, DESCRIPTION_CHARS_MAX)));
            }
        }
        text
    }
}

fn label(node: &GraphNode) -> String {
    let label = match (&node.label, &node.id) {
        (Some(label), _) => label.clone(),
        (None, Some(serde_json::Value::String(id))) => id.clone(),
        (None, Some(id)) => id.to_string(),
        (None, None) => String::new(),
    };
    on_one_line(&label, LABEL_CHARS_MAX)
}

fn kind(node: &GraphNode) -> String {
    on_one_line(node.kind.as_deref().unwrap_or("node"), LABEL_CHARS_MAX)
}

fn on_one_line(text: &str, chars_max: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    shortened(&printable_text(&words.join(" ")), chars_max)
}

#[cfg(test)]
mod tests;
