use spelunk_testkit::check_page;

use super::*;
use crate::config::file::{self, Owner};
use crate::config::{Layer, Settings, schema};

#[test]
fn the_schema_is_up_to_date() {
    check_page("spelunk.schema.json", &schema());
}

#[test]
fn the_page_of_defaults_is_up_to_date() {
    check_page("defaults.toml", &defaults_toml());
}

#[test]
fn the_page_of_variables_is_up_to_date() {
    check_page("environment.md", &environment_md());
}

#[test]
fn the_page_of_defaults_says_nothing_as_it_is_pasted() {
    let layer = file::parse(&defaults_toml(), "defaults.toml".as_ref(), Owner::User).unwrap();
    assert_eq!(layer, Layer::default());
}

#[test]
fn the_page_of_defaults_with_every_mark_taken_away_says_what_the_table_says() {
    let mut page = String::new();
    for line in defaults_toml().lines() {
        let setting = line.strip_prefix("# ").filter(|rest| {
            rest.starts_with('[') || rest.split_once(" = ").is_some_and(|(word, _)| is_word(word))
        });
        page.push_str(setting.unwrap_or(line));
        page.push('\n');
    }
    let layer = file::parse(&page, "defaults.toml".as_ref(), Owner::User).unwrap();
    let keys: Vec<_> = table::all().iter().filter(|setting| layer.get(&setting.key).is_none()).collect();
    assert_eq!(keys, Vec::<&Setting>::new());
    let settings = Settings::resolve(layer).unwrap();
    let defaults = Settings::resolve(Layer::defaults()).unwrap();
    assert_eq!(settings.limits, defaults.limits);
    assert_eq!(settings.strategy, defaults.strategy);
    assert_eq!(settings.workspace_path, defaults.workspace_path);
    for kind in &*KINDS {
        let groups = settings.layer.groups(kind.section);
        let groups: Vec<_> = groups.map(|group| (group.name.as_str(), group.entries().count())).collect();
        assert_eq!(groups, [(kind.example, kind.fields.len())]);
    }
}

fn is_word(text: &str) -> bool {
    text.chars().all(|c| c == '_' || c.is_ascii_lowercase() || c.is_ascii_digit())
}
