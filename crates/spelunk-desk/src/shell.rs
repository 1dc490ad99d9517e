//! The shell: bash over a desk, without a host: no processes, no network, no files but the desk's, no environment, no
//! clock and no randomness. Every script starts fresh, in a worker process if the program has one, with limits on
//! everything. Changes to the desk persist even if a limit stops the script; if the worker is lost, the desk is
//! unchanged.

mod apart;
mod commands;
mod files;
mod list;
mod remote;
mod script;
mod temporary;
mod wire;

use std::sync::{Arc, Mutex, PoisonError};

pub use self::apart::SHELL_TASK;
use self::files::DeskFiles;
pub use self::remote::serve_shell;
use self::script::Ended;
use crate::{Desk, DeskError, Outcome, show};

/// Runs a script and returns its output. A script that fails is an outcome, not an error.
pub(crate) fn run(desk: &mut Desk, script: &str, stdin: Option<&str>) -> Result<Outcome, DeskError> {
    let before = desk.clone();
    let mut after = desk.clone();
    let ended = match spelunk_types::workers() {
        Some(workers) => apart::run(&*workers, &mut after, script, stdin)?,
        None => run_here(&mut after, script, stdin)?,
    };
    let changed = after.changed_since(&before);
    *desk = after;
    Ok(Outcome { text: told(&ended, desk.limits().output_bytes_max), changed })
}

/// Runs a script in this process.
fn run_here(desk: &mut Desk, script: &str, stdin: Option<&str>) -> Result<Ended, DeskError> {
    let shared = Arc::new(Mutex::new(desk.clone()));
    let files = Arc::new(DeskFiles::new(Arc::clone(&shared)));
    let ended = script::run(files, script, stdin, &desk.limits().shell)?;
    *desk = shared.lock().unwrap_or_else(PoisonError::into_inner).clone();
    Ok(ended)
}

/// What the model is shown: standard output, standard error, and how the script ended unless it succeeded.
fn told(ended: &Ended, bytes_max: u64) -> String {
    let how = "send the output to a file under `scratch/` and look at parts of it";
    let mut text = show::bounded(&ended.stdout, bytes_max, how);
    let stderr = show::bounded(&ended.stderr, bytes_max / 4, how);
    if !stderr.trim().is_empty() {
        end_line(&mut text);
        text.push_str("[stderr]\n");
        text.push_str(&stderr);
    }
    if let Some(stopped) = &ended.stopped {
        end_line(&mut text);
        text.push_str(&format!("[stopped: {stopped}]\n"));
    } else if ended.exit_code != 0 {
        end_line(&mut text);
        text.push_str(&format!("[exit code {}]\n", ended.exit_code));
    }
    if text.is_empty() {
        text.push_str("[no output]\n");
    }
    text
}

fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

#[cfg(test)]
mod tests;
