//! Columns: their names in queries, and the type that fits all of their cells.

use std::collections::BTreeSet;

use rusqlite::types::Value;

/// A column with at most this many distinct values is listed completely.
pub(crate) const FEW_MAX: usize = 12;
const NAME_CHARS_MAX: usize = 60;
const MISSING: &[&str] = &["na", "n/a", "nan", "null", "none", "-", "--", "?", "unknown"];

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The name in queries.
    pub name: String,
    /// The name in the document.
    pub original: String,
    /// The type of its cells.
    pub kind: ColumnType,
    /// All distinct values, if they are few.
    pub few: Option<Vec<String>>,
    /// The first values.
    pub examples: Vec<String>,
    pub(crate) declared: Option<String>,
}

/// The type of the cells of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// Whole numbers.
    Integer,
    /// Numbers.
    Real,
    /// Anything else.
    Text,
}

impl ColumnType {
    pub(crate) fn sql(self) -> &'static str {
        match self {
            Self::Integer => "INTEGER",
            Self::Real => "REAL",
            Self::Text => "TEXT",
        }
    }
}

impl Column {
    pub(crate) const EXAMPLES: usize = 3;

    /// A column with these values, which may be iterated several times.
    pub(crate) fn of<'v, I: Iterator<Item = &'v str>>(
        name: String,
        original: String,
        values: impl Fn() -> I,
    ) -> Self {
        let mut few: BTreeSet<&str> = BTreeSet::new();
        let (mut n_numbers, mut n_others, mut is_whole) = (0_usize, 0_usize, true);
        for value in values() {
            if few.len() <= FEW_MAX {
                few.insert(value);
            }
            match number(value) {
                Some(number) => {
                    n_numbers += 1;
                    is_whole = is_whole && !number.contains(['.', 'e', 'E']) && number.parse::<i64>().is_ok();
                }
                None if is_missing(value) => {}
                None => n_others += 1,
            }
        }
        let kind = match (n_numbers, n_others) {
            (1.., 0) if is_whole => ColumnType::Integer,
            (1.., 0) => ColumnType::Real,
            _ => ColumnType::Text,
        };
        let few = (few.len() <= FEW_MAX).then(|| few.into_iter().map(str::to_owned).collect());
        let examples = values().take(Self::EXAMPLES).map(str::to_owned).collect();
        Self { name, original, kind, few, examples, declared: None }
    }

    pub(crate) fn files(documents: &[String]) -> Self {
        let name = spelunk_context::RowTable::FILE.to_owned();
        Self::of(name.clone(), name, || documents.iter().map(String::as_str))
    }
}

pub(crate) fn cell_value(cell: Option<&str>, kind: ColumnType) -> Value {
    let Some(cell) = cell.filter(|cell| !cell.is_empty()) else { return Value::Null };
    let plain = || number(cell).unwrap_or_default();
    match kind {
        ColumnType::Text => Value::Text(cell.to_owned()),
        ColumnType::Integer => plain().parse().map_or(Value::Null, Value::Integer),
        ColumnType::Real => plain().parse().map_or(Value::Null, Value::Real),
    }
}

fn is_missing(value: &str) -> bool {
    MISSING.iter().any(|missing| missing.eq_ignore_ascii_case(value.trim()))
}

/// A number in plain digits: `1,234.50`, `$20` and `-5` are numbers, `0123` and `1.2.3` are not.
fn number(text: &str) -> Option<String> {
    let text = text.trim();
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |rest| ("-", rest));
    let digits = digits.strip_prefix('$').unwrap_or(digits);
    let whole = digits.split('.').next().unwrap_or_default();
    let is_padded = whole.len() > 1 && whole.starts_with('0');
    let is_digit = |c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | 'e' | 'E' | '-' | '+');
    if digits.is_empty() || is_padded || !digits.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    if !digits.chars().all(is_digit) {
        return None;
    }
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or_default();
    if whole.contains(',') && (first.is_empty() || first.len() > 3 || groups.any(|group| group.len() != 3)) {
        return None;
    }
    let plain = format!("{sign}{}", digits.replace(',', ""));
    plain.parse::<f64>().is_ok_and(f64::is_finite).then_some(plain)
}

/// A name that needs no quotes in SQL and is not taken.
pub(crate) fn unique_name(original: &str, taken: &mut BTreeSet<String>) -> String {
    let mut name = String::new();
    for c in original.trim().chars().take(NAME_CHARS_MAX) {
        match c {
            _ if c.is_alphanumeric() || c == '_' => name.push(c),
            _ if !name.ends_with('_') => name.push('_'),
            _ => {}
        }
    }
    let name = name.trim_end_matches('_');
    let mut name = match name.chars().next() {
        None => "column".to_owned(),
        Some(first) if first.is_numeric() => format!("_{name}"),
        Some(_) => name.to_owned(),
    };
    if is_keyword(&name) {
        name.push('_');
    }
    let (base, mut n) = (name.clone(), 1);
    while taken.iter().any(|other| other.eq_ignore_ascii_case(&name)) {
        n += 1;
        name = format!("{base}_{n}");
    }
    taken.insert(name.clone());
    name
}

pub(crate) fn is_keyword(name: &str) -> bool {
    KEYWORDS.split(' ').any(|word| word.eq_ignore_ascii_case(name))
}

/// Words that SQLite does not accept as names without quotes.
const KEYWORDS: &str = "add all alter and as autoincrement between case check collate commit constraint create cross \
    current_date current_time current_timestamp default deferrable delete distinct drop else escape \
    except exists foreign from full group having in index inner insert intersect into is isnull \
    join left limit natural not nothing notnull null on or order outer primary references returning \
    right select set table then to transaction union unique update using values when where";
