//! Compares every function of `re` with tables produced by Python 3.11: each line of `python.jsonl` and
//! `real.jsonl` has a pattern, a text and all results, each line of `templates.jsonl` a replacement and its result.

use expect_test::expect;
use serde_json::{Value, json};

use crate::text::re::{FindAllItem, Flags, MatchCursor, PyMatch, PyPattern, Replacement, Sizes};
use crate::{LazyText, Reader, TextError};

const TABLES: [&str; 2] = [
    include_str!("../../../../../spelunk-re/tables/python.jsonl"),
    include_str!("../../../../../spelunk-re/tables/real.jsonl"),
];
const TEMPLATES: &str = include_str!("../../../../../spelunk-re/tables/templates.jsonl");

/// Windows of this many bytes, and large ones where nothing is final.
fn text_in_windows(text: &str, window_bytes: u64) -> LazyText {
    let reader = Reader::of_bytes("any", text.as_bytes().into()).with_redaction(false);
    let sizes = Sizes {
        window_bytes,
        backtracking_bytes: window_bytes,
        window_bytes_max: 1 << 20,
        lead_bytes: 9,
        windows_alone: u64::MAX,
    };
    LazyText::over(reader).with_sizes(sizes)
}

fn spans(found: &PyMatch) -> Value {
    let groups = found.groups.iter();
    groups.map(|group| group.as_ref().map(|group| [group.chars.start, group.chars.end])).collect()
}

fn found(item: FindAllItem) -> Value {
    match item {
        FindAllItem::Text(text) => json!(text),
        FindAllItem::Groups(texts) => json!(texts),
    }
}

/// Our results for one pattern and text, in the format of the table.
fn row(pattern: &str, flags: u64, text: &LazyText) -> Result<Value, TextError> {
    let compiled = PyPattern::compile(pattern, Flags::from_python(flags))?;
    let start = MatchCursor::default();
    let matches = text.re_finditer(&compiled, start, u64::MAX, u64::MAX)?.items;
    let whole = compiled.replacement(r"<\g<0>>")?;
    let (sub, n_sub) = text.re_sub(&compiled, &whole, 0, u64::MAX)?;
    let (sub1, n_sub1) = text.re_sub(&compiled, &Replacement::literal("_"), 1, u64::MAX)?;
    let found_all = text.re_findall(&compiled, start, u64::MAX, u64::MAX)?.items;
    Ok(json!({
        "groups": compiled.n_groups(),
        "names": compiled.group_names(),
        "all_flags": compiled.flags().to_python(),
        "findall": found_all.into_iter().map(found).collect::<Value>(),
        "finditer": matches.iter().map(spans).collect::<Value>(),
        "split": text.re_split(&compiled, 0, start, u64::MAX)?.items,
        "split2": text.re_split(&compiled, 2, start, u64::MAX)?.items,
        "sub": [json!(sub), json!(n_sub)],
        "sub1": [json!(sub1), json!(n_sub1)],
        "match": text.re_match(&compiled)?.map(|found| spans(&found)),
        "fullmatch": text.re_fullmatch(&compiled)?.map(|found| spans(&found)),
        "search": text.re_search(&compiled)?.map(|found| spans(&found)),
    }))
}

/// The differences from Python, one per line.
fn differences(window_bytes: u64) -> String {
    let mut differences = String::new();
    for line in TABLES.into_iter().flat_map(str::lines) {
        let mut expected: Value = serde_json::from_str(line).unwrap();
        let fields = expected.as_object_mut().unwrap();
        let pattern = fields.remove("pattern").unwrap();
        let flags = fields.remove("flags").unwrap().as_u64().unwrap();
        let text = fields.remove("text").unwrap();
        let text = text_in_windows(text.as_str().unwrap(), window_bytes);
        let ours = row(pattern.as_str().unwrap(), flags, &text)
            .unwrap_or_else(|error| json!({ "error": error.to_string() }));
        if ours == expected {
            continue;
        }
        for (name, ours) in ours.as_object().unwrap() {
            let expected = &expected[name];
            if ours != expected {
                differences.push_str(&format!("{pattern} {flags} {name}: {ours} for {expected}\n"));
            }
        }
    }
    differences
}

#[test]
fn every_function_gives_what_python_gives() {
    expect![[""]].assert_eq(&differences(1 << 20));
}

#[test]
fn every_function_gives_what_python_gives_in_windows_of_a_few_bytes() {
    expect![[""]].assert_eq(&differences(5));
}

#[test]
fn replacements_are_read_as_python_reads_them() {
    let pattern = PyPattern::compile(r"(?P<k>\w)(\d)?", Flags::NONE).unwrap();
    let text = text_in_windows("a1 b", 16);
    for line in TEMPLATES.lines() {
        let expected: Value = serde_json::from_str(line).unwrap();
        let template = expected["template"].as_str().unwrap();
        let ours = match pattern.replacement(template) {
            Ok(replacement) => {
                json!({ "template": template, "result": text.re_sub(&pattern, &replacement, 0, 1000).unwrap().0 })
            }
            Err(fault) => json!({ "template": template, "error": fault.to_string() }),
        };
        assert_eq!(ours, expected);
    }
}
