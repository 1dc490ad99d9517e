//! The shell: bash over a desk, without processes, network, environment, clock, randomness or other files.
//! Every script starts fresh, in a worker process if the program has one, with limits on everything. Changes
//! persist even if a limit stops the script; if the worker is lost, the desk is unchanged.

mod apart;
mod commands;
mod list;
mod remote;
mod script;
mod temporary;
mod wire;

pub use self::apart::SHELL_TASK;
pub use self::remote::serve_shell;
use self::wire::ScriptEnd;
use crate::{Desk, DeskError, show};

/// Runs a script and returns its output. A script that fails is an outcome, not an error.
pub(crate) fn run(desk: &mut Desk, script: &str, stdin: Option<&str>) -> Result<String, DeskError> {
    let ended = match spelunk_types::workers() {
        Some(workers) => apart::run(&*workers, desk, script, stdin)?,
        None => apart::run(&apart::Threads, desk, script, stdin)?,
    };
    Ok(told(&ended, desk.limits().output_bytes_max))
}

/// What the model is shown: standard output, standard error, and how the script ended unless it succeeded.
fn told(ended: &ScriptEnd, bytes_max: u64) -> String {
    let how = "redirect the output to a file under `scratch/` and read parts of it";
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
