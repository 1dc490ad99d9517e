//! A named model that is not usable is an error with exit code 2 in every command. No other model is used in its place,
//! and nothing is recorded.

use expect_test::expect;

use spelunk_testkit::{ModelServer, status};

use crate::scene::{NOTE, QUESTION, REPLY, Scene, answering, n_calls, to_all};

/// Commands that take a model.
const COMMANDS: [&[&str]; 7] = [
    &["ask", QUESTION, "notes"],
    &["plan", "notes"],
    &["repl", "notes"],
    &["serve", "--listen", "127.0.0.1:0"],
    &["mcp"],
    &["model", "test"],
    &["resume"],
];

#[test]
fn every_command_refuses_a_model_that_cannot_be_asked() {
    let scene = Scene::new(&NOTE);
    for (model, message) in [
        ("", "`--model ` does not name a model"),
        ("openai/", "`--model openai/` does not name a model"),
        ("/tiny", "`--model /tiny` does not name a model"),
        ("local:", "`--model local:` does not name a model"),
        ("tiny", "cannot use the model `tiny`: no key was found, and no local server offers it"),
        ("nobody/tiny", "cannot use the model `nobody/tiny`: no key was found, and no local server"),
        ("anthropic/claude-x", "no API key for Anthropic"),
        ("openai/gpt-x", "no API key for OpenAI"),
        ("gemini/gemini-x", "no API key for Gemini"),
        ("azure/x", "the base URL of the Azure resource is not set"),
        ("command/x", "`model.provider` is `command`, but `model.command` is empty"),
        ("local:absent", "the local model `absent` is not installed"),
    ] {
        for command in COMMANDS {
            let ran = scene.spelunk(command.iter().copied()).arg("--model").arg(model).run();
            let told = format!("error: {message}");
            assert!(ran.code == 2 && ran.stderr.starts_with(&told), "{command:?} {model}: {}", ran.stderr);
        }
    }
    assert!(!scene.exists(".spelunk"));
}

#[test]
fn a_sub_model_that_cannot_be_asked_is_refused_before_anything_is_sent() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    for (model, message) in [
        ("", "`--sub-model ` does not name a model"),
        ("openai/", "`--sub-model openai/` does not name a model"),
        ("local:absent", "the local model `absent` is not installed"),
    ] {
        for command in COMMANDS {
            let ran = scene.spelunk(command.iter().copied()).server(&server).arg("--sub-model").arg(model);
            let ran = ran.run();
            let told = format!("error: {message}");
            // `model test` reports the error by role and tests the other models too.
            let is_told = ran.stderr.starts_with(&told) || ran.stdout.contains(message);
            assert!(ran.code == 2 && is_told, "{command:?} {model}: {}{}", ran.stdout, ran.stderr);
        }
    }
    assert!(!scene.exists(".spelunk"));
}

#[test]
fn the_name_of_another_providers_model_is_refused_where_it_would_be_sent() {
    let scene = Scene::new(&NOTE);
    let ask = |arguments: [&'static str; 2]| {
        let ask = scene.spelunk(["ask", QUESTION, "notes"]).env("OPENAI_API_KEY", "sk-test");
        arguments.into_iter().fold(ask, crate::scene::Call::arg).run()
    };
    ask(["--model", "nobody/tiny"]).check(&expect![[r"
        --- stderr
        error: `nobody/tiny` is not a model of https://api.openai.com/v1

        hint: write PROVIDER/NAME with a provider listed in `spelunk ask --help`, or set the server with `--base-url`
        --- exit 2
    "]]);
    assert_eq!(ask(["--sub-model", "anthropic/claude-x"]).code, 2);
}

#[test]
fn a_run_does_not_go_on_without_a_model_or_with_one_that_cannot_be_asked() {
    let (scene, server) = (Scene::new(&NOTE), ModelServer::start_blocking([to_all().always(status(400))]));
    assert_eq!(scene.ask(&server).run().code, 1);
    for (model, message) in [
        ("none", "error: run `SHORT` cannot continue without a model\n"),
        ("tiny", "error: cannot use the model `tiny`"),
    ] {
        let ran = scene.spelunk(["resume", "--model", model]).run();
        assert_eq!(ran.code, 2, "{model}: {}", ran.stderr);
        let told = scene.normalise(&ran.stderr);
        assert!(told.starts_with(message), "{told}");
    }
    assert_eq!(n_calls(&server), 1);
}

#[test]
fn whoever_names_no_model_still_gets_passages() {
    let ran = Scene::new(&NOTE).spelunk(["ask", QUESTION, "notes"]).run();
    assert_eq!(ran.code, 4, "{}", ran.stderr);
    let ran = Scene::new(&NOTE).spelunk(["ask", QUESTION, "notes", "--model", "none"]).run();
    assert_eq!(ran.code, 4, "{}", ran.stderr);
}

#[test]
fn a_setting_that_has_no_effect_any_more_is_accepted_and_said() {
    let scene = Scene::new(&NOTE);
    scene.write("spelunk.toml", b"[limits]\nstage_tasks_max = 3\nparsed_bytes_max = 1000\n");
    let ran = scene.spelunk(["config", "show", "--set", "limits.worker_chars_max=1"]);
    let ran = ran.env("SPELUNK_LIMITS_STAGE_TASKS_MAX", "4").run();
    assert_eq!(ran.code, 0);
    expect![[r"
        warning: `limits.stage_tasks_max` no longer has any effect: `limits.calls_parallel_max` limits how many analysts work at once (spelunk.toml:2)
        warning: `limits.parsed_bytes_max` no longer has any effect: code of any size is split by how its lines begin (spelunk.toml:3)
        warning: `limits.stage_tasks_max` no longer has any effect: `limits.calls_parallel_max` limits how many analysts work at once (SPELUNK_LIMITS_STAGE_TASKS_MAX)
        warning: `limits.worker_chars_max` no longer has any effect: `limits.analyst_output_tokens_max` limits how much an analyst writes (--set)
    "]]
    .assert_eq(&ran.stderr);
}
