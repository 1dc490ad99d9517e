//! JSON lines as records: their fields, determined from the first and last lines and a few in between. Fields that only
//! the last lines have indicate that the format changed.

mod class;
mod recipe;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

pub use self::class::FieldClass;
pub use self::recipe::Recipe;
use self::recipe::recipes;
use crate::lines::{is_blank, line_ends};

/// Lines sampled at the beginning, and as many at the end.
const LINES_MAX: usize = 20;
/// Only documents with more lines than this are sampled at the end.
const LINES_BEFORE_END_MIN: usize = 1000;
const LINE_BYTES_MAX: usize = 32 * 1024;
const LEVELS_MAX: usize = 3;
const FIELDS_MAX: usize = 100;

/// What the records of a document have in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Records {
    /// Lines sampled, without blank ones.
    pub n_sampled: u64,
    /// Of these, the lines that are not JSON.
    pub n_malformed: u64,
    /// The fields of the others, sorted by path.
    pub fields: Vec<Field>,
    /// The number of fields not listed.
    pub n_fields_left_out: u64,
    /// The number of different sets of fields among the records.
    pub n_shapes: u64,
    /// Whether the first record has no field in common with the others: it describes them and is not one of them.
    pub begins_with_metadata: bool,
    /// In a long document, fields that the first lines have and the last ones do not.
    pub only_early: Vec<String>,
    /// Fields that the last lines have and the first ones do not.
    pub only_late: Vec<String>,
    /// Queries that these records support.
    pub recipes: Vec<Recipe>,
}

/// A field of records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// In `jq` syntax: `.user.id`, `."@timestamp"`.
    pub path: String,
    /// The types of its values, sorted by name.
    pub types: Vec<JsonType>,
    /// How many of the sampled records have it.
    pub n_present: u64,
    /// Its purpose, if its name reveals it.
    pub class: Option<FieldClass>,
    /// Whether it is a duration.
    pub is_duration: bool,
    /// Whether it is an identifier.
    pub is_id: bool,
}

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the names say it")]
pub enum JsonType {
    Array,
    Boolean,
    Null,
    Number,
    Object,
    String,
}

spelunk_types::named! { JsonType {
    Array = "array", Boolean = "boolean", Null = "null", Number = "number", Object = "object", String = "string",
} }

impl JsonType {
    fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(_) => Self::Number,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }
}

pub(crate) struct Sample<'t> {
    early: Vec<&'t str>,
    between: Vec<&'t str>,
    late: Vec<&'t str>,
}

impl<'t> Sample<'t> {
    /// `starts` are the offsets of chunks; a chunk may begin inside a long line.
    pub(crate) fn of(text: &'t str, starts: impl Iterator<Item = usize>) -> Self {
        let early: Vec<(usize, &str)> = lines_from(text, 0).take(LINES_MAX).collect();
        let early_end = early.last().map_or(0, |(start, line)| start + line.len());
        let late_start = late_start(text).max(early_end);
        let is_long = late_start > early_end;
        let late: Vec<&str> = if is_long { texts(lines_from(text, late_start)) } else { Vec::new() };
        let between = starts
            .filter(|&start| is_long && start > early_end && start < late_start)
            .filter(|&start| text.as_bytes().get(start - 1) == Some(&b'\n'))
            .filter_map(|start| lines_from(text, start).next());
        Self { early: texts(early.into_iter()), between: texts(between), late }
    }

    pub(crate) fn lines(&self) -> impl Iterator<Item = &'t str> {
        [&self.early, &self.between, &self.late].into_iter().flatten().copied()
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.lines().map(|line| line.len() as u64).sum()
    }
}

fn texts<'t>(lines: impl Iterator<Item = (usize, &'t str)>) -> Vec<&'t str> {
    lines.map(|(_, line)| line).collect()
}

/// The lines from an offset on that are not blank, truncated if long.
fn lines_from(text: &str, start: usize) -> impl Iterator<Item = (usize, &str)> {
    let rest = text.get(start..).unwrap_or_default();
    let mut line_start = 0;
    line_ends(rest).filter_map(move |end| {
        let head_end = rest.floor_char_boundary(end.min(line_start + LINE_BYTES_MAX));
        let line = rest.get(line_start..head_end).unwrap_or_default();
        let at = start + line_start;
        line_start = end;
        (!is_blank(line.as_bytes())).then_some((at, line))
    })
}

fn late_start(text: &str) -> usize {
    let mut from_end = memchr::memrchr_iter(b'\n', text.trim_ascii_end().as_bytes());
    let start = from_end.nth(LINES_MAX - 1).map_or(0, |newline| newline + 1);
    let is_long = from_end.nth(LINES_BEFORE_END_MIN - LINES_MAX - 1).is_some();
    if is_long { start } else { 0 }
}

/// The number of fields in the first lines; `None` if they are not records.
pub(crate) fn n_fields_of_head(text: &str) -> Option<usize> {
    let mut tally = Tally::default();
    for (_, line) in lines_from(text, 0).take(LINES_MAX) {
        tally.add(line);
    }
    (tally.n_records > 0).then_some(tally.by_path.len())
}

impl Records {
    /// `None` if most lines are not objects.
    pub(crate) fn of(sample: &Sample<'_>) -> Option<Self> {
        let (mut all, mut early, mut late) = (Tally::default(), Tally::default(), Tally::default());
        for line in sample.lines() {
            all.add(line);
        }
        sample.early.iter().for_each(|line| early.add(line));
        sample.late.iter().for_each(|line| late.add(line));
        if all.n_records * 2 < all.n_lines || all.n_records == 0 {
            return None;
        }
        let has_late = late.n_records > 0;
        let only_in = |one: &Tally, other: &Tally| -> Vec<String> {
            let paths = one.by_path.keys().filter(|path| has_late && !other.by_path.contains_key(*path));
            paths.take(FIELDS_MAX).cloned().collect()
        };
        let (only_early, only_late) = (only_in(&early, &late), only_in(&late, &early));
        let fields = all.fields();
        Some(Self {
            n_sampled: all.n_lines,
            n_malformed: all.n_malformed,
            n_fields_left_out: (all.by_path.len() - fields.len()) as u64,
            n_shapes: all.shapes.len() as u64,
            begins_with_metadata: all.begins_with_metadata(),
            only_early,
            only_late,
            recipes: recipes(&fields),
            fields,
        })
    }
}

#[derive(Default)]
struct Tally {
    n_lines: u64,
    n_malformed: u64,
    n_records: u64,
    by_path: BTreeMap<String, Count>,
    shapes: BTreeSet<BTreeSet<String>>,
    first: BTreeSet<String>,
}

struct Count {
    n_present: u64,
    types: BTreeSet<JsonType>,
    keys: Vec<String>,
}

impl Tally {
    fn add(&mut self, line: &str) {
        if line.len() >= LINE_BYTES_MAX {
            return;
        }
        self.n_lines += 1;
        let line = line.strip_prefix('\u{feff}').unwrap_or(line);
        let Ok(record) = serde_json::from_str::<Value>(line) else {
            self.n_malformed += 1;
            return;
        };
        let Value::Object(record) = record else { return };
        let mut leaves = Vec::new();
        for (key, value) in &record {
            flatten(&mut vec![key.clone()], value, &mut leaves);
        }
        self.n_records += 1;
        let mut shape = BTreeSet::new();
        for (keys, json_type) in leaves {
            let path = jq_path(&keys);
            shape.insert(path.clone());
            let count = self.by_path.entry(path);
            let count = count.or_insert_with(|| Count { n_present: 0, types: BTreeSet::new(), keys });
            count.n_present += 1;
            count.types.insert(json_type);
        }
        if self.n_records == 1 {
            self.first.clone_from(&shape);
        }
        self.shapes.insert(shape);
    }

    fn begins_with_metadata(&self) -> bool {
        let is_alone = |path: &String| self.by_path.get(path).is_some_and(|count| count.n_present == 1);
        self.n_records > 2 && !self.first.is_empty() && self.first.iter().all(is_alone)
    }

    fn fields(&self) -> Vec<Field> {
        let fields = self.by_path.iter().take(FIELDS_MAX).map(|(path, count)| {
            let Count { n_present, types, keys } = count;
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            Field {
                path: path.clone(),
                types: types.iter().copied().collect(),
                n_present: *n_present,
                class: FieldClass::of(&keys),
                is_duration: class::is_duration(&keys),
                is_id: class::is_id(&keys),
            }
        });
        fields.collect()
    }
}

/// The leaves of a value. Recursion ends at `LEVELS_MAX`; anything below is one leaf.
fn flatten(keys: &mut Vec<String>, value: &Value, leaves: &mut Vec<(Vec<String>, JsonType)>) {
    match value.as_object().filter(|object| keys.len() < LEVELS_MAX && !object.is_empty()) {
        Some(object) => {
            for (key, value) in object {
                keys.push(key.clone());
                flatten(keys, value, leaves);
                keys.pop();
            }
        }
        None => leaves.push((keys.clone(), JsonType::of(value))),
    }
}

fn jq_path(keys: &[String]) -> String {
    let part = |key: &String| {
        let is_name = key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if is_name { format!(".{key}") } else { format!(".{}", Value::from(key.as_str())) }
    };
    keys.iter().map(part).collect()
}
