//! The agent's notes: variables, and buffers for assembling a long text piece by piece. They are
//! bounded and live in memory as long as the server.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use spelunk_app::arguments::{Arguments, wrong};
use spelunk_app::units::count;

use super::{Failure, State, ToolAnswer, Usage, cut};

const NAME_CHARS_MAX: usize = 200;
const PREVIEW_CHARS: usize = 100;
const BUFFERS_MAX: usize = 100;
const BUFFER_ENTRIES_MAX: usize = 1000;
const BUFFERS_BYTES_MAX: usize = 10_000_000;
const DEFAULT_BUFFER: &str = "default";

#[derive(Debug, Default)]
pub(super) struct Notes {
    vars: BTreeMap<String, String>,
    buffers: BTreeMap<String, Vec<String>>,
    buffered_bytes: usize,
}

impl Notes {
    pub(super) fn var(&self, name: &str) -> Option<&str> {
        self.vars.get(name).map(String::as_str)
    }

    /// Removes one variable or all; returns how many.
    fn clear_vars(&mut self, name: Option<&str>) -> usize {
        match name {
            Some(name) => usize::from(self.vars.remove(name).is_some()),
            None => std::mem::take(&mut self.vars).len(),
        }
    }

    /// Removes one buffer or all; returns the number of entries.
    fn clear_buffers(&mut self, label: Option<&str>) -> usize {
        let gone: Vec<Vec<String>> = match label {
            Some(label) => self.buffers.remove(label).into_iter().collect(),
            None => std::mem::take(&mut self.buffers).into_values().collect(),
        };
        self.buffered_bytes -= gone.iter().flatten().map(String::len).sum::<usize>();
        gone.iter().map(Vec::len).sum()
    }
}

fn full(what: &str, max: u64) -> Usage {
    Usage::new(format!("the limit for {what} is reached ({max})"), "clear those you no longer need")
}

pub(super) const ACTIONS: [&str; 7] = ["set", "get", "list", "append", "read", "pop", "clear"];

/// `notes`: one tool for variables and buffers.
pub(super) fn note(state: &State, mut arguments: Arguments) -> Result<ToolAnswer, Failure> {
    let action = arguments.needed("action", NAME_CHARS_MAX)?;
    match action.as_str() {
        "set" => set(state, arguments),
        "get" => get(state, arguments),
        "list" => list(state, arguments),
        "append" => {
            arguments.rename("key", "label");
            arguments.rename("value", "text");
            append(state, arguments)
        }
        "read" | "pop" => {
            arguments.rename("key", "label");
            if action == "read" { read(state, arguments) } else { pop(state, arguments) }
        }
        "clear" => clear_both(state, arguments),
        _ => Err(wrong("action", &format!("must be one of {}", ACTIONS.join(", "))).into()),
    }
}

fn clear_both(state: &State, mut arguments: Arguments) -> Result<ToolAnswer, Failure> {
    let key = arguments.text("key", NAME_CHARS_MAX)?;
    arguments.finish()?;
    let mut notes = state.notes();
    let n_cleared = notes.clear_vars(key.as_deref()) + notes.clear_buffers(key.as_deref());
    Ok(ToolAnswer::new(format!("{n_cleared} cleared"), json!({ "cleared": n_cleared })))
}

pub(super) fn set(state: &State, mut arguments: Arguments) -> Result<ToolAnswer, Failure> {
    let limits = &state.app.settings.limits;
    let name = arguments.needed("key", NAME_CHARS_MAX)?;
    let value_max = usize::try_from(limits.var_bytes_max).unwrap_or(usize::MAX);
    let value = match arguments.value("value") {
        Some(Value::String(text)) => text,
        Some(other) => other.to_string(),
        None => return Err(wrong("value", "is missing").into()),
    };
    arguments.finish()?;
    if value.len() > value_max {
        return Err(wrong("value", &format!("is longer than {value_max} bytes")).into());
    }
    let mut notes = state.notes();
    let is_new = !notes.vars.contains_key(&name);
    if is_new && notes.vars.len() as u64 >= limits.vars_max {
        return Err(full("variables", limits.vars_max).into());
    }
    let held = notes.var(&name).map_or(0, str::len);
    let n_bytes: usize = notes.vars.iter().map(|(name, value)| name.len() + value.len()).sum();
    if (n_bytes - held + value.len()) as u64 > limits.vars_bytes_max {
        return Err(full("variables", limits.vars_bytes_max).into());
    }
    let n_chars = value.chars().count();
    notes.vars.insert(name.clone(), value);
    let n_vars = notes.vars.len();
    let text = format!("{name} = {}", count(n_chars as u64, "character"));
    Ok(ToolAnswer::new(text, json!({ "key": name, "chars": n_chars, "keys": n_vars })))
}

pub(super) fn get(state: &State, mut arguments: Arguments) -> Result<ToolAnswer, Failure> {
    let name = arguments.needed("key", NAME_CHARS_MAX)?;
    let start = arguments.whole("start", u64::MAX)?.unwrap_or(0);
    let end = arguments.whole("end", u64::MAX)?;
    arguments.finish()?;
    let notes = state.notes();
    let Some(value) = notes.var(&name) else {
        let known: Vec<&str> = notes.vars.keys().map(String::as_str).take(20).collect();
        let hint = if known.is_empty() {
            "no variables are set".to_owned()
        } else {
            format!("the variables are {}", known.join(", "))
        };
        let (shown, _) = cut(&name, 60);
        return Err(Usage::new(format!("there is no variable `{shown}`"), hint).into());
    };
    let (from, until) = (start, end.unwrap_or(u64::MAX).max(start));
    let size = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let slice: String = value.chars().skip(size(from)).take(size(until - from)).collect();
    let n_chars = value.chars().count();
    Ok(ToolAnswer::new(slice.clone(), json!({ "key": name, "value": slice, "chars": n_chars })))
}

pub(super) fn list(state: &State, arguments: Arguments) -> Result<ToolAnswer, Failure> {
    arguments.finish()?;
    let notes = state.notes();
    let (mut text, mut vars, mut buffers) = (String::new(), Vec::new(), Vec::new());
    for (name, value) in &notes.vars {
        let (n_chars, preview) = (value.chars().count(), cut(value, PREVIEW_CHARS).0);
        text += &format!("{name} ({n_chars} characters): {preview}\n");
        vars.push(json!({ "key": name, "chars": n_chars, "preview": preview }));
    }
    for (label, entries) in &notes.buffers {
        let (n_entries, n_chars) =
            (entries.len(), entries.iter().map(|entry| entry.chars().count()).sum::<usize>());
        text += &format!("buffer {label}: {n_entries} entries, {n_chars} characters\n");
        buffers.push(json!({ "label": label, "entries": n_entries, "chars": n_chars }));
    }
    if text.is_empty() {
        text.push_str("no variables or buffers are set");
    }
    Ok(ToolAnswer::new(text, json!({ "state": vars, "buffers": buffers })))
}

pub(super) fn clear(state: &State, mut arguments: Arguments) -> Result<ToolAnswer, Failure> {
    let name = arguments.text("key", NAME_CHARS_MAX)?;
    arguments.finish()?;
    let n_cleared = state.notes().clear_vars(name.as_deref());
    Ok(ToolAnswer::new(format!("{n_cleared} cleared"), json!({ "cleared": n_cleared })))
}

pub(super) fn append(state: &State, mut arguments: Arguments) -> Result<ToolAnswer, Failure> {
    let label = label(&mut arguments)?;
    let text = arguments.needed("text", BUFFERS_BYTES_MAX)?;
    arguments.finish()?;
    let mut notes = state.notes();
    if notes.buffered_bytes + text.len() > BUFFERS_BYTES_MAX {
        return Err(full("buffers", BUFFERS_BYTES_MAX as u64).into());
    }
    if !notes.buffers.contains_key(&label) && notes.buffers.len() >= BUFFERS_MAX {
        return Err(full("buffers", BUFFERS_MAX as u64).into());
    }
    notes.buffered_bytes += text.len();
    let entries = notes.buffers.entry(label.clone()).or_default();
    if entries.len() >= BUFFER_ENTRIES_MAX {
        notes.buffered_bytes -= text.len();
        return Err(full("entries of a buffer", BUFFER_ENTRIES_MAX as u64).into());
    }
    entries.push(text);
    let n_entries = entries.len();
    let said = format!(
        "{label} has {}",
        if n_entries == 1 { "1 entry".to_owned() } else { format!("{n_entries} entries") }
    );
    Ok(ToolAnswer::new(said, json!({ "label": label, "entries": n_entries })))
}

fn label(arguments: &mut Arguments) -> Result<String, Usage> {
    Ok(arguments.text("label", NAME_CHARS_MAX)?.unwrap_or_else(|| DEFAULT_BUFFER.to_owned()))
}

pub(super) fn read(state: &State, mut arguments: Arguments) -> Result<ToolAnswer, Failure> {
    let label = label(&mut arguments)?;
    let join = arguments.text("join", 1000)?.unwrap_or_else(|| "\n".to_owned());
    arguments.finish()?;
    let notes = state.notes();
    let entries = notes.buffers.get(&label).map(Vec::as_slice).unwrap_or_default();
    // The separator may be repeated a thousand times, but both are bounded.
    let text = entries.join(&join);
    Ok(ToolAnswer::new(text.clone(), json!({ "label": label, "text": text, "entries": entries.len() })))
}

pub(super) fn pop(state: &State, mut arguments: Arguments) -> Result<ToolAnswer, Failure> {
    let label = label(&mut arguments)?;
    arguments.finish()?;
    let mut notes = state.notes();
    let popped = notes.buffers.get_mut(&label).and_then(Vec::pop);
    notes.buffered_bytes -= popped.as_ref().map_or(0, String::len);
    let n_entries = notes.buffers.get(&label).map_or(0, Vec::len);
    let text = popped.clone().unwrap_or_else(|| "the buffer is empty".to_owned());
    Ok(ToolAnswer::new(text, json!({ "label": label, "text": popped, "entries": n_entries })))
}

pub(super) fn clear_buffer(state: &State, mut arguments: Arguments) -> Result<ToolAnswer, Failure> {
    let label = arguments.text("label", NAME_CHARS_MAX)?;
    arguments.finish()?;
    let n_entries = state.notes().clear_buffers(label.as_deref());
    Ok(ToolAnswer::new(format!("{n_entries} cleared"), json!({ "cleared": n_entries })))
}
