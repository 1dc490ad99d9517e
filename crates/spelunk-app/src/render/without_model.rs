//! What was found without a model, for people and for programs.

use serde_json::{Value, json};

use super::found::notices_json;
use super::highlight;
use crate::error_text::Paint;
use crate::units::{bytes, count, head, safe};
use crate::without_model::{Computed, Found, FoundPassage, HEADINGS_CHARS_MAX, NAME_CHARS_MAX};

const VALUE_CHARS_MAX: usize = 400;

/// The passages or the count, for stdout. The best sentence is bold; without colour, it is enclosed
/// in double asterisks.
pub fn found_text(found: &Found, paint: Paint) -> String {
    if let Computed::Result { value, how } = &found.computed {
        let value = paint.apply("1", &head(value, VALUE_CHARS_MAX));
        return format!("No model is configured. Computed:\n\n{value}\n    {}\n", head(how, VALUE_CHARS_MAX));
    }
    let about = match found.computed {
        Computed::Unreadable => ", and this count needs one",
        Computed::NotAsked | Computed::Result { .. } => "",
    };
    if found.passages.is_empty() {
        return format!("No model is configured{about}. No passage matches the question.\n");
    }
    let mut shown = format!("No model is configured{about}. Best-matching passages:\n");
    let mut is_listing = false;
    for passage in &found.passages {
        if let Some(text) = &passage.line_text {
            if !is_listing {
                shown.push_str("\nAlso:\n");
                is_listing = true;
            }
            shown += &format!("{}  {text}\n", paint.apply("36", &place(passage)));
        } else {
            shown.push('\n');
            shown += &passage_text(passage, paint);
        }
    }
    shown
}

fn place(passage: &FoundPassage) -> String {
    format!("{}:{}", head(&passage.document, NAME_CHARS_MAX), passage.line)
}

fn passage_text(passage: &FoundPassage, paint: Paint) -> String {
    let mut shown = paint.apply("36", &place(passage));
    if !passage.headings.is_empty() {
        shown += &format!("  {}", head(&passage.headings.join(" > "), HEADINGS_CHARS_MAX));
    }
    if passage.n_alike > 0 {
        shown += &format!("  ({} similar)", passage.n_alike);
    }
    shown.push('\n');
    let mut at = 0;
    for line in passage.text.split_inclusive('\n') {
        let text = line.trim_end();
        let (from, to) = (passage.sentence.start.max(at), passage.sentence.end.min(at + text.len()));
        let best = (from < to).then(|| from - at..to - at);
        at += line.len();
        if text.is_empty() {
            continue;
        }
        let line = match (best, paint) {
            (Some(best), Paint::Plain) => starred(text, best),
            (Some(best), Paint::Colored) => highlight(text, &[best], "1", paint),
            (None, Paint::Plain | Paint::Colored) => safe(text),
        };
        shown += &format!("    {line}\n");
    }
    shown
}

fn starred(text: &str, best: std::ops::Range<usize>) -> String {
    let part = |range: std::ops::Range<usize>| safe(text.get(range).unwrap_or_default());
    let (before, after) = (part(0..best.start), part(best.end..text.len()));
    let said = part(best);
    let indent = said.len() - said.trim_start().len();
    format!("{before}{}**{}**{after}", " ".repeat(indent), said.trim())
}

pub fn found_closing(found: &Found) -> String {
    format!("{} · {} searched", count(found.documents, "file"), bytes(found.bytes))
}

/// The same as JSON, in the shape of a result.
pub fn found_json(found: &Found) -> Value {
    let of_passage = |passage: &FoundPassage| {
        json!({
            "document": passage.document,
            "line": passage.line,
            "line_start": passage.line_start,
            "line_end": passage.line_end,
            "headings": passage.headings,
            "sentence": passage.text.get(passage.sentence.clone()),
            "text": passage.text,
            "score": passage.score,
            "alike": passage.n_alike,
        })
    };
    let computed = match &found.computed {
        Computed::Result { value, how } => json!({ "value": value, "how": how }),
        Computed::NotAsked | Computed::Unreadable => Value::Null,
    };
    json!({
        "run": null,
        "outcome": { "is": "degraded" },
        "answer": null,
        "degraded": true,
        "computed": computed,
        "passages": found.passages.iter().map(of_passage).collect::<Vec<_>>(),
        "documents": found.documents,
        "bytes_read": found.bytes,
        "notices": notices_json(&found.notices),
    })
}
