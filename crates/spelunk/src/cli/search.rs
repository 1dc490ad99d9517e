//! `spelunk search`: passages by words and by meaning, without a model. The index is stored in the workspace and
//! updated first; if much of the text is new, the text is scanned instead, and `spelunk index` builds the index.

use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use serde_json::json;
use spelunk_app::context_search::{Indexed, Level};
use spelunk_app::render::found::{criteria, hits_json, hits_text};
use spelunk_app::render::progress::IndexingLine;
use spelunk_app::units::{bytes, count};
use spelunk_context::View;
use spelunk_engine::index_folder;
use spelunk_index::{Mode, Notice, Query};

use super::scan::{scan, scan_for};
use super::{App, CliResult, ScanFlags, inputs, no_such, print_line, print_result, say_left_out};

#[derive(Debug, Args)]
pub(crate) struct SearchArgs {
    /// The query: words, "a phrase", -word, path:GLOB, type:TYPE
    query: String,
    /// Files or directories to search [default: .]
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
    /// The search mode: words, meaning or hybrid
    #[arg(long, value_name = "MODE", default_value = "hybrid")]
    mode: String,
    /// Maximum number of passages
    #[arg(long, short = 'k', value_name = "N", default_value_t = 10)]
    hits: u64,
    #[command(flatten)]
    scan: ScanFlags,
}

#[derive(Debug, Args)]
pub(crate) struct IndexArgs {
    /// Files or directories to index [default: .]
    #[arg(value_name = "PATH")]
    paths: Vec<String>,
    #[command(flatten)]
    scan: ScanFlags,
}

/// Builds the index that later searches over the same paths use.
pub(crate) fn index(app: &App, args: &IndexArgs) -> CliResult {
    let corpus = Arc::new(scan(app, &inputs(app, &args.paths)?, &args.scan.options(&app.settings.limits)?)?);
    let view = View::of(Arc::clone(&corpus));
    let mut progress = IndexingLine::new(app.quiet);
    let (folder, level) = (index_folder(&view), Level::Always);
    let draw = &mut |so_far| progress.draw(so_far);
    let mut indexed = Indexed { app, folder: &folder, level, in_background: false, progress: draw };
    let report = indexed.build(&view)?;
    drop(progress);
    let (documents, size) = (view.documents().len() as u64, view.bytes());
    if app.json {
        print_line(json!({ "documents": documents, "bytes": size }));
    }
    say_left_out(app, &corpus);
    if let Some(rebuilt) = report.rebuilt {
        app.say(&rebuilt.to_string());
    }
    app.say(&format!("Indexed {}, {}.", count(documents, "document"), bytes(size)));
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn search(app: &App, args: &SearchArgs) -> CliResult {
    let mode = Mode::from_name(&args.mode)
        .ok_or_else(|| no_such("mode", &args.mode, &["words", "meaning", "hybrid"]))?;
    let hits_max = usize::try_from(args.hits).unwrap_or(usize::MAX).min(Query::HITS_MAX);
    let query = Query { mode, hits_max, ..Query::new(args.query.as_str()) };
    let options = args.scan.options(&app.settings.limits)?;
    let corpus = scan_for(app, query.needles(), &inputs(app, &args.paths)?, &options)?.as_text()?;
    let corpus = Arc::new(corpus);
    let view = View::of(Arc::clone(&corpus));
    let mut progress = IndexingLine::new(app.quiet);
    let (folder, level) = (index_folder(&view), Level::Always);
    let draw = &mut |so_far| progress.draw(so_far);
    let mut indexed = Indexed { app, folder: &folder, level, in_background: false, progress: draw };
    let found = indexed.search(&view, &query, || Ok(None))?;
    drop(progress);
    print_result(app, &hits_json(&found), &hits_text(&found.hits, app.paint));
    for notice in &found.notices {
        let hint = notice.hint().filter(|_| !matches!(notice, Notice::WordsOnly { .. }));
        let hint = hint.map(|hint| format!("; {hint}")).unwrap_or_default();
        app.say(&format!("{notice}{hint}"));
    }
    say_left_out(app, &corpus);
    let n_hits = count(found.hits.len() as u64, "passage");
    let (documents, how) = (count(found.documents, "document"), criteria(found.mode));
    app.say(&format!("{n_hits} · {documents} searched by {how}"));
    Ok(if found.hits.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
