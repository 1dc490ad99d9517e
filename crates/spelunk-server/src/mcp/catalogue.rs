//! The catalogue of tools: their names, descriptions, schemas and effects. Both the list a client sees and the dispatch
//! are built from it.

mod essential;
mod tools;

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations, object as object_value};
use serde_json::{Value, json};
use spelunk_app::arguments::Arguments;

use super::{Failure, State, ToolAnswer};

/// Every tool that can be called, in the order in which an agent should consider them.
pub(super) fn entries() -> Vec<Entry> {
    let mut entries = essential::entries();
    entries.extend(tools::entries());
    entries
}

/// Which tools are listed to a client. All tools can be called by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum ToolSet {
    /// The few that cover everyday work.
    #[default]
    Essential,
    /// The essential tools and the tasks for the host's agents.
    Tasks,
    /// Every tool, including former names.
    All,
}

impl ToolSet {
    /// Their names, the smallest first.
    pub const WORDS: [&str; 3] = ["essential", "tasks", "all"];

    /// The set of this name.
    pub fn of(word: &str) -> Option<Self> {
        let sets = [Self::Essential, Self::Tasks, Self::All];
        Self::WORDS.iter().zip(sets).find(|(known, _)| **known == word).map(|(_, set)| set)
    }
}

pub(super) struct Entry {
    pub(super) name: &'static str,
    /// The smallest set that lists it.
    pub(super) set: ToolSet,
    title: &'static str,
    doc: &'static str,
    effect: Effect,
    input: Properties,
    output: Properties,
    pub(super) action: Action,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// Nothing.
    Look,
    /// It adds; repeating the call adds nothing.
    Set,
    /// It adds on every call.
    Add,
    Remove,
    /// It calls a model, which is an external service.
    Ask,
}

#[derive(Clone, Copy)]
pub(super) enum Action {
    /// A function that reads, on a blocking thread.
    Local(fn(&State, Arguments) -> Result<ToolAnswer, Failure>),
    Waiting(Waiting),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waiting {
    Query,
    Ask,
    Run,
    Resume,
    Result,
    Cancel,
    Repl,
    Tasks,
    Submit,
}

impl Entry {
    fn new(effect: Effect, name: &'static str, title: &'static str, action: Action) -> Self {
        let (input, output) = (Properties::default(), Properties::default());
        Self { name, set: ToolSet::All, title, doc: "", effect, input, output, action }
    }

    fn listed_in(mut self, set: ToolSet) -> Self {
        self.set = set;
        self
    }

    fn doc(mut self, doc: &'static str) -> Self {
        self.doc = doc;
        self
    }

    /// A required argument.
    fn needs(mut self, name: &'static str, schema: Value) -> Self {
        self.input.require(name, schema);
        self
    }

    /// An optional argument.
    fn takes(mut self, name: &'static str, schema: Value) -> Self {
        self.input.add(name, schema);
        self
    }

    /// A field of every answer.
    fn gives(mut self, name: &'static str, schema: Value) -> Self {
        self.output.require(name, schema);
        self
    }

    /// A field of some answers.
    fn may_give(mut self, name: &'static str, schema: Value) -> Self {
        self.output.add(name, schema);
        self
    }

    fn with(self, shared: impl FnOnce(Self) -> Self) -> Self {
        shared(self)
    }

    pub(super) fn tool(&self) -> Tool {
        // Only deviations from the protocol's defaults: every word of the list is in the agent's context window.
        let hints = ToolAnnotations::new();
        let annotations = match self.effect {
            Effect::Look => hints.read_only(true).open_world(false),
            Effect::Set => hints.destructive(false).idempotent(true).open_world(false),
            Effect::Add => hints.destructive(false).open_world(false),
            Effect::Remove => hints.idempotent(true).open_world(false),
            Effect::Ask => hints.destructive(false),
        };
        Tool::new(self.name, self.doc, Arc::new(self.input.input()))
            .with_title(self.title)
            .with_raw_output_schema(Arc::new(self.output.output()))
            .with_annotations(annotations)
    }
}

#[derive(Default)]
struct Properties {
    schemas: JsonObject,
    required: Vec<&'static str>,
}

impl Properties {
    fn add(&mut self, name: &'static str, schema: Value) {
        self.schemas.insert(name.to_owned(), schema);
    }

    fn require(&mut self, name: &'static str, schema: Value) {
        self.add(name, schema);
        self.required.push(name);
    }

    /// An object with these properties and no others.
    fn input(&self) -> JsonObject {
        let mut schema =
            json!({ "type": "object", "properties": self.schemas, "additionalProperties": false });
        if !self.required.is_empty() {
            schema["required"] = json!(self.required);
        }
        object_value(schema)
    }

    /// An object with at least these properties, or with an error instead: some clients validate
    /// errors against the output schema.
    fn output(&self) -> JsonObject {
        let mut schemas = self.schemas.clone();
        schemas.insert("error".to_owned(), json!({ "type": ["object", "null"] }));
        let mut schema = json!({ "type": "object", "properties": schemas });
        if !self.required.is_empty() {
            schema["anyOf"] = json!([{ "required": self.required }, { "required": ["error"] }]);
        }
        object_value(schema)
    }
}

fn text(doc: &str) -> Value {
    json!({ "type": "string", "description": doc })
}

fn whole(doc: &str) -> Value {
    json!({ "type": "integer", "minimum": 0, "description": doc })
}

fn flag(doc: &str) -> Value {
    json!({ "type": "boolean", "description": doc })
}

fn texts(doc: &str) -> Value {
    json!({ "type": "array", "items": { "type": "string" }, "description": doc })
}

fn choice(doc: &str, words: &[&str]) -> Value {
    json!({ "type": "string", "enum": words, "description": doc })
}

fn object(doc: &str) -> Value {
    json!({ "type": "object", "description": doc })
}

fn objects(doc: &str) -> Value {
    json!({ "type": "array", "items": { "type": "object" }, "description": doc })
}

/// The schema, or `null`, which counts as absent.
pub(crate) fn or_null(mut schema: Value) -> Value {
    if let Some(words) = schema.get_mut("enum").and_then(Value::as_array_mut) {
        words.push(Value::Null);
    }
    if let Some(kind) = schema["type"].as_str().map(str::to_owned) {
        schema["type"] = json!([kind, "null"]);
    }
    schema
}
