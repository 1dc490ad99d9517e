//! A query: a filled-in form, validated against the row table before anything is computed. What makes no sense is
//! reported to the model, never silently replaced.

use serde_json::Value;
use spelunk_context::RowTable;

use super::link::Link;
use super::operation::{Operation, asks_together};
use super::value::{self, Moment, Number, is_missing};
use super::{CONDITIONS_MAX, KINDS_MAX, VALUES_SHOWN_MAX, short};
use crate::small_model::name_hops::holds;

/// How a cell is compared with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Relation {
    Is,
    IsNot,
    Below,
    AtMost,
    Above,
    AtLeast,
    Contains,
}

/// The symbols of relations in a form.
pub(super) const RELATIONS: [&str; 7] = ["=", "!=", "<", "<=", ">", ">=", "contains"];
/// Other spellings that models use.
const SYNONYMS: &[(&str, &str)] = &[
    ("==", "="),
    ("is", "="),
    ("equals", "="),
    ("≠", "!="),
    ("<>", "!="),
    ("is not", "!="),
    ("not", "!="),
    ("≤", "<="),
    ("≥", ">="),
];
/// Words that negate the value after them.
const NEGATIONS: [&str; 9] =
    ["not", "no", "except", "without", "besides", "excluding", "other than", "apart from", "never"];

impl Relation {
    fn of(sign: &str) -> Option<Self> {
        let sign = sign.trim();
        let sign =
            SYNONYMS.iter().find(|(word, _)| word.eq_ignore_ascii_case(sign)).map_or(sign, |(_, sign)| sign);
        Some(match sign {
            "=" => Self::Is,
            "!=" => Self::IsNot,
            "<" => Self::Below,
            "<=" => Self::AtMost,
            ">" => Self::Above,
            ">=" => Self::AtLeast,
            "contains" => Self::Contains,
            _ => return None,
        })
    }

    fn sign(self) -> &'static str {
        match self {
            Self::Is => "=",
            Self::IsNot => "!=",
            Self::Below => "<",
            Self::AtMost => "<=",
            Self::Above => ">",
            Self::AtLeast => ">=",
            Self::Contains => "contains",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Condition {
    column: usize,
    relation: Relation,
    value: String,
    /// Whether some cell equals this value literally, so that `1.10` is not 1.1.
    is_text: bool,
}

impl Condition {
    fn takes(&self, cell: &str) -> bool {
        let is_same = || {
            if self.is_text {
                value::is_same_text(cell, &self.value)
            } else {
                value::is_same(cell, &self.value)
            }
        };
        let order = || value::order(cell, &self.value);
        match self.relation {
            Relation::Is => is_same(),
            Relation::IsNot => !is_same(),
            Relation::Below => order().is_some_and(std::cmp::Ordering::is_lt),
            Relation::AtMost => order().is_some_and(std::cmp::Ordering::is_le),
            Relation::Above => order().is_some_and(std::cmp::Ordering::is_gt),
            Relation::AtLeast => order().is_some_and(std::cmp::Ordering::is_ge),
            Relation::Contains => contains(&cell.to_lowercase(), &self.value.to_lowercase()),
        }
    }
}

/// Whether a text contains another as whole words: `user 1` is not in `user 12`.
fn contains(cell: &str, value: &str) -> bool {
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    if is_word(value.chars().next()) && is_word(value.chars().next_back()) {
        holds(cell, value)
    } else {
        cell.contains(value)
    }
}

/// A filled-in form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Query {
    conditions: Vec<Condition>,
    pub(super) operation: Operation,
    pub(super) of: usize,
    pub(super) show: usize,
}

impl Query {
    /// Parses the form in a reply.
    pub(super) fn read(form: Option<&Value>, grid: &RowTable) -> Result<Self, String> {
        let form = form.ok_or_else(|| "it is no JSON".to_owned())?;
        let text = |value: &Value, key: &str| value.get(key).and_then(as_text).unwrap_or_default();
        let column =
            |name: String| grid.column(&name).ok_or_else(|| format!("there is no column `{}`", short(&name)));
        let name = text(form, "do");
        let operation =
            Operation::of(&name).ok_or_else(|| format!("`{}` cannot be computed", short(&name)))?;
        let listed = match form.get("conditions") {
            None | Some(Value::Null) => &[][..],
            Some(Value::Array(listed)) if listed.len() <= CONDITIONS_MAX => listed,
            Some(_) => return Err(format!("`conditions` is no list of at most {CONDITIONS_MAX}")),
        };
        let mut conditions = Vec::new();
        for condition in listed {
            let sign = text(condition, "is");
            let relation = Relation::of(&sign)
                .ok_or_else(|| format!("`{}` is none of {}", short(&sign), RELATIONS.join(", ")))?;
            let (column, value) = (column(text(condition, "column"))?, text(condition, "value"));
            if value.trim().is_empty() {
                return Err("a condition has no value".to_owned());
            }
            conditions.push(Condition { column, relation, value, is_text: false });
        }
        let of = column(text(form, "of"))?;
        let show = if operation.shows() { column(text(form, "show"))? } else { of };
        Ok(Self { conditions, operation, of, show })
    }

    /// The columns that determine the answer.
    pub(super) fn columns_used(&self) -> impl Iterator<Item = usize> {
        let of = (self.operation != Operation::Count).then_some(self.of);
        self.conditions.iter().map(|condition| condition.column).chain(of)
    }

    /// Whether there is a condition on a column.
    pub(super) fn has_condition(&self, column: usize) -> bool {
        self.conditions.iter().any(|condition| condition.column == column)
    }

    pub(super) fn takes(&self, grid: &RowTable, row: usize) -> bool {
        self.conditions
            .iter()
            .all(|condition| condition.takes(grid.cell(row, condition.column).unwrap_or_default()))
    }

    /// Adds conditions that the question names and the form lacks, for columns of which it names one value. If the
    /// question has a negation, the model must decide which one is meant.
    pub(super) fn add_missing(&mut self, links: &[Link], question: &str) -> Result<(), String> {
        let lower = question.to_lowercase();
        let negates = NEGATIONS.iter().any(|word| holds(&lower, word)) || lower.contains("n't ");
        for link in links {
            let is_only = links.iter().filter(|other| other.column == link.column).count() == 1;
            let is_told_apart = self.of == link.column && self.operation.compares_values();
            let is_shown = self.show == link.column && self.operation.shows();
            if !is_only || is_told_apart || is_shown || self.has_condition(link.column) {
                continue;
            }
            let (name, value) = (&link.name, link.value.clone());
            if negates {
                return Err(format!(
                    "the question names `{value}`, and no condition is about the column {name}"
                ));
            }
            self.conditions.push(Condition {
                column: link.column,
                relation: Relation::Is,
                value,
                is_text: true,
            });
        }
        Ok(())
    }

    /// Reports conditions that no row can meet, and comparisons without an order.
    pub(super) fn check(&mut self, grid: &RowTable, question: &str) -> Result<(), String> {
        let of = self.of;
        let is_fixed = |condition: &Condition| condition.column == of && condition.relation == Relation::Is;
        if self.operation == Operation::CountDifferent && self.conditions.iter().any(is_fixed) {
            // Nobody asks how many distinct values a single value is.
            self.operation = Operation::Count;
        }
        for condition in &mut self.conditions {
            match condition.relation {
                Relation::Is | Relation::IsNot => find_value(condition, grid)?,
                Relation::Below | Relation::AtMost | Relation::Above | Relation::AtLeast => {
                    require_order(condition, grid)?;
                }
                Relation::Contains => {}
            }
        }
        self.add_up(grid, question);
        Ok(())
    }

    /// "Who has the most hours" asks for the sum if people have several rows.
    fn add_up(&mut self, grid: &RowTable, question: &str) {
        let is_one = matches!(self.operation, Operation::Largest | Operation::Smallest);
        if !is_one || self.of == self.show || !asks_together(question) {
            return;
        }
        let mut seen = std::collections::BTreeSet::new();
        let chosen = || (0..grid.len()).filter(|&row| self.takes(grid, row));
        let repeats = chosen().filter_map(|row| grid.cell(row, self.show)).any(|show| !seen.insert(show));
        let has_numbers = chosen()
            .filter_map(|row| grid.cell(row, self.of))
            .all(|cell| is_missing(cell) || Number::read(cell).is_some());
        if repeats && has_numbers {
            let is_largest = self.operation == Operation::Largest;
            self.operation = if is_largest { Operation::LargestTotal } else { Operation::SmallestTotal };
        }
    }

    /// `level = ERROR and time < 06:00; counted`.
    pub(super) fn in_words(&self, grid: &RowTable) -> String {
        let name = |column: usize| grid.columns().get(column).map(|name| short(name)).unwrap_or_default();
        let conditions = self.conditions.iter().map(|condition| {
            format!("{} {} {}", name(condition.column), condition.relation.sign(), short(&condition.value))
        });
        let conditions: Vec<String> = conditions.collect();
        let rows = if conditions.is_empty() { "all".to_owned() } else { conditions.join(" and ") };
        format!("{rows}; {}", self.operation.in_words(&name(self.of), &name(self.show)))
    }
}

/// Finds the value of a condition in its column, and uses the spelling there.
fn find_value(condition: &mut Condition, grid: &RowTable) -> Result<(), String> {
    let same = grid.values(condition.column).find(|cell| value::is_same_text(cell, &condition.value));
    if let Some(cell) = same {
        (condition.value, condition.is_text) = (cell.to_owned(), true);
        return Ok(());
    }
    if Number::read(&condition.value).is_some() || Moment::read(&condition.value).is_some() {
        return Ok(());
    }
    let name = short(&grid.columns()[condition.column]);
    let (word, values): (_, Vec<String>) = match grid.few(condition.column, KINDS_MAX) {
        Some(few) => ("there are", few.into_iter().take(VALUES_SHOWN_MAX).map(short).collect()),
        None => {
            ("there are such as", grid.values(condition.column).take(super::EXAMPLES).map(short).collect())
        }
    };
    let value = short(&condition.value);
    Err(format!("no row has `{value}` in the column {name}; {word} {}", values.join(", ")))
}

fn require_order(condition: &Condition, grid: &RowTable) -> Result<(), String> {
    let has_order = |cell: &&str| is_missing(cell) || value::order(cell, &condition.value).is_some();
    let without = grid.values(condition.column).find(|cell| !has_order(cell));
    without.map_or(Ok(()), |cell| {
        let (name, cell, value) =
            (short(&grid.columns()[condition.column]), short(cell), short(&condition.value));
        Err(format!(
            "`{cell}` in the column {name} is neither below nor above `{value}`; only = and != can be used"
        ))
    })
}

fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
