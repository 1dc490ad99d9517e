//! SQL: the model writes a query over the rows of the documents, and SQLite computes the answer
//! over all of them. A query that fails, finds nothing or names a value that no row has is sent
//! back with the reason or, if the model is small, compared with other queries that it writes.

mod repair;

use std::collections::BTreeMap;
use std::sync::Arc;

use spelunk_context::{QueryWatch, View};
use spelunk_model::{Message, Prompt, Reply};
use spelunk_tables::{Cell, Place, QueryResult, Tables};
use spelunk_types::{Citation, ErrorCode, EventKind, Explain as _, Grounding};

use super::{LazyTables, query_ms_max};
use crate::plain_answer::unless_empty;
use crate::sync::watched;
use crate::{Answer, Frame, FrameError, Result, Task, certainty, evidence};

const SYSTEM: &str = include_str!("../prompts/sql-system.md");
const SERVER_SYSTEM: &str = include_str!("../prompts/sql-server-system.md");
pub(super) const PROMPTS: [&str; 2] = [SYSTEM, SERVER_SYSTEM];

pub(crate) const BYTES_MAX: u64 = 50_000_000;
const SQL_TOKENS_MAX: u64 = 500;
/// Per question.
const QUERIES_MAX: usize = 3;
/// A small model rarely corrects a query. If its likeliest query has no result, or the model considered a token of it
/// less likely than this, it writes others, and the first result that `SAME_RESULTS_MIN` of them share is believed.
/// On the 114 questions over rows of the development half of `eval/real`, with their recorded queries, this gives 71
/// right and 18 wrong answers with 3.1 queries each; the likeliest query alone, if not doubted, 64 and 19.
const CERTAINTY_PERMILLE_MIN: u16 = 400;
const SMALL_QUERIES_MAX: usize = 9;
const SAME_RESULTS_MIN: usize = 3;
/// If this many queries have no result, further ones rarely have one.
const FRUITLESS_QUERIES_MAX: usize = 4;
const OTHERS_TEMPERATURE_MILLIS: u32 = 700;
/// The most rows in the answer. A first query that finds more is sent back: few questions ask for so many.
const ROWS_SHOWN_MAX: usize = 50;
const CITATIONS_MAX: usize = 5;
const QUOTE_CHARS_MAX: usize = 200;
const LITERALS_SHOWN_MAX: usize = 3;
/// Per query.
const REPAIRS_MAX: usize = 3;

pub(crate) enum RowsOutcome {
    /// The text has no rows, or few.
    NoRows,
    /// No query had a result that can be believed.
    NoResult,
    Answered(Answer),
}

pub(crate) async fn solve(frame: &Frame, task: &Task) -> Result<RowsOutcome> {
    let question = task.question_shown();
    let rows = Rows { frame, task, tables: Arc::default() };
    let Some(described) = rows.described().await? else { return Ok(RowsOutcome::NoRows) };
    let user = format!("{described}\nQuestion: {question}");
    let tokens_max = SQL_TOKENS_MAX.min(frame.limits().root_output_tokens_max);
    let system = if task.view.has_servers() { SERVER_SYSTEM } else { SYSTEM };
    let prompt = Prompt::single(system, user, tokens_max);
    let found =
        if frame.reader().is_small() { rows.agreed(&prompt).await? } else { rows.corrected(prompt).await? };
    let Some((text, claims)) = found else { return Ok(RowsOutcome::NoResult) };
    answer(frame, task, &text, claims).await.map(RowsOutcome::Answered)
}

type ResultText = (String, Vec<Citation>);

struct Rows<'a> {
    frame: &'a Frame,
    task: &'a Task,
    tables: Arc<LazyTables>,
}

impl Rows<'_> {
    /// The result of a small model's likeliest query if the model is certain of it, otherwise one that several queries share.
    async fn agreed(&self, prompt: &Prompt) -> Result<Option<ResultText>> {
        let Some(reply) = replied(certainty::ask(self.frame, prompt.clone()).await)? else { return Ok(None) };
        let mut sql = statement(&reply.text).map(str::to_owned);
        if sql.is_none() {
            return Ok(None);
        }
        let is_certain = !certainty::is_doubtful(&reply, CERTAINTY_PERMILLE_MIN);
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for n_queries in 1..=SMALL_QUERIES_MAX {
            if let Some(sql) = sql
                && let Ok((text, claims)) = self.computed(sql, true).await?
            {
                let n_same = seen.entry(value_of(&text).to_owned()).or_default();
                *n_same += 1;
                if n_queries == 1 && is_certain {
                    return Ok(Some((text, claims)));
                }
                // What the model was not certain of cites nothing.
                if *n_same == SAME_RESULTS_MIN {
                    return Ok(Some((text, Vec::new())));
                }
            }
            if n_queries == SMALL_QUERIES_MAX || n_queries == FRUITLESS_QUERIES_MAX && seen.is_empty() {
                break;
            }
            let other = Prompt { temperature_millis: Some(OTHERS_TEMPERATURE_MILLIS), ..prompt.clone() };
            sql = match self.frame.ask_anew(other).await {
                Ok(reply) => statement(&reply.text).map(str::to_owned),
                Err(error @ FrameError::Stopped(_)) => return Err(error),
                Err(_) => break,
            };
        }
        Ok(None)
    }

    /// The result of a query, which the model corrects if it fails or finds nothing.
    async fn corrected(&self, mut prompt: Prompt) -> Result<Option<ResultText>> {
        for _ in 0..QUERIES_MAX {
            let Some(reply) = replied(self.frame.ask(prompt.clone()).await)? else { return Ok(None) };
            let Some(sql) = statement(&reply.text).map(str::to_owned) else { return Ok(None) };
            // A count of zero or a long list is believed if a second query gives it too.
            let is_first = prompt.messages.len() == 1;
            match self.computed(sql, is_first).await? {
                Ok(found) => return Ok(Some(found)),
                Err(fault) => {
                    let said = format!("{fault} Write another query, or reply NONE.");
                    prompt.messages.extend([Message::assistant(reply.text), Message::user(said)]);
                }
            }
        }
        Ok(None)
    }

    /// The description of the tables for the model; `None` if they cover too little of the text.
    async fn described(&self) -> Result<Option<String>> {
        let (view, tables, question) =
            (self.task.view.clone(), Arc::clone(&self.tables), self.task.question_shown().to_owned());
        let (here, ms_max) = (Arc::clone(&tables), query_ms_max(&self.task.view, self.frame.limits()));
        let describe = move |watch: &QueryWatch| {
            tables.with(&view, watch, |tables| describe(tables, &view, &question)).flatten()
        };
        if !self.task.view.has_databases() {
            return Ok(watched(ms_max, describe).await);
        }
        let read = async move {
            let described = watched(ms_max, describe).await.unwrap_or_default();
            here.take_lost().map_or(Ok(described), |lost| Err(lost.into()))
        };
        Ok(Some(self.frame.observe("tables", read).await?).filter(|text| !text.is_empty()))
    }

    /// Runs a query. The result from a database is recorded.
    async fn computed(&self, sql: String, is_first: bool) -> Result<ComputedText> {
        let (view, tables, what) = (self.task.view.clone(), Arc::clone(&self.tables), format!("query {sql}"));
        let (here, ms_max) = (Arc::clone(&tables), query_ms_max(&self.task.view, self.frame.limits()));
        let compute = move |watch: &QueryWatch| -> ComputedText {
            let ran = tables.with(&view, watch, |tables| run(tables, &sql, is_first));
            let computed = ran.unwrap_or_else(|| Err("The tables can no longer be read.".to_owned()))?;
            let text = computed.in_words();
            Ok((text, if computed.is_of_many() { Vec::new() } else { quoted(&view, computed.places) }))
        };
        if !self.task.view.has_databases() {
            return Ok(watched(ms_max, compute).await);
        }
        let read = async move {
            let computed = serde_json::to_string(&watched(ms_max, compute).await).unwrap_or_default();
            here.take_lost().map_or(Ok(computed), |lost| Err(lost.into()))
        };
        let recorded = self.frame.observe(&what, read).await?;
        let damaged = || Err("The recorded result cannot be read.".to_owned());
        Ok(serde_json::from_str(&recorded).unwrap_or_else(|_| damaged()))
    }
}

/// The reply to a prompt; `None` if it is empty or the description of the tables is too long.
fn replied(asked: Result<Reply>) -> Result<Option<Reply>> {
    match asked {
        Err(error) if error.code() == ErrorCode::ModelPromptTooLong => Ok(None),
        asked => unless_empty(asked),
    }
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

/// The result of a query, or a sentence for the model.
type ComputedText = Result<ResultText, String>;

fn statement(reply: &str) -> Option<&str> {
    let fenced = reply.split_once("```").and_then(|(_, rest)| {
        let (_, body) = rest.split_once('\n')?;
        Some(body.split_once("```").map_or(body, |(body, _)| body))
    });
    let sql = fenced.unwrap_or(reply).trim();
    // Only the first statement; a text in quotes may contain the sign.
    let end = sql.find(";\n").map_or(sql.len(), |end| end + 1);
    let sql = sql.get(..end).unwrap_or(sql);
    let first = sql.split_whitespace().next().unwrap_or_default();
    ["select", "with"].iter().any(|word| word.eq_ignore_ascii_case(first)).then_some(sql)
}

struct Computed {
    sql: String,
    result: QueryResult,
    places: Vec<Place>,
    over: String,
    n_broken: u64,
}

/// What is probably wrong with a query that runs: it counts rows without a value.
fn fault(sql: &str) -> Option<&'static str> {
    let sql = sql.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ");
    if sql.contains("/ count(*)") && !sql.contains("case when") {
        return Some("`count(*)` also counts the rows without a value: use `avg(x)` for a mean.");
    }
    let is_null_besides = sql.split(" or ").skip(1).any(|condition| {
        let mut words = condition.split_whitespace().skip(1);
        words.next() == Some("is") && words.next().is_some_and(|word| word.starts_with("null"))
    });
    is_null_besides.then_some("Remove `OR … IS NULL`: it also selects the rows without a value.")
}

/// Runs a query, repaired if it fails; fails with a sentence for the model, about its own query.
fn run(tables: &mut Tables, sql: &str, is_first: bool) -> Result<Computed, String> {
    let ran = run_as_it_is(tables, sql, is_first);
    let (mut sql, mut fault) = (sql.to_owned(), ran.as_ref().err().cloned());
    for _ in 0..REPAIRS_MAX {
        let Some(better) = fault.and_then(|fault| repair::repaired(&sql, &fault)) else { break };
        match run_as_it_is(tables, &better, is_first) {
            Ok(computed) => return Ok(computed),
            Err(other) => (sql, fault) = (better, Some(other)),
        }
    }
    ran
}

fn run_as_it_is(tables: &mut Tables, sql: &str, is_first: bool) -> Result<Computed, String> {
    if let Some(fault) = fault(sql) {
        return Err(fault.to_owned());
    }
    let result = tables.query(sql, ROWS_SHOWN_MAX).map_err(|error| format!("The query failed: {error}."))?;
    if result.is_cut && is_first {
        return Err(format!(
            "The query returned more than {ROWS_SHOWN_MAX} rows. Return only what the question asks for: count, sum up or limit them."
        ));
    }
    // A row whose first cell is empty does not say what it is about.
    let is_empty = result.rows.iter().all(|row| row.first().is_none_or(|cell| *cell == Cell::Null));
    let is_nothing =
        is_empty || matches!(result.rows.as_slice(), [row] if row.as_slice() == [Cell::Integer(0)]);
    if is_nothing {
        let unknown = tables.unknown_literals(sql);
        let named: Vec<String> =
            unknown.iter().take(LITERALS_SHOWN_MAX).map(|literal| format!("`{literal}`")).collect();
        if !named.is_empty() {
            return Err(format!("The query found nothing: no cell is {}.", named.join(" or ")));
        }
        if !result.rows.is_empty() && is_empty {
            return Err("The result is an empty cell. Check the conditions, and leave out the rows without a value (`IS NOT NULL`).".to_owned());
        }
        if is_empty || is_first {
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

async fn answer(frame: &Frame, task: &Task, text: &str, claims: Vec<Citation>) -> Result<Answer> {
    let (documents, bytes) = (task.view.documents().len() as u64, task.view.bytes());
    frame.note(EventKind::PassagesChosen { documents, bytes, of_bytes: bytes }).await?;
    if claims.is_empty() {
        return Ok(Answer { text: text.to_owned(), citations: claims, grounding: Grounding::Computed });
    }
    evidence::check_claims(frame, &task.view, text, claims).await
}

impl Computed {
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
        format!("{value}{COMPUTED}{}: {sql}.{broken}{}", self.over, self.rows_used())
    }

    /// Whether no row proves the value: it was computed from many, or chosen among them.
    fn is_of_many(&self) -> bool {
        let sql: String = self.sql.to_lowercase().split_whitespace().collect();
        OF_MANY.split(' ').any(|word| sql.contains(word))
    }

    /// Names some rows behind a value that none of them proves.
    fn rows_used(&self) -> String {
        if self.places.is_empty() || !self.is_of_many() {
            return String::new();
        }
        let name = |place: &Place| match place {
            Place::Line(document, line) => format!("{document}:{line}"),
            Place::Row(address, _) => address.clone(),
        };
        let first = self.places.iter().map(name).collect::<Vec<_>>().join(", ");
        format!("\nThe first rows that it uses: {first}.")
    }
}

const OF_MANY: &str = "count( sum( avg( total( min( max( median( percentile( stddev( groupby orderby";
const COMPUTED: &str = "\n\nComputed over ";

fn value_of(text: &str) -> &str {
    text.split_once(COMPUTED).map_or(text, |(value, _)| value)
}

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
