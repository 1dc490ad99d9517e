//! JSON Schema for typed answers: the part of draft 2020-12 that people use for answers. Nothing is
//! ignored: an unsupported keyword is rejected by name when the schema is parsed.
//!
//! Written by hand. The crate `jsonschema` (0.60, without default features) brings in 23 more crates, ignores
//! unknown keywords, and its messages are not written for a model to act on; a tenth of it is needed here.
//!
//! Schemas come from users and from model-written code, values from models. Work and depth are bounded.

mod check;
mod compile;
mod extract;
mod literal;
mod show;

pub(crate) use extract::extract_json;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use regex::Regex;
use serde_json::{Number, Value};

const TEXT_BYTES_MAX: usize = 256 * 1024;

/// A parsed schema.
#[derive(Debug)]
pub struct Schema {
    pub(crate) text: String,
    nodes: Vec<Node>,
}

/// Why a text is not a usable schema. `at` is a JSON pointer into the schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum SchemaError {
    #[error("the schema is not JSON: {why}")]
    Json { why: String },
    #[error("the schema has {bytes} bytes; the maximum is {bytes_max}")]
    TooLong { bytes: u64, bytes_max: u64 },
    #[error("the schema has {what} at `{at}`, where a schema is expected: an object, `true` or `false`")]
    NotASchema { at: String, what: String },
    #[error("the schema uses `{keyword}` at `{at}`, which is not supported")]
    Unsupported { at: String, keyword: String },
    #[error("the schema's `{keyword}` at `{at}` must be {expected}")]
    WrongValue { at: String, keyword: String, expected: &'static str },
    #[error("the schema's pattern `{pattern}` at `{at}` is not a supported regular expression: {why}")]
    Pattern { at: String, pattern: String, why: String },
    #[error("the schema refers at `{at}` to `{target}`, which is not defined; write `#/$defs/NAME`")]
    NoTarget { at: String, target: String },
    #[error("the schema's `{target}` refers to itself in an endless loop")]
    Loop { target: String },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    /// A JSON pointer into the value; empty for the whole.
    pub(crate) path: String,
    pub(crate) message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => write!(f, "at the root: {}", self.message),
            path => write!(f, "at {path}: {}", self.message),
        }
    }
}

impl Schema {
    /// Parses a schema.
    pub fn parse(text: &str) -> Result<Self, SchemaError> {
        if text.len() > TEXT_BYTES_MAX {
            return Err(SchemaError::TooLong { bytes: text.len() as u64, bytes_max: TEXT_BYTES_MAX as u64 });
        }
        let root: Value =
            serde_json::from_str(text).map_err(|error| SchemaError::Json { why: error.to_string() })?;
        Ok(Self { text: text.to_owned(), nodes: compile::compile(&root)? })
    }

    /// The schema as sent to a provider.
    pub(crate) fn json(&self) -> Option<Arc<Value>> {
        serde_json::from_str(&self.text).ok().map(Arc::new)
    }

    /// The value in a reply if it is valid, otherwise what is wrong with it.
    pub(crate) fn read(&self, reply: &str) -> Result<Value, String> {
        let value = extract_json(reply).ok_or("it is not JSON")?;
        self.check(&value).map_err(|violations| listed(&violations))?;
        Ok(value)
    }

    pub(crate) fn check(&self, value: &Value) -> Result<(), Vec<Violation>> {
        check::check(&self.nodes, value)
    }
}

pub(crate) fn listed(violations: &[Violation]) -> String {
    violations.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// An index into [`Schema::nodes`]. The first node is the root.
type NodeIdx = usize;

#[derive(Debug)]
enum Node {
    /// `true`.
    Anything,
    /// `false`.
    Nothing,
    /// All of these must hold.
    Rules(Box<Rules>),
}

/// An object of keywords. Each field is one keyword, or a few.
#[derive(Debug, Default)]
struct Rules {
    types: Option<Vec<Type>>,
    choices: Option<Vec<Choice>>,
    constant: Option<Choice>,
    bounds: Vec<Bound>,
    chars: Range,
    pattern: Option<Regex>,
    n_items: Range,
    has_unique_items: bool,
    first_items: Vec<NodeIdx>,
    items: Option<NodeIdx>,
    properties: BTreeMap<String, NodeIdx>,
    required: Vec<String>,
    other_properties: Option<NodeIdx>,
    n_properties: Range,
    all_of: Vec<NodeIdx>,
    any_of: Option<Vec<NodeIdx>>,
    one_of: Option<Vec<NodeIdx>>,
    not: Option<NodeIdx>,
}

#[derive(Debug)]
struct Choice {
    canonical: String,
    /// As written in the schema, truncated.
    shown: String,
}

#[derive(Debug, Default, Clone, Copy)]
struct Range {
    min: Option<u64>,
    max: Option<u64>,
}

#[derive(Debug)]
struct Bound {
    kind: BoundKind,
    number: Number,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BoundKind {
    AtLeast,
    MoreThan,
    AtMost,
    LessThan,
}

/// A JSON type, with integers separate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Type {
    Null,
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
}

#[cfg(test)]
mod tests;
