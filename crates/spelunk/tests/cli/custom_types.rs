//! User-defined content types: from settings files into plans, and shown like every other setting.

use std::fmt::Write as _;

use expect_test::{Expect, expect};

use crate::scene::{NOTE, QUESTION, Scene};

const PROJECT: &str = r#"
[types.protobuf]
extensions = ["proto"]
base = "source_code"
boundary = "^(message|service) "
target_lines = 500
analyst_prompt = "Field numbers must never be reused."
"#;
const USER: &str =
    "[types.protobuf]\nextensions = ['pb']\n\n[types.bazel]\nnames = ['BUILD']\nbase = 'config'\n";

fn scene() -> Scene {
    let messages = (1..=400).fold(String::new(), |mut text, n| {
        writeln!(text, "message M{n} {{\n  string name = 1;\n  // The end of M{n}.\n}}").unwrap();
        text
    });
    let scene = Scene::new(&[
        ("api/all.proto", &messages),
        ("api/BUILD", "proto_library(name = 'all')\n"),
        ("spelunk.toml", PROJECT),
    ]);
    std::fs::create_dir_all(scene.home().join(".config/spelunk")).unwrap();
    std::fs::write(scene.home().join(".config/spelunk/config.toml"), USER).unwrap();
    scene
}

#[test]
fn a_plan_is_made_by_their_rules() {
    scene().spelunk(["plan", "api", "--tasks"]).run().check(&expect![[r#"
        type              files     lines      size
        bazel                 1         1      28 B
        protobuf              1      1600   22.9 kB

          22.9 kB  protobuf           3 chunks  all.proto
        1 small file in 1 batch

           1  code       1.7k tokens  all.proto:1-500
           2  code       1.8k tokens  all.proto:501-1000
           3  code       2.1k tokens  all.proto:1001-1600
           4  general       7 tokens  batch of 1: BUILD

        4 tasks: 3 chunks, 1 batch · analysts: 1 code, 1 general
        4 to 17 calls · 5.2k to 319k tokens in, 8 to 69.6k out
          anthropic/claude-sonnet-5-5  $0.0106 to $1.50
          anthropic/claude-haiku-5-5   $0.0006 to $0.0748
          gemini/gemini-4-argon        $0.0106 to $1.34
          gemini/gemini-3.5-flash-lite $0.0016 to $0.27
          openai/gpt-6.1-terra         $0.0053 to $0.75
          openai/gpt-6-luna            $0.0006 to $0.0748
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn what_analysts_are_told_counts_in_the_estimate() {
    let scene = scene();
    let tokens = || {
        let ran = scene.spelunk(["plan", "api/all.proto", "--json"]).run();
        let plan: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        (plan["tasks"].as_array().unwrap().len(), plan["usage_at_most"]["input_tokens"].as_u64().unwrap())
    };
    let (n_tasks, with_prompt) = tokens();
    scene.write("spelunk.toml", PROJECT.replace("analyst_prompt", "# analyst_prompt").as_bytes());
    let (_, without_prompt) = tokens();
    expect!["3 tasks, 112 tokens more"]
        .assert_eq(&format!("{n_tasks} tasks, {} tokens more", with_prompt - without_prompt));
}

#[test]
fn json_names_them_beside_their_base() {
    let scene = scene();
    let ran = scene.spelunk(["plan", "api", "--json"]).run();
    let plan: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    expect![[r#"
        [
          {
            "bytes": 28,
            "custom_type": "bazel",
            "file": "BUILD",
            "lines": 1,
            "partitions": 0,
            "partitions_expected": 0,
            "schema": null,
            "tier": "small",
            "type": "config",
            "via": "custom"
          },
          {
            "bytes": 22984,
            "custom_type": "protobuf",
            "file": "all.proto",
            "lines": 1600,
            "partitions": 3,
            "partitions_expected": 4,
            "schema": null,
            "tier": "medium",
            "type": "source_code",
            "via": "custom"
          }
        ]"#]]
    .assert_eq(&format!("{:#}", plan["manifest"]));
}

#[test]
fn an_outline_names_them_too() {
    scene().spelunk(["outline", "api/BUILD"]).run().check(&expect![[r#"
        1 document, 28 B: api/BUILD
        type: bazel, treated as config
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn the_users_word_for_a_file_goes_before_them() {
    let ran = scene().spelunk(["plan", "api", "--type", "*.proto=log"]).run();
    let types: Vec<&str> = ran.stdout.lines().take(3).collect();
    expect![[r#"
        type              files     lines      size
        bazel                 1         1      28 B
        log                   1      1600   22.9 kB"#]]
    .assert_eq(&types.join("\n"));
}

#[test]
fn the_user_may_name_one_for_a_file_and_a_mistyped_name_is_told() {
    let scene = scene();
    let ran = scene.spelunk(["plan", "api", "--type", "*.proto=bazel", "--type", "BUILD=protobuf"]).run();
    let types: Vec<&str> = ran.stdout.lines().take(3).collect();
    expect![[r#"
        type              files     lines      size
        bazel                 1      1600   22.9 kB
        protobuf              1         1      28 B"#]]
    .assert_eq(&types.join("\n"));
    scene.spelunk(["plan", "api", "--type", "*.proto=protobuff"]).run().check(&expect![[r#"
        --- stderr
        error: there is no content type `protobuff`

        hint: did you mean `protobuf`? the types are bazel, protobuf, source_code, structured_data, json, jsonl, log, prose, markup, config, unknown
        --- exit 2
    "#]]);
}

#[test]
fn they_are_shown_with_their_origin_the_projects_over_the_users() {
    let scene = scene();
    scene.spelunk(["config", "show", "types"]).run().check(&expect![[r#"
        types.bazel.names = ["BUILD"]                     (DIR/home/.config/spelunk/config.toml:5)
        types.bazel.base = "config"                       (DIR/home/.config/spelunk/config.toml:6)
        types.protobuf.extensions = ["proto"]             (spelunk.toml:3)
        types.protobuf.base = "source_code"               (spelunk.toml:4)
        types.protobuf.boundary = "^(message|service) "   (spelunk.toml:5)
        types.protobuf.target_lines = 500                 (spelunk.toml:6)
        types.protobuf.analyst_prompt = "Field numbers must never be reused."   (spelunk.toml:7)
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(["config", "show", "types.bazel", "--json"]).run().check(&expect![[r#"
        [{"key":"types.bazel.names","origin":{"is":"file","line":5,"path":"DIR/home/.config/spelunk/config.toml"},"value":["BUILD"]},{"key":"types.bazel.base","origin":{"is":"file","line":6,"path":"DIR/home/.config/spelunk/config.toml"},"value":"config"}]
        --- stderr
        --- exit 0
    "#]]);
}

#[track_caller]
fn refused(toml: &str, expected: &Expect) {
    let scene = Scene::new(&NOTE);
    scene.write("spelunk.toml", toml.as_bytes());
    scene.spelunk(["ask", QUESTION]).run().check(expected);
    assert!(!scene.exists(".spelunk"));
}

#[test]
fn a_mistake_in_one_is_refused_with_its_place() {
    refused(
        "[types.protobuf]\nextensions = ['proto']\nbse = 'json'\n",
        &expect![[r#"
        --- stderr
        error: there is no setting `types.protobuf.bse` (spelunk.toml:3)

        hint: did you mean `types.protobuf.base`?
        --- exit 2
    "#]],
    );
    refused(
        "[types.protobuf]\nextensions = ['proto']\nbase = 'code'\n",
        &expect![[r#"
        --- stderr
        error: `types.protobuf.base` must be one of `source_code`, `structured_data`, `json`, `jsonl`, `log`, `prose`, `markup`, `config`, `unknown`, not `'code'` (spelunk.toml:3)
        --- exit 2
    "#]],
    );
    refused(
        "[types.protobuf]\nextensions = ['proto']\n\nboundary = '^(message'\n",
        &expect![[r#"
        --- stderr
        error: `types.protobuf.boundary` must be a regular expression (unclosed group), not `'^(message'` (spelunk.toml:4)
        --- exit 2
    "#]],
    );
    refused(
        "[types.protobuf]\nbase = 'json'\n",
        &expect![[r#"
        --- stderr
        error: the content type `protobuf` matches no files (spelunk.toml:1)

        hint: add `extensions = ["proto"]` or `names = ["BUILD"]`
        --- exit 2
    "#]],
    );
    refused(
        "[types.json]\nextensions = ['json5']\n",
        &expect![[r#"
        --- stderr
        error: `json` is not a valid name of a content type (spelunk.toml:1)

        hint: use 1 to 40 lowercase letters, digits, `_` or `-`, and not a built-in name
        --- exit 2
    "#]],
    );
}
