//! The progress line: what the run is doing, on stderr, redrawn in place. It is shown only on a terminal and cleared
//! before anything else is printed.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use spelunk_engine::{CallState, RunView, TasksView, Ticked};
use spelunk_index::IndexProgress;
use spelunk_model::Loading;
use spelunk_types::EventKind;

use crate::units::{bytes, count, dollars, time, tokens};

const EVERY: Duration = Duration::from_millis(80);
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const CHARS_MAX: usize = 100;

/// The line, if there is one.
pub struct Progress {
    enabled: bool,
    shown: bool,
    drawn_at: Option<Instant>,
    n_drawn: usize,
}

impl Progress {
    /// A line on stderr if that is a terminal and the user did not ask for quiet.
    pub fn new(quiet: bool) -> Self {
        Self { enabled: !quiet && io::stderr().is_terminal(), shown: false, drawn_at: None, n_drawn: 0 }
    }

    /// Draws the text, at most every 80 ms.
    pub fn draw(&mut self, text: impl FnOnce() -> String) {
        if !self.enabled || self.drawn_at.is_some_and(|at| at.elapsed() < EVERY) {
            return;
        }
        let spinner = SPINNER.get(self.n_drawn % SPINNER.len()).copied().unwrap_or_default();
        let text: String = text().chars().filter(|c| !c.is_control()).take(CHARS_MAX).collect();
        drop(write!(io::stderr().lock(), "\r\u{1b}[2K{spinner} {text}"));
        drop(io::stderr().lock().flush());
        (self.shown, self.drawn_at, self.n_drawn) = (true, Some(Instant::now()), self.n_drawn + 1);
    }

    /// Clears the line.
    pub fn clear(&mut self) {
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

/// The progress line of an index update.
pub struct IndexingLine {
    line: Progress,
    began: Instant,
}

impl IndexingLine {
    pub fn new(quiet: bool) -> Self {
        Self { line: Progress::new(quiet), began: Instant::now() }
    }

    /// Draws the progress.
    pub fn draw(&mut self, so_far: IndexProgress) {
        let began = self.began;
        self.line.draw(|| indexing_status(so_far, began.elapsed()));
    }
}

/// `indexing: 12 of 40 documents · 3.1 MB of 9.8 MB · about 20.0 s left`
fn indexing_status(so_far: IndexProgress, elapsed: Duration) -> String {
    let IndexProgress { documents_done, documents_total, bytes_done, bytes_total, .. } = so_far;
    let ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
    let ticked = Ticked {
        what: "indexing".to_owned(),
        documents: Some((documents_done, documents_total)),
        done: bytes_done,
        total: bytes_total,
        took_ms: ms,
    };
    ticked_status(&ticked)
}

/// The progress of long work in bytes and, if known, in documents.
fn ticked_status(ticked: &Ticked) -> String {
    let Ticked { what, documents, done, total, took_ms } = ticked;
    let mut text = format!("{what}: ");
    if let Some((n_done, n_total)) = documents {
        text += &format!("{n_done} of {} · ", count(*n_total, "document"));
    }
    text += &format!("{} of {}", bytes(*done), bytes(*total));
    let left = total.saturating_sub(*done);
    if *done > 0 && left > 0 {
        let left_ms = u128::from(*took_ms) * u128::from(left) / u128::from(*done);
        text += &format!(" · about {} left", time(u64::try_from(left_ms).unwrap_or(u64::MAX)));
    }
    text
}

/// `loading qwen2.5-coder-1.5b: 43 %`; `None` if no embedded model is being loaded.
pub fn loading_status(loading: &[Loading]) -> Option<String> {
    let one = |loading: &Loading| format!("loading {}: {} %", loading.name, loading.percent);
    let all: Vec<String> = loading.iter().map(one).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// What a run is doing, in a line.
pub fn run_status(view: &RunView, streamed_bytes: u64, elapsed: Duration) -> String {
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
    let doing = match view.tasks.as_ref().filter(|tasks| tasks.planned > 0) {
        Some(tasks) => tasks_status(tasks, elapsed),
        None => doing,
    };
    let doing = view.ticked.as_ref().map_or(doing, ticked_status);
    let settled = view.calls.len() - open.len();
    let elapsed = time(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX));
    format!(
        "{doing} · {} done · {} tokens · {} · {elapsed}",
        count(settled as u64, "call"),
        tokens(view.spent.tokens()),
        dollars(view.spent.cost_microusd)
    )
}

/// `12 of 40 tasks, 1 failed · 2 high, 5 medium · about 3m left`
fn tasks_status(tasks: &TasksView, elapsed: Duration) -> String {
    let ended = tasks.done + tasks.failed;
    let mut text = format!("{ended} of {}", count(tasks.planned, "task"));
    if tasks.failed > 0 {
        text += &format!(", {} failed", tasks.failed);
    }
    let found = findings_text(&tasks.findings);
    if !found.is_empty() {
        text += &format!(" · {found}");
    }
    let left = tasks.planned.saturating_sub(ended);
    if ended > 0 && left > 0 {
        let ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
        text += &format!(" · about {} left", time(ms / ended * left));
    }
    text
}

/// `2 high, 1 medium, 4 unrated`
fn findings_text(findings: &BTreeMap<String, u64>) -> String {
    let order = ["high", "medium", "low", "unrated"];
    let counted = order.iter().filter_map(|word| Some((word, findings.get(*word)?)));
    counted.map(|(word, n)| format!("{n} {word}")).collect::<Vec<_>>().join(", ")
}

/// The line for a chosen strategy, or for a finished analyst task: `task 3/10 complete: 4 findings (2 high, 1 medium, 1 low): src/a.rs`.
pub fn task_line(kind: &EventKind) -> Option<String> {
    if let EventKind::StrategyChosen { strategy, why } = kind {
        return Some(format!("{strategy}: {why}"));
    }
    let EventKind::TaskReported { task, of, label, findings, relevant } = kind else { return None };
    let total: u64 = findings.values().sum();
    let found = match (total, relevant) {
        (0, false) => "not relevant".to_owned(),
        (0, true) => "no findings".to_owned(),
        (n, _) => format!("{} ({})", count(n, "finding"), findings_text(findings)),
    };
    let label: String = label.chars().filter(|c| !c.is_control()).take(CHARS_MAX).collect();
    Some(format!("task {task}/{of} complete: {found}: {label}"))
}

#[cfg(test)]
mod tests;
