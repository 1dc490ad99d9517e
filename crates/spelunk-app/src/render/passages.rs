//! Passages instead of an answer, for use without a model: file, lines, and the matching words highlighted.

use serde_json::{Value, json};
use spelunk_index::{Passage, Ranking, mark};
use spelunk_types::truncate;

use super::highlight;
use crate::error_text::Paint;
use crate::units::{head, safe};

const LINE_CHARS_MAX: usize = 160;
/// Lines shown around the best one.
const AROUND: u64 = 2;

/// The passages, best first. The first line states that no model was used.
pub fn passages_text(ranking: &Ranking, question: &str, paint: Paint) -> String {
    let mut shown = String::from("Best-matching passages (no model was used):\n");
    for passage in &ranking.passages {
        shown.push('\n');
        shown += &passage_text(passage, question, paint);
    }
    shown
}

fn passage_text(passage: &Passage, question: &str, paint: Paint) -> String {
    let best = mark(passage, question);
    let place = format!("{}:{}", head(&passage.document, 200), best.line);
    let mut shown = format!("{}\n", paint.apply("36", &place));
    for (idx, line) in passage.text.lines().enumerate() {
        let number = passage.line_start + idx as u64;
        if number.abs_diff(best.line) > AROUND {
            continue;
        }
        let line = if number == best.line { highlighted(&best, paint) } else { safe(line) };
        if !line.trim().is_empty() {
            shown += &format!("    {}\n", cut(&line));
        }
    }
    shown
}

/// The best line with its matching words in bold.
pub fn highlighted(best: &spelunk_index::Mark, paint: Paint) -> String {
    highlight(&best.text, &best.ranges, "1", paint)
}

fn cut(line: &str) -> String {
    let line = line.trim_end();
    // If truncation cut through bold text, reset it.
    let reset = if line.contains('\u{1b}') { "\u{1b}[0m" } else { "" };
    let shown = truncate(line, LINE_CHARS_MAX);
    if shown.len() == line.len() { line.to_owned() } else { format!("{shown}…{reset}") }
}

pub fn passages_json(ranking: &Ranking) -> Value {
    let of_passage = |passage: &Passage| {
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
