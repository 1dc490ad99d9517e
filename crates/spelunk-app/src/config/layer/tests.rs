use std::ffi::OsString;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use spelunk_types::{Explain as _, Limits};

use super::*;
use crate::config::Settings;

/// A layer with a few limits, as any source may set them.
fn any_layer() -> impl Strategy<Value = Layer> {
    let names: Vec<&'static str> = Limits::ALL.iter().take(4).map(|limit| limit.name).collect();
    vec((select(names), 1_u64..1000, select(vec!["--a", "--b", "--c"])), 0..6).prop_map(|triples| {
        let flags: Vec<_> = triples
            .into_iter()
            .map(|(name, value, flag)| FlagValue::new(flag, &format!("limits.{name}"), value.to_string()))
            .collect();
        Layer::from_flags(&flags).unwrap()
    })
}

proptest! {
    #[test]
    fn joining_layers_is_associative(top in any_layer(), middle in any_layer(), bottom in any_layer()) {
        let left = top.clone().over(middle.clone()).over(bottom.clone());
        let right = top.over(middle.over(bottom));
        prop_assert_eq!(left, right);
    }

    #[test]
    fn what_an_upper_layer_sets_wins_and_the_rest_shows_through(top in any_layer(), bottom in any_layer()) {
        let joined = top.clone().over(bottom.clone());
        for setting in table::all() {
            let expected = top.get(&setting.key).or(bottom.get(&setting.key));
            prop_assert_eq!(joined.get(&setting.key), expected);
        }
    }

    #[test]
    fn an_empty_layer_changes_nothing_above_or_below(layer in any_layer()) {
        prop_assert_eq!(layer.clone().over(Layer::default()), layer.clone());
        prop_assert_eq!(Layer::default().over(layer.clone()), layer);
    }

    #[test]
    fn no_flag_text_panics(key in ".{0,40}", value in ".{0,40}") {
        drop(Layer::from_flags(&[FlagValue::new("--set", &key, value.clone())]));
        for setting in table::all().iter().take(12) {
            drop(Layer::from_flags(&[FlagValue::new("--set", &setting.key, value.clone())]));
        }
    }
}

#[test]
fn every_limit_can_be_set_by_its_variable_and_by_a_flag() {
    let mut expected = Limits::default();
    let mut variables = Vec::new();
    let mut flags = Vec::new();
    for (limit, value) in Limits::ALL.iter().zip(1_u64..) {
        let value = if limit.name == "depth_max" { 5 } else { value };
        assert!(expected.set(limit.name, value));
        let setting = table::find(&format!("limits.{}", limit.name)).unwrap();
        variables.push((setting.variable(), OsString::from(value.to_string())));
        flags.push(FlagValue::set(&format!("{}={value}", setting.key)).unwrap());
    }
    let from_environment = Layer::from_environment(&variables.into_iter().collect()).unwrap();
    let from_flags = Layer::from_flags(&flags).unwrap();
    assert_eq!(Settings::resolve(from_environment.over(Layer::defaults())).unwrap().limits, expected);
    assert_eq!(Settings::resolve(from_flags.over(Layer::defaults())).unwrap().limits, expected);
}

#[test]
fn the_last_of_two_equal_flags_wins() {
    let flags = [FlagValue::set("model.name=a").unwrap(), FlagValue::new("--model", "model.name", "b")];
    let layer = Layer::from_flags(&flags).unwrap();
    let expected = Entry { value: Value::Text("b".into()), origin: Origin::Flag { flag: "--model".into() } };
    assert_eq!(layer.get("model.name"), Some(&expected));
}

#[test]
fn a_value_may_hold_equal_signs_and_a_key_may_have_spaces_around_it() {
    assert_eq!(FlagValue::set("model.name =a=b").unwrap(), FlagValue::new("--set", "model.name", "a=b"));
}

fn check_flag(argument: &str, expected: &str) {
    let error = FlagValue::set(argument).and_then(|flag| Layer::from_flags(&[flag])).unwrap_err();
    assert_eq!(told(&error), expected);
}

fn check_variable(variable: &str, value: &str, expected: &str) {
    let error = Layer::from_environment(&Environment::from([(variable, value)])).unwrap_err();
    assert_eq!(told(&error), expected);
}

fn told(error: &ConfigError) -> String {
    format!("{}: {error}; {}", error.code(), error.hint().unwrap_or_default())
}

#[test]
fn a_refused_flag_is_named_with_what_was_meant() {
    check_flag(
        "limits.turn_max=3",
        "setting-unknown: there is no setting `limits.turn_max` (--set); did you mean `limits.turns_max`?",
    );
    check_flag(
        "calls_max=3",
        "setting-unknown: there is no setting `calls_max` (--set); did you mean `limits.calls_max`?",
    );
    check_flag(
        "limits.token=3",
        "setting-unknown: there is no setting `limits.token` (--set); run `spelunk config show` to see every setting",
    );
    check_flag(
        "banana=3",
        "setting-unknown: there is no setting `banana` (--set); run `spelunk config show` to see every setting",
    );
    check_flag(
        "limits.calls_max",
        "usage-wrong: `--set limits.calls_max` does not have the form `key=value`; write it as `--set limits.calls_max=100`",
    );
    check_flag(
        "model.provider=opnai",
        "setting-invalid: `model.provider` must be one of `auto`, `openai`, `anthropic`, `openai-responses`, `gemini`, `bedrock`, `azure`, `command`, `local`, `none`, not `opnai` (--set); \
         did you mean `openai`?",
    );
    check_flag(
        "limits.calls_max=-3",
        "setting-invalid: `limits.calls_max` must be at least 0, not `-3` (--set); ",
    );
    check_flag(
        "limits.calls_max=9223372036854775808",
        "setting-invalid: `limits.calls_max` must be at most 9223372036854775807, not `9223372036854775808` (--set); ",
    );
    check_flag(
        "limits.evict_to_percent=101",
        "setting-invalid: `limits.evict_to_percent` must be at most 100, not `101` (--set); ",
    );
    check_flag(
        "limits.calls_parallel_max=0",
        "setting-invalid: `limits.calls_parallel_max` must be at least 1, not `0` (--set); ",
    );
}

#[test]
fn a_refused_variable_is_named_with_what_was_meant() {
    check_variable(
        "SPELUNK_LIMITS_TURN_MAX",
        "3",
        "setting-unknown: the environment variable `SPELUNK_LIMITS_TURN_MAX` does not belong to any setting; \
         did you mean `SPELUNK_LIMITS_TURNS_MAX`?",
    );
    check_variable(
        "SPELUNK_BANANA",
        "3",
        "setting-unknown: the environment variable `SPELUNK_BANANA` does not belong to any setting; \
         unset `SPELUNK_BANANA`, or run `spelunk config show` to see every setting",
    );
    check_variable(
        "SPELUNK_LIMITS_CALLS_MAX",
        "many",
        "setting-invalid: `limits.calls_max` must be an integer, not `many` (SPELUNK_LIMITS_CALLS_MAX); ",
    );
}

#[test]
fn a_key_written_as_a_setting_is_refused_and_not_repeated() {
    let hint = "put the key in an environment variable and set `model.key_env` to its name";
    check_flag(
        "model.api_key=sk-123",
        &format!("setting-invalid: keys are not allowed in settings files: `model.api_key` (--set); {hint}"),
    );
    check_flag(
        "model.key=sk-1",
        &format!("setting-invalid: keys are not allowed in settings files: `model.key` (--set); {hint}"),
    );
    check_variable(
        "SPELUNK_MODEL_KEY",
        "sk-123",
        &format!(
            "setting-invalid: keys are not allowed in settings files: `SPELUNK_MODEL_KEY` (SPELUNK_MODEL_KEY); {hint}"
        ),
    );
    check_variable(
        "SPELUNK_API_KEY",
        "sk-123",
        &format!(
            "setting-invalid: keys are not allowed in settings files: `SPELUNK_API_KEY` (SPELUNK_API_KEY); {hint}"
        ),
    );
    check_flag(
        "model.key_env=sk-123",
        "setting-invalid: `model.key_env` must be the name of an environment variable, not the current value (--set); ",
    );
}

#[test]
fn a_long_value_is_repeated_only_in_part() {
    check_flag(
        &format!("limits.calls_max={}", "x".repeat(100)),
        &format!(
            "setting-invalid: `limits.calls_max` must be an integer, not `{}…` (--set); ",
            "x".repeat(60)
        ),
    );
}

#[test]
fn declared_variables_that_are_no_settings_are_left_alone() {
    let environment =
        Environment::from([("SPELUNK_UPDATE", "1"), ("SPELUNK_LIVE", "1"), ("SPELUNK_MODEL_NAME", "")]);
    assert_eq!(Layer::from_environment(&environment).unwrap(), Layer::default());
}

#[cfg(unix)]
#[test]
fn a_variable_that_is_not_utf8_is_refused() {
    use std::os::unix::ffi::OsStringExt as _;
    let value = OsString::from_vec(vec![b'a', 0xff]);
    let environment = Environment::from_iter([("SPELUNK_MODEL_NAME".to_owned(), value)]);
    assert_eq!(
        told(&Layer::from_environment(&environment).unwrap_err()),
        "setting-invalid: `model.name` must be UTF-8 text, not `a\u{fffd}` (SPELUNK_MODEL_NAME); "
    );
}
