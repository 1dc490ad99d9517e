//! The shell: a bash that runs in this process over a desk, and has no host: no processes, no network, no files but the
//! desk's, no environment, no clock and no chance. Every script begins anew, runs on a thread of its own with limits on
//! everything, and what it did to the desk stays even where a limit stopped it.

mod commands;
mod files;
mod limits;
mod quick;
mod script;

use std::sync::{Arc, Mutex, PoisonError};

use self::files::DeskFiles;
pub use self::limits::ShellLimits;
use self::script::Ended;
use crate::{Desk, DeskError, Outcome, show};

/// Runs a script and says what it printed. A script that fails is an outcome, not an error.
pub(crate) fn run(desk: &mut Desk, script: &str, stdin: Option<&str>) -> Result<Outcome, DeskError> {
    let limits = desk.limits().shell.clone();
    let before = desk.clone();
    let mut after = desk.clone();
    if let Some(ended) = quick::run(&mut after, script, stdin) {
        let changed = after.changed_since(&before);
        *desk = after;
        return Ok(Outcome { text: told(&ended, desk.limits().output_bytes_max), changed });
    }
    let shared = Arc::new(Mutex::new(desk.clone()));
    let files = Arc::new(DeskFiles::new(Arc::clone(&shared)));
    let ended = script::run(files, script, stdin, &limits)?;
    let after = shared.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let changed = after.changed_since(&before);
    *desk = after;
    Ok(Outcome { text: told(&ended, desk.limits().output_bytes_max), changed })
}

/// What the model is shown: standard output, standard error, and how it ended unless it ended well.
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
