//! The context tools: inspect registered texts without loading them. Each operation is bounded and
//! counted, and suggests the next.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use spelunk_app::arguments::{Arguments, whole_number, wrong};
use spelunk_app::context_search::{ContextQuery, ContextSearch, FoundInContexts};
use spelunk_app::error_text::Paint;
use spelunk_app::personal;
use spelunk_app::render::contexts as render;
use spelunk_app::render::found::{found_json, found_text};
use spelunk_app::render::passages::{passages_json, passages_text};
use spelunk_app::units::{count, head, listed};
use spelunk_context::{
    Context, ContextId, ContextKind, Factory, GrepQuery, NewContext, NewSource, ScanOptions, StoreError, View,
};
use spelunk_index::{Mode, RankOptions, Ranking, rank};

use super::{Failure, Material, State, ToolAnswer, Usage, client_error, cut};

pub(super) const ID_CHARS_MAX: usize = 1000;
pub(super) const PATTERN_CHARS_MAX: usize = 10_000;
pub(super) const QUESTION_CHARS_MAX: usize = 10_000;
const TEXT_CHARS_MAX: usize = 10_000_000;
const BATCH_CHARS_MAX: usize = 400;
pub(super) const PASSAGES_MAX: u64 = 20;
pub(super) const PASSAGES_DEFAULT: u64 = 5;
const PASSAGES_BYTES_MAX: u64 = 20_000;
const LOAD_CHARS_DEFAULT: u64 = 20_000;
pub(super) const NUMBER_MAX: u64 = u64::MAX;

pub(super) fn list(state: &State, mut arguments: Arguments) -> Result<ToolAnswer, Failure> {
    let kind = arguments.text("type", ID_CHARS_MAX)?;
    let offset = arguments.whole("offset", NUMBER_MAX)?.unwrap_or(0);
    arguments.finish()?;
    // Other processes register contexts too.
    drop(state.store().reload()?);
    let contexts = match &kind {
        Some(kind) => state.navigator.list_of_kind(kind)?,
        None => state.navigator.list(),
    };
    let n_all = contexts.len();
    let shown: Vec<_> =
        contexts.into_iter().skip(usize::try_from(offset).unwrap_or(usize::MAX)).take(LIST_MAX).collect();
    let next = offset + shown.len() as u64;
    let next_offset = (next < n_all as u64).then_some(next);
    let mut text = render::list(&shown, false);
    if n_all == 0 {
        text.push_str("no contexts; register some with context_add");
    } else if let Some(next) = next_offset {
        text += &format!("[{} of {n_all}; continue at offset {next}]\n", shown.len());
    }
    let data = json!({ "contexts": render::list_json(&shown), "total": n_all, "next_offset": next_offset });
    Ok(ToolAnswer::new(text, data))
}

const LIST_MAX: usize = 100;

pub(super) fn peek(state: &State, mut arguments: Arguments) -> Result<ToolAnswer, Failure> {
    let id = arguments.needed("context_id", ID_CHARS_MAX)?;
    let lines = arguments.whole("lines", NUMBER_MAX)?.unwrap_or(state.store().limits().peek_lines);
    arguments.finish()?;
    let view = state.navigator.peek(&id, lines)?;
    let text = with_steps(render::peek(&view, false), &view.suggestions);
    Ok(ToolAnswer::new(text, render::peek_json(&view)))
}

fn with_steps(text: String, steps: &[spelunk_context::Suggestion]) -> String {
    match render::next_steps(steps) {
        Some(steps) => format!("{text}[{steps}]"),
        None => text,
    }
}

pub(super) fn grep_one(state: &State, id: &str, query: &GrepQuery) -> Result<ToolAnswer, Failure> {
    let view = state.navigator.grep(id, query)?;
    let text = with_steps(render::grep(&view, false, Paint::Plain), &view.suggestions);
    Ok(ToolAnswer::new(text, render::grep_json(&view)))
}

pub(super) fn chunk(state: &State, mut arguments: Arguments) -> Result<ToolAnswer, Failure> {
    let id = arguments.needed("context_id", ID_CHARS_MAX)?;
    let page = arguments.whole("chunk_index", NUMBER_MAX)?.unwrap_or(0);
    let lines = arguments.whole("chunk_size", NUMBER_MAX)?.unwrap_or(state.store().limits().page_lines);
    arguments.finish()?;
    let view = state.navigator.page(&id, page, lines)?;
    Ok(ToolAnswer::new(render::page(&view, false), render::page_json(&view)))
}

pub(super) fn load(state: &State, mut arguments: Arguments) -> Result<ToolAnswer, Failure> {
    let id = arguments.needed("context_id", ID_CHARS_MAX)?;
    let chars_max = arguments.whole("chars_max", NUMBER_MAX)?.unwrap_or(LOAD_CHARS_DEFAULT);
    arguments.finish()?;
    let view = state.navigator.load(&id)?;
    let chars_max = usize::try_from(chars_max).unwrap_or(usize::MAX).min(state.output_chars_max);
    let (content, truncated) = cut(&view.text, chars_max);
    let warning = if truncated {
        let message = format!(
            "returned only the first {chars_max} of {} characters: grep it or read it in chunks",
            view.size_chars
        );
        Some(message)
    } else {
        view.warning.clone()
    };
    let text = match &warning {
        Some(warning) => format!("[{warning}]\n{content}"),
        None => content.clone(),
    };
    let data = json!({
        "context": view.id.as_str(),
        "size_chars": view.size_chars,
        "size_tokens_approx": view.tokens_approx,
        "truncated": truncated,
        "warning": warning,
        "content": content,
    });
    Ok(ToolAnswer::new(text, data))
}

pub(super) fn search(state: &State, mut arguments: Arguments) -> Result<ToolAnswer, Failure> {
    let query = arguments.needed("query", QUESTION_CHARS_MAX)?;
    let mode = arguments.text("mode", 20)?.unwrap_or_else(|| "words".to_owned());
    let ids = arguments.texts("contexts", 100, ID_CHARS_MAX)?;
    let n_max = arguments.whole("results_max", PASSAGES_MAX)?.unwrap_or(PASSAGES_DEFAULT);
    arguments.finish()?;
    match mode.as_str() {
        "words" => {
            let ranking = best_passages(state, ids, &query, n_max)?;
            let text = if ranking.passages.is_empty() {
                "no passage contains a word of the query".to_owned()
            } else {
                passages_text(&ranking)
            };
            let mut data = passages_json(&ranking);
            let passages = data["passages"].take();
            Ok(ToolAnswer::new(
                text,
                json!({ "mode": mode, "results": passages, "matched": data["passages_matched"] }),
            ))
        }
        "pattern" => {
            let (hits, report) = state.navigator.search_all(&state.navigator.query(&query, 0))?;
            let text = render::search(&hits, &report, false, Paint::Plain);
            let mut data = render::search_json(&hits, &report);
            data["mode"] = json!(mode);
            Ok(ToolAnswer::new(text, data))
        }
        "meaning" | "hybrid" => {
            let mode = Mode::from_name(&mode).unwrap_or_default();
            let hits_max = usize::try_from(n_max.max(1)).unwrap_or(usize::MAX);
            let each_max = if ids.len() == 1 { hits_max } else { ContextQuery::EACH_MAX };
            let found = find(state, &ContextQuery { query, mode, ids, per_context_max: each_max, hits_max })?;
            Ok(ToolAnswer::new(found_text(&found, Paint::Plain), found_json(&found)))
        }
        _ => Err(wrong("mode", "must be `words`, `meaning`, `hybrid` or `pattern`").into()),
    }
}

/// Passages of registered contexts whose files are still below a root.
pub(crate) fn find(state: &State, wanted: &ContextQuery) -> Result<FoundInContexts, Failure> {
    let admit = |path: &Path| state.admit(&path.to_string_lossy());
    ContextSearch { app: &state.app, store: state.store(), admit: &admit, in_background: true }
        .find(wanted, &mut |_| {})
}

/// The passages of contexts that match a query best. All tools retrieve passages through this function.
fn best_passages(state: &State, ids: Vec<String>, query: &str, n_max: u64) -> Result<Ranking, Failure> {
    let ids = if ids.is_empty() {
        state.navigator.list().iter().map(|context| context.id.as_str().to_owned()).collect()
    } else {
        ids
    };
    if ids.is_empty() {
        return Err(Usage::new("there are no contexts to search", "register some with `context_add`").into());
    }
    let material = Material::of_contexts(ids);
    let (_, corpus) = material.scan(state, &ScanOptions::default())?;
    let view = View::of(Arc::new(corpus));
    Ok(rank(&view, query, &RankOptions::new(n_max.max(1), PASSAGES_BYTES_MAX), &mut |_| {})?)
}

pub(super) fn register(state: &State, arguments: Arguments) -> Result<ToolAnswer, Failure> {
    let (new, (pattern, prefix)) = NewRegistration::of(state, arguments, "context_id", |arguments| {
        let pattern = arguments.text("pattern", 500)?.unwrap_or_else(|| "*".to_owned());
        Ok((pattern, arguments.text("prefix", ID_CHARS_MAX)?.unwrap_or_default()))
    })?;
    if let Some(directory) = new.directory() {
        return register_directory(state, directory, &pattern, &new.kind, &prefix);
    }
    let context = register_one(state, new)?;
    let text = format!("registered {}", context.id);
    Ok(ToolAnswer::new(text, render::added_json(&[context], &[], &BTreeMap::new())))
}

/// What `context_add` and its former name are to register.
pub(super) struct NewRegistration {
    /// An admitted path.
    pub(super) path: Option<PathBuf>,
    text: Option<String>,
    pub(super) id: Option<String>,
    pub(super) kind: ContextKind,
    is_replaced: bool,
}

impl NewRegistration {
    /// Takes all arguments. `own` takes those that only this tool has.
    pub(super) fn of<T>(
        state: &State,
        mut arguments: Arguments,
        id_name: &'static str,
        own: impl FnOnce(&mut Arguments) -> Result<T, Failure>,
    ) -> Result<(Self, T), Failure> {
        let path = arguments.text("path", 4096)?;
        let text = arguments.text("text", TEXT_CHARS_MAX)?;
        let id = arguments.text(id_name, ID_CHARS_MAX)?;
        let kind = arguments.text("type", ID_CHARS_MAX)?;
        let own = own(&mut arguments)?;
        let is_replaced = arguments.flag("replace")?;
        arguments.finish()?;
        if text.is_some() && id.is_none() {
            return Err(wrong(id_name, "is required with `text`").into());
        }
        // Create the workspace's own files first: they keep the directory private and out of git.
        drop(state.app.workspace()?);
        let kind = kind_named(state, kind.as_deref().unwrap_or("document"))?;
        let path = path.map(|path| state.admit(&path)).transpose()?;
        Ok((Self { path, text, id, kind, is_replaced }, own))
    }

    pub(super) fn directory(&self) -> Option<&Path> {
        self.path.as_deref().filter(|path| path.is_dir() && self.text.is_none())
    }
}

/// Declares a kind that is not known yet.
fn kind_named(state: &State, name: &str) -> Result<ContextKind, Failure> {
    match ContextKind::from_name(name) {
        Some(ContextKind::Custom(name)) => {
            let policy = ContextKind::Custom(name.clone()).default_policy();
            Ok(state.store().declare_kind(name.as_str(), policy)?)
        }
        Some(kind) => Ok(kind),
        None => Err(StoreError::BadKindName { name: cut(name, 100).0 }.into()),
    }
}

pub(super) fn register_one(state: &State, new: NewRegistration) -> Result<Arc<Context>, Failure> {
    let NewRegistration { path, text, id, kind, is_replaced } = new;
    let store = state.store();
    let put = |new: NewContext| if is_replaced { store.replace(new) } else { store.register(new) };
    Ok(match (path, text, id) {
        (None, Some(text), Some(id)) => {
            put(NewContext::new(ContextId::new(&id)?, kind, NewSource::Inline(text)))?
        }
        (Some(path), None, Some(id)) => {
            let mut new = NewContext::new(ContextId::new(&id)?, kind, NewSource::File(path.clone()));
            new.name = path.file_name().map_or(id, |name| head(&name.to_string_lossy(), 200));
            put(new)?
        }
        (Some(path), None, None) => Factory::new(store).from_file_by_name(&path, &kind)?,
        (Some(_), Some(_), _) | (None, _, _) => {
            return Err(wrong("path", "or `text` is required, but not both").into());
        }
    })
}

fn register_directory(
    state: &State,
    path: &Path,
    pattern: &str,
    kind: &ContextKind,
    prefix: &str,
) -> Result<ToolAnswer, Failure> {
    let report = Factory::new(state.store()).from_directory(path, pattern, kind, prefix)?;
    let skipped = &report.left_out.skipped;
    let mut text = format!("{} registered, {} already known", report.registered.len(), report.already.len());
    if !skipped.is_empty() {
        text += &format!(", skipped: {}", listed(skipped));
    }
    text.push('\n');
    text += &render::added(&report.registered, &report.already, skipped, false);
    Ok(ToolAnswer::new(text, render::added_json(&report.registered, &report.already, skipped)))
}

pub(super) fn combined(state: &State, mut arguments: Arguments) -> Result<ToolAnswer, Failure> {
    let project = arguments.text("project", ID_CHARS_MAX)?;
    let working = arguments.texts("working", batch_max(state), ID_CHARS_MAX)?;
    arguments.finish()?;
    let mut combined = personal::combined(state.store(), project.as_deref(), &working)?;
    if let Some(fields) = combined.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    Ok(ToolAnswer::new(combined.to_string(), combined))
}

pub(super) fn stats(state: &State, arguments: Arguments) -> Result<ToolAnswer, Failure> {
    arguments.finish()?;
    let (counts, contexts) = (state.store().stats(), state.store().list());
    let mut data = render::stats_json(&counts, &contexts);
    let accesses = state.store().access_log();
    data["accesses"] = render::log_json(&accesses)["accesses"].take();
    Ok(ToolAnswer::new(render::stats(&counts, &contexts, false) + &render::log(&accesses, false), data))
}

pub(super) fn evict(state: &State, mut arguments: Arguments) -> Result<ToolAnswer, Failure> {
    let bytes_target = arguments.whole("target_bytes", NUMBER_MAX)?.unwrap_or(0);
    arguments.finish()?;
    let data = render::evict_json(state.store(), bytes_target)?;
    Ok(ToolAnswer::new(format!("{} evicted, {} expired", data["evicted"], data["expired"]), data))
}

pub(super) fn batch_peek(state: &State, mut arguments: Arguments) -> Result<ToolAnswer, Failure> {
    let queries = batch(state, &mut arguments)?;
    arguments.finish()?;
    let one = |query: &Value| -> Result<Value, Failure> {
        let id = query_text(query, "context_id")?;
        let lines = query_whole(query, "lines")?.unwrap_or(state.store().limits().peek_lines);
        let view = state.navigator.peek(&id, lines)?;
        let (preview, truncated) = cut(&view.peek.text, BATCH_CHARS_MAX);
        Ok(json!({ "context_id": id, "preview": preview, "truncated": truncated || view.peek.truncated }))
    };
    Ok(answer_batch(state, &queries, one))
}

pub(super) fn batch_grep(state: &State, mut arguments: Arguments) -> Result<ToolAnswer, Failure> {
    let queries = batch(state, &mut arguments)?;
    arguments.finish()?;
    let one = |query: &Value| -> Result<Value, Failure> {
        let (id, pattern) = (query_text(query, "context_id")?, query_text(query, "pattern")?);
        let view = state.navigator.grep(&id, &state.navigator.query(&pattern, 0))?;
        let mut chars_left = BATCH_CHARS_MAX;
        let mut matches = Vec::new();
        for found in &view.matches {
            if chars_left == 0 {
                break;
            }
            let (text, _) = cut(&found.text, chars_left);
            chars_left = chars_left.saturating_sub(text.chars().count());
            matches.push(json!({ "line": found.line, "text": text }));
        }
        Ok(
            json!({ "context_id": id, "pattern": pattern, "total_matches": view.n_matches, "matches": matches }),
        )
    };
    Ok(answer_batch(state, &queries, one))
}

fn batch(state: &State, arguments: &mut Arguments) -> Result<Vec<Value>, Usage> {
    arguments.list("queries", batch_max(state))
}

fn batch_max(state: &State) -> usize {
    usize::try_from(state.app.settings.limits.batch_queries_max).unwrap_or(usize::MAX)
}

/// A query that fails does not stop the others.
fn answer_batch(
    state: &State,
    queries: &[Value],
    one: impl Fn(&Value) -> Result<Value, Failure>,
) -> ToolAnswer {
    let results: Vec<Value> = queries
        .iter()
        .map(|query| {
            one(query).unwrap_or_else(|failure| json!({ "error": client_error(state, failure.0.as_ref()) }))
        })
        .collect();
    let n_failed = results.iter().filter(|result| result.get("error").is_some()).count();
    let lines: Vec<String> = results.iter().map(ToString::to_string).collect();
    let text = format!("{}, {n_failed} failed\n{}", count(results.len() as u64, "result"), lines.join("\n"));
    ToolAnswer::new(text, json!({ "results": results, "failed": n_failed }))
}

fn query_text(query: &Value, name: &'static str) -> Result<String, Usage> {
    match query.get(name) {
        Some(Value::String(text)) if text.len() <= PATTERN_CHARS_MAX => Ok(text.clone()),
        Some(_) => Err(wrong(name, "must be a string and not too long")),
        None => Err(wrong(name, "is missing")),
    }
}

fn query_whole(query: &Value, name: &'static str) -> Result<Option<u64>, Usage> {
    match query.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => {
            whole_number(value).map(Some).ok_or_else(|| wrong(name, "must be a non-negative integer"))
        }
    }
}
