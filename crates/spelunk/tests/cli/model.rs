//! `spelunk model list` and `spelunk model test`; limits in human units.

use expect_test::expect;
use spelunk_testkit::{ClosedPort, ModelServer, status};

use crate::scene::{NOTE, REPLY, Scene, answering, n_calls, to_all};

const READY: &str = r#"{"ready": true}"#;

fn settle(scene: &Scene, toml: &str) {
    std::fs::create_dir_all(scene.home().join(".config/spelunk")).unwrap();
    std::fs::write(scene.home().join(".config/spelunk/config.toml"), toml).unwrap();
}

/// Two models, one of them without its key.
fn two(scene: &Scene, base_url: &str) {
    settle(
        scene,
        &format!(
            "roles.root = 'smart'\nroles.sub = 'fast'\n\
             [models.fast]\nprovider = 'openai'\nname = 'tiny'\nbase_url = '{base_url}'\nfallback = ['smart']\n\
             requests_per_minute = 60\ncontext_tokens = 8000\n\
             [models.smart]\nprovider = 'anthropic'\nname = 'claude-sonnet-4-5'\nkey_env = 'SMART_KEY'\n\
             [models.secret]\nprovider = 'gemini'\nkey_command = 'exit 7'\n"
        ),
    );
}

#[test]
fn the_list_says_who_does_what_and_what_is_missing() {
    let scene = Scene::new(&[]);
    two(&scene, "http://127.0.0.1:9/v1");
    scene.spelunk(["model", "list"]).run().check(&expect![[r#"
        fast    openai/tiny                  sub · free · no key needed
                fallback: smart
                60 requests per minute, 8000 tokens of context
        secret  gemini/gemini-4-argon        no role · $2.00 in, $10.00 out per million tokens · key from a command
        smart   anthropic/claude-sonnet-4-5  root, synthesis · $3.00 in, $15.00 out per million tokens · no key: `models.smart.key_env` names `SMART_KEY`, which is not set; set `SMART_KEY`
        --- stderr
        --- exit 0
    "#]]);
    let set = scene.spelunk(["model", "list", "--json"]).env("SMART_KEY", "sk-hidden").run();
    assert!(!set.stdout.contains("sk-hidden"), "{}", set.stdout);
    let list: serde_json::Value = serde_json::from_str(&set.stdout).unwrap();
    let keys: Vec<_> = list["models"].as_array().unwrap().iter().map(|model| &model["key"]).collect();
    assert_eq!(keys, ["not-needed", "command", "set"]);
    assert_eq!(list["models"][2]["roles"], serde_json::json!(["root", "synthesis"]));
    assert_eq!(list["models"][2]["price"]["input_microusd_per_mtok"], 3_000_000);
}

#[test]
fn without_any_model_the_list_says_what_to_do() {
    let scene = Scene::new(&[]);
    scene.spelunk(["model", "list"]).run().check(&expect![[r#"
        No model is configured: set ANTHROPIC_API_KEY or OPENAI_API_KEY, start a local server such as Ollama, or add `[models.NAME]` to spelunk.toml.
        --- stderr
        --- exit 0
    "#]]);
    let plain = scene.spelunk(["model", "list"]).env("OPENAI_API_KEY", "sk-1");
    plain.run().check(&expect![[r#"
        model       openai/gpt-6.1-terra  root, synthesis · $1.00 in, $5.00 out per million tokens · key set
        gpt-6-luna  openai/gpt-6-luna     sub · $0.10 in, $0.50 out per million tokens · key set
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn a_test_says_what_a_model_can_do() {
    let (scene, server) = (Scene::new(&[]), answering(READY));
    two(&scene, &server.base_url());
    scene.spelunk(["model", "test", "fast"]).run().check(&expect![[r#"
        fast  openai/tiny
        ok    replied in TIME, first text after TIME
        ok    streams
        ok    usage: 100 → 20 tokens
        ok    cost $0.00
        ok    follows a JSON Schema
        --- stderr
        --- exit 0
    "#]]);
    assert_eq!(n_calls(&server), 1);
    let ran = scene.spelunk(["model", "test", "fast", "--json"]).run();
    let mut tested: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    for time in ["latency_ms", "first_word_ms"] {
        assert!(tested[0][time].is_u64(), "{tested}");
        tested[0][time] = 0.into();
    }
    expect![[r#"[{"cost_microusd":0,"first_word_ms":0,"latency_ms":0,"model":"openai/tiny","name":"fast","ok":true,"schema":"kept","streams":true,"usage":{"input_tokens":100,"output_tokens":20}}]"#]].assert_eq(&tested.to_string());
}

#[test]
fn a_provider_without_schemas_is_asked_again_without() {
    let scene = Scene::new(&[]);
    let server = ModelServer::start_blocking([to_all()
        .fault(status(400).message("response_format is not supported by this model"))
        .reply("yes")]);
    two(&scene, &server.base_url());
    scene.spelunk(["model", "test", "fast"]).run().check(&expect![[r#"
        fast  openai/tiny
        ok    replied in TIME, first text after TIME
        ok    streams
        ok    usage: 16 → 1 tokens
        ok    cost $0.00
        note  no JSON Schema support: response_format is not supported by this model
        --- stderr
        --- exit 0
    "#]]);
    assert_eq!(n_calls(&server), 2);
}

#[test]
fn a_model_that_does_not_work_says_why_and_fails() {
    let (scene, port) = (Scene::new(&[]), ClosedPort::reserve());
    two(&scene, &port.base_url());
    scene.spelunk(["model", "test", "fast"]).run().check(&expect![[r#"
        fast  openai/tiny
        bad   could not reach `http://127.0.0.1:PORT/v1`: Connection refused (os error 111)
              hint: check that the server is running and that `--base-url` is correct, then run `spelunk doctor`
        --- stderr
        --- exit 1
    "#]]);
    scene.spelunk(["model", "test", "smart"]).run().check(&expect![[r#"
        --- stderr
        error: `models.smart.key_env` names `SMART_KEY`, which is not set

        hint: set `SMART_KEY`
        --- exit 2
    "#]]);
    scene.spelunk(["model", "test", "fsat"]).run().check(&expect![[r#"
        --- stderr
        error: there is no model `fsat`

        hint: the models are `fast`, `secret`, `smart`
        --- exit 2
    "#]]);
    let server = answering(" ");
    two(&scene, &server.base_url());
    scene.spelunk(["model", "test", "fast"]).run().check(&expect![[r#"
        fast  openai/tiny
        bad   the reply is empty
              hint: for a reasoning model, raise `limits.root_output_tokens_max` (sub-calls and analysts have their own limits), or choose another with `--model`
        --- stderr
        --- exit 1
    "#]]);
    let server = ModelServer::start_blocking([to_all().always(status(401))]);
    two(&scene, &server.base_url());
    scene.spelunk(["model", "test", "fast"]).run().check(&expect![[r#"
        fast  openai/tiny
        bad   the provider at `http://127.0.0.1:PORT/v1` rejected the key: scripted status 401
              hint: check the key in the environment, then run `spelunk doctor`
        --- stderr
        --- exit 1
    "#]]);
}

#[test]
fn without_a_name_the_models_of_all_roles_are_tested_each_once() {
    let (scene, server) = (Scene::new(&[]), answering(READY));
    let base_url = server.base_url();
    settle(
        &scene,
        &format!(
            "roles.root = 'a'\nroles.sub = 'b'\n[models.a]\nprovider = 'openai'\nname = 'a-1'\nbase_url = '{base_url}'\n\
             [models.b]\nprovider = 'openai'\nname = 'b-1'\nbase_url = '{base_url}'\n"
        ),
    );
    let ran = scene.spelunk(["model", "test"]).run();
    let heads: Vec<_> = ran.stdout.lines().filter(|line| line.contains("openai/")).collect();
    assert_eq!(heads, ["root  openai/a-1", "sub  openai/b-1"]);
    assert_eq!(n_calls(&server), 2);
}

#[test]
fn the_doctor_looks_at_every_role() {
    let (scene, server) = (Scene::new(&[]), answering(READY));
    let base_url = server.base_url();
    settle(
        &scene,
        &format!(
            "roles.root = 'a'\nroles.sub = 'b'\nroles.synthesis = 'anthropic/claude-opus-4-5'\n\
             [models.a]\nprovider = 'openai'\nname = 'scripted'\nbase_url = '{base_url}'\n\
             [models.b]\nprovider = 'openai'\nname = 'b-1'\nbase_url = '{base_url}'\nfallback = ['c']\n\
             [models.c]\nprovider = 'gemini'\n"
        ),
    );
    scene.spelunk(["doctor"]).run().check(&expect![[r#"
        ok    settings   DIR/home/.config/spelunk/config.toml
        ok    workspace  none yet; the first `ask` creates DIR/work/.spelunk
        ok    sandbox    monty (a session starts in TIME)
        ok    model      openai/scripted (roles.root is a)
        ok    price      free
        ok    reach      http://127.0.0.1:PORT/v1 offers it
        ok    sub        openai/b-1 (roles.sub is b)
        ok    price      free
        note  reach      http://127.0.0.1:PORT/v1 does not list `b-1`
        note  fallback   the fallback `c` cannot be used: no API key for Gemini
        bad   synthesis  no API key for Anthropic; set `ANTHROPIC_API_KEY`, or use a local server with `--base-url`
        --- stderr
        --- exit 1
    "#]]);
}

#[test]
fn limits_are_flags_in_the_words_of_people() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    scene.ask(&server).arg("--max-calls=0").run().check(&expect![[r#"
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        1 file · 0 B read of 35 B · 0 calls · 0 tokens · $0.00 · TIME · run SHORT
        error: call limit reached (0)

        hint: continue: `spelunk resume SHORT --max-calls 1`
        --- exit 3
    "#]]);
    scene.ask(&server).arg("--max-tokens=1k").run().check(&expect![[r#"
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        1 file · 0 B read of 35 B · 0 calls · 0 tokens · $0.00 · TIME · run SHORT2
        error: token limit reached (1000)

        hint: continue: `spelunk resume SHORT2 --max-tokens 2000`
        --- exit 3
    "#]]);
    scene.ask(&server).arg("--max-time=soon").run().check(&expect![[r#"
        --- stderr
        error: `--max-time` must be a time, such as `90s`, `10m` or `2h`, not `soon`

        hint: it sets `limits.run_ms_max`
        --- exit 2
    "#]]);
    assert_eq!(n_calls(&server), 0);
    let priced = ["--set=model.price_input_usd_per_mtok=3", "--set=model.price_output_usd_per_mtok=15"];
    let dear = scene.ask(&server).arg(priced[0]).arg(priced[1]).arg("--max-cost=0.01");
    dear.run().check(&expect![[r#"
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        1 file · 0 B read of 35 B · 0 calls · 0 tokens · $0.00 · TIME · run SHORT3
        error: cost limit reached ($0.01)

        hint: continue: `spelunk resume SHORT3 --max-cost 0.02`
        --- exit 3
    "#]]);
    assert_eq!(n_calls(&server), 0);
    let resume = scene.spelunk(["resume", "--max-cost", "1"]).server(&server).arg(priced[0]).arg(priced[1]);
    resume.run().check(&expect![[r#"
        The magic number is 42.
          a.md:3  The magic number is 42.
        --- stderr
        resuming run SHORT3 after event 7: no completed calls to reuse
        1 file · 35 B read · 1 call · 120 tokens · $0.0006 · TIME · run SHORT3
        --- exit 0
    "#]]);
    assert_eq!(n_calls(&server), 1);
}

#[test]
fn a_plan_says_what_the_sub_model_would_cost() {
    let scene = Scene::new(&NOTE);
    let cost = |toml: &str| {
        settle(&scene, toml);
        let ran = scene.spelunk(["plan", "notes"]).env("OPENAI_API_KEY", "sk-1").run();
        ran.stdout
            .lines()
            .filter(|line| line.contains("(your sub-model)"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let named =
        |name: &str| format!("roles.sub = 'fast'\n[models.fast]\nprovider = 'openai'\nname = '{name}'\n");
    expect!["  openai/gpt-5-mini            <$0.0001 to $0.0681 (your sub-model)"]
        .assert_eq(&cost(&named("gpt-5-mini")).join("\n"));
    expect!["  openai/unheard-of            no known price: set price_input_usd_per_mtok and price_output_usd_per_mtok (your sub-model)"].assert_eq(&cost(&named("unheard-of")).join("\n"));
    expect!["  openai/gpt-6-luna            <$0.0001 to $0.0544 (your sub-model)"]
        .assert_eq(&cost("").join("\n"));
    let ran = scene
        .spelunk(["plan", "notes", "--json", "--model", "openai/gpt-5"])
        .env("OPENAI_API_KEY", "k")
        .run();
    let plan: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    expect![[r#"{"cost_microusd_at_least":414,"cost_microusd_at_most":165190,"model":"openai/gpt-5"}"#]]
        .assert_eq(&plan["reader"].to_string());
}
