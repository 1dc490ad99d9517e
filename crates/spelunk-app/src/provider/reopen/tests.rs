//! Which URLs of a journal are used, and with which key.

use expect_test::{Expect, expect};
use spelunk_types::Explain as _;

use super::*;
use crate::config::{FlagValue, load_without_files};

const KEY: (&str, &str) = ("OPENAI_API_KEY", "sk-1");

fn reference(provider: &str, base_url: &str) -> ModelRef {
    ModelRef { provider: provider.into(), name: "m".into(), base_url: base_url.into() }
}

/// Where a run that was started there continues, or why it does not.
fn told(provider: &str, base_url: &str, variables: &[(&str, &str)], flags: &[(&str, &str)]) -> String {
    let environment: Environment =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect();
    let flags: Vec<FlagValue> =
        flags.iter().map(|(key, value)| FlagValue::new("--set", key, (*value).to_owned())).collect();
    let settings = load_without_files(&environment, &flags).unwrap();
    match recorded(&reference(provider, base_url), &settings, &environment) {
        Ok(model) => format!("{} at {}", model.reference(), model.reference().base_url),
        Err(error) => format!("{error}; {}", error.hint().unwrap_or_default()),
    }
}

#[track_caller]
fn check_unknown(provider: &str, base_url: &str, variables: &[(&str, &str)], flags: &[(&str, &str)]) {
    let told = told(provider, base_url, variables, flags);
    assert!(told.contains("an address that is not in your settings"), "{told}");
}

#[track_caller]
fn check_known(provider: &str, base_url: &str, variables: &[(&str, &str)], flags: &[(&str, &str)]) {
    assert_eq!(told(provider, base_url, variables, flags), format!("{provider}/m at {base_url}"));
}

#[track_caller]
fn check(provider: &str, base_url: &str, variables: &[(&str, &str)], expected: &Expect) {
    expected.assert_eq(&told(provider, base_url, variables, &[]));
}

#[test]
fn an_address_that_only_a_journal_names_is_refused() {
    check(
        "openai",
        "https://evil.test/v1",
        &[KEY],
        &expect![[
            r"the run was started with a model at `https://evil.test/v1`, an address that is not in your settings; if you trust that server with your documents and your key, pass it with `--base-url`"
        ]],
    );
    let keys = [
        KEY,
        ("ANTHROPIC_API_KEY", "sk-2"),
        ("GEMINI_API_KEY", "sk-3"),
        ("OPENROUTER_API_KEY", "sk-4"),
        ("AZURE_OPENAI_API_KEY", "sk-5"),
        ("AZURE_OPENAI_ENDPOINT", "https://mine.test"),
        ("AWS_BEARER_TOKEN_BEDROCK", "sk-6"),
    ];
    for provider in ["openai", "openai-responses", "anthropic", "gemini", "azure", "bedrock", "other"] {
        check_unknown(provider, "https://evil.test/v1", &keys, &[]);
    }
    // URLs that only look like a known one, and URLs known for another provider.
    for base_url in [
        "https://api.openai.com.evil.test/v1",
        "https://openrouter.ai/api/v1.evil.test",
        "https://openrouter.ai/api/v1@evil.test",
        "http://api.openai.com/v1",
        "https://api.anthropic.com",
        "no address",
        "",
    ] {
        check_unknown("openai", base_url, &keys, &[]);
    }
    // The credentials would be in the request, wherever it goes.
    check_unknown("bedrock", "http://127.0.0.1:9", &keys, &[]);
    let long = format!("https://{}.test", "evil".repeat(1000));
    assert!(told("openai", &long, &keys, &[]).chars().count() < 500);
}

#[test]
fn an_address_of_the_provider_the_environment_or_the_settings_is_asked() {
    check_known("openai", "https://api.openai.com/v1", &[KEY], &[]);
    check_known("openai-responses", "https://api.openai.com/v1", &[KEY], &[]);
    check_known("openai", "https://openrouter.ai/api/v1", &[KEY, ("OPENROUTER_API_KEY", "sk-4")], &[]);
    // Another key was added after the run started.
    let anthropic = ("ANTHROPIC_API_KEY", "sk-2");
    check_known("anthropic", "https://api.anthropic.com", &[KEY, anthropic], &[]);
    check_known("openai", "https://api.openai.com/v1", &[KEY, anthropic], &[]);
    let proxy = "https://proxy.test/v1";
    check_known("openai", proxy, &[KEY, ("OPENAI_BASE_URL", "https://proxy.test/v1/")], &[]);
    check_known("openai", proxy, &[], &[("model.base_url", proxy)]);
    check_known(
        "anthropic",
        "https://proxy.test",
        &[anthropic],
        &[("model.base_url", proxy), ("model.provider", "anthropic")],
    );
    // A URL that the user names is enough, whatever API format the run was started with.
    check_known("anthropic", "https://proxy.test", &[], &[("model.base_url", proxy)]);
    check_known("azure", "https://mine.test", &[("AZURE_OPENAI_ENDPOINT", "https://mine.test")], &[]);
    check_known("gemini", "https://proxy.test/v1", &[], &[("model.base_url", proxy)]);
    check_known("bedrock", "https://bedrock-runtime.us-east-1.amazonaws.com", &AWS, &[]);
    check_known("openai", "http://127.0.0.1:11434/v1", &[KEY], &[]);
}

const AWS: [(&str, &str); 2] = [("AWS_REGION", "us-east-1"), ("AWS_BEARER_TOKEN_BEDROCK", "sk-6")];

#[test]
fn a_known_address_without_its_key_says_which_key() {
    check(
        "openai",
        "https://api.openai.com/v1",
        &[],
        &expect![r"no API key for OpenAI; set `OPENAI_API_KEY`, or use a local server with `--base-url`"],
    );
    check(
        "openai",
        "https://openrouter.ai/api/v1",
        &[KEY],
        &expect![
            r"no API key for OpenRouter; set `OPENROUTER_API_KEY`, or use a local server with `--base-url`"
        ],
    );
}

#[test]
fn only_the_address_that_is_set_vouches_for_itself() {
    let environment = Environment::from([KEY]);
    let flags = [FlagValue::new("--base-url", "model.base_url", "https://proxy.test/v1".to_owned())];
    let settings = load_without_files(&environment, &flags).unwrap();
    let is_there =
        |provider, base_url| is_at_base_url(&reference(provider, base_url), &settings, &environment);
    assert!(is_there("openai", "https://proxy.test/v1"));
    assert!(is_there("anthropic", "https://proxy.test"));
    assert!(!is_there("openai", "https://api.openai.com/v1"));
    assert!(!is_there("openai", "https://evil.test/v1"));
}
