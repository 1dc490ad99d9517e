//! `spelunk doctor`: what is checked, the results, and the suggested fixes.

use expect_test::expect;
use spelunk_testkit::{ClosedPort, ModelServer, on, status};

use crate::scene::{NOTE, Scene, answering, to_all};

#[test]
fn all_is_well() {
    let (scene, server) = (Scene::new(&NOTE), answering("ready"));
    scene.spelunk(["doctor"]).server(&server).run().check(&expect![[r#"
        ok    settings   defaults, no settings file
        ok    workspace  none yet; the first `ask` creates DIR/work/.spelunk
        ok    sandbox    monty (a session starts in TIME)
        ok    model      openai/scripted (OPENAI_BASE_URL is set)
        ok    price      free
        ok    reach      http://127.0.0.1:PORT/v1 offers it
        --- stderr
        --- exit 0
    "#]]);
    let paths: Vec<_> = server.requests().into_iter().map(|request| request.path).collect();
    assert_eq!(paths, ["/v1/models", "/v1/models"]);
}

#[test]
fn no_model_is_a_note() {
    Scene::new(&NOTE).spelunk(["doctor"]).run().check(&expect![[r#"
        ok    settings   defaults, no settings file
        ok    workspace  none yet; the first `ask` creates DIR/work/.spelunk
        ok    sandbox    monty (a session starts in TIME)
        note  model      none: set ANTHROPIC_API_KEY or OPENAI_API_KEY, start a local server such as Ollama, or set --base-url; without a model, `ask` shows passages
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn a_server_that_cannot_be_reached_is_bad() {
    let (scene, port) = (Scene::new(&NOTE), ClosedPort::reserve());
    scene.spelunk(["doctor", "--base-url", &port.base_url()]).run().check(&expect![[r#"
        ok    settings   defaults, no settings file
        ok    workspace  none yet; the first `ask` creates DIR/work/.spelunk
        ok    sandbox    monty (a session starts in TIME)
        bad   model      could not reach `http://127.0.0.1:PORT/v1`: Connection refused (os error 111); check that the server is running and that `--base-url` is correct, then run `spelunk doctor`
        --- stderr
        --- exit 1
    "#]]);
    scene.spelunk(["doctor", "--base-url", &port.base_url(), "--model", "tiny"]).run().check(&expect![[r#"
        ok    settings   defaults, no settings file
        ok    workspace  none yet; the first `ask` creates DIR/work/.spelunk
        ok    sandbox    monty (a session starts in TIME)
        ok    model      openai/tiny (model.base_url is set)
        ok    price      free
        bad   reach      could not reach `http://127.0.0.1:PORT/v1`: Connection refused (os error 111); check that the server is running and that `--base-url` is correct, then run `spelunk doctor`
        --- stderr
        --- exit 1
    "#]]);
}

#[test]
fn a_model_that_the_server_does_not_list_is_a_note() {
    let (scene, server) = (Scene::new(&NOTE), answering("ready"));
    scene.spelunk(["doctor", "--model", "tiny"]).server(&server).run().check(&expect![[r#"
        ok    settings   defaults, no settings file
        ok    workspace  none yet; the first `ask` creates DIR/work/.spelunk
        ok    sandbox    monty (a session starts in TIME)
        ok    model      openai/tiny (OPENAI_BASE_URL is set)
        ok    price      free
        note  reach      http://127.0.0.1:PORT/v1 does not list `tiny`
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn asked_to_it_sends_one_question() {
    let (scene, server) = (Scene::new(&NOTE), answering("ready"));
    scene.spelunk(["doctor", "--ask", "--model", "scripted"]).server(&server).run().check(&expect![[r#"
        ok    settings   defaults, no settings file
        ok    workspace  none yet; the first `ask` creates DIR/work/.spelunk
        ok    sandbox    monty (a session starts in TIME)
        ok    model      openai/scripted (OPENAI_BASE_URL is set)
        ok    price      free
        ok    ask        replied in TIME: ready
        --- stderr
        --- exit 0
    "#]]);
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn a_model_that_says_nothing_is_bad() {
    let (scene, server) = (Scene::new(&NOTE), answering(""));
    scene.spelunk(["doctor", "--ask", "--model", "scripted"]).server(&server).run().check(&expect![[r#"
        ok    settings   defaults, no settings file
        ok    workspace  none yet; the first `ask` creates DIR/work/.spelunk
        ok    sandbox    monty (a session starts in TIME)
        ok    model      openai/scripted (OPENAI_BASE_URL is set)
        ok    price      free
        bad   ask        the reply is empty; for a reasoning model, raise `limits.root_output_tokens_max` (sub-calls and analysts have their own limits), or choose another with `--model`
        --- stderr
        --- exit 1
    "#]]);
}

#[test]
fn a_wrong_key_is_found_by_asking() {
    let server =
        ModelServer::start_blocking([on("models").always(status(401)), to_all().always(status(401))]);
    let scene = Scene::new(&NOTE);
    let doctor = |args: &[&'static str]| {
        let args = [&["doctor", "--model", "scripted"], args].concat();
        scene.spelunk(args).server(&server).env("OPENAI_API_KEY", "sk-wrong").run()
    };
    doctor(&[]).check(&expect![[r#"
        ok    settings   defaults, no settings file
        ok    workspace  none yet; the first `ask` creates DIR/work/.spelunk
        ok    sandbox    monty (a session starts in TIME)
        ok    model      openai/scripted (OPENAI_API_KEY is set)
        ok    price      free
        bad   reach      the provider at `http://127.0.0.1:PORT/v1` rejected the key: scripted status 401; check the key in the environment, then run `spelunk doctor`
        --- stderr
        --- exit 1
    "#]]);
    doctor(&["--ask"]).check(&expect![[r#"
        ok    settings   defaults, no settings file
        ok    workspace  none yet; the first `ask` creates DIR/work/.spelunk
        ok    sandbox    monty (a session starts in TIME)
        ok    model      openai/scripted (OPENAI_API_KEY is set)
        ok    price      free
        bad   ask        the provider at `http://127.0.0.1:PORT/v1` rejected the key: scripted status 401; check the key in the environment, then run `spelunk doctor`
        --- stderr
        --- exit 1
    "#]]);
}

#[test]
fn anthropic_is_asked_for_its_list() {
    let (scene, server) = (Scene::new(&NOTE), answering("ready"));
    let doctor = scene.spelunk(["doctor"]).env("ANTHROPIC_API_KEY", "sk-ant-test");
    doctor.env("ANTHROPIC_BASE_URL", &server.base_url().replace("/v1", "")).run().check(&expect![[r#"
        ok    settings   defaults, no settings file
        ok    workspace  none yet; the first `ask` creates DIR/work/.spelunk
        ok    sandbox    monty (a session starts in TIME)
        ok    model      anthropic/claude-sonnet-5-5 (ANTHROPIC_API_KEY is set)
        ok    price      free
        note  reach      http://127.0.0.1:PORT does not list `claude-sonnet-5-5`
        ok    sub        anthropic/claude-haiku-5-5 (cheaper model of the same provider)
        ok    price      free
        note  reach      http://127.0.0.1:PORT does not list `claude-haiku-5-5`
        --- stderr
        --- exit 0
    "#]]);
    // The default models, and the reach of the root and of the sub-model.
    assert_eq!(server.requests().len(), 3);
    assert_eq!(server.requests()[0].header("x-api-key"), Some("sk-ant-test"));
}

#[test]
fn json_lists_the_checks() {
    let (scene, server) = (Scene::new(&NOTE), answering("ready"));
    scene.write("spelunk.toml", b"[limits]\ncalls_max = 7\n");
    let ran = scene.spelunk(["doctor", "--json"]).server(&server).run();
    expect![[r#"
        [
          {
            "check": "settings",
            "detail": "DIR/work/spelunk.toml",
            "outcome": "ok"
          },
          {
            "check": "workspace",
            "detail": "none yet; the first `ask` creates DIR/work/.spelunk",
            "outcome": "ok"
          },
          {
            "check": "sandbox",
            "detail": "monty (a session starts in TIME)",
            "outcome": "ok"
          },
          {
            "check": "model",
            "detail": "openai/scripted (OPENAI_BASE_URL is set)",
            "outcome": "ok"
          },
          {
            "check": "price",
            "detail": "free",
            "outcome": "ok"
          },
          {
            "check": "reach",
            "detail": "http://127.0.0.1:PORT/v1 offers it",
            "outcome": "ok"
          }
        ]
    "#]]
    .assert_eq(&format!("{:#}\n", scene.normalise_json(&ran.stdout)));
}

#[test]
fn a_workspace_that_cannot_be_used_is_bad() {
    let scene = Scene::new(&[(".spelunk", "a file\n")]);
    scene.spelunk(["doctor"]).run().check(&expect![[r#"
        ok    settings   defaults, no settings file
        ok    workspace  none yet; the first `ask` creates DIR/work/.spelunk
        ok    sandbox    monty (a session starts in TIME)
        note  model      none: set ANTHROPIC_API_KEY or OPENAI_API_KEY, start a local server such as Ollama, or set --base-url; without a model, `ask` shows passages
        --- stderr
        --- exit 0
    "#]]);
}
