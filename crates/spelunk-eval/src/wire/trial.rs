//! Trials as lines of JSON. A later line of the same trial replaces an earlier one: a failed trial is retried.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Failure, LineError, Outcome, line_of};

/// One task, given to one engine once: the result and its cost.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "docs/evaluation.md describes a line of results")]
pub struct Trial {
    /// The engine: `spelunk`, `rlms`.
    #[serde(default = "spelunk")]
    pub engine: String,
    pub task: String,
    pub kind: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub variant: String,
    /// The question's language, if the task says so.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub language: String,
    pub tokens: u64,
    /// The requested strategy.
    pub strategy: String,
    /// Distinguishes trials with different settings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What `auto` chose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chose: Option<String>,
    pub model: String,
    /// The repeat, from 0.
    pub repeat: u64,
    pub answer: String,
    /// Whether a citation was given and found in the text; `None` if that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cited: Option<bool>,
    /// From 0 to 1; `None` until it is scored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The relative error of a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub off: Option<f64>,
    pub tokens_in: u64,
    pub tokens_out: u64,
    pub calls: u64,
    pub cost_microusd: u64,
    pub wall_ms: u64,
    pub status: Status,
    /// What the answer is worth; `None` until it is scored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// Why the answer is not fully right.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The run's id, to look it up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ran: Option<RunFacts>,
}

/// Facts about the run of a trial, to classify failures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunFacts {
    /// Bytes of the text that were shown to a model.
    pub bytes_read: u64,
    /// Bytes of the text.
    pub bytes: u64,
    /// Code blocks that succeeded.
    pub cells: u64,
    /// Code blocks that failed.
    pub cells_failed: u64,
    /// Parts that no analyst could read.
    pub tasks_failed: u64,
}

/// The default engine.
fn spelunk() -> String {
    "spelunk".to_owned()
}

/// How a trial ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// With an answer.
    #[serde(alias = "ok")]
    Answered,
    /// Stopped by a limit, perhaps with an answer.
    #[serde(alias = "timeout", alias = "limit")]
    Partial,
    /// Without an answer, because no model was available: not counted, and retried.
    Outage,
    /// Without an answer.
    #[default]
    #[serde(alias = "error", other)]
    Failed,
}

/// How far an evaluation got, as a line among its trials.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// `complete`, or what ended it early.
    pub note: String,
    /// Trials that were planned.
    pub planned: u64,
    /// Trials that were made.
    pub done: u64,
}

/// The trials of a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trials {
    /// The last line of each trial.
    pub trials: Vec<Trial>,
    /// The last note about its progress.
    pub note: Option<Note>,
    /// The size of the complete lines; what follows was cut off.
    pub bytes_whole: usize,
}

/// A trial as a line, with its newline.
pub fn write_trial(trial: &Trial) -> String {
    line_of(trial)
}

/// A note as a line, with its newline.
pub fn write_note(note: &Note) -> String {
    line_of(note)
}

enum Line {
    Note(Note),
    Trial(Box<Trial>),
}

fn read_line(line: &str) -> Result<Line, String> {
    let value: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    if !value.is_object() {
        return Err("it is not a JSON object".to_owned());
    }
    if value.get("note").is_some() {
        return serde_json::from_value(value).map(Line::Note).map_err(|error| error.to_string());
    }
    let trial: Trial = serde_json::from_value(value).map_err(|error| error.to_string())?;
    if trial.task.is_empty() { Err("it has no `task`".to_owned()) } else { Ok(Line::Trial(Box::new(trial))) }
}

/// Parses a file of trials. Its last line may be torn: the process that wrote it may have been killed.
pub fn read_trials(text: &str) -> Result<Trials, LineError> {
    let bytes_whole = text.rfind('\n').map_or(0, |at| at + 1);
    let whole = text.get(..bytes_whole).unwrap_or_default();
    let mut by_key: BTreeMap<Key, Trial> = BTreeMap::new();
    let mut note = None;
    for (idx, line) in whole.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let refuse = |problem: String| LineError { file: "results", line: idx + 1, problem };
        match read_line(line).map_err(refuse)? {
            Line::Note(noted) => note = Some(noted),
            Line::Trial(trial) => drop(by_key.insert(trial.key(), *trial)),
        }
    }
    Ok(Trials { trials: by_key.into_values().collect(), note, bytes_whole })
}

type Key = ([String; 4], Option<String>, u64);

impl Trial {
    fn key(&self) -> Key {
        let words = [&self.engine, &self.task, &self.strategy, &self.model].map(String::clone);
        (words, self.label.clone(), self.repeat)
    }

    /// Input and output tokens together.
    pub fn tokens_used(&self) -> u64 {
        self.tokens_in.saturating_add(self.tokens_out)
    }

    /// Whether the answer was fully right.
    pub fn is_right(&self) -> bool {
        self.score.is_some_and(|score| score > 0.999)
    }
}

#[cfg(test)]
mod tests;
