//! The catalogue of hosted models: `model list --all`, `model show`, `model update`, and the default models.

use std::os::unix::fs::PermissionsExt as _;

use expect_test::expect;
use serde_json::{Value, json};
use spelunk_testkit::{Fault, ModelServer, on};

use crate::scene::archive::zip;
use crate::scene::{NOTE, QUESTION, REPLY, Ran, Scene, to_all};

const MEMBER: &str = "litellm/model_prices_and_context_window_backup.json";
const CATALOGUE: &str = "../home/.local/share/spelunk/models/hosted-models.txt";

#[test]
fn every_hosted_model_is_listed_with_its_window_and_price() {
    let scene = Scene::new(&[]);
    let ran = scene.spelunk(["model", "list", "--all"]).run();
    let lines: Vec<&str> = ran.stdout.lines().collect();
    let sol = lines.iter().find(|line| line.starts_with("openai/gpt-6.1-sol ")).unwrap();
    let words: Vec<&str> = sol.split_whitespace().collect();
    assert_eq!(words.join(" "), "openai/gpt-6.1-sol 922k $2.00 in, $10.00 out per million tokens");
    let told: Value =
        serde_json::from_str(&scene.spelunk(["model", "list", "--all", "--json"]).run().stdout).unwrap();
    let n_models = told["models"].as_array().unwrap().len();
    let source = told["source"].clone();
    let (name, date) = (source["name"].as_str().unwrap(), source["date"].as_str().unwrap());
    assert_eq!(lines.last(), Some(&format!("{n_models} models from {name}, {date}").as_str()));
    assert!(n_models > 1000, "{n_models}");
}

#[test]
fn a_hosted_model_is_shown_with_everything_known_about_it() {
    let scene = Scene::new(&[]);
    let show = |name: &str| {
        let ran = scene.spelunk(["model", "show", name]).run();
        (
            ran.code,
            ran.stdout
                .lines()
                .take_while(|line| !line.contains(" models from "))
                .collect::<Vec<_>>()
                .join("\n"),
        )
    };
    let expected = expect![[r#"
        openai/gpt-6.1-sol
          window     922000 tokens
          reply      at most 128000 tokens
          price      $2.00 in, $10.00 out, $0.10 cached, $2.50 written to the cache, per million tokens
                     prompts above 272000 tokens: $4.00 in, $15.00 out, $0.20 cached, $5.00 written to the cache, per million tokens
          abilities  tools, schemas, vision, pdf, reasoning, caching"#]];
    let (code, shown) = show("openai/gpt-6.1-sol");
    expected.assert_eq(&shown);
    assert_eq!(code, 0);
    assert_eq!(show("gpt-6.1-sol").1.matches("\n  window").count(), 2);
    scene.spelunk(["model", "show", "gpt-6.1-solo"]).run().check(&expect![[r#"
        --- stderr
        error: the catalogue has no model `gpt-6.1-solo`

        hint: `spelunk model list --all` lists every name; `spelunk model update` downloads a newer catalogue
        --- exit 2
    "#]]);
    scene.spelunk(["model", "show", "claude-fable"]).run().check(&expect![[r#"
        --- stderr
        error: the catalogue has no model `claude-fable`

        hint: similar names: `anthropic/claude-fable-5`, `anthropic/claude-fable-5-1`, `bedrock/anthropic.claude-fable-5`, `bedrock/anthropic.claude-fable-5-1`, `bedrock/apac.anthropic.claude-fable-5`
        --- exit 2
    "#]]);
    let ran = scene.spelunk(["model", "show", "openai/gpt-6.1-sol", "--json"]).run();
    let told: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(
        told[0]["price"]["above"],
        json!({
            "prompt_tokens": 272_000,
            "input_microusd_per_mtok": 4_000_000,
            "cached_microusd_per_mtok": 200_000,
            "cache_write_microusd_per_mtok": 5_000_000,
            "output_microusd_per_mtok": 15_000_000,
        })
    );
}

#[test]
fn the_price_of_a_named_model_wins_over_the_catalogue() {
    let scene = Scene::new(&[]);
    scene.write(
        "../home/.config/spelunk/config.toml",
        b"[models.mine]\nprovider = 'openai'\nname = 'gpt-6.1-sol'\nprice_input_usd_per_mtok = 1\nprice_output_usd_per_mtok = 7\n",
    );
    let shown = scene.spelunk(["model", "show", "mine"]).env("OPENAI_API_KEY", "k").run().stdout;
    assert!(shown.contains("$1.00 in, $7.00 out, $1.00 cached"), "{shown}");
}

/// A pip that brings one wheel with these files, or fails.
fn update(scene: &Scene, files: &[(&str, &str)]) -> Ran {
    scene.write("../bin/wheel", &zip(files));
    let script = "#!/bin/sh\nfor arg; do [ \"$before\" = --dest ] && dest=$arg; before=$arg; done\n\
                  [ \"$arg\" = litellm ] || exit 9\ncp \"$(dirname \"$0\")/wheel\" \"$dest/litellm-1.2.3-py3-none-any.whl\"\n";
    scene.write("../bin/pip", script.as_bytes());
    let pip = scene.path("../bin/pip");
    std::fs::set_permissions(&pip, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", pip.parent().unwrap().display(), std::env::var("PATH").unwrap());
    scene.spelunk(["model", "update"]).env("PATH", &path).run()
}

fn data_set(n_models: usize) -> String {
    let entry = json!({
        "mode": "chat", "litellm_provider": "openai", "max_input_tokens": 300_000, "supports_function_calling": true,
        "input_cost_per_token": 2e-6, "output_cost_per_token": 4e-6,
    });
    let entries: serde_json::Map<String, Value> =
        (0..n_models).map(|idx| (format!("new-{idx}"), entry.clone())).collect();
    Value::from(entries).to_string()
}

#[test]
fn an_update_replaces_the_catalogue_and_its_defaults() {
    let scene = Scene::new(&[]);
    let ran = update(&scene, &[(MEMBER, &data_set(320))]);
    let lines: Vec<&str> = ran.stdout.lines().collect();
    assert_eq!((ran.code, lines.first()), (0, Some(&"+ openai/new-0")), "{}", ran.stderr);
    assert!(lines.contains(&"- anthropic/claude-sonnet-5-5"), "{lines:?}");
    assert!(lines.iter().any(|line| line.contains("; 320 models from litellm 1.2.3, ")), "{lines:?}");
    let show = scene.spelunk(["model", "show", "openai/new-7"]).run();
    assert!(show.stdout.contains("$2.00 in, $4.00 out"), "{}", show.stdout);
    let list = scene.spelunk(["model", "list"]).env("OPENAI_API_KEY", "sk-1").run();
    assert!(list.stdout.starts_with("model  openai/new-99 "), "{}", list.stdout);
    // A file that was cut is told, and the built-in catalogue is used.
    let whole = scene.read(CATALOGUE);
    scene.write(CATALOGUE, &whole.as_bytes()[..whole.len() / 2]);
    let ran = scene.spelunk(["model", "show", "openai/gpt-5"]).run();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(
        ran.stderr.starts_with("warning: cannot use `")
            && ran.stderr.contains("using the built-in catalogue instead"),
        "{}",
        ran.stderr
    );
}

#[test]
fn an_update_that_brings_nothing_usable_changes_nothing() {
    let scene = Scene::new(&[]);
    let whole = data_set(320);
    for (files, code) in [
        (vec![("litellm/other.json", "{}")], 1),
        (vec![(MEMBER, whole.split_at(whole.len() / 2).0)], 1),
        (vec![(MEMBER, "{}")], 1),
    ] {
        let ran = update(&scene, &files);
        assert_eq!(ran.code, code, "{}", ran.stderr);
        assert!(!scene.exists(CATALOGUE));
    }
    let ran = update(&scene, &[(MEMBER, &data_set(299))]);
    ran.check(&expect![[r#"
        --- stderr
        downloading the newest package `litellm`
        error: the package `litellm` contains no usable catalogue
          caused by: the catalogue is not valid: it has only 299 models

        hint: nothing was changed; try again when a newer package is available
        --- exit 1
    "#]]);
    let empty = scene.path("../nothing");
    let ran = scene.spelunk(["model", "update"]).env("PATH", empty.to_str().unwrap()).run();
    ran.check(&expect![[r#"
        --- stderr
        downloading the newest package `litellm`
        error: pip is not available to download packages

        hint: install Python with pip, or pull a `.gguf` file that you have
        --- exit 1
    "#]]);
}

/// What `ask` says about its models, with a provider that lists these.
fn asked(scene: &Scene, server: &ModelServer) -> String {
    let ask = scene.spelunk(["ask", QUESTION, "notes", "--no-cache"]).env("ANTHROPIC_API_KEY", "sk-ant-test");
    let ran = ask.env("ANTHROPIC_BASE_URL", &server.base_url().replace("/v1", "")).run();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    ran.stderr.lines().next().unwrap_or_default().to_owned()
}

fn listing(body: &str) -> ModelServer {
    let list = Fault::Raw { content_type: "application/json", body: body.as_bytes().to_vec() };
    ModelServer::start_blocking([on("models").always(list), to_all().reply(REPLY)])
}

const USUAL: &str =
    "anthropic/claude-sonnet-5-5, sub-calls: anthropic/claude-haiku-5-5 (ANTHROPIC_API_KEY is set)";

#[test]
fn a_default_that_the_provider_no_longer_offers_is_replaced_with_a_notice() {
    let scene = Scene::new(&NOTE);
    let server =
        listing(r#"{"data": [{"id": "claude-sonnet-5"}, {"id": "claude-haiku-5-5"}, {"id": "unheard-of"}]}"#);
    let expected = "anthropic/claude-sonnet-5, sub-calls: anthropic/claude-haiku-5-5 \
                    (ANTHROPIC_API_KEY is set; it does not offer claude-sonnet-5-5)";
    assert_eq!(asked(&scene, &server), expected);
    assert_eq!(asked(&scene, &server), expected);
    let n_lists = server.requests().iter().filter(|request| request.path.starts_with("/v1/models")).count();
    assert_eq!(n_lists, 1);
    let asked = server.requests().into_iter().find(|request| request.path == "/v1/messages").unwrap();
    assert_eq!(asked.json()["model"], "claude-sonnet-5");
}

#[test]
fn a_list_that_is_empty_or_hostile_changes_nothing() {
    let long = format!(r#"{{"data": [{{"id": "{}"}}]}}"#, "x".repeat(1 << 20));
    for body in
        [r#"{"data": []}"#, "", "<html>", r#"{"data": 7}"#, r#"{"data": [{"id": "\u001b[2J"}]}"#, &long]
    {
        assert_eq!(
            asked(&Scene::new(&NOTE), &listing(body)),
            USUAL,
            "{}",
            body.split_at(body.len().min(80)).0
        );
    }
    let silent =
        ModelServer::start_blocking([on("models").always(Fault::StallBeforeHeaders), to_all().reply(REPLY)]);
    let scene = Scene::new(&NOTE);
    assert_eq!(asked(&scene, &silent), USUAL);
    assert_eq!(asked(&scene, &silent), USUAL);
    assert_eq!(silent.requests().iter().filter(|request| request.path.starts_with("/v1/models")).count(), 1);
}

#[test]
fn the_effort_of_a_named_model_is_sent_and_replies_of_another_effort_are_not_reused() {
    let (scene, server) = (Scene::new(&NOTE), ModelServer::start_blocking([to_all().reply(REPLY)]));
    let settle = |effort: &str, provider: &str| {
        let toml = format!(
            "roles.root = 'mine'\n[models.mine]\nprovider = '{provider}'\nname = 'm'\nbase_url = '{}'\n\
             effort = '{effort}'\n",
            server.base_url()
        );
        scene.write("../home/.config/spelunk/config.toml", toml.as_bytes());
        scene.spelunk(["ask", QUESTION, "notes"]).run()
    };
    for effort in ["low", "low", "high"] {
        let ran = settle(effort, "openai");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }
    let sent: Vec<Value> =
        server.requests().iter().map(|request| request.json()["reasoning_effort"].clone()).collect();
    assert_eq!(sent, ["low", "high"]);
    settle("low", "command").check(&expect![[r#"
        --- stderr
        error: `models.mine.effort` is set, but command does not support it

        hint: unset `models.mine.effort`
        --- exit 2
    "#]]);
    let ran = settle("much", "openai");
    assert_eq!(ran.code, 2, "{}", ran.stderr);
}
