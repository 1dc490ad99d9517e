//! Providers that reject, fail, or return nonsense. The run is recorded, and the output names the next step.

use expect_test::{Expect, expect};
use spelunk_testkit::{ClosedPort, Fault, ModelServer, status};

use crate::scene::{NOTE, QUESTION, REPLY, Scene, n_calls, short, to_all};

/// Asks a server that always fails this way, and returns the number of requests.
#[track_caller]
fn failed(fault: impl Into<Fault>, expected: &Expect) -> usize {
    let server = ModelServer::start_blocking([to_all().always(fault)]);
    let scene = Scene::new(&NOTE);
    let ask = scene.ask(&server).env("OPENAI_API_KEY", "sk-test").impatient();
    ask.arg("--model=tiny").run().check(expected);
    n_calls(&server)
}

#[test]
fn a_wrong_key_is_not_tried_again() {
    assert_eq!(
        failed(
            status(401),
            &expect![[r#"
                --- stderr
                openai/tiny (OPENAI_API_KEY is set)
                1 file · 0 B read of 35 B · 1 call · 0 tokens · $0.00 · TIME · run SHORT
                error: call `0#0` failed: the provider at `http://127.0.0.1:PORT/v1` rejected the key: scripted status 401

                hint: check the key in the environment, then run `spelunk doctor`
                Continue: spelunk resume SHORT
                --- exit 1
            "#]]
        ),
        1
    );
}

#[test]
fn an_unknown_model_is_not_tried_again() {
    assert_eq!(
        failed(
            status(404),
            &expect![[r#"
                --- stderr
                openai/tiny (OPENAI_API_KEY is set)
                1 file · 0 B read of 35 B · 1 call · 0 tokens · $0.00 · TIME · run SHORT
                error: call `0#0` failed: the provider at `http://127.0.0.1:PORT/v1` does not offer `tiny`: scripted status 404

                hint: choose another model with `--model`, or check `--base-url`
                --- exit 1
            "#]]
        ),
        1
    );
}

#[test]
fn a_storm_of_429_ends_after_the_retries() {
    assert_eq!(
        failed(
            status(429),
            &expect![[r#"
                --- stderr
                openai/tiny (OPENAI_API_KEY is set)
                1 file · 0 B read of 35 B · 4 calls · 0 tokens · $0.00 · TIME · run SHORT
                error: call `0#0` failed: the provider's rate limit was reached

                hint: wait a moment, or lower `limits.calls_parallel_max`
                Continue: spelunk resume SHORT
                --- exit 1
            "#]]
        ),
        4
    );
}

#[test]
fn a_server_that_breaks_is_asked_again_until_the_retries_end() {
    assert_eq!(
        failed(
            status(500),
            &expect![[r#"
                --- stderr
                openai/tiny (OPENAI_API_KEY is set)
                1 file · 0 B read of 35 B · 4 calls · 0 tokens · $0.00 · TIME · run SHORT
                error: call `0#0` failed: the provider returned status 500: scripted status 500

                hint: try again in a few minutes, choose another model with `--model`, or set a `fallback`
                Continue: spelunk resume SHORT
                --- exit 1
            "#]]
        ),
        4
    );
}

#[test]
fn an_overloaded_provider_is_asked_again_until_the_retries_end() {
    assert_eq!(
        failed(
            status(529),
            &expect![[r#"
                --- stderr
                openai/tiny (OPENAI_API_KEY is set)
                1 file · 0 B read of 35 B · 4 calls · 0 tokens · $0.00 · TIME · run SHORT
                error: call `0#0` failed: the provider is overloaded

                hint: try again in a few minutes, choose another model with `--model`, or set a `fallback`
                Continue: spelunk resume SHORT
                --- exit 1
            "#]]
        ),
        4
    );
}

#[test]
fn a_stream_that_is_not_json_is_asked_for_again() {
    assert_eq!(
        failed(
            Fault::MalformedJson,
            &expect![[r#"
                --- stderr
                openai/tiny (OPENAI_API_KEY is set)
                1 file · 0 B read of 35 B · 4 calls · 952 tokens · $0.00 · TIME · run SHORT
                error: call `0#0` failed: the reply is not in the provider's format: an event is not valid: EOF while parsing a value at line 1 column 9

                hint: check that `--base-url` points to the API and not to a web page, or what the program in `model.command` prints
                Continue: spelunk resume SHORT
                --- exit 1
            "#]]
        ),
        4
    );
}

#[test]
fn a_stream_that_ends_early_is_asked_for_again() {
    assert_eq!(
        failed(
            Fault::CutStream,
            &expect![[r#"
                --- stderr
                openai/tiny (OPENAI_API_KEY is set)
                1 file · 0 B read of 35 B · 4 calls · 952 tokens · $0.00 · TIME · run SHORT
                error: call `0#0` failed: the reply was cut off before its end

                hint: try again; if this persists, check for a proxy that cuts off long replies
                Continue: spelunk resume SHORT
                --- exit 1
            "#]]
        ),
        4
    );
}

#[test]
fn a_web_page_is_no_reply() {
    assert_eq!(
        failed(
            Fault::WrongContentType,
            &expect![[r#"
                --- stderr
                openai/tiny (OPENAI_API_KEY is set)
                1 file · 0 B read of 35 B · 4 calls · 944 tokens · $0.00 · TIME · run SHORT
                error: call `0#0` failed: the reply is not in the provider's format: its content type is `text/html`

                hint: check that `--base-url` points to the API and not to a web page, or what the program in `model.command` prints
                Continue: spelunk resume SHORT
                --- exit 1
            "#]]
        ),
        4
    );
}

#[test]
fn a_reply_of_ten_megabytes_is_cut_off() {
    assert_eq!(
        failed(
            Fault::LongReply { bytes: 10_000_000 },
            &expect![[r#"
                --- stderr
                openai/tiny (OPENAI_API_KEY is set)
                1 file · 0 B read of 35 B · 1 call · 2.0M tokens · $0.00 · TIME · run SHORT
                error: call `0#0` failed: the reply is longer than 8000000 bytes

                hint: raise `limits.reply_bytes_max`
                Continue: spelunk resume SHORT
                --- exit 1
            "#]]
        ),
        1
    );
}

#[test]
fn escapes_of_a_provider_do_not_reach_the_terminal() {
    let fault = status(400).message("bad \u{1b}[31mrequest\u{1b}]0;owned\u{7}\nsecond line");
    assert_eq!(
        failed(
            fault,
            &expect![[r#"
                --- stderr
                openai/tiny (OPENAI_API_KEY is set)
                1 file · 0 B read of 35 B · 1 call · 0 tokens · $0.00 · TIME · run SHORT
                error: call `0#0` failed: the provider rejected the request with status 400: bad [31mrequest ]0;owned second line

                hint: check that the model supports such requests (`spelunk model test`), or choose another with `--model`
                Continue: spelunk resume SHORT
                --- exit 1
            "#]]
        ),
        1
    );
}

#[test]
fn a_refused_connection_ends_after_the_retries_and_the_run_can_go_on() {
    let (scene, port) = (Scene::new(&NOTE), ClosedPort::reserve());
    let base_url = port.base_url();
    let ask =
        scene.spelunk(["ask", QUESTION, "notes", "--model", "tiny", "--base-url", &base_url]).impatient();
    ask.run().check(&expect![[r#"
        --- stderr
        openai/tiny (model.base_url is set)
        1 file · 0 B read of 35 B · 4 calls · 0 tokens · $0.00 · TIME · run SHORT
        error: call `0#0` failed: could not reach `http://127.0.0.1:PORT/v1`: Connection refused (os error 111)

        hint: check that the server is running and that `--base-url` is correct, then run `spelunk doctor`
        Continue: spelunk resume SHORT
        --- exit 1
    "#]]);
    let run = scene.only_run();
    // The same model at another URL.
    let server = ModelServer::start_blocking([to_all().reply(REPLY).usage(100, 20)]);
    let base_url = server.base_url();
    let resume = scene.spelunk(["resume", short(&run), "--model", "tiny", "--base-url", &base_url]);
    resume.run().check(&expect![[r#"
        The magic number is 42.
          a.md:3  The magic number is 42.
        --- stderr
        resuming run SHORT after event 9: no completed calls to reuse
        1 file · 35 B read · 5 calls · 120 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
}

#[test]
fn a_refused_connection_while_looking_for_models_records_no_run() {
    let (scene, port) = (Scene::new(&NOTE), ClosedPort::reserve());
    scene.spelunk(["ask", QUESTION, "--base-url", &port.base_url()]).run().check(&expect![[r"
        --- stderr
        error: could not reach `http://127.0.0.1:PORT/v1`: Connection refused (os error 111)

        hint: check that the server is running and that `--base-url` is correct, then run `spelunk doctor`
        --- exit 1
    "]]);
    assert!(!scene.exists(".spelunk"));
}

#[test]
fn json_holds_the_error_of_a_failed_run() {
    let server = ModelServer::start_blocking([to_all().always(status(400))]);
    let scene = Scene::new(&NOTE);
    let ran = scene.ask(&server).arg("--model=tiny").arg("--json").arg("-q").run();
    expect![[r#"
        {
          "active_ms": 0,
          "answer": null,
          "bytes_read": 0,
          "calls": 1,
          "calls_cached": 0,
          "citations": null,
          "confidence": null,
          "corpus_bytes": 35,
          "degraded": false,
          "documents": 1,
          "documents_read": 0,
          "error": {
            "causes": [],
            "code": "model-request-refused",
            "hint": "check that the model supports such requests (`spelunk model test`), or choose another with `--model`",
            "message": "call `0#0` failed: the provider rejected the request with status 400: scripted status 400"
          },
          "errors": [
            {
              "call": null,
              "code": "model-request-refused",
              "frame": "0",
              "message": "call `0#0` failed: the provider rejected the request with status 400: scripted status 400",
              "seq": 6
            }
          ],
          "evidence": [],
          "grounding": null,
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
            "tokens": 0,
            "tools": {}
          },
          "model": "openai/tiny",
          "outcome": {
            "code": "model-request-refused",
            "is": "failed",
            "message": "call `0#0` failed: the provider rejected the request with status 400: scripted status 400"
          },
          "redacted": {},
          "run": "RUN",
          "skipped": {},
          "success": false,
          "usage": {
            "input_tokens": 0,
            "output_tokens": 0
          },
          "warnings": []
        }
    "#]].assert_eq(&format!("{:#}\n", scene.normalise_json(&ran.stdout)));
    expect![[r#"
        error: call `0#0` failed: the provider rejected the request with status 400: scripted status 400

        hint: check that the model supports such requests (`spelunk model test`), or choose another with `--model`
    "#]]
    .assert_eq(&scene.normalise(&ran.stderr));
    assert_eq!(ran.code, 1);
}
