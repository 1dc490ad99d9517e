//! Row labels: a model assigns each row one of the kinds that the question names, a few rows per
//! call, and code counts. Asked for a number over a hundred messages, a small model makes one up;
//! asked for the kind of each of eight, it reads them.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::{StreamExt, stream};
use serde_json::{Value, json};
use spelunk_context::{RowTable, View};
use spelunk_model::Prompt;
use spelunk_types::{Citation, ErrorCode, EventKind, Grounding};

use crate::plain_answer::unless_empty;
use crate::sync::blocking;
use crate::{Answer, Frame, FrameError, Result, Task, evidence, question};

const KINDS: &str = include_str!("../prompts/labels-kinds.md");
const READ: &str = include_str!("../prompts/labels-read.md");
pub(super) const PROMPTS: [&str; 2] = [KINDS, READ];

const BYTES_MAX: u64 = 20_000_000;
/// The most rows that are labelled. Larger tables are read in parts, like any other text.
const ROWS_MAX: usize = 5_000;
/// Rows per call: with more, a small model loses its place.
const ROWS_AT_ONCE: usize = 8;
const ROW_CHARS_MAX: usize = 600;
const KINDS_MAX: usize = 20;
const KINDS_TOKENS_MAX: u64 = 300;
/// The output tokens for the name of a kind.
const TOKENS_PER_ROW: u64 = 12;
const CITATIONS_MAX: usize = 5;
const QUOTE_CHARS_MAX: usize = 200;

/// Answers row by row; `None` if there are no rows, or if the question does not count kinds.
pub(crate) async fn solve(frame: &Frame, task: &Task) -> Result<Option<Answer>> {
    let view = task.view.clone();
    let Some(rows) = blocking(move || Rows::open(&view)).await else { return Ok(None) };
    let question = task.question_shown();
    let Some(wanted) = ask_wanted(frame, question).await? else { return Ok(None) };
    let bytes = rows.texts.iter().map(|row| row.text.len() as u64).sum();
    let documents = task.view.documents().len() as u64;
    frame.note(EventKind::PassagesChosen { documents, bytes, of_bytes: task.view.bytes() }).await?;
    let tally = read_all(frame, question, &wanted, &rows).await?;
    let Some(value) = wanted.value(&tally) else { return Ok(None) };
    let mut words = tally.in_words(&wanted);
    if rows.n_empty > 0 {
        words += &format!(" {} more have no text.", rows.n_empty);
    }
    let text = format!("{value}\n\n{words}");
    let of_kind = |kind: &Option<String>| kind.as_deref() == Some(wanted.shown(&value));
    let shown = tally.kinds.iter().zip(&rows.texts).filter(|(kind, _)| of_kind(kind));
    let claims = shown.take(CITATIONS_MAX).map(|(_, row)| row.citation()).collect();
    let mut answer = evidence::check_claims(frame, &task.view, &text, claims).await?;
    if tally.n_unread() > 0 {
        answer.grounding = Grounding::Partial { stopped_by: ErrorCode::ReportInvalid };
    }
    Ok(Some(answer))
}

struct Row {
    document: String,
    line: u64,
    text: String,
}

impl Row {
    fn citation(&self) -> Citation {
        let quote = self.text.chars().take(QUOTE_CHARS_MAX).collect();
        Citation { document: self.document.clone(), line: self.line, quote }
    }
}

struct Rows {
    texts: Vec<Row>,
    n_empty: usize,
}

impl Rows {
    /// The texts of the column with the most prose.
    fn open(view: &View) -> Option<Self> {
        let grid = RowTable::of(view, BYTES_MAX)?;
        if grid.len() > ROWS_MAX {
            return None;
        }
        let length = |column: usize| grid.values(column).map(str::len).sum::<usize>();
        // Prose contains spaces; paths, URLs and ids do not.
        let is_prose = |column: &usize| {
            let (mut n, mut n_spaced) = (0_usize, 0_usize);
            for value in grid.values(*column) {
                n += 1;
                n_spaced += usize::from(value.trim().contains(char::is_whitespace));
            }
            n_spaced * 2 > n && grid.columns()[*column] != RowTable::FILE
        };
        let column = (0..grid.columns().len()).filter(is_prose).max_by_key(|&column| length(column))?;
        let row = |idx: usize| {
            let (document, line) = grid.place(idx)?;
            let text = grid.cell(idx, column).unwrap_or_default().replace('\n', " ");
            let text: String = text.chars().take(ROW_CHARS_MAX).collect();
            Some(Row { document: document.to_owned(), line, text })
        };
        let (texts, empty): (Vec<Row>, Vec<Row>) =
            (0..grid.len()).filter_map(row).partition(|row| !row.text.trim().is_empty());
        // A column that is empty in half of the rows is not what the question is about.
        (empty.len() < texts.len()).then_some(Self { texts, n_empty: empty.len() })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sought {
    One,
    MostCommon,
    LeastCommon,
}

/// What the question asks about which kinds.
#[derive(Debug, PartialEq, Eq)]
struct Wanted {
    sought: Sought,
    kinds: Vec<String>,
    of: String,
}

async fn ask_wanted(frame: &Frame, question: &str) -> Result<Option<Wanted>> {
    let mut prompt = Prompt::single(KINDS, format!("Question: {question}"), KINDS_TOKENS_MAX);
    prompt.schema = Some(Arc::new(json!({
        "type": "object",
        "properties": {
            "do": {"type": "string", "enum": ["count one kind", "most common kind", "least common kind", "none of these"]},
            "kinds": {"type": "array", "items": {"type": "string"}, "maxItems": KINDS_MAX},
            "of": {"type": "string"},
        },
        "required": ["do", "kinds", "of"],
        "additionalProperties": false,
    })));
    let reply = unless_empty(frame.ask(prompt).await)?;
    Ok(reply.and_then(|reply| Wanted::read(&reply.text, question)))
}

impl Wanted {
    /// Parses a reply. Kinds that are not in the question are made up and dropped.
    fn read(reply: &str, question: &str) -> Option<Self> {
        let reply = object_in(reply)?;
        let sought = match reply.get("do")?.as_str()? {
            "count one kind" => Sought::One,
            "most common kind" => Sought::MostCommon,
            "least common kind" => Sought::LeastCommon,
            _ => return None,
        };
        let lower = question.to_lowercase();
        let named = reply.get("kinds")?.as_array()?.iter().filter_map(Value::as_str).map(str::trim);
        let mut kinds: Vec<String> = Vec::new();
        for kind in named.filter(|kind| !kind.is_empty() && lower.contains(&kind.to_lowercase())) {
            if !kinds.iter().any(|known| known.eq_ignore_ascii_case(kind)) {
                kinds.push(kind.to_owned());
            }
        }
        let of = reply.get("of").and_then(Value::as_str).unwrap_or_default().trim();
        let of = kinds.iter().find(|kind| kind.eq_ignore_ascii_case(of)).cloned();
        let is_whole =
            kinds.len() >= 2 && kinds.len() <= KINDS_MAX && (sought != Sought::One || of.is_some());
        is_whole.then(|| Self { sought, of: of.unwrap_or_default(), kinds })
    }

    /// A kind for each row number: the numbers keep a small model from losing its place.
    fn schema(&self, n_rows: usize) -> Arc<Value> {
        let numbers: Vec<String> = (1..=n_rows).map(|number| number.to_string()).collect();
        let kind = json!({"type": "string", "enum": self.kinds});
        let fields: serde_json::Map<String, Value> =
            numbers.iter().map(|number| (number.clone(), kind.clone())).collect();
        Arc::new(json!({
            "type": "object",
            "properties": fields,
            "required": numbers,
            "additionalProperties": false,
        }))
    }

    /// The kinds of rows in a reply; `None` unless there is one for each row.
    fn kinds_in(&self, reply: &str, n_rows: usize) -> Option<Vec<String>> {
        let reply = object_in(reply)?;
        let known = |number: usize| {
            let said = reply.get(number.to_string())?.as_str()?.trim();
            self.kinds.iter().find(|kind| kind.eq_ignore_ascii_case(said)).cloned()
        };
        (1..=n_rows).map(known).collect()
    }

    /// The answer; `None` if nothing was read.
    fn value(&self, tally: &RowLabels) -> Option<String> {
        let counts = tally.counts(self);
        if counts.iter().all(|(_, n)| *n == 0) {
            return None;
        }
        // Ties go to the kind that the question names first.
        Some(match self.sought {
            Sought::One => counts.iter().find(|(kind, _)| *kind == self.of)?.1.to_string(),
            Sought::MostCommon => counts.iter().rev().max_by_key(|(_, n)| *n)?.0.to_owned(),
            Sought::LeastCommon => counts.iter().min_by_key(|(_, n)| *n)?.0.to_owned(),
        })
    }

    /// The kind whose rows support the answer.
    fn shown<'a>(&'a self, value: &'a str) -> &'a str {
        if self.sought == Sought::One { &self.of } else { value }
    }
}

/// The kinds of all rows; `None` for a row that could not be read.
struct RowLabels {
    kinds: Vec<Option<String>>,
}

impl RowLabels {
    fn counts<'a>(&self, wanted: &'a Wanted) -> Vec<(&'a str, usize)> {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for kind in self.kinds.iter().flatten() {
            *counts.entry(kind).or_default() += 1;
        }
        wanted
            .kinds
            .iter()
            .map(|kind| (kind.as_str(), counts.get(kind.as_str()).copied().unwrap_or(0)))
            .collect()
    }

    fn n_unread(&self) -> usize {
        self.kinds.iter().filter(|kind| kind.is_none()).count()
    }

    fn in_words(&self, wanted: &Wanted) -> String {
        let counts: Vec<String> = self.counts(wanted).iter().map(|(kind, n)| format!("{kind} {n}")).collect();
        let unread = match self.n_unread() {
            0 => String::new(),
            n => format!(" {n} could not be read."),
        };
        format!("Read one by one, {} rows: {}.{unread}", self.kinds.len(), counts.join(", "))
    }
}

async fn read_all(frame: &Frame, question: &str, wanted: &Wanted, rows: &Rows) -> Result<RowLabels> {
    // Without the final question, which would distract the model.
    let told = question::told(question);
    let system = READ.replace("{question}", if told.is_empty() { question } else { &told });
    let parallel = usize::try_from(frame.limits().calls_parallel_max).unwrap_or(usize::MAX).max(1);
    let batches: Vec<(usize, Prompt)> =
        rows.texts.chunks(ROWS_AT_ONCE).map(|batch| batch_prompt(&system, wanted, batch)).collect();
    let mut asked = stream::iter(batches)
        .map(|(n_rows, prompt)| {
            let reply = frame.ask_sub(prompt);
            async move { (n_rows, reply.await) }
        })
        .buffered(parallel);
    let mut kinds = Vec::new();
    while let Some((n_rows, reply)) = asked.next().await {
        let said = match reply {
            Ok(reply) => wanted.kinds_in(&reply.text, n_rows),
            Err(error @ FrameError::Stopped(_)) => return Err(error),
            Err(_) => None,
        };
        match said {
            Some(said) => kinds.extend(said.into_iter().map(Some)),
            None => kinds.extend((0..n_rows).map(|_| None)),
        }
    }
    Ok(RowLabels { kinds })
}

fn batch_prompt(system: &str, wanted: &Wanted, batch: &[Row]) -> (usize, Prompt) {
    let texts = batch.iter().enumerate().map(|(idx, row)| format!("{}. {}", idx + 1, row.text));
    let user = format!("Kinds: {}\n\n{}", wanted.kinds.join(", "), texts.collect::<Vec<_>>().join("\n"));
    let tokens_max = 20 + TOKENS_PER_ROW * batch.len() as u64;
    let mut prompt = Prompt::single(system, user, tokens_max);
    prompt.schema = Some(wanted.schema(batch.len()));
    (batch.len(), prompt)
}

fn object_in(reply: &str) -> Option<Value> {
    let (start, end) = (reply.find('{')?, reply.rfind('}')?);
    serde_json::from_str(reply.get(start..=end)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::view;

    const QUESTION: &str = "Each message is praise, size or a defect. How many are a defect?";

    #[test]
    fn kinds_are_those_of_the_question() {
        let read = |reply: &str| Wanted::read(reply, QUESTION);
        let kinds = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        let one = r#"```json
            {"do": "count one kind", "kinds": ["Praise", "size", "defect", "weather", "size"], "of": "Defect"}
            ```"#;
        let wanted =
            Wanted { sought: Sought::One, kinds: kinds(&["Praise", "size", "defect"]), of: "defect".into() };
        assert_eq!(read(one), Some(wanted));
        for bad in [
            "defect",
            r#"{"do": "count one kind", "kinds": ["praise", "size"], "of": "defect"}"#,
            r#"{"do": "most common kind", "kinds": ["size"], "of": ""}"#,
            r#"{"do": "none of these", "kinds": ["praise", "size"], "of": ""}"#,
            r#"{"do": "most common kind", "kinds": 7}"#,
        ] {
            assert_eq!(read(bad), None, "{bad}");
        }
    }

    #[test]
    fn rows_are_counted_and_those_that_were_not_read_are_named() {
        let kinds = vec!["praise".to_owned(), "size".into()];
        let mut wanted = Wanted { sought: Sought::One, kinds, of: "size".into() };
        assert_eq!(wanted.kinds_in(r#"{"1": "size", "2": "Praise"}"#, 2).unwrap(), ["size", "praise"]);
        assert_eq!(wanted.kinds_in(r#"{"1": "size"}"#, 2), None);
        assert_eq!(wanted.kinds_in(r#"{"1": "size", "2": "colour"}"#, 2), None);
        let some = |kind: &str| Some(kind.to_owned());
        let tally = RowLabels { kinds: vec![some("size"), None, some("praise"), some("size")] };
        assert_eq!(wanted.value(&tally), some("2"));
        assert_eq!(
            tally.in_words(&wanted),
            "Read one by one, 4 rows: praise 1, size 2. 1 could not be read."
        );
        wanted.sought = Sought::MostCommon;
        assert_eq!(wanted.value(&tally), some("size"));
        wanted.sought = Sought::LeastCommon;
        assert_eq!(wanted.value(&tally), some("praise"));
        assert_eq!(wanted.value(&RowLabels { kinds: vec![None] }), None);
    }

    #[test]
    fn the_longest_column_is_read() {
        let rows = Rows::open(&view(&[(
            "m.txt",
            "#1 | user 7 | Too large, by far.\n#2 | user 9 | Fine, thank you.\n",
        )]))
        .unwrap();
        let texts: Vec<&str> = rows.texts.iter().map(|row| row.text.as_str()).collect();
        assert_eq!(texts, ["Too large, by far.", "Fine, thank you."]);
        assert_eq!(rows.texts[1].line, 2);
        assert!(Rows::open(&view(&[("m.md", "Prose.\nMore prose.\n")])).is_none());
    }
}
