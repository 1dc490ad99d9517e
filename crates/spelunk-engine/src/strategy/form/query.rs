//! A query: what a form says, and what that comes to over the rows of a grid. Nothing is asked of a model here.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use spelunk_context::Grid;

use super::link::Link;
use super::{CONDITIONS_MAX, KINDS_MAX};
use crate::strategy::asked;

/// How a cell is held against a value.
pub(super) const RELATIONS: [&str; 7] = ["=", "!=", "<", "<=", ">", ">=", "contains"];
/// What can be done with rows.
pub(super) const OPERATIONS: [&str; 10] = [
    "count rows",
    "count different values",
    "sum",
    "average",
    "smallest",
    "largest",
    "most common value",
    "first row",
    "last row",
    "none of these",
];

/// Words of a question, and what they ask for.
const ASKED: &[(&[&str], &[&str])] = &[
    (&["different", "distinct", "unique"], &["count different values"]),
    (&["how many", "how often", "number of", "count"], &["count rows", "count different values"]),
    (&["most common", "most frequent", "most often"], &["most common value"]),
    (&["total", "sum", "altogether"], &["sum"]),
    (&["average", "mean"], &["average"]),
    (&["highest", "largest", "maximum", "longest", "biggest"], &["largest"]),
    (&["lowest", "smallest", "minimum", "shortest", "cheapest"], &["smallest"]),
    (&["first", "earliest"], &["first row", "smallest"]),
    (&["last", "latest"], &["last row", "largest"]),
];

/// What may be done to answer a question, by its words: all of it where they do not tell. "How many units" may be the
/// sum of a column of that name.
pub(super) fn operations(question: &str, columns: &[String]) -> Vec<&'static str> {
    let text = asked::questions(question).to_lowercase();
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let padded = format!(" {} ", words.join(" "));
    let says = |phrases: &&[&str]| phrases.iter().any(|phrase| padded.contains(&format!(" {phrase} ")));
    let Some((_, named)) = ASKED.iter().find(|(phrases, _)| says(phrases)) else {
        return OPERATIONS.to_vec();
    };
    let is_column = |word: &str| columns.iter().any(|column| column.eq_ignore_ascii_case(word));
    let sums = words.windows(3).any(|words| words.starts_with(&["how", "many"]) && is_column(words[2]));
    let sum: &[&str] = if sums { &["sum"] } else { &[] };
    sum.iter().chain(*named).chain(OPERATIONS.last()).copied().collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operation {
    Count,
    CountDifferent,
    Sum,
    Average,
    Smallest,
    Largest,
    MostCommon,
    First,
    Last,
}

impl Operation {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "count rows" => Self::Count,
            "count different values" => Self::CountDifferent,
            "sum" => Self::Sum,
            "average" => Self::Average,
            "smallest" => Self::Smallest,
            "largest" => Self::Largest,
            "most common value" => Self::MostCommon,
            "first row" => Self::First,
            "last row" => Self::Last,
            _ => return None,
        })
    }

    fn picks_row(self) -> bool {
        matches!(self, Self::Smallest | Self::Largest | Self::First | Self::Last)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Condition {
    column: usize,
    /// One of `RELATIONS`.
    is: &'static str,
    value: String,
}

/// A form that was filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Query {
    conditions: Vec<Condition>,
    operation: Operation,
    of: usize,
    show: usize,
}

/// What a query comes to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Computed {
    pub(super) value: String,
    /// The rows that meet the conditions.
    pub(super) rows: Vec<usize>,
    /// The row in which the answer stands, where it stands in one.
    pub(super) picked: Option<usize>,
}

impl Query {
    /// The form that a reply says, if it says one.
    pub(super) fn read(form: Option<&Value>, grid: &Grid) -> Result<Self, String> {
        let form = form.ok_or_else(|| "it is no JSON".to_owned())?;
        let text = |value: &Value, key: &str| value.get(key).and_then(as_text).unwrap_or_default();
        let column = |name: String| grid.column(&name).ok_or_else(|| format!("there is no column `{name}`"));
        let name = text(form, "do");
        let operation = Operation::of(&name).ok_or_else(|| format!("`{name}` cannot be computed"))?;
        let mut conditions = Vec::new();
        for condition in
            form.get("conditions").and_then(Value::as_array).into_iter().flatten().take(CONDITIONS_MAX)
        {
            let is = text(condition, "is");
            let is = RELATIONS.into_iter().find(|known| **known == is).unwrap_or("=");
            conditions.push(Condition {
                column: column(text(condition, "column"))?,
                is,
                value: text(condition, "value"),
            });
        }
        let of = column(text(form, "of"))?;
        let show = if operation.picks_row() { column(text(form, "show"))? } else { of };
        Ok(Self { conditions, operation, of, show })
    }

    /// The columns that decide the answer.
    pub(super) fn columns_used(&self) -> impl Iterator<Item = usize> {
        let of = (self.operation != Operation::Count).then_some(self.of);
        self.conditions.iter().map(|condition| condition.column).chain(of)
    }

    /// Whether a condition is about a column.
    pub(super) fn has_condition(&self, column: usize) -> bool {
        self.conditions.iter().any(|condition| condition.column == column)
    }

    /// Adds the conditions that the question names and the form does not: those of a column of which it names one value.
    pub(super) fn add_missing(&mut self, links: &[Link]) {
        for link in links {
            let is_only = links.iter().filter(|other| other.column == link.column).count() == 1;
            let is_used = self.conditions.iter().any(|condition| condition.column == link.column);
            let is_counted = self.of == link.column && self.operation == Operation::MostCommon;
            if is_only && !is_used && !is_counted {
                self.conditions.push(Condition { column: link.column, is: "=", value: link.value.clone() });
            }
        }
    }

    /// Puts right what is plainly meant, and says what no row can meet.
    pub(super) fn check(&mut self, grid: &Grid) -> Result<(), String> {
        let is_fixed = |condition: &Condition| condition.column == self.of && condition.is == "=";
        if self.operation == Operation::CountDifferent && self.conditions.iter().any(is_fixed) {
            // Nobody asks how many different values one value is.
            self.operation = Operation::Count;
        }
        for condition in &mut self.conditions {
            let Some(few) = grid.few(condition.column, KINDS_MAX) else { continue };
            let is_number = number(&condition.value).is_some();
            let same = few.iter().find(|value| value.eq_ignore_ascii_case(condition.value.trim()));
            match same {
                Some(value) => {
                    condition.value = (*value).to_owned();
                    // Kinds have no order: a level is not below another one.
                    let are_numbers = few.iter().all(|value| number(value).is_some() || is_time(value));
                    if !are_numbers && !matches!(condition.is, "=" | "!=") {
                        condition.is = "=";
                    }
                }
                None if condition.is == "=" && !is_number => {
                    let name = &grid.columns()[condition.column];
                    let values: Vec<&str> = few.into_iter().take(super::VALUES_SHOWN_MAX).collect();
                    return Err(format!(
                        "no row has `{}` in the column {name}; there are {}",
                        condition.value,
                        values.join(", ")
                    ));
                }
                None => {}
            }
        }
        Ok(())
    }

    /// The answer; none where there is nothing to answer from.
    pub(super) fn compute(&self, grid: &Grid) -> Option<Computed> {
        let rows: Vec<usize> = (0..grid.len()).filter(|&row| self.takes(grid, row)).collect();
        let cells = || rows.iter().filter_map(|&row| grid.cell(row, self.of)).filter(|cell| !cell.is_empty());
        let numbers: Vec<f64> = cells().filter_map(number).collect();
        let value = match self.operation {
            Operation::Count => rows.len().to_string(),
            Operation::CountDifferent => cells().collect::<BTreeSet<_>>().len().to_string(),
            Operation::Sum | Operation::Average if numbers.is_empty() => return None,
            Operation::Sum => shown(numbers.iter().sum()),
            #[expect(clippy::cast_precision_loss, reason = "rows are fewer than that")]
            Operation::Average => shown(numbers.iter().sum::<f64>() / numbers.len() as f64),
            Operation::MostCommon => most_common(cells())?.to_owned(),
            Operation::Smallest | Operation::Largest | Operation::First | Operation::Last => {
                let picked = self.pick(grid, &rows)?;
                let value = grid.cell(picked, self.show).filter(|value| !value.is_empty())?.to_owned();
                return Some(Computed { value, rows, picked: Some(picked) });
            }
        };
        Some(Computed { value, rows, picked: None })
    }

    fn takes(&self, grid: &Grid, row: usize) -> bool {
        self.conditions.iter().all(|condition| {
            let cell = grid.cell(row, condition.column).unwrap_or_default();
            let ordering = compare(cell, &condition.value);
            match condition.is {
                "=" => ordering.is_eq(),
                "!=" => ordering.is_ne(),
                "<" => !cell.is_empty() && ordering.is_lt(),
                "<=" => !cell.is_empty() && ordering.is_le(),
                ">" => ordering.is_gt(),
                ">=" => ordering.is_ge(),
                _ => cell.to_lowercase().contains(&condition.value.to_lowercase()),
            }
        })
    }

    fn pick(&self, grid: &Grid, rows: &[usize]) -> Option<usize> {
        let cell = |row: usize| grid.cell(row, self.of).filter(|cell| !cell.is_empty());
        let with_cell = rows.iter().copied().filter(|&row| cell(row).is_some());
        let by_cell = |a: usize, b: usize| compare(cell(a).unwrap_or_default(), cell(b).unwrap_or_default());
        // Of equals the first.
        let nearest = |wanted: Ordering| {
            with_cell.reduce(move |best, row| if by_cell(row, best) == wanted { row } else { best })
        };
        if self.operation == Operation::First {
            rows.first().copied()
        } else if self.operation == Operation::Last {
            rows.last().copied()
        } else if self.operation == Operation::Smallest {
            nearest(Ordering::Less)
        } else {
            nearest(Ordering::Greater)
        }
    }

    /// `level = ERROR and time < 06:00; counted`.
    pub(super) fn in_words(&self, grid: &Grid) -> String {
        let name = |column: usize| grid.columns().get(column).map_or("", String::as_str);
        let conditions = self
            .conditions
            .iter()
            .map(|Condition { column, is, value }| format!("{} {is} {value}", name(*column)));
        let conditions: Vec<String> = conditions.collect();
        let rows = if conditions.is_empty() { "all".to_owned() } else { conditions.join(" and ") };
        let (of, show) = (name(self.of), name(self.show));
        let done = match self.operation {
            Operation::Count => "counted".to_owned(),
            Operation::CountDifferent => format!("different values of {of} counted"),
            Operation::Sum => format!("sum of {of}"),
            Operation::Average => format!("average of {of}"),
            Operation::Smallest => format!("{show} where {of} is smallest"),
            Operation::Largest => format!("{show} where {of} is largest"),
            Operation::MostCommon => format!("most common {of}"),
            Operation::First => format!("{show} of the first"),
            Operation::Last => format!("{show} of the last"),
        };
        format!("{rows}; {done}")
    }
}

fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// `1_000`, `1,000`, `3.5`, `-2`.
fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let is_grouped = text.contains(',') && text.split(',').skip(1).all(|group| group.len() == 3);
    let bare: String = text.chars().filter(|&c| c != '_' && !(is_grouped && c == ',')).collect();
    let is_plain = bare.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    bare.parse().ok().filter(|value: &f64| is_plain && value.is_finite())
}

fn is_time(text: &str) -> bool {
    text.contains([':', '-']) && text.bytes().all(|byte| byte.is_ascii_digit() || b":-./T, Z".contains(&byte))
}

/// Numbers as numbers, all else as texts, whatever their case.
fn compare(a: &str, b: &str) -> Ordering {
    match (number(a), number(b)) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        _ => a.trim().to_lowercase().cmp(&b.trim().to_lowercase()),
    }
}

fn most_common<'t>(cells: impl Iterator<Item = &'t str>) -> Option<&'t str> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for cell in cells {
        *counts.entry(cell).or_default() += 1;
    }
    // Of equals the first in the order of the alphabet.
    counts.into_iter().rev().max_by_key(|(_, n)| *n).map(|(cell, _)| cell)
}

/// A number without needless digits.
fn shown(value: f64) -> String {
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}
