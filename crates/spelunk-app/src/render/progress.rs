//! The progress block: what the run is doing, on stderr, redrawn in place. It is shown only on a terminal and cleared
//! before anything else is printed.

use std::collections::BTreeMap;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use spelunk_engine::{CallState, CallView, RunView, TasksView, Ticked};
use spelunk_index::IndexProgress;
use spelunk_model::Loading;
use spelunk_types::{CallId, EventKind, FrameId, Strategy};

use crate::terminal::stderr_width;
use crate::units::{bytes, count, dollars, head, time, tokens};

const EVERY: Duration = Duration::from_millis(80);
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const LABEL_CHARS_MAX: usize = 100;
const WIDTH_DEFAULT: usize = 80;

/// Set while the user is asked something, so that nothing is drawn over the question.
static PAUSED: AtomicBool = AtomicBool::new(false);

pub fn pause(is_paused: bool) {
    PAUSED.store(is_paused, Ordering::Relaxed);
}

pub struct Progress {
    enabled: bool,
    n_lines: usize,
    drawn_at: Option<Instant>,
    n_drawn: usize,
}

impl Progress {
    /// A block on stderr, if that is a terminal and the user did not request quiet.
    pub fn new(quiet: bool) -> Self {
        Self { enabled: !quiet && io::stderr().is_terminal(), n_lines: 0, drawn_at: None, n_drawn: 0 }
    }

    /// Draws the text, at most every 80 ms.
    pub fn draw(&mut self, text: impl FnOnce() -> String) {
        if PAUSED.load(Ordering::Relaxed) {
            self.n_lines = 0;
            return;
        }
        if !self.enabled || self.drawn_at.is_some_and(|at| at.elapsed() < EVERY) {
            return;
        }
        let spinner = SPINNER.get(self.n_drawn % SPINNER.len()).copied().unwrap_or_default();
        let text = block(&text(), stderr_width().unwrap_or(WIDTH_DEFAULT));
        drop(write!(io::stderr().lock(), "{}{spinner} {text}", self.erased()));
        drop(io::stderr().lock().flush());
        (self.n_lines, self.drawn_at, self.n_drawn) =
            (text.split('\n').count(), Some(Instant::now()), self.n_drawn + 1);
    }

    pub fn clear(&mut self) {
        if self.n_lines > 0 {
            drop(write!(io::stderr().lock(), "{}", self.erased()));
            drop(io::stderr().lock().flush());
            self.n_lines = 0;
        }
    }

    fn erased(&self) -> String {
        let up = match self.n_lines {
            0 | 1 => String::new(),
            n => format!("\u{1b}[{}A", n - 1),
        };
        format!("\r{up}\u{1b}[J")
    }
}

/// The lines of a block, each cut to the width. The first begins with the spinner and a space, the
/// others with two spaces.
fn block(text: &str, width: usize) -> String {
    let lines: Vec<String> = text.lines().map(|line| head(line, width.saturating_sub(3))).collect();
    lines.join("\n  ")
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

pub struct IndexingLine {
    line: Progress,
    began: Instant,
}

impl IndexingLine {
    pub fn new(quiet: bool) -> Self {
        Self { line: Progress::new(quiet), began: Instant::now() }
    }

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

/// What a run is doing, in two lines: the turn and what is running; calls, tokens, cost and time.
pub fn run_status(view: &RunView, streamed_bytes: u64, elapsed: Duration) -> String {
    let open: Vec<(&CallId, &CallView)> =
        view.calls.iter().filter(|(_, call)| call.state == CallState::Open).collect();
    let model = view.model.as_ref().map(ToString::to_string).unwrap_or_default();
    let doing = match open.as_slice() {
        [] if view.cells.is_empty() => "reading files".to_owned(),
        [] => format!("turn {}: running code", n_cells(view, &FrameId::root()) + 1),
        [(id, call)] => {
            let turn = turn(view, id);
            match call.retries.last() {
                Some(code) => format!("{turn}: trying {model} again after {code}"),
                None if streamed_bytes > 0 => format!("{turn}: {model} is replying"),
                None => format!("{turn}: waiting for {model}"),
            }
        }
        many => {
            let turn = n_cells(view, &FrameId::root()) + 1;
            format!("turn {turn}: waiting for {} to {model}", count(many.len() as u64, "call"))
        }
    };
    let doing = match view.tasks.as_ref().filter(|tasks| tasks.planned > 0) {
        Some(tasks) => tasks_status(tasks, elapsed),
        None => doing,
    };
    let doing = view.ticked.as_ref().map_or(doing, ticked_status);
    let settled = view.calls.len() - open.len();
    let in_flight = if open.is_empty() { String::new() } else { format!(", {} in flight", open.len()) };
    let elapsed = time(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX));
    format!(
        "{doing}\n{} done{in_flight} · {} tokens · {} · {elapsed}",
        count(settled as u64, "call"),
        tokens(view.spent.tokens()),
        dollars(view.spent.cost_microusd)
    )
}

fn n_cells(view: &RunView, frame: &FrameId) -> usize {
    view.cells.get(frame).map_or(0, Vec::len)
}

/// `turn 3`, or `child 0.1, turn 2`. In the recursive loop, a turn is a cell with all of its calls;
/// elsewhere, each call is a turn.
fn turn(view: &RunView, id: &CallId) -> String {
    let is_root = id.frame == FrameId::root();
    let strategy = view.frames.get(&id.frame).map(|frame| frame.strategy);
    let is_loop = strategy == Some(Strategy::Repl) || (is_root && view.chosen == Some(Strategy::Repl));
    let n_before = if is_loop { n_cells(view, &id.frame) } else { id.ordinal as usize };
    let turn = format!("turn {}", n_before + 1);
    if is_root { turn } else { format!("child {}, {turn}", id.frame) }
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
    let EventKind::TaskReported { task, of, label, findings, relevant, .. } = kind else { return None };
    let total: u64 = findings.values().sum();
    let found = match (total, relevant) {
        (0, false) => "not relevant".to_owned(),
        (0, true) => "no findings".to_owned(),
        (n, _) => format!("{} ({})", count(n, "finding"), findings_text(findings)),
    };
    let label: String = label.chars().filter(|c| !c.is_control()).take(LABEL_CHARS_MAX).collect();
    Some(format!("task {task}/{of} complete: {found}: {label}"))
}

#[cfg(test)]
mod tests;
