//! The progress output while analysts work and while an index is built.

use std::collections::BTreeMap;
use std::time::Duration;

use spelunk_engine::{RunView, TasksView};
use spelunk_index::IndexProgress;
use spelunk_model::Loading;
use spelunk_types::{ErrorCode, Event, EventKind, FrameId, ModelRef, Text};

use super::{block, indexing_status, loading_status, run_status, task_line};

fn counts(pairs: &[(&str, u64)]) -> BTreeMap<String, u64> {
    pairs.iter().map(|(word, n)| ((*word).to_owned(), *n)).collect()
}

#[test]
fn a_finished_task_is_one_line() {
    let line = |findings: &[(&str, u64)], relevant: bool| {
        let label = "src/a.rs lines 1 to 200".to_owned();
        task_line(&EventKind::TaskReported {
            task: 3,
            of: 10,
            label,
            relevant,
            findings: counts(findings),
            confidence: None,
        })
    };
    let found = "task 3/10 complete: 4 findings (2 high, 1 medium, 1 low): src/a.rs lines 1 to 200";
    assert_eq!(line(&[("low", 1), ("high", 2), ("medium", 1)], true).as_deref(), Some(found));
    assert_eq!(
        line(&[], false).as_deref(),
        Some("task 3/10 complete: not relevant: src/a.rs lines 1 to 200")
    );
    assert_eq!(line(&[], true).as_deref(), Some("task 3/10 complete: no findings: src/a.rs lines 1 to 200"));
}

#[test]
fn the_block_says_the_turn_and_what_it_waits_for() {
    let started = |call: &str| EventKind::CallStarted {
        call: call.parse().unwrap(),
        model: "slow".into(),
        prompt: "0".repeat(64).parse().unwrap(),
        text: Text::Inline { text: String::new() },
        reserved: None,
    };
    let mut view = RunView::default();
    view.model = Some(ModelRef { provider: "openai".into(), name: "slow".into(), base_url: String::new() });
    let shown = |view: &RunView, streamed| run_status(view, streamed, Duration::from_secs(2));
    assert_eq!(shown(&view, 0), "reading files\n0 calls done · 0 tokens · $0.00 · 2.0 s");
    view.apply(&Event { seq: 1, at_ms: 1, frame: FrameId::root(), kind: started("0#0") });
    let waiting = "turn 1: waiting for openai/slow\n0 calls done, 1 in flight · 0 tokens · $0.00 · 2.0 s";
    assert_eq!(shown(&view, 0), waiting);
    assert!(shown(&view, 7).starts_with("turn 1: openai/slow is replying\n"));
    let retried = EventKind::CallRetried {
        call: "0#0".parse().unwrap(),
        attempt: 1,
        code: ErrorCode::ModelOverloaded,
        wait_ms: 1,
    };
    view.apply(&Event { seq: 2, at_ms: 2, frame: FrameId::root(), kind: retried });
    assert!(shown(&view, 0).starts_with("turn 1: trying openai/slow again after model-overloaded\n"));
    view.apply(&Event { seq: 3, at_ms: 3, frame: FrameId::root().child(0), kind: started("0.0#1") });
    assert!(
        shown(&view, 0)
            .starts_with("turn 1: waiting for 2 calls to openai/slow\n0 calls done, 2 in flight · ")
    );
}

#[test]
fn a_line_of_the_block_is_cut_to_the_width() {
    assert_eq!(block("turn 1: waiting for somebody\n12 calls", 20), "turn 1: waiting…\n  12 calls");
}

#[test]
fn the_line_says_how_far_the_tasks_are() {
    let findings = counts(&[("high", 2), ("unrated", 1)]);
    let tasks =
        TasksView { planned: 40, documents: 9, recalled: 0, done: 9, failed: 1, findings, confidence: None };
    let mut view = RunView::default();
    view.tasks = Some(tasks);
    assert_eq!(
        run_status(&view, 0, Duration::from_secs(20)),
        "10 of 40 tasks, 1 failed · 2 high, 1 unrated · about 1 min 0 s left\n0 calls done · 0 tokens · $0.00 · 20.0 s"
    );
}

#[test]
fn the_line_says_which_models_are_being_loaded() {
    let loading = |name: &str, percent| Loading { name: name.to_owned(), percent };
    assert_eq!(loading_status(&[]), None);
    assert_eq!(
        loading_status(&[loading("root-1.5b", 43), loading("sub-0.5b", 0)]).as_deref(),
        Some("loading root-1.5b: 43 %, loading sub-0.5b: 0 %")
    );
}

#[test]
fn the_line_says_how_far_an_index_is() {
    let so_far = |documents_done, bytes_done| IndexProgress {
        documents_done,
        documents_total: 40,
        bytes_done,
        bytes_total: 9_800_000,
        passages: 7,
    };
    let shown = [
        indexing_status(so_far(0, 0), Duration::from_secs(1)),
        indexing_status(so_far(12, 2_450_000), Duration::from_secs(5)),
        indexing_status(so_far(40, 9_800_000), Duration::from_secs(20)),
    ];
    assert_eq!(
        shown,
        [
            "indexing: 0 of 40 documents · 0 B of 9.8 MB",
            "indexing: 12 of 40 documents · 2.4 MB of 9.8 MB · about 15.0 s left",
            "indexing: 40 of 40 documents · 9.8 MB of 9.8 MB",
        ]
    );
}

#[test]
fn a_run_that_builds_an_index_says_so_until_something_else_happens() {
    let event = |at_ms, kind| Event { seq: 1, at_ms, frame: FrameId::root(), kind };
    let tick = |at_ms, done| {
        event(
            at_ms,
            EventKind::ProgressTicked {
                what: "indexing".into(),
                done,
                total: 4_000_000,
                documents_done: Some(3),
                documents_total: Some(8),
            },
        )
    };
    let mut view = RunView::default();
    view.apply(&tick(1_000, 0));
    view.apply(&tick(3_000, 1_000_000));
    assert_eq!(
        run_status(&view, 0, Duration::from_secs(9)),
        "indexing: 3 of 8 documents · 1.0 MB of 4.0 MB · about 6.0 s left\n0 calls done · 0 tokens · $0.00 · 9.0 s"
    );
    view.apply(&event(4_000, EventKind::WarningRaised { message: "m".into(), hint: String::new() }));
    assert_eq!(view.ticked, None);
    // Later work starts counting again.
    view.apply(&tick(60_000, 2_000_000));
    assert_eq!(view.ticked.as_ref().map(|ticked| ticked.took_ms), Some(0));
}
