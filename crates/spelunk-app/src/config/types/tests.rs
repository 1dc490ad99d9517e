use std::path::Path;

use expect_test::expect;
use spelunk_types::Explain as _;

use super::*;
use crate::config::file::{Owner, parse};
use crate::config::{Layer, Settings, show_text};

const WHOLE: &str = "[limits]\ncalls_max = 3\n[types.protobuf]\nextensions = ['.Proto', 'pb3']\nnames = ['BUILD']\n\
                     base = 'source_code'\nboundary = '^(message|service) '\ntarget_lines = 200\nanalyst_prompt = 'Look.'\n";

fn read(toml: &str, path: &str, owner: Owner) -> Layer {
    parse(toml, Path::new(path), owner).unwrap()
}

#[track_caller]
fn check_refused(toml: &str, expected: &str) {
    let error = parse(toml, Path::new("spelunk.toml"), Owner::Project).unwrap_err();
    assert_eq!(format!("{}: {error}; {}", error.code(), error.hint().unwrap_or_default()), expected);
}

#[test]
fn a_type_has_all_that_is_said_about_it() {
    let layer = read(WHOLE, "spelunk.toml", Owner::Project);
    let kinds: Vec<CustomKind> = layer.groups(TYPES).map(custom_kind).collect();
    expect![[r#"
        [
            CustomKind {
                name: "protobuf",
                extensions: [
                    "proto",
                    "pb3",
                ],
                names: [
                    "BUILD",
                ],
                base: SourceCode,
                boundary: Some(
                    Regex(
                        "^(message|service) ",
                    ),
                ),
                target_lines: Some(
                    200,
                ),
                analyst_prompt: Some(
                    "Look.",
                ),
            },
        ]
    "#]]
    .assert_debug_eq(&kinds);
}

#[test]
fn a_type_with_files_alone_is_based_on_nothing() {
    let layer = read("types.bazel.names = ['BUILD']\n", "spelunk.toml", Owner::Project);
    let kind = custom_kind(layer.groups(TYPES).next().unwrap());
    assert_eq!(
        (kind.base, kind.target_lines, kind.boundary.is_none(), kind.analyst_prompt),
        (ContentType::Unknown, None, true, None)
    );
}

#[test]
fn a_type_of_the_project_replaces_the_users_of_the_same_name_whole() {
    let user = "[types.a]\nextensions = ['a1']\nbase = 'json'\n[types.b]\nextensions = ['b1']\n";
    let project = "[types.a]\nextensions = ['a2']\n[types.c]\nnames = ['C']\n";
    let joined = read(project, "spelunk.toml", Owner::Project)
        .over(read(user, "config.toml", Owner::User))
        .over(Layer::defaults());
    let settings = Settings::resolve(joined).unwrap();
    expect![[r#"
        types.a.extensions = ["a2"]   (spelunk.toml:2)
        types.b.extensions = ["b1"]   (config.toml:5)
        types.c.names = ["C"]         (spelunk.toml:4)
    "#]]
    .assert_eq(&show_text(&settings, "types").unwrap());
}

#[test]
fn an_unknown_field_is_answered_with_a_known_one() {
    check_refused(
        "[types.protobuf]\nextension = ['proto']\n",
        "setting-unknown: there is no setting `types.protobuf.extension` (spelunk.toml:2); \
         did you mean `types.protobuf.extensions`?",
    );
    check_refused(
        "[types.protobuf]\ncolour = 'red'\n",
        "setting-unknown: there is no setting `types.protobuf.colour` (spelunk.toml:2); a content type has \
         `extensions`, `names`, `base`, `boundary`, `target_lines`, `analyst_prompt`",
    );
}

#[test]
fn a_value_that_a_field_cannot_have_is_refused_with_its_place() {
    check_refused(
        "[types.p]\nnames = ['P']\nbase = 'source-code'\n",
        "setting-invalid: `types.p.base` must be one of `source_code`, `structured_data`, `json`, `jsonl`, `log`, \
         `prose`, `markup`, `config`, `unknown`, not `'source-code'` (spelunk.toml:3); did you mean `source_code`?",
    );
    check_refused(
        "[types.p]\nnames = ['P']\n\nboundary = '^(message'\n",
        "setting-invalid: `types.p.boundary` must be a regular expression (unclosed group), not `'^(message'` \
         (spelunk.toml:4); ",
    );
    check_refused(
        "[types.p]\nextensions = 'proto'\n",
        "setting-invalid: `types.p.extensions` must be a list of strings in quotes, not `'proto'` (spelunk.toml:2); ",
    );
    check_refused(
        "[types.p]\nextensions = ['tar.gz']\n",
        "setting-invalid: `types.p.extensions` must be a list of extensions without dots, such as `[\"proto\"]`, \
         not `['tar.gz']` (spelunk.toml:2); ",
    );
    check_refused(
        "[types.p]\nnames = ['src/BUILD']\n",
        "setting-invalid: `types.p.names` must be a list of full file names, such as `[\"BUILD\"]`, \
         not `['src/BUILD']` (spelunk.toml:2); ",
    );
    check_refused(
        "[types.p]\nnames = ['P']\ntarget_lines = 0\n",
        "setting-invalid: `types.p.target_lines` must be at least 1, not `0` (spelunk.toml:3); ",
    );
    check_refused(
        &format!("[types.p]\nnames = ['P']\nanalyst_prompt = '{}'\n", "x".repeat(4001)),
        &format!(
            "setting-invalid: `types.p.analyst_prompt` must be at most 4000 bytes long, not `'{}…` (spelunk.toml:3); ",
            "x".repeat(59)
        ),
    );
}

#[test]
fn a_type_without_files_or_with_a_name_of_another_is_refused() {
    check_refused(
        "[types.p]\nbase = 'json'\n",
        "setting-invalid: the content type `p` matches no files (spelunk.toml:1); \
         add `extensions = [\"proto\"]` or `names = [\"BUILD\"]`",
    );
    let hint = "use 1 to 40 lowercase letters, digits, `_` or `-`, and not a built-in name";
    check_refused(
        "\n[types.json]\nnames = ['x']\n",
        &format!("setting-invalid: `json` is not a valid name of a content type (spelunk.toml:2); {hint}"),
    );
    check_refused(
        "[types.'A b']\nnames = ['x']\n",
        &format!("setting-invalid: `A b` is not a valid name of a content type (spelunk.toml:1); {hint}"),
    );
}

#[test]
fn a_type_that_is_no_group_is_refused() {
    check_refused(
        "types = 3\n",
        "setting-invalid: `types` is a group of settings, not a value (spelunk.toml:1); \
         add a section `[types.NAME]` for each",
    );
    check_refused(
        "[types]\nprotobuf = 'x'\n",
        "setting-invalid: `types.protobuf` is a group of settings, not a value (spelunk.toml:2); \
         add the section `[types.protobuf]` with one setting per line",
    );
}

#[test]
fn a_type_is_not_set_by_a_flag() {
    let flag = crate::config::FlagValue::set("types.p.base=json").unwrap();
    assert_eq!(
        Layer::from_flags(&[flag]).unwrap_err().to_string(),
        "there is no setting `types.p.base` (--set)"
    );
}

#[test]
fn where_no_type_is_defined_none_is_shown() {
    let settings = Settings::resolve(Layer::defaults()).unwrap();
    assert_eq!(show_text(&settings, "types.").unwrap(), "");
    assert_eq!(
        show_text(&settings, "types.p").unwrap_err().to_string(),
        "there is no setting `types.p` (config show)"
    );
}
