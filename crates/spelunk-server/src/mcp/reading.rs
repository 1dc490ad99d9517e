//! The essential tools for text: search files or contexts, read lines, grep, and register. Each
//! accepts several contexts; one that fails does not stop the others.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use spelunk_app::arguments::{Arguments, wrong};
use spelunk_app::context_search::{ContextQuery, Indexed, Level};
use spelunk_app::error_text::{Paint, error_json, error_text};
use spelunk_app::personal;
use spelunk_app::render::contexts as render;
use spelunk_app::render::found::{criteria, found_json, found_text, hits_json, hits_text};
use spelunk_app::units::{count, listed};
use spelunk_context::{Factory, GrepQuery, GrepView, ScanReport, View};
use spelunk_engine::index_folder;
use spelunk_index::{Mode, Query};

use super::contexts::{
    ID_CHARS_MAX, NUMBER_MAX, NewRegistration, PASSAGES_DEFAULT, PASSAGES_MAX, PATTERN_CHARS_MAX,
    QUESTION_CHARS_MAX, find, grep_one, register_one,
};
use super::{Failure, Material, State, ToolAnswer, cut};

const ADDED_SHOWN_MAX: usize = 50;

/// `search`: passages of files or of contexts.
pub(super) fn search(state: &State, mut arguments: Arguments) -> Result<ToolAnswer, Failure> {
    let query = arguments.needed("query", QUESTION_CHARS_MAX)?;
    let word = arguments.text("mode", 20)?.unwrap_or_else(|| Mode::Hybrid.name().to_owned());
    let mode = Mode::from_name(&word).ok_or_else(|| {
        wrong("mode", "must be `hybrid`, `words` or `meaning`; use context_grep for patterns")
    })?;
    let n_max = arguments.whole("results_max", PASSAGES_MAX)?.unwrap_or(PASSAGES_DEFAULT).max(1);
    let hits_max = usize::try_from(n_max).unwrap_or(usize::MAX);
    if !arguments.has("paths") {
        let ids = arguments.texts("contexts", 100, ID_CHARS_MAX)?;
        arguments.finish()?;
        if ids.is_empty() && state.store().list().is_empty() {
            return Err(wrong("paths", "is missing, and no contexts are registered").into());
        }
        let per_context_max = if ids.len() == 1 { hits_max } else { ContextQuery::EACH_MAX };
        let found = find(state, &ContextQuery { query, mode, ids, per_context_max, hits_max })?;
        return Ok(ToolAnswer::new(found_text(&found, Paint::Plain), found_json(&found)));
    }
    let material = Material::of(&mut arguments)?;
    arguments.finish()?;
    let (_, corpus) = material.scan(state, &material.scan_options(&state.app.settings.limits))?;
    let view = View::of(Arc::new(corpus));
    let query = Query { mode, hits_max, ..Query::new(&*query) };
    let (folder, level) = (index_folder(&view), Level::Always);
    let mut indexed =
        Indexed { app: &state.app, folder: &folder, level, in_background: true, progress: &mut |_| {} };
    let found = indexed.search(&view, &query, || Ok(None))?;
    let mut text = hits_text(&found.hits, Paint::Plain);
    for notice in &found.notices {
        let _ = writeln!(text, "[{notice}]");
    }
    let n_hits = count(found.hits.len() as u64, "passage");
    let _ = write!(text, "[{n_hits} in {} by {}]", count(found.documents, "document"), criteria(found.mode));
    let mut data = hits_json(&found);
    data["results"] = data["hits"].take();
    if let Some(fields) = data.as_object_mut() {
        fields.remove("hits");
    }
    Ok(ToolAnswer::new(text, data))
}

enum Part {
    Lines { first: u64, n: u64 },
    Whole { chars_max: usize },
}

pub(super) fn read(state: &State, mut arguments: Arguments) -> Result<ToolAnswer, Failure> {
    let ids = ids(state, &mut arguments)?;
    let first = arguments.whole("line", NUMBER_MAX)?.unwrap_or(1).max(1);
    let n = arguments.whole("lines", NUMBER_MAX)?;
    let is_whole = arguments.flag("whole")?;
    arguments.finish()?;
    if ids.is_empty() {
        return Err(wrong("ids", "is missing").into());
    }
    let part = if is_whole {
        Part::Whole { chars_max: state.output_chars_max / ids.len() }
    } else {
        Part::Lines { first, n: n.unwrap_or(state.store().limits().page_lines) }
    };
    each(&ids, |id| read_one(state, id, &part))
}

fn read_one(state: &State, id: &str, part: &Part) -> Result<(String, Value), Failure> {
    let (first, n) = match *part {
        Part::Lines { first, n } => (first, n),
        Part::Whole { chars_max } => {
            let view = state.navigator.load(id)?;
            let (text, is_cut) = cut(&view.text, chars_max);
            let data = json!({ "id": id, "text": text, "chars": view.size_chars, "truncated": is_cut });
            return Ok((text, data));
        }
    };
    // A page begins at a multiple of its length, so the lines may be on two pages.
    let (page, skipped) = ((first - 1) / n.max(1), (first - 1) % n.max(1));
    let Ok(before) = state.navigator.page(id, page, n) else {
        // If this is beyond the last page, there are no lines; any other error occurs for the first page too.
        let n_lines = state.navigator.page(id, 0, n)?.page.n_lines;
        let data = json!({ "id": id, "text": "", "line": first, "total_lines": n_lines, "next_line": null });
        return Ok((format!("[end, line {n_lines} of {n_lines}]"), data));
    };
    let before = before.page;
    let mut text: String = before.text.split_inclusive('\n').skip(to_size(skipped)).collect();
    if skipped > 0 && before.next.is_some() {
        let behind = state.navigator.page(id, page + 1, n)?.page;
        text.extend(behind.text.split_inclusive('\n').take(to_size(skipped)));
    }
    let last = first + (text.lines().count() as u64).saturating_sub(1);
    let next = (last < before.n_lines).then_some(last + 1);
    let mut shown = text.clone();
    if !shown.is_empty() && !shown.ends_with('\n') {
        shown.push('\n');
    }
    let _ = match next {
        Some(_) => write!(shown, "[lines {first}-{last} of {}]", before.n_lines),
        None => write!(shown, "[end, line {} of {}]", last.min(before.n_lines), before.n_lines),
    };
    let data =
        json!({ "id": id, "text": text, "line": first, "total_lines": before.n_lines, "next_line": next });
    Ok((shown, data))
}

fn to_size(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

/// `context_grep`. With its former argument `context_id`, the answer has the former format.
pub(super) fn grep(state: &State, mut arguments: Arguments) -> Result<ToolAnswer, Failure> {
    let id = arguments.text("context_id", ID_CHARS_MAX)?;
    let ids = ids(state, &mut arguments)?;
    let query = GrepQuery {
        case_sensitive: arguments.flag("case_sensitive")?,
        literal: arguments.flag("literal")?,
        ..state.navigator.query(
            &arguments.needed("pattern", PATTERN_CHARS_MAX)?,
            arguments.whole("context_lines", NUMBER_MAX)?.unwrap_or(2),
        )
    };
    arguments.finish()?;
    if let Some(id) = id {
        return grep_one(state, &id, &query);
    }
    if !ids.is_empty() {
        return each(&ids, |id| Ok(shown(&state.navigator.grep(id, &query)?)));
    }
    let (hits, report) = state.navigator.search_all(&query)?;
    let text = render::search(&hits, &report, false, Paint::Plain);
    let mut data = render::search_json(&hits, &report);
    data["failed"] = json!(report.unread.len());
    Ok(ToolAnswer::new(text, data))
}

fn shown(view: &GrepView) -> (String, Value) {
    (render::grep(view, false, Paint::Plain), render::grep_json(view))
}

fn ids(state: &State, arguments: &mut Arguments) -> Result<Vec<String>, Failure> {
    let n_max = to_size(state.app.settings.limits.batch_queries_max);
    Ok(arguments.texts("ids", n_max, ID_CHARS_MAX)?)
}

/// One answer per context. If there is only one and it fails, the call fails.
fn each(
    ids: &[String],
    one: impl Fn(&str) -> Result<(String, Value), Failure>,
) -> Result<ToolAnswer, Failure> {
    if let [id] = ids {
        let (text, data) = one(id)?;
        return Ok(ToolAnswer::new(text, json!({ "results": [data], "failed": 0 })));
    }
    let (mut text, mut results, mut n_failed) = (String::new(), Vec::new(), 0);
    for id in ids {
        let (said, data) = one(id).unwrap_or_else(|failure| {
            n_failed += 1;
            let error = failure.0.as_ref();
            (error_text(error, Paint::Plain), json!({ "id": id, "error": error_json(error) }))
        });
        let _ = writeln!(text, "== {id}\n{}", said.trim_end());
        results.push(data);
    }
    Ok(ToolAnswer::new(text, json!({ "results": results, "failed": n_failed })))
}

pub(super) fn add(state: &State, arguments: Arguments) -> Result<ToolAnswer, Failure> {
    let (new, (pattern, is_personal)) = NewRegistration::of(state, arguments, "id", |arguments| {
        Ok((arguments.text("pattern", 500)?, arguments.flag("personal")?))
    })?;
    if let Some(directory) = new.path.as_deref().filter(|_| is_personal) {
        let report = personal::register(state.store(), directory)?;
        let text = format!("{} added, {} already known", report.registered.len(), report.already.len());
        let data = render::added_json(&report.registered, &report.already, &report.skipped);
        return Ok(ToolAnswer::new(text, data));
    }
    if let Some(directory) = new.directory() {
        let prefix = new.id.as_ref().map(|id| format!("{id}/")).unwrap_or_default();
        return add_directory(state, directory, pattern.as_deref(), &new.kind, &prefix);
    }
    let context = register_one(state, new)?;
    let text = format!("added {}", context.id);
    Ok(ToolAnswer::new(text, render::added_json(&[context], &[], &BTreeMap::new())))
}

fn add_directory(
    state: &State,
    path: &Path,
    pattern: Option<&str>,
    kind: &spelunk_context::ContextKind,
    prefix: &str,
) -> Result<ToolAnswer, Failure> {
    let pattern = match pattern {
        Some(pattern) if pattern.contains('/') => pattern.to_owned(),
        Some(pattern) => format!("**/{pattern}"),
        None => "**/*".to_owned(),
    };
    let report = Factory::new(state.store()).from_directory(path, &pattern, kind, prefix)?;
    let mut text = format!("{} added, {} already known", report.registered.len(), report.already.len());
    text += &left_out(&report.left_out);
    for context in report.registered.iter().take(ADDED_SHOWN_MAX) {
        let _ = write!(text, "\n{}", context.id);
    }
    if let Some(more) = report.registered.len().checked_sub(ADDED_SHOWN_MAX).filter(|more| *more > 0) {
        let _ = write!(text, "\n[{more} more; context_list lists all]");
    }
    let mut data = render::added_json(&report.registered, &report.already, &report.left_out.skipped);
    data["skipped_examples"] = json!(report.left_out.skipped_examples);
    Ok(ToolAnswer::new(text, data))
}

fn left_out(report: &ScanReport) -> String {
    if report.skipped.is_empty() {
        return String::new();
    }
    let names: Vec<&str> = report.skipped_examples.values().flatten().map(String::as_str).collect();
    format!("; skipped: {} (such as {})", listed(&report.skipped), names.join(", "))
}
