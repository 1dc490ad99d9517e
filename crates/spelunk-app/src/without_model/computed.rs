//! Simple counts over rows, for questions that can be understood without a model: every word of the question must be a
//! known word, or a column or value of the table. Anything else is left to a model, and the output says so.

use spelunk_context::{Database, QueryWatch, View};
use spelunk_tables::{Cell, Column, ColumnType, QueryResult, Table, Tables};

use super::line_counts::count_lines;

/// The largest text that is counted.
pub(super) const BYTES_MAX: u64 = 50_000_000;
const WORDS_MAX: usize = 16;
/// The most columns with many values that are searched for a value.
const COLUMNS_SEARCHED_MAX: usize = 12;
/// The most rows of a result that are shown, such as groups with the same count.
pub(super) const ROWS_MAX: usize = 5;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Computed {
    /// The question does not ask for a count of lines or rows.
    NotAsked,
    /// It asks for something over rows that only a model can understand.
    Unreadable,
    /// The result, and how it was computed.
    Result { value: String, how: String },
}

const QUERY_MS_MAX: u64 = 10_000;

impl Computed {
    pub(super) fn of(view: &View, question: &str) -> Self {
        let words = words(question);
        let Some(asked) = Asked::of(&words) else { return Self::NotAsked };
        let is_short = words.len() <= WORDS_MAX && view.bytes() <= BYTES_MAX;
        if words.iter().any(|word| word.is("line")) {
            match is_short.then(|| count_lines(view, question)).flatten() {
                Some(counted) => return counted,
                None if asked == Asked::Count => return Self::Unreadable,
                None => {}
            }
        }
        if !is_short {
            return Self::NotAsked;
        }
        // Questions without a model send no queries to a server.
        let here = view.narrow(|document| !matches!(document.database, Some(Database::Server(_))));
        let tables = Tables::of(&here, BYTES_MAX, &QueryWatch::of_ms(QUERY_MS_MAX)).ok().flatten();
        let Some(mut tables) = tables.filter(|tables| tables.are_most_of(&here)) else {
            return Self::NotAsked;
        };
        for table in tables.tables().to_vec() {
            let sql = Reading::of(&mut tables, &table, &words).and_then(|reading| reading.sql(asked, &table));
            let Some(sql) = sql else { continue };
            let Ok(result) = tables.query(&sql, ROWS_MAX) else { continue };
            if !result.is_empty() {
                let value = in_words(&result);
                return Self::Result { value, how: format!("{sql}, over {} rows", table.n_rows) };
            }
        }
        Self::Unreadable
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Count,
    CountDistinct,
    /// The group with the most or fewest rows, or the largest or smallest sum.
    Most(Order),
    /// The row with the highest or lowest value.
    Highest(Order),
    /// The values that occur once.
    Once,
    /// An aggregate of a column.
    Aggregate(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    Falling,
    Rising,
}

impl Order {
    fn sql(self) -> &'static str {
        match self {
            Self::Falling => "DESC",
            Self::Rising => "ASC",
        }
    }
}

/// Words that ask for an aggregate.
const AGGREGATES: [(&str, &str); 8] = [
    ("average", "AVG"),
    ("mean", "AVG"),
    ("median", "median"),
    ("total", "SUM"),
    ("sum", "SUM"),
    ("maximum", "MAX"),
    ("minimum", "MIN"),
    ("overall", "SUM"),
];

impl Asked {
    fn of(words: &[Word]) -> Option<Self> {
        let has = |any: &[&str]| words.iter().any(|word| any.iter().any(|known| word.is(known)));
        let is_which = has(&["which", "what", "who"]);
        if has(&["many", "count"]) || (has(&["number"]) && has(&["of"])) {
            return Some(if has(&["distinct", "different", "unique"]) {
                Self::CountDistinct
            } else {
                Self::Count
            });
        }
        if is_which && has(&["once"]) && has(&["only"]) {
            return Some(Self::Once);
        }
        if is_which && has(&["most", "commonest"]) {
            return Some(Self::Most(Order::Falling));
        }
        if is_which && has(&["fewest", "least"]) {
            return Some(Self::Most(Order::Rising));
        }
        if is_which && has(&["highest", "largest", "biggest", "greatest"]) {
            return Some(Self::Highest(Order::Falling));
        }
        if is_which && has(&["lowest", "smallest"]) {
            return Some(Self::Highest(Order::Rising));
        }
        let aggregate = AGGREGATES.iter().find(|(word, _)| has(&[word]));
        aggregate.map(|(_, function)| Self::Aggregate(function))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Word {
    text: String,
    is_quoted: bool,
}

impl Word {
    /// Whether it is this word or its plural, in any case.
    fn is(&self, known: &str) -> bool {
        !self.is_quoted && is_form(&self.text.to_lowercase(), &known.to_lowercase())
    }
}

/// Whether one word is the other, or its plural.
fn is_form(a: &str, b: &str) -> bool {
    let is_plural = |one: &str, many: &str| {
        many.strip_suffix('s') == Some(one)
            || many.strip_suffix("es") == Some(one)
            || many.strip_suffix("ies").is_some_and(|stem| one.strip_suffix('y') == Some(stem))
    };
    a == b || is_plural(a, b) || is_plural(b, a)
}

/// The words of a question; quoted text is one word.
fn words(question: &str) -> Vec<Word> {
    let mut words = Vec::new();
    for (idx, part) in question.split(['"', '`']).enumerate() {
        if idx % 2 == 1 {
            words.push(Word { text: part.to_owned(), is_quoted: true });
            continue;
        }
        let split = part.split(|c: char| !(c.is_alphanumeric() || "_-./:@".contains(c)));
        let trimmed = split.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()));
        words.extend(
            trimmed
                .filter(|word| !word.is_empty())
                .map(|word| Word { text: word.to_owned(), is_quoted: false }),
        );
    }
    words
}

/// Question words, conjunctions and names for rows, which select nothing.
const FILLERS: &[&str] = &[
    "a",
    "all",
    "an",
    "and",
    "appear",
    "are",
    "at",
    "be",
    "by",
    "common",
    "commonest",
    "contain",
    "containing",
    "count",
    "data",
    "did",
    "different",
    "distinct",
    "do",
    "does",
    "each",
    "entry",
    "event",
    "fewest",
    "file",
    "for",
    "frequent",
    "frequently",
    "from",
    "had",
    "has",
    "have",
    "highest",
    "how",
    "in",
    "include",
    "including",
    "is",
    "it",
    "largest",
    "biggest",
    "greatest",
    "least",
    "log",
    "logged",
    "lowest",
    "many",
    "match",
    "mention",
    "mentioning",
    "most",
    "number",
    "occur",
    "occurred",
    "of",
    "often",
    "on",
    "once",
    "only",
    "overall",
    "record",
    "row",
    "say",
    "smallest",
    "table",
    "that",
    "the",
    "there",
    "these",
    "this",
    "time",
    "times",
    "to",
    "unique",
    "value",
    "was",
    "were",
    "what",
    "which",
    "who",
    "with",
    "word",
    "average",
    "mean",
    "median",
    "total",
    "sum",
    "maximum",
    "minimum",
    "line",
];

/// A question about one table: the columns that it names, in order, and the values that it selects.
struct Reading {
    columns: Vec<Column>,
    /// Conditions, each with the name of its column.
    conditions: Vec<(String, String)>,
}

impl Reading {
    /// `None` if a word is neither known nor in the table.
    fn of(tables: &mut Tables, table: &Table, words: &[Word]) -> Option<Self> {
        let mut reading = Self { columns: Vec::new(), conditions: Vec::new() };
        let mut at = 0;
        while let Some(word) = words.get(at) {
            let pair = words.get(at + 1).map(|next| format!("{} {}", word.text, next.text));
            let pair = pair.filter(|_| !word.is_quoted);
            if let Some(column) = pair.as_deref().and_then(|pair| column_of(table, pair)) {
                reading.columns.push(column.clone());
                at += 2;
                continue;
            }
            if let Some(condition) = pair.as_deref().and_then(|pair| condition_of(table, pair)) {
                reading.conditions.push(condition);
                at += 2;
                continue;
            }
            at += 1;
            if let Some(column) = column_of(table, &word.text).filter(|_| !word.is_quoted) {
                reading.columns.push(column.clone());
            } else if let Some(condition) = condition_of(table, &word.text) {
                reading.conditions.push(condition);
            } else if word.is_quoted || !(is_filler(word) || names_table(table, word)) {
                reading.conditions.push(search(tables, table, &word.text)?);
            }
        }
        Some(reading)
    }

    fn sql(self, asked: Asked, table: &Table) -> Option<String> {
        let Self { mut columns, conditions } = self;
        // A column next to its own value adds nothing: `status 500`.
        if asked != Asked::CountDistinct {
            columns.retain(|column| !conditions.iter().any(|(name, _)| *name == column.name));
        }
        columns.dedup_by(|a, b| a.name == b.name);
        let all: Vec<&str> = conditions.iter().map(|(_, condition)| condition.as_str()).collect();
        let filter = if all.is_empty() { String::new() } else { format!(" WHERE {}", all.join(" AND ")) };
        let from = format!("FROM \"{}\"{filter}", table.name);
        let name = |column: &Column| format!("\"{}\"", column.name);
        match (asked, columns.as_slice()) {
            (Asked::Count, []) => Some(format!("SELECT COUNT(*) {from}")),
            (Asked::CountDistinct, [only]) => Some(format!("SELECT COUNT(DISTINCT {}) {from}", name(only))),
            (Asked::Most(order), [group]) => Some(format!(
                "SELECT {group}, COUNT(*) AS n {from} GROUP BY {group} ORDER BY n {}, 1 LIMIT {ROWS_MAX}",
                order.sql(),
                group = name(group)
            )),
            (Asked::Most(order), [group, sum]) if sum.kind != ColumnType::Text => Some(format!(
                "SELECT {group}, SUM({sum}) AS n {from} GROUP BY {group} ORDER BY n {}, 1 LIMIT {ROWS_MAX}",
                order.sql(),
                group = name(group),
                sum = name(sum)
            )),
            (Asked::Highest(order), [group, value]) if value.kind != ColumnType::Text => Some(format!(
                "SELECT {}, {value} {from} ORDER BY {value} {} LIMIT {ROWS_MAX}",
                name(group),
                order.sql(),
                value = name(value)
            )),
            (Asked::Highest(order), [value]) if value.kind != ColumnType::Text => {
                let function = if order == Order::Falling { "MAX" } else { "MIN" };
                Some(format!("SELECT {function}({}) {from}", name(value)))
            }
            (Asked::Once, [only]) => {
                Some(format!("SELECT {only} {from} GROUP BY {only} HAVING COUNT(*) = 1", only = name(only)))
            }
            (Asked::Aggregate(function), [only]) if only.kind != ColumnType::Text => {
                Some(format!("SELECT {function}({}) {from}", name(only)))
            }
            _ => None,
        }
    }
}

fn is_filler(word: &Word) -> bool {
    FILLERS.iter().any(|known| word.is(known))
}

/// Whether a word is the name of the table, as in `how many orders`.
fn names_table(table: &Table, word: &Word) -> bool {
    table.name.split('_').any(|part| word.is(part))
}

fn column_of<'t>(table: &'t Table, words: &str) -> Option<&'t Column> {
    let plain = |text: &str| {
        let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
    };
    let wanted = plain(words);
    table.columns.iter().find(|column| is_form(&plain(&column.original), &wanted))
}

/// The condition for a value that a column is known to contain.
fn condition_of(table: &Table, words: &str) -> Option<(String, String)> {
    let wanted = words.to_lowercase();
    for column in &table.columns {
        let known = column.few.iter().flatten().find(|value| is_form(&value.to_lowercase(), &wanted));
        if let Some(value) = known {
            return Some((
                column.name.clone(),
                format!("\"{}\" = {}", column.name, literal(value, column.kind)),
            ));
        }
    }
    None
}

/// The condition for a value that some row contains. It is ambiguous if two columns contain it.
fn search(tables: &mut Tables, table: &Table, value: &str) -> Option<(String, String)> {
    let mut found = None;
    for column in table.columns.iter().filter(|column| column.few.is_none()).take(COLUMNS_SEARCHED_MAX) {
        if column.kind != ColumnType::Text && value.parse::<f64>().is_err() {
            continue;
        }
        let condition = format!("\"{}\" = {}", column.name, literal(value, column.kind));
        let n_rows =
            tables.query(&format!("SELECT COUNT(*) FROM \"{}\" WHERE {condition}", table.name), 1).ok()?;
        if matches!(n_rows.rows.as_slice(), [row] if matches!(row.as_slice(), [Cell::Integer(1..)])) {
            if found.is_some() {
                return None;
            }
            found = Some((column.name.clone(), condition));
        }
    }
    found
}

fn literal(value: &str, kind: ColumnType) -> String {
    match kind {
        ColumnType::Integer | ColumnType::Real if value.parse::<f64>().is_ok_and(f64::is_finite) => {
            value.to_owned()
        }
        ColumnType::Integer | ColumnType::Real | ColumnType::Text => {
            format!("'{}'", value.replace('\'', "''"))
        }
    }
}

/// One value, or the first row and all rows that tie with it.
fn in_words(result: &QueryResult) -> String {
    let of_row = |row: &Vec<Cell>| row.iter().map(Cell::to_string).collect::<Vec<_>>().join(": ");
    let equals = |row: &&Vec<Cell>| match result.rows.first() {
        Some(first) if first.len() == 2 => row.last() == first.last(),
        Some(_) | None => true,
    };
    let mut rows: Vec<String> = result.rows.iter().filter(equals).map(of_row).collect();
    if result.is_cut {
        rows.push("…".to_owned());
    }
    rows.join(", ")
}
