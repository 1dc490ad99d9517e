//! Passages found in files and in contexts, for people and for programs.

use serde_json::{Value, json};
use spelunk_index::{Hit, Mark, Mode, Notice, SearchResults};
use spelunk_types::truncate;

use super::highlight;
use crate::context_search::{ContextHit, FoundInContexts};
use crate::error_text::Paint;
use crate::units::{count, head};

const PREVIEW_CHARS_MAX: usize = 500;
const REASON_CHARS_MAX: usize = 160;

pub fn found_json(found: &FoundInContexts) -> Value {
    let of_hit = |found: &ContextHit| {
        let (context, hit) = (&found.context, &found.hit);
        json!({
            "context_id": context.id.as_str(),
            "name": context.name,
            "type": context.kind.name(),
            "chunk": truncate(&hit.text, PREVIEW_CHARS_MAX),
            "full_length": hit.text.chars().count(),
            "similarity": hit.similarity.map(rounded),
            "score": rounded(hit.score),
            "position": hit.span.start,
            "line": hit.mark.line,
            "line_start": hit.line_start,
            "line_end": hit.line_end,
        })
    };
    let unread = found.unread.iter().map(|(id, reason)| json!({ "id": id, "reason": reason }));
    json!({
        "mode": found.mode.name(),
        "results": found.hits.iter().map(of_hit).collect::<Vec<_>>(),
        "searched": found.n_searched,
        "unread": unread.collect::<Vec<_>>(),
        "notices": notices_json(&found.notices),
    })
}

/// Rounded to four decimals.
fn rounded(number: f32) -> f64 {
    (f64::from(number) * 10_000.0).round() / 10_000.0
}

pub fn found_text(found: &FoundInContexts, paint: Paint) -> String {
    let mut text = String::new();
    for ContextHit { context, hit } in &found.hits {
        let place = format!("{}:{}", head(context.id.as_str(), 200), hit.mark.line);
        text += &paint.apply("36", &place);
        if let Some(similarity) = hit.similarity {
            text += &format!("  similarity {similarity:.2}");
        }
        text += &format!("\n    {}\n", highlighted(&hit.mark, paint).trim());
    }
    for (id, reason) in &found.unread {
        text += &format!("[{}: {}]\n", head(id, 200), head(reason, REASON_CHARS_MAX));
    }
    for notice in &found.notices {
        text += &format!("[{notice}]\n");
    }
    let n_hits = count(found.hits.len() as u64, "passage");
    text + &format!("[{n_hits} in {} by {}]\n", count(found.n_searched, "context"), criteria(found.mode))
}

pub fn criteria(mode: Mode) -> &'static str {
    match mode {
        Mode::Words => "words",
        Mode::Meaning => "meaning",
        Mode::Hybrid => "words and meaning",
    }
}

/// The location and the best line of each passage, for files.
pub fn hits_text(hits: &[Hit], paint: Paint) -> String {
    let mut text = String::new();
    for (idx, hit) in hits.iter().enumerate() {
        if idx > 0 {
            text.push('\n');
        }
        text += &hit_text(hit, paint);
    }
    text
}

fn hit_text(hit: &Hit, paint: Paint) -> String {
    let mut text = paint.apply("36", &format!("{}:{}", head(&hit.document, 200), hit.mark.line));
    if let Some(scope) = &hit.scope {
        text += &format!("  {}", head(scope, 80));
    }
    if let Some(similarity) = hit.similarity {
        text += &format!("  similarity {similarity:.2}");
    }
    if hit.twins > 0 {
        text += &format!("  and {} similar", hit.twins);
    }
    format!("{text}\n    {}\n", highlighted(&hit.mark, paint).trim())
}

/// The best line with its matching words in bold.
fn highlighted(best: &Mark, paint: Paint) -> String {
    highlight(&best.text, &best.ranges, "1", paint)
}

pub fn hits_json(found: &SearchResults) -> Value {
    let hit = |hit: &Hit| {
        json!({
            "document": hit.document,
            "line_start": hit.line_start,
            "line_end": hit.line_end,
            "line": hit.mark.line,
            "scope": hit.scope,
            "text": hit.text,
            "score": hit.score,
            "similarity": hit.similarity,
            "matched": hit.matched,
            "twins": hit.twins,
        })
    };
    json!({
        "mode": found.mode.name(),
        "documents": found.documents,
        "hits": found.hits.iter().map(hit).collect::<Vec<_>>(),
        "notices": notices_json(&found.notices),
    })
}

pub(super) fn notices_json(notices: &[Notice]) -> Value {
    let of_notice = |notice: &Notice| json!({ "code": notice.code(), "message": notice.to_string() });
    notices.iter().map(of_notice).collect()
}
