//! The commands of the README and of docs/usage.md: each of them is executed, so that none of them is out of date.

use std::path::Path;

use expect_test::expect;

use crate::scene::{Scene, answering};

/// Commands that are not executed, and why.
const NOT_EXECUTED: [(&str, &str); 2] =
    [("export ANTHROPIC_API_KEY", "it sets the key"), ("ollama pull", "it is another program's")];

fn page(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap();
    std::fs::read_to_string(root.join(name)).unwrap()
}

/// The commands in the console blocks of a page.
fn commands(page: &str) -> Vec<String> {
    let mut is_console = false;
    let mut commands = Vec::new();
    for line in page.lines() {
        if line.starts_with("```") {
            is_console = line == "```console";
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| is_console) {
            commands.push(command.to_owned());
        }
    }
    commands
}

/// The words of a command; those in double quotes are one.
fn words(command: &str) -> Vec<String> {
    let parts = command.split('"').enumerate();
    let words = parts.flat_map(|(idx, part)| match idx % 2 {
        1 => vec![part.to_owned()],
        _ => part.split_whitespace().map(str::to_owned).collect(),
    });
    words.collect()
}

fn scene() -> Scene {
    let scene = Scene::new(&[
        ("logs/app.log", "09:41 INFO started\n09:42 ERROR refused\n09:43 ERROR refused again\n"),
        ("orders.csv", "id,region,status\n1,north,paid\n2,south,failed\n3,south,failed\n"),
    ]);
    for name in ["usage.md", "errors.md", "reading.md"] {
        scene.write(&format!("docs/{name}"), page(&format!("docs/{name}")).as_bytes());
    }
    scene
}

/// Executes the commands; the server answers those that name a model.
fn executed(page: &str) -> Vec<String> {
    let server = answering("Each is charged once. 42.");
    let mut ran = Vec::new();
    let mut has_key = false;
    for command in commands(page) {
        has_key |= command.starts_with("export ");
        if NOT_EXECUTED.iter().any(|(start, _)| command.starts_with(start)) {
            continue;
        }
        let words = words(&command.replace("http://127.0.0.1:11434/v1", &server.base_url()));
        assert_eq!(words[0], "spelunk", "{command}");
        let scene = scene();
        let call = scene.spelunk(words[1..].iter().map(String::as_str));
        let has_model = has_key || command.contains("--base-url");
        let done = if has_model { call.server(&server).run() } else { call.run() };
        ran.push(format!("{} {command}", done.code));
    }
    ran
}

#[test]
fn every_command_of_the_readme_does_what_it_says() {
    let ran = executed(&page("README.md"));
    expect![[r#"
        0 spelunk demo
        4 spelunk ask "which exit code says that a limit was reached?" docs
        0 spelunk ask "which exit code says that a limit was reached?" docs
        0 spelunk ask "which exit code says that a limit was reached?" docs --model openai/qwen3:8b --base-url http://127.0.0.1:11434/v1"#]].assert_eq(&ran.join("\n"));
}

#[test]
fn every_command_of_the_usage_page_does_what_it_says() {
    let ran = executed(&page("docs/usage.md"));
    expect![[r#"
        4 spelunk ask "how are secrets redacted?" docs/reading.md
        4 spelunk ask "how many ERROR lines?" logs
        4 spelunk ask "which region has the most failed orders?" orders.csv"#]]
    .assert_eq(&ran.join("\n"));
}

#[test]
fn the_readme_fits_on_a_page() {
    let n_lines = page("README.md").lines().count();
    assert!(n_lines <= 120, "{n_lines} lines");
}
