//! Unknown settings and invalid values.

use expect_test::{Expect, expect};

use crate::scene::{NOTE, QUESTION, Scene};

/// Every command reads settings first; asking must not get further than that.
#[track_caller]
fn flag_refused(setting: &'static str, expected: &Expect) {
    let scene = Scene::new(&NOTE);
    scene.spelunk(["ask", QUESTION, "--set", setting]).run().check(expected);
    assert!(!scene.exists(".spelunk"));
}

#[track_caller]
fn file_refused(text: &str, expected: &Expect) {
    let scene = Scene::new(&NOTE);
    scene.write("spelunk.toml", text.as_bytes());
    scene.spelunk(["ask", QUESTION]).run().check(expected);
    assert!(!scene.exists(".spelunk"));
}

#[test]
fn an_unknown_setting_is_answered_with_a_known_one() {
    flag_refused(
        "limits.call_max=5",
        &expect![[r"
        --- stderr
        error: there is no setting `limits.call_max` (--set)

        hint: did you mean `limits.calls_max`?
        --- exit 2
    "]],
    );
    file_refused(
        "[limits]\ncall_max = 5\n",
        &expect![[r"
        --- stderr
        error: there is no setting `limits.call_max` (spelunk.toml:2)

        hint: did you mean `limits.calls_max`?
        --- exit 2
    "]],
    );
    let scene = Scene::new(&NOTE);
    scene.spelunk(["ask", QUESTION]).env("SPELUNK_LIMITS_CALL_MAX", "5").run().check(&expect![[r"
        --- stderr
        error: the environment variable `SPELUNK_LIMITS_CALL_MAX` does not belong to any setting

        hint: did you mean `SPELUNK_LIMITS_CALLS_MAX`?
        --- exit 2
    "]]);
}

#[test]
fn a_value_that_cannot_be_is_refused_with_its_place() {
    flag_refused(
        "limits.calls_max=many",
        &expect![[r"
        --- stderr
        error: `limits.calls_max` must be an integer, not `many` (--set)
        --- exit 2
    "]],
    );
    flag_refused(
        "output.color=allways",
        &expect![[r"
        --- stderr
        error: `output.color` must be one of `auto`, `always`, `never`, not `allways` (--set)

        hint: did you mean `always`?
        --- exit 2
    "]],
    );
    file_refused(
        "[limits]\n\ncalls_max = -3\n",
        &expect![[r"
        --- stderr
        error: `limits.calls_max` must be at least 0, not `-3` (spelunk.toml:3)
        --- exit 2
    "]],
    );
    let scene = Scene::new(&NOTE);
    scene.spelunk(["ask", QUESTION]).env("SPELUNK_CACHE_REPLIES", "maybe").run().check(&expect![[r"
        --- stderr
        error: `cache.replies` must be `true` or `false`, not `maybe` (SPELUNK_CACHE_REPLIES)
        --- exit 2
    "]]);
}

#[test]
fn a_flag_without_a_value_is_refused() {
    flag_refused(
        "limits.calls_max",
        &expect![[r"
        --- stderr
        error: `--set limits.calls_max` does not have the form `key=value`

        hint: write it as `--set limits.calls_max=100`
        --- exit 2
    "]],
    );
}

#[test]
fn broken_toml_is_refused_with_line_and_column() {
    file_refused(
        "[limits]\ncalls_max = \n",
        &expect![[r"
        --- stderr
        error: could not read `spelunk.toml:2:13` as TOML: string values must be quoted, expected literal string
        --- exit 2
    "]],
    );
    file_refused(
        "[limits\n",
        &expect![[r"
        --- stderr
        error: could not read `spelunk.toml:1:8` as TOML: unclosed table, expected `]`
        --- exit 2
    "]],
    );
}

#[test]
fn a_key_in_a_settings_file_is_refused_and_not_repeated() {
    file_refused(
        "[model]\napi_key = \"sk-very-secret\"\n",
        &expect![[r"
        --- stderr
        error: keys are not allowed in settings files: `model.api_key` (spelunk.toml:2)

        hint: put the key in an environment variable and set `model.key_env` to its name
        --- exit 2
    "]],
    );
}

#[test]
fn a_project_may_not_choose_the_command_that_is_run_for_a_key() {
    file_refused(
        "[model]\nkey_command = \"rm -rf /\"\n",
        &expect![[r"
        --- stderr
        error: a project file may not set `model.key_command` (spelunk.toml:2)

        hint: move it to your own `~/.config/spelunk/config.toml`, the environment or a flag
        --- exit 2
    "]],
    );
}

#[test]
fn json_tells_the_error_before_there_are_settings() {
    let scene = Scene::new(&NOTE);
    scene.spelunk(["run", "list", "--json", "--set", "limits.call_max=5"]).run().check(&expect![[r#"
        {"error":{"causes":[],"code":"setting-unknown","hint":"did you mean `limits.calls_max`?","message":"there is no setting `limits.call_max` (--set)"}}
        --- stderr
        error: there is no setting `limits.call_max` (--set)

        hint: did you mean `limits.calls_max`?
        --- exit 2
    "#]]);
}
