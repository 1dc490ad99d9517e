//! A run that did not end with an answer continues where it stopped.

use std::sync::Arc;

use expect_test::expect;
use spelunk_engine::{RunRequest, Task};
use spelunk_testkit::{FaultDisk, Gate, Rule, on, status};
use spelunk_types::{EventKind, RunOutcome, SourceSpec, Strategy, Text};

use super::{NOTE, answer, ask_in_turn, at_gate, cited, program, prompt, refusal, shown, told};
use crate::stage::{Stage, engine_on, events, model, view};

/// Fails until the attempts of one run are used up; answers the next run.
fn after_an_outage(call: &str) -> Rule {
    let outage = || status(500);
    on(call).fault(outage()).fault(outage()).fault(outage()).fault(outage())
}

#[tokio::test]
async fn a_run_that_failed_asks_again_and_answers() {
    let stage = Stage::new(&NOTE, [after_an_outage("0#0").reply("42.").usage(10, 2)]);
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let failed = stage.ask(&engine, "Which number?").await;
    assert_eq!(failed.answer, None);
    let resumed = stage.resume(&engine, &failed.run).unwrap().join().await;
    assert_eq!(resumed.answer, Some(cited("42.", "a.md")));
    expect![[r#"
        run.started      direct openai/scripted
        source.scanned   documents=1 bytes=24
        frame.opened     0 direct
        passages.chosen  0 documents=1 bytes=24 of=24
        call.started     0#0
        call.retried     0#0 attempt=1 model-server-error
        call.retried     0#0 attempt=2 model-server-error
        call.retried     0#0 attempt=3 model-server-error
        run.finished     failed model-server-error
        run.resumed      bytes_dropped=0
        call.started     0#0
        call.settled     0#0 replied live tokens=10+2
        frame.closed     0 answered cited=1
        run.finished     answered"#]]
    .assert_eq(&told(&engine, &failed.run));
    assert_eq!(stage.server.times_received("0#0"), 5);
}

#[tokio::test]
async fn a_failure_the_strategy_lived_with_is_not_asked_again() {
    // The first call would succeed now, but the strategy has continued knowing that it failed.
    let rules =
        [after_an_outage("0#0").reply("too late"), after_an_outage("0#1").reply("nothing first").usage(1, 1)];
    let mut stage = Stage::new(&NOTE, rules);
    stage.program = Some(program(|frame, _| async move {
        let first =
            frame.ask(prompt("first")).await.map_or_else(|_| "nothing".to_owned(), |reply| reply.text);
        Ok(answer(frame.ask(prompt(&first)).await?.text))
    }));
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let failed = stage.ask(&engine, "").await;
    let resumed = stage.resume(&engine, &failed.run).unwrap().join().await;
    assert_eq!(resumed.answer, Some(answer("nothing first")));
    expect![[r"
        run.started      program openai/scripted
        source.scanned   documents=1 bytes=24
        frame.opened     0 program
        call.started     0#0
        call.retried     0#0 attempt=1 model-server-error
        call.retried     0#0 attempt=2 model-server-error
        call.retried     0#0 attempt=3 model-server-error
        call.settled     0#0 failed model-server-error
        call.started     0#1
        call.retried     0#1 attempt=1 model-server-error
        call.retried     0#1 attempt=2 model-server-error
        call.retried     0#1 attempt=3 model-server-error
        run.finished     failed model-server-error
        run.resumed      bytes_dropped=0
        call.started     0#1
        call.settled     0#1 replied live tokens=1+1
        frame.closed     0 answered uncited
        run.finished     answered"]]
    .assert_eq(&told(&engine, &failed.run));
    assert_eq!(stage.server.times_received("0#0"), 4);
}

#[tokio::test]
async fn a_resumed_program_reads_a_failure_in_the_same_words() {
    let rules = [
        on("0#0").always(status(400)),
        on("0.0#0").always(status(400)),
        after_an_outage("0#1").reply("done"),
    ];
    let mut stage = Stage::new(&NOTE, rules);
    // The message of a failure becomes part of the next prompt; a different message would change the prompt.
    stage.program = Some(program(|frame, task| async move {
        let call = frame.ask(prompt("first")).await.unwrap_err();
        let child = frame.descend(Task { strategy: Strategy::Direct, ..task }).await.unwrap_err();
        Ok(answer(frame.ask(prompt(&format!("{call}\n{child}"))).await?.text))
    }));
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let failed = stage.ask(&engine, "Which number?").await;
    let resumed = stage.resume(&engine, &failed.run).unwrap().join().await;
    assert_eq!(resumed.error.map(|error| error.to_string()), None);
    assert_eq!(resumed.answer, Some(answer("done")));
    let asked = stage.server.requests().last().unwrap().prompt();
    expect![[r"
        Say it.
        call `0#0` failed: the provider rejected the request with status 400: scripted status 400
        frame `0.0` failed: call `0.0#0` failed: the provider rejected the request with status 400: scripted status 400"]]
    .assert_eq(&asked);
}

#[tokio::test]
async fn raised_spending_limits_let_a_stopped_run_go_on() {
    let mut stage = Stage::new(&NOTE, [on("0#0").reply("one"), on("0#1").reply("two")]);
    stage.program = Some(ask_in_turn(&["first", "second"]));
    stage.limits.calls_max = 1;
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let stopped = stage.ask(&engine, "").await;
    assert_eq!(stopped.outcome, RunOutcome::Partial { stopped_by: spelunk_types::ErrorCode::CallsExhausted });
    stage.limits.calls_max = 2;
    let resumed = stage.resume(&engine, &stopped.run).unwrap().join().await;
    assert_eq!((resumed.outcome, resumed.answer), (RunOutcome::Answered, Some(answer("one two"))));
    assert_eq!((stage.server.times_received("0#0"), stage.server.times_received("0#1")), (1, 1));
    // Both calls count against the raised limit: the first was paid for by the previous process.
    assert_eq!(view(&events(&engine, &stopped.run)).n_paid_calls(), 2);
}

#[tokio::test]
async fn calls_of_the_process_before_count_against_the_limit() {
    let mut stage = Stage::new(&NOTE, [on("0#0").reply("one")]);
    stage.program = Some(ask_in_turn(&["first", "second"]));
    stage.limits.calls_max = 1;
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let stopped = stage.ask(&engine, "").await;
    let again = stage.resume(&engine, &stopped.run).unwrap().join().await;
    assert_eq!(again.outcome, RunOutcome::Partial { stopped_by: spelunk_types::ErrorCode::CallsExhausted });
    assert_eq!(stage.server.requests().len(), 1);
}

#[tokio::test]
async fn text_that_came_with_the_request_survives_a_resume() {
    let long = "The magic number is 42. ".repeat(500);
    let latin1 = b"The number is forty-tw\xf6 \xe0 la carte.";
    let cases: [&[u8]; 3] = [b"The magic number is 42.", long.as_bytes(), latin1];
    for bytes in cases {
        let stage = Stage::new(&[], [after_an_outage("0#0").reply("42.")]);
        let engine = engine_on(Arc::new(FaultDisk::sound()));
        let sources = vec![engine.keep_text("stdin", bytes).unwrap()];
        let corpus = engine.open_corpus(&sources, &mut |_| {}).unwrap();
        let request = RunRequest {
            question: "Which number?".into(),
            corpus,
            sources,
            strategy: Strategy::Direct,
            model: model(&stage.server.base_url()),
            sub_model: None,
            synthesis_model: None,
            schema: None,
            turn: None,
            focus: spelunk_types::Focus::General,
            settings: stage.settings(),
            program: None,
        };
        let failed = engine.start(request).unwrap().join().await;
        assert_eq!(failed.answer, None);
        let resumed = stage.resume(&engine, &failed.run).unwrap().join().await;
        assert_eq!(resumed.answer.unwrap().text, "42.");
        let requests = stage.server.requests();
        assert_eq!(requests.len(), 5);
        assert_eq!(requests[0].body, requests[4].body);
        let line = String::from_utf8_lossy(bytes);
        let shown = format!("<document name=\"stdin\">\n1| {line}\n</document>\n");
        assert_eq!(requests[4].prompt().matches(&shown).count(), 1, "{}", requests[4].prompt());
    }
}

#[tokio::test]
async fn a_resume_whose_kept_text_is_gone_names_the_blob() {
    let stage = Stage::new(&[], [on("0#0").always(status(400))]);
    let disk = Arc::new(FaultDisk::sound());
    let engine = engine_on(disk.clone());
    let sources = vec![engine.keep_text("stdin", "long text ".repeat(500).as_bytes()).unwrap()];
    let SourceSpec::Text { content, .. } = &sources[0] else { panic!("{sources:?}") };
    let blob = content.blob().unwrap().clone();
    let corpus = engine.open_corpus(&sources, &mut |_| {}).unwrap();
    let (model, settings) = (model(&stage.server.base_url()), stage.settings());
    let (question, strategy) = ("Which number?".to_owned(), Strategy::Direct);
    let request = RunRequest {
        question,
        corpus,
        sources,
        strategy,
        model,
        sub_model: None,
        synthesis_model: None,
        schema: None,
        turn: None,
        focus: spelunk_types::Focus::General,
        settings,
        program: None,
    };
    let failed = engine.start(request).unwrap().join().await;
    let bereft = FaultDisk::sound();
    for (name, bytes) in disk.files().iter().filter(|(name, _)| !name.ends_with(&blob.to_string())) {
        bereft.put(name, bytes);
    }
    let refused = refusal(stage.resume(&engine_on(Arc::new(bereft)), &failed.run));
    expect![[r"
        blob-damaged: could not read the text that came with the request
        caused by: blob `BLOB` is missing
        hint: restore the workspace from a backup, or ask again"]]
    .assert_eq(&shown(&refused, &failed.run).replace(&blob.to_string(), "BLOB"));
}

#[tokio::test]
async fn a_cell_that_ends_otherwise_than_recorded_is_named() {
    let gate = Gate::new();
    let rules = [
        on("0#0").reply("```repl\nprint(len(context))\n```"),
        on("0#1").reply("```repl\nFINAL(context[:3])\n```").gate(&gate),
    ];
    let mut stage = Stage::new(&NOTE, rules);
    stage.strategy = Strategy::Repl;
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let handle = stage.start(&engine, "Which number?").unwrap();
    let run = handle.run.clone();
    at_gate(&gate, 1).await;
    handle.abandon().await;
    gate.open();
    let resume_with = async |interpreter_of_start: Option<u32>| {
        // The same journal, except for the recorded output of the cell.
        let mut facts = Vec::new();
        for mut event in events(&engine, &run) {
            if let EventKind::CellRan { output, .. } = &mut event.kind {
                *output = Text::Inline { text: "25\n".into() };
            } else if let EventKind::RunStarted { interpreter, .. } = &mut event.kind {
                *interpreter = interpreter_of_start.unwrap_or(*interpreter);
            }
            facts.push((event.frame, event.kind));
        }
        let other = engine_on(Arc::new(FaultDisk::sound()));
        other.workspace().create_journal(&run).append(0, facts).unwrap();
        let resumed = stage.resume(&other, &run).unwrap().join().await;
        shown(&resumed.error.unwrap(), &run)
    };
    expect![[r#"
        replay-diverged: cell 0 of frame `0` ended differently from what the journal recorded
        hint: this is a bug: please report it and attach the run's journal"#]]
    .assert_eq(&resume_with(None).await);
    // A journal from before the version was recorded.
    expect![[r"
        settings-changed: cell 0 of frame `0` ended differently from what the journal recorded: the run was started with another version of the Python interpreter
        hint: ask again: matching replies are taken from the cache"]]
    .assert_eq(&resume_with(Some(0)).await);
}
