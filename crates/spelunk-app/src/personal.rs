//! Personal contexts: a folder with `foundation/`, `projects/`, `temporal/` and a memory graph, registered
//! together and combined into one object. YAML, JSON and Markdown are parsed; anything else stays text.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use spelunk_context::{Context, ContextId, ContextKind, ContextStore, Factory, Metadata, StoreError};

use crate::failure::{Result, Usage};

const GRAPHS: [&str; 3] = ["memory/graph.json", "memory/graph.jsonl", "mindgraph.json"];
/// Lists further files, one `name: path` per line.
const COLLECTION: &str = "collection.yaml";
const COLLECTION_BYTES_MAX: u64 = 1_000_000;
const YAML_DEPTH_MAX: usize = 32;

#[derive(Debug, Default)]
pub struct PersonalReport {
    pub registered: Vec<Arc<Context>>,
    pub already: Vec<ContextId>,
    pub skipped: BTreeMap<String, u64>,
}

/// Registers everything with a known name in the folder.
pub fn register(store: &ContextStore, root: &Path) -> Result<PersonalReport> {
    let factory = Factory::new(store);
    let mut report = PersonalReport::default();
    let foundation = factory.foundation(root)?;
    report.registered.extend(foundation.registered);
    report.already.extend(foundation.already);
    for directory in factory.projects(root)?.into_iter().chain([factory.temporal(root)?]) {
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
        let pairs = collection(&text)?;
        let of_list = factory.from_collection(root, &pairs, &ContextKind::Document, "")?;
        report.registered.extend(of_list.registered);
        report.already.extend(of_list.already);
        report.skipped.extend(
            (!of_list.missing.is_empty()).then(|| ("missing".to_owned(), of_list.missing.len() as u64)),
        );
    }
    Ok(report)
}

fn collection(text: &str) -> Result<Vec<(String, String)>, Usage> {
    let pair = |(name, path): (String, Value)| Some((name, path.as_str()?.to_owned()));
    let pairs = match yaml(text) {
        Some(Value::Object(map)) => map.into_iter().map(pair).collect(),
        _ => None,
    };
    pairs.ok_or_else(|| Usage {
        message: format!("`{COLLECTION}` is not a list of `name: path`"),
        hint: "write one `name: path` per line, without nesting or lists".into(),
    })
}

/// The user, one project and the contexts in use as one object: `{user, project, working}`.
pub fn combined(store: &ContextStore, project: Option<&str>, working: &[String]) -> Result<Value> {
    let below = |prefix: &str| -> Result<Value> {
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

fn parsed_context(store: &ContextStore, context: &Context) -> Result<Value> {
    let text = store.load(context.id.as_str())?;
    let format =
        |metadata: &Metadata| metadata.get("format").or(metadata.get("file_type")).map(str::to_owned);
    Ok(parsed(format(&context.metadata).as_deref().unwrap_or_default(), &text))
}

fn parsed(format: &str, text: &str) -> Value {
    let value = match format {
        "yaml" | "yml" => yaml(text),
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

/// A YAML document. If it has anchors or custom tags, it stays text, so that no file can expand.
fn yaml(text: &str) -> Option<Value> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_anchors: 0, max_aliases: 0, max_depth: YAML_DEPTH_MAX, max_documents: 1 },
        strict_booleans: true,
        reject_unsupported_tags: true,
    };
    let value: Value = serde_saphyr::from_str_with_options(text, options).ok()?;
    (value.is_object() || value.is_array()).then_some(value)
}

/// Markdown by headings; text before the first heading is under `""`.
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

    #[test]
    fn a_collection_is_a_name_and_a_path_in_each_line() {
        let text = "# mine\n---\nprofile: profile.yaml\n\nstyle: \"my style.yaml\"\nurl: a:b # c\n";
        let expected = [("profile", "profile.yaml"), ("style", "my style.yaml"), ("url", "a:b")];
        let mut found = collection(text).unwrap();
        found.sort();
        assert_eq!(found, expected.map(|(name, path)| (name.to_owned(), path.to_owned())));
        for text in ["a: b\n  c: d\n", "a: b\n- c\n", "a: b\nc:\n", "a: b\nc: [d]\n", "a: b\nno colon\n", "x"]
        {
            let refused = collection(text).unwrap_err();
            assert_eq!(refused.message, "`collection.yaml` is not a list of `name: path`", "{text}");
        }
    }

    #[test]
    fn what_people_write_as_yaml_is_read() {
        let text = "---\n# who\nname: Ada Lovelace  # the first\nage: 36\nscore: 0.5\nactive: true\nnone:\nphone: \"+44: 1\"\nquote: 'it''s'\ntags: [a, 2, \"c\", no]\nhome:\n  city: London\n  rooms:\n    - kitchen\n    - study\ntrades:\n- name: smith\n  since: 1840\n- {name: mason}\nbio: |\n  One.\n  Two.\nnote: >-\n  a\n  b\nurl: http://x/y\n1: one\n";
        assert_eq!(
            yaml(text).unwrap(),
            json!({
                "name": "Ada Lovelace", "age": 36, "score": 0.5, "active": true, "none": null, "phone": "+44: 1",
                "quote": "it's", "tags": ["a", 2, "c", "no"], "home": { "city": "London", "rooms": ["kitchen", "study"] },
                "trades": [{ "name": "smith", "since": 1840 }, { "name": "mason" }], "bio": "One.\nTwo.\n", "note": "a b",
                "url": "http://x/y", "1": "one",
            })
        );
        assert_eq!(yaml("- 1\n- two\n").unwrap(), json!([1, "two"]));
    }

    #[test]
    fn yaml_bombs_tags_and_what_is_no_yaml_stay_text() {
        let bomb = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n";
        let deep: String = (0..100).flat_map(|depth| ["  ".repeat(depth), "k:\n".to_owned()]).collect();
        let flow = format!("k: {}", "[".repeat(100_000));
        for text in [
            bomb,
            "x: !!python/object 1\n",
            "<<: *base\n",
            "just words\n",
            "a: 1\n   b: 2\n",
            "a: 1\n---\na: 2\n",
            "a: 1\na: 2\n",
            "",
            &deep,
            &flow,
        ] {
            assert_eq!(parsed("yaml", text), json!(text), "{text:.40}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_yaml_breaks_it(text in "[a-z0-9:#\\-\\[\\]{}\"'|> \n&*!?]{0,200}") {
            drop(yaml(&text));
        }
    }
}
