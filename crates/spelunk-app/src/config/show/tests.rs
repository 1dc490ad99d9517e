use expect_test::expect;
use serde_json::json;
use spelunk_types::Explain as _;

use super::*;
use crate::config::file::{self, Owner};
use crate::config::{FlagValue, Layer};
use crate::env::Environment;

fn settings() -> Settings {
    let toml = "[model]\nbase_url = 'https://me:pw@host.test/v1?key=k'\nkey_command = 'pass show key'\n";
    let file = file::parse(toml, "config.toml".as_ref(), Owner::User).unwrap();
    let environment = Environment::from([("SPELUNK_LIMITS_CALLS_MAX", "7")]);
    let flags = [FlagValue::new("--model", "model.name", "small")];
    let joined = Layer::from_flags(&flags)
        .unwrap()
        .over(Layer::from_environment(&environment).unwrap())
        .over(file)
        .over(Layer::defaults());
    Settings::resolve(joined).unwrap()
}

#[test]
fn every_value_is_shown_with_its_origin_and_secrets_are_hidden() {
    expect![[r#"
        model.provider = "auto"                   (default)
        model.name = "small"                      (--model)
        model.sub = ""                            (default)
        model.base_url = "https://host.test/v1"   (config.toml:2)
        model.key_env = ""                        (default)
        model.key_command = "(hidden)"            (config.toml:3)
        model.command = ""                        (default)
        model.command_json = false                (default)
        model.azure_api_version = "2024-10-21"    (default)
        model.price_input_usd_per_mtok = unset    (default)
        model.price_cached_usd_per_mtok = unset   (default)
        model.price_output_usd_per_mtok = unset   (default)
        model.probe_local = true                  (default)
    "#]]
    .assert_eq(&show_text(&settings(), "model").unwrap());
}

#[test]
fn a_prefix_selects() {
    expect![[r#"
        limits.calls_max = 7             (SPELUNK_LIMITS_CALLS_MAX)
        limits.calls_parallel_max = 32   (default)
    "#]]
    .assert_eq(&show_text(&settings(), "limits.calls").unwrap());
}

#[test]
fn a_prefix_that_selects_nothing_is_refused() {
    let error = show_text(&settings(), "output.colour").unwrap_err();
    assert_eq!(error.to_string(), "there is no setting `output.colour` (config show)");
    assert_eq!(error.hint().as_deref(), Some("did you mean `output.color`?"));
}

#[test]
fn json_says_the_same() {
    assert_eq!(
        show_json(&settings(), "model.").unwrap(),
        json!([
            {"key": "model.provider", "value": "auto", "origin": {"is": "default"}},
            {"key": "model.name", "value": "small", "origin": {"is": "flag", "flag": "--model"}},
            {"key": "model.sub", "value": "", "origin": {"is": "default"}},
            {"key": "model.base_url", "value": "https://host.test/v1",
             "origin": {"is": "file", "path": "config.toml", "line": 2}},
            {"key": "model.key_env", "value": "", "origin": {"is": "default"}},
            {"key": "model.key_command", "value": "(hidden)",
             "origin": {"is": "file", "path": "config.toml", "line": 3}},
            {"key": "model.command", "value": "", "origin": {"is": "default"}},
            {"key": "model.command_json", "value": false, "origin": {"is": "default"}},
            {"key": "model.azure_api_version", "value": "2024-10-21", "origin": {"is": "default"}},
            {"key": "model.price_input_usd_per_mtok", "value": null, "origin": {"is": "default"}},
            {"key": "model.price_cached_usd_per_mtok", "value": null, "origin": {"is": "default"}},
            {"key": "model.price_output_usd_per_mtok", "value": null, "origin": {"is": "default"}},
            {"key": "model.probe_local", "value": true, "origin": {"is": "default"}},
        ])
    );
    assert_eq!(
        show_json(&settings(), "limits.calls_max").unwrap(),
        json!([{"key": "limits.calls_max", "value": 7,
                "origin": {"is": "env", "variable": "SPELUNK_LIMITS_CALLS_MAX"}}])
    );
}

#[test]
fn an_address_is_shown_without_credentials() {
    assert_eq!(without_credentials("http://localhost:11434/v1"), "http://localhost:11434/v1");
    assert_eq!(without_credentials("https://u:p@h.test"), "https://h.test");
    assert_eq!(without_credentials("u:p@h.test/a?key=1#x"), "h.test/a");
    assert_eq!(without_credentials(""), "");
}
