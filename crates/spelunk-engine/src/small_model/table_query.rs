//! Table queries: a small model states a question about rows by filling in a form: which rows, which operation, which
//! column. Code computes the answer over all rows. A model that writes wrong programs fills in correct forms.

mod compute;
mod link;
mod operation;
mod query;
mod value;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use serde_json::Value;
use spelunk_context::{RowTable, View};
use spelunk_model::{Message, Prompt};
use spelunk_types::{Citation, ErrorCode, EventKind, Explain as _};

use self::compute::{Computed, compute};
use self::link::{Link, links};
use self::operation::{NONE, OPERATIONS, operations};
use self::query::{Query, RELATIONS};
use self::value::Moment;
use super::row_labels::object_in;
use crate::plain_answer::empty_reply;
use crate::{Answer, Frame, FrameError, Task, evidence, question};

const SYSTEM: &str = include_str!("../prompts/form-system.md");
pub(super) const PROMPTS: [&str; 1] = [SYSTEM];

/// The largest text that is read into a row table.
const BYTES_MAX: u64 = 50_000_000;
/// Distinct values listed per column, and the maximum for a column to count as one of kinds.
const VALUES_SHOWN_MAX: usize = 12;
pub(super) const KINDS_MAX: usize = 30;
const EXAMPLES: usize = 3;
const EXAMPLE_CHARS_MAX: usize = 60;
const COLUMNS_SHOWN_MAX: usize = 30;
/// Columns with longer names are not offered.
const NAME_CHARS_MAX: usize = 100;
const CONDITIONS_MAX: usize = 6;
const FORM_TOKENS_MAX: u64 = 400;
const CITATIONS_MAX: usize = 5;
const QUOTE_CHARS_MAX: usize = 200;

/// Which forms are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// All that can be computed.
    Any,
    /// Only those whose answer is in the cells themselves: judgements are left to readers.
    Kinds,
}

/// Answers by a form; `None` if the text has no rows, or no useful form was filled in.
pub(crate) async fn solve(frame: &Frame, task: &Task, trust: Trust) -> Result<Option<Answer>, FrameError> {
    let Some((sheet, described)) = open(task).await else { return Ok(None) };
    if trust == Trust::Kinds && sheet.links.is_empty() {
        return Ok(None);
    }
    let tokens_max = FORM_TOKENS_MAX.min(frame.limits().root_output_tokens_max);
    let mut prompt = Prompt::single(SYSTEM, described, tokens_max);
    prompt.schema = Some(sheet.schema());
    let asked = match frame.ask(prompt.clone()).await {
        Err(error) if error.code() == ErrorCode::ModelPromptTooLong => return Ok(None),
        asked => asked,
    };
    let Some(reply) = empty_reply::said(asked)? else { return Ok(None) };
    let mut read = read(&sheet, &reply.text, trust).await;
    if let Err(fault) = &read
        && fault.is_mendable
    {
        let said = format!("This form cannot be used: {}. Fill it in again.", fault.message);
        prompt.messages.extend([Message::assistant(reply.text), Message::user(said)]);
        let Some(reply) = empty_reply::said(frame.ask(prompt).await)? else { return Ok(None) };
        read = self::read(&sheet, &reply.text, trust).await;
    }
    let Ok((query, computed)) = read else { return Ok(None) };
    let text = format!("{}\n\n{}", computed.value, sheet.explained(&query, &computed));
    let (documents, bytes) = (task.view.documents().len() as u64, task.view.bytes());
    frame.note(EventKind::PassagesChosen { documents, bytes, of_bytes: bytes }).await?;
    let claims = quoted(&task.view, sheet.places(&computed)).await;
    evidence::check_claims(frame, &task.view, &text, claims).await.map(Some)
}

/// The sheet of a task and its description for the model. Scanning all rows is CPU-bound, here and below; the
/// executor has other calls to serve.
async fn open(task: &Task) -> Option<(Arc<Sheet>, String)> {
    let (view, question) = (task.view.clone(), task.question_shown().to_owned());
    let opening = tokio::task::spawn_blocking(move || {
        let sheet = Sheet::new(RowTable::of(&view, BYTES_MAX)?, question);
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

/// Why a form is rejected.
struct Fault {
    message: String,
    /// Whether to ask for a correction.
    is_mendable: bool,
}

/// A row table and the question about it.
struct Sheet {
    grid: RowTable,
    question: String,
    /// The sentences that ask. What the others mention, such as the form of the reply, is not a condition.
    asking: String,
    links: Vec<Link>,
}

impl Sheet {
    fn new(grid: RowTable, question: String) -> Self {
        let asking = question::questions(&question);
        let links = links(&grid, &asking);
        Self { grid, question, asking, links }
    }

    /// The columns that are offered, with their indexes.
    fn columns(&self) -> impl Iterator<Item = (usize, &String)> {
        let is_plain =
            |name: &str| name.chars().count() <= NAME_CHARS_MAX && !name.contains(char::is_control);
        self.grid.columns().iter().enumerate().filter(move |(_, name)| is_plain(name)).take(COLUMNS_SHOWN_MAX)
    }

    /// The description of the table and the question.
    fn described(&self) -> String {
        let mut text = format!("The table has {} rows. Its columns:\n", self.grid.len());
        for (idx, name) in self.columns() {
            let (word, values): (_, Vec<String>) = match self.grid.few(idx, VALUES_SHOWN_MAX) {
                Some(few) => ("one of", few.into_iter().map(short).collect()),
                None => ("such as", self.grid.values(idx).take(EXAMPLES).map(short).collect()),
            };
            let _ = writeln!(text, "- {name}: {word} {}", values.join(", "));
        }
        if !self.links.is_empty() {
            let links = self
                .links
                .iter()
                .map(|link| format!("`{}` stands in the column {}", short(&link.value), link.name));
            let _ =
                writeln!(text, "\nOf the words of the question, {}.", links.collect::<Vec<_>>().join(", "));
        }
        let _ = write!(text, "\nQuestion: {}", self.question);
        text
    }

    fn schema(&self) -> Arc<Value> {
        let columns: Vec<String> = self.columns().map(|(_, name)| name.clone()).collect();
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
                "do": {"type": "string", "enum": operations(&self.asking, &columns)},
                "of": {"type": "string", "enum": columns},
                "show": {"type": "string", "enum": columns},
            },
            "required": ["conditions", "do", "of", "show"],
            "additionalProperties": false,
        }))
    }

    /// The query in a reply, and its result.
    fn read(&self, reply: &str, trust: Trust) -> Result<(Query, Computed), Fault> {
        let again = |message: String| Fault { message, is_mendable: true };
        let never = |message: String| Fault { message, is_mendable: false };
        let said = object_in(reply);
        if said.as_ref().and_then(|form| form.get("do")).and_then(Value::as_str) == Some(NONE) {
            return Err(self.named_operations().map_or_else(
                || never("the table cannot tell".to_owned()),
                |named| again(format!("the question asks for {named}, and the table has what it names")),
            ));
        }
        let mut query = Query::read(said.as_ref(), &self.grid).map_err(again)?;
        if trust == Trust::Kinds
            && let Some(column) =
                query.columns_used().find(|&column| self.grid.few(column, KINDS_MAX).is_none())
        {
            return Err(never(format!("{} has to be read", short(&self.grid.columns()[column]))));
        }
        query.add_missing(&self.links, &self.asking).map_err(again)?;
        if let Some(name) = self.forgotten_time(&query) {
            return Err(again(format!(
                "the question names a time, and no condition is about the column {name}"
            )));
        }
        query.check(&self.grid, &self.asking).map_err(again)?;
        let computed = compute(&query, &self.grid).map_err(again)?;
        Ok((query, computed))
    }

    /// The operations that the question asks for, if it names values of the table and so is about it.
    fn named_operations(&self) -> Option<String> {
        let columns: Vec<String> = self.columns().map(|(_, name)| name.clone()).collect();
        let named = operations(&self.asking, &columns);
        let is_about = !self.links.is_empty() && named.len() < OPERATIONS.len();
        let named: Vec<String> =
            named.iter().filter(|name| **name != NONE).map(|name| format!("`{name}`")).collect();
        is_about.then(|| named.join(" or "))
    }

    /// A time column, if the question names a time and no condition uses such a column.
    fn forgotten_time(&self, query: &Query) -> Option<String> {
        if !link::names_time(&self.asking) {
            return None;
        }
        let tells_time = |column: usize| {
            let first = self.grid.values(column).next();
            first.and_then(Moment::read).is_some_and(|moment| moment.has_time())
        };
        let columns: Vec<(usize, &String)> =
            self.columns().filter(|(column, _)| tells_time(*column)).collect();
        let is_forgotten = !columns.iter().any(|(column, _)| query.has_condition(*column));
        columns.first().filter(|_| is_forgotten).map(|(_, name)| short(name))
    }

    /// How the answer was computed, for people.
    fn explained(&self, query: &Query, computed: &Computed) -> String {
        let (n, all) = (computed.n_rows, self.grid.len());
        let amount = computed.amount.as_ref().map(|amount| format!(" ({amount})")).unwrap_or_default();
        let mut text = format!("Computed from {n} of {all} rows: {}{amount}.", query.in_words(&self.grid));
        if !computed.equals.is_empty() {
            let equals: Vec<String> = computed.equals.iter().map(|name| short(name)).collect();
            let _ = write!(text, " The same holds for {}.", equals.join(", "));
        }
        let rows = |n: usize| if n == 1 { "1 row has".to_owned() } else { format!("{n} rows have") };
        if computed.n_missing > 0 {
            let _ = write!(text, " {} nothing in that column.", rows(computed.n_missing));
        }
        if self.grid.n_broken() > 0 {
            let n = self.grid.n_broken();
            let lines = if n == 1 { "1 line is".to_owned() } else { format!("{n} lines are") };
            let _ = write!(text, " {lines} not of that form and not counted.");
        }
        text
    }

    /// The locations of the rows that show the answer.
    fn places(&self, computed: &Computed) -> Vec<(String, u64)> {
        let places = computed.seen.iter().take(CITATIONS_MAX).filter_map(|&row| self.grid.place(row));
        places.map(|(document, line)| (document.to_owned(), line)).collect()
    }
}

/// A name or value on one line, so that it cannot be mistaken for our own text.
fn short(text: &str) -> String {
    text.chars().take(EXAMPLE_CHARS_MAX).map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// The lines at these locations.
async fn quoted(view: &View, places: Vec<(String, u64)>) -> Vec<Citation> {
    let view = view.clone();
    let reading = tokio::task::spawn_blocking(move || {
        let mut texts: BTreeMap<String, Option<Arc<str>>> = BTreeMap::new();
        let quote = |(document, line): (String, u64)| {
            let text = texts.entry(document.clone()).or_insert_with(|| view.read(view.find(&document)?).ok());
            let text = text.as_ref()?;
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
