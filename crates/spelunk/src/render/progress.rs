//! The progress line: what the run is doing, on stderr, rewritten in place. It exists only on a terminal and is gone
//! before anything else is printed.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use spelunk_engine::{CallState, RunView};

use super::units::{count, dollars, time, tokens};

const EVERY: Duration = Duration::from_millis(80);
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const CHARS_MAX: usize = 100;

/// The line, if there is one.
pub(crate) struct Progress {
    enabled: bool,
    shown: bool,
    drawn_at: Option<Instant>,
    n_drawn: usize,
}

impl Progress {
    /// A line on stderr if that is a terminal and the user did not ask for quiet.
    pub(crate) fn new(quiet: bool) -> Self {
        Self { enabled: !quiet && io::stderr().is_terminal(), shown: false, drawn_at: None, n_drawn: 0 }
    }

    /// Draws a text, at most every 80 ms.
    pub(crate) fn draw(&mut self, text: impl FnOnce() -> String) {
        if !self.enabled || self.drawn_at.is_some_and(|at| at.elapsed() < EVERY) {
            return;
        }
        let spinner = SPINNER.get(self.n_drawn % SPINNER.len()).copied().unwrap_or_default();
        let text: String = text().chars().filter(|c| !c.is_control()).take(CHARS_MAX).collect();
        drop(write!(io::stderr().lock(), "\r\u{1b}[2K{spinner} {text}"));
        drop(io::stderr().lock().flush());
        (self.shown, self.drawn_at, self.n_drawn) = (true, Some(Instant::now()), self.n_drawn + 1);
    }

    /// Takes the line away.
    pub(crate) fn clear(&mut self) {
        if self.shown {
            drop(write!(io::stderr().lock(), "\r\u{1b}[2K"));
            drop(io::stderr().lock().flush());
            self.shown = false;
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

/// What a run is doing, in a line.
pub(crate) fn run_status(view: &RunView, streamed_bytes: u64, elapsed: Duration) -> String {
    let open: Vec<String> = view
        .calls
        .iter()
        .filter(|(_, call)| call.state == CallState::Open)
        .map(|(id, call)| match call.retries.last() {
            Some(code) => format!("{id} again after {code}"),
            None => id.to_string(),
        })
        .collect();
    let model = view.model.as_ref().map(ToString::to_string).unwrap_or_default();
    let doing = match open.as_slice() {
        [] if view.cells.is_empty() => "reading".to_owned(),
        [] => "running code".to_owned(),
        [one] if streamed_bytes > 0 => format!("{one} {model} writes"),
        [one] => format!("{one} asks {model}"),
        many => format!("{} to {model}", count(many.len() as u64, "call")),
    };
    let settled = view.calls.len() - open.len();
    let elapsed = time(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX));
    format!(
        "{doing} · {} done · {} tokens · {} · {elapsed}",
        count(settled as u64, "call"),
        tokens(view.spent.tokens()),
        dollars(view.spent.cost_microusd)
    )
}
