//! Which model is called with which key: from flags, the environment, or the server's list.

use expect_test::expect;
use spelunk_testkit::ModelServer;

use crate::scene::{NOTE, QUESTION, REPLY, Scene, answering};

/// The methods, paths and keys that the server received.
fn arrived(server: &ModelServer) -> Vec<(String, Option<String>)> {
    let told = |request: spelunk_testkit::Recorded| {
        let key = request.header("authorization").map(str::to_owned);
        (format!("{} {}", request.method, request.path), key)
    };
    server.requests().into_iter().map(told).collect()
}

#[test]
fn a_base_url_is_asked_for_its_models() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let base_url = server.base_url();
    scene.spelunk(["ask", QUESTION, "notes", "--base-url", &base_url]).run().check(&expect![[r#"
        The magic number is 42.
          a.md:3  The magic number is 42.
        --- stderr
        openai/scripted (model.base_url is set)
        1 file · 35 B read · 1 call · 120 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
    let expected = [("GET /v1/models".to_owned(), None), ("POST /v1/chat/completions".to_owned(), None)];
    assert_eq!(arrived(&server), expected);
}

#[test]
fn a_named_model_is_not_looked_for() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    scene.ask(&server).arg("--model=openai/tiny").run().check(&expect![[r#"
        The magic number is 42.
          a.md:3  The magic number is 42.
        --- stderr
        openai/tiny (set with --model)
        1 file · 35 B read · 1 call · 120 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
    assert_eq!(arrived(&server), [("POST /v1/chat/completions".to_owned(), None)]);
    assert_eq!(server.requests()[0].json()["model"], "tiny");
}

#[test]
fn the_key_comes_from_the_variable_that_settings_name() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    std::fs::create_dir_all(scene.home().join(".config/spelunk")).unwrap();
    std::fs::write(scene.home().join(".config/spelunk/config.toml"), "[model]\nkey_env = \"MY_KEY\"\n")
        .unwrap();
    let ran = scene
        .ask(&server)
        .arg("--model=tiny")
        .env("MY_KEY", "sk-mine")
        .env("OPENAI_API_KEY", "sk-other")
        .run();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let key = Some("Bearer sk-mine".to_owned());
    assert_eq!(arrived(&server), [("POST /v1/chat/completions".to_owned(), key)]);
}

#[test]
fn the_key_comes_from_the_command_that_settings_name() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let ran =
        scene.ask(&server).arg("--model=tiny").env("SPELUNK_MODEL_KEY_COMMAND", "echo sk-$((40 + 2))").run();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let key = Some("Bearer sk-42".to_owned());
    assert_eq!(arrived(&server), [("POST /v1/chat/completions".to_owned(), key)]);
}

#[test]
fn a_key_command_that_prints_nothing_is_refused() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let ask = scene.ask(&server).env("SPELUNK_MODEL_KEY_COMMAND", "true");
    ask.run().check(&expect![[r"
        --- stderr
        error: `model.key_command` did not print a key: it printed nothing

        hint: run the command by hand; it must print only the key
        --- exit 2
    "]]);
    assert_eq!(arrived(&server), []);
    assert!(!scene.exists(".spelunk"));
}

#[test]
fn a_provider_without_a_key_is_refused() {
    let scene = Scene::new(&NOTE);
    scene.spelunk(["ask", QUESTION, "--model", "anthropic/claude-sonnet-4-5"]).run().check(&expect![[r"
        --- stderr
        error: no API key for Anthropic

        hint: set `ANTHROPIC_API_KEY`, or use a local server with `--base-url`
        --- exit 2
    "]]);
    assert!(!scene.exists(".spelunk"));
}

/// The URL of each provider, and the header of its key.
#[test]
fn every_provider_is_asked_in_its_own_format() {
    let cases = [
        ("openai/tiny", "OPENAI_API_KEY", "/v1/chat/completions", "authorization"),
        ("openai-responses/tiny", "OPENAI_API_KEY", "/v1/responses", "authorization"),
        ("anthropic/tiny", "ANTHROPIC_API_KEY", "/v1/messages", "x-api-key"),
        ("gemini/tiny", "GEMINI_API_KEY", "/v1/models/tiny:streamGenerateContent?alt=sse", "x-goog-api-key"),
        ("bedrock/tiny", "AWS_BEARER_TOKEN_BEDROCK", "/v1/model/tiny/converse-stream", "authorization"),
        (
            "azure/tiny",
            "AZURE_OPENAI_API_KEY",
            "/v1/openai/deployments/tiny/chat/completions?api-version=2024-10-21",
            "api-key",
        ),
    ];
    for (model, variable, path, header) in cases {
        let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
        let base_url = server.base_url();
        let ask = scene.spelunk(["ask", QUESTION, "notes", "--model", model, "--base-url", &base_url]);
        let ran = ask.env(variable, "key-of-mine").run();
        assert_eq!(ran.code, 0, "{model}: {}", ran.stderr);
        assert!(ran.stdout.starts_with("The magic number is 42."), "{model}: {}", ran.stdout);
        let requests = server.requests();
        assert_eq!(requests.len(), 1, "{model}");
        assert_eq!(requests[0].path, path, "{model}");
        let sent = requests[0].header(header).unwrap_or_default();
        assert!(sent.ends_with("key-of-mine"), "{model}: {sent}");
    }
}

#[test]
fn a_program_can_be_the_model() {
    let scene = Scene::new(&NOTE);
    let arguments = ["ask", QUESTION, "notes", "--model", "command/mine"];
    let ran = scene.spelunk(arguments).arg("--set=model.command=echo It is 42.").run();
    ran.check(&expect![[r#"
        It is 42.
          a.md:3  The magic number is 42.
        --- stderr
        command/mine (set with --model)
        warning: no price is known for command/mine: its cost is not counted (set its prices with `model.price_input_usd_per_mtok` and `model.price_output_usd_per_mtok`, or the same fields of `models.NAME`, or use `--max-tokens` instead of `--max-cost`)
        1 file · 35 B read · 1 call · 239 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
    scene.spelunk(arguments).run().check(&expect![[r#"
        --- stderr
        error: `model.provider` is `command`, but `model.command` is empty

        hint: set `model.command` in your own settings file
        --- exit 2
    "#]]);
}
