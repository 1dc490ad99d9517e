//! Links: words of a question that occur in a column as values. "The service gateway" determines the rows once
//! `gateway` is known to be a value of the third column.

use spelunk_context::RowTable;

use super::KINDS_MAX;
use crate::small_model::name_hops::holds;

const LINKS_MAX: usize = 12;

/// A value of a column that the question names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) column: usize,
    /// The name of the column.
    pub(super) name: String,
    pub(super) value: String,
}

/// The values that the question names, by column. A value that occurs in two columns is ambiguous and dropped.
pub(super) fn links(grid: &RowTable, question: &str) -> Vec<Link> {
    let lower = question.to_lowercase();
    let mut links: Vec<Link> = Vec::new();
    for (column, name) in grid.columns().iter().enumerate() {
        let Some(few) = grid.few(column, KINDS_MAX) else { continue };
        let named = few.into_iter().filter(|value| tells(value) && names(question, &lower, value));
        links.extend(named.map(|value| Link { column, name: name.clone(), value: value.to_owned() }));
    }
    let columns: Vec<String> = grid.columns().iter().map(|name| name.to_lowercase()).collect();
    let is_plain = |link: &Link| {
        let others = links.iter().filter(|other| other.column != link.column);
        !others.map(|other| &other.value).any(|value| value.eq_ignore_ascii_case(&link.value))
            && !columns.contains(&link.value.to_lowercase())
    };
    let keep: Vec<bool> = links.iter().map(is_plain).collect();
    let kept = links.into_iter().zip(keep).filter(|(_, keep)| *keep).map(|(link, _)| link);
    kept.take(LINKS_MAX).collect()
}

/// Whether a question contains a value, ignoring case unless it is a capitalised name: `will` is not the customer
/// Will.
fn names(question: &str, lower: &str, value: &str) -> bool {
    let mut chars = value.chars();
    let is_name =
        chars.next().is_some_and(char::is_uppercase) && chars.next().is_some_and(char::is_lowercase);
    if is_name { holds(question, value) } else { holds(lower, &value.to_lowercase()) }
}

/// Whether a question contains a time of day, such as 06:00.
pub(super) fn names_time(question: &str) -> bool {
    let is_time = |window: &[u8]| match window {
        [a, b, b':', c, d] => [a, b, c, d].into_iter().all(u8::is_ascii_digit),
        _ => false,
    };
    question.as_bytes().windows(5).any(is_time)
}

/// Whether a value is distinctive enough not to match by accident.
fn tells(value: &str) -> bool {
    value.chars().count() > 2 && value.contains(char::is_alphabetic)
}
