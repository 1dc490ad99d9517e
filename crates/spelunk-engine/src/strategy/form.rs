//! A form: a question about rows, as a small model can put it. Which rows, what is done with them, in which column: it
//! fills that in, and code computes the answer over all rows. A model that writes wrong programs fills in right forms.

mod link;
mod query;

use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::Value;
use spelunk_context::{Grid, View};
use spelunk_model::{Message, Prompt};
use spelunk_types::{Citation, EventKind};

use self::link::{Link, links};
use self::query::{Computed, OPERATIONS, Query, RELATIONS, operations};
use super::tally::object_in;
use super::{asked, silence};
use crate::{Answer, Frame, FrameError, Task, evidence};

const SYSTEM: &str = include_str!("../prompts/form-system.md");
pub(super) const PROMPTS: [&str; 1] = [SYSTEM];

/// Text that is read into a grid.
const BYTES_MAX: u64 = 50_000_000;
/// Different values of a column that are listed, and up to which a column is one of kinds.
const VALUES_SHOWN_MAX: usize = 12;
pub(super) const KINDS_MAX: usize = 30;
const EXAMPLES: usize = 3;
const EXAMPLE_CHARS_MAX: usize = 60;
const COLUMNS_SHOWN_MAX: usize = 30;
const CONDITIONS_MAX: usize = 6;
const FORM_TOKENS_MAX: u64 = 400;
const CITATIONS_MAX: usize = 5;
const QUOTE_CHARS_MAX: usize = 200;

/// Which forms are taken for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// All that can be computed.
    Any,
    /// Only those in which the rows themselves say what is asked: what a reader would have to judge is left to readers.
    Kinds,
}

/// Answers by a form; none where the text has no rows, or no form of use was filled in.
pub(super) async fn solve(frame: &Frame, task: &Task, trust: Trust) -> Result<Option<Answer>, FrameError> {
    let Some((sheet, described)) = open(task).await else { return Ok(None) };
    if trust == Trust::Kinds && sheet.links.is_empty() {
        return Ok(None);
    }
    let tokens_max = FORM_TOKENS_MAX.min(frame.limits().root_output_tokens_max);
    let mut prompt = Prompt::single(SYSTEM, described, tokens_max);
    prompt.schema = Some(sheet.schema());
    let Some(reply) = silence::said(frame.ask(prompt.clone()).await)? else { return Ok(None) };
    let mut read = read(&sheet, &reply.text, trust).await;
    if let Err(fault) = &read
        && fault.is_mendable
    {
        let said = format!("This form cannot be used: {}. Fill it in again.", fault.message);
        prompt.messages.extend([Message::assistant(reply.text), Message::user(said)]);
        let Some(reply) = silence::said(frame.ask(prompt).await)? else { return Ok(None) };
        read = self::read(&sheet, &reply.text, trust).await;
    }
    let Ok((query, computed)) = read else { return Ok(None) };
    let text = asked::in_form(&task.question, &computed.value, &sheet.explained(&query, &computed));
    let (documents, bytes) = (task.view.documents().len() as u64, task.view.bytes());
    frame.note(EventKind::PassagesChosen { documents, bytes, of_bytes: bytes }).await?;
    let claims = quoted(&task.view, sheet.places(&computed)).await;
    evidence::check_claims(frame, &task.view, &text, claims).await.map(Some)
}

/// The sheet of a task, and how the model is shown it. Going through all rows keeps a core busy, here and below; the
/// executor has other calls to serve.
async fn open(task: &Task) -> Option<(Arc<Sheet>, String)> {
    let (view, question) = (task.view.clone(), asked::core(task.question_shown()));
    let opening = tokio::task::spawn_blocking(move || {
        let grid = Grid::of(&view, BYTES_MAX)?;
        let links = links(&grid, &question);
        let sheet = Sheet { grid, question, links };
        let described = sheet.described();
        Some((Arc::new(sheet), described))
    });
    opening.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}

async fn read(sheet: &Arc<Sheet>, reply: &str, trust: Trust) -> Result<(Query, Computed), Fault> {
    let (sheet, reply) = (Arc::clone(sheet), reply.to_owned());
    let reading = tokio::task::spawn_blocking(move || sheet.read(&reply, trust));
    reading.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}

/// Why a form is not taken.
struct Fault {
    message: String,
    /// Whether to ask once more.
    is_mendable: bool,
}

/// A grid, and the question about it.
struct Sheet {
    grid: Grid,
    question: String,
    links: Vec<Link>,
}

impl Sheet {
    fn columns(&self) -> &[String] {
        let columns = self.grid.columns();
        columns.get(..COLUMNS_SHOWN_MAX).unwrap_or(columns)
    }

    /// The table as the model is shown it, and the question.
    fn described(&self) -> String {
        let mut text = format!("The table has {} rows. Its columns:\n", self.grid.len());
        for (idx, name) in self.columns().iter().enumerate() {
            let short = |value: &str| value.chars().take(EXAMPLE_CHARS_MAX).collect::<String>();
            let (word, values): (_, Vec<String>) = match self.grid.few(idx, VALUES_SHOWN_MAX) {
                Some(few) => ("one of", few.into_iter().map(short).collect()),
                None => ("such as", self.grid.values(idx).take(EXAMPLES).map(short).collect()),
            };
            let _ = writeln!(text, "- {name}: {word} {}", values.join(", "));
        }
        if !self.links.is_empty() {
            let links =
                self.links.iter().map(|link| format!("`{}` stands in the column {}", link.value, link.name));
            let _ =
                writeln!(text, "\nOf the words of the question, {}.", links.collect::<Vec<_>>().join(", "));
        }
        let _ = write!(text, "\nQuestion: {}", self.question);
        text
    }

    fn schema(&self) -> Arc<Value> {
        let columns = self.columns();
        let condition = serde_json::json!({
            "type": "object",
            "properties": {
                "column": {"type": "string", "enum": columns},
                "is": {"type": "string", "enum": RELATIONS},
                "value": {"type": "string"},
            },
            "required": ["column", "is", "value"],
            "additionalProperties": false,
        });
        Arc::new(serde_json::json!({
            "type": "object",
            "properties": {
                "conditions": {"type": "array", "items": condition, "maxItems": CONDITIONS_MAX},
                "do": {"type": "string", "enum": operations(&self.question, columns)},
                "of": {"type": "string", "enum": columns},
                "show": {"type": "string", "enum": columns},
            },
            "required": ["conditions", "do", "of", "show"],
            "additionalProperties": false,
        }))
    }

    /// The form in a reply, and what comes of it.
    fn read(&self, reply: &str, trust: Trust) -> Result<(Query, Computed), Fault> {
        let fault = |message: String, is_mendable| Fault { message, is_mendable };
        let said = object_in(reply);
        if said.as_ref().and_then(|form| form.get("do")).and_then(Value::as_str) == OPERATIONS.last().copied()
        {
            return Err(fault("the table cannot tell".to_owned(), false));
        }
        let mut query = Query::read(said.as_ref(), &self.grid).map_err(|message| fault(message, true))?;
        if trust == Trust::Kinds
            && let Some(column) =
                query.columns_used().find(|&column| self.grid.few(column, KINDS_MAX).is_none())
        {
            return Err(fault(format!("{} has to be read", self.grid.columns()[column]), false));
        }
        query.add_missing(&self.links);
        if let Some(column) = self.grid.column("time").filter(|&column| !query.has_condition(column))
            && link::names_time(&self.question)
        {
            let name = &self.grid.columns()[column];
            return Err(fault(
                format!("the question names a time, and no condition is about the column {name}"),
                true,
            ));
        }
        query.check(&self.grid).map_err(|message| fault(message, true))?;
        let computed = query.compute(&self.grid).ok_or_else(|| fault("no row meets it".to_owned(), true))?;
        Ok((query, computed))
    }

    /// How the answer was computed, for people.
    fn explained(&self, query: &Query, computed: &Computed) -> String {
        let (n, all) = (computed.rows.len(), self.grid.len());
        format!("Computed from {n} of {all} rows: {}.", query.in_words(&self.grid))
    }

    /// The rows that show the answer: where they begin.
    fn places(&self, computed: &Computed) -> Vec<(String, u64)> {
        let mut rows: Vec<usize> = Vec::new();
        for &row in computed.picked.iter().chain(&computed.rows) {
            if rows.len() < CITATIONS_MAX && !rows.contains(&row) {
                rows.push(row);
            }
        }
        let places = rows.into_iter().filter_map(|row| self.grid.place(row));
        places.map(|(document, line)| (document.to_owned(), line)).collect()
    }
}

/// The lines at these places.
async fn quoted(view: &View, places: Vec<(String, u64)>) -> Vec<Citation> {
    let view = view.clone();
    let reading = tokio::task::spawn_blocking(move || {
        let quote = |(document, line): (String, u64)| {
            let text = view.read(view.find(&document)?).ok()?;
            let quote = text.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?)?;
            let quote = quote.trim().chars().take(QUOTE_CHARS_MAX).collect();
            Some(Citation { document, line, quote })
        };
        places.into_iter().filter_map(quote).collect()
    });
    reading.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}

#[cfg(test)]
mod tests;
