use std::path::Path;

use spelunk_types::Explain;

use super::super::file::{Owner, parse};
use super::super::settings::Settings;
use super::*;

fn read(text: &str, owner: Owner) -> Result<Settings, ConfigError> {
    Settings::resolve(parse(text, Path::new("spelunk.toml"), owner)?.over(Layer::defaults()))
}

#[test]
fn a_source_is_a_command_a_program_or_a_url() {
    let text = r#"
        [tools.jira]
        command = ["jira-mcp", "--read-only"]
        env = ["JIRA_TOKEN"]
        effect = "read"
        timeout_ms = 5000
        calls_max = 3
        allow = true
        [tools.far]
        url = "http://127.0.0.1:8080/mcp"
        [tools.sum-up]
        kind = "program"
        command = ["sum"]
        description = "Adds."
        schema = "{}"
    "#;
    let found = read(text, Owner::User).unwrap().tools;
    let source = |name: &str, provider| {
        let (effect, timeout_ms, calls_max) = (None, TIMEOUT_MS, CALLS_MAX);
        ToolSource { name: name.to_owned(), provider, effect, timeout_ms, calls_max, is_allowed: false }
    };
    let command = |program: &str, arguments: &[&str], env: &[&str]| ToolCommand {
        program: program.to_owned(),
        arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
        env: env.iter().map(|word| (*word).to_owned()).collect(),
    };
    let jira = ToolProvider::Command(command("jira-mcp", &["--read-only"], &["JIRA_TOKEN"]));
    let jira = ToolSource {
        effect: Some(EffectClass::Read),
        timeout_ms: 5000,
        calls_max: 3,
        is_allowed: true,
        ..source("jira", jira)
    };
    let sum = ToolProvider::Program {
        command: command("sum", &[], &[]),
        description: "Adds.".to_owned(),
        schema: "{}".to_owned(),
    };
    let far = source("far", ToolProvider::Url("http://127.0.0.1:8080/mcp".to_owned()));
    let expected = [("far", far), ("jira", jira), ("sum-up", source("sum-up", sum))];
    assert_eq!(found, expected.map(|(name, source)| (name.to_owned(), source)).into());
}

#[test]
fn a_source_without_a_provider_or_with_two_is_refused() {
    for text in [
        "[tools.x]\n",
        "[tools.x]\ncommand = []\n",
        "[tools.x]\ncommand = [\"a\"]\nurl = \"http://a\"\n",
        "[tools.x]\nkind = \"program\"\nurl = \"http://a\"\n",
    ] {
        let error = read(text, Owner::User).unwrap_err();
        let message = "the tool `x` needs either a `command` or a `url` (spelunk.toml:1)";
        assert_eq!(error.to_string(), message, "{text}");
    }
}

#[test]
fn a_project_file_defines_no_tools_and_turns_none_on() {
    for (text, key) in [
        ("[tools.x]\n", "tools.x"),
        ("[tools.x]\ncommand = [\"rm\"]\n", "tools.x"),
        ("[tools]\nx = { url = \"http://a\" }\n", "tools.x"),
    ] {
        let error = read(text, Owner::Project).unwrap_err();
        let line = if text.contains("{ url") { 2 } else { 1 };
        assert_eq!(
            error.to_string(),
            format!("a project file may not set `{key}` (spelunk.toml:{line})"),
            "{text}"
        );
        assert!(error.hint().unwrap().contains("config.toml"));
    }
    let layer = parse("[ask]\ntools = \"x\"\n", Path::new("spelunk.toml"), Owner::Project).unwrap();
    let error =
        super::super::project::check(&layer, &Layer::defaults(), Path::new("spelunk.toml")).unwrap_err();
    assert_eq!(error.to_string(), "a project file may not set `ask.tools` (spelunk.toml:2)");
}
