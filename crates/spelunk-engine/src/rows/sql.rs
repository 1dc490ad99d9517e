//! SQL: the model writes a query over the rows of the documents, and SQLite computes the answer over all of them. A
//! query that fails, finds nothing or names a value that no row has is sent back with the reason.

use std::collections::BTreeMap;
use std::sync::Arc;

use spelunk_context::{QueryWatch, View};
use spelunk_model::{Message, Prompt};
use spelunk_tables::{Cell, Place, QueryResult, Tables};
use spelunk_types::{Citation, ErrorCode, EventKind, Explain as _};

use super::{LazyTables, query_ms_max};
use crate::plain_answer::empty_reply;
use crate::sync::watched;
use crate::{Answer, Frame, FrameError, Task, certainty, evidence};

const SYSTEM: &str = include_str!("../prompts/sql-system.md");
const SERVER_SYSTEM: &str = include_str!("../prompts/sql-server-system.md");
pub(super) const PROMPTS: [&str; 2] = [SYSTEM, SERVER_SYSTEM];

/// The largest text that is read into tables.
pub(crate) const BYTES_MAX: u64 = 50_000_000;
const SQL_TOKENS_MAX: u64 = 500;
/// Queries per question.
const QUERIES_MAX: usize = 3;
/// A small model writes one: of its corrected queries, 2 of 11 were right on the development half of `eval/real`.
const SMALL_QUERIES_MAX: usize = 1;
/// Nor is its query believed if it found a token of it less likely than this: there, 45 of 48 right first queries were
/// more certain, and 9 of 23 wrong ones less.
const CERTAINTY_PERMILLE_MIN: u16 = 250;
/// Rows of a result in the answer. A first query that finds more is sent back: few questions ask for so many.
const ROWS_SHOWN_MAX: usize = 50;
const CITATIONS_MAX: usize = 5;
const QUOTE_CHARS_MAX: usize = 200;
const LITERALS_SHOWN_MAX: usize = 3;

/// Answers with a query; `None` if the text has no rows, or no query gave a result.
pub(crate) async fn solve(frame: &Frame, task: &Task) -> Result<Option<Answer>, FrameError> {
    let question = task.question_shown();
    let tables = Arc::new(LazyTables::default());
    let Some(described) = described(frame, task, &tables).await? else { return Ok(None) };
    let user = format!("{described}\nQuestion: {question}");
    let tokens_max = SQL_TOKENS_MAX.min(frame.limits().root_output_tokens_max);
    let is_small = frame.reader().is_small();
    let queries_max = if is_small { SMALL_QUERIES_MAX } else { QUERIES_MAX };
    let system = if task.view.has_servers() { SERVER_SYSTEM } else { SYSTEM };
    let mut prompt = Prompt::single(system, user, tokens_max);
    for _ in 0..queries_max {
        let asked = if is_small {
            certainty::ask(frame, prompt.clone()).await
        } else {
            frame.ask(prompt.clone()).await
        };
        let asked = match asked {
            Err(error) if error.code() == ErrorCode::ModelPromptTooLong => return Ok(None),
            asked => asked,
        };
        let Some(reply) = empty_reply::said(asked)? else { return Ok(None) };
        let Some(sql) = statement(&reply.text).map(str::to_owned) else { return Ok(None) };
        if certainty::is_doubtful(&reply, CERTAINTY_PERMILLE_MIN) {
            return Ok(None);
        }
        // A count of zero and a long list are believed if a second query gives them, too.
        let is_first = prompt.messages.len() == 1;
        match computed(frame, task, &tables, sql, is_first).await? {
            Ok((text, claims)) => return answer(frame, task, &text, claims).await.map(Some),
            Err(fault) => {
                let said = format!("{fault} Write another query, or reply NONE.");
                prompt.messages.extend([Message::assistant(reply.text), Message::user(said)]);
            }
        }
    }
    Ok(None)
}

/// The description of the tables for the model; `None` if they cover too little of the text.
async fn described(
    frame: &Frame,
    task: &Task,
    tables: &Arc<LazyTables>,
) -> Result<Option<String>, FrameError> {
    let (view, tables, question) = (task.view.clone(), Arc::clone(tables), task.question_shown().to_owned());
    let (here, ms_max) = (Arc::clone(&tables), query_ms_max(&task.view, frame.limits()));
    let describe = move |watch: &QueryWatch| {
        tables.with(&view, watch, |tables| describe(tables, &view, &question)).flatten()
    };
    if !task.view.has_databases() {
        return Ok(watched(ms_max, describe).await);
    }
    let read = async move {
        let described = watched(ms_max, describe).await.unwrap_or_default();
        here.take_lost().map_or(Ok(described), |lost| Err(lost.into()))
    };
    Ok(Some(frame.observe("tables", read).await?).filter(|text| !text.is_empty()))
}

fn describe(tables: &Tables, view: &View, question: &str) -> Option<String> {
    if !tables.are_most_of(view) {
        return None;
    }
    let text = tables.describe(question);
    let is_mixed = tables.have_databases() && !tables.others().is_empty();
    Some(if is_mixed { text + OTHERS_TOLD } else { text })
}

const OTHERS_TOLD: &str = "-- There are also documents, which no query reads. If the question is about what they say, reply NONE.\n";

/// The result of a query as text, with the lines and rows that it comes from; or a sentence for the model.
type ComputedText = Result<(String, Vec<Citation>), String>;

/// Runs a query. What a database returned is recorded.
async fn computed(
    frame: &Frame,
    task: &Task,
    tables: &Arc<LazyTables>,
    sql: String,
    is_first: bool,
) -> Result<ComputedText, FrameError> {
    let (view, tables, what) = (task.view.clone(), Arc::clone(tables), format!("query {sql}"));
    let (here, ms_max) = (Arc::clone(&tables), query_ms_max(&task.view, frame.limits()));
    let compute = move |watch: &QueryWatch| -> ComputedText {
        let ran = tables.with(&view, watch, |tables| run(tables, &sql, is_first));
        let computed = ran.unwrap_or_else(|| Err("The tables can no longer be read.".to_owned()))?;
        Ok((computed.in_words(), quoted(&view, computed.places)))
    };
    if !task.view.has_databases() {
        return Ok(watched(ms_max, compute).await);
    }
    let read = async move {
        let computed = serde_json::to_string(&watched(ms_max, compute).await).unwrap_or_default();
        here.take_lost().map_or(Ok(computed), |lost| Err(lost.into()))
    };
    let recorded = frame.observe(&what, read).await?;
    let damaged = || Err("The recorded result cannot be read.".to_owned());
    Ok(serde_json::from_str(&recorded).unwrap_or_else(|_| damaged()))
}

/// The query in a reply; `None` if it has none.
fn statement(reply: &str) -> Option<&str> {
    let fenced = reply.split_once("```").and_then(|(_, rest)| {
        let (_, body) = rest.split_once('\n')?;
        Some(body.split_once("```").map_or(body, |(body, _)| body))
    });
    let sql = fenced.unwrap_or(reply).trim();
    let first = sql.split_whitespace().next().unwrap_or_default();
    ["select", "with"].iter().any(|word| word.eq_ignore_ascii_case(first)).then_some(sql)
}

/// A result, and where it comes from.
struct Computed {
    sql: String,
    result: QueryResult,
    /// Where the first rows are.
    places: Vec<Place>,
    /// What was read.
    over: String,
    n_broken: u64,
}

/// What is probably wrong with a query that runs: it counts rows without a value.
fn fault(sql: &str) -> Option<&'static str> {
    let sql = sql.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    if sql.contains("/ count(*)") {
        return Some("`count(*)` also counts the rows without a value: use `avg(x)` for a mean.");
    }
    let is_null_besides = sql.split(" or ").skip(1).any(|condition| {
        let mut words = condition.split_whitespace().skip(1);
        words.next() == Some("is") && words.next().is_some_and(|word| word.starts_with("null"))
    });
    is_null_besides.then_some("Remove `OR … IS NULL`: it also selects the rows without a value.")
}

/// Runs a query; fails with a sentence for the model.
fn run(tables: &mut Tables, sql: &str, is_first: bool) -> Result<Computed, String> {
    if let Some(fault) = fault(sql) {
        return Err(fault.to_owned());
    }
    let result = tables.query(sql, ROWS_SHOWN_MAX).map_err(|error| format!("The query failed: {error}."))?;
    if result.is_cut && is_first {
        return Err(format!(
            "The query returned more than {ROWS_SHOWN_MAX} rows. Return only what the question asks for: count, sum up or limit them."
        ));
    }
    let is_nothing =
        result.is_empty() || matches!(result.rows.as_slice(), [row] if row.as_slice() == [Cell::Integer(0)]);
    if is_nothing {
        let unknown = tables.unknown_literals(sql);
        let named: Vec<String> =
            unknown.iter().take(LITERALS_SHOWN_MAX).map(|literal| format!("`{literal}`")).collect();
        if !named.is_empty() {
            return Err(format!("The query found nothing: no cell is {}.", named.join(" or ")));
        }
        if !result.rows.is_empty() && result.is_empty() {
            return Err("The result is an empty cell. Check the conditions, and leave out the rows without a value (`IS NOT NULL`).".to_owned());
        }
        if result.is_empty() || is_first {
            return Err(
                "The query found nothing. Check the columns, and compare text with LIKE '%…%'.".to_owned()
            );
        }
    }
    let places = tables.source_rows(sql, CITATIONS_MAX);
    let over = if tables.have_databases() {
        "the tables".to_owned()
    } else {
        format!("{} rows", tables.tables().iter().map(|table| table.n_rows).sum::<u64>())
    };
    let n_broken = tables.tables().iter().map(|table| table.n_broken).sum();
    Ok(Computed { sql: sql.to_owned(), result, places, over, n_broken })
}

async fn answer(frame: &Frame, task: &Task, text: &str, claims: Vec<Citation>) -> Result<Answer, FrameError> {
    let (documents, bytes) = (task.view.documents().len() as u64, task.view.bytes());
    frame.note(EventKind::PassagesChosen { documents, bytes, of_bytes: bytes }).await?;
    evidence::check_claims(frame, &task.view, text, claims).await
}

impl Computed {
    /// The result, and how it was computed.
    fn in_words(&self) -> String {
        let QueryResult { columns, rows, is_cut } = &self.result;
        let value = match rows.as_slice() {
            [row] if row.len() == 1 => row[0].to_string(),
            [row] => {
                let cells = columns.iter().zip(row).map(|(name, cell)| format!("{name}: {cell}"));
                cells.collect::<Vec<_>>().join(", ")
            }
            rows => {
                let listed = rows.iter().map(|row| {
                    format!("- {}", row.iter().map(Cell::to_string).collect::<Vec<_>>().join(", "))
                });
                let more = if *is_cut { "\n- …" } else { "" };
                listed.collect::<Vec<_>>().join("\n") + more
            }
        };
        let sql = self.sql.split_whitespace().collect::<Vec<_>>().join(" ");
        let broken = match self.n_broken {
            0 => String::new(),
            1 => " 1 line is not a row and was not counted.".to_owned(),
            n => format!(" {n} lines are not rows and were not counted."),
        };
        format!("{value}\n\nComputed over {}: {sql}.{broken}", self.over)
    }
}

/// The lines and rows at these locations.
fn quoted(view: &View, places: Vec<Place>) -> Vec<Citation> {
    let mut texts: BTreeMap<String, Option<Arc<str>>> = BTreeMap::new();
    let quote = |place: Place| {
        let (document, line) = match place {
            Place::Line(document, line) => (document, line),
            Place::Row(document, cells) => {
                let quote = cells.chars().take(QUOTE_CHARS_MAX).collect::<String>().trim().to_owned();
                return Some(Citation { document, line: 0, quote });
            }
        };
        let text = texts.entry(document.clone()).or_insert_with(|| view.read(view.find(&document)?).ok());
        let quote = text.as_ref()?.lines().nth(usize::try_from(line).ok()?.checked_sub(1)?)?;
        let quote = quote.trim().chars().take(QUOTE_CHARS_MAX).collect();
        Some(Citation { document, line, quote })
    };
    places.into_iter().filter_map(quote).collect()
}

#[cfg(test)]
mod tests;
