//! `spelunk` without arguments: which model would answer, what is in this folder, and what to do next.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use serde_json::json;
use spelunk_app::provider;
use spelunk_app::units::count;

use super::{App, CliResult, print_result};

const ENTRIES_MAX: usize = 10_000;
const ENDINGS_MAX: usize = 3;

pub(crate) async fn greet(app: &App) -> CliResult {
    let chosen = provider::choose(&app.settings, &app.environment).await;
    let named = chosen.as_ref().ok().and_then(|chosen| Some(chosen.as_ref()?.model.reference().to_string()));
    let model = match &chosen {
        Ok(Some(chosen)) => chosen.line(),
        Ok(None) => "none; `spelunk ask` shows the best passages instead of an answer".to_owned(),
        Err(error) => format!("none: {error}"),
    };
    let n_runs =
        app.existing_workspace()?.map(|workspace| workspace.runs()).transpose()?.map_or(0, |runs| runs.len());
    let mut text =
        format!("spelunk {}: ask questions of text too large for any model\n\n", env!("CARGO_PKG_VERSION"));
    let _ = writeln!(text, "Model    {model}");
    let _ = writeln!(text, "Here     {}", contents(&app.current_dir));
    if n_runs > 0 {
        let _ = writeln!(text, "Runs     {} (`spelunk run list`)", count(n_runs as u64, "run"));
    }
    text += "
  spelunk ask \"what is this about?\" .   ask about this folder
  spelunk search \"words\" .              find passages, without a model
  spelunk demo                          watch a run crash and resume; no key
  spelunk doctor                        check the model and the settings
  spelunk --help                        all commands
";
    let value = json!({ "version": env!("CARGO_PKG_VERSION"), "model": named, "runs": n_runs });
    print_result(app, &value, &text);
    Ok(ExitCode::SUCCESS)
}

/// `12 files (7 .md, 3 .rs, 1 .toml), 4 folders`
fn contents(dir: &Path) -> String {
    #[expect(clippy::disallowed_methods, reason = "the binary reads the user's folder")]
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten().take(ENTRIES_MAX);
    let (mut n_files, mut n_folders, mut endings): (u64, u64, BTreeMap<String, u64>) = Default::default();
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            n_folders += 1;
            continue;
        }
        n_files += 1;
        if let Some((_, ending)) = name.rsplit_once('.') {
            *endings.entry(format!(".{ending}")).or_default() += 1;
        }
    }
    let mut endings: Vec<(String, u64)> = endings.into_iter().collect();
    endings.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    let named: Vec<String> =
        endings.iter().take(ENDINGS_MAX).map(|(ending, n)| format!("{n} {ending}")).collect();
    let named = if named.is_empty() { String::new() } else { format!(" ({})", named.join(", ")) };
    format!("{}{named}, {}", count(n_files, "file"), count(n_folders, "folder"))
}
