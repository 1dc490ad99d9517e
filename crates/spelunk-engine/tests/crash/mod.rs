//! Crash at every write: the disk dies at its n-th write, for every n, once leaving a torn tail and once losing
//! everything that was not synced, in both modes of syncing. Another process resumes, and the result is the same as
//! without a crash.

mod images;
mod tools;

use std::collections::BTreeSet;
use std::sync::Arc;

use spelunk_journal::SyncMode;
use spelunk_testkit::{Crash, FaultDisk, Rule, facts, on, status, when};
use spelunk_types::{Event, EventKind, RunOutcome, Strategy, Usage};

use crate::stage::{Stage, engine_in, engine_on, events, only_run, survey, view};

const FILES: [(&str, &str); 3] =
    [("a.md", "Alpha is first.\n"), ("b.md", "Beta is broken.\n"), ("c.md", "Gamma is third.\n")];
const PARALLEL_MAX: u64 = 4;

/// What the disk does, and what the engine expects of it.
#[derive(Debug, Clone, Copy)]
struct Blow {
    mode: SyncMode,
    /// The write at which the disk dies.
    n: u64,
    crash: Crash,
}

impl Blow {
    /// Every way to die at the n-th write. A torn tail is the same in both modes.
    fn all(n: u64) -> [Self; 3] {
        let blow = |mode, crash| Self { mode, n, crash };
        [
            blow(SyncMode::Process, Crash::Torn),
            blow(SyncMode::Process, Crash::LostTail),
            blow(SyncMode::Power, Crash::LostTail),
        ]
    }

    /// Whether replies may be lost that were used already.
    fn may_lose_replies(self) -> bool {
        self.mode == SyncMode::Process && self.crash == Crash::LostTail
    }
}

/// A run that is crashed at every write.
struct Scenario {
    stage: fn() -> Stage,
    answer: &'static str,
    /// Calls that are answered, each of which may be paid for once.
    calls: &'static [&'static str],
    spent: Usage,
}

const SURVEY: Scenario = Scenario {
    stage,
    answer: "Alpha and Gamma.",
    calls: &["0.0#0", "0.2#0", "0#0", "0#2"],
    spent: Usage {
        input_tokens: 412,
        cached_tokens: 0,
        cache_written_tokens: 0,
        output_tokens: 52,
        cost_microusd: 464,
    },
};

/// The recursive loop: sub-calls in a loop, a batch with a failure, a child, a block that fails half-way, and one
/// that hits its limit.
const LOOP: Scenario = Scenario {
    stage: loop_stage,
    answer: "Alpha, Beta, Gamma",
    calls: &["0#0", "0#1", "0#2", "0#3", "0#5", "0.0#0", "0#6", "0#7"],
    spent: Usage {
        input_tokens: 800,
        cached_tokens: 0,
        cache_written_tokens: 0,
        output_tokens: 80,
        cost_microusd: 880,
    },
};

/// An agent: file tools, the shell, a script with a sub-call and one that hits its limit, a batch with a failure, and
/// an answer that is sent back once.
const AGENT: Scenario = Scenario {
    stage: agent_stage,
    answer: "Alpha, Gamma",
    calls: &["0#0", "0#1", "0#2", "0#4", "0#5", "0#6", "0#7"],
    spent: Usage {
        input_tokens: 700,
        cached_tokens: 0,
        cache_written_tokens: 0,
        output_tokens: 70,
        cost_microusd: 770,
    },
};

const AGENT_SCRIPT: &str = r#"{"name": "first", "code": "from tools.llm_client import LLMClient\nsaid = LLMClient().call('name ' + open('input/contexts/a.md').read()).content\nopen('scratch/said.txt', 'w').write(said)\nprint(said)"}"#;
const AGENT_ENDLESS: &str = r#"{"name": "endless", "code": "open('scratch/said.txt', 'w').write('lost')\nsaid = ''\nwhile True:\n    pass"}"#;

fn agent_stage() -> Stage {
    let answer = r#"{"name": "last", "code": "open('output/answer.md', 'w').write(said + ', ' + open('scratch/more.jsonl').read().split('content\":\"')[2][:5])"}"#;
    let batch = r#"{"prompt": "Name it.", "paths": ["input/contexts/b.md", "input/contexts/c.md"], "save_to": "scratch/more.jsonl"}"#;
    let rules = [
        on("0#0")
            .reply("I look.")
            .tool_call("Grep", r#"{"pattern": "is"}"#)
            .tool_call(
                "Shell",
                r#"{"command": "cat input/contexts/*.md | sort > scratch/all.txt; wc -l scratch/all.txt"}"#,
            )
            .tool_call("RunScript", AGENT_SCRIPT)
            .usage(100, 10),
        on("0#1").reply("Alpha").usage(100, 10),
        on("0#2").reply("").tool_call("LlmBatch", batch).usage(100, 10),
        on("0#3").always(status(400)),
        on("0#4").reply("Gamma").usage(100, 10),
        on("0#5")
            .reply("")
            .tool_call("RunScript", AGENT_ENDLESS)
            .tool_call("RunScript", answer)
            .usage(100, 10),
        on("0#6").reply("").tool_call("Finish", "{}").usage(100, 10),
        on("0#7").reply("").tool_call("Finish", "{}").usage(100, 10),
    ];
    let mut stage = Stage::new(&FILES, rules);
    stage.limits.calls_parallel_max = PARALLEL_MAX;
    stage.limits.cell_ms_max = 250;
    stage.limits.inline_chars_max = 10;
    stage.strategy = Strategy::Agent;
    stage
}

/// Analysts on three parts, one of which needs a correction, a synthesis per kind and one across them.
const MAP: Scenario = Scenario {
    stage: map_stage,
    answer: MAP_REPORT,
    calls: &["0.0#0", "0.1#0", "0.1#1", "0.2#0", "0.3#0", "0.4#0"],
    spent: Usage {
        input_tokens: 600,
        cached_tokens: 0,
        cache_written_tokens: 0,
        output_tokens: 60,
        cost_microusd: 660,
    },
};

const MAP_REPORT: &str = "## Summary

Beta is broken (b.md:1).

## Per-File Findings

### b.md (prose)

- **high** error, line 1: Beta is broken — “Beta is broken”

### d.csv (structured_data)

- anomaly, line 2: Delta is odd — “delta”

## Coverage

- 4 documents, read in 2 tasks";

fn map_stage() -> Stage {
    let broken = r#"{"findings": [{"type": "error", "summary": "Beta is broken", "file": "b.md", "line": 1, "evidence": "Beta is broken", "severity": "high"}]}"#;
    let odd = r#"[{"type": "anomaly", "summary": "Delta is odd", "line": 2, "evidence": "delta"}]"#;
    let rules = [
        on("0.1#0").reply("no JSON").usage(100, 10),
        on("0.1#1").reply(odd).usage(100, 10),
        on("0.0#0").fault(status(429).retry_after_ms(1)).reply(broken).usage(100, 10),
        on("0.2#0").reply("## Summary\n\nProse.").usage(100, 10),
        on("0.3#0").reply("## Summary\n\nData.").usage(100, 10),
        on("0.4#0").reply("## Summary\n\nBeta is broken [F1].").usage(100, 10),
    ];
    let files = [FILES[0], FILES[1], FILES[2], ("d.csv", "name,n\ndelta,4\n")];
    let mut stage = Stage::new(&files, rules);
    stage.limits.calls_parallel_max = PARALLEL_MAX;
    stage.strategy = Strategy::Map;
    stage
}

const ASKING: &str = "```repl
said = []
for name in context:
    said.append(llm_query('name ' + context[name]))
    if len(said) == 2:
        break
print(said, budget()['depth'])
```";
const DESCENDING: &str = "```repl
more = llm_query_batched(['bad', 'good'])
print([type(item).__name__ for item in more])
said.append(rlm_query('third?', context='c.md'))
print(missing)
```";
const ENDLESS: &str = "```repl
said.clear()
while True:
    pass
```";

fn loop_stage() -> Stage {
    let rules = [
        on("0#0").reply(ASKING).usage(100, 10),
        on("0#1").reply("Alpha").usage(100, 10),
        on("0#2").reply("Beta").usage(100, 10),
        on("0#3").reply(DESCENDING).usage(100, 10),
        on("0#4").always(status(400)),
        on("0#5").reply("good").usage(100, 10),
        on("0.0#0").reply("```repl\nFINAL(context.split()[0])\n```").usage(100, 10),
        on("0#6").reply(ENDLESS).usage(100, 10),
        on("0#7").reply("```repl\nFINAL(', '.join(said))\n```").usage(100, 10),
    ];
    let mut stage = Stage::new(&FILES, rules);
    stage.limits.calls_parallel_max = PARALLEL_MAX;
    stage.limits.cell_ms_max = 250;
    stage.strategy = Strategy::Repl;
    stage
}

/// One document's child and one of two parallel calls fail permanently; a third call is tried twice.
fn script() -> Vec<Rule> {
    vec![
        // Longer than fits in a line of the journal, so that blobs are written, too.
        on("0.0#0").reply(format!("Alpha. {}", "x".repeat(3_000))).usage(100, 10),
        on("0.1#0").always(status(400)),
        on("0.2#0").fault(status(429).retry_after_ms(1)).reply("Gamma.").usage(300, 30),
        on("0#0").reply("one!").usage(5, 5),
        on("0#1").always(status(400)),
        on("0#2").reply("Alpha and Gamma.").usage(7, 7),
    ]
}

fn stage() -> Stage {
    let mut stage = Stage::new(&FILES, script());
    stage.limits.calls_parallel_max = PARALLEL_MAX;
    stage.program = Some(survey());
    stage
}

/// Events that must not depend on crashes. Attempts, resumptions and reports about them do; the order of parallel
/// events is arbitrary.
fn lasting_facts(events: &[Event]) -> BTreeSet<String> {
    let on_the_way = |event: &&Event| {
        !matches!(
            event.kind,
            EventKind::RunResumed { .. }
                | EventKind::CallRetried { .. }
                | EventKind::CallWasted { .. }
                | EventKind::WarningRaised { .. }
                // Every request lost in a crash reduces the remaining budget.
                | EventKind::ValueObserved { .. }
        )
    };
    facts(events.iter().filter(on_the_way)).into_iter().collect()
}

#[tokio::test]
async fn a_run_without_a_crash_has_these_facts() {
    let stage = stage();
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = stage.ask(&engine, "What is there?").await;
    assert_eq!(result.answer.unwrap().text, "Alpha and Gamma.");
    let lines: Vec<String> = lasting_facts(&events(&engine, &result.run)).into_iter().collect();
    expect_test::expect![[r"
        call.settled     0#0 replied live tokens=5+5
        call.settled     0#1 failed model-request-refused
        call.settled     0#2 replied live tokens=7+7
        call.settled     0.0#0 replied live tokens=100+10
        call.settled     0.2#0 replied live tokens=300+30
        call.started     0#0
        call.started     0#1
        call.started     0#2
        call.started     0.0#0
        call.started     0.1#0
        call.started     0.2#0
        frame.closed     0 answered uncited
        frame.closed     0.0 answered uncited
        frame.closed     0.1 failed model-request-refused
        frame.closed     0.2 answered uncited
        frame.opened     0 program
        frame.opened     0.0 direct
        frame.opened     0.1 direct
        frame.opened     0.2 direct
        passages.chosen  0.0 documents=1 bytes=16 of=16
        passages.chosen  0.1 documents=1 bytes=16 of=16
        passages.chosen  0.2 documents=1 bytes=16 of=16
        run.finished     answered
        run.started      program openai/scripted
        source.scanned   documents=3 bytes=48"]]
    .assert_eq(&lines.join("\n"));
}

#[tokio::test]
async fn a_crash_at_every_write_resumes_to_the_same_answer_facts_and_spend() {
    crash_everywhere(&SURVEY).await;
}

#[tokio::test]
async fn a_crash_at_every_write_of_the_recursive_loop_resumes_inside_its_blocks() {
    crash_everywhere(&LOOP).await;
}

#[tokio::test]
async fn a_crash_at_every_write_of_a_fan_out_resumes_to_the_same_report() {
    crash_everywhere(&MAP).await;
}

#[tokio::test]
async fn a_crash_at_every_write_of_an_agent_resumes_at_the_same_desk() {
    crash_everywhere(&AGENT).await;
}

/// A run that stopped at a limit with a partial answer, to be resumed under a higher one.
struct Raised {
    stage: fn() -> Stage,
    answer: &'static str,
    /// How often each call is answered, under both limits together: the call id of a conclusion is used twice.
    calls: &'static [(&'static str, u64)],
}

const RAISED_LOOP: Raised = Raised {
    stage: raised_loop_stage,
    answer: "Alpha Beta Gamma",
    calls: &[("0#0", 1), ("0#1", 1), ("0#2", 1), ("0#3", 1), ("0#4", 1), ("0#5", 2)],
};

/// Sub-calls are refused, and the model is asked to conclude.
fn raised_loop_stage() -> Stage {
    let asking =
        "```repl\nsaid = llm_query('first? ' + context['a.md'])\nprint(said, budget()['depth'])\n```";
    let more =
        "```repl\nmore = llm_query_batched(['second?', 'third?'])\nprint(len(more), budget()['depth'])\n```";
    let rules = [
        when(|prompt| prompt.contains("The budget is used up.")).reply("A part.").usage(100, 10),
        on("0#0").reply(asking).usage(100, 10),
        on("0#1").reply("Alpha").usage(100, 10),
        on("0#2").reply(more).usage(100, 10),
        on("0#3").reply("Beta").usage(100, 10),
        on("0#4").reply("Gamma").usage(100, 10),
        on("0#5").reply("```repl\nFINAL(said + ' ' + ' '.join(more))\n```").usage(100, 10),
    ];
    let mut stage = Stage::new(&FILES, rules);
    stage.limits.calls_max = 4;
    stage.limits.calls_parallel_max = 1;
    stage.strategy = Strategy::Repl;
    stage
}

const RAISED_MAP: Raised = Raised {
    stage: raised_map_stage,
    answer: MAP_REPORT,
    calls: &[("0.0#0", 1), ("0.1#0", 1), ("0.1#1", 1)],
};

/// The findings exist, but the budget is exhausted before the synthesis.
fn raised_map_stage() -> Stage {
    let mut stage = map_stage();
    stage.limits.calls_max = 4;
    stage.limits.calls_parallel_max = 1;
    stage
}

#[tokio::test]
async fn a_crash_at_every_write_under_a_raised_limit_resumes_to_the_whole_answer_of_the_loop() {
    crash_everywhere_raised(&RAISED_LOOP).await;
}

#[tokio::test]
async fn a_crash_at_every_write_under_a_raised_limit_resumes_to_the_whole_report_of_a_fan_out() {
    crash_everywhere_raised(&RAISED_MAP).await;
}

async fn crash_everywhere_raised(raised: &Raised) {
    let mut n_resumed = 0;
    for n in 1.. {
        let mut has_died = false;
        for blow in Blow::all(n) {
            let died = crash_raised(raised, blow).await;
            has_died |= died;
            n_resumed += u32::from(died);
        }
        if !has_died {
            break;
        }
    }
    assert!(n_resumed > 10, "{n_resumed} runs were resumed");
}

/// Whether the disk died at its n-th write under the raised limit.
async fn crash_raised(raised: &Raised, blow: Blow) -> bool {
    let mut stage = (raised.stage)();
    let first = Arc::new(FaultDisk::sound());
    let stopped = stage.ask(&engine_on(first.clone()), "What is there?").await;
    assert!(matches!(stopped.outcome, RunOutcome::Partial { .. }), "{:?}", stopped.outcome);
    assert!(stopped.answer.is_some());
    let run = stopped.run;
    stage.limits.calls_max = 50;
    let dying = FaultDisk::sound();
    for (name, bytes) in first.files() {
        dying.put(&name, &bytes);
    }
    let dying = Arc::new(dying.dying_at(blow.n));
    let started = match stage.resume(&engine_in(blow.mode, dying.clone()), &run) {
        Ok(handle) => Some(handle.join().await),
        Err(_) => None,
    };
    let engine = engine_in(blow.mode, Arc::new(dying.after(blow.crash)));
    let survived = events(&engine, &run);
    let answer = if view(&survived).outcome == Some(RunOutcome::Answered) {
        started.and_then(|result| result.answer)
    } else {
        stage.resume(&engine, &run).unwrap_or_else(|error| panic!("{blow:?}: {error}")).join().await.answer
    };
    let answer = answer.map(|answer| answer.text);
    assert!(answer.is_none() || answer.as_deref() == Some(raised.answer), "{blow:?}: {answer:?}");
    let end = view(&events(&engine, &run));
    assert_eq!(end.outcome, Some(RunOutcome::Answered), "{blow:?}");
    // A reply that survived is not requested again; of the others, at most the one in flight is, and those that were not
    // synced.
    let mut n_repeated = 0;
    for &(call, times) in raised.calls {
        let served = stage.server.times_served(call);
        assert!(served >= times, "{blow:?}: {call} was answered {served} times");
        n_repeated += served - times;
    }
    assert!(n_repeated <= 1 || blow.may_lose_replies(), "{blow:?}: {n_repeated} requests were repeated");
    assert_eq!(stage.server.unexpected().len(), 0, "{blow:?}");
    dying.is_dead()
}

async fn crash_everywhere(scenario: &Scenario) {
    let reference = (scenario.stage)();
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = reference.ask(&engine, "What is there?").await;
    assert_eq!(result.answer.map(|answer| answer.text).as_deref(), Some(scenario.answer));
    let expected = events(&engine, &result.run);
    let mut n = 1;
    let mut n_resumed = 0;
    loop {
        let mut has_died = false;
        for blow in Blow::all(n) {
            let crashed = crash_and_resume(scenario, blow, &expected).await;
            has_died |= crashed.has_died;
            n_resumed += u32::from(crashed.was_resumed);
        }
        if !has_died {
            break;
        }
        n += 1;
    }
    assert!(n > 15 && n_resumed > 20, "the disk died {n} times, {n_resumed} runs were resumed");
}

struct Crashed {
    has_died: bool,
    was_resumed: bool,
}

async fn crash_and_resume(scenario: &Scenario, blow: Blow, expected: &[Event]) -> Crashed {
    let stage = (scenario.stage)();
    let dying = Arc::new(FaultDisk::sound().dying_at(blow.n));
    let engine = engine_in(blow.mode, dying.clone());
    let started = match stage.start(&engine, "What is there?") {
        Ok(handle) => Some(handle.join().await),
        Err(_) => None,
    };
    if !dying.is_dead() {
        return Crashed { has_died: false, was_resumed: false };
    }
    let disk = Arc::new(dying.after(blow.crash));
    let engine = engine_in(blow.mode, disk.clone());
    let run = only_run(&disk.files()).filter(|run| !events(&engine, run).is_empty());
    let Some(run) = run else {
        assert!(started.is_none() || blow.may_lose_replies(), "{blow:?}: an acknowledged start was lost");
        return Crashed { has_died: true, was_resumed: false };
    };
    let survived = events(&engine, &run);
    let was_answered = view(&survived).outcome == Some(RunOutcome::Answered);
    if was_answered {
        assert_eq!(lasting_facts(&survived), lasting_facts(expected), "{blow:?}");
        return Crashed { has_died: true, was_resumed: false };
    }
    let result = stage.resume(&engine, &run).unwrap().join().await;
    let answer = result.answer.unwrap_or_else(|| panic!("{blow:?}: {:?}", result.error));
    assert_eq!(answer.text, scenario.answer, "{blow:?}");
    let resumed = events(&engine, &run);
    assert_eq!(lasting_facts(&resumed), lasting_facts(expected), "{blow:?}");
    let lost = wasted(&resumed);
    assert_eq!(view(&resumed).spent, scenario.spent.plus(lost), "{blow:?}");
    let (n_counted, n_sent) = (view(&resumed).n_paid_calls(), stage.server.requests().len() as u64);
    // A disk that loses unsynced writes may lose the record that a request was sent.
    assert!(n_counted >= n_sent || blow.crash == Crash::LostTail, "{blow:?}: {n_counted} of {n_sent}");
    check_requests(scenario, &stage, &survived, blow);
    Crashed { has_died: true, was_resumed: true }
}

/// The charge for requests without an end when the process died.
fn wasted(events: &[Event]) -> Usage {
    let of_event = |event: &Event| {
        let EventKind::CallWasted { usage, .. } = &event.kind else { return None };
        Some(*usage)
    };
    events.iter().filter_map(of_event).fold(Usage::default(), Usage::plus)
}

/// A reply that survived is never requested again; besides those that were not synced, at most the calls in flight are.
fn check_requests(scenario: &Scenario, stage: &Stage, survived: &[Event], blow: Blow) {
    let mut n_repeated = 0;
    for &call in scenario.calls {
        let served = stage.server.times_served(call);
        n_repeated += served.saturating_sub(1);
        let is_settled = survived.iter().any(|event| {
            matches!(&event.kind, EventKind::CallSettled { call: settled, .. } if settled.to_string() == call)
        });
        assert!(!is_settled || served == 1, "{blow:?}: {call} was paid {served} times");
    }
    assert!(
        n_repeated <= PARALLEL_MAX || blow.may_lose_replies(),
        "{blow:?}: {n_repeated} requests were repeated"
    );
    assert_eq!(stage.server.unexpected().len(), 0, "{blow:?}");
}
