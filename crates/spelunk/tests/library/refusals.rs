//! Rejected questions: their codes and hints. Nothing is sent or recorded.

use expect_test::expect;
use spelunk::{Budget, Error, Question, RunId, Spelunk, Strategy};

use spelunk_testkit::{Gate, ModelServer, when};

use super::{block_on, builder, note};
use crate::scene::{NOTE, REPLY, Scene, answering, n_calls, to_all};

fn told(what: &str, error: &Error) -> String {
    format!("{what}: {error} [{}]\n  {}\n", error.code().name(), error.hint().unwrap_or_else(|| "-".into()))
}

#[test]
fn what_cannot_be_asked_is_refused_before_anything_is_sent() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let mut said = String::new();
    block_on(async {
        let spelunk = builder(&scene, &server).build().unwrap();
        let questions = [
            ("no words", Question::new(" ").path("notes")),
            ("no messages", Question::messages([]).path("notes")),
            ("nothing there", Question::new("why?").path("gone")),
            ("a large attachment", Question::new("why?").attach("a", vec![0; 16_000_001])),
            ("no schema", Question::new("why?").path("notes").schema("{\"type\": 7}")),
            ("code without a worker", note().strategy(Strategy::Repl)),
            ("an agent without a worker", note().strategy(Strategy::Agent)),
        ];
        for (what, question) in questions {
            said += &told(what, &spelunk.ask(question).await.unwrap_err());
        }
        let nobody = Spelunk::builder().isolated().directory(scene.path("")).variable("HOME", scene.home());
        let nobody = nobody.set("model.probe_local", "false");
        said += &told("no model", &nobody.build().unwrap().ask(note()).await.unwrap_err());
        assert!(!scene.exists(".spelunk"), "nothing was recorded");
        let run: RunId = "rlm-20260101T000000Z-00000000".parse().unwrap();
        said += &told("no run", &spelunk.ask_more(&run, "why?").await.unwrap_err());
    });
    said += &told("no setting", &builder(&scene, &server).set("limits.x", "1").build().unwrap_err());
    said += &told("no number", &builder(&scene, &server).set("limits.calls_max", "x").build().unwrap_err());
    said += &told("no program", &builder(&scene, &server).worker("/nowhere/spelunk").build().unwrap_err());
    expect![[r#"
        no words: the question is empty [usage-wrong]
          ask something, such as `spelunk ask "what is this?" .`
        no messages: the messages are not a valid conversation: it has no messages [usage-wrong]
          pass at least one message, and give every message a role
        nothing there: `DIR/work/gone` does not exist [source-not-found]
          look in `DIR/work`, the nearest directory that exists
        a large attachment: could not attach `a`: it has 16000001 bytes; the maximum is 16000000 [usage-wrong]
          pass large files as paths
        no schema: the schema's `type` at `/` must be a type name, or an array of type names [schema-invalid]
          use only the keywords of JSON Schema listed in `docs/schemas.md`
        code without a worker: this program cannot run model-written code: it has no worker [sandbox-failed]
          call `spelunk::serve_worker()` at the start of `main`, name a `spelunk` program with `Builder::worker`, or choose a strategy that runs no code
        an agent without a worker: this program cannot run model-written code: it has no worker [sandbox-failed]
          call `spelunk::serve_worker()` at the start of `main`, name a `spelunk` program with `Builder::worker`, or choose a strategy that runs no code
        no model: no model is configured [model-not-configured]
          choose one with `Builder::model`, or set ANTHROPIC_API_KEY or OPENAI_API_KEY
        no run: there are no runs here [run-not-found]
          ask something first, such as `spelunk ask "what is this?" .`
        no setting: there is no setting `limits.x` (Builder::set) [setting-unknown]
          run `spelunk config show` to see every setting
        no number: `limits.calls_max` must be an integer, not `x` (Builder::set) [setting-invalid]
          -
        no program: there is no program at `/nowhere/spelunk` to run model-written code [usage-wrong]
          pass the path of a `spelunk` program
    "#]].assert_eq(&scene.normalise(&said));
    assert_eq!(n_calls(&server), 0);
}

#[test]
fn only_an_agent_with_its_answer_is_asked_more() {
    let (scene, gate) = (Scene::new(&NOTE), Gate::new());
    let server = ModelServer::start_blocking([
        when(|prompt| prompt.contains("Who waits?")).gate(&gate).reply("Nobody."),
        to_all().reply(REPLY),
    ]);
    let mut said = String::new();
    block_on(async {
        let spelunk = builder(&scene, &server).worker(env!("CARGO_BIN_EXE_spelunk")).build().unwrap();
        let direct = spelunk.ask(note()).await.unwrap();
        said += &told("not an agent", &spelunk.ask_more(&direct.run, "why?").await.unwrap_err());
        let question = Question::new("Who waits?").path("notes").strategy(Strategy::Agent);
        let agent = spelunk.start(question).await.unwrap();
        let run = agent.run().clone();
        said += &told("no answer yet", &spelunk.ask_more(&run, "why?").await.unwrap_err());
        said += &told("at work", &spelunk.start_again(&run).await.unwrap_err());
        said = said.replace(run.short(), "SHORT").replace(direct.run.short(), "SHORT");
        drop(agent);
    });
    expect![[r#"
        not an agent: run `SHORT` takes no follow-up question: it used the strategy `direct`, and only `agent` keeps its work [usage-wrong]
          ask a new question about its files with another `--strategy`
        no answer yet: run `SHORT` has no answer yet [usage-wrong]
          finish it first with `spelunk resume SHORT`
        at work: could not use the journal of run `SHORT` [run-locked]
          watch it with `spelunk tail SHORT`
    "#]].assert_eq(&said);
}

#[test]
fn a_budget_in_dollars_is_refused_where_the_model_has_no_price() {
    let scene = Scene::new(&NOTE);
    let spelunk = Spelunk::builder().isolated().directory(scene.path("")).variable("HOME", scene.home());
    let spelunk = spelunk.model("openai/tiny").base_url("https://192.0.2.1/v1").build().unwrap();
    let budget = Budget { cost_microusd_max: Some(1_000_000), ..Budget::default() };
    let refused = block_on(spelunk.ask(note().budget(budget))).unwrap_err();
    assert_eq!(refused.code().name(), "price-unknown");
    assert_eq!(scene.runs(), [""; 0]);
}
