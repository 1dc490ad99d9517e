//! The tools of an agent: those of the desk, and those beyond it (scripts, sub-models, finishing).

use std::sync::{Arc, LazyLock};

use serde_json::{Value, json};
use spelunk_desk::TOOLS;
use spelunk_model::{Tool, ToolCall};

use super::work::{ToolOutcome, Work};
use super::{ask, finish, script};
use crate::frame::REPLAY_TIME_FACTOR;
use crate::sync::blocking;
use crate::{Frame, Result};

/// Tools that only write and show nothing of the input.
const BLIND: [&str; 5] = ["Write", "Edit", "Evidence", "Buffer", "Finish"];
const SHOWN_CHARS_MAX: usize = 200;

static ALL: LazyLock<Vec<Tool>> = LazyLock::new(|| {
    let of_desk = TOOLS.iter().map(|tool| Tool {
        name: tool.name.to_owned(),
        description: tool.description.to_owned(),
        schema: Arc::new(tool.schema_value()),
    });
    of_desk.chain(own()).collect()
});

/// All tools in the order of a request: the agent's own, then external ones.
pub(super) fn all(frame: &Frame) -> Vec<Tool> {
    let outside = frame.tools().iter().map(|tool| Tool {
        name: tool.name.clone(),
        description: tool.description.clone(),
        schema: Arc::new(tool.schema.clone()),
    });
    ALL.iter().cloned().chain(outside).collect()
}

fn own() -> Vec<Tool> {
    let text = |what: &str| json!({ "type": "string", "description": what });
    let texts = |what: &str| json!({ "type": "array", "items": { "type": "string" }, "description": what });
    let tool = |name: &str, description: &str, properties: Value, required: &[&str]| Tool {
        name: name.to_owned(),
        description: description.to_owned(),
        schema: Arc::new(json!({
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        })),
    };
    vec![
        tool(
            "RunScript",
            "Runs a Python script in the folder and shows its output. The script is saved as \
             `scratch/scripts/001_NAME.py`; variables persist. `tools.llm_client` asks sub-models.",
            json!({
                "name": text("What it does, in one word: scan, extract, join."),
                "code": text("The script."),
                "path": text("A script file to run instead of `code`."),
            }),
            &[],
        ),
        tool(
            "LlmQuery",
            "Asks a sub-model. It sees only the prompt and the selected lines of the file.",
            json!({
                "prompt": text("The complete question."),
                "path": text("A file whose text is appended to the prompt."),
                "offset": { "type": "integer", "description": "Its first line, starting at 1." },
                "limit": { "type": "integer", "description": "Number of lines." },
                "save_to": text("A file for the reply; then only its beginning is shown."),
            }),
            &["prompt"],
        ),
        tool(
            "LlmBatch",
            "Asks many sub-models at once: one per prompt, or the same prompt for each file.",
            json!({
                "prompts": texts("One question per call."),
                "prompt": text("One question, for each of the files in `paths`."),
                "paths": texts("Files whose text is appended to the prompt, one per call."),
                "save_to": text("A file for the replies, as JSON lines; then only their beginnings are shown."),
            }),
            &[],
        ),
        tool(
            "Descend",
            "Hands a question to a child agent that explores documents with its own code and sub-models, \
             and shows its answer. For a part of the job that needs several steps.",
            json!({
                "question": text("The complete question."),
                "paths": texts("The documents under `input/contexts/` that it may see; default all."),
            }),
            &["question"],
        ),
        tool(
            "Finish",
            "Ends the job with the content of `output/answer.md`. It is checked first, and rejected if it is not an answer.",
            json!({
                "answer": text("The answer, which is written to `output/answer.md` first."),
                "evidence": texts("Lines of the form `path:12: words copied exactly from that line`."),
            }),
            &[],
        ),
    ]
}

/// Runs a call. Faults of the call are reported to the model; an error ends the run.
pub(super) async fn run(work: &mut Work<'_>, call: &ToolCall) -> Result<ToolOutcome> {
    let arguments = match arguments(call) {
        Ok(arguments) => arguments,
        Err(why) => return Ok(ToolOutcome::refused(why)),
    };
    let done = match call.name.as_str() {
        "Finish" => finish::finish(work, &arguments),
        "RunScript" => script::run(work, &arguments).await?,
        "LlmQuery" => ask::query(work, &arguments).await?,
        "LlmBatch" => ask::batch(work, &arguments).await?,
        "Descend" => ask::descend(work, &arguments).await?,
        name => match work.frame.tools().iter().find(|tool| tool.name == name) {
            Some(tool) => match work.frame.act(tool, arguments).await? {
                Ok(Value::String(text)) => ToolOutcome::told(text),
                Ok(value) => ToolOutcome::told(value.to_string()),
                Err((_, message)) => ToolOutcome::refused(message),
            },
            None => on_desk(work, name, arguments).await,
        },
    };
    work.check.has_looked |= !done.failed && !BLIND.contains(&call.name.as_str());
    Ok(done)
}

/// A text argument that is not blank.
pub(super) fn text<'v>(arguments: &'v Value, name: &str) -> Option<&'v str> {
    arguments.get(name)?.as_str().filter(|text| !text.trim().is_empty())
}

fn arguments(call: &ToolCall) -> Result<Value, String> {
    let (shown, name) = (call.arguments.chars().take(SHOWN_CHARS_MAX).collect::<String>(), &call.name);
    match serde_json::from_str(&call.arguments) {
        Ok(arguments @ Value::Object(_)) => Ok(arguments),
        Ok(_) => Err(format!("the arguments of {name} must be a JSON object, not `{shown}`")),
        Err(error) => Err(format!("the arguments of {name} are not JSON ({error}): `{shown}`")),
    }
}

const SHELL: &str = "Shell";

/// Whether a limit stopped a script, by the last line of its output.
fn is_stopped(text: &str) -> bool {
    text.lines().last().is_some_and(|line| line.starts_with("[stopped: "))
}

/// Runs a tool of the desk. Searching and the shell may take a while: they run on a separate
/// thread, on a copy of the desk that shares its files.
async fn on_desk(work: &mut Work<'_>, name: &str, arguments: Value) -> ToolOutcome {
    let Some(tool) = spelunk_desk::tool(name) else {
        let names: Vec<_> = ALL.iter().map(|tool| tool.name.as_str()).collect();
        let shown: String = name.chars().take(60).collect();
        return ToolOutcome::refused(format!("no tool `{shown}`; the tools are {}", names.join(", ")));
    };
    if name == SHELL
        && let Some(output) = work.frame.refused_tool(name)
    {
        return ToolOutcome::refused(output);
    }
    let mut desk = work.agent.desk.clone();
    let is_replaying = work.frame.is_replaying();
    let (desk, ran) = blocking(move || {
        let limits = desk.limits().clone();
        if is_replaying {
            let mut longer = limits.clone();
            longer.shell.timeout_ms = longer.shell.timeout_ms.saturating_mul(REPLAY_TIME_FACTOR);
            desk = desk.with_limits(longer);
        }
        let ran = tool.run(&mut desk, &arguments);
        (desk.with_limits(limits), ran)
    })
    .await;
    match ran {
        // If a timeout may have stopped it, its effects are discarded: a replay could get further, or less far.
        Ok(text) if name == SHELL && is_stopped(&text) => {
            ToolOutcome::refused(format!("{text}The files are unchanged."))
        }
        Ok(text) => {
            work.agent.desk = desk;
            ToolOutcome::told(text)
        }
        Err(error) => ToolOutcome::refused(error),
    }
}
