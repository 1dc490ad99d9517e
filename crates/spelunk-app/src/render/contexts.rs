//! Contexts and search results in them, for people and for programs.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use spelunk_context::{
    AccessEntry, Context, ContextId, ContextSource, ContextStore, GrepMatch, GrepView, LoadView,
    MemoryReport, PageView, PeekView, SearchHit, SearchReport, StoreError, StoreStats, Suggestion,
};

use super::highlight;
use crate::error_text::Paint;
use crate::units::{bytes, count, head, safe};

pub fn list_json(contexts: &[Arc<Context>]) -> Value {
    json!(contexts.iter().map(|context| context_json(context)).collect::<Vec<_>>())
}

pub fn list(contexts: &[Arc<Context>], as_json: bool) -> String {
    if as_json {
        return line(&list_json(contexts));
    }
    let width =
        contexts.iter().map(|context| context.id.as_str().chars().count()).max().unwrap_or_default().min(48);
    let mut text = String::new();
    for context in contexts {
        let size =
            context.revision.as_ref().map_or_else(|| "-".to_owned(), |revision| bytes(revision.size_bytes));
        let looks = context.access.peeks + context.access.greps + context.access.pages + context.access.loads;
        let id = context.id.as_str();
        let pad = " ".repeat(width.saturating_sub(id.chars().count()));
        let last = context.access.last_accessed_ms.map(spelunk_types::iso_time);
        let last = last.as_deref().and_then(|at| at.split('T').next());
        let last = last.map_or_else(String::new, |date| format!(", last {date}"));
        let read = match looks {
            0 => "never read".to_owned(),
            1 => "read once".to_owned(),
            n => format!("read {n} times"),
        };
        let (kind, policy) = (context.kind.name(), context.policy.name());
        let (source, format) = (source_name(&context.source), context.content_type.as_deref().unwrap_or("-"));
        text +=
            &format!("{id}{pad}  {kind:<11} {policy:<7} {source:<6} {format:<15} {size:>9}, {read}{last}\n");
    }
    text
}

pub fn added(
    contexts: &[Arc<Context>],
    already: &[ContextId],
    skipped: &BTreeMap<String, u64>,
    as_json: bool,
) -> String {
    if as_json {
        return line(&added_json(contexts, already, skipped));
    }
    let mut text = String::new();
    for context in contexts {
        text += &format!("{}\n", context.id);
    }
    text
}

pub fn added_json(
    contexts: &[Arc<Context>],
    already: &[ContextId],
    skipped: &BTreeMap<String, u64>,
) -> Value {
    json!({
        "added": list_json(contexts),
        "already": already.iter().map(ContextId::as_str).collect::<Vec<_>>(),
        "skipped": skipped,
    })
}

pub fn removed(context: &Context, as_json: bool) -> String {
    if as_json {
        line(&json!({ "removed": context_json(context) }))
    } else {
        format!("removed {}\n", context.id)
    }
}

pub fn context_json(context: &Context) -> Value {
    json!({
        "id": context.id.as_str(),
        "name": context.name,
        "type": context.kind.name(),
        "content_type": context.content_type,
        "source": source_name(&context.source),
        "policy": context.policy.name(),
        "last_accessed_ms": context.access.last_accessed_ms,
        "size_bytes": context.revision.as_ref().map(|revision| revision.size_bytes),
        "last_modified_ms": context.revision.as_ref().and_then(|revision| revision.modified_ms),
        "access_stats": {
            "peeks": context.access.peeks,
            "greps": context.access.greps,
            "pages": context.access.pages,
            "full_loads": context.access.loads,
        },
    })
}

pub fn peek_json(view: &PeekView) -> Value {
    json!({
        "context": context_json(&view.context),
        "preview": view.peek.text,
        "truncated": view.peek.truncated,
        "lines_shown": view.peek.lines_shown,
        "metadata": view.context.metadata.iter().collect::<BTreeMap<_, _>>(),
        "suggestions": suggestions(&view.suggestions),
    })
}

pub fn peek(view: &PeekView, as_json: bool) -> String {
    if as_json {
        return line(&peek_json(view));
    }
    ended(&safe(&view.peek.to_string()))
}

pub fn grep_json(view: &GrepView) -> Value {
    json!({
        "context": view.id.as_str(),
        "matches": view.matches.iter().map(match_json).collect::<Vec<_>>(),
        "total_matches": view.n_matches,
        "truncated": view.truncated,
        "suggestions": suggestions(&view.suggestions),
    })
}

pub fn grep(view: &GrepView, as_json: bool, paint: Paint) -> String {
    if as_json {
        return line(&grep_json(view));
    }
    let mut text = matches(&view.matches, paint);
    let more = view.n_matches.saturating_sub(view.matches.len() as u64);
    if more > 0 {
        text += &format!("[{more} more]\n");
    }
    text
}

fn match_json(found: &GrepMatch) -> Value {
    json!({ "line": found.line, "text": found.text, "before": found.before, "after": found.after })
}

fn matches(found: &[GrepMatch], paint: Paint) -> String {
    let mut text = String::new();
    for (idx, found) in found.iter().enumerate() {
        if idx > 0 && !(found.before.is_empty() && found.after.is_empty()) {
            text += "--\n";
        }
        let first = found.line.saturating_sub(found.before.len() as u64);
        for (offset, before) in found.before.iter().enumerate() {
            text += &format!("{}-{}\n", first + offset as u64, safe(before));
        }
        text += &format!("{}:{}\n", found.line, highlight(&found.text, &found.ranges, "1;31", paint));
        for (offset, after) in found.after.iter().enumerate() {
            text += &format!("{}-{}\n", found.line + 1 + offset as u64, safe(after));
        }
    }
    text
}

pub fn page_json(view: &PageView) -> Value {
    let page = &view.page;
    json!({
        "context": view.id.as_str(),
        "content": page.text,
        "chunk": page.page,
        "total_chunks": page.n_pages,
        "lines": page.place(),
        "navigation": { "prev": page.prev, "next": page.next },
    })
}

pub fn page(view: &PageView, as_json: bool) -> String {
    let page = &view.page;
    if as_json {
        return line(&page_json(view));
    }
    let which = match page.n_pages {
        0 | 1 => "the only page".to_owned(),
        n_pages => format!("page {}; the last one is {}", page.page, n_pages - 1),
    };
    match page.n_lines {
        0 => "[empty]\n".to_owned(),
        _ => format!("{}[{which}; lines {}]\n", ended(&safe(&page.text)), page.place()),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reader {
    /// A person: control characters are removed.
    Terminal,
    /// A file or a pipe: the text is unchanged.
    Program,
}

pub fn load_json(view: &LoadView) -> Value {
    json!({
        "context": view.id.as_str(),
        "content": view.text.as_ref(),
        "size_chars": view.size_chars,
        "size_tokens_approx": view.tokens_approx,
        "warning": view.warning,
    })
}

pub fn load(view: &LoadView, as_json: bool, reader: Reader) -> String {
    if as_json {
        return line(&load_json(view));
    }
    match reader {
        Reader::Terminal => ended(&safe(&view.text)),
        Reader::Program => view.text.to_string(),
    }
}

pub fn search_json(hits: &[SearchHit], report: &SearchReport) -> Value {
    let of_hit = |hit: &SearchHit| {
        json!({
            "context_id": hit.id.as_str(),
            "name": hit.name,
            "type": hit.kind.name(),
            "match_count": hit.n_matches,
            "matches": hit.matches.iter().map(match_json).collect::<Vec<_>>(),
        })
    };
    let unread =
        report.unread.iter().map(|unread| json!({ "id": unread.id.as_str(), "reason": unread.reason }));
    json!({
        "results": hits.iter().map(of_hit).collect::<Vec<_>>(),
        "searched": report.n_searched,
        "unread": unread.collect::<Vec<_>>(),
    })
}

pub fn search(hits: &[SearchHit], report: &SearchReport, as_json: bool, paint: Paint) -> String {
    if as_json {
        return line(&search_json(hits, report));
    }
    let mut text = String::new();
    for hit in hits {
        text += &format!("{}  ({})\n", hit.id, count(hit.n_matches, "line"));
        for matched in matches(&hit.matches, paint).lines() {
            text += &format!("  {matched}\n");
        }
    }
    for unread in &report.unread {
        text += &format!("[{}: {}]\n", unread.id, head(&unread.reason, 160));
    }
    text + &format!("[matches in {} of {}]\n", report.n_hits, count(report.n_searched, "context"))
}

#[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
pub fn stats_json(stats: &StoreStats, contexts: &[Arc<Context>]) -> Value {
    let [peeks, greps, pages, loads] = looks(contexts);
    json!({
        "store": {
            "total_contexts": stats.n_contexts,
            "by_type": stats.by_kind,
            "max_cache_bytes": stats.memory.cache_bytes_max,
        },
        "memory": memory_json(&stats.memory),
        "access_patterns": {
            "peeks": peeks, "greps": greps, "pages": pages, "full_loads": loads,
            "total_accesses": peeks + greps + pages + loads,
            "load_to_peek_ratio": (peeks > 0).then(|| loads as f64 / peeks as f64),
        },
    })
}

/// The access log, oldest first.
pub fn log_json(entries: &[AccessEntry]) -> Value {
    let of_entry = |entry: &AccessEntry| {
        json!({
            "action": entry.action.name(),
            "context_id": entry.context.as_ref().map(ContextId::as_str),
            "params": entry.detail,
            "timestamp": spelunk_types::iso_time(entry.at_ms),
        })
    };
    json!({ "accesses": entries.iter().map(of_entry).collect::<Vec<_>>() })
}

pub fn log(entries: &[AccessEntry], as_json: bool) -> String {
    if as_json {
        return line(&log_json(entries));
    }
    let mut text = String::new();
    for entry in entries {
        let context = entry.context.as_ref().map_or("", ContextId::as_str);
        let shown = format!(
            "{} {:<6} {context} {}",
            spelunk_types::iso_time(entry.at_ms),
            entry.action.name(),
            safe(&entry.detail)
        );
        text += shown.trim_end();
        text.push('\n');
    }
    text
}

/// Frees the memory of texts beyond a size and removes expired ones. Both are loaded again when
/// needed, or no longer wanted.
pub fn evict_json(store: &ContextStore, bytes_target: u64) -> Result<Value, StoreError> {
    let n_expired = store.remove_expired()?;
    let n_evicted = store.evict_to(bytes_target);
    Ok(json!({ "evicted": n_evicted, "expired": n_expired, "memory": memory_json(&store.memory()) }))
}

#[expect(clippy::cast_precision_loss, reason = "a share for people")]
fn memory_json(memory: &MemoryReport) -> Value {
    json!({
        "cache_bytes": memory.cache_bytes,
        "cache_bytes_max": memory.cache_bytes_max,
        "utilization": memory.cache_bytes as f64 / memory.cache_bytes_max.max(1) as f64,
        "contexts_loaded": memory.n_loaded,
        "held_bytes": memory.held_bytes,
    })
}

fn looks(contexts: &[Arc<Context>]) -> [u64; 4] {
    let sum = |of: fn(&Context) -> u64| contexts.iter().map(|context| of(context)).sum::<u64>();
    [
        sum(|context| context.access.peeks),
        sum(|context| context.access.greps),
        sum(|context| context.access.pages),
        sum(|context| context.access.loads),
    ]
}

pub fn stats(stats: &StoreStats, contexts: &[Arc<Context>], as_json: bool) -> String {
    if as_json {
        return line(&stats_json(stats, contexts));
    }
    let [peeks, greps, pages, loads] = looks(contexts);
    let mut text = format!("{}\n", count(stats.n_contexts, "context"));
    for (kind, n) in stats.by_kind.iter().filter(|(_, n)| **n > 0) {
        text += &format!("  {kind:<11} {n}\n");
    }
    let cache = bytes(stats.memory.cache_bytes_max);
    let looks = [(peeks, "peek"), (greps, "grep"), (pages, "page"), (loads, "load")];
    let looks: Vec<String> = looks.into_iter().map(|(n, what)| count(n, what)).collect();
    text + &format!("{} · memory for texts up to {cache}\n", looks.join(", "))
}

fn source_name(source: &ContextSource) -> &'static str {
    match source {
        ContextSource::File(_) => "file",
        ContextSource::Inline { .. } => "inline",
        ContextSource::Loader(_) => "loader",
        ContextSource::Uri(_) => "uri",
    }
}

pub fn next_steps(steps: &[Suggestion]) -> Option<String> {
    (!steps.is_empty()).then(|| format!("hint: {}", suggestions(steps).join(", or ")))
}

fn suggestions(suggestions: &[Suggestion]) -> Vec<String> {
    suggestions.iter().map(ToString::to_string).collect()
}

fn line(value: &Value) -> String {
    format!("{value}\n")
}

fn ended(text: &str) -> String {
    if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}
