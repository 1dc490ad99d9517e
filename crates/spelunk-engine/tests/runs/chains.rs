//! Chains of models: which fallback is called when a model is unavailable, silent or overloaded, which one answered,
//! and what it cost.

use std::sync::Arc;
use std::time::{Duration, Instant};

use expect_test::expect;
use spelunk_engine::{Engine, RunResult};
use spelunk_model::{Model, ModelFacts, ModelOptions, ModelStream, OpenAiModel, Price, Prompt, Rate};
use spelunk_testkit::{ClosedPort, Fault, FaultDisk, ModelServer, Rule, on, status};
use spelunk_types::{CallId, Explain, ModelRef};

use super::{NOTE, answer, ask_at_once, ask_in_turn, told_without_waste};
use crate::stage::{Stage, engine_on, events, view};

/// Short enough to wait for; no fallback takes as long.
const PATIENCE_MS: u64 = 400;

/// A model of another server, at 3 dollars per million tokens of output.
fn stand_in(base_url: &str) -> Arc<dyn Model> {
    let price = Price { output_microusd_per_mtok: 3_000_000, ..Price::FREE };
    let options = ModelOptions {
        base_url: base_url.to_owned(),
        name: "spare".into(),
        key: None,
        price: Some(price),
        label_calls: true,
    };
    Arc::new(OpenAiModel::new(options).unwrap())
}

/// A stage whose model has this server as its fallback.
fn stage(rules: impl IntoIterator<Item = Rule>, spare: &ModelServer) -> Stage {
    let mut stage = Stage::new(&NOTE, rules);
    stage.stand_ins = vec![stand_in(&spare.base_url())];
    stage.limits.retries_max = 1;
    stage.program = Some(ask_in_turn(&["first"]));
    stage
}

fn engine() -> Engine {
    engine_on(Arc::new(FaultDisk::sound()))
}

fn yes() -> Rule {
    on("0#*").reply("yes").usage(1, 1)
}

fn error(result: &RunResult) -> String {
    result.error.as_ref().map(|error| error.code().to_string()).unwrap_or_default()
}

#[tokio::test]
async fn the_first_model_answers_where_it_can_and_costs_what_it_costs() {
    let spare = ModelServer::start([yes()]).await;
    let stage = stage([yes()], &spare);
    let engine = engine();
    let result = stage.ask(&engine, "").await;
    assert_eq!(result.answer, Some(answer("yes")));
    assert_eq!(spare.requests(), []);
    // The more expensive fallback was reserved for, but not paid.
    assert_eq!(view(&events(&engine, &result.run)).spent.cost_microusd, 2);
}

#[tokio::test]
async fn an_outage_before_the_first_word_asks_the_next_at_its_own_price() {
    for fault in [status(500).into(), status(503).into(), status(529).into(), Fault::HangUp] {
        let spare = ModelServer::start([yes()]).await;
        let stage = stage([on("0#*").always(fault.clone())], &spare);
        let engine = engine();
        let result = stage.ask(&engine, "").await;
        assert_eq!(result.answer, Some(answer("yes")), "{fault:?}");
        assert_eq!((stage.server.requests().len(), spare.requests().len()), (1, 1), "{fault:?}");
        let view = view(&events(&engine, &result.run));
        assert_eq!(view.spent.cost_microusd, 3);
        let told: Vec<String> = view.warnings.iter().map(|(message, _)| message.clone()).collect();
        assert_eq!(told, ["openai/scripted is unavailable: openai/spare answers instead"]);
    }
}

/// A reply that does not arrive, or not completely, comes from the fallback.
async fn handed_over(rule: Rule, n_paid: usize) -> String {
    let spare = ModelServer::start([yes()]).await;
    let mut stage = stage([rule], &spare);
    (stage.limits.call_idle_ms_max, stage.limits.call_ms_max) = (PATIENCE_MS, 3 * PATIENCE_MS);
    let engine = engine();
    let result = stage.ask(&engine, "").await;
    assert_eq!(result.answer, Some(answer("yes")));
    assert_eq!((stage.server.requests().len(), spare.requests().len()), (1, 1));
    let (facts, n_wasted) = told_without_waste(&engine, &result.run);
    assert_eq!(n_wasted, n_paid);
    assert_eq!(view(&events(&engine, &result.run)).n_paid_calls(), 2);
    facts
}

#[tokio::test]
async fn a_model_that_never_begins_is_handed_to_the_next() {
    expect![[r#"
        run.started      program openai/scripted
        source.scanned   documents=1 bytes=24
        frame.opened     0 program
        call.started     0#0
        call.retried     0#0 attempt=1 model-timed-out
        warning.raised   0 "openai/scripted is unavailable: openai/spare answers instead"
        call.settled     0#0 replied live tokens=1+1
        frame.closed     0 answered uncited
        run.finished     answered"#]]
    .assert_eq(&handed_over(on("0#0").always(Fault::StallBeforeHeaders), 0).await);
}

#[tokio::test]
async fn a_model_that_falls_silent_cuts_its_reply_or_drips_is_handed_to_the_next_and_watchers_see_it() {
    let drip = on("0#0").chunks(1000).pace_ms(PATIENCE_MS / 20).reply("yes ".repeat(1000));
    let silent = handed_over(on("0#0").always(Fault::StallMidStream), 1).await;
    expect![[r#"
        run.started      program openai/scripted
        source.scanned   documents=1 bytes=24
        frame.opened     0 program
        call.started     0#0
        call.retried     0#0 attempt=1 model-timed-out
        warning.raised   0 "openai/scripted is unavailable: openai/spare answers instead"
        call.settled     0#0 replied live tokens=1+1
        frame.closed     0 answered uncited
        run.finished     answered"#]]
    .assert_eq(&silent);
    assert_eq!(handed_over(drip, 1).await, silent);
    for fault in [Fault::CutStream, Fault::AbortStream] {
        let cut = handed_over(on("0#0").always(fault), 1).await;
        let code = if cut.contains("model-stream-cut") { "model-stream-cut" } else { "model-unreachable" };
        assert_eq!(cut, silent.replace("model-timed-out", code));
    }
}

#[tokio::test]
async fn a_refusal_is_not_covered_up() {
    for fault in [status(400).into(), status(401).into(), status(404).into(), Fault::WrongContentType] {
        let spare = ModelServer::start([yes()]).await;
        let stage = stage([on("0#*").always(fault.clone())], &spare);
        assert_ne!(error(&stage.ask(&engine(), "").await), "", "{fault:?}");
        assert_eq!(spare.requests(), [], "{fault:?}");
    }
}

#[tokio::test]
async fn if_all_models_fail_each_is_called_once_per_attempt_and_the_error_is_that_of_the_last() {
    // With a pause, the second attempt calls the overloaded model after the unreachable one.
    for overloaded in [status(503), status(503).retry_after_ms(PATIENCE_MS)] {
        let spare = ModelServer::start([on("0#*").always(overloaded)]).await;
        let port = ClosedPort::reserve();
        let mut stage = stage([on("0#*").always(status(500))], &spare);
        stage.limits.retry_wait_ms_max = PATIENCE_MS;
        stage.stand_ins.push(stand_in(&port.base_url()));
        let result = stage.ask(&engine(), "").await;
        assert_eq!(error(&result), "model-unreachable");
        assert_eq!((stage.server.requests().len(), spare.requests().len()), (2, 2));
    }
}

#[tokio::test]
async fn a_storm_of_refusals_is_waited_out_at_its_model_alone_and_handed_over_when_it_lasts() {
    let storm = || status(429).retry_after_ms(1);
    // It ends after one wait: the requested model answers.
    let spare = ModelServer::start([yes()]).await;
    let passing = stage([on("0#0").fault(storm()).reply("yes").usage(1, 1)], &spare);
    assert_eq!(passing.ask(&engine(), "").await.answer, Some(answer("yes")));
    assert_eq!((passing.server.requests().len(), spare.requests().len()), (2, 0));
    // It does not end: ten calls are answered by the fallback, which is called once for each.
    let mut lasting = stage([on("0#*").always(storm())], &spare);
    lasting.program = Some(ask_at_once(10));
    assert_eq!(lasting.ask(&engine(), "").await.answer, Some(answer("10 replies")));
    assert_eq!(spare.requests().len(), 10);
}

#[tokio::test]
async fn one_without_capacity_is_not_asked_before_its_wait_is_over_while_another_answers() {
    let spare = ModelServer::start([yes()]).await;
    let mut stage = stage([on("0#*").always(status(503).retry_after_s(3600))], &spare);
    stage.limits.retry_wait_ms_max = 600_000;
    stage.program = Some(ask_in_turn(&["first", "second", "third"]));
    assert_eq!(stage.ask(&engine(), "").await.answer, Some(answer("yes yes yes")));
    assert_eq!((stage.server.requests().len(), spare.requests().len()), (1, 3));
}

#[tokio::test]
async fn a_stand_in_whose_window_is_too_short_is_passed_over() {
    let too_long = status(400).code("context_length_exceeded").message("maximum context length is 10 tokens");
    let spare = ModelServer::start([on("0#*").always(too_long)]).await;
    let last = ModelServer::start([yes()]).await;
    let mut stage = stage([on("0#*").always(status(500))], &spare);
    assert_eq!(error(&stage.ask(&engine(), "").await), "model-server-error");
    stage.stand_ins.push(stand_in(&last.base_url()));
    assert_eq!(stage.ask(&engine(), "").await.answer, Some(answer("yes")));
}

/// A model with a rate limit.
struct Rated(Arc<dyn Model>, u64);

impl Model for Rated {
    fn reference(&self) -> &ModelRef {
        self.0.reference()
    }

    fn facts(&self) -> ModelFacts {
        let rate = Rate { requests_per_minute: Some(self.1), ..Rate::default() };
        ModelFacts { rate, ..self.0.facts() }
    }

    fn stream(&self, prompt: &Prompt, call: &CallId) -> ModelStream {
        self.0.stream(prompt, call)
    }
}

#[tokio::test]
async fn a_stand_in_is_asked_at_its_own_rate_and_not_at_that_of_the_model_it_stands_in_for() {
    const WORDS: [&str; 7] = ["1", "2", "3", "4", "5", "6", "7"];
    let spare = ModelServer::start([yes()]).await;
    let mut stage = stage([on("0#*").always(Fault::StallBeforeHeaders)], &spare);
    stage.limits.call_idle_ms_max = PATIENCE_MS;
    stage.program = Some(ask_in_turn(&WORDS));
    // Six at once, the seventh after a second.
    stage.stand_ins = vec![Arc::new(Rated(stand_in(&spare.base_url()), 60))];
    let began = Instant::now();
    assert!(stage.ask(&engine(), "").await.answer.is_some());
    assert!(began.elapsed() >= Duration::from_secs(1), "{:?}", began.elapsed());
    // The silent one was called once and rests: nobody waits for it again.
    assert_eq!((stage.server.requests().len(), spare.requests().len()), (1, 7));
}
