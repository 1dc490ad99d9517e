//! Regression tests for resume: each external input that once broke it, in the smallest program that shows it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use expect_test::expect;
use spelunk_context::ScanOptions;
use spelunk_engine::{Engine, SystemClock};
use spelunk_index::{EmbedError, Embedder};
use spelunk_journal::Workspace;
use spelunk_testkit::{FaultDisk, Gate, on};
use spelunk_types::{EventKind, Strategy};

use super::FILES;
use crate::stage::{Stage, engine_on, events};

fn cell(code: &str) -> String {
    format!("```repl\n{code}\n```")
}

const TYPED: &str = "schema = {'type': 'object', 'properties': {'n': {'type': 'integer'}}, 'required': ['n']}\n\
                     found = llm_query_batched(['a', 'b'], schema=schema)\nprint(len(context), found)";

/// Two typed replies need a correction, and arrive in a different order in the second process.
#[tokio::test]
async fn two_corrections_of_a_batch_keep_their_places_whatever_the_order_of_replies() {
    let rules = |delays: [u64; 2], last: &Gate| {
        [
            on("0#0").reply(cell(TYPED)),
            on("0#1").reply("none").delay_ms(delays[0]),
            on("0#2").reply(r#"{"n": 1}"#),
            on("0#3").reply("none").delay_ms(delays[1]),
            on("0#4").reply(r#"{"n": 2}"#),
            on("0#5").reply(cell("FINAL(str([item['n'] for item in found]))")).gate(last),
        ]
    };
    let disk = Arc::new(FaultDisk::sound());
    let held = Gate::new();
    let mut first = Stage::new(&FILES, rules([80, 0], &held));
    first.strategy = Strategy::Repl;
    let engine = engine_on(disk.clone());
    let handle = first.start(&engine, "Which numbers?").unwrap();
    let run = handle.run.clone();
    held.reached(1).await;
    handle.abandon().await;

    let open = Gate::new();
    open.open();
    let mut second = Stage::new(&FILES, rules([0, 80], &open));
    second.strategy = Strategy::Repl;
    let result = second.resume(&engine_on(disk), &run).unwrap().join().await;
    assert_eq!(result.answer.map(|answer| answer.text).as_deref(), Some("[1, 2]"), "{:?}", result.error);
}

/// A cell reads the budget and is stopped by its limit; a later cell reads it again.
#[tokio::test]
async fn what_a_stopped_cell_observed_does_not_shift_what_later_cells_observe() {
    let held = Gate::new();
    let rules = [
        on("0#0").reply(cell("print(context['a.md'][:5], budget()['calls'])\nwhile True:\n    pass")),
        on("0#1").reply(cell("left = budget()['calls']\nprint(left)")),
        on("0#2").reply(cell("FINAL(str(left))")).gate(&held),
    ];
    let mut stage = Stage::new(&FILES, rules);
    stage.strategy = Strategy::Repl;
    stage.limits.cell_ms_max = 200;
    let disk = Arc::new(FaultDisk::sound());
    let engine = engine_on(disk.clone());
    let handle = stage.start(&engine, "How many calls are left?").unwrap();
    let run = handle.run.clone();
    held.reached(1).await;
    handle.abandon().await;
    held.open();
    // A different limit changes the current budget, but not what the cell has read.
    let left = (stage.limits.calls_max - 2).to_string();
    stage.limits.calls_max += 100;
    let result = stage.resume(&engine_on(disk), &run).unwrap().join().await;
    assert_eq!(result.answer.map(|answer| answer.text), Some(left), "{:?}", result.error);
}

/// A recorded value answers only the request it was recorded for.
#[tokio::test]
async fn an_observation_of_something_else_is_a_divergence() {
    let held = Gate::new();
    let rules = [
        on("0#0").reply(cell("print(context['a.md'][:5], budget()['calls'])")),
        on("0#1").reply(cell("FINAL('x')")).gate(&held),
    ];
    let mut stage = Stage::new(&FILES, rules);
    stage.strategy = Strategy::Repl;
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let handle = stage.start(&engine, "How many?").unwrap();
    let run = handle.run.clone();
    held.reached(1).await;
    handle.abandon().await;
    let mut facts = Vec::new();
    for mut event in events(&engine, &run) {
        if let EventKind::ValueObserved { what, .. } = &mut event.kind {
            *what = "weather".into();
        }
        facts.push((event.frame, event.kind));
    }
    let other = engine_on(Arc::new(FaultDisk::sound()));
    other.workspace().create_journal(&run).append(0, facts).unwrap();
    held.open();
    let error = stage.resume(&other, &run).unwrap().join().await.error.unwrap();
    expect!["frame `0` requested `budget`, but the journal recorded `weather`"].assert_eq(&error.to_string());
}

/// An embedding server that is available to one process and not to the next.
struct Moody {
    is_up: Arc<AtomicBool>,
}

impl Embedder for Moody {
    fn id(&self) -> &'static str {
        "moody"
    }

    fn dimensions(&self) -> usize {
        2
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        if !self.is_up.load(Ordering::Relaxed) {
            let why = "connection refused".to_owned();
            return Err(EmbedError::Remote { model: "moody".into(), why, source: None });
        }
        Ok(texts
            .iter()
            .map(|text| if text.contains("Beta") { vec![1.0, 0.0] } else { vec![0.0, 1.0] })
            .collect())
    }
}

#[tokio::test]
async fn a_search_by_meaning_is_taken_from_the_record_when_the_embedding_model_is_away() {
    let held = Gate::new();
    let rules = [
        on("0#0").reply(cell("hits = search('Beta', k=1, mode='hybrid')\nprint(len(context), hits)")),
        on("0#1").reply(cell("FINAL(hits[0]['doc'])")).gate(&held),
    ];
    let mut stage = Stage::new(&FILES, rules);
    stage.strategy = Strategy::Repl;
    let folder = tempfile::tempdir().unwrap();
    let is_up = Arc::new(AtomicBool::new(true));
    let engine = || {
        let is_up = Arc::clone(&is_up);
        let workspace = Workspace::open(folder.path()).unwrap();
        let mut engine = Engine::new(workspace, Arc::new(SystemClock), ScanOptions::default());
        engine.embedder = Arc::new(move || Ok(Arc::new(Moody { is_up: Arc::clone(&is_up) })));
        engine
    };
    let handle = stage.start(&engine(), "Which one is blue?").unwrap();
    let run = handle.run.clone();
    held.reached(1).await;
    handle.abandon().await;
    held.open();
    is_up.store(false, Ordering::Relaxed);
    let result = stage.resume(&engine(), &run).unwrap().join().await;
    assert_eq!(result.answer.map(|answer| answer.text).as_deref(), Some("b.md"), "{:?}", result.error);
}

/// A call fails, the cell catches it and prints; then the process dies before the model is called again. The call
/// would succeed now.
#[tokio::test]
async fn a_failure_that_a_cell_has_seen_is_a_fact_once_the_cell_is_on_record() {
    let code = "try:\n    said = llm_query('one')\nexcept ModelError:\n    said = 'nothing'\nprint(len(context), said)";
    let disk = Arc::new(FaultDisk::sound());
    let rules = |fails: bool| {
        let asked =
            if fails { on("0#1").always(spelunk_testkit::status(400)) } else { on("0#1").reply("one") };
        [on("0#0").reply(cell(code)), asked, on("0#2").reply(cell("FINAL(said)"))]
    };
    let mut stage = Stage::new(&FILES, rules(true));
    stage.strategy = Strategy::Repl;
    let result = stage.ask(&engine_on(disk.clone()), "Which one?").await;
    assert_eq!(result.answer.map(|answer| answer.text).as_deref(), Some("nothing"));
    let written = events(&engine_on(disk), &result.run);
    let at_cell = written.iter().position(|event| matches!(event.kind, EventKind::CellRan { .. })).unwrap();
    // The journal up to the cell, as a crash at that moment leaves it.
    let facts =
        written.iter().take(at_cell + 1).map(|event| (event.frame.clone(), event.kind.clone())).collect();
    let other = engine_on(Arc::new(FaultDisk::sound()));
    other.workspace().create_journal(&result.run).append(0, facts).unwrap();
    let mut later = Stage::new(&FILES, rules(false));
    later.strategy = Strategy::Repl;
    let resumed = later.resume(&other, &result.run).unwrap().join().await;
    assert_eq!(resumed.answer.map(|answer| answer.text).as_deref(), Some("nothing"), "{:?}", resumed.error);
}
