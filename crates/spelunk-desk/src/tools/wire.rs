//! The arguments of the tools as models write them, and the records the tools write. Common alternative names are
//! accepted; numbers may be strings, and `null` is the same as absent.

use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Read {
    #[serde(alias = "file_path", alias = "file")]
    pub(super) path: String,
    #[serde(default, deserialize_with = "number")]
    pub(super) offset: Option<u64>,
    #[serde(default, deserialize_with = "number")]
    pub(super) limit: Option<u64>,
    #[serde(default, deserialize_with = "number")]
    pub(super) byte_offset: Option<u64>,
    #[serde(default, deserialize_with = "number")]
    pub(super) byte_limit: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Write {
    #[serde(alias = "file_path", alias = "file")]
    pub(super) path: String,
    #[serde(alias = "text")]
    pub(super) content: String,
    #[serde(default, deserialize_with = "flag")]
    pub(super) append: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Edit {
    #[serde(alias = "file_path", alias = "file")]
    pub(super) path: String,
    #[serde(alias = "old_string")]
    pub(super) old: String,
    #[serde(alias = "new_string")]
    pub(super) new: String,
    #[serde(default, alias = "replace_all", deserialize_with = "flag")]
    pub(super) all: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Grep {
    pub(super) pattern: String,
    pub(super) path: Option<String>,
    pub(super) glob: Option<OneOrMany>,
    #[serde(default, alias = "-i", deserialize_with = "flag")]
    pub(super) ignore_case: bool,
    #[serde(default, deserialize_with = "flag")]
    pub(super) literal: bool,
    #[serde(default, alias = "-C", deserialize_with = "number")]
    pub(super) context: Option<u64>,
    #[serde(default, alias = "output_mode")]
    pub(super) mode: Option<GrepMode>,
    #[serde(default, alias = "head_limit", deserialize_with = "number")]
    pub(super) limit: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum GrepMode {
    #[serde(alias = "content")]
    Lines,
    #[serde(alias = "files_with_matches")]
    Files,
    #[serde(alias = "counts")]
    Count,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Glob {
    pub(super) pattern: OneOrMany,
    pub(super) path: Option<String>,
    #[serde(default, deserialize_with = "number")]
    pub(super) limit: Option<u64>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl OneOrMany {
    pub(super) fn all(&self) -> &[String] {
        match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Many(many) => many,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Chunk {
    #[serde(alias = "file_path", alias = "file")]
    pub(super) path: String,
    #[serde(default, alias = "method")]
    pub(super) by: Option<ChunkBy>,
    #[serde(default, deserialize_with = "number")]
    pub(super) size: Option<u64>,
    #[serde(default, deserialize_with = "number")]
    pub(super) overlap: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ChunkBy {
    Tokens,
    Lines,
    Paragraphs,
    Headings,
}

/// The manifest of a file that was cut: positions, never text.
#[derive(Debug, Serialize)]
pub(super) struct Manifest<'a> {
    pub(super) source_file: &'a str,
    pub(super) total_lines: u64,
    pub(super) total_bytes: u64,
    pub(super) total_tokens: u64,
    pub(super) chunk_method: ChunkBy,
    pub(super) chunk_size: u64,
    pub(super) chunk_overlap: u64,
    pub(super) chunk_count: u64,
    pub(super) chunks: Vec<ManifestChunk<'a>>,
}

#[derive(Debug, Serialize)]
pub(super) struct ManifestChunk<'a> {
    pub(super) index: u64,
    pub(super) chunk_id: String,
    pub(super) start_line: u64,
    pub(super) end_line: u64,
    pub(super) start_byte: u64,
    pub(super) end_byte: u64,
    pub(super) token_estimate: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) heading: Option<&'a str>,
}

#[derive(Debug, Serialize)]
pub(super) struct HeadingsIndex<'a> {
    pub(super) source_file: &'a str,
    pub(super) entries: Vec<HeadingEntry<'a>>,
}

#[derive(Debug, Serialize)]
pub(super) struct HeadingEntry<'a> {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) level: u8,
    pub(super) title: &'a str,
    pub(super) line: u64,
}

/// The file that a manifest or an index describes.
#[derive(Debug, Deserialize)]
pub(super) struct IndexOf {
    pub(super) source_file: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Evidence {
    pub(super) tag: String,
    #[serde(alias = "text")]
    pub(super) content: String,
    pub(super) metadata: Option<Value>,
    pub(super) source: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct EvidenceRecord<'a> {
    pub(super) sequence: u64,
    pub(super) tag: &'a str,
    pub(super) content: &'a str,
    pub(super) metadata: &'a Option<Value>,
    pub(super) source: &'a Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Buffer {
    pub(super) action: BufferAction,
    #[serde(default, alias = "label")]
    pub(super) name: Option<String>,
    #[serde(default, alias = "content")]
    pub(super) text: Option<String>,
    #[serde(default, alias = "file_path")]
    pub(super) path: Option<String>,
    pub(super) join: Option<String>,
    #[serde(default, alias = "offset", deserialize_with = "number")]
    pub(super) first: Option<u64>,
    #[serde(default, deserialize_with = "number")]
    pub(super) limit: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum BufferAction {
    Append,
    Read,
    List,
    Pop,
    Clear,
    Assemble,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shell {
    #[serde(alias = "script")]
    pub(super) command: String,
    pub(super) stdin: Option<String>,
}

/// An integer, also accepted as `"5"` or `5.0`.
fn number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    let wrong = |unexpected: Unexpected| Err(D::Error::invalid_value(unexpected, &"a non-negative integer"));
    match &value {
        Value::Null => Ok(None),
        Value::Number(number) => match (number.as_u64(), number.as_f64()) {
            (Some(number), _) => Ok(Some(number)),
            (None, Some(float)) if float >= 0.0 && float.fract() == 0.0 => {
                format!("{float:.0}").parse().map(Some).or_else(|_| wrong(Unexpected::Float(float)))
            }
            (None, _) => wrong(Unexpected::Other(&number.to_string())),
        },
        Value::String(text) => match text.trim().parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => wrong(Unexpected::Str(text)),
        },
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => wrong(Unexpected::Other("something else")),
    }
}

/// A boolean, also accepted as `"true"`.
fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    let value = Value::deserialize(deserializer)?;
    match &value {
        Value::Null => Ok(false),
        Value::Bool(flag) => Ok(*flag),
        Value::String(text) if text == "true" => Ok(true),
        Value::String(text) if text == "false" => Ok(false),
        Value::String(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            Err(D::Error::invalid_type(Unexpected::Other(&value.to_string()), &"true or false"))
        }
    }
}
