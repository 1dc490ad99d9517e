//! `docs/reference/events.md`: every event with its fields, read from the definitions of the types.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use spelunk_testkit::check_page;
use spelunk_types::EventKind;

const EVENTS: &str = include_str!("../../../spelunk-types/src/event.rs");
const TYPES: [&str; 6] = [
    include_str!("../../../spelunk-types/src/request.rs"),
    include_str!("../../../spelunk-types/src/outcome.rs"),
    include_str!("../../../spelunk-types/src/usage.rs"),
    include_str!("../../../spelunk-types/src/citation.rs"),
    include_str!("../../../spelunk-types/src/file_change.rs"),
    include_str!("../../../spelunk-types/src/finding.rs"),
];

const HEAD: &str = "# Events

<!-- Generated from crates/spelunk-types/src/event.rs; `SPELUNK_UPDATE=1 cargo test -p spelunk` rewrites it. -->

One JSON object per line of a run's journal, of `spelunk ask --events`, of `GET /v1/runs/{run}/events` and of the library's
`events()`. Every event has `seq` (from 1, without gaps), `at_ms` (Unix time in milliseconds), `frame` (`0` is the root, `0.2` its
third child) and `type`, besides the fields below. New versions add events and fields: ignore those that you do not know.
";

#[test]
fn every_event_and_field_is_on_the_page() {
    let events = definitions(EVENTS).remove("EventKind").unwrap();
    let mut types = BTreeMap::new();
    for source in TYPES {
        types.extend(definitions(source));
    }
    let names: Vec<&str> = events.variants.iter().map(|variant| variant.name.as_str()).collect();
    assert_eq!(names, EventKind::NAMES);

    let mut page = HEAD.to_owned();
    let mut wanted = BTreeSet::new();
    for event in &events.variants {
        let unrecorded = if EVENTS.contains(&format!("= \"{}\", Ephemeral;", event.name)) {
            " Sent to watchers and not recorded; its `seq` is that of the last recorded event."
        } else {
            ""
        };
        write!(page, "\n## `{}`\n\n{}{unrecorded}\n", event.name, event.about).unwrap();
        page += &table(&event.fields, &types, &mut wanted);
    }
    page += "\n# Types\n";
    let mut done = BTreeSet::new();
    while let Some(name) = wanted.difference(&done).next().cloned() {
        let definition = &types[&name];
        write!(page, "\n## {name}\n\n{}\n", definition.about).unwrap();
        page += &described(definition, &types, &mut wanted);
        done.insert(name);
    }
    check_page("events.md", &page);
}

/// A struct, which has fields, or an enum, which has variants.
#[derive(Default)]
struct Definition {
    about: String,
    serde: String,
    fields: Vec<Field>,
    variants: Vec<Variant>,
}

struct Variant {
    name: String,
    about: String,
    fields: Vec<Field>,
}

struct Field {
    name: String,
    of: String,
    about: String,
    is_optional: bool,
}

/// The structs and enums of a source file. It relies on the formatting, which is checked.
fn definitions(source: &str) -> BTreeMap<String, Definition> {
    let mut found = BTreeMap::new();
    let (mut about, mut serde) = (String::new(), String::new());
    let mut open: Option<(String, Definition)> = None;
    for line in source.lines() {
        let said = line.trim();
        let indent = line.len() - said.len();
        if let Some(text) = said.strip_prefix("///") {
            let more = format!("{about} {}", text.trim());
            more.trim().clone_into(&mut about);
        } else if said.starts_with("#[serde(") {
            serde += said;
        } else if said.starts_with("#[") {
            // Other attributes say nothing about the format.
        } else if let Some((name, mut definition)) = open.take() {
            if line == "}" {
                found.insert(name, definition);
            } else {
                take(&mut definition, said, indent, &about, &serde);
                open = Some((name, definition));
            }
            (about, serde) = Default::default();
        } else {
            let named = ["pub struct ", "pub enum "].iter().find_map(|kind| said.strip_prefix(kind));
            if let Some(name) = named.and_then(|rest| rest.strip_suffix(" {")) {
                let definition =
                    Definition { about: about.clone(), serde: serde.clone(), ..Definition::default() };
                open = Some((name.to_owned(), definition));
            }
            (about, serde) = Default::default();
        }
    }
    found
}

/// One line within a definition: a field, a variant, or the end of one.
fn take(definition: &mut Definition, said: &str, indent: usize, about: &str, serde: &str) {
    let field = |said: &str| {
        let (name, of) = said.trim_start_matches("pub ").trim_end_matches(',').split_once(": ")?;
        let of = of.to_owned();
        Some(Field {
            name: name.to_owned(),
            of,
            about: about.to_owned(),
            is_optional: serde.contains("default"),
        })
    };
    if indent == 8 {
        definition.variants.last_mut().unwrap().fields.extend(field(said));
    } else if said.starts_with(char::is_uppercase) {
        let (name, rest) = said.split_once([' ', ',']).unwrap();
        let given = serde.split("rename = \"").nth(1).and_then(|rest| rest.split('"').next());
        let name = given.map_or_else(|| kebab(name), str::to_owned);
        let inside = rest.trim().trim_start_matches('{').trim_end_matches(',').trim_end_matches('}');
        let fields = inside
            .split(", ")
            .filter_map(|said| Field { about: String::new(), ..field(said.trim())? }.into());
        definition.variants.push(Variant { name, about: about.to_owned(), fields: fields.collect() });
    } else {
        definition.fields.extend(field(said));
    }
}

fn kebab(name: &str) -> String {
    let mut out = String::new();
    for (idx, c) in name.chars().enumerate() {
        if c.is_uppercase() && idx > 0 {
            out.push('-');
        }
        out.extend(c.to_lowercase());
    }
    out
}

type Types = BTreeMap<String, Definition>;

fn described(definition: &Definition, types: &Types, wanted: &mut BTreeSet<String>) -> String {
    if definition.variants.is_empty() {
        return table(&definition.fields, types, wanted);
    }
    if definition.variants.iter().all(|variant| variant.fields.is_empty())
        && !definition.serde.contains("tag =")
    {
        let words = definition
            .variants
            .iter()
            .map(|variant| format!("- `\"{}\"`: {}\n", variant.name, variant.about));
        return format!("\n{}", words.collect::<String>());
    }
    let mut page = String::new();
    for variant in &definition.variants {
        let is_tagged = definition.serde.contains("tag = \"is\"");
        let name = if is_tagged { format!("`\"is\": \"{}\"`: ", variant.name) } else { String::new() };
        write!(page, "\n{name}{}\n", variant.about).unwrap();
        page += &table(&variant.fields, types, wanted);
    }
    page
}

fn table(fields: &[Field], types: &Types, wanted: &mut BTreeSet<String>) -> String {
    if fields.is_empty() {
        return String::new();
    }
    let mut page = "\n| field | type | meaning |\n|---|---|---|\n".to_owned();
    for Field { name, of, about, is_optional } in fields {
        let may = if *is_optional { ", may be absent" } else { "" };
        writeln!(page, "| `{name}` | {}{may} | {about} |", shown(of, types, wanted)).unwrap();
    }
    page
}

/// A type in words, with a link if it is described below.
fn shown(of: &str, types: &Types, wanted: &mut BTreeSet<String>) -> String {
    let inner = |outer: &str| of.strip_prefix(outer)?.strip_suffix('>');
    if let Some(inner) = inner("Option<").or_else(|| inner("Box<")) {
        return shown(inner, types, wanted);
    }
    if let Some(inner) = inner("Vec<") {
        return format!("list of {}", shown(inner, types, wanted));
    }
    if let Some(inner) = inner("BTreeMap<String, ") {
        return format!("object of {}", shown(inner, types, wanted));
    }
    match of {
        "u16" | "u32" | "u64" => "integer".to_owned(),
        "f64" => "number".to_owned(),
        "bool" => "boolean".to_owned(),
        "String" => "string".to_owned(),
        "BlobId" => "digest".to_owned(),
        "FrameId" => "id of a frame".to_owned(),
        "CallId" => "id of a call".to_owned(),
        "EffectId" => "id of a call of a tool".to_owned(),
        "ErrorCode" => "[error code](../errors.md)".to_owned(),
        "Limits" => "[limits](defaults.toml)".to_owned(),
        "Focus" => "`general`, `security`, `architecture`, `performance` or `data`".to_owned(),
        _ => {
            assert!(types.contains_key(of), "`{of}` is described nowhere");
            wanted.insert(of.to_owned());
            format!("[{of}](#{})", of.to_lowercase())
        }
    }
}
