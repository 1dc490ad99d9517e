//! Sub-model calls for an external agent: each question is a run of its own over one file, recorded and paid for like
//! any other.

use std::process::ExitCode;

use futures_util::future::join_all;
use spelunk_app::app::App;
use spelunk_app::asking::{RoleModels, keep};
use spelunk_app::failure::{Failure, Usage};
use spelunk_app::provider::{self, Chosen};
use spelunk_context::{ScanOptions, SourceInput};
use spelunk_desk::DeskPath;
use spelunk_engine::{Engine, RunHandle};
use spelunk_types::Strategy;

use super::folder::Folder;
use crate::cli::app::print;

/// The maximum number of files per batch.
const FILES_MAX: usize = 100;
/// The document name of a prompt without a file.
const ALONE: &str = "prompt.md";

pub(super) async fn ask(
    app: &App,
    folder: &Folder,
    prompt: &str,
    paths: &[String],
) -> Result<ExitCode, Failure> {
    let wrong = |message: String| Usage { message, hint: "see AGENTS.md in this folder".into() };
    if paths.len() > FILES_MAX {
        return Err(wrong(format!("{} files in one batch, at most {FILES_MAX}", paths.len())).into());
    }
    let Some(chosen) = provider::choose(&app.settings, &app.environment).await? else {
        return Err(wrong("there is no model to ask".to_owned()).into());
    };
    let mut texts = Vec::new();
    for path in paths {
        let at = DeskPath::parse(path).map_err(|error| wrong(error.to_string()))?;
        let text = folder.desk.text(&at).map_err(|error| wrong(error.to_string()))?;
        texts.push((at.as_str().to_owned(), text.into_owned()));
    }
    if texts.is_empty() {
        texts.push((ALONE.to_owned(), prompt.to_owned()));
    }
    let engine = app.engine(ScanOptions::default())?;
    let mut runs = Vec::new();
    for (name, text) in texts {
        runs.push((name.clone(), start(app, &engine, &chosen, prompt, name, text)?.join()));
    }
    let (names, ending): (Vec<_>, Vec<_>) = runs.into_iter().unzip();
    let mut n_failed = 0;
    for (name, result) in names.iter().zip(join_all(ending).await) {
        let said = match (&result.answer, &result.error) {
            (Some(answer), _) => answer.text.clone(),
            (None, error) => {
                n_failed += 1;
                error.as_ref().map_or_else(|| "failed".to_owned(), |error| format!("failed: {error}"))
            }
        };
        print(&if names.len() == 1 { format!("{said}\n") } else { format!("[{name}]\n{said}\n\n") });
    }
    Ok(if n_failed == names.len() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn start(
    app: &App,
    engine: &Engine,
    chosen: &Chosen,
    prompt: &str,
    name: String,
    text: String,
) -> Result<RunHandle, Failure> {
    let sources = keep(engine, vec![SourceInput::Text { name, bytes: text.into_bytes() }])?;
    let corpus = engine.open_corpus(&sources, &mut |_| {})?;
    // Smaller questions go to the sub-model.
    let model = chosen.sub_model.clone().unwrap_or_else(|| chosen.model.clone());
    let request = RoleModels::one(model).start(prompt, corpus, sources, Strategy::Direct, app.run_settings());
    Ok(engine.start(request)?)
}
