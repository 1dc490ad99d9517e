//! Queries over records that need no model, as `jq` filters. Only for fields that exist.

use super::{Field, FieldClass, JsonType};

/// A query over records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe {
    /// What it answers.
    pub name: &'static str,
    /// For `jq -cnR`, which skips lines that are not JSON. Words in capitals are placeholders.
    pub filter: String,
}

pub(super) fn recipes(fields: &[Field]) -> Vec<Recipe> {
    let of_class = |class| fields.iter().find(|field| field.class == Some(class));
    let path = |class| of_class(class).map(|field| field.path.as_str());
    let error = path(FieldClass::Error);
    let is_number = |field: &&Field| field.types.contains(&JsonType::Number);
    let duration = fields.iter().filter(is_number).find(|field| field.is_duration);
    // The mean of an id is meaningless.
    let measure = fields.iter().filter(is_number).find(|field| field.class.is_none() && !field.is_id);
    [
        path(FieldClass::Level).map(|level| {
            one("filter-level", &format!(r#"select(({level} | tostring | ascii_downcase) == "error")"#))
        }),
        error.map(|error| one("extract-errors", &format!("select({error} != null)"))),
        path(FieldClass::Status).map(|status| count("count-by-status", status)),
        of_class(FieldClass::Timestamp).map(time_range),
        path(FieldClass::Message).map(|message| {
            one("message-search", &format!(r#"select({message} | tostring | test("WORD"; "i"))"#))
        }),
        error.map(|error| {
            all(
                "top-errors",
                &format!(
                    "map(select({error} != null)) | group_by({error}) | map({{error: (.[0] | {error}), n: length}}) | sort_by(-.n) | .[:10]"
                ),
            )
        }),
        duration.map(|duration| {
            let Field { path, .. } = duration;
            all("duration-outliers", &format!("map(select({path} | type == \"number\")) | sort_by(-({path})) | .[:10] | .[]"))
        }),
        path(FieldClass::Identifier)
            .map(|identifier| one("trace", &format!(r#"select({identifier} == "ID")"#))),
        path(FieldClass::Source).map(|source| count("by-source", source)),
        measure.map(|measure| {
            let Field { path, .. } = measure;
            all(
                "aggregate",
                &format!(
                    "map({path} | numbers) | {{n: length, min: min, max: max, mean: (if length > 0 then add / length else null end)}}"
                ),
            )
        }),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn time_range(time: &Field) -> Recipe {
    let (path, quote) = (&time.path, if time.types.contains(&JsonType::Number) { "" } else { "\"" });
    one("time-range", &format!("select({path} >= {quote}FROM{quote} and {path} < {quote}TO{quote})"))
}

fn one(name: &'static str, filter: &str) -> Recipe {
    Recipe { name, filter: format!("inputs | fromjson? | objects | {filter}") }
}

fn all(name: &'static str, filter: &str) -> Recipe {
    Recipe { name, filter: format!("[inputs | fromjson? | objects] | {filter}") }
}

fn count(name: &'static str, path: &str) -> Recipe {
    all(name, &format!("group_by({path}) | map({{value: (.[0] | {path}), n: length}}) | sort_by(-.n)"))
}
