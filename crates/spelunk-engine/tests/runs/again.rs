//! A run that a limit stopped with a partial answer continues to a complete one under a higher limit. Nothing is paid
//! for twice, and an unchanged limit is refused by name.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use expect_test::expect;
use spelunk_context::ScanOptions;
use spelunk_engine::{Clock, Engine, Projection, RunResult};
use spelunk_journal::{DerivedFiles, Workspace};
use spelunk_testkit::{FaultDisk, Gate, Rule, on, when};
use spelunk_types::{ErrorCode, Limits, RunId, RunOutcome, Strategy};

use super::{NOTE, at_gate, refusal, shown, told};
use crate::stage::{Stage, engine_on, events, view};

const FIRST: &str = "```repl\nsaid = llm_query('first? ' + context)\nprint(said)\n```";
const SECOND: &str = "```repl\nmore = llm_query_batched(['second?', 'third?'])\nprint([type(item).__name__ for item in more])\n```";
const LAST: &str = "```repl\nFINAL(said + ' ' + ' '.join(more))\n```";

/// The reply of a model that is asked to conclude.
fn concluding() -> Rule {
    when(|prompt| prompt.contains("The budget is used up.")).reply("I could only see a part.").usage(100, 10)
}

fn explorer(rules: impl IntoIterator<Item = Rule>) -> Stage {
    let mut stage = Stage::new(&NOTE, [concluding()].into_iter().chain(rules));
    stage.strategy = Strategy::Repl;
    stage
}

/// Two sub-calls of a batch are refused, and the model is asked to conclude.
fn with_a_batch() -> Stage {
    let mut stage = explorer([
        on("0#0").reply(FIRST).usage(100, 10),
        on("0#1").reply("one").usage(100, 10),
        on("0#2").reply(SECOND).usage(100, 10),
        on("0#3").reply("two").usage(100, 10),
        on("0#4").reply("three").usage(100, 10),
        on("0#5").reply(LAST).usage(100, 10),
    ]);
    stage.limits.calls_max = 4;
    stage.limits.calls_parallel_max = 1;
    stage
}

fn partial(result: &RunResult, stopped_by: ErrorCode) {
    assert_eq!(result.outcome, RunOutcome::Partial { stopped_by }, "{:?}", result.error);
    assert_eq!(result.answer.as_ref().unwrap().text, "I could only see a part.");
}

fn whole(result: &RunResult, answer: &str) {
    assert_eq!(result.outcome, RunOutcome::Answered, "{:?}", result.error);
    assert_eq!(result.answer.as_ref().unwrap().text, answer);
}

#[tokio::test]
async fn under_a_higher_limit_refused_calls_are_made_and_the_answer_is_whole() {
    let mut stage = with_a_batch();
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let stopped = stage.ask(&engine, "Which numbers?").await;
    partial(&stopped, ErrorCode::CallsExhausted);
    stage.limits.calls_max = 20;
    let resumed = stage.resume(&engine, &stopped.run).unwrap().join().await;
    whole(&resumed, "one two three");
    // Only the call id of the conclusion was used twice: once for that, and once for the turn.
    let received = (0..6).map(|idx| stage.server.times_received(&format!("0#{idx}"))).collect::<Vec<_>>();
    assert_eq!(received, [1, 1, 1, 1, 1, 2]);
    let view = view(&events(&engine, &stopped.run));
    assert_eq!((view.n_paid_calls(), view.spent.tokens()), (7, 770));
    assert_eq!(
        (view.cells[&"0".parse().unwrap()].len(), view.errors.len(), view.limits_reached.len()),
        (3, 0, 0)
    );
    expect![[r#"
        run.started      repl openai/scripted
        source.scanned   documents=1 bytes=24
        frame.opened     0 repl
        call.started     0#0
        call.settled     0#0 replied live tokens=100+10
        call.started     0#1
        call.settled     0#1 replied live tokens=100+10
        cell.ran         0 cell=0 printed calls=1
        call.started     0#2
        call.settled     0#2 replied live tokens=100+10
        call.started     0#3
        limit.reached    calls_max=4
        call.started     0#4
        call.settled     0#3 failed calls-exhausted
        call.settled     0#4 failed calls-exhausted
        cell.ran         0 cell=1 printed calls=2
        limit.reached    calls_max=4
        call.started     0#5
        call.settled     0#5 replied live tokens=100+10
        frame.closed     0 answered partial calls-exhausted
        run.finished     partial calls-exhausted
        run.resumed      bytes_dropped=0 again_from=12
        call.started     0#3
        call.settled     0#3 replied live tokens=100+10
        call.started     0#4
        call.settled     0#4 replied live tokens=100+10
        cell.ran         0 cell=1 printed calls=2
        call.started     0#5
        call.settled     0#5 replied live tokens=100+10
        cell.ran         0 cell=2 answered calls=0
        frame.closed     0 answered uncited
        run.finished     answered"#]]
    .assert_eq(&told(&engine, &stopped.run));
    // The run is finished now.
    assert_eq!(
        refusal(stage.resume(&engine, &stopped.run)).to_string(),
        format!("run `{}` already has its answer", stopped.run.short())
    );
}

#[tokio::test]
async fn an_unchanged_or_lower_limit_is_named_with_the_flag_that_raises_it() {
    let mut stage = with_a_batch();
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let stopped = stage.ask(&engine, "Which numbers?").await;
    let n_events = events(&engine, &stopped.run).len();
    let refused = refusal(stage.resume(&engine, &stopped.run));
    expect![[r"
        calls-exhausted: run `RUN` has a partial answer: call limit reached (4), and the limit is now 4
        hint: continue: `spelunk resume RUN --max-calls 8`"]]
    .assert_eq(&shown(&refused, &stopped.run));
    stage.limits.calls_max = 3;
    assert!(refusal(stage.resume(&engine, &stopped.run)).to_string().ends_with("and the limit is now 3"));
    // A refusal records nothing, and raising another limit does not help.
    stage.limits.tokens_max = u64::MAX;
    refusal(stage.resume(&engine, &stopped.run));
    assert_eq!(events(&engine, &stopped.run).len(), n_events);
}

#[tokio::test]
async fn a_limit_that_is_still_too_low_gives_the_same_partial_answer_for_nothing() {
    let mut stage = with_a_batch();
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let stopped = stage.ask(&engine, "Which numbers?").await;
    let n_requests = stage.server.requests().len();
    stage.limits.calls_max = 5;
    let resumed = stage.resume(&engine, &stopped.run).unwrap().join().await;
    partial(&resumed, ErrorCode::CallsExhausted);
    assert_eq!(stage.server.requests().len(), n_requests);
    stage.limits.calls_max = 20;
    whole(&stage.resume(&engine, &stopped.run).unwrap().join().await, "one two three");
    assert_eq!(view(&events(&engine, &stopped.run)).n_paid_calls(), 7);
}

#[tokio::test]
async fn every_limit_on_money_is_named_and_can_be_raised() {
    let cases: [(&str, u64, ErrorCode, &str); 3] = [
        ("calls_max", 2, ErrorCode::CallsExhausted, "--max-calls 4"),
        ("tokens_max", 12_000, ErrorCode::TokensExhausted, "--max-tokens 24000"),
        ("cost_microusd_max", 12_000, ErrorCode::CostExhausted, "--max-cost 0.024"),
    ];
    for (limit, low, code, flag) in cases {
        let mut stage = explorer([
            on("0#0").reply("```repl\nprint(context)\n```").usage(3_000, 10),
            on("0#1").reply("```repl\nFINAL('42')\n```").usage(100, 10),
        ]);
        assert!(stage.limits.set(limit, low));
        let engine = engine_on(Arc::new(FaultDisk::sound()));
        let stopped = stage.ask(&engine, "Which number?").await;
        partial(&stopped, code);
        let hint = shown(&refusal(stage.resume(&engine, &stopped.run)), &stopped.run);
        assert!(hint.ends_with(&format!("`spelunk resume RUN {flag}`")), "{hint}");
        let default = Limits::default().get(limit).unwrap();
        assert!(stage.limits.set(limit, default));
        whole(&stage.resume(&engine, &stopped.run).unwrap().join().await, "42");
        assert_eq!(stage.server.times_received("0#0"), 1, "{limit}");
    }
}

/// A clock that does not advance by itself.
#[derive(Default)]
struct SetClock(AtomicU64);

impl Clock for SetClock {
    fn now_ms(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[tokio::test]
async fn a_run_out_of_time_continues_when_it_is_given_more() {
    let gate = Gate::new();
    let mut stage = explorer([
        on("0#0").reply("```repl\nprint(context)\n```"),
        on("0#1").reply("```repl\nprint(len(context))\n```").gate(&gate),
        on("0#2").reply("```repl\nFINAL('42')\n```"),
    ]);
    let (engine, run) = with_little_time_left(&stage, &gate).await;
    // Five seconds of a hundred are left, which are reserved for concluding.
    stage.limits.run_ms_max = 100_000;
    partial(&stage.resume(&engine, &run).unwrap().join().await, ErrorCode::TimeExhausted);
    let refused = refusal(stage.resume(&engine, &run));
    expect![[r"
        time-exhausted: run `RUN` has a partial answer: time limit reached (100 s), and the limit is now 100000
        hint: continue: `spelunk resume RUN --max-time 200s`"]]
    .assert_eq(&shown(&refused, &run));
    stage.limits.run_ms_max = 1_000_000;
    whole(&stage.resume(&engine, &run).unwrap().join().await, "42");
}

#[tokio::test]
async fn a_conclusion_for_lack_of_time_is_replayed_with_its_code() {
    let (turn, conclusion) = (Gate::new(), Gate::new());
    let look = "```repl\nprint(context)\n```";
    let rules = [concluding().gate(&conclusion), on("0#0").reply(look), on("0#1").reply(look).gate(&turn)];
    let mut stage = Stage::new(&NOTE, rules);
    stage.strategy = Strategy::Repl;
    let (engine, run) = with_little_time_left(&stage, &turn).await;
    stage.limits.run_ms_max = 100_000;
    let handle = stage.resume(&engine, &run).unwrap();
    at_gate(&conclusion, 1).await;
    handle.abandon().await;
    conclusion.open();
    partial(&stage.resume(&engine, &run).unwrap().join().await, ErrorCode::TimeExhausted);
}

/// A run that waited at the gate for 95 seconds and was cancelled.
async fn with_little_time_left(stage: &Stage, gate: &Gate) -> (Engine, RunId) {
    let clock = Arc::new(SetClock::default());
    let workspace = Workspace::on(Arc::new(FaultDisk::sound()));
    let engine = Engine::new(workspace, Arc::clone(&clock) as Arc<dyn Clock>, ScanOptions::default());
    let handle = stage.start(&engine, "Which number?").unwrap();
    let run = handle.run.clone();
    at_gate(gate, 1).await;
    clock.0.store(95_000, Ordering::Relaxed);
    handle.cancel.cancel();
    assert_eq!(handle.join().await.outcome, RunOutcome::Cancelled);
    gate.open();
    (engine, run)
}

#[tokio::test]
async fn a_limit_that_is_part_of_the_run_is_not_raised_and_says_what_to_do() {
    let turns = when(|prompt| prompt.contains("You have used all your turns.")).reply("Perhaps 42.");
    let mut stage = Stage::new(&NOTE, [turns, on("0#*").reply("```repl\nprint(context)\n```")]);
    stage.strategy = Strategy::Repl;
    stage.limits.turns_max = 1;
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let stopped = stage.ask(&engine, "Which number?").await;
    assert_eq!(stopped.outcome, RunOutcome::Partial { stopped_by: ErrorCode::TurnsExhausted });
    stage.limits.calls_max = u64::MAX;
    let refused = refusal(stage.resume(&engine, &stopped.run));
    expect![[r"
        turns-exhausted: run `RUN` has a partial answer that no higher spending limit can complete: A frame has reached its turn limit.
        hint: `limits.turns_max` is fixed for a run; ask again with `--set limits.turns_max=2`: matching replies are taken from the cache"]]
    .assert_eq(&shown(&refused, &stopped.run));
}

const KINDS: [(&str, &str); 4] = [
    ("a.py", "def alpha():\n    return 1\n"),
    ("b.csv", "name,n\nbeta,2\n"),
    ("c.json", "[{\"gamma\": 3}]\n"),
    ("d.md", "# Delta\n\nWords about delta.\n"),
];

#[tokio::test]
async fn analysts_that_were_refused_work_when_the_limit_is_raised() {
    let shows =
        |name: &'static str| move |prompt: &str| prompt.contains(&format!("<document name=\"{name}\">"));
    let finding = |name: &str| {
        format!(
            r#"[{{"type": "pattern", "summary": "About {name}", "file": "{name}", "line": 1, "evidence": ""}}]"#
        )
    };
    let analysts = KINDS.map(|(name, _)| when(shows(name)).reply(finding(name)));
    let rules = analysts.into_iter().chain([when(|_| true).reply("## Summary\n\nAll of it [F1].")]);
    let mut stage = Stage::new(&KINDS, rules);
    stage.strategy = Strategy::Map;
    stage.limits.calls_max = 4;
    stage.limits.calls_parallel_max = 1;
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let stopped = stage.ask(&engine, "Review it").await;
    assert_eq!(stopped.outcome, RunOutcome::Partial { stopped_by: ErrorCode::CallsExhausted });
    let tasks = view(&events(&engine, &stopped.run)).tasks.unwrap();
    assert_eq!((tasks.planned, tasks.done, tasks.failed), (4, 3, 1));
    stage.limits.calls_max = 50;
    let resumed = stage.resume(&engine, &stopped.run).unwrap().join().await;
    assert_eq!(resumed.outcome, RunOutcome::Answered, "{:?}", resumed.error);
    let text = resumed.answer.unwrap().text;
    for (name, _) in KINDS {
        assert!(text.contains(&format!("About {name}")), "{text}");
        let opening = format!("<document name=\\\"{name}\\\">");
        let n_read = stage.server.requests().iter().filter(|request| request.body.contains(&opening)).count();
        assert_eq!(n_read, 1, "{name} was read once");
    }
    assert!(!text.contains("not covered"), "{text}");
    let view = view(&events(&engine, &stopped.run));
    let tasks = view.tasks.clone().unwrap();
    assert_eq!((tasks.planned, tasks.done, tasks.failed, view.errors.len()), (4, 4, 0, 0));
    let report = spelunk_engine::RunReport::read(engine.workspace(), &stopped.run).unwrap();
    assert_eq!((report.coverage.tasks_done, report.coverage.failed.len(), report.errors.len()), (4, 0, 0));
}

#[tokio::test]
async fn an_agent_continues_at_the_desk_it_had_before_the_refusal() {
    let batch = r#"{"prompts": ["one?", "two?", "three?"], "save_to": "scratch/said.jsonl"}"#;
    let write =
        r#"{"command": "wc -l < scratch/said.jsonl > output/answer.md; echo done >> scratch/log.txt"}"#;
    let mut stage = Stage::new(
        &NOTE,
        [
            concluding(),
            on("0#0")
                .reply("")
                .tool_call("LlmBatch", batch)
                .tool_call("Shell", r#"{"command": "echo asked >> scratch/log.txt"}"#),
            on("0#1").reply("first"),
            on("0#2").reply("second"),
            on("0#3").reply("third"),
            on("0#4").reply("").tool_call("Shell", write),
            on("0#5").reply("").tool_call("Finish", "{}"),
            on("0#6").reply("").tool_call("Finish", "{}"),
        ],
    );
    stage.strategy = Strategy::Agent;
    stage.limits.calls_max = 4;
    stage.limits.calls_parallel_max = 1;
    let directory = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(directory.path()).unwrap();
    let engine = Engine::new(workspace, Arc::new(spelunk_engine::SystemClock), ScanOptions::default());
    let stopped = stage.ask(&engine, "How many replies?").await;
    partial(&stopped, ErrorCode::CallsExhausted);
    stage.limits.calls_max = 20;
    let resumed = stage.resume(&engine, &stopped.run).unwrap().join().await;
    whole(&resumed, "3");
    assert_eq!([1, 2, 3].map(|idx| stage.server.times_received(&format!("0#{idx}"))), [1, 1, 1]);
    let home = tempfile::tempdir().unwrap();
    Projection::rebuild(engine.workspace(), &stopped.run, DerivedFiles::within(home.path())).unwrap();
    let read = |name: &str| std::fs::read_to_string(home.path().join(name)).unwrap();
    assert_eq!(read("scratch/log.txt"), "asked\ndone\n");
    assert_eq!(read("final_answer.md"), "3\n");
}
