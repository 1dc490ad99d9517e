//! `spelunk config`: the origin of each value, and the references.

use expect_test::expect;

use crate::scene::Scene;

fn with_settings() -> Scene {
    let scene = Scene::new(&[(
        "spelunk.toml",
        "[limits]\ncalls_max = 7\ntokens_max = 70\n\n[ask]\nstrategy = \"direct\"\n",
    )]);
    std::fs::create_dir_all(scene.home().join(".config/spelunk")).unwrap();
    let user = "[model]\nname = \"mine\"\nkey_command = \"pass show openai\"\n\n[limits]\ncalls_max = 8\n";
    std::fs::write(scene.home().join(".config/spelunk/config.toml"), user).unwrap();
    scene
}

#[test]
fn every_value_is_shown_with_its_origin() {
    let scene = with_settings();
    let show = |prefix| scene.spelunk(["config", "show", prefix, "--set", "limits.retries_max=1"]);
    let show = |prefix| show(prefix).env("SPELUNK_LIMITS_TOKENS_MAX", "90");
    show("model.").run().check(&expect![[r#"
        model.provider = "auto"                   (default)
        model.name = "mine"                       (DIR/home/.config/spelunk/config.toml:2)
        model.sub = ""                            (default)
        model.base_url = ""                       (default)
        model.key_env = ""                        (default)
        model.key_command = "(hidden)"            (DIR/home/.config/spelunk/config.toml:3)
        model.command = ""                        (default)
        model.command_json = false                (default)
        model.azure_api_version = "2024-10-21"    (default)
        model.price_input_usd_per_mtok = unset    (default)
        model.price_cached_usd_per_mtok = unset   (default)
        model.price_output_usd_per_mtok = unset   (default)
        model.probe_local = false                 (SPELUNK_MODEL_PROBE_LOCAL)
        --- stderr
        --- exit 0
    "#]]);
    show("limits.calls").run().check(&expect![[r#"
        limits.calls_max = 7             (spelunk.toml:2)
        limits.calls_parallel_max = 32   (default)
        --- stderr
        --- exit 0
    "#]]);
    show("limits.tok").run().check(&expect![[r"
        limits.tokens_max = 90   (SPELUNK_LIMITS_TOKENS_MAX)
        --- stderr
        --- exit 0
    "]]);
    show("limits.retries").run().check(&expect![[r"
        limits.retries_max = 1   (--set)
        --- stderr
        --- exit 0
    "]]);
    show("ask").run().check(&expect![[r#"
        ask.strategy = "direct"   (spelunk.toml:6)
        ask.sandbox = "monty"     (default)
        ask.tools = ""            (default)
        ask.sub_tools = ""        (default)
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn json_shows_values_with_their_kind() {
    let scene = with_settings();
    let ran = scene.spelunk(["config", "show", "--json", "model."]).run();
    let shown: Vec<serde_json::Value> = serde_json::from_str(&scene.normalise(&ran.stdout)).unwrap();
    let lines: Vec<String> = shown.iter().map(ToString::to_string).collect();
    expect![[r#"
        {"key":"model.provider","origin":{"is":"default"},"value":"auto"}
        {"key":"model.name","origin":{"is":"file","line":2,"path":"DIR/home/.config/spelunk/config.toml"},"value":"mine"}
        {"key":"model.sub","origin":{"is":"default"},"value":""}
        {"key":"model.base_url","origin":{"is":"default"},"value":""}
        {"key":"model.key_env","origin":{"is":"default"},"value":""}
        {"key":"model.key_command","origin":{"is":"file","line":3,"path":"DIR/home/.config/spelunk/config.toml"},"value":"(hidden)"}
        {"key":"model.command","origin":{"is":"default"},"value":""}
        {"key":"model.command_json","origin":{"is":"default"},"value":false}
        {"key":"model.azure_api_version","origin":{"is":"default"},"value":"2024-10-21"}
        {"key":"model.price_input_usd_per_mtok","origin":{"is":"default"},"value":null}
        {"key":"model.price_cached_usd_per_mtok","origin":{"is":"default"},"value":null}
        {"key":"model.price_output_usd_per_mtok","origin":{"is":"default"},"value":null}
        {"key":"model.probe_local","origin":{"is":"env","variable":"SPELUNK_MODEL_PROBE_LOCAL"},"value":false}"#]].assert_eq(&lines.join("\n"));
}

#[test]
fn a_prefix_that_nothing_has_is_refused() {
    Scene::new(&[]).spelunk(["config", "show", "lmits."]).run().check(&expect![[r"
        --- stderr
        error: there is no setting `lmits.` (config show)

        hint: run `spelunk config show` to see every setting
        --- exit 2
    "]]);
}

#[test]
fn the_references_are_the_checked_in_ones() {
    let scene = Scene::new(&[]);
    let docs = |name: &str| {
        let path = format!("{}/../../docs/reference/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).unwrap()
    };
    assert_eq!(scene.spelunk(["config", "defaults"]).run().stdout, docs("defaults.toml"));
    assert_eq!(scene.spelunk(["config", "environment"]).run().stdout, docs("environment.md"));
    assert_eq!(scene.spelunk(["config", "schema"]).run().stdout, docs("spelunk.schema.json"));
}

#[test]
fn the_printed_defaults_are_a_valid_settings_file() {
    let scene = Scene::new(&[]);
    let defaults = scene.spelunk(["config", "defaults"]).run().stdout;
    scene.write("spelunk.toml", defaults.as_bytes());
    let ran = scene.spelunk(["config", "show", "limits.calls_max"]).run();
    ran.check(&expect![[r"
        limits.calls_max = 2000   (default)
        --- stderr
        --- exit 0
    "]]);
}

#[test]
fn the_limits_of_the_papers_have_the_defaults_that_are_said() {
    let page = include_str!("../../../../docs/from-the-papers.md");
    let is_said = |word: &&str| word.starts_with("limits.") && word.contains(" = ");
    let said: Vec<&str> = page.split('`').filter(is_said).collect();
    assert_eq!(said.len(), 64);
    let scene = Scene::new(&[]);
    let defaults = scene.spelunk(["config", "defaults"]).run().stdout.replace('_', "");
    for line in said {
        let line = line.trim_start_matches("limits.").replace('_', "");
        assert!(defaults.contains(&format!("\n# {line}\n")), "{line}");
    }
    let with_depth = |depth: &str| {
        scene
            .spelunk(["config", "show", "limits.depth_max", "--set", &format!("limits.depth_max={depth}")])
            .run()
    };
    assert_eq!(["0", "5", "6"].map(|depth| with_depth(depth).code), [0, 0, 2]);
}
