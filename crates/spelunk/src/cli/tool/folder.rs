//! The folder of a job: a desk as plain files, created by `spelunk tool init`. Each command reads
//! the folder into memory and writes back what a tool changed; links are never followed.
#![expect(clippy::disallowed_methods, reason = "these are the user's own files")]

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use spelunk_context::{Corpus, ScanOptions, SourceInput, View};
use spelunk_desk::{Desk, DeskLimits, DeskPath};
use spelunk_engine::{AGENT_GUIDE, AGENT_SKILL, Clock as _, SystemClock};
use spelunk_types::{ErrorCode, iso_time};

use crate::cli::scan::scan;
use crate::cli::{App, Failure, Usage, inputs};

const JOB: &str = "state/job.json";
const READ: [&str; 5] = ["input", "state", "scratch", "output", "cache"];
const DEPTH_MAX: usize = 16;
/// Instructions, in the files where agents look for them.
const GUIDES: [(&str, &str); 3] = [
    ("AGENTS.md", AGENT_GUIDE),
    (".claude/CLAUDE.md", AGENT_GUIDE),
    (".claude/skills/rlm-scripting/SKILL.md", AGENT_SKILL),
];
/// Modules for the agent's scripts.
const TOOLS: [(&str, &str); 4] = [
    ("tools/__init__.py", ""),
    ("tools/llm_client.py", include_str!("llm_client.py")),
    ("tools/chunking.py", include_str!("chunking.py")),
    ("tools/README.md", include_str!("tools.md")),
];
const METRICS: &str = "state/metrics.json";
const ERRORS: &str = "state/errors.jsonl";
const EVIDENCE: &str = "state/evidence.jsonl";

pub(super) struct Folder {
    root: PathBuf,
    pub(super) desk: Desk,
}

fn wrong(message: String, hint: &str) -> Failure {
    Usage::new(message, hint).into()
}

pub(super) fn init(app: &App, directory: &str, question: &str, paths: &[String]) -> Result<PathBuf, Failure> {
    let root = app.current_dir.join(directory);
    let is_free = match std::fs::read_dir(&root) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
    };
    if !is_free {
        return Err(wrong(format!("`{directory}` is not an empty directory"), "choose another one"));
    }
    if question.trim().is_empty() {
        return Err(wrong("the question is empty".to_owned(), "write the question to answer"));
    }
    let named = inputs(app, paths)?;
    // Scanned now, so that a mistyped path leaves nothing behind.
    let corpus = scan(app, &named, &ScanOptions::default())?;
    let mut sources = Vec::new();
    for input in &named {
        match input {
            SourceInput::Path(path) | SourceInput::Typed { path, .. } => {
                sources.push(path.display().to_string());
            }
            SourceInput::Database(_) | SourceInput::Objects(_) => {
                return Err(wrong(
                    "a database or a bucket cannot be a document of a folder".to_owned(),
                    "ask about it with `spelunk ask`",
                ));
            }
            SourceInput::Text { .. } | SourceInput::Kept { .. } => {
                return Err(wrong(
                    "standard input cannot be used as a document of a folder".to_owned(),
                    "write it to a file first",
                ));
            }
        }
    }
    let files = [
        ("input/prompt.md", format!("{}\n", question.trim_end())),
        (JOB, job(app, &sources, corpus.bytes())),
        ("state/notes.md", String::new()),
        ("state/evidence.jsonl", String::new()),
        (ERRORS, String::new()),
        (METRICS, metrics(&CallsTaken::default(), &Value::Null)),
    ];
    for (name, text) in files {
        write(&root, name, text.as_bytes())?;
    }
    for (name, text) in GUIDES.into_iter().chain(TOOLS) {
        write(&root, name, text.as_bytes())?;
    }
    app.user.keep_job(&root, &sources).map_err(|error| {
        wrong(
            format!("could not record the job of `{directory}`: {error}"),
            "set `XDG_STATE_HOME` to a directory that you can write to",
        )
    })?;
    let unkept =
        |error| wrong(format!("could not count the calls of `{directory}`: {error}"), "check the disk");
    app.user.job_calls(&root, |_| Some(0)).map_err(unkept)?.unwrap_or_default();
    for directory in
        ["scratch/scripts", "scratch/tmp", "cache/indexes", "cache/llm", "input/attachments", "output"]
    {
        std::fs::create_dir_all(root.join(directory)).map_err(|error| {
            wrong(format!("could not create `{directory}`: {error}"), "check the directory")
        })?;
    }
    Ok(root)
}

fn job(app: &App, sources: &[String], bytes: u64) -> String {
    let limits = &app.settings.limits;
    let job = json!({
        "schema_version": 1,
        "prompt_path": "input/prompt.md",
        "contexts_dir": "input/contexts",
        "sources": sources,
        "context_bytes": bytes,
        "answer_path": "output/answer.md",
        "evidence_path": "state/evidence.jsonl",
        "notes_path": "state/notes.md",
        "errors_path": ERRORS,
        "metrics_path": METRICS,
        "indexes_dir": "cache/indexes",
        "scripts_dir": "scratch/scripts",
        "config": {
            "max_scripts": limits.scripts_max,
            "max_subcalls_per_script": limits.script_calls_max,
            "max_tokens_per_call": limits.sub_output_tokens_max,
            "max_depth": limits.depth_max,
            "cache_responses": app.run_settings().cache_replies,
        },
    });
    format!("{job:#}\n")
}

impl Folder {
    pub(super) fn open(app: &App) -> Result<Self, Failure> {
        let root = app.current_dir.clone();
        let hint = "create one with `spelunk tool init DIR --question QUESTION PATH`, and run this in it";
        let unread = |why: String| wrong(format!("this is not a job folder: {why}"), hint);
        if !root.join(JOB).is_file() {
            return Err(unread(format!("it has no `{JOB}`")));
        }
        // The folder's own record of its sources is not trusted.
        let sources = app.user.job(&root);
        let sources = sources.ok_or_else(|| unread("you did not create it on this machine".to_owned()))?;
        let paths: Vec<SourceInput> =
            sources.into_iter().map(|path| SourceInput::Path(path.into())).collect();
        let mut desk = Desk::new(DeskLimits::default());
        for area in READ {
            read(
                &root,
                &DeskPath::parse(area).map_err(|error| unread(error.to_string()))?,
                &mut desk,
                DEPTH_MAX,
            );
        }
        let corpus = Corpus::scan(&paths, &ScanOptions::default(), &mut |_| {})?;
        desk.mount(View::of(Arc::new(corpus)));
        Ok(Self { root, desk })
    }

    /// Reserves sub-model calls. The limit grows with the number of scripts; no script counts as one.
    pub(super) fn take_calls(&self, app: &App, n_calls: u64) -> Result<(), Failure> {
        let (limits, scripts) = (&app.settings.limits, self.n_scripts());
        let calls_max = scripts.clamp(1, limits.scripts_max.max(1)).saturating_mul(limits.script_calls_max);
        let taken = app.user.job_calls(&self.root, |used| Some(used + n_calls).filter(|n| *n <= calls_max));
        match taken
            .map_err(|error| wrong(format!("could not record the calls: {error}"), "check the disk"))?
        {
            Ok(_) => Ok(()),
            Err(used) => Err(wrong(
                format!(
                    "{n_calls} sub-model calls exceed the limit: {used} of {calls_max} are used, {} per script",
                    limits.script_calls_max
                ),
                "put more text into each question, or write the next script under `scratch/scripts/`",
            )),
        }
    }

    pub(super) fn settle_calls(&self, app: &App, taken: &CallsTaken) -> Result<(), Failure> {
        let given_back = app.user.job_calls(&self.root, |used| Some(used.saturating_sub(taken.cached)));
        drop(given_back);
        let before = self.desk.text(&at(METRICS)).ok();
        let before = before.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        let taken = CallsTaken { scripts: self.n_scripts(), ..*taken };
        self.write_own(METRICS, metrics(&taken, &before).as_bytes())
    }

    pub(super) fn log_error(
        &self,
        code: Option<ErrorCode>,
        why: &str,
        about: Option<&str>,
    ) -> Result<(), Failure> {
        let line = json!({
            "timestamp": iso_time(SystemClock.now_ms()),
            "error_type": code,
            "error_message": why,
            "context": about,
        });
        let before = self.desk.text(&at(ERRORS)).unwrap_or_default();
        self.write_own(ERRORS, format!("{before}{line}\n").as_bytes())
    }

    fn n_scripts(&self) -> u64 {
        let scripts = std::fs::read_dir(self.root.join("scratch/scripts")).into_iter().flatten().flatten();
        let is_script = |name: &std::ffi::OsStr| Path::new(name).extension().is_some_and(|end| end == "py");
        scripts.filter(|entry| is_script(&entry.file_name())).count() as u64
    }

    fn write_own(&self, name: &str, bytes: &[u8]) -> Result<(), Failure> {
        if has_link(&self.root, &at(name)) {
            return Err(wrong(format!("`{name}` is a symbolic link or below one"), "remove the link"));
        }
        write(&self.root, name, bytes)
    }

    pub(super) fn write_back(&self, desk: &Desk, path: &DeskPath) -> Result<(), Failure> {
        let at = self.root.join(path.as_str());
        if has_link(&self.root, path) {
            return Err(wrong(
                format!("`{path}` is a symbolic link or below one"),
                "remove the link: files must stay in the folder",
            ));
        }
        match desk.read(path) {
            Ok(bytes) => write(&self.root, path.as_str(), &bytes),
            Err(_) => std::fs::remove_file(at)
                .map_err(|error| wrong(format!("could not remove `{path}`: {error}"), "check the directory")),
        }
    }
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CallsTaken {
    pub(super) calls: u64,
    pub(super) cached: u64,
    pub(super) tokens: u64,
    pub(super) failed: u64,
    pub(super) scripts: u64,
}

fn metrics(taken: &CallsTaken, before: &Value) -> String {
    let sum = |name: &str, more: u64| before[name].as_u64().unwrap_or_default() + more;
    let counted = json!({
        "scripts_created": taken.scripts,
        "subcalls_made": sum("subcalls_made", taken.calls),
        "tokens_used": sum("tokens_used", taken.tokens),
        "cache_hits": sum("cache_hits", taken.cached),
        "errors": sum("errors", taken.failed),
    });
    format!("{counted:#}\n")
}

pub(super) fn stamp(desk: &mut Desk, path: &DeskPath) {
    if path.as_str() != EVIDENCE {
        return;
    }
    let Ok(text) = desk.text(path).map(Cow::into_owned) else { return };
    let (before, last) = text.trim_end().rsplit_once('\n').unwrap_or(("", text.trim_end()));
    let Ok(mut fact) = serde_json::from_str::<Value>(last) else { return };
    fact["timestamp"] = iso_time(SystemClock.now_ms()).into();
    let before = if before.is_empty() { String::new() } else { format!("{before}\n") };
    // This fits: the file was nearly as large before.
    drop(desk.put(path, format!("{before}{fact}\n").into_bytes()));
}

fn at(name: &str) -> DeskPath {
    DeskPath::parse(name).expect("our own paths are paths")
}

fn has_link(root: &Path, path: &DeskPath) -> bool {
    let mut at = root.to_owned();
    path.as_str().split('/').any(|part| {
        at.push(part);
        std::fs::symlink_metadata(&at).is_ok_and(|found| found.file_type().is_symlink())
    })
}

/// Reads a directory of the folder into the desk. Links, invalid paths and files that are too large are skipped.
fn read(root: &Path, directory: &DeskPath, desk: &mut Desk, depth_left: usize) {
    if has_link(root, directory) {
        return;
    }
    let Ok(entries) = std::fs::read_dir(root.join(directory.as_str())) else { return };
    let mut names: Vec<String> =
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    for name in names {
        let Ok(path) = directory.join(&name) else { continue };
        let at = root.join(path.as_str());
        let Ok(found) = std::fs::symlink_metadata(&at) else { continue };
        if found.is_dir() && depth_left > 0 {
            read(root, &path, desk, depth_left - 1);
        } else if found.is_file()
            && found.len() <= desk.limits().file_bytes_max
            && let Ok(bytes) = std::fs::read(&at)
        {
            // If the desk is full, the remaining files are skipped.
            drop(desk.put(&path, bytes));
        }
    }
}

fn write(root: &Path, name: &str, bytes: &[u8]) -> Result<(), Failure> {
    let at = root.join(name);
    let made = at.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(&at, bytes));
    made.map_err(|error| wrong(format!("could not write `{}`: {error}", at.display()), "check the directory"))
}
