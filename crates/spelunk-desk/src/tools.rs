//! The tools a model uses on its desk, in one table. Each takes a desk and arguments and returns a bounded text for
//! the model, without other side effects. A refusal is an error and leaves the desk unchanged.

mod buffer;
mod chunk;
mod edit;
mod evidence;
mod glob;
mod grep;
mod read;
mod schema;
mod wire;

pub use self::chunk::{NO_HEADINGS, index_path};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Desk, DeskError, shell, show};

/// A tool: its description for the model, and its function.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    /// The name it is called by.
    pub name: &'static str,
    /// When to call it and what it returns, for the model.
    pub description: &'static str,
    /// The JSON Schema of its arguments, as text.
    pub schema: &'static str,
    run: fn(&mut Desk, &Value) -> Result<String, DeskError>,
}

impl Tool {
    /// The schema as a value.
    pub fn schema_value(&self) -> Value {
        serde_json::from_str(self.schema).expect("the schemas of the table are JSON: a test reads them all")
    }

    /// Runs it. Blocks: a search may read a gigabyte, and a script may take a while.
    pub fn run(&self, desk: &mut Desk, arguments: &Value) -> Result<String, DeskError> {
        (self.run)(desk, arguments)
    }
}

/// Every tool, in the order shown to a model.
pub const TOOLS: &[Tool] = &[
    Tool {
        name: "Read",
        description: "Reads a file by lines, with line numbers. `offset` (the first line, starting at 1) \
                      and `limit` select a part; for a file with very long lines, use `byte_offset` and `byte_limit`.",
        schema: schema::READ,
        run: read::run,
    },
    Tool {
        name: "Write",
        description: "Writes a file under `scratch/`, `output/` or `cache/indexes/`, or `state/notes.md`. \
                      Replaces an existing file; with `append`, adds to its end.",
        schema: schema::WRITE,
        run: edit::write,
    },
    Tool {
        name: "Edit",
        description: "Replaces `old` with `new` in a file. `old` must match exactly and occur once, unless \
                      `all` is set.",
        schema: schema::EDIT,
        run: edit::edit,
    },
    Tool {
        name: "Grep",
        description: "Finds lines that match a regular expression, in a file, a directory or all files. \
                      Fast on any size: use it before reading. `mode` selects lines, files or counts.",
        schema: schema::GREP,
        run: grep::run,
    },
    Tool {
        name: "Glob",
        description: "Lists files by name: `*.md` at any depth, `input/**/*.csv` from the root, `!` excludes.",
        schema: schema::GLOB,
        run: glob::run,
    },
    Tool {
        name: "Chunk",
        description: "Splits a file into chunks by tokens, lines, paragraphs or headings, and writes a \
                      manifest with the lines and bytes of each to `cache/indexes/`. The text is not copied.",
        schema: schema::CHUNK,
        run: chunk::run,
    },
    Tool {
        name: "Evidence",
        description: "Records a finding in `state/evidence.jsonl`, which is append-only. Use the same tag \
                      for the same kind of finding, and give the source as `path:line`.",
        schema: schema::EVIDENCE,
        run: evidence::run,
    },
    Tool {
        name: "Buffer",
        description: "Assembles a text longer than one reply: `append` parts under a name, `read` or \
                      `list` them, `pop` the last, `clear` all, and `assemble` them into a file.",
        schema: schema::BUFFER,
        run: buffer::run,
    },
    Tool {
        name: "Shell",
        description: "Runs a bash script over the folder: ls, cat, head, tail, wc, grep, sed, awk, sort, \
                      uniq, cut, tr, find, xargs, diff and the like. The folder is `/`. No network, no other \
                      programs, no waiting; every call starts in `/`.",
        schema: schema::SHELL,
        run: run_shell,
    },
];

/// The tool of that name.
pub fn tool(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}

/// Runs the tool of that name.
pub fn run_tool(desk: &mut Desk, name: &str, arguments: &Value) -> Result<String, DeskError> {
    match tool(name) {
        Some(tool) => tool.run(desk, arguments),
        None => Err(DeskError::UnknownTool { name: show::on_one_line(name, 60), known: names() }),
    }
}

pub(crate) fn names() -> String {
    TOOLS.iter().map(|tool| tool.name).collect::<Vec<_>>().join(", ")
}

/// Parses the arguments of a tool. An unknown field is an error, since it is probably a mistake.
fn arguments<T: DeserializeOwned>(tool: &'static str, value: &Value) -> Result<T, DeskError> {
    const CHARS_MAX: usize = 300;
    if !value.is_object() {
        return Err(DeskError::Arguments { tool, why: "they must be a JSON object".to_owned() });
    }
    T::deserialize(value)
        .map_err(|error| DeskError::Arguments { tool, why: show::on_one_line(&error.to_string(), CHARS_MAX) })
}

fn refused(tool: &'static str, why: impl Into<String>) -> DeskError {
    DeskError::Arguments { tool, why: why.into() }
}

fn run_shell(desk: &mut Desk, value: &Value) -> Result<String, DeskError> {
    let wire::Shell { command, stdin } = arguments("Shell", value)?;
    shell::run(desk, &command, stdin.as_deref())
}

#[cfg(test)]
mod tests;
