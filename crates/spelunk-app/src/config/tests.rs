use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use spelunk_model::Price;
use spelunk_types::{Explain as _, Limits};

use super::*;
use file::parse;
use layer::Origin;
use settings::Sampling;

fn resolve(layer: Layer) -> Settings {
    Settings::resolve(layer.over(Layer::defaults())).unwrap()
}

fn project(toml: &str) -> Result<Layer, ConfigError> {
    let path = Path::new("spelunk.toml");
    let layer = parse(toml, path, Owner::Project)?;
    project::check(&layer, &Layer::defaults(), path).map(|()| layer)
}

fn own(toml: &str) -> Result<Layer, ConfigError> {
    parse(toml, Path::new("spelunk.toml"), Owner::User)
}

fn check_refused(toml: &str, expected: &str) {
    let error = project(toml).unwrap_err();
    assert_eq!(format!("{}: {error}; {}", error.code(), error.hint().unwrap_or_default()), expected);
}

#[test]
fn nothing_set_gives_the_defaults() {
    let settings = resolve(Layer::default());
    let model = ModelSettings {
        section: "model".into(),
        command: None,
        command_json: false,
        azure_api_version: "2024-10-21".into(),
        provider: ProviderChoice::Auto,
        name: None,
        base_url: None,
        key_env: None,
        key_command: None,
        price: None,
        probe_local: true,
        sampling: Sampling::default(),
        local: LocalSettings { path: None, hub_url: "https://huggingface.co".into(), threads: None },
    };
    assert_eq!(settings.model, model);
    assert_eq!(settings.strategy, StrategyChoice::Auto);
    assert_eq!(settings.workspace_path, PathBuf::from(".spelunk"));
    assert!(settings.cache_replies);
    assert_eq!(settings.color, ColorChoice::Auto);
    assert_eq!(settings.limits, Limits::default());
    assert_eq!(settings.origin("limits.calls_max"), &Origin::Default);
    assert_eq!(settings.origin("model.price_input_usd_per_mtok"), &Origin::Default);
}

#[test]
fn every_kind_of_setting_can_be_written_in_a_file() {
    let toml = "ask.strategy = 'direct'\n[model]\nprovider = 'none'\nname = 'm'\nkey_env = 'MY_KEY'\nprobe_local = false\n\
                price_input_usd_per_mtok = 3\nprice_output_usd_per_mtok = 0.25\n[limits]\ncalls_max = 1_000\n";
    let settings = resolve(own(toml).unwrap());
    let model = ModelSettings {
        section: "model".into(),
        command: None,
        command_json: false,
        azure_api_version: "2024-10-21".into(),
        provider: ProviderChoice::None,
        name: Some("m".into()),
        base_url: None,
        key_env: Some("MY_KEY".into()),
        key_command: None,
        price: Some(Price {
            input_microusd_per_mtok: 3_000_000,
            cached_microusd_per_mtok: 3_000_000,
            cache_write_microusd_per_mtok: 3_000_000,
            output_microusd_per_mtok: 250_000,
            above: None,
        }),
        probe_local: false,
        sampling: Sampling::default(),
        local: LocalSettings { path: None, hub_url: "https://huggingface.co".into(), threads: None },
    };
    assert_eq!(settings.model, model);
    assert_eq!(settings.strategy, StrategyChoice::Direct);
    assert_eq!(settings.limits.calls_max, 1000);
    let line = |line| Origin::File { path: "spelunk.toml".into(), line };
    assert_eq!(settings.origin("ask.strategy"), &line(1));
    assert_eq!(settings.origin("model.name"), &line(4));
    assert_eq!(settings.origin("limits.calls_max"), &line(10));
}

#[test]
fn every_limit_can_be_set_in_a_file() {
    let mut expected = Limits::default();
    let mut toml = String::from("[limits]\n");
    for (limit, value) in Limits::ALL.iter().zip(1_u64..) {
        let value = if limit.name == "depth_max" { 5 } else { value };
        assert!(expected.set(limit.name, value));
        writeln!(toml, "{} = {value}", limit.name).unwrap();
    }
    assert_eq!(resolve(own(&toml).unwrap()).limits, expected);
}

#[test]
fn an_unknown_setting_names_its_line_and_what_was_meant() {
    check_refused(
        "# mine\n[limits]\ncalls_max = 3\nturn_max = 30\n",
        "setting-unknown: there is no setting `limits.turn_max` (spelunk.toml:4); did you mean `limits.turns_max`?",
    );
    check_refused(
        "calls_max = 3\n",
        "setting-unknown: there is no setting `calls_max` (spelunk.toml:1); did you mean `limits.calls_max`?",
    );
    check_refused(
        "[limit]\ncalls_max = 3\n",
        "setting-unknown: there is no setting `limit.calls_max` (spelunk.toml:2); did you mean `limits.calls_max`?",
    );
    check_refused(
        "[fruit]\n",
        "setting-unknown: there is no setting `fruit` (spelunk.toml:1); run `spelunk config show` to see every setting",
    );
    check_refused(
        "[model.openai]\nx = 1\n",
        "setting-unknown: there is no setting `model.openai` (spelunk.toml:1); \
         run `spelunk config show` to see every setting",
    );
}

#[test]
fn the_first_wrong_line_is_the_one_reported() {
    check_refused(
        "[output]\ncolor = 'blue'\n[ask]\nstrategy = 'fast'\n",
        "setting-invalid: `output.color` must be one of `auto`, `always`, `never`, not `'blue'` (spelunk.toml:2); ",
    );
}

#[test]
fn a_value_of_the_wrong_kind_is_refused() {
    check_refused(
        "limits.calls_max = '3'\n",
        "setting-invalid: `limits.calls_max` must be an integer, not `'3'` (spelunk.toml:1); ",
    );
    check_refused(
        "limits.calls_max = -3\n",
        "setting-invalid: `limits.calls_max` must be at least 0, not `-3` (spelunk.toml:1); ",
    );
    check_refused(
        "limits.calls_max = 99999999999999999999\n",
        "setting-invalid: `limits.calls_max` must be at most 9223372036854775807, not `99999999999999999999` \
         (spelunk.toml:1); ",
    );
    check_refused(
        "model.name = 3\n",
        "setting-invalid: `model.name` must be a string in quotes, not `3` (spelunk.toml:1); ",
    );
    check_refused(
        "cache.replies = ['yes',\n'no']\n",
        "setting-invalid: `cache.replies` must be `true` or `false`, not `['yes', 'no']` (spelunk.toml:1); ",
    );
    check_refused(
        "model.price_input_usd_per_mtok = nan\n",
        "setting-invalid: `model.price_input_usd_per_mtok` must be a number such as `2.5`, not `nan` (spelunk.toml:1); ",
    );
    check_refused(
        "limits = 5\n",
        "setting-invalid: `limits` is a group of settings, not a value (spelunk.toml:1); \
         add the section `[limits]` with one setting per line",
    );
}

#[test]
fn what_is_not_toml_is_refused_with_line_and_column() {
    check_refused(
        "[limits]\ncalls_max 3\n",
        "setting-invalid: could not read `spelunk.toml:2:11` as TOML: key with no value, expected `=`; ",
    );
    check_refused(
        "model.name = 'a'\nmodel.name = 'b'\n",
        "setting-invalid: could not read `spelunk.toml:2:7` as TOML: duplicate key; ",
    );
}

#[test]
fn a_key_in_a_file_is_refused_and_not_repeated() {
    check_refused(
        "[model]\napi_key = 'sk-123'\n",
        "setting-invalid: keys are not allowed in settings files: `model.api_key` (spelunk.toml:2); \
         put the key in an environment variable and set `model.key_env` to its name",
    );
    check_refused(
        "OPENAI_API_KEY = 'sk-123'\n",
        "setting-invalid: keys are not allowed in settings files: `OPENAI_API_KEY` (spelunk.toml:1); \
         put the key in an environment variable and set `model.key_env` to its name",
    );
    check_refused(
        "model.key_env = 'sk-123'\n",
        "setting-invalid: `model.key_env` must be the name of an environment variable, not the current value \
         (spelunk.toml:1); ",
    );
}

#[test]
fn a_project_file_may_not_run_a_command_or_redirect_a_key_and_the_users_own_may() {
    let hint = "move it to your own `~/.config/spelunk/config.toml`, the environment or a flag";
    check_refused(
        "model.key_command = 'curl evil.test'\n",
        &format!("setting-invalid: a project file may not set `model.key_command` (spelunk.toml:1); {hint}"),
    );
    check_refused(
        "model.base_url = 'https://evil.test'\n",
        &format!("setting-invalid: a project file may not set `model.base_url` (spelunk.toml:1); {hint}"),
    );
    let own = "[model]\nkey_command = 'pass show key'\nbase_url = 'http://localhost:8080/v1'\n";
    let settings = resolve(parse(own, Path::new("config.toml"), Owner::User).unwrap());
    assert_eq!(settings.model.key_command.as_deref(), Some("pass show key"));
    assert_eq!(settings.model.base_url.as_deref(), Some("http://localhost:8080/v1"));
}

#[test]
fn half_a_price_is_refused() {
    let layer = own("model.price_input_usd_per_mtok = 3\n").unwrap();
    let error = Settings::resolve(layer.over(Layer::defaults())).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`model.price_output_usd_per_mtok` has no value, but the other price has one (spelunk.toml:1)"
    );
    assert_eq!(error.hint().as_deref(), Some("set `model.price_output_usd_per_mtok` too"));
}

proptest! {
    #[test]
    fn no_file_panics(text in "(\\[[a-z.]{0,8}\\]|[a-z_.]{0,9} ?= ?['\"]?.{0,6}['\"]?|\\PC{0,12}|\n){0,12}") {
        drop(project(&text));
    }
}

/// A home and a project, both with a settings file on disk.
struct Home {
    dir: tempfile::TempDir,
}

impl Home {
    #[expect(clippy::disallowed_methods, reason = "the test lays out files for the program to find")]
    fn new(user: &str, project: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("home/.config/spelunk")).unwrap();
        std::fs::create_dir_all(dir.path().join("project/deep/down")).unwrap();
        std::fs::write(dir.path().join("home/.config/spelunk/config.toml"), user).unwrap();
        std::fs::write(dir.path().join("project/spelunk.toml"), project).unwrap();
        Self { dir }
    }

    fn environment(&self, more: &[(&str, &str)]) -> Environment {
        let home = ("HOME".to_owned(), self.path("home").into_os_string());
        more.iter().map(|(name, value)| ((*name).to_owned(), value.into())).chain([home]).collect()
    }

    fn path(&self, below: &str) -> PathBuf {
        self.dir.path().join(below)
    }
}

#[test]
fn flags_win_over_the_environment_over_the_project_over_the_user_over_defaults() {
    let home = Home::new(
        "[limits]\ncalls_max = 9\ntokens_max = 9\nretries_max = 9\nfiles_max = 1\n",
        "[limits]\ncalls_max = 2\ntokens_max = 2\nretries_max = 2\n",
    );
    let environment =
        home.environment(&[("SPELUNK_LIMITS_CALLS_MAX", "3"), ("SPELUNK_LIMITS_TOKENS_MAX", "3")]);
    let flags = [FlagValue::set("limits.calls_max=4").unwrap()];
    let settings = load(&environment, &home.path("project"), &flags).unwrap();
    let found = ["calls_max", "tokens_max", "retries_max", "files_max", "turns_max"]
        .map(|name| (settings.limits.get(name), settings.origin(&format!("limits.{name}")).clone()));
    let user_file = home.path("home/.config/spelunk/config.toml");
    let expected = [
        (Some(4), Origin::Flag { flag: "--set".into() }),
        (Some(3), Origin::Env { variable: "SPELUNK_LIMITS_TOKENS_MAX".into() }),
        (Some(2), Origin::File { path: "spelunk.toml".into(), line: 4 }),
        (Some(1), Origin::File { path: user_file, line: 5 }),
        (Some(20), Origin::Default),
    ];
    assert_eq!(found, expected);
}

#[test]
fn the_nearest_project_file_upwards_counts_and_its_workspace_stays_with_it() {
    let home = Home::new("", "[workspace]\npath = 'runs'\n");
    let settings = load(&home.environment(&[]), &home.path("project/deep/down"), &[]).unwrap();
    assert_eq!(settings.workspace_path, home.path("project/runs"));
    let at = Origin::File { path: home.path("project/spelunk.toml"), line: 2 };
    assert_eq!(settings.origin("workspace.path"), &at);
    let at_the_top = load(&home.environment(&[]), &home.path("project"), &[]).unwrap();
    assert_eq!(at_the_top.workspace_path, PathBuf::from("runs"));
}

#[test]
fn xdg_config_home_wins_over_home_and_a_missing_file_says_nothing() {
    let home = Home::new("limits.calls_max = 1\n", "");
    let elsewhere = home.path("elsewhere");
    let environment = home.environment(&[("XDG_CONFIG_HOME", elsewhere.to_str().unwrap())]);
    assert_eq!(user_path(&environment), Some(elsewhere.join("spelunk/config.toml")));
    assert_eq!(load(&environment, &home.path("project"), &[]).unwrap().limits, Limits::default());
    assert_eq!(user_path(&Environment::default()), None);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test lays out files for the program to find")]
fn a_file_that_cannot_be_read_or_is_too_large_is_named() {
    let home = Home::new("", "");
    let user_file = home.path("home/.config/spelunk/config.toml");
    std::fs::write(&user_file, vec![b'#'; 1_000_001]).unwrap();
    let error = load(&home.environment(&[]), &home.path("project"), &[]).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("`{}` is larger than 1000000 bytes, the maximum for a settings file", user_file.display())
    );
    std::fs::write(&user_file, [0xff]).unwrap();
    let error = load(&home.environment(&[]), &home.path("project"), &[]).unwrap_err();
    assert_eq!(error.to_string(), format!("could not read `{}`", user_file.display()));
}

/// Hints are attached to error codes, where no setting is at hand, so this checks that the settings they name exist.
#[test]
fn every_setting_that_a_hint_names_exists() {
    let mut named = Vec::new();
    for code in spelunk_types::ErrorCode::ALL {
        let quoted = code.hint().unwrap_or_default().split('`').skip(1).step_by(2);
        let is_key = |text: &&str| {
            let (section, word) = text.split_once('.').unwrap_or_default();
            table::SECTIONS.iter().any(|(known, _)| *known == section) && !word.is_empty()
        };
        for key in quoted.filter(is_key) {
            assert!(table::find(key).is_some(), "{code}: there is no setting `{key}`");
            named.push(key);
        }
    }
    assert!(named.contains(&"limits.depth_max"), "{named:?}");
}
