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

/// The most cells of a row that are shown besides its value.
const ROW_CELLS_MAX: usize = 3;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Computed {
    /// The question does not ask for a count of lines or rows.
    NotAsked,
    /// It asks for something over rows that only a model can understand.
    Unreadable,
    Result {
        value: String,
        how: String,
    },
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
        let mut read: Vec<(Table, Reading)> = Vec::new();
        for table in tables.tables().to_vec() {
            read.extend(Reading::of(&mut tables, &table, asked, &words).map(|reading| (table, reading)));
        }
        // Of several tables, the one with this name: `orders`, not `order_items`.
        if read.len() > 1 {
            read.retain(|(table, _)| words.iter().any(|word| word.is(&table.name)));
        }
        if let [(table, reading)] = read.as_slice()
            && let Some(sql) = reading.sql(asked, table)
            && let Ok(result) = tables.query(&sql, ROWS_MAX)
            && !result.is_empty()
        {
            let value = in_words(&result);
            return Self::Result { value, how: format!("{sql}, over {} rows", table.n_rows) };
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
    Once,
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

const AGGREGATES: [(&str, &[&str]); 5] = [
    ("AVG", &["average", "mean"]),
    ("median", &["median"]),
    ("SUM", &["total", "sum", "overall"]),
    ("MAX", &["maximum"]),
    ("MIN", &["minimum"]),
];
const DISTINCT: &[&str] = &["distinct", "different", "unique"];
const FREQUENT: &[&str] = &["common", "frequent", "frequently", "often", "time"];

impl Asked {
    fn of(words: &[Word]) -> Option<Self> {
        let has = |any: &[&str]| words.iter().any(|word| any.iter().any(|known| word.is(known)));
        let is_which = has(&["which", "what", "who"]);
        if has(&["many", "count"]) || (has(&["number"]) && has(&["of"])) {
            return Some(if has(DISTINCT) { Self::CountDistinct } else { Self::Count });
        }
        let ways = [
            Self::Once,
            Self::Most(Order::Falling),
            Self::Most(Order::Rising),
            Self::Highest(Order::Falling),
            Self::Highest(Order::Rising),
        ];
        if let Some(way) = ways
            .into_iter()
            .find(|way| is_which && has(way.words()) && (*way != Self::Once || has(way.more_words())))
        {
            return Some(way);
        }
        let aggregate = AGGREGATES.iter().find(|(_, words)| has(words));
        aggregate.map(|(function, _)| Self::Aggregate(function))
    }

    /// The words that ask for it; in other questions, they would mean something else.
    fn words(self) -> &'static [&'static str] {
        match self {
            Self::Count | Self::CountDistinct => &["many", "count", "number", "total", "overall"],
            Self::Once => &["once"],
            Self::Most(Order::Falling) => &["most", "commonest"],
            Self::Most(Order::Rising) => &["fewest", "least"],
            Self::Highest(Order::Falling) => &["highest", "largest", "biggest", "greatest"],
            Self::Highest(Order::Rising) => &["lowest", "smallest"],
            Self::Aggregate(function) => {
                AGGREGATES.iter().find(|(name, _)| *name == function).map_or(&[], |(_, words)| *words)
            }
        }
    }

    /// Words that only go with those.
    fn more_words(self) -> &'static [&'static str] {
        match self {
            Self::CountDistinct => DISTINCT,
            Self::Most(_) => FREQUENT,
            Self::Once => &["only"],
            Self::Count | Self::Highest(_) | Self::Aggregate(_) => &[],
        }
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
    "a", "all", "an", "and", "appear", "are", "be", "by", "contain", "data", "did", "do", "does", "entry",
    "event", "file", "for", "from", "had", "has", "have", "how", "in", "include", "is", "it", "log",
    "logged", "match", "mention", "occur", "occurred", "of", "on", "record", "row", "say", "table", "that",
    "the", "there", "these", "this", "value", "was", "were", "what", "which", "who", "with", "word", "line",
];

const LONG_FILLERS: &[&str] = &["containing", "including", "mentioning"];

/// A question about one table: the columns that it names, in order, and the values that it selects.
struct Reading {
    columns: Vec<Column>,
    /// Conditions, each with the name of its column.
    conditions: Vec<(String, String)>,
    /// Whether a row is asked for: `which order has the highest amount?`.
    asks_for_rows: bool,
}

impl Reading {
    /// `None` if a word is neither known nor in the table, or if two values of one column are named: `north and south`.
    fn of(tables: &mut Tables, table: &Table, asked: Asked, words: &[Word]) -> Option<Self> {
        let asks_for_rows =
            words.iter().any(|word| word.is("which") || word.is("who") || names_table(table, word));
        let mut reading = Self { columns: Vec::new(), conditions: Vec::new(), asks_for_rows };
        let mut at = 0;
        while let Some(word) = words.get(at) {
            let pair = words.get(at + 1).map(|next| format!("{} {}", word.text, next.text));
            let pair = pair.filter(|_| !word.is_quoted);
            if let Some(column) = pair.as_deref().and_then(|pair| column_of(table, pair)) {
                reading.columns.push(column.clone());
                at += 2;
                continue;
            }
            if let Some(condition) = pair.as_deref().and_then(|pair| condition_of(table, pair, words)) {
                reading.conditions.push(condition);
                at += 2;
                continue;
            }
            at += 1;
            if let Some(column) = column_of(table, &word.text).filter(|_| !word.is_quoted) {
                reading.columns.push(column.clone());
            } else if let Some(condition) = condition_of(table, &word.text, words) {
                reading.conditions.push(condition);
            } else if word.is_quoted || !(is_filler(asked, word) || names_table(table, word)) {
                reading.conditions.push(search(tables, table, &word.text)?);
            }
        }
        let mut names: Vec<&str> = reading.conditions.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names.windows(2).all(|pair| pair[0] != pair[1]).then_some(reading)
    }

    fn sql(&self, asked: Asked, table: &Table) -> Option<String> {
        let (mut columns, mut conditions) = (self.columns.clone(), self.conditions.clone());
        // A column next to its own value adds nothing: `status 500`.
        if asked != Asked::CountDistinct {
            columns.retain(|column| !conditions.iter().any(|(name, _)| *name == column.name));
        }
        columns.dedup_by(|a, b| a.name == b.name);
        if let (Asked::Highest(_), Some(value)) = (asked, columns.last()) {
            conditions.push((value.name.clone(), format!("\"{}\" IS NOT NULL", value.name)));
        }
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
            (Asked::Highest(order), [others @ .., value])
                if value.kind != ColumnType::Text && others.len() <= 1 =>
            {
                let own =
                    table.columns.iter().filter(|column| column.name != value.name && self.asks_for_rows);
                let shown: Vec<String> = match others {
                    [] => own.take(ROW_CELLS_MAX).chain([value]).map(name).collect(),
                    _ => columns.iter().map(name).collect(),
                };
                let rows_max = if shown.len() > 1 { ROWS_MAX } else { 1 };
                let (shown, value) = (shown.join(", "), name(value));
                Some(format!("SELECT {shown} {from} ORDER BY {value} {} LIMIT {rows_max}", order.sql()))
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

fn is_filler(asked: Asked, word: &Word) -> bool {
    [FILLERS, LONG_FILLERS, asked.words(), asked.more_words()].concat().iter().any(|known| word.is(known))
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

/// The condition for a value that a column is known to contain, in any case. If several columns contain it, a word of
/// the question must name one of them.
fn condition_of(table: &Table, wanted: &str, words: &[Word]) -> Option<(String, String)> {
    let wanted = wanted.to_lowercase();
    let mut found: Vec<(&Column, Vec<String>)> = Vec::new();
    for column in &table.columns {
        let having = |is_it: &dyn Fn(&str) -> bool| {
            let values = column.few.iter().flatten().filter(|value| is_it(&value.to_lowercase()));
            values.map(|value| literal(value, column.kind)).collect::<Vec<_>>()
        };
        let same = having(&|value| value == wanted);
        let values = if same.is_empty() { having(&|value| is_form(value, &wanted)) } else { same };
        if !values.is_empty() {
            found.push((column, values));
        }
    }
    if found.len() > 1 {
        let is_named =
            |column: &Column| words.iter().any(|word| column_of(table, &word.text) == Some(column));
        found.retain(|(column, _)| is_named(column));
    }
    let [(column, values)] = found.as_slice() else { return None };
    let condition = match values.as_slice() {
        [one] => format!("\"{}\" = {one}", column.name),
        several => format!("\"{}\" IN ({})", column.name, several.join(", ")),
    };
    Some((column.name.clone(), condition))
}

/// The condition for a value that some row contains. It is ambiguous if two columns contain it.
fn search(tables: &mut Tables, table: &Table, value: &str) -> Option<(String, String)> {
    let mut found = None;
    for column in table.columns.iter().filter(|column| column.few.is_none()).take(COLUMNS_SEARCHED_MAX) {
        if column.kind != ColumnType::Text && value.parse::<f64>().is_err() {
            continue;
        }
        let condition = format!("\"{}\" = {} COLLATE NOCASE", column.name, literal(value, column.kind));
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

/// One value, or the first row and all rows that tie with it: `2, south, failed: 30`.
fn in_words(result: &QueryResult) -> String {
    let of_row = |row: &Vec<Cell>| {
        let cells: Vec<String> = row.iter().map(Cell::to_string).collect();
        match cells.as_slice() {
            [own @ .., value] if !own.is_empty() => format!("{}: {value}", own.join(", ")),
            _ => cells.concat(),
        }
    };
    let equals = |row: &&Vec<Cell>| match result.rows.first() {
        Some(first) if first.len() > 1 => row.last() == first.last(),
        Some(_) | None => true,
    };
    let mut rows: Vec<String> = result.rows.iter().filter(equals).map(of_row).collect();
    if result.is_cut {
        rows.push("…".to_owned());
    }
    rows.join(if result.rows.first().is_some_and(|first| first.len() > 2) { "; " } else { ", " })
}
