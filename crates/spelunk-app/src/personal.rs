//! Personal contexts: a folder with `foundation/`, `projects/`, `temporal/` and a memory graph, registered at once, and
//! read together as one object. YAML, JSON and Markdown are parsed; what cannot be parsed stays text.

mod yaml;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use spelunk_context::{
    Context, ContextId, ContextKind, ContextStore, Factory, Metadata, StoreError, parse_collection,
};

use crate::failure::Failure;

/// Where a memory graph is looked for.
const GRAPHS: [&str; 3] = ["memory/graph.json", "memory/graph.jsonl", "mindgraph.json"];
/// Further files, a `name: path` in each line.
const COLLECTION: &str = "collection.yaml";
const COLLECTION_BYTES_MAX: u64 = 1_000_000;

/// What a folder of personal contexts gave.
#[derive(Debug, Default)]
pub struct PersonalReport {
    pub registered: Vec<Arc<Context>>,
    pub already: Vec<ContextId>,
    /// What was left out, by reason.
    pub skipped: BTreeMap<String, u64>,
}

/// Registers everything that the folder has of the known names.
pub fn register(store: &ContextStore, root: &Path) -> Result<PersonalReport, Failure> {
    let factory = Factory::new(store);
    let mut report = PersonalReport::default();
    let foundation = factory.foundation(root)?;
    report.registered.extend(foundation.registered);
    report.already.extend(foundation.already);
    let directories = factory.projects(root)?.into_iter().map(|(_, of_project)| of_project);
    for directory in directories.chain([factory.temporal(root)?]) {
        report.registered.extend(directory.registered);
        report.already.extend(directory.already);
        for (reason, n) in directory.left_out.skipped {
            *report.skipped.entry(reason).or_default() += n;
        }
    }
    for graph in GRAPHS.map(|name| root.join(name)).iter().filter(|path| path.is_file()) {
        report.registered.extend(factory.from_memory_graph(graph)?);
    }
    let listed = root.join(COLLECTION);
    if listed.is_file() {
        let text = spelunk_context::Reader::open(&listed)
            .and_then(|reader| reader.load(COLLECTION_BYTES_MAX))
            .map_err(StoreError::Request)?;
        let pairs = parse_collection(&text)?;
        let of_list = factory.from_collection(root, &pairs, &ContextKind::Document, "")?;
        report.registered.extend(of_list.registered);
        report.already.extend(of_list.already);
        report.skipped.extend(
            (!of_list.missing.is_empty()).then(|| ("missing".to_owned(), of_list.missing.len() as u64)),
        );
    }
    Ok(report)
}

/// What is known of the user, of one project, and of the contexts in use, as one object: `{user, project, working}`.
pub fn combined(store: &ContextStore, project: Option<&str>, working: &[String]) -> Result<Value, Failure> {
    let below = |prefix: &str| -> Result<Value, Failure> {
        let mut texts = Map::new();
        for context in store.list() {
            if let Some(name) = context.id.as_str().strip_prefix(prefix) {
                texts.insert(name.to_owned(), parsed_context(store, &context)?);
            }
        }
        Ok(texts.into())
    };
    let mut used = Map::new();
    for id in working {
        let context = store.get(id)?;
        used.insert(id.clone(), parsed_context(store, &context)?);
    }
    let project = project.map(|name| below(&format!("project:{name}:"))).transpose()?;
    Ok(json!({ "user": below("identity:")?, "project": project, "working": used }))
}

fn parsed_context(store: &ContextStore, context: &Context) -> Result<Value, Failure> {
    let text = store.load(context.id.as_str())?;
    let format =
        |metadata: &Metadata| metadata.get("format").or(metadata.get("file_type")).map(str::to_owned);
    Ok(parsed(format(&context.metadata).as_deref().unwrap_or_default(), &text))
}

/// A text in the structure of its format, or as it is.
fn parsed(format: &str, text: &str) -> Value {
    let value = match format {
        "yaml" | "yml" => yaml::parse(text),
        "json" => serde_json::from_str(text).ok(),
        "jsonl" => {
            let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).ok());
            lines.collect::<Option<Vec<Value>>>().map(Value::from)
        }
        "md" => Some(sections(text)),
        _ => None,
    };
    value.unwrap_or_else(|| text.into())
}

/// A Markdown text by its headings; what comes before the first is under `""`.
fn sections(text: &str) -> Value {
    let mut sections: Map<String, Value> = Map::new();
    let (mut title, mut body) = (String::new(), String::new());
    let mut keep = |title: &str, body: &str| {
        if !title.is_empty() || !body.trim().is_empty() {
            sections.insert(title.to_owned(), body.trim().into());
        }
    };
    for line in text.lines() {
        let is_heading = line.trim_start_matches('#').starts_with(' ') && line.starts_with('#');
        if is_heading {
            keep(&title, &body);
            (title, body) = (line.trim_start_matches('#').trim().to_owned(), String::new());
        } else {
            body += line;
            body.push('\n');
        }
    }
    keep(&title, &body);
    sections.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_parsed_by_its_format_and_stays_text_otherwise() {
        assert_eq!(parsed("json", "[1]"), json!([1]));
        assert_eq!(parsed("json", "[1"), json!("[1"));
        assert_eq!(parsed("jsonl", "1\n2\n"), json!([1, 2]));
        assert_eq!(parsed("txt", "a: 1"), json!("a: 1"));
        assert_eq!(
            parsed("md", "Intro.\n\n# One\ntext\n## Two\n"),
            json!({ "": "Intro.", "One": "text", "Two": "" })
        );
    }
}
