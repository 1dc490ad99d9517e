use std::path::Path;

use expect_test::expect;
use spelunk_types::Explain as _;

use super::*;
use crate::config::file::{Owner, parse};
use crate::config::{FlagValue, Layer, RoleModel, Settings, show_text};

const TWO: &str = "[models.fast]\nprovider = 'openai'\nname = 'gpt-5-nano'\nkey_env = 'FAST_KEY'\n\
                   requests_per_minute = 500\ntokens_per_minute = 200_000\ncontext_tokens = 1000\n\
                   price_input_usd_per_mtok = 0.05\nprice_output_usd_per_mtok = 0.4\nfallback = ['smart']\n\
                   [models.smart]\nprovider = 'anthropic'\nkey_command = 'pass show key'\n\
                   base_url = 'https://me:secret@proxy.example/v1'\n";

fn user(toml: &str) -> Result<Layer, ConfigError> {
    parse(toml, Path::new("config.toml"), Owner::User)
}

fn resolve(layer: Layer) -> Result<Settings, ConfigError> {
    Settings::resolve(layer.over(Layer::defaults()))
}

#[track_caller]
fn check_refused(toml: &str, owner: Owner, expected: &str) {
    let error = parse(toml, Path::new("spelunk.toml"), owner).and_then(resolve).unwrap_err();
    assert_eq!(format!("{}: {error}; {}", error.code(), error.hint().unwrap_or_default()), expected);
}

#[test]
fn a_model_has_all_that_is_said_about_it() {
    let settings = resolve(user(TWO).unwrap()).unwrap();
    let fast = &settings.models["fast"];
    assert_eq!(fast.alias, "fast");
    assert_eq!(fast.settings.section, "models.fast");
    assert_eq!(fast.settings.provider, ProviderChoice::OpenAi);
    assert_eq!(fast.settings.name.as_deref(), Some("gpt-5-nano"));
    assert_eq!(fast.settings.key_env.as_deref(), Some("FAST_KEY"));
    assert_eq!(fast.context_tokens, Some(1000));
    let rate = Rate { requests_per_minute: Some(500), tokens_per_minute: Some(200_000) };
    assert_eq!(fast.rate, rate);
    assert_eq!(fast.fallback, ["smart"]);
    let price = fast.settings.price.unwrap();
    assert_eq!((price.input_microusd_per_mtok, price.cached_microusd_per_mtok), (50_000, 50_000));
    let smart = &settings.models["smart"];
    assert_eq!(smart.settings.key_command.as_deref(), Some("pass show key"));
    assert_eq!((smart.rate, smart.context_tokens, smart.settings.price), (Rate::default(), None, None));
}

#[test]
fn what_is_shown_of_a_model_holds_no_secret() {
    let settings = resolve(user(TWO).unwrap()).unwrap();
    expect![[r#"
        models.fast.provider = "openai"               (config.toml:2)
        models.fast.name = "gpt-5-nano"               (config.toml:3)
        models.fast.key_env = "FAST_KEY"              (config.toml:4)
        models.fast.price_input_usd_per_mtok = 0.05   (config.toml:8)
        models.fast.price_output_usd_per_mtok = 0.4   (config.toml:9)
        models.fast.context_tokens = 1000             (config.toml:7)
        models.fast.requests_per_minute = 500         (config.toml:5)
        models.fast.tokens_per_minute = 200000        (config.toml:6)
        models.fast.fallback = ["smart"]              (config.toml:10)
    "#]]
    .assert_eq(&show_text(&settings, "models.fast").unwrap());
    expect![[r#"
        models.smart.provider = "anthropic"                  (config.toml:12)
        models.smart.base_url = "https://proxy.example/v1"   (config.toml:14)
        models.smart.key_command = "(hidden)"                (config.toml:13)
    "#]]
    .assert_eq(&show_text(&settings, "models.smart").unwrap());
}

#[test]
fn what_is_wrong_names_the_setting_and_what_there_is() {
    let user = Owner::User;
    check_refused(
        "[models.Fast]\n",
        user,
        "setting-invalid: `Fast` is not a valid name of a model (spelunk.toml:1); \
         use 1 to 40 lowercase letters, digits, `_` or `-`, and not `none`",
    );
    check_refused(
        "[models.fast]\nmodel = 'x'\nnmae = 'x'\n",
        user,
        "setting-unknown: there is no setting `models.fast.model` (spelunk.toml:2); a model has `provider`, `name`, \
         `base_url`, `key_env`, `key_command`, `command`, `command_json`, `azure_api_version`, \
         `price_input_usd_per_mtok`, `price_cached_usd_per_mtok`, `price_output_usd_per_mtok`, `context_tokens`, `effort`, `vision`, `pdf`, `temperature`, \
         `seed`, `requests_per_minute`, `tokens_per_minute`, `fallback`",
    );
    check_refused(
        "[models.fast]\nnmae = 'x'\n",
        user,
        "setting-unknown: there is no setting `models.fast.nmae` (spelunk.toml:2); did you mean `models.fast.name`?",
    );
    check_refused(
        "[models.fast]\napi_key = 'sk-1'\n",
        user,
        "setting-invalid: keys are not allowed in settings files: `models.fast.api_key` (spelunk.toml:2); \
         put the key in an environment variable and set `models.fast.key_env` to its name",
    );
    check_refused(
        "[models.fast]\nfallback = ['smrt']\n[models.smart]\n",
        user,
        "setting-invalid: `models.fast.fallback` names the model `smrt`, which is not defined (spelunk.toml:2); \
         did you mean `smart`? The models are `smart`",
    );
    check_refused(
        "[models.fast]\nprice_output_usd_per_mtok = 1\n",
        user,
        "setting-invalid: `models.fast.price_input_usd_per_mtok` has no value, but the other price has one \
         (spelunk.toml:2); set `models.fast.price_input_usd_per_mtok` too",
    );
    check_refused(
        "roles.sub = 'big'\n[models.fast]\n[models.smart]\n",
        user,
        "setting-invalid: `roles.sub` names the model `big`, which is not defined (spelunk.toml:1); \
         the models are `fast`, `smart`; define another with `[models.NAME]`",
    );
    check_refused(
        "roles.root = 'big'\n",
        user,
        "setting-invalid: `roles.root` names the model `big`, which is not defined (spelunk.toml:1); \
         define it with `[models.NAME]`",
    );
    check_refused(
        "models = 3\n",
        user,
        "setting-invalid: `models` is a group of settings, not a value (spelunk.toml:1); \
         add a section `[models.NAME]` for each",
    );
}

#[test]
fn a_project_file_may_not_say_where_a_key_goes_or_run_a_command() {
    for field in ["base_url", "key_command", "command"] {
        check_refused(
            &format!("[models.fast]\n{field} = 'x'\n"),
            Owner::Project,
            &format!(
                "setting-invalid: a project file may not set `models.fast.{field}` (spelunk.toml:2); \
                 move it to your own `~/.config/spelunk/config.toml`, the environment or a flag"
            ),
        );
    }
}

#[test]
fn a_model_of_the_project_replaces_the_users_whole() {
    let project =
        parse("[models.smart]\nname = 'mine'\n", Path::new("spelunk.toml"), Owner::Project).unwrap();
    let settings = resolve(project.over(user(TWO).unwrap())).unwrap();
    let smart = &settings.models["smart"].settings;
    assert_eq!((smart.name.as_deref(), &smart.base_url, &smart.key_command), (Some("mine"), &None, &None));
    assert!(settings.models.contains_key("fast"));
}

/// The models of the root and of sub-calls with these files and flags.
fn roles(toml: &str, flags: &[(&str, &str, &str)]) -> (RoleModel, RoleModel) {
    let flags: Vec<_> = flags.iter().map(|(flag, key, value)| FlagValue::new(flag, key, *value)).collect();
    let layer = Layer::from_flags(&flags).unwrap().over(user(toml).unwrap());
    let roles = resolve(layer).unwrap().roles;
    (roles.root, roles.sub)
}

fn named(alias: &str, because: &str) -> RoleModel {
    RoleModel::Named { alias: alias.to_owned(), because: because.to_owned() }
}

#[test]
fn what_is_said_nearer_to_the_user_wins() {
    let toml = format!("roles.root = 'smart'\nroles.sub = 'fast'\n{TWO}");
    let of_files = (named("smart", "roles.root is smart"), named("fast", "roles.sub is fast"));
    assert_eq!(roles(&toml, &[]), of_files);
    let flag = [("--model", "model.name", "fast"), ("--sub-model", "model.sub", "smart")];
    assert_eq!(roles(&toml, &flag), (named("fast", "--model fast"), named("smart", "--sub-model smart")));
    let flag = [("--model", "model.name", "gpt-5"), ("--sub-model", "model.sub", "gpt-5-mini")];
    let same = RoleModel::SameProvider { name: "gpt-5-mini".to_owned() };
    assert_eq!(roles(&toml, &flag), (RoleModel::Unset, same));
    let flag = [("--model", "model.provider", "none")];
    assert_eq!(roles(&toml, &flag).0, RoleModel::Unset);
    // A provider or URL given with it determines where the model is.
    for placed in [("--model", "model.provider", "openai"), ("--base-url", "model.base_url", "http://x")] {
        assert_eq!(roles(&toml, &[("--model", "model.name", "fast"), placed]).0, RoleModel::Unset);
    }
    // Within the same file, the role takes precedence.
    assert_eq!(roles(&format!("model.name = 'gpt-5'\n{toml}"), &[]), of_files);
}

#[test]
fn a_role_may_name_a_provider_and_a_model_there() {
    let (root, _) = roles("roles.root = 'bedrock/us.amazon.nova-pro-v1:0'\n", &[]);
    let because = "roles.root is bedrock/us.amazon.nova-pro-v1:0".to_owned();
    let name = "us.amazon.nova-pro-v1:0".to_owned();
    assert_eq!(root, RoleModel::AtProvider { provider: ProviderChoice::Bedrock, name, because });
}
