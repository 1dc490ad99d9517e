//! `spelunk search`: passages by words and by meaning, without a model. The index is kept in the workspace and updated
//! first.

use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use serde_json::json;
use spelunk_app::app::App;
use spelunk_app::context_search::{Indexed, Level};
use spelunk_app::error_text::Paint;
use spelunk_app::failure::Failure;
use spelunk_app::render::found::notices_json;
use spelunk_app::render::passages::highlighted;
use spelunk_app::render::progress::IndexingLine;
use spelunk_app::units::{count, head};
use spelunk_context::View;
use spelunk_engine::index_folder;
use spelunk_index::{Hit, Mode, Query, SearchResults};

use super::app::{no_such, print, print_line};
use super::scan::{ScanFlags, inputs, say_left_out, scan};

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

pub(crate) fn search(app: &App, args: &SearchArgs) -> Result<ExitCode, Failure> {
    let mode = Mode::from_name(&args.mode)
        .ok_or_else(|| no_such("mode", &args.mode, &["words", "meaning", "hybrid"]))?;
    let corpus = Arc::new(scan(app, &inputs(app, &args.paths)?, &args.scan.options(&app.settings.limits)?)?);
    let view = View::of(Arc::clone(&corpus));
    let hits_max = usize::try_from(args.hits).unwrap_or(usize::MAX).min(Query::HITS_MAX);
    let query = Query { mode, hits_max, ..Query::new(args.query.as_str()) };
    let mut progress = IndexingLine::new(app.quiet);
    let (folder, level) = (index_folder(&view), Level::Always);
    let found = Indexed { app, folder: &folder, level, progress: &mut |so_far| progress.draw(so_far) }
        .search(&view, &query, || Ok(None))?;
    drop(progress);
    if app.json {
        print_line(found_json(&found));
    } else {
        print(&found_text(&found, app.paint));
    }
    for notice in &found.notices {
        app.say(&notice.to_string());
    }
    say_left_out(app, &corpus);
    let n_hits = count(found.hits.len() as u64, "passage");
    app.say(&format!("{n_hits} · {} searched by {}", count(found.documents, "document"), found.mode.name()));
    Ok(if found.hits.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn found_text(found: &SearchResults, paint: Paint) -> String {
    let mut text = String::new();
    for (idx, hit) in found.hits.iter().enumerate() {
        if idx > 0 {
            text.push('\n');
        }
        text += &hit_text(hit, paint);
    }
    text
}

fn hit_text(hit: &Hit, paint: Paint) -> String {
    let place = format!("{}:{}", head(&hit.document, 200), hit.mark.line);
    let mut text = match paint {
        Paint::Plain => place,
        Paint::Colored => format!("\u{1b}[36m{place}\u{1b}[0m"),
    };
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

fn found_json(found: &SearchResults) -> serde_json::Value {
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
