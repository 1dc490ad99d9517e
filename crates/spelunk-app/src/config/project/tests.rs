#![expect(clippy::disallowed_methods, reason = "tests place files by hand")]

use std::collections::BTreeMap;

use expect_test::expect;
use spelunk_types::Explain as _;

use super::super::file::{self, Owner};
use super::super::table::{Fallback, Setting};
use super::*;

/// The error for a project file with this text, in its own directory; `own` is the user's file.
fn told(own: &str, text: &str) -> Option<String> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("spelunk.toml");
    let own = file::parse(own, Path::new("config.toml"), Owner::User).unwrap().over(Layer::defaults());
    let project = match file::parse(text, Path::new("spelunk.toml"), Owner::Project) {
        Ok(project) => project,
        Err(error) => return Some(error.to_string()),
    };
    check(&project, &own, &path).err().map(|error| format!("{error}; {}", error.hint().unwrap_or_default()))
}

fn line(setting: &Setting, value: &Value) -> String {
    format!("{} = {value}\n", setting.key)
}

/// A valid value for the setting.
fn value(setting: &Setting) -> Value {
    match &setting.fallback {
        Fallback::Value(value) | Fallback::Unset { example: value } => value.clone(),
    }
}

#[test]
fn every_setting_is_held_to_what_the_table_says() {
    for setting in table::all() {
        let said = told("", &line(setting, &value(setting)));
        match (setting.reach, value(setting)) {
            (Reach::UserOnly, _) => {
                let refused = format!("a project file may not set `{}` (spelunk.toml:1); ", setting.key);
                assert!(said.is_some_and(|said| said.starts_with(&refused)), "{}", setting.key);
            }
            (Reach::LowerOnly, Value::Whole(default)) => {
                assert_eq!(said, None, "{}", setting.key);
                let (lower, higher) = (default / 2, default + 1);
                let may_be = |own: u64, value: u64| {
                    let (own, value) = (Value::Whole(own), Value::Whole(value));
                    told(&line(setting, &own), &line(setting, &value)).is_none()
                };
                assert!(may_be(default, default), "{}", setting.key);
                assert!(may_be(higher, default.max(1)), "{}", setting.key);
                let is_unlimited = table::is_unlimited(&setting.key, default);
                assert_eq!(may_be(default, higher), is_unlimited, "{}", setting.key);
                if is_unlimited {
                    assert!(!may_be(5, 0) && !may_be(5, 6) && may_be(5, 4), "{}", setting.key);
                } else if lower > 0 {
                    assert!(may_be(default, lower), "{}", setting.key);
                }
            }
            (Reach::InsideProject | Reach::Everywhere, _) => assert_eq!(said, None, "{}", setting.key),
            (Reach::LowerOnly, other) => panic!("`{}` is {other}, which cannot be lower", setting.key),
        }
    }
}

/// Adding a setting requires a decision here on whether a stranger may set it.
#[test]
fn these_settings_a_project_may_choose() {
    let mut by_reach: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for setting in table::all() {
        let reach = match setting.reach {
            Reach::Everywhere => "everywhere",
            Reach::InsideProject => "inside",
            Reach::LowerOnly | Reach::UserOnly => continue,
        };
        by_reach.entry(reach).or_default().push(&setting.key);
    }
    let mut listed = String::new();
    for (reach, keys) in by_reach {
        listed += &format!("{reach}: {}\n", keys.join(" "));
    }
    expect![[r#"
        everywhere: model.provider model.name model.sub roles.root roles.sub roles.synthesis ask.strategy output.color limits.corpus_tokens_warn limits.chunk_code_lines limits.chunk_narrow_rows limits.chunk_wide_dense_rows limits.chunk_wide_sparse_rows limits.wide_columns_min limits.chunk_json_elements limits.chunk_jsonl_lines limits.chunk_jsonl_narrow_lines limits.chunk_jsonl_wide_lines limits.chunk_log_lines limits.chunk_prose_lines limits.chunk_other_lines limits.overlap_log_lines limits.overlap_prose_lines limits.overlap_other_lines limits.chunk_plain_tokens limits.overlap_plain_tokens limits.peek_lines limits.peek_tokens limits.page_lines limits.evict_to_percent limits.access_log_entries_kept
        inside: workspace.path
    "#]].assert_eq(&listed);
}

#[test]
fn every_field_of_a_named_model_is_held_to_what_the_table_says() {
    let fields = &super::super::models::kind().fields;
    for field in fields {
        let said = told("", &format!("[models.fast]\n{} = {}\n", field.word(), value(field)));
        let refused = format!("a project file may not set `models.fast.{}` (spelunk.toml:2)", field.word());
        let expected = (field.reach == Reach::UserOnly).then_some(refused);
        assert_eq!(said, expected, "{}", field.key);
    }
    let free = fields.iter().filter(|field| field.reach == Reach::Everywhere);
    let free: Vec<&str> = free.map(Setting::word).collect();
    expect!["provider name context_tokens effort vision pdf temperature seed requests_per_minute tokens_per_minute fallback"]
    .assert_eq(&free.join(" "));
}

#[test]
fn a_limit_is_told_with_both_values() {
    let said = told("limits.calls_max = 100\n", "[limits]\ncalls_max = 500\n");
    expect!["a project file may only lower `limits.calls_max`: it sets 500, and your value is 100 (spelunk.toml:2); to allow that much, raise it yourself with `--set limits.calls_max=500` or in your own settings"].assert_eq(&said.unwrap());
}

#[test]
fn a_workspace_stays_inside_of_the_project() {
    for path in ["..", "../other", "/tmp/ws", "a/../../b", "~/../x/..", "", ".", "./"] {
        let said = told("", &format!("workspace.path = '{path}'\n"));
        assert!(said.is_some_and(|said| said.contains("inside the project")), "{path}");
    }
    for path in [".spelunk", "build/runs", "./runs"] {
        assert_eq!(told("", &format!("workspace.path = '{path}'\n")), None, "{path}");
    }
}

#[cfg(unix)]
#[test]
fn a_workspace_behind_a_link_is_not_inside() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("project/real")).unwrap();
    std::fs::create_dir_all(dir.path().join("other")).unwrap();
    std::os::unix::fs::symlink("../other", dir.path().join("project/out")).unwrap();
    std::os::unix::fs::symlink("real", dir.path().join("project/in")).unwrap();
    let file = dir.path().join("project/spelunk.toml");
    assert!(is_inside(&file, "in/runs") && is_inside(&file, "real") && is_inside(&file, "new/runs"));
    assert!(!is_inside(&file, "out") && !is_inside(&file, "out/runs"));
}

#[test]
fn a_project_does_not_choose_the_provider_that_gets_the_users_key() {
    let project = "model.provider = 'anthropic'\n";
    assert_eq!(told("", project), None);
    for own in ["key_env = 'CORP_KEY'", "key_command = 'pass show corp'", "base_url = 'http://corp/v1'"] {
        let said = told(&format!("[model]\n{own}\n"), project);
        assert!(said.is_some_and(|said| said.starts_with("a project file may not set `model.provider`")));
    }
}
