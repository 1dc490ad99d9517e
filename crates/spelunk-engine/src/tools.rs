//! External tools: MCP servers, programs and functions of the host program. A session sees them as
//! Python functions, an agent as native tools. The effect of a call is recorded like a reply
//! (`frame/effect.rs`), so a resumed run does not repeat it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde_json::{Map, Value, json};
use spelunk_types::{EffectClass, EffectId, ErrorCode, Explain, RunId};

const TOOLS: &str = include_str!("prompts/repl-tools.md");
const BATCH: &str = include_str!("environment/tool_batch.py");

pub(crate) const OUTSIDE_TOOLS_MAX: usize = 128;
/// The most characters of a description that a model is shown.
const DESCRIPTION_CHARS_MAX: usize = 1_000;
/// The longest schema; a longer one is not shown, and the function takes any arguments.
const SCHEMA_BYTES_MAX: usize = 20_000;
const NAME_CHARS_MAX: usize = 64;
/// The field that records whether child frames may call a tool.
const IN_CHILDREN: &str = "in_children";

/// Calls a tool with a JSON object.
pub type ToolFn = Arc<dyn Fn(Value) -> BoxFuture<'static, Result<Value, ToolError>> + Send + Sync>;

/// Asks the user whether a tool may be called. The question is open when this returns, before it is recorded.
pub type ConsentFn = Arc<dyn Fn(ConsentRequest) -> BoxFuture<'static, bool> + Send + Sync>;

/// A call that needs the user's consent.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct ConsentRequest {
    pub run: RunId,
    pub effect: EffectId,
    pub tool: String,
    /// Whether it may be repeated.
    pub class: EffectClass,
    /// A JSON object, with secrets redacted.
    pub arguments: Value,
}

/// Why a tool returned nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolError {
    /// The tool reported that it did not do what was requested.
    Failed(String),
    /// It is unknown whether the tool did what was requested.
    Unknown(String),
}

#[derive(Clone)]
#[expect(missing_docs, reason = "the names say it")]
pub struct ExternalTool {
    /// Its name as a Python function.
    pub name: String,
    /// Where it comes from: its name in the settings, or `mcp` for one from the command line.
    pub source: String,
    pub description: String,
    pub schema: Value,
    pub effect: EffectClass,
    pub timeout_ms: u64,
    /// In one run.
    pub calls_max: u64,
    /// Whether it may change something without asking.
    pub is_allowed: bool,
    /// Whether child frames may call it too.
    pub in_children: bool,
    pub call: ToolFn,
}

impl std::fmt::Debug for ExternalTool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ExternalTool").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What to do about a call whose outcome is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EffectDecision {
    /// It happened: it is not repeated and returns `None`.
    Done,
    /// It did not happen, or may happen again.
    Again,
}

/// The tools of a run, and the user's decisions about them.
#[derive(Clone, Default)]
pub struct ExternalTools {
    tools: Arc<[ExternalTool]>,
    /// Those that child frames may call.
    of_children: Arc<[ExternalTool]>,
    pub(crate) consent: Option<ConsentFn>,
    pub(crate) decisions: BTreeMap<EffectId, EffectDecision>,
}

/// Why a tool cannot be a function of the session.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ToolNameError {
    #[error(
        "the tool `{name}` of `{source_name}` cannot be a function: its name is already used or not an identifier"
    )]
    Name { name: String, source_name: String },
    #[error("two tools are named `{name}`")]
    Twice { name: String },
    #[error("there are {n} tools; the maximum per run is {OUTSIDE_TOOLS_MAX}")]
    TooMany { n: usize },
}

impl Explain for ToolNameError {
    fn code(&self) -> ErrorCode {
        ErrorCode::ToolUnavailable
    }

    fn hint(&self) -> Option<String> {
        Some("leave it out with `--deny-tool NAME`, or give it another name".to_owned())
    }
}

impl ExternalTools {
    /// Checks that each tool can be a function of the session, and shortens texts, which may come
    /// from a hostile server.
    pub fn new(mut tools: Vec<ExternalTool>) -> Result<Self, ToolNameError> {
        if tools.len() > OUTSIDE_TOOLS_MAX {
            return Err(ToolNameError::TooMany { n: tools.len() });
        }
        let mut names = BTreeSet::new();
        for tool in &mut tools {
            if !is_function_name(&tool.name) {
                let (name, source_name) = (tool.name.clone(), tool.source.clone());
                return Err(ToolNameError::Name { name, source_name });
            }
            if !names.insert(tool.name.clone()) {
                return Err(ToolNameError::Twice { name: tool.name.clone() });
            }
            tool.description = tool.description.trim().chars().take(DESCRIPTION_CHARS_MAX).collect();
            if !tool.schema.is_object() || tool.schema.to_string().len() > SCHEMA_BYTES_MAX {
                tool.schema = json!({ "type": "object" });
            }
        }
        Ok(Self::default().with(tools))
    }

    fn with(self, tools: Vec<ExternalTool>) -> Self {
        let of_children = tools.iter().filter(|tool| tool.in_children).cloned().collect();
        Self { tools: tools.into(), of_children, ..self }
    }

    /// Asks this function before a tool that is not allowed changes something; without it, such calls are denied.
    #[must_use]
    pub fn with_consent(self, consent: ConsentFn) -> Self {
        Self { consent: Some(consent), ..self }
    }

    /// Decides about calls whose outcome is unknown.
    #[must_use]
    pub fn with_decisions(self, decisions: BTreeMap<EffectId, EffectDecision>) -> Self {
        Self { decisions, ..self }
    }

    /// The tools that are named, or whose source is. The error is a name that matches none.
    pub fn only(self, names: &[String]) -> Result<Self, String> {
        let is_named = |tool: &ExternalTool, name: &String| *name == tool.name || *name == tool.source;
        if let Some(name) = names.iter().find(|name| !self.tools.iter().any(|tool| is_named(tool, name))) {
            return Err(name.clone());
        }
        let is_kept = |tool: &&ExternalTool| names.iter().any(|name| is_named(tool, name));
        let kept = self.tools.iter().filter(is_kept).cloned().collect();
        Ok(self.with(kept))
    }

    /// All of them, in order.
    pub fn all(&self) -> &[ExternalTool] {
        &self.tools
    }

    pub(crate) fn at(&self, depth: u32) -> &[ExternalTool] {
        if depth == 0 { &self.tools } else { &self.of_children }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    pub(crate) fn find(&self, name: &str) -> Option<&ExternalTool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// What a prompt says about these tools; empty if there are none. Not part of the digest of all
    /// prompts, because a run keeps what its model was told.
    pub(crate) fn told(tools: &[ExternalTool]) -> String {
        if tools.is_empty() {
            return String::new();
        }
        let line = |tool: &ExternalTool| format!("- `{}`: {}\n", tool.signature(), tool.summary());
        TOOLS.replace("{tools}", tools.iter().map(line).collect::<String>().trim_end())
    }

    /// Python functions that call each of these tools with many arguments at once. If a tool
    /// already has such a name, it takes precedence.
    pub(crate) fn batches(tools: &[ExternalTool]) -> String {
        let is_free = |tool: &&ExternalTool| !tools.iter().any(|other| other.name == tool.batch_name());
        let function =
            |tool: &ExternalTool| BATCH.replace("{batch}", &tool.batch_name()).replace("{name}", &tool.name);
        tools.iter().filter(is_free).map(function).collect()
    }

    /// Their descriptions, for the first event of the journal; `None` if there are none.
    pub(crate) fn to_json(&self) -> Option<String> {
        let told = |tool: &ExternalTool| {
            let mut told = json!({
                "name": tool.name,
                "source": tool.source,
                "description": tool.description,
                "schema": tool.schema,
                "effect": tool.effect.name(),
            });
            if tool.in_children {
                told[IN_CHILDREN] = json!(true);
            }
            told
        };
        (!self.is_empty()).then(|| Value::Array(self.tools.iter().map(told).collect()).to_string())
    }

    /// The same tools with their recorded descriptions: a server may describe them differently by
    /// now. The error lists the recorded names.
    pub(crate) fn as_recorded(&self, recorded: Option<&str>) -> Result<Self, String> {
        let recorded: Vec<Value> =
            recorded.map(|text| serde_json::from_str(text).unwrap_or_default()).unwrap_or_default();
        let text = |told: &Value, field: &str| told[field].as_str().unwrap_or_default().to_owned();
        let mut tools = Vec::new();
        for told in &recorded {
            let Some(tool) = self.find(&text(told, "name")) else {
                return Err(recorded.iter().map(|told| text(told, "name")).collect::<Vec<_>>().join(", "));
            };
            let (description, schema) = (text(told, "description"), told["schema"].clone());
            let in_children = told[IN_CHILDREN] == true;
            tools.push(ExternalTool { description, schema, in_children, ..tool.clone() });
        }
        Ok(self.clone().with(tools))
    }
}

/// The sources of the tools of a run, from their recorded descriptions.
pub fn tool_sources(recorded: &str) -> BTreeSet<String> {
    let recorded: Vec<Value> = serde_json::from_str(recorded).unwrap_or_default();
    recorded.iter().filter_map(|told| told["source"].as_str()).map(str::to_owned).collect()
}

impl ExternalTool {
    /// The parameters: required ones first, in the order of the schema. `None` if it takes anything.
    pub(crate) fn params(&self) -> Option<Vec<(&str, bool)>> {
        let properties = self.schema.get("properties")?.as_object()?;
        let required: Vec<&str> = match self.schema.get("required") {
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            Some(_) | None => Vec::new(),
        };
        let known = required.iter().copied().filter(|name| properties.contains_key(*name));
        let others = properties.keys().map(String::as_str).filter(|name| !required.contains(name));
        let params: Vec<_> = known.map(|name| (name, true)).chain(others.map(|name| (name, false))).collect();
        params.iter().all(|(name, _)| is_identifier(name)).then_some(params)
    }

    /// The Python signature.
    pub fn signature(&self) -> String {
        let Some(params) = self.params() else { return format!("{}(**arguments)", self.name) };
        let properties = &self.schema["properties"];
        let shown = |(name, is_required): &(&str, bool)| {
            let kind = match properties[name]["type"].as_str() {
                Some("string") => ": str",
                Some("integer") => ": int",
                Some("number") => ": float",
                Some("boolean") => ": bool",
                Some("array") => ": list",
                Some("object") => ": dict",
                Some(_) | None => "",
            };
            format!("{name}{kind}{}", if *is_required { "" } else { " = None" })
        };
        format!("{}({})", self.name, params.iter().map(shown).collect::<Vec<_>>().join(", "))
    }

    /// What `help` prints.
    pub(crate) fn doc(&self) -> String {
        let mut doc = format!("{}\n\n{}", self.signature(), self.description);
        if let Some(Value::Object(properties)) = self.schema.get("properties") {
            for (name, property) in properties {
                if let Some(description) = property["description"].as_str() {
                    let description: String = description.chars().take(DESCRIPTION_CHARS_MAX).collect();
                    doc.push_str(&format!("\n{name}: {description}"));
                }
            }
        }
        doc
    }

    /// The first line of the description.
    pub fn summary(&self) -> String {
        const CHARS_MAX: usize = 200;
        self.description.lines().next().unwrap_or_default().chars().take(CHARS_MAX).collect()
    }

    /// The name of the function that calls it many times.
    pub(crate) fn batch_name(&self) -> String {
        format!("{}_batched", self.name)
    }

    /// Binds the arguments of a Python call. The error says what is wrong.
    pub(crate) fn bind(
        &self,
        args: Vec<Value>,
        kwargs: impl IntoIterator<Item = (String, Value)>,
    ) -> Result<Value, String> {
        let (name, params) = (&self.name, self.params());
        let params = params.as_deref();
        if args.len() > params.map_or(0, <[_]>::len) {
            return Err(format!("too many positional arguments: it is `{}`", self.signature()));
        }
        let mut object = Map::new();
        for (value, (param, _)) in args.into_iter().zip(params.unwrap_or_default()) {
            object.insert((*param).to_owned(), value);
        }
        for (param, value) in kwargs {
            if params.is_some_and(|params| !params.iter().any(|(known, _)| *known == param)) {
                return Err(format!("{name}() has no argument '{param}': it is `{}`", self.signature()));
            }
            if object.insert(param.clone(), value).is_some() {
                return Err(format!("{name}() got '{param}' twice"));
            }
        }
        // An optional parameter that is `None` counts as missing.
        let is_required = |param: &str| params.is_none_or(|params| params.contains(&(param, true)));
        object.retain(|param, value| !value.is_null() || is_required(param));
        match params
            .unwrap_or_default()
            .iter()
            .find(|(param, needed)| *needed && !object.contains_key(*param))
        {
            Some((param, _)) => Err(format!("{name}() needs '{param}': it is `{}`", self.signature())),
            None => Ok(Value::Object(object)),
        }
    }
}

/// Words that cannot be names in Python.
const KEYWORDS: &str = "False None True and as assert async await break class continue def del elif else except finally \
    for from global if import in is lambda nonlocal not or pass raise return try while with yield";

/// Names that a session already has: Python's functions, and its own.
const TAKEN: &str = "abs all any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile complex \
    delattr dict dir divmod enumerate eval exec exit filter float format frozenset getattr globals hasattr hash help \
    hex id input int isinstance issubclass iter len list locals map max memoryview min next object oct open ord pow \
    print property quit range repr reversed round set setattr slice sorted staticmethod str sum super tuple type vars \
    zip context context_text answer ModelError BudgetError NotFound ToolError llm_query rlm_query FINAL budget \
    llm_query_batched rlm_query_batched FINAL_VAR SUBMIT SHOW_VARS llm_batch llm_query_batch submit final_answer peek \
    lines grep search outline chunk query_rows tables images";

fn is_one_of(words: &str, name: &str) -> bool {
    words.split_whitespace().any(|word| word == name)
}

fn is_identifier(name: &str) -> bool {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.len() <= NAME_CHARS_MAX
        && name.chars().all(is_word)
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && !is_one_of(KEYWORDS, name)
}

pub(crate) fn is_function_name(name: &str) -> bool {
    is_identifier(name) && !name.starts_with('_') && !is_one_of(TAKEN, name)
}

#[cfg(test)]
mod tests;
