//! The files and the report of a run: the same however often they are written, for runs of every kind and at any
//! moment.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use spelunk_engine::{Engine, Projection, RunReport};
use spelunk_journal::{DerivedFiles, Record};
use spelunk_testkit::{FaultDisk, Rule, status, when};
use spelunk_types::{ErrorCode, RunId, Strategy};

use crate::stage::{Stage, engine_on, survey};

pub(super) const FILES: [(&str, &str); 3] = [
    ("a.py", "def alpha():\n    return 1\n"),
    ("b.md", "# Beta\n\nWords about beta.\n"),
    ("c.toml", "gamma = 3\n"),
];

/// One analyst finds something, one fails, one finds nothing.
fn rules() -> Vec<Rule> {
    let shows =
        |name: &'static str| when(move |prompt| prompt.contains(&format!("<document name=\"{name}\">")));
    let found = r#"{"relevant": true, "summary": "It says alpha", "confidence": 0.9, "raised_by": "its tests",
        "metadata": {"key_topics": ["alpha"], "structures": ["alpha"], "imports": []}, "findings": [
        {"type": "pattern", "summary": "It says alpha", "file": "a.py", "line": 1, "evidence": "alpha",
         "severity": "low", "confidence": 0.5}]}"#;
    vec![
        shows("a.py").reply(found),
        shows("b.md").always(status(400)),
        shows("c.toml").reply("{\"relevant\": false, \"findings\": []}"),
        when(|prompt| prompt.contains("[F1]")).reply("## Summary\n\nAlpha [F1]."),
    ]
}

fn files(root: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().display().to_string();
                files.insert(name, std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    files
}

/// Writes the files incrementally, with a flush after every `step` events.
fn written_in_steps(
    engine: &Engine,
    run: &RunId,
    records: &[Record],
    step: usize,
) -> BTreeMap<String, String> {
    let home = tempfile::tempdir().unwrap();
    let mut projection = Projection::new(engine.workspace(), run, DerivedFiles::within(home.path()));
    for piece in records.chunks(step) {
        for record in piece {
            projection.apply(record).unwrap();
        }
        projection.flush().unwrap();
    }
    files(home.path())
}

pub(super) fn rebuilt(engine: &Engine, run: &RunId) -> BTreeMap<String, String> {
    let home = tempfile::tempdir().unwrap();
    Projection::rebuild(engine.workspace(), run, DerivedFiles::within(home.path())).unwrap();
    files(home.path())
}

pub(super) async fn mapped() -> (Stage, Engine, RunId) {
    let mut stage = Stage::new(&FILES, rules());
    stage.strategy = Strategy::Map;
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let run = stage.ask(&engine, "Review it").await.run;
    (stage, engine, run)
}

#[tokio::test]
async fn files_written_piece_by_piece_are_those_written_at_once() {
    let (_stage, engine, run) = mapped().await;
    let records = engine.workspace().read_journal(&run).unwrap();
    let whole = rebuilt(&engine, &run);
    assert_eq!(whole.keys().filter(|name| name.starts_with("results/worker_")).count(), 3);
    for step in [1, 2, 3, 7, 100] {
        assert_eq!(written_in_steps(&engine, &run, &records, step), whole, "every {step} events");
    }
}

#[tokio::test]
async fn a_report_tells_what_was_found_and_what_failed() {
    let (_stage, engine, run) = mapped().await;
    let report = RunReport::read(engine.workspace(), &run).unwrap();
    assert_eq!(report.question, "Review it");
    assert_eq!(report.reports.len(), 2);
    let found: Vec<String> =
        report.findings.iter().map(|merged| merged.finding.location.to_string()).collect();
    assert_eq!(found, ["a.py:1"]);
    assert_eq!((report.coverage.tasks, report.coverage.tasks_done), (3, 2));
    let failed = ("b.md".to_owned(), ErrorCode::ModelRequestRefused);
    assert_eq!(report.coverage.failed, [failed]);
    let codes: Vec<ErrorCode> = report.errors.iter().map(|error| error.code).collect();
    assert_eq!(codes, [ErrorCode::ModelRequestRefused; 2], "the frame, and the run that is partial for it");
    let answer = report.answer.unwrap();
    assert!(answer.text.contains("Alpha (a.py:1)."), "{}", answer.text);
    let errors = &rebuilt(&engine, &run)["state/errors.jsonl"];
    assert_eq!(errors.lines().count(), 2);
}

#[tokio::test]
async fn findings_of_earlier_runs_are_in_the_report_of_a_later_one() {
    let mut stage = Stage::new(&FILES, rules());
    (stage.strategy, stage.cache_replies) = (Strategy::Map, true);
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let first = RunReport::read(engine.workspace(), &stage.ask(&engine, "Review it").await.run).unwrap();
    let run = stage.ask(&engine, "Review it").await.run;
    let second = RunReport::read(engine.workspace(), &run).unwrap();
    assert_eq!(second.findings, first.findings);
    assert_eq!((second.coverage.units_recalled, second.coverage.tasks), (2, 1));
    assert!(rebuilt(&engine, &run)["chunks/manifest.json"].contains("\"state\": \"recalled\""));
}

#[tokio::test]
async fn every_prefix_of_a_journal_has_files_and_a_program_has_workers() {
    let files = [("one.md", "1\n"), ("two.md", "2\n")];
    let mut stage = Stage::new(&files, [when(|prompt| !prompt.is_empty()).reply("fine")]);
    stage.program = Some(survey());
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let run = stage.ask(&engine, "What do they say?").await.run;
    let records = engine.workspace().read_journal(&run).unwrap();
    for n_seen in 0..=records.len() {
        let written = written_in_steps(&engine, &run, &records[..n_seen], 1);
        assert_eq!(written.contains_key("metadata.json"), n_seen > 0);
    }
    let whole = rebuilt(&engine, &run);
    assert!(whole["results/worker_0001.json"].contains("\"answer\": \"fine\""), "{whole:?}");
}

/// A text that compresses like prose.
fn prose(n_lines: usize) -> String {
    let line =
        |n: usize| format!("{n:05} the cache of server {} was evicted after {} ms\n", n % 97, n * 31 % 1009);
    (0..n_lines).map(line).collect()
}

fn bytes_on(disk: &FaultDisk) -> usize {
    disk.files().values().map(Vec::len).sum()
}

#[tokio::test]
async fn the_copy_of_a_small_corpus_is_compressed_and_expendable() {
    let text = prose(10_000);
    let mut stage = Stage::new(&[("a.log", &text)], [when(|_| true).reply("```repl\nFINAL('done')\n```")]);
    stage.strategy = Strategy::Repl;
    let disk = Arc::new(FaultDisk::sound());
    let engine = engine_on(disk.clone());
    let run = stage.ask(&engine, "Review it").await.run;
    assert!(bytes_on(&disk) * 10 < text.len() * 5, "{} of {}", bytes_on(&disk), text.len());
    let whole = rebuilt(&engine, &run);
    assert_eq!(whole["context.txt"], text);
    assert!(whole["metadata.json"].contains("\"is_copy\": true"), "{}", whole["metadata.json"]);
    // Without its prompts the run is whole, but for the copy.
    let bare = FaultDisk::sound();
    for (name, bytes) in disk.files().iter().filter(|(name, _)| !name.ends_with("prompts.pack")) {
        bare.put(name, bytes);
    }
    let whole = rebuilt(&engine_on(Arc::new(bare)), &run);
    assert_eq!(whole["context.txt"], whole["input/documents.txt"]);
    assert!(whole["metadata.json"].contains("\"is_copy\": false"), "{}", whole["metadata.json"]);
}

#[tokio::test]
async fn a_text_that_came_with_the_question_is_stored_once() {
    let text = prose(10_000);
    let mut stage = Stage::new(&[], [when(|_| true).reply("```repl\nFINAL('done')\n```")]);
    stage.strategy = Strategy::Repl;
    let disk = Arc::new(FaultDisk::sound());
    let engine = engine_on(disk.clone());
    let given = engine.keep_text("stdin", text.as_bytes()).unwrap();
    let run = stage.ask_over(&engine, "Review it", vec![given]).await.run;
    let more = bytes_on(&disk) - text.len();
    assert!(more * 10 < text.len(), "{more} beside {}", text.len());
    assert_eq!(rebuilt(&engine, &run)["context.txt"], text);
}
