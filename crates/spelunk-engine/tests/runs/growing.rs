//! Files that change while they are read: a growing log is read up to its scanned size, a truncated or replaced one
//! is reported, and no strategy ignores either silently.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use spelunk_engine::RunResult;
use spelunk_testkit::{FaultDisk, Rule, on, status, when};
use spelunk_types::{ErrorCode, Strategy};

use crate::stage::{PATIENCE, Stage, engine_on, events, view};

const LOG: &str =
    "09:00 INFO the server of node seven was started\n09:01 ERROR the disk of node seven is full\n";
const QUESTION: &str = "Which node has a full disk?";

fn answer() -> String {
    "It is node seven.\n\n```evidence\napp.log:2: the disk of node seven is full\n```".to_owned()
}

fn rules(strategy: Strategy) -> Vec<Rule> {
    if strategy == Strategy::Search {
        return vec![on("0#0").reply("disk full"), on("0#1").reply(answer())];
    }
    if strategy == Strategy::Map {
        let found = r#"[{"type": "error", "summary": "The disk is full", "line": 2, "evidence": "the disk of node seven is full"}]"#;
        return vec![on("0.0#0").reply(found), when(|_| true).reply("## Summary\n\nIt is node seven [F1].")];
    }
    if strategy == Strategy::Repl {
        let look = "```repl\nhits = grep('full')\nprint(len(context), context.count('LATER'))\n```";
        return vec![
            on("0#0").reply(look),
            on("0#1").reply("```repl\nFINAL('It is node seven.', cite=hits)\n```"),
        ];
    }
    vec![on("0#0").reply(answer())]
}

/// Scans a log, changes it, and only then asks.
async fn ask_after(strategy: Strategy, change: fn(&Path)) -> (RunResult, Vec<String>, Stage) {
    let mut stage = Stage::new(&[("app.log", LOG), ("other.md", "Nothing of interest.\n")], rules(strategy));
    stage.strategy = strategy;
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let corpus = engine.open_corpus(&stage.sources(), &mut |_| {}).unwrap();
    change(&stage.documents.path().join("app.log"));
    let run = stage.start_on(&engine, QUESTION, stage.sources(), corpus).unwrap();
    let result = tokio::time::timeout(PATIENCE, run.join()).await.expect("a run ends");
    let warnings = view(&events(&engine, &result.run)).warnings;
    (result, warnings.into_iter().map(|(message, _)| message).collect(), stage)
}

fn append(path: &Path) {
    let mut file = std::fs::File::options().append(true).open(path).unwrap();
    file.write_all(b"09:02 ERROR LATER the disk of node nine is full\n").unwrap();
}

#[tokio::test]
async fn a_log_that_grows_is_read_as_it_was_scanned_and_the_answer_says_so() {
    for strategy in [Strategy::Direct, Strategy::Search, Strategy::Map, Strategy::Repl] {
        let (result, warnings, stage) = ask_after(strategy, append).await;
        let answer = result.answer.unwrap_or_else(|| panic!("{strategy}: {:?}", result.error));
        assert!(answer.text.contains("node seven"), "{strategy}: {}", answer.text);
        assert_eq!(answer.citations.len(), 1, "{strategy}: {answer:?}");
        assert_eq!(warnings, [has_grown()], "{strategy}");
        let requests = stage.server.requests();
        assert!(requests.iter().all(|request| !request.body.contains("node nine")), "{strategy}");
    }
}

fn has_grown() -> String {
    format!("`app.log` has grown since it was scanned; only its first {} bytes were read", LOG.len())
}

#[tokio::test]
async fn a_run_over_a_log_that_has_grown_resumes_with_what_was_scanned() {
    for strategy in [Strategy::Direct, Strategy::Search, Strategy::Map, Strategy::Repl] {
        // The key is wrong at first. A search does without the proposals of its first call.
        let wrong_idx = usize::from(strategy == Strategy::Search);
        let rules = rules(strategy).into_iter().enumerate();
        let rules = rules.map(|(idx, rule)| if idx == wrong_idx { rule.fault(status(401)) } else { rule });
        let mut stage = Stage::new(&[("app.log", LOG), ("other.md", "Nothing of interest.\n")], rules);
        stage.strategy = strategy;
        let engine = engine_on(Arc::new(FaultDisk::sound()));
        let stopped = stage.ask(&engine, QUESTION).await;
        assert_eq!(stopped.stopped_by(), Some(ErrorCode::ModelUnauthorized), "{strategy}");
        append(&stage.documents.path().join("app.log"));
        let resumed = stage.resume(&engine, &stopped.run).unwrap().join().await;
        let answer = resumed.answer.unwrap_or_else(|| panic!("{strategy}: {:?}", resumed.error));
        assert!(answer.text.contains("node seven"), "{strategy}: {}", answer.text);
        assert_eq!(answer.citations.len(), 1, "{strategy}: {answer:?}");
        let warnings = view(&events(&engine, &stopped.run)).warnings;
        let told: Vec<&str> = warnings.iter().map(|(message, _)| message.as_str()).collect();
        assert_eq!(told, [has_grown()], "{strategy}");
        let requests = stage.server.requests();
        assert!(requests.iter().all(|request| !request.body.contains("node nine")), "{strategy}");
    }
}

#[tokio::test]
async fn a_log_that_was_cut_or_replaced_is_named() {
    let cut: fn(&Path) = |path| std::fs::write(path, "09:00 INFO\n").unwrap();
    let replaced: fn(&Path) = |path| {
        std::fs::rename(path, path.with_extension("old")).unwrap();
        std::fs::write(path, LOG.to_uppercase()).unwrap();
    };
    let changes = [
        (cut, "`app.log` was truncated while it was read"),
        (replaced, "`app.log` was rewritten while it was read"),
    ];
    for (change, told) in changes {
        for strategy in [Strategy::Direct, Strategy::Search, Strategy::Map, Strategy::Repl] {
            let (result, warnings, _stage) = ask_after(strategy, change).await;
            assert!(warnings.iter().any(|warning| warning == told), "{strategy}: {warnings:?}");
            // A strategy that needs the whole file fails with its name; the others report what is missing.
            if strategy == Strategy::Search {
                assert!(warnings.contains(&"`app.log` can no longer be read".to_owned()), "{warnings:?}");
            } else if strategy == Strategy::Map {
                let text = result.answer.unwrap().text;
                assert!(text.contains("- Documents that could not be read: 1"), "{text}");
            } else {
                let error = result.error.expect("it cannot be answered");
                assert_eq!(error.to_string(), "`app.log` changed since it was scanned", "{strategy}");
            }
        }
    }
}

#[tokio::test]
async fn a_log_that_stays_as_it_is_is_not_warned_about() {
    let (result, warnings, _stage) = ask_after(Strategy::Direct, |_| {}).await;
    assert_eq!((result.stopped_by(), warnings), (None::<ErrorCode>, Vec::new()));
}
