//! `spelunk ask` with a model: the answer on stdout, the conversation on stderr.

use expect_test::expect;
use spelunk_testkit::{ModelServer, status};

use crate::scene::{NOTE, QUESTION, REPLY, Scene, answering, to_all};

#[test]
fn a_folder_is_answered_with_its_evidence() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    scene.ask(&server).run().check(&expect![[r#"
        The magic number is 42.
          a.md:3  The magic number is 42.
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        1 file · 35 B read · 1 call · 120 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
    assert_eq!(server.unexpected(), []);
}

#[test]
fn the_current_directory_is_what_is_asked_about_without_a_path() {
    let (scene, server) = (Scene::new(&NOTE), answering(&REPLY.replace("a.md", "notes/a.md")));
    scene.spelunk(["ask", QUESTION]).server(&server).run().check(&expect![[r#"
        The magic number is 42.
          notes/a.md:3  The magic number is 42.
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        1 file · 35 B read · 1 call · 120 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
}

#[test]
fn anthropic_is_asked_where_its_key_is_set() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let base_url = server.base_url().replace("/v1", "");
    let ask = scene.spelunk(["ask", QUESTION, "notes"]).env("ANTHROPIC_API_KEY", "sk-ant-test");
    ask.env("ANTHROPIC_BASE_URL", &base_url).run().check(&expect![[r#"
        The magic number is 42.
          a.md:3  The magic number is 42.
        --- stderr
        anthropic/claude-sonnet-5-5, sub-calls: anthropic/claude-haiku-5-5 (ANTHROPIC_API_KEY is set)
        1 file · 35 B read · 1 call · 120 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
    let [list, request] = <[_; 2]>::try_from(server.requests()).unwrap();
    assert_eq!(list.path, "/v1/models?limit=1000");
    assert_eq!((request.path.as_str(), request.header("x-api-key")), ("/v1/messages", Some("sk-ant-test")));
}

#[test]
fn a_question_alone_means_ask() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    scene.spelunk([QUESTION, "notes"]).server(&server).run().check(&expect![[r#"
        The magic number is 42.
          a.md:3  The magic number is 42.
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        1 file · 35 B read · 1 call · 120 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
}

#[test]
fn standard_input_is_a_document() {
    let reply = "42.\n\n```evidence\nstdin:2: forty-two\n```";
    let (scene, server) = (Scene::new(&[]), answering(reply));
    let ask = scene.spelunk(["ask", QUESTION, "-"]).server(&server);
    ask.stdin("one\nforty-two\n").run().check(&expect![[r#"
        42.
          stdin:2  forty-two
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        1 file · 14 B read · 1 call · 120 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
}

#[test]
fn a_file_is_cited_by_the_path_that_was_typed_and_still_is_when_the_run_is_resumed() {
    let reply = "Both.\n\n```evidence\nb/two.md:1: second\n```";
    let rule = to_all().fault(status(400)).reply(reply).usage(100, 20);
    let (scene, server) = (Scene::new(&[("b/two.md", "second\n")]), ModelServer::start_blocking([rule]));
    assert_eq!(scene.spelunk(["ask", QUESTION, "./b/two.md"]).server(&server).run().code, 1);
    scene.spelunk(["resume"]).server(&server).run().check(&expect![[r#"
        Both.
          b/two.md:1  second
        --- stderr
        resuming run SHORT after event 6: no completed calls to reuse
        1 file · 7 B read · 2 calls · 120 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
}

#[test]
fn several_paths_are_one_corpus() {
    let files = [("a/one.md", "first\n"), ("b/two.md", "second\n"), ("c/three.md", "third\n")];
    let reply = "Both.\n\n```evidence\na/one.md:1: first\nb/two.md:1: second\n```";
    let (scene, server) = (Scene::new(&files), answering(reply));
    scene.spelunk(["ask", QUESTION, "a", "b/two.md"]).server(&server).run().check(&expect![[r#"
        Both.
          a/one.md:1  first
          b/two.md:1  second
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        2 files · 13 B read · 1 call · 120 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
}

#[test]
fn what_was_skipped_and_what_was_not_found_is_said() {
    let files = [
        ("notes/a.md", "alpha\n"),
        ("notes/.hidden", "h\n"),
        ("notes/b.bin", "\0\0\0\0"),
        ("notes/.env", "KEY=1\n"),
    ];
    let reply = "Alpha.\n\n```evidence\na.md:1: alpha\na.md:7: beta\n```";
    let (scene, server) = (Scene::new(&files), answering(reply));
    scene.ask(&server).run().check(&expect![[r#"
        Alpha.
          a.md:1  alpha
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        1 citation not found in the sources and left out
        Skipped: 1 binary, 1 hidden, 1 secret
        1 file · 6 B read · 1 call · 120 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
}

#[test]
fn quiet_prints_nothing_but_the_answer() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    scene.ask(&server).arg("-q").run().check(&expect![[r"
        The magic number is 42.
          a.md:3  The magic number is 42.
        --- stderr
        --- exit 0
    "]]);
}

#[test]
fn json_is_one_object() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let ran = scene.ask(&server).arg("--json").run();
    expect![[r#"
        {
          "active_ms": 0,
          "answer": "The magic number is 42.",
          "bytes_read": 35,
          "calls": 1,
          "calls_cached": 0,
          "citations": [
            {
              "document": "a.md",
              "line": 3,
              "quote": "The magic number is 42."
            }
          ],
          "confidence": 1.0,
          "corpus_bytes": 35,
          "degraded": false,
          "documents": 1,
          "documents_read": 1,
          "error": null,
          "errors": [],
          "evidence": [
            {
              "document": "a.md",
              "found": "exact",
              "is": "citation",
              "line": 3,
              "quote": "The magic number is 42."
            }
          ],
          "grounding": "cited",
          "metrics": {
            "active_ms": 0,
            "calls": 1,
            "calls_cached": 0,
            "calls_failed": 0,
            "cells": 0,
            "cost_microusd": 0,
            "frames": 1,
            "resumed": 0,
            "retries": 0,
            "tokens": 120,
            "tools": {}
          },
          "model": "openai/scripted",
          "outcome": {
            "is": "answered"
          },
          "redacted": {},
          "run": "RUN",
          "skipped": {},
          "success": true,
          "usage": {
            "input_tokens": 100,
            "output_tokens": 20
          },
          "warnings": []
        }
    "#]]
    .assert_eq(&format!("{:#}\n", scene.normalise_json(&ran.stdout)));
    assert_eq!(ran.code, 0);
}

#[test]
fn a_busy_provider_is_asked_again_and_the_tree_says_so() {
    let busy = || status(429).retry_after_ms(1);
    let server =
        ModelServer::start_blocking([to_all().fault(busy()).fault(busy()).reply(REPLY).usage(100, 20)]);
    let scene = Scene::new(&NOTE);
    assert_eq!(scene.ask(&server).impatient().run().code, 0);
    scene.spelunk(["show"]).run().check(&expect![[r"
        run       RUN  (answered)
        question  What is the magic number?
        model     openai/scripted
        corpus    1 file · 35 B

        0  direct  answered, 1 citation  TIME
        └─ 0#0  100 → 20 tokens  $0.00  TIME  (2 retries)

        The magic number is 42.
          a.md:3  The magic number is 42.

        1 file · 35 B read · 3 calls · 120 tokens · $0.00 · TIME · run SHORT
        --- stderr
        --- exit 0
    "]]);
}

#[test]
fn prices_from_settings_count_dollars() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let ask = scene.ask(&server).arg("--set=model.price_input_usd_per_mtok=10");
    ask.arg("--set=model.price_output_usd_per_mtok=20").run().check(&expect![[r#"
        The magic number is 42.
          a.md:3  The magic number is 42.
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        1 file · 35 B read · 1 call · 120 tokens · $0.0014 · TIME · run SHORT
        --- exit 0
    "#]]);
}

#[test]
fn evidence_that_is_nowhere_is_said_to_be_none() {
    let (scene, server) = (Scene::new(&NOTE), answering("It is 43.\n\n```evidence\na.md:3: It is 43.\n```"));
    scene.ask(&server).run().check(&expect![[r#"
        It is 43.
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        warning: a quote in the answer is not in the text shown to the model (do not rely on this answer without checking it)
        1 file · 35 B read · 1 call · 120 tokens · $0.00 · TIME · no citations · run SHORT
        --- exit 0
    "#]]);
}
