//! Calls to sub-models: one question, or many at once. They are ordinary calls of the frame and recorded as such.

use futures_util::future::join_all;
use serde_json::{Value, json};
use spelunk_context::{DocEntry, View};
use spelunk_desk::DeskPath;
use spelunk_model::{Prompt, Reply};
use spelunk_types::{Explain, Strategy};

use super::tools::text;
use super::work::{ToolOutcome, Work};
use crate::{FrameError, Result, Task};

const SHOWN_CHARS_MAX: usize = 500;
const REPLY_CHARS_MAX: usize = 20_000;

pub(super) async fn query(work: &mut Work<'_>, arguments: &Value) -> Result<ToolOutcome> {
    let known = ["prompt", "path", "offset", "limit", "save_to"];
    let asked = match read(work, arguments, &known).and_then(|()| one_prompt(work, arguments)) {
        Ok(asked) => asked,
        Err(why) => return Ok(ToolOutcome::refused(why)),
    };
    let reply = match ask_all(work, vec![asked]).await?.pop() {
        Some(Ok(reply)) => reply,
        Some(Err(why)) => return Ok(ToolOutcome::refused(why)),
        None => return Ok(ToolOutcome::refused("no question was given")),
    };
    let Some(save_to) = text(arguments, "save_to") else {
        return Ok(ToolOutcome::told(cut(&reply, REPLY_CHARS_MAX)));
    };
    Ok(match save(work, save_to, &reply) {
        Ok(()) => ToolOutcome::told(format!(
            "Saved to `{save_to}` ({} characters). It begins:\n{}",
            reply.chars().count(),
            cut(&reply, SHOWN_CHARS_MAX)
        )),
        Err(why) => ToolOutcome::refused(format!("{why}\nThe reply:\n{}", cut(&reply, REPLY_CHARS_MAX))),
    })
}

/// A question for a child that explores its documents itself, within `depth_max`.
pub(super) async fn descend(work: &mut Work<'_>, arguments: &Value) -> Result<ToolOutcome> {
    let view = match read(work, arguments, &["question", "paths"]).and_then(|()| part(work, arguments)) {
        Ok(view) => view,
        Err(why) => return Ok(ToolOutcome::refused(why)),
    };
    let Some(question) = text(arguments, "question") else {
        return Ok(ToolOutcome::refused("`question` is missing or empty"));
    };
    let task = Task { focus: work.task.focus, ..Task::new(question, view, Strategy::Repl) };
    work.agent.count(|counts| counts.subcalls += 1);
    match work.frame.descend(task).await {
        Ok(answer) => {
            let mut told = cut(&answer.text, REPLY_CHARS_MAX);
            for citation in &answer.citations {
                told += &format!("\n{}: {}", citation.place(), citation.quote);
            }
            Ok(ToolOutcome::told(told))
        }
        Err(error @ FrameError::Stopped(_)) => Err(error),
        Err(error) => Ok(ToolOutcome::refused(format!("{}: {error}", error.code()))),
    }
}

/// The documents that a child may see: those that are named, or all.
fn part(work: &Work<'_>, arguments: &Value) -> Result<View, String> {
    let paths = texts(arguments, "paths")?;
    let mut names = Vec::new();
    for path in &paths {
        let name = path.trim_start_matches("./").strip_prefix("input/contexts/");
        let name = name.filter(|name| work.task.view.find(name).is_some());
        names.push(name.ok_or_else(|| format!("there is no document `{path}` under `input/contexts/`"))?);
    }
    let is_named = |document: &DocEntry| names.is_empty() || names.contains(&document.name.as_str());
    Ok(work.task.view.narrow(is_named))
}

/// Many questions at once. A failed one does not fail the others.
pub(super) async fn batch(work: &mut Work<'_>, arguments: &Value) -> Result<ToolOutcome> {
    let known = ["prompts", "prompt", "paths", "save_to"];
    let prompts = match read(work, arguments, &known).and_then(|()| many_prompts(work, arguments)) {
        Ok(prompts) => prompts,
        Err(why) => return Ok(ToolOutcome::refused(why)),
    };
    let n_asked = prompts.len();
    let replies = ask_all(work, prompts).await?;
    let n_failed = replies.iter().filter(|reply| reply.is_err()).count();
    let save_to = text(arguments, "save_to");
    let chars_max = match save_to {
        Some(_) => SHOWN_CHARS_MAX,
        None => (REPLY_CHARS_MAX / n_asked.max(1)).max(SHOWN_CHARS_MAX),
    };
    let (mut told, mut lines) = (String::new(), String::new());
    for (idx, reply) in replies.iter().enumerate() {
        let (outcome, said) = match reply {
            Ok(said) => ("reply", said),
            Err(said) => ("failed", said),
        };
        told += &format!("[{}] {outcome}: {}\n", idx + 1, cut(said, chars_max));
        lines += &format!("{}\n", json!({ "index": idx + 1, "failed": reply.is_err(), "content": said }));
    }
    let mut head = format!("{n_asked} asked, {n_failed} failed.");
    if let Some(save_to) = save_to {
        head += &match save(work, save_to, &lines) {
            Ok(()) => format!(" Saved to `{save_to}`."),
            Err(why) => format!(" Not saved: {why}."),
        };
    }
    Ok(ToolOutcome { text: format!("{head}\n{told}"), failed: n_failed == n_asked, given: None })
}

/// Rejects unknown fields and a `save_to` that cannot be written.
fn read(work: &Work<'_>, arguments: &Value, known: &[&str]) -> Result<(), String> {
    let unknown =
        arguments.as_object().and_then(|fields| fields.keys().find(|key| !known.contains(&key.as_str())));
    if let Some(unknown) = unknown {
        let shown: String = unknown.chars().take(60).collect();
        return Err(format!("there is no argument `{shown}`; the arguments are {}", known.join(", ")));
    }
    // Checked before anything is sent: a reply that cannot be saved is wasted money.
    match text(arguments, "save_to") {
        Some(path) => save_path(work, path).map(drop),
        None => Ok(()),
    }
}

fn one_prompt(work: &Work<'_>, arguments: &Value) -> Result<String, String> {
    let prompt = text(arguments, "prompt").ok_or("`prompt` is missing or empty")?;
    let Some(path) = text(arguments, "path") else { return Ok(prompt.to_owned()) };
    let number = |name: &str| arguments.get(name).and_then(Value::as_u64);
    with_file(work, prompt, path, number("offset"), number("limit"))
}

fn many_prompts(work: &Work<'_>, arguments: &Value) -> Result<Vec<String>, String> {
    let (prompts, paths) = (texts(arguments, "prompts")?, texts(arguments, "paths")?);
    match (text(arguments, "prompt"), prompts.is_empty(), paths.is_empty()) {
        (None, false, true) => Ok(prompts),
        (Some(prompt), true, false) => {
            paths.iter().map(|path| with_file(work, prompt, path, None, None)).collect()
        }
        _ => Err("give either `prompts`, or `prompt` and `paths`".to_owned()),
    }
}

fn texts(arguments: &Value, name: &str) -> Result<Vec<String>, String> {
    match arguments.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => items
            .iter()
            .map(|item| item.as_str().map(str::to_owned).ok_or(format!("`{name}` must be a list of strings")))
            .collect(),
        Some(_) => Err(format!("`{name}` must be a list")),
    }
}

fn with_file(
    work: &Work<'_>,
    prompt: &str,
    path: &str,
    offset: Option<u64>,
    limit: Option<u64>,
) -> Result<String, String> {
    let path = DeskPath::parse(path).map_err(|error| error.to_string())?;
    let desk = &work.agent.desk;
    let text = match (offset, limit) {
        (None, None) => desk.text(&path).map_err(|error| error.to_string())?.into_owned(),
        (offset, limit) => {
            let lines = desk.lines(&path, offset.unwrap_or(1), limit.unwrap_or(u64::MAX));
            lines.map_err(|error| error.to_string())?.lines.join("\n")
        }
    };
    Ok(format!("{prompt}\n\n<file name=\"{path}\">\n{}\n</file>", text.trim_end()))
}

/// Sends everything at once; replies are in the order of the prompts. Failures are added to the error log.
async fn ask_all(work: &mut Work<'_>, prompts: Vec<String>) -> Result<Vec<Result<String, String>>> {
    let limits = work.frame.limits();
    let (chars_max, tokens_max) = (limits.query_chars_max, limits.sub_output_tokens_max);
    let too_long = prompts.iter().map(|prompt| prompt.chars().count() as u64).find(|n| *n > chars_max);
    if let Some(n_chars) = too_long {
        let why = format!(
            "a prompt has {n_chars} characters; the maximum is {chars_max}: split the text and ask about each part"
        );
        return Ok(prompts.iter().map(|_| Err(why.clone())).collect());
    }
    let asking: Vec<_> = prompts
        .iter()
        .map(|prompt| work.frame.ask_sub(Prompt::single("", prompt.clone(), tokens_max)))
        .collect();
    let mut replies = Vec::with_capacity(prompts.len());
    for (asked, prompt) in join_all(asking).await.into_iter().zip(&prompts) {
        replies.push(settle(work, asked, prompt)?);
    }
    Ok(replies)
}

fn settle(work: &mut Work<'_>, asked: Result<Reply>, prompt: &str) -> Result<Result<String, String>> {
    match asked {
        Ok(reply) => {
            work.agent.count_reply(&reply, false);
            Ok(Ok(reply.text))
        }
        Err(error @ FrameError::Stopped(_)) => Err(error),
        Err(error) => {
            let why = format!("{}: {error}", error.code());
            // If the desk is full, the model's next write reports it.
            drop(work.agent.log_error(&error.code().to_string(), &error.to_string(), prompt));
            Ok(Err(why))
        }
    }
}

fn save_path(work: &Work<'_>, path: &str) -> Result<DeskPath, String> {
    let path = DeskPath::parse(path).map_err(|error| error.to_string())?;
    // Tried on a copy: the desk decides whether the path is writable.
    work.agent.desk.clone().write(&path, Vec::new()).map_err(|error| error.to_string())?;
    Ok(path)
}

fn save(work: &mut Work<'_>, path: &str, text: &str) -> Result<(), String> {
    let path = save_path(work, path)?;
    work.agent.desk.write(&path, text.as_bytes().to_vec()).map_err(|error| error.to_string())
}

fn cut(text: &str, chars_max: usize) -> String {
    let n_chars = text.chars().count();
    if n_chars <= chars_max {
        return text.trim_end().to_owned();
    }
    let shown: String = text.chars().take(chars_max).collect();
    format!("{shown} … [{n_chars} characters in total]")
}
