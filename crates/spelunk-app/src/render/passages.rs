//! Passages instead of an answer, for use without a model: file, best line, and the lines around it.

use serde_json::{Value, json};
use spelunk_index::{Hit, Ranking};
use spelunk_types::shorten;

use crate::units::{head, safe};

const LINE_CHARS_MAX: usize = 160;
const AROUND: u64 = 2;

/// The passages, best first. The first line states that no model was used.
pub fn passages_text(ranking: &Ranking) -> String {
    let mut shown = String::from("Best-matching passages (no model was used):\n");
    for passage in &ranking.passages {
        let best = passage.mark.line;
        shown += &format!("\n{}:{best}\n", head(&passage.document, 200));
        for (number, line) in (passage.line_start..).zip(passage.text.lines()) {
            let line = safe(line);
            if number.abs_diff(best) <= AROUND && !line.trim().is_empty() {
                shown += &format!("    {}\n", shorten(line.trim_end(), LINE_CHARS_MAX));
            }
        }
    }
    shown
}

pub fn passages_json(ranking: &Ranking) -> Value {
    let of_passage = |passage: &Hit| {
        json!({
            "document": passage.document,
            "line_start": passage.line_start,
            "line_end": passage.line_end,
            "score": passage.score,
            "text": passage.text,
        })
    };
    json!({
        "run": null,
        "outcome": { "is": "degraded" },
        "answer": null,
        "degraded": true,
        "passages": ranking.passages.iter().map(of_passage).collect::<Vec<_>>(),
        "passages_matched": ranking.passages_matched,
        "documents": ranking.documents_searched,
        "bytes_read": ranking.bytes_searched,
    })
}
