//! Coverage counts what was answered, and evidence what was shown: failed parts were not read, and a finding counts
//! only inside the part its analyst saw.

use std::sync::Arc;

use expect_test::expect;
use spelunk_engine::{Engine, RunReport};
use spelunk_testkit::{FaultDisk, Rule, on, status, when};
use spelunk_types::{ErrorCode, Found, Grounding, RunOutcome, Strategy};

use crate::stage::{Stage, engine_on, events, view};

/// Twelve lines each, read in parts of four.
fn log(name: &str) -> String {
    let lines: Vec<String> =
        (1..=12).map(|line| format!("09:{line:02} INFO {name} did step {line}\n")).collect();
    lines.concat()
}

fn stage(files: &[(&str, &str)], rules: Vec<Rule>) -> Stage {
    let mut stage = Stage::new(files, rules);
    stage.strategy = Strategy::Map;
    (stage.limits.small_lines_max, stage.limits.chunk_log_lines, stage.limits.retries_max) = (1, 4, 0);
    stage.limits.overlap_log_lines = 0;
    stage
}

/// The coverage line of the report, and the same numbers from the journal.
async fn covered(stage: &Stage) -> (String, (u64, u64, u64, u64)) {
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = stage.ask(&engine, "Review it").await;
    let text = result.answer.unwrap().text;
    let line = text.split("## Coverage\n\n- ").nth(1).unwrap().lines().next().unwrap().to_owned();
    let coverage = RunReport::read(engine.workspace(), &result.run).unwrap().coverage;
    let folded = view(&events(&engine, &result.run));
    assert_eq!((folded.documents_read, folded.bytes_read), (coverage.documents_read, coverage.bytes_read));
    (line, (coverage.documents_read, coverage.bytes_read, coverage.tasks_done, coverage.tasks))
}

#[tokio::test]
async fn parts_that_failed_were_not_read() {
    let (a, b, c) = (log("a"), log("b"), log("c"));
    let files = [("a.log", a.as_str()), ("b.log", &b), ("c.log", &c)];
    let nothing = || when(|_| true).reply("{\"relevant\": false}");
    let whole = stage(&files, vec![nothing()]);
    let all = (a.len() + b.len() + c.len()) as u64;
    assert_eq!(covered(&whole).await, ("3 documents, read in 9 tasks".into(), (3, all, 9, 9)));
    // One part of `a.log`, and all of `b.log`.
    let rules = vec![
        when(|prompt| prompt.contains("a did step 5")).always(status(500)),
        when(|prompt| prompt.contains("b did step")).always(status(500)),
        nothing(),
    ];
    let parts = stage(&files, rules);
    let line_bytes = (a.len() - "09:10 INFO a did step 10\n".len() * 3) as u64 / 9;
    let read = a.len() as u64 - 4 * line_bytes + c.len() as u64;
    let told = "1 of 3 documents read in full, in 5 of 9 tasks";
    assert_eq!(covered(&parts).await, (told.into(), (1, read, 5, 9)));
}

#[tokio::test]
async fn where_every_part_fails_nothing_was_read() {
    let a = log("a");
    let stage = stage(&[("a.log", &a)], vec![on("0.*#0").always(status(500))]);
    let told = "0 of 1 document read in full, in 0 of 3 tasks";
    assert_eq!(covered(&stage).await, (told.into(), (0, 0, 0, 3)));
}

#[tokio::test]
async fn what_a_limit_leaves_unread_is_counted_and_not_begun() {
    const PARTS: usize = 600;
    let lines: Vec<String> = (1..=PARTS).map(|n| format!("09:00 INFO step {n}.\n")).collect();
    let finding = r#"[{"type": "error", "summary": "First", "line": 1, "evidence": "step 1."}]"#;
    let rules = vec![
        when(|prompt| prompt.contains("[F3]")).reply("## Summary\n\nThe first [F1]."),
        when(|prompt| prompt.contains("1| 09:00 INFO step 1.")).reply(finding),
        when(|_| true).reply("{\"relevant\": false}"),
    ];
    let mut stage = stage(&[("a.log", &lines.concat())], rules);
    (stage.limits.chunk_log_lines, stage.limits.calls_max, stage.limits.calls_parallel_max) = (1, 3, 2);
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let stopped = stage.ask(&engine, "Review it").await;
    assert_eq!(stopped.outcome, RunOutcome::Partial { stopped_by: ErrorCode::CallsExhausted });
    let text = stopped.answer.unwrap().text;
    let coverage = text.split("## Coverage\n\n").nth(1).unwrap();
    expect![[r"
        - 0 of 1 document read in full, in 3 of 600 tasks
        - Failed and not covered: 598
          - a.log line 4, a.log line 5, a.log line 6 and 595 more: The run has reached its call limit."]]
    .assert_eq(coverage);
    let seen = view(&events(&engine, &stopped.run));
    // The root, three parts that were read and 256 that were refused, and the synthesis.
    let frames: Vec<String> = seen.frames.keys().map(ToString::to_string).collect();
    assert_eq!((frames.len(), frames.last().unwrap().as_str()), (261, "0.600"));
    // Tasks that were not started keep their ids, and are read under a higher limit.
    stage.limits.calls_max = 1000;
    let resumed = stage.resume(&engine, &stopped.run).unwrap().join().await;
    assert_eq!(resumed.outcome, RunOutcome::Answered, "{:?}", resumed.error);
    let tasks = view(&events(&engine, &stopped.run)).tasks.unwrap();
    assert_eq!((tasks.planned, tasks.done, tasks.failed), (600, 600, 0));
    assert_eq!(stage.server.requests().len(), PARTS + 1, "nothing is read twice");
}

#[tokio::test]
async fn an_analyst_is_not_believed_about_lines_that_it_was_not_shown() {
    let a = log("a");
    // It saw lines 1 to 4; what it says of line 11 happens to be true.
    let found = r#"[
        {"type": "error", "summary": "Seen", "line": 2, "evidence": "a did step 2"},
        {"type": "error", "summary": "Guessed", "line": 11, "evidence": "a did step 11", "severity": "high"}
    ]"#;
    let rules = vec![
        when(|prompt| prompt.contains("1| 09:01")).reply(found),
        when(|prompt| prompt.contains("[F1]")).reply("## Summary\n\nThese [F1] [F2]."),
        when(|_| true).reply("{\"relevant\": false}"),
    ];
    let stage = stage(&[("a.log", &a)], rules);
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = stage.ask(&engine, "Review it").await;
    let answer = result.answer.unwrap();
    let cited: Vec<u64> = answer.citations.iter().map(|citation| citation.line).collect();
    assert_eq!(cited, [2]);
    assert!(answer.text.contains("not in the text shown, marked as unverified: 1"), "{}", answer.text);
    let report = RunReport::read(engine.workspace(), &result.run).unwrap();
    let places: Vec<_> = report
        .findings
        .iter()
        .map(|merged| {
            (merged.finding.summary.as_str(), merged.finding.location.line_start, merged.finding.quote)
        })
        .collect();
    assert_eq!(places, [("Guessed", None, Some(Found::Missing)), ("Seen", Some(2), Some(Found::Exact))]);
}

/// The citations after a question for which only some passages were shown.
async fn cited(engine: &Engine, strategy: Strategy) -> (Vec<String>, Grounding) {
    let filler = "The weather was fine and nobody wrote anything down on that day at all.\n".repeat(60);
    let text = format!("The pump was replaced by Ada.\n{filler}A secret was kept here.\n");
    let evidence =
        "Ada.\n\n```evidence\na.md:1: The pump was replaced by Ada.\na.md:62: A secret was kept here.\n```";
    let rules = vec![
        when(|prompt| prompt.contains("These passages hold")).reply(evidence),
        when(|_| true).reply("pump replaced"),
    ];
    let mut stage = Stage::new(&[("a.md", &text)], rules);
    stage.strategy = strategy;
    stage.limits.direct_tokens_max = 150;
    let answer = stage.ask(engine, "Who replaced the pump?").await.answer.unwrap();
    (answer.citations.into_iter().map(|citation| citation.quote).collect(), answer.grounding)
}

#[tokio::test]
async fn a_quote_from_a_passage_that_was_not_shown_is_no_evidence() {
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    for strategy in [Strategy::Direct, Strategy::Search] {
        let expected = (vec!["The pump was replaced by Ada.".to_owned()], Grounding::Cited);
        assert_eq!(cited(&engine, strategy).await, expected, "{strategy}");
    }
}
