//! Scripts: Python that an agent runs on its desk. They share one session, so variables persist; the files they open
//! are those of the desk, and their sub-model calls go through the frame. A script that hits a limit leaves files and
//! variables unchanged.

use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde_json::Value;
use spelunk_desk::{Desk, DeskPath};

use super::tools::text;
use super::work::{ToolOutcome, Work};
use crate::Result;
use crate::session::{Ran, Session, file, path};

pub(super) const LLM_CLIENT: &str = include_str!("llm_client.py");
pub(super) const CHUNKING: &str = include_str!("chunking.py");

const NAME_CHARS_MAX: usize = 40;
const CODE_BYTES_MAX: usize = 400_000;

fn prelude() -> String {
    format!("{LLM_CLIENT}\n\n{CHUNKING}\n")
}

pub(super) async fn run(work: &mut Work<'_>, arguments: &Value) -> Result<ToolOutcome> {
    let scripts_max = work.frame.limits().scripts_max;
    let n_run = work.agent.counts().scripts;
    if n_run >= scripts_max {
        return Ok(ToolOutcome::refused(format!(
            "all {scripts_max} scripts of this run were used: finish with what you have, or use Shell and LlmBatch"
        )));
    }
    let code = match code(&work.agent.desk, arguments) {
        Ok(code) => code,
        Err(why) => return Ok(ToolOutcome::refused(why)),
    };
    if let Err(error) = keep(work, arguments, &code, n_run + 1) {
        return Ok(ToolOutcome::refused(error));
    }
    work.agent.count(|counts| {
        counts.scripts += 1;
        counts.script_calls = 0;
    });
    let ran = run_in_session(work, &with_tools(&code)).await?;
    let calls = work.agent.counts().script_calls;
    let left = scripts_max - n_run - 1;
    let tail = format!("[{calls} sub-model calls; {left} scripts left]");
    Ok(match ran {
        Ran::Printed(text) => ToolOutcome::told(format!("{text}\n{tail}")),
        Ran::Broke(text) => ToolOutcome::refused(format!("{text}\n{tail}")),
        Ran::Answered(_) => ToolOutcome::refused(format!(
            "a script cannot end the work: write `output/answer.md` and call Finish\n{tail}"
        )),
    })
}

/// Hands the desk to the session while the script runs.
async fn run_in_session(work: &mut Work<'_>, code: &str) -> Result<Ran> {
    let mut session = match work.session.take() {
        Some(session) => session,
        None => Session::open(work.frame, work.task, Some(&prelude())).await?.0,
    };
    session.agent = Some(work.agent.clone());
    let ran = session.run(code).await?;
    if let Some(agent) = session.agent.take() {
        work.agent = agent;
    }
    work.session = Some(session);
    // If the desk is full, the model's next write reports it.
    drop(work.agent.settle_failures());
    Ok(ran)
}

fn code(desk: &Desk, arguments: &Value) -> Result<String, String> {
    let code = match (text(arguments, "code"), text(arguments, "path")) {
        (Some(code), None) => code.to_owned(),
        (None, Some(at)) => {
            let at = DeskPath::parse(at).map_err(|error| error.to_string())?;
            desk.text(&at).map_err(|error| error.to_string())?.into_owned()
        }
        _ => return Err("give either `code`, or the `path` of a script".to_owned()),
    };
    if code.len() > CODE_BYTES_MAX {
        return Err(format!("the script has {} bytes; the maximum is {CODE_BYTES_MAX}", code.len()));
    }
    Ok(code)
}

/// Saves a script under its number. A script that was run from a file stays there.
fn keep(
    work: &mut Work<'_>,
    arguments: &Value,
    code: &str,
    number: u64,
) -> Result<(), spelunk_desk::DeskError> {
    if text(arguments, "path").is_some() {
        return Ok(());
    }
    let name = arguments.get("name").and_then(Value::as_str).unwrap_or_default();
    let name =
        name.trim_end_matches(".py").trim_start_matches(|char: char| char.is_ascii_digit() || char == '_');
    let plain = |char: char| if char.is_ascii_alphanumeric() { char.to_ascii_lowercase() } else { '_' };
    let name: String = name.chars().take(NAME_CHARS_MAX).map(plain).collect();
    let name = name.trim_matches('_');
    let name = if name.is_empty() { "script" } else { name };
    let kept = path(&format!("scratch/scripts/{number:03}_{name}.py"));
    let is_there = file(&work.agent.desk, &kept).is_some_and(|bytes| *bytes == *code.as_bytes());
    if is_there { Ok(()) } else { work.agent.desk.write(&kept, code.as_bytes().to_vec()) }
}

static FROM_TOOLS: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?m)^([ \t]*)from[ \t]+tools(?:\.\w+)?[ \t]+import[ \t]+(\([^)]*\)|[^\n#;(]+)";
    Regex::new(pattern).expect("a literal")
});

/// Replaces imports from `tools` by bindings, because those modules are loaded before the first
/// line. Line numbers stay the same.
fn with_tools(code: &str) -> String {
    let bound = |captures: &Captures<'_>| {
        let (indent, names) = (&captures[1], captures[2].trim().trim_matches(['(', ')']));
        let mut bindings = Vec::new();
        for name in names.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let words: Vec<&str> = name.split_whitespace().collect();
            match words.as_slice() {
                [name, "as", bound] => bindings.push(format!("{bound} = {name}")),
                // A reference to the name is enough, and fails if there is no such module.
                [name] => bindings.push(format!("{name} = {name}")),
                _ => bindings.push(format!("raise ImportError({name:?})")),
            }
        }
        let n_lines = captures[2].matches('\n').count();
        let bindings = if bindings.is_empty() { "pass".to_owned() } else { bindings.join("; ") };
        format!("{indent}{bindings}{}", "\n".repeat(n_lines))
    };
    FROM_TOOLS.replace_all(code, bound).into_owned()
}

#[cfg(test)]
mod tests;
