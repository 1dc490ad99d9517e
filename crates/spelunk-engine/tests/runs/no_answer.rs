//! What is not an answer: a block of code, a tool call, an empty reply. In every strategy, the model is asked once
//! more, and the run ends with an error or a partial answer in words.

use std::sync::Arc;

use expect_test::{Expect, expect};
use spelunk_engine::RunResult;
use spelunk_testkit::{FaultDisk, Rule, on, when};
use spelunk_types::{Limits, StopReason, Strategy};

use super::{NOTE, shown};
use crate::stage::{Stage, engine_on};

const CODE: &str = "Let me look:\n\n```repl\nprint(context[:500])\n```";
const CALL: &str = "<tool_call>\n{\"name\": \"Read\", \"arguments\": {\"path\": \"a.md\"}}\n</tool_call>";

struct Scene {
    stage: Stage,
}

impl Scene {
    fn of(strategy: Strategy, rules: impl IntoIterator<Item = Rule>) -> Self {
        let mut stage = Stage::new(&NOTE, rules);
        stage.strategy = strategy;
        Self { stage }
    }

    fn within(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.stage.limits);
        self
    }

    async fn ask(&self, question: &str) -> RunResult {
        let engine = engine_on(Arc::new(FaultDisk::sound()));
        self.stage.ask(&engine, question).await
    }

    async fn run(&self) -> RunResult {
        self.ask("What is the magic number?").await
    }
}

fn check(result: &RunResult, expected: &Expect) {
    let text = match (&result.answer, &result.error) {
        (Some(answer), _) => format!("{}\n{}", answer.text, result.outcome),
        (None, Some(error)) => shown(error, &result.run),
        (None, None) => "neither answer nor error".to_owned(),
    };
    expected.assert_eq(&text);
}

fn conclusion(reply: &str) -> Rule {
    when(|prompt| prompt.contains("No more ")).reply(reply)
}

fn cell(code: &str) -> String {
    format!("```repl\n{code}\n```")
}

#[tokio::test]
async fn a_direct_reply_that_is_code_is_asked_for_again() {
    let scene = Scene::of(Strategy::Direct, [on("0#0").reply(CODE), on("0#1").reply("It is 42.")]);
    check(
        &scene.run().await,
        &expect![[r"
            It is 42.
            answered"]],
    );
    let requests = scene.stage.server.requests();
    let messages = requests[1].json()["messages"].clone();
    let [.., said, told] = messages.as_array().unwrap().as_slice() else { panic!("{messages}") };
    assert_eq!(said["content"], CODE);
    assert_eq!(
        told["content"],
        "Your reply is only a code block, which is not executed. Write the answer itself, in words."
    );
}

#[tokio::test]
async fn a_direct_model_that_never_answers_ends_the_run() {
    for (reply, n_asked, expected) in [
        (
            CODE,
            2,
            expect![[r"
            model-stuck: no answer: the reply is only a code block, even after a retry
            hint: rephrase the question, or choose a stronger model"]],
        ),
        (
            CALL,
            2,
            expect![[r"
            model-stuck: no answer: the reply is a tool call, even after a retry
            hint: rephrase the question, or choose a stronger model"]],
        ),
        (
            "\u{200b}\u{feff}",
            2,
            expect![[r"
            model-reply-empty: no answer: the reply is empty, even after a retry
            hint: for a reasoning model, raise `limits.root_output_tokens_max` (sub-calls and analysts have their own limits), or choose another with `--model`"]],
        ),
    ] {
        let scene = Scene::of(Strategy::Direct, [when(|_| true).reply(reply)]);
        check(&scene.run().await, &expected);
        assert_eq!(scene.stage.server.requests().len(), n_asked, "{reply}");
    }
}

#[tokio::test]
async fn a_call_that_nobody_offered_is_no_direct_answer() {
    let scene = Scene::of(
        Strategy::Direct,
        [when(|_| true).reply("").tool_call("Read", "{}").stop(StopReason::ToolUse)],
    );
    check(
        &scene.run().await,
        &expect![[r"
        model-stuck: no answer: the reply is a tool call, even after a retry
        hint: rephrase the question, or choose a stronger model"]],
    );
}

#[tokio::test]
async fn code_that_was_asked_for_is_a_direct_answer() {
    let code = "```sh\ngrep -c magic a.md\n```";
    let scene = Scene::of(Strategy::Direct, [on("0#0").reply(code)]);
    let result = scene.ask("Write a shell command that counts the lines with magic.").await;
    assert_eq!(result.answer.unwrap().text, code);
}

#[tokio::test]
async fn a_search_is_not_answered_with_code_by_a_model_of_any_size() {
    let stuck = expect![[r"
        model-stuck: no answer: the reply is only a code block, even after a retry
        hint: rephrase the question, or choose a stronger model"]];
    for reader_tokens_max in [0, 1000] {
        let scene = Scene::of(
            Strategy::Search,
            [
                when(|prompt| prompt.contains("that you cannot see")).reply("magic"),
                when(|_| true).reply(CODE),
            ],
        )
        .within(|limits| limits.reader_tokens_max = reader_tokens_max);
        check(&scene.run().await, &stuck);
    }
}

#[tokio::test]
async fn a_session_that_concludes_with_code_is_asked_once_more_and_ends() {
    let scene = Scene::of(Strategy::Repl, [when(|_| true).reply(cell("print(len(context))"))]);
    check(
        &scene.run().await,
        &expect![[r"
        model-stuck: no answer: the reply is only a code block, even after a retry
        hint: rephrase the question, or choose a stronger model"]],
    );
    // Four identical replies, and two conclusions.
    assert_eq!(scene.stage.server.requests().len(), 6);
    let scene = Scene::of(
        Strategy::Repl,
        [
            when(|prompt| prompt.contains("which is not executed")).reply("I keep printing."),
            when(|_| true).reply(cell("print(len(context))")),
        ],
    );
    check(
        &scene.run().await,
        &expect![[r"
        I keep printing.
        partial model-stuck"]],
    );
}

#[tokio::test]
async fn a_cell_that_breaks_in_the_same_way_again_and_again_is_stopped() {
    let scene = Scene::of(
        Strategy::Repl,
        [conclusion("It breaks."), when(|_| true).reply(cell("print(no_such_name)"))],
    );
    check(
        &scene.run().await,
        &expect![[r"
        It breaks.
        partial model-stuck"]],
    );
    assert_eq!(scene.stage.server.requests().len(), 5);
}

#[tokio::test]
async fn two_cells_in_turns_are_a_circle() {
    let scene = Scene::of(
        Strategy::Repl,
        [
            conclusion("It is a circle."),
            on("0#0").reply(cell("print(1)")),
            on("0#2").reply(cell("print(1)")),
            on("0#4").reply(cell("print(1)")),
            when(|_| true).reply(cell("print(2)")),
        ],
    );
    check(
        &scene.run().await,
        &expect![[r"
        It is a circle.
        partial model-stuck"]],
    );
}

#[tokio::test]
async fn an_answer_that_is_empty_or_code_never_leaves_a_session() {
    for answer in ["''", "'```python\\nprint(1)\\n```'", "{'name': 'Read', 'arguments': {}}"] {
        let scene = Scene::of(
            Strategy::Repl,
            [
                conclusion("I gave none."),
                when(|_| true).reply(cell(&format!("context[:1]\nFINAL({answer})"))),
            ],
        );
        check(
            &scene.run().await,
            &expect![[r"
            I gave none.
            partial model-stuck"]],
        );
    }
}

#[tokio::test]
async fn a_child_without_an_answer_is_an_exception_in_its_parent() {
    let parent = "try:\n    print(rlm_query('Which number?', context))\nexcept ModelError as error:\n    FINAL(str(error))";
    let scene = Scene::of(
        Strategy::Repl,
        [on("0#0").reply(cell(parent)), when(|_| true).reply(cell("print(len(context))"))],
    );
    check(
        &scene.run().await,
        &expect![[r"
        model-stuck: frame `0.0` failed: the reply is only a code block, even after a retry
        answered"]],
    );
}

#[tokio::test]
async fn an_agent_that_makes_the_same_call_again_and_again_is_stopped() {
    for (tool, arguments) in [
        ("Grep", r#"{"pattern": "magic"}"#),
        ("RunScript", r#"{"name": "try", "code": "print(1)"}"#),
        ("Finish", "{}"),
    ] {
        let scene = Scene::of(
            Strategy::Agent,
            [conclusion("Perhaps 42."), when(|_| true).reply("").tool_call(tool, arguments)],
        );
        check(
            &scene.run().await,
            &expect![[r"
            Perhaps 42.
            partial model-stuck"]],
        );
        assert_eq!(scene.stage.server.requests().len(), 5, "{tool}");
    }
}

#[tokio::test]
async fn an_agent_that_concludes_with_a_call_is_asked_once_more_and_ends() {
    let scene =
        Scene::of(Strategy::Agent, [when(|_| true).reply("").tool_call("Grep", r#"{"pattern": "magic"}"#)]);
    check(
        &scene.run().await,
        &expect![[r"
        model-stuck: no answer: the reply is a tool call, even after a retry
        hint: rephrase the question, or choose a stronger model"]],
    );
    assert_eq!(scene.stage.server.requests().len(), 6);
}

#[tokio::test]
async fn a_report_is_not_summed_up_by_code() {
    let report = r#"{"relevant": true, "summary": "It is 42.", "answer": "It is 42.", "findings": []}"#;
    let scene = Scene::of(
        Strategy::Map,
        [when(|prompt| prompt.contains("one JSON object")).reply(report), when(|_| true).reply(CODE)],
    );
    check(
        &scene.run().await,
        &expect![[r"
            ## Summary

            No summary could be written; these are the findings.

            ## Per-File Findings

            No findings.

            ## Coverage

            - 1 document, read in 1 task
            - Failed and not covered: 1
              - synthesis of prose: A model repeated itself, took no action, or wrote code or calls instead of an answer.
            partial model-stuck"]],
    );
}
