//! Tasks as lines of JSON, so that any engine can run the same ones.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use spelunk_types::truncate;

use super::{LineError, line_of};
use crate::{Kind, Scoring, Task};

#[derive(Debug, Serialize, Deserialize)]
struct TaskLine {
    id: String,
    kind: String,
    #[serde(default)]
    variant: String,
    seed: u64,
    tokens: u64,
    question: String,
    answer: Answer,
    scoring: ScoringLine,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    language: String,
    files: Vec<String>,
}

/// A string if there is a single item.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Answer {
    One(String),
    Many(Vec<String>),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
struct ScoringLine {
    how: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    among: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    accept: Vec<String>,
    #[serde(default, skip_serializing_if = "is_zero")]
    tolerance: f64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// A task as a line, with its newline.
pub fn write_task(task: &Task) -> String {
    let answer = match task.answer.as_slice() {
        [one] if !matches!(task.scoring, Scoring::Set | Scoring::Pairs | Scoring::Paths) => {
            Answer::One(one.clone())
        }
        many => Answer::Many(many.to_vec()),
    };
    let among = if let Scoring::Choice { among } = &task.scoring { among.clone() } else { Vec::new() };
    line_of(&TaskLine {
        id: task.id.clone(),
        kind: task.kind.name().to_owned(),
        variant: task.variant.clone(),
        seed: task.seed,
        tokens: task.tokens,
        question: task.question.clone(),
        answer,
        scoring: ScoringLine {
            how: task.scoring.name().to_owned(),
            among,
            accept: task.accept.clone(),
            tolerance: task.tolerance,
        },
        language: task.language.clone(),
        files: task.files.clone(),
    })
}

/// Parses a file of tasks. One invalid line is an error: scores over a part of the tasks mean nothing.
pub fn read_tasks(text: &str) -> Result<Vec<Task>, LineError> {
    let mut tasks = Vec::new();
    let mut ids = HashSet::new();
    for (idx, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let refuse = |problem: String| LineError { file: "tasks", line: idx + 1, problem };
        let line: TaskLine = serde_json::from_str(line).map_err(|error| refuse(error.to_string()))?;
        let task = check(line).map_err(refuse)?;
        if !ids.insert(task.id.clone()) {
            return Err(refuse(format!("the id `{}` is used twice", task.id)));
        }
        tasks.push(task);
    }
    if tasks.is_empty() {
        return Err(LineError { file: "tasks", line: 1, problem: "there are no tasks".to_owned() });
    }
    Ok(tasks)
}

fn check(line: TaskLine) -> Result<Task, String> {
    let kind = Kind::from_name(&line.kind)
        .ok_or_else(|| format!("there is no kind `{}`", truncate(&line.kind, 80)))?;
    if line.id.is_empty() || line.id.len() > 200 || line.id.contains(['/', '\\']) || line.id.starts_with('.')
    {
        return Err(format!("the id `{}` is not a valid folder name", truncate(&line.id, 80)));
    }
    let answer = match line.answer {
        Answer::One(one) => vec![one],
        Answer::Many(many) => many,
    };
    if answer.is_empty() || answer.iter().any(|item| item.trim().is_empty()) {
        return Err("`answer` is empty".to_owned());
    }
    if line.scoring.accept.iter().any(|item| item.trim().is_empty()) {
        return Err("`accept` has an empty answer".to_owned());
    }
    if !(line.scoring.tolerance.is_finite() && line.scoring.tolerance >= 0.0) {
        return Err("`tolerance` is not a valid distance".to_owned());
    }
    let (accept, tolerance) = (line.scoring.accept.clone(), line.scoring.tolerance);
    let scoring = scoring(line.scoring, &answer)?;
    if line.files.is_empty() {
        return Err("`files` is empty".to_owned());
    }
    if let Some(path) = line.files.iter().find(|path| !is_within(path)) {
        return Err(format!("the file `{}` is not in the tasks folder", truncate(path, 80)));
    }
    if line.question.trim().is_empty() {
        return Err("`question` is empty".to_owned());
    }
    let TaskLine { id, variant, seed, tokens, question, language, files, .. } = line;
    Ok(Task {
        id,
        kind,
        variant,
        seed,
        tokens,
        question,
        answer,
        scoring,
        accept,
        tolerance,
        language,
        files,
    })
}

fn scoring(line: ScoringLine, answer: &[String]) -> Result<Scoring, String> {
    let is_number = |text: &String| text.trim().parse::<f64>().is_ok_and(f64::is_finite);
    Ok(match line.how.as_str() {
        "exact" => Scoring::Exact,
        "number" if answer.iter().all(is_number) => Scoring::Number,
        "number" => return Err("`answer` is not a number, but `scoring` requires one".to_owned()),
        "choice" if line.among.iter().any(|word| answer.contains(word)) => {
            Scoring::Choice { among: line.among }
        }
        "choice" => return Err("`answer` is not `among` the choices".to_owned()),
        "set" => Scoring::Set,
        "pairs" => Scoring::Pairs,
        "paths" => Scoring::Paths,
        "absent" => Scoring::Absent,
        other => return Err(format!("there is no scoring `{}`", truncate(other, 80))),
    })
}

/// Whether a path stays below the folder it is relative to.
fn is_within(path: &str) -> bool {
    let is_plain = |part: &str| !part.is_empty() && part != ".." && part != ".";
    !path.contains(['\\', ':']) && path.split('/').all(is_plain)
}

#[cfg(test)]
mod tests;
