//! The YAML that people write by hand: maps and lists by indentation, plain and quoted scalars, texts behind `|` and `>`,
//! and short lists in brackets. Anchors, aliases, tags and everything else are not read: a file with one of them stays
//! text, so that no file can become larger than it is.

use serde_json::{Map, Value};

/// Deeper nesting is not read.
const DEPTH_MAX: usize = 32;

/// The value of a document; `None` if it is not of this kind.
pub(super) fn parse(text: &str) -> Option<Value> {
    let is_shown = |line: &&str| {
        let bare = line.trim();
        !bare.is_empty() && !bare.starts_with('#') && bare != "---"
    };
    let lines: Vec<&str> = text.lines().filter(is_shown).map(str::trim_end).collect();
    if lines.is_empty() || lines.iter().any(|line| line.contains('\t')) {
        return None;
    }
    let mut rest = lines.as_slice();
    let value = block(&mut rest, indent(lines.first()?), 0)?;
    rest.is_empty().then_some(value)
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The lines of one indentation: a map or a list.
fn block(rest: &mut &[&str], at: usize, depth: usize) -> Option<Value> {
    if depth > DEPTH_MAX {
        return None;
    }
    let is_list = rest.first()?.trim_start().starts_with("- ") || rest.first()?.trim_start() == "-";
    let (mut map, mut list) = (Map::new(), Vec::new());
    while let Some(line) = rest.first().copied().filter(|line| indent(line) == at) {
        let bare = line.trim_start();
        let item = bare.strip_prefix("- ").or((bare == "-").then_some(""));
        match (is_list, item) {
            (true, Some(item)) => list.push(entry(rest, at, item.trim(), depth)?),
            (false, None) => {
                let (key, value) = key_value(bare)?;
                *rest = rest.get(1..)?;
                map.insert(key, of_key(rest, at, value, depth)?);
            }
            // A list may have the indentation of its key; the next key ends it.
            (true, None) => break,
            (false, Some(_)) => return None,
        }
    }
    Some(if is_list { list.into() } else { map.into() })
}

/// An entry of a list: a scalar, or a map that begins on the same line.
fn entry(rest: &mut &[&str], at: usize, item: &str, depth: usize) -> Option<Value> {
    *rest = rest.get(1..)?;
    if item.is_empty() {
        return below(rest, at, depth);
    }
    let Some((key, value)) = key_value(item).filter(|_| !item.starts_with(['"', '\'', '['])) else {
        return scalar(item);
    };
    let inner = rest.first().map(|line| indent(line)).filter(|inner| *inner > at);
    let mut map = Map::new();
    // A nested value of the first key is deeper than the keys that follow.
    let first = of_key(rest, inner.unwrap_or(at), value, depth)?;
    map.insert(key, first);
    if let Some(inner) = rest.first().map(|line| indent(line)).filter(|inner| *inner > at) {
        let Value::Object(more) = block(rest, inner, depth + 1)? else { return None };
        map.extend(more);
    }
    Some(map.into())
}

/// The value of a key: on its line, or indented below it.
fn of_key(rest: &mut &[&str], at: usize, value: &str, depth: usize) -> Option<Value> {
    match value {
        "" => below(rest, at, depth),
        "|" | "|-" | ">" | ">-" => {
            let n_lines = rest.iter().take_while(|line| indent(line) > at).count();
            let (text, after) = rest.split_at(n_lines);
            *rest = after;
            let margin = text.first().map_or(0, |line| indent(line));
            let lines: Vec<&str> =
                text.iter().map(|line| line.get(margin..).unwrap_or(line.trim_start())).collect();
            Some(lines.join(if value.starts_with('|') { "\n" } else { " " }).into())
        }
        _ => scalar(value),
    }
}

/// What is indented more, or is a list at the same indentation; nothing is null.
fn below(rest: &mut &[&str], at: usize, depth: usize) -> Option<Value> {
    match rest.first() {
        Some(line) if indent(line) > at => block(rest, indent(line), depth + 1),
        Some(line) if indent(line) == at && line.trim_start().starts_with("- ") => block(rest, at, depth + 1),
        Some(_) | None => Some(Value::Null),
    }
}

fn key_value(line: &str) -> Option<(String, &str)> {
    let (key, value) = line.split_once(": ").or_else(|| Some((line.strip_suffix(':')?, "")))?;
    let key = unquoted(key.trim())?;
    Some((key, without_comment(value.trim())))
}

fn without_comment(value: &str) -> &str {
    if value.starts_with(['"', '\'']) {
        return value;
    }
    if value.starts_with('#') { "" } else { value.split(" #").next().unwrap_or(value).trim_end() }
}

fn scalar(text: &str) -> Option<Value> {
    if let Some(items) = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')) {
        let items = items.split(',').map(str::trim).filter(|item| !item.is_empty());
        return items.map(scalar).collect::<Option<Vec<_>>>().map(Value::from);
    }
    if text.starts_with(['"', '\'']) {
        return unquoted(text).map(Value::from);
    }
    match text {
        "{}" => return Some(Value::Object(Map::new())),
        "null" | "~" => return Some(Value::Null),
        "true" | "false" => return Some(Value::Bool(text == "true")),
        _ => {}
    }
    if text.starts_with(['&', '*', '!', '{', '[', '%', '@', '`', '|', '>']) {
        return None;
    }
    let is_number = text.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit());
    let number = || serde_json::from_str::<serde_json::Number>(text).ok();
    Some(is_number.then(number).flatten().map_or_else(|| text.into(), Value::from))
}

fn unquoted(text: &str) -> Option<String> {
    if text.starts_with('"') {
        return serde_json::from_str(text).ok();
    }
    if let Some(inner) = text.strip_prefix('\'') {
        return inner.strip_suffix('\'').map(|inner| inner.replace("\'\'", "\'"));
    }
    (!text.starts_with(['&', '*', '!', '?', '{', '[', '<'])).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_people_write_is_read() {
        let text = "---\n# who\nname: Ada Lovelace  # the first\nage: 36\nscore: 0.5\nactive: true\nnone:\nphone: \"+44: 1\"\nquote: 'it''s'\ntags: [a, 2, \"c\"]\nhome:\n  city: London\n  rooms:\n    - kitchen\n    - study\ntrades:\n- name: smith\n  since: 1840\n- name: mason\nbio: |\n  One.\n  Two.\nnote: >\n  a\n  b\nurl: http://x/y\n";
        assert_eq!(
            parse(text).unwrap(),
            json!({
                "name": "Ada Lovelace", "age": 36, "score": 0.5, "active": true, "none": null, "phone": "+44: 1",
                "quote": "it's", "tags": ["a", 2, "c"], "home": { "city": "London", "rooms": ["kitchen", "study"] },
                "trades": [{ "name": "smith", "since": 1840 }, { "name": "mason" }], "bio": "One.\nTwo.", "note": "a b",
                "url": "http://x/y",
            })
        );
        assert_eq!(parse("- 1\n- two\n").unwrap(), json!([1, "two"]));
    }

    #[test]
    fn bombs_tags_and_what_is_no_yaml_are_not_read() {
        let bomb = "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n";
        let deep: String = (0..100).flat_map(|depth| ["  ".repeat(depth), "k:\n".to_owned()]).collect();
        for text in [
            bomb,
            "x: !!python/object 1\n",
            "<<: *base\n",
            "just words\n",
            "a: 1\n   b: 2\n",
            "",
            deep.as_str(),
        ] {
            assert_eq!(parse(text), None, "{text:.40}");
        }
    }

    proptest::proptest! {
        #[test]
        fn nothing_breaks_it(text in "[a-z0-9:#\\-\\[\\]\"'|> \n&*]{0,200}") {
            drop(parse(&text));
        }
    }
}
