//! `spelunk context import`: registers the contents of another tool's workspace. Two layouts are known: `context.txt` with
//! `results/` and `final_answer.md`, and `input/prompt.md` with `state/` and `output/answer.md`. Nothing is copied.

use std::collections::BTreeMap;

use spelunk_app::render::contexts as render;
use spelunk_context::{ContextId, ContextKind, ContextStore, Factory};

use super::{of_file, put};

use crate::cli::{App, Failure, Usage};

/// The file that identifies a layout, and its other files as (id suffix, path).
const LAYOUTS: [(&str, &[(&str, &str)]); 2] = [
    ("context.txt", &[(":answer", "final_answer.md"), (":metadata", "metadata.json")]),
    (
        "input/prompt.md",
        &[
            (":answer", "output/answer.md"),
            (":evidence", "state/evidence.jsonl"),
            // The older name of `evidence.jsonl`.
            (":artifacts", "state/artifacts.jsonl"),
            (":notes", "state/notes.md"),
            (":job", "state/job.json"),
        ],
    ),
];
/// Directories in which every file that matches the pattern becomes a context.
const DIRECTORIES: [(&str, &str); 2] = [("results", "worker_*.json"), ("input/attachments", "*")];

pub(super) fn import(app: &App, store: &ContextStore, path: &str, replace: bool) -> Result<String, Failure> {
    let root = app.current_dir.join(path);
    let Some((main, others)) = LAYOUTS.iter().find(|(main, _)| root.join(main).is_file()) else {
        let message =
            format!("`{path}` is not a workspace: it has neither `context.txt` nor `input/prompt.md`");
        return Err(Usage::new(message, "register other directories with `spelunk context add`").into());
    };
    drop(app.workspace()?);
    let name = root.components().next_back().map(|part| part.as_os_str().to_string_lossy().into_owned());
    let name = name.unwrap_or_default();
    let mut added = Vec::new();
    for (end, file) in [("", *main)].iter().chain(*others) {
        let (file, id) = (root.join(file), ContextId::new(format!("{name}{end}"))?);
        // Empty files, such as an error log, are not registered.
        if file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0) {
            added.push(put(store, of_file(id, ContextKind::Document, file), replace)?);
        }
    }
    for (directory, pattern) in DIRECTORIES.map(|(directory, pattern)| (root.join(directory), pattern)) {
        if directory.is_dir() {
            let prefix = format!("{name}:");
            let report =
                Factory::new(store).from_directory(&directory, pattern, &ContextKind::Document, &prefix)?;
            added.extend(report.registered);
        }
    }
    Ok(render::added(&added, &[], &BTreeMap::new(), app.json))
}
