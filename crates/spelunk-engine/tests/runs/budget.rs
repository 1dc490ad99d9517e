//! One budget for the whole tree: reservations before sending bound what is sent, whatever happens concurrently.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use expect_test::expect;
use futures_util::future::try_join;
use spelunk_engine::{NamedModels, RunResult};
use spelunk_model::{Model, ModelOptions, OpenAiModel};
use spelunk_testkit::{Fault, FaultDisk, Gate, on, status};
use spelunk_types::{ErrorCode, Explain as _, Limits, RunOutcome, Strategy, Usage};

use super::disk::MoodyDisk;
use super::tree::open_children;
use super::{NOTE, answer, ask_at_once, ask_in_turn, at_gate, program, prompt, refusal, shown, told};
use crate::stage::{Stage, engine_on, events, survey, view};

/// What one `prompt("call 00")` reserves: 4 + 3 tokens of text and 50 of reply, at a micro-dollar each.
const ESTIMATE: u64 = 57;

/// Fifty calls at once under these limits. None is answered before all have requested a reservation.
async fn fifty_at_once(limit: impl Fn(&mut Limits)) -> (Stage, RunResult) {
    let gate = Gate::new();
    let mut stage = Stage::new(&NOTE, [on("0#*").gate(&gate).reply("yes").usage(10, 10)]);
    stage.limits.calls_parallel_max = 50;
    limit(&mut stage.limits);
    stage.program = Some(ask_at_once(50));
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let handle = stage.start(&engine, "").unwrap();
    at_gate(&gate, 5).await;
    gate.open();
    let result = handle.join().await;
    let spent = view(&events(&engine, &result.run)).spent;
    assert_eq!(
        spent,
        Usage {
            input_tokens: 50,
            cached_tokens: 0,
            cache_written_tokens: 0,
            output_tokens: 50,
            cost_microusd: 100
        },
        "five replies were paid"
    );
    (stage, result)
}

#[tokio::test]
async fn calls_in_parallel_never_send_more_than_calls_max() {
    let (stage, result) = fifty_at_once(|limits| limits.calls_max = 5).await;
    assert_eq!(stage.server.requests().len(), 5);
    assert_eq!(result.outcome, RunOutcome::Partial { stopped_by: ErrorCode::CallsExhausted });
    expect![[r"
        calls-exhausted: call limit reached (5)
        hint: raise it with `--set limits.calls_max=10`"]]
    .assert_eq(&shown(&result.error.unwrap(), &result.run));
}

#[tokio::test]
async fn calls_in_parallel_never_reserve_more_than_tokens_max() {
    let (stage, result) = fifty_at_once(|limits| limits.tokens_max = 6 * ESTIMATE - 1).await;
    assert_eq!(stage.server.requests().len(), 5);
    assert_eq!(result.outcome, RunOutcome::Partial { stopped_by: ErrorCode::TokensExhausted });
}

#[tokio::test]
async fn calls_in_parallel_never_reserve_more_than_cost_microusd_max() {
    let (stage, result) = fifty_at_once(|limits| limits.cost_microusd_max = 6 * ESTIMATE - 1).await;
    assert_eq!(stage.server.requests().len(), 5);
    assert_eq!(result.outcome, RunOutcome::Partial { stopped_by: ErrorCode::CostExhausted });
}

#[tokio::test]
async fn a_settled_call_counts_with_what_it_used() {
    // Three replies of 50 tokens leave 50 of 200, which is less than a fourth call may use.
    let mut stage = Stage::new(&NOTE, [on("0#*").reply("yes").usage(40, 10)]);
    stage.limits.tokens_max = 200;
    stage.program = Some(ask_in_turn(&["call 00", "call 01", "call 02", "call 03"]));
    let result = stage.ask(&engine_on(Arc::new(FaultDisk::sound())), "").await;
    assert_eq!(stage.server.requests().len(), 3);
    assert_eq!(result.stopped_by(), Some(ErrorCode::TokensExhausted));
}

#[tokio::test]
async fn a_reply_that_used_more_than_was_set_aside_is_paid_in_full() {
    let mut stage = Stage::new(&NOTE, [on("0#*").reply("yes").usage(100, 50)]);
    stage.limits.tokens_max = 200;
    stage.program = Some(ask_in_turn(&["call 00", "call 01"]));
    let result = stage.ask(&engine_on(Arc::new(FaultDisk::sound())), "").await;
    assert_eq!(stage.server.requests().len(), 1);
    assert_eq!(result.stopped_by(), Some(ErrorCode::TokensExhausted));
}

#[tokio::test]
async fn children_spend_from_the_purse_of_the_root() {
    let files = [("a.md", "Alpha.\n"), ("b.md", "Beta.\n"), ("c.md", "Gamma.\n")];
    let mut stage = Stage::new(&files, [on("0.*#0").reply("yes").usage(1, 1)]);
    stage.limits.calls_max = 2;
    stage.limits.calls_parallel_max = 1;
    stage.program = Some(survey());
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = stage.ask(&engine, "").await;
    assert_eq!(stage.server.requests().len(), 2);
    assert_eq!(result.outcome, RunOutcome::Partial { stopped_by: ErrorCode::CallsExhausted });
    let lines = told(&engine, &result.run);
    let end: Vec<&str> = lines.lines().rev().take(2).collect();
    assert_eq!(end, ["run.finished     partial calls-exhausted", "limit.reached    calls_max=2"]);
}

#[tokio::test]
async fn cached_replies_are_free_even_when_nothing_is_left() {
    let mut stage = Stage::new(&NOTE, [on("0#*").reply("yes").usage(10, 10)]);
    stage.cache_replies = true;
    stage.program = Some(ask_in_turn(&["first", "second"]));
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    stage.ask(&engine, "").await;
    (stage.limits.calls_max, stage.limits.tokens_max, stage.limits.cost_microusd_max) = (0, 0, 0);
    let free = stage.ask(&engine, "").await;
    assert_eq!((free.outcome, free.answer), (RunOutcome::Answered, Some(answer("yes yes"))));
    assert_eq!(view(&events(&engine, &free.run)).spent, Usage::default());
    // What is not cached is refused without a request.
    stage.program = Some(ask_in_turn(&["first", "third"]));
    let stopped = stage.ask(&engine, "").await;
    assert_eq!(stopped.outcome, RunOutcome::Partial { stopped_by: ErrorCode::CallsExhausted });
    expect![[r"
        run.started      program openai/scripted
        source.scanned   documents=1 bytes=24
        frame.opened     0 program
        call.started     0#0
        call.settled     0#0 replied cache tokens=0+0
        call.started     0#1
        limit.reached    calls_max=0
        run.finished     partial calls-exhausted"]]
    .assert_eq(&told(&engine, &stopped.run));
    assert_eq!(stage.server.requests().len(), 2);
}

/// The charge for an attempt of `prompt("call 00")` that was cut off after its first piece.
const WASTED: u64 = 5;

#[tokio::test]
async fn an_attempt_that_broke_off_is_paid_and_a_resumed_run_knows() {
    let rule = on("0#0").fault(Fault::CutStream).reply("yes").usage(10, 10);
    let mut stage = Stage::new(&NOTE, [rule, on("0#1").fault(status(400)).reply("no")]);
    stage.program = Some(ask_in_turn(&["call 00", "call 01"]));
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let failed = stage.ask(&engine, "").await;
    assert_eq!(failed.stopped_by(), Some(ErrorCode::ModelRequestRefused));
    let spent = view(&events(&engine, &failed.run)).spent;
    assert_eq!((spent.tokens(), spent.cost_microusd), (20 + WASTED, 20 + WASTED));
    // The budget of the resumed run includes all of it: the second call no longer fits.
    stage.limits.tokens_max = 20 + WASTED + ESTIMATE - 1;
    let resumed = stage.resume(&engine, &failed.run).unwrap().join().await;
    assert_eq!(resumed.stopped_by(), Some(ErrorCode::TokensExhausted));
    assert_eq!(view(&events(&engine, &failed.run)).spent, spent);
    stage.limits.tokens_max += 1;
    let resumed = stage.resume(&engine, &failed.run).unwrap().join().await;
    assert_eq!(resumed.answer, Some(answer("yes no")));
}

#[tokio::test]
async fn nobody_asks_again_once_attempts_in_vain_have_used_up_the_budget() {
    for (fault, tokens_max, n_asked) in [
        (Fault::CutStream, ESTIMATE + WASTED - 1, 1),
        (Fault::CutStream, ESTIMATE + 2 * WASTED - 1, 2),
        // A request that was never answered costs nothing, and is retried as often as usual.
        (Fault::HangUp, ESTIMATE, 4),
    ] {
        let mut stage = Stage::new(&NOTE, [on("0#0").always(fault.clone())]);
        stage.limits.tokens_max = tokens_max;
        stage.program = Some(ask_in_turn(&["call 00"]));
        let engine = engine_on(Arc::new(FaultDisk::sound()));
        let result = stage.ask(&engine, "").await;
        assert_eq!(stage.server.requests().len(), n_asked, "{fault:?}");
        let is_broke = result.stopped_by() == Some(ErrorCode::TokensExhausted);
        assert_eq!(is_broke, fault == Fault::CutStream, "{:?}", result.outcome);
        assert!(view(&events(&engine, &result.run)).spent.tokens() <= tokens_max);
    }
}

#[tokio::test]
async fn a_child_that_was_given_up_has_spent_what_it_had_been_sent() {
    let mut stage = Stage::new(
        &NOTE,
        [on("0.0#0").always(Fault::StallMidStream), on("0.1#0").reply("quick").usage(5, 5)],
    );
    stage.limits.frame_ms_max = 300;
    stage.program = Some(open_children(2, Strategy::Direct));
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = stage.ask(&engine, "Which number?").await;
    assert_eq!(result.outcome, RunOutcome::Answered);
    let facts = told(&engine, &result.run);
    let wasted: Vec<&str> = facts.lines().filter(|line| line.starts_with("call.wasted")).collect();
    assert!(matches!(wasted[..], [line] if line.contains("0.0#0 tokens=")), "{facts}");
    assert!(view(&events(&engine, &result.run)).spent.tokens() > 200, "{facts}");
}

/// The request that was given up would have been refused, too.
#[tokio::test]
async fn a_wrong_key_costs_nothing_even_for_requests_in_flight() {
    let gate = Gate::new();
    let rules = [on("0#0").gate(&gate).always(Fault::StallBeforeHeaders), on("0#1").always(status(401))];
    let mut stage = Stage::new(&NOTE, rules);
    stage.program = Some(program(move |frame, _| {
        let gate = gate.clone();
        async move {
            let second = async {
                gate.reached(1).await;
                frame.ask(prompt("second")).await
            };
            try_join(frame.ask(prompt("first")), second).await?;
            Ok(answer("never"))
        }
    }));
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = stage.ask(&engine, "").await;
    assert_eq!(result.stopped_by(), Some(ErrorCode::ModelUnauthorized));
    let view = view(&events(&engine, &result.run));
    assert_eq!((view.n_paid_calls(), view.spent), (2, Usage::default()));
}

/// Whatever a provider does, at most `calls_max` requests are sent, and each is reported as a call.
#[tokio::test]
async fn every_request_counts_as_a_call_and_none_is_sent_beyond_calls_max() {
    for fault in [Fault::CutStream, Fault::HangUp, status(429).retry_after_ms(1).into(), status(500).into()] {
        for calls_max in 1..=3 {
            let mut stage = Stage::new(&NOTE, [on("0#*").always(fault.clone())]);
            stage.limits.calls_max = calls_max;
            stage.program = Some(ask_in_turn(&["call 00"]));
            let engine = engine_on(Arc::new(FaultDisk::sound()));
            let result = stage.ask(&engine, "").await;
            assert_eq!(stage.server.requests().len() as u64, calls_max, "{fault:?}");
            assert_eq!(result.stopped_by(), Some(ErrorCode::CallsExhausted), "{fault:?}");
            assert_eq!(view(&events(&engine, &result.run)).n_paid_calls(), calls_max, "{fault:?}");
            // A resumed run knows how many there were.
            let again = stage.resume(&engine, &result.run).unwrap().join().await;
            assert_eq!(again.stopped_by(), Some(ErrorCode::CallsExhausted), "{fault:?}");
            assert_eq!(stage.server.requests().len() as u64, calls_max, "{fault:?}");
        }
    }
}

#[tokio::test]
async fn requests_on_their_way_at_a_crash_are_counted_once_and_the_user_is_told() {
    let gate = Gate::new();
    let mut stage = Stage::new(&NOTE, [on("0#*").gate(&gate).reply("yes").usage(10, 10)]);
    stage.program = Some(ask_at_once(3));
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let crashed = stage.start(&engine, "").unwrap();
    let run = crashed.run.clone();
    at_gate(&gate, 3).await;
    crashed.abandon().await;
    assert_eq!(view(&events(&engine, &run)).spent, Usage::default());
    // The second process dies with the same requests in flight.
    let crashed = stage.resume(&engine, &run).unwrap();
    at_gate(&gate, 6).await;
    crashed.abandon().await;
    let spent = view(&events(&engine, &run)).spent;
    assert_eq!((spent.tokens(), spent.cost_microusd), (3 * ESTIMATE, 3 * ESTIMATE));
    gate.open();
    let result = stage.resume(&engine, &run).unwrap().join().await;
    assert_eq!(result.answer, Some(answer("3 replies")));
    let seen = view(&events(&engine, &run));
    assert_eq!(seen.n_paid_calls(), stage.server.requests().len() as u64);
    assert_eq!(seen.spent.tokens(), 2 * 3 * ESTIMATE + 3 * 20);
    let told: Vec<&str> = seen.warnings.iter().map(|(message, _)| message.as_str()).collect();
    assert_eq!(
        told,
        [
            "3 requests were sent but not answered when the run stopped; they are counted as 171 tokens, $0.000171"
        ]
    );
}

#[tokio::test]
async fn what_a_crash_lost_leaves_too_little_for_the_rest() {
    let gate = Gate::new();
    let mut stage = Stage::new(&NOTE, [on("0#*").gate(&gate).reply("yes").usage(10, 10)]);
    stage.program = Some(ask_at_once(3));
    stage.limits.calls_max = 5;
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let crashed = stage.start(&engine, "").unwrap();
    let run = crashed.run.clone();
    at_gate(&gate, 3).await;
    crashed.abandon().await;
    gate.open();
    let result = stage.resume(&engine, &run).unwrap().join().await;
    assert_eq!(result.stopped_by(), Some(ErrorCode::CallsExhausted));
    assert_eq!(stage.server.requests().len(), 5);
}

#[tokio::test]
async fn a_request_that_was_given_up_in_order_is_counted_then_and_not_again() {
    let gate = Gate::new();
    let mut stage = Stage::new(&NOTE, [on("0#0").fault(Fault::StallBeforeHeaders).gate(&gate).reply("yes")]);
    stage.program = Some(ask_in_turn(&["call 00"]));
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let handle = stage.start(&engine, "").unwrap();
    let run = handle.run.clone();
    at_gate(&gate, 1).await;
    handle.cancel.cancel();
    assert_eq!(handle.join().await.outcome, RunOutcome::Cancelled);
    let spent = view(&events(&engine, &run)).spent;
    assert_eq!((spent.input_tokens, spent.output_tokens), (4, 0));
    gate.open();
    let resumed = stage.resume(&engine, &run).unwrap().join().await;
    assert_eq!(resumed.answer, Some(answer("yes")));
    let seen = view(&events(&engine, &run));
    assert_eq!((seen.n_paid_calls(), seen.warnings.len()), (2, 0));
}

/// If a process dies while a request is in flight, the journal knows of the request.
#[tokio::test]
async fn no_request_is_sent_before_its_start_is_written() {
    let mut stage = Stage::new(&NOTE, [on("0#*").reply("yes")]);
    stage.program = Some(ask_at_once(2));
    let disk = Arc::new(MoodyDisk::default());
    let engine = engine_on(disk.clone());
    let mut joined = Box::pin(stage.start(&engine, "").unwrap().join());
    disk.hold(true);
    // Nothing signals that a request is not sent, so wait a while for a wrong one.
    let watched = tokio::time::timeout(Duration::from_millis(300), &mut joined).await;
    assert!(watched.is_err(), "it cannot end");
    assert_eq!(stage.server.requests(), []);
    disk.hold(false);
    assert_eq!(joined.await.answer, Some(answer("2 replies")));
}

/// A model on another machine without a known price.
fn unpriced() -> Arc<dyn Model> {
    let (base_url, name) = ("https://192.0.2.1/v1".to_owned(), "unknown".to_owned());
    let options = ModelOptions { base_url, name, key: None, price: None, label_calls: false };
    Arc::new(OpenAiModel::new(options).unwrap())
}

#[tokio::test]
async fn a_bounded_cost_refuses_a_chain_with_a_model_without_a_price_and_the_default_only_warns() {
    let mut stage = Stage::new(&NOTE, [on("0#*").reply("yes")]);
    stage.stand_ins = vec![unpriced()];
    stage.program = Some(ask_in_turn(&["call 00"]));
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    stage.cost_is_bounded = true;
    let refused = refusal(stage.start(&engine, ""));
    assert_eq!(refused.code(), ErrorCode::PriceUnknown);
    assert_eq!(
        refused.to_string(),
        "no price is known for `openai/unknown`, so `limits.cost_microusd_max` would have no effect"
    );
    stage.cost_is_bounded = false;
    stage.limits.calls_max = 0;
    let stopped = stage.ask(&engine, "").await;
    let told = view(&events(&engine, &stopped.run)).warnings;
    assert_eq!(told[0].0, "no price is known for openai/unknown: its cost is not counted");
    stage.cost_is_bounded = true;
    assert_eq!(refusal(stage.resume(&engine, &stopped.run)).code(), ErrorCode::PriceUnknown);
}

#[tokio::test]
async fn where_the_cost_is_bounded_code_cannot_ask_a_model_without_a_price_by_name() {
    let asking = "```repl\nhits = grep('magic')\ntold = ''\ntry:\n    llm_query('x', model='odd')\n\
                  except Exception as error:\n    told = str(error)\nprint(told)\n```";
    let rules = [on("0#0").reply(asking), on("0#1").reply("```repl\nFINAL(told)\n```")];
    let mut stage = Stage::new(&NOTE, rules);
    stage.strategy = Strategy::Repl;
    stage.cost_is_bounded = true;
    let roster = NamedModels::of(BTreeMap::from([("odd".to_owned(), unpriced())]));
    let engine = engine_on(Arc::new(FaultDisk::sound())).with_named_models(roster);
    let answer = stage.ask(&engine, "Which number?").await.answer.unwrap();
    assert!(answer.text.contains("no price is known for `openai/unknown`"), "{}", answer.text);
}
