//! Journals of past formats, kept forever: each opens and keeps its meaning. A file is never rewritten; a new format
//! gets a new folder.

use std::path::Path;
use std::sync::Arc;

use spelunk_engine::RunView;
use spelunk_journal::Journal;
use spelunk_testkit::{FaultDisk, facts};
use spelunk_types::RunId;

/// The meaning of a journal: its events, then the state they fold to.
fn meaning(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/compat/journals/v1").join(name);
    let run = RunId::new(0, 1);
    let disk = FaultDisk::sound();
    disk.put(&format!("runs/{run}/journal.jsonl"), &std::fs::read(path).unwrap());
    let events = Journal::open(Arc::new(disk), &run).unwrap().events;
    let view = RunView::of(&events);
    let mut lines = facts(&events);
    lines.push(format!(
        "-- paid={} spent={:?} active_ms={} resumed={} answer={}",
        view.n_paid_calls(),
        view.spent,
        view.active_ms(),
        view.n_resumed,
        view.answer().is_some()
    ));
    lines.join("\n")
}

#[test]
fn a_v1_journal_of_a_run_that_crashed_and_was_resumed() {
    expect_test::expect![[r"
        run.started      program scripted/demo
        source.scanned   documents=1 bytes=647
        source.scanned   documents=1 bytes=207
        source.scanned   documents=1 bytes=353
        frame.opened     0 program
        frame.opened     0.0 direct
        frame.opened     0.1 direct
        frame.opened     0.2 direct
        passages.chosen  0.0 documents=1 bytes=207 of=207
        call.started     0.0#0
        passages.chosen  0.1 documents=1 bytes=647 of=647
        call.started     0.1#0
        passages.chosen  0.2 documents=1 bytes=353 of=353
        call.started     0.2#0
        call.settled     0.0#0 replied live tokens=280+46
        citation.checked 0.0 exact deploys.csv:3
        citation.checked 0.0 exact deploys.csv:4
        frame.closed     0.0 answered cited=2
        call.settled     0.1#0 replied live tokens=393+60
        run.resumed      bytes_dropped=0
        citation.checked 0.1 exact gateway.log:3
        citation.checked 0.1 exact gateway.log:7
        frame.closed     0.1 answered cited=2
        call.settled     0.2#0 replied live tokens=321+42
        citation.checked 0.2 exact runbook.md:10
        frame.closed     0.2 answered cited=1
        call.started     0#0
        call.settled     0#0 replied live tokens=107+52
        frame.closed     0 answered cited=5
        run.finished     answered
        -- paid=4 spent=Usage { input_tokens: 1101, cached_tokens: 0, cache_written_tokens: 0, output_tokens: 200, cost_microusd: 2101 } active_ms=1715 resumed=1 answer=true"]].assert_eq(&meaning("crashed-and-resumed.jsonl"));
}

#[test]
fn a_v1_journal_of_a_run_that_failed_after_retries() {
    expect_test::expect![[r"
        run.started      direct openai/m
        source.scanned   documents=1 bytes=24
        frame.opened     0 direct
        passages.chosen  0 documents=1 bytes=24 of=24
        call.started     0#0
        call.retried     0#0 attempt=1 model-unreachable
        call.retried     0#0 attempt=2 model-unreachable
        call.retried     0#0 attempt=3 model-unreachable
        run.finished     failed model-unreachable
        -- paid=0 spent=Usage { input_tokens: 0, cached_tokens: 0, cache_written_tokens: 0, output_tokens: 0, cost_microusd: 0 } active_ms=14 resumed=0 answer=false"]].assert_eq(&meaning("failed-after-retries.jsonl"));
}

#[test]
fn a_v1_journal_of_a_run_that_stopped_at_a_limit() {
    expect_test::expect![[r"
        run.started      direct openai/m
        source.scanned   documents=1 bytes=24
        frame.opened     0 direct
        passages.chosen  0 documents=1 bytes=24 of=24
        call.started     0#0
        limit.reached    calls_max=0
        run.finished     partial calls-exhausted
        -- paid=0 spent=Usage { input_tokens: 0, cached_tokens: 0, cache_written_tokens: 0, output_tokens: 0, cost_microusd: 0 } active_ms=4 resumed=0 answer=false"]].assert_eq(&meaning("stopped-at-a-limit.jsonl"));
}
