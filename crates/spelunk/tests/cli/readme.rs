//! The commands of the README and of the documentation: each of them is executed, and those within a text are known to the
//! program, so that none of them is out of date.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use expect_test::expect;
use serde_json::json;

use crate::scene::{Scene, answering};

/// Commands that are not executed, and why.
const NOT_EXECUTED: [(&str, &str); 4] = [
    ("export ANTHROPIC_API_KEY", "it sets the key"),
    ("ollama pull", "it is another program's"),
    ("spelunk serve", "it does not end; `http` starts it in every test"),
    ("spelunk ask --open", "it does not end; `http::open` executes it"),
];

/// Pages whose commands are executed with a server, by `http::docs` and `http::compat`.
const OF_SERVERS: [&str; 2] = ["docs/server.md", "docs/compatible.md"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap()
}

fn page(name: &str) -> String {
    std::fs::read_to_string(root().join(name)).unwrap()
}

/// The pages of the documentation, by name.
fn pages() -> Vec<String> {
    let mut folders = vec![PathBuf::from("docs")];
    let mut pages: Vec<String> = ["CONTRIBUTING.md", "README.md", "SECURITY.md"].map(str::to_owned).into();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(root().join(&folder)).unwrap() {
            let entry = entry.unwrap();
            let path = folder.join(entry.file_name());
            if entry.path().is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "md") {
                pages.push(path.to_str().unwrap().to_owned());
            }
        }
    }
    pages.sort();
    pages
}

/// The commands in the console blocks of a page.
fn commands(page: &str) -> Vec<String> {
    let mut is_console = false;
    let mut commands = Vec::new();
    for line in page.lines() {
        if line.starts_with("```") {
            is_console = line == "```console";
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| is_console) {
            let command = command.split("  #").next().unwrap().trim_end();
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
        ("service/login.py", "def login(name):\n    return db.run('select ' + name)\n"),
        ("messages.txt", "It broke.\nWhere is it?\nI like it.\n"),
    ]);
    // Together they fit into one call, so that one reply answers.
    for name in ["usage.md", "reading.md", "glossary.md"] {
        scene.write(&format!("docs/{name}"), page(&format!("docs/{name}")).as_bytes());
    }
    scene
}

/// Executes the commands; the server answers those that name a model.
fn executed(page: &str) -> Vec<String> {
    let server = answering("Each is charged once. 42.");
    let report = json!({ "relevant": true, "summary": "A query is built from input.", "findings": [] });
    let analysts = answering(&report.to_string());
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
        if command.starts_with("spelunk run export") {
            assert_eq!(scene.spelunk(["ask", "what is charged?", "docs"]).server(&server).run().code, 0);
        }
        let call = scene.spelunk(words[1..].iter().map(String::as_str));
        let done = if command.contains("--focus") || command.contains("--strategy map") {
            call.server(&analysts).run()
        } else if has_key || command.contains("--base-url") {
            call.server(&server).run()
        } else {
            call.run()
        };
        ran.push(format!("{} {command}", done.code));
    }
    ran
}

#[test]
fn every_command_of_the_readme_does_what_it_says() {
    let ran = executed(&page("README.md"));
    expect![[r#"
        0 spelunk demo
        4 spelunk ask "how do I limit the cost of a question?" docs
        0 spelunk ask "how do I limit the cost of a question?" docs
        0 spelunk ask "how do I limit the cost of a question?" docs --model openai/qwen3:8b --base-url http://127.0.0.1:11434/v1"#]].assert_eq(&ran.join("\n"));
}

#[test]
fn every_command_of_the_documentation_does_what_it_says() {
    let mut ran = Vec::new();
    for name in pages().into_iter().filter(|name| name != "README.md" && !OF_SERVERS.contains(&name.as_str()))
    {
        ran.extend(executed(&page(&name)).into_iter().map(|done| format!("{name}: {done}")));
    }
    expect![[r#"
        docs/analysis.md: 0 spelunk ask "Review this service for security problems" ./service --focus security
        docs/mcp.md: 0 spelunk mcp --install claude-code
        docs/models.md: 0 spelunk ask "Each message is a complaint, a question or praise. How many messages are complaints?" messages.txt --strategy map
        docs/tour.md: 4 spelunk ask "what is a frame?" docs
        docs/tutorial.md: 0 spelunk demo
        docs/tutorial.md: 4 spelunk ask "which exit code says that a limit was reached?" docs
        docs/tutorial.md: 0 spelunk ask "which exit code says that a limit was reached?" docs
        docs/tutorial.md: 0 spelunk run export --html run.html
        docs/tutorial.md: 0 spelunk ask "Review this service for security problems" ./service --focus security
        docs/usage.md: 4 spelunk ask "how are secrets redacted?" docs/reading.md
        docs/usage.md: 4 spelunk ask "how many ERROR lines?" logs
        docs/usage.md: 4 spelunk ask "which region has the most failed orders?" orders.csv
        docs/viewer.md: 0 spelunk run export --html run.html"#]].assert_eq(&ran.join("\n"));
}

/// Commands with others below them.
const GROUPS: [&str; 6] = ["config", "context", "eval", "model", "run", "tool"];

#[test]
fn every_command_within_a_text_is_one_of_the_program() {
    let scene = Scene::new(&[]);
    let mut helps: BTreeMap<Vec<String>, String> = BTreeMap::new();
    let mut unknown = BTreeSet::new();
    let mut n_commands = 0;
    for name in pages() {
        for command in
            page(&name).split('`').skip(1).step_by(2).filter_map(|code| code.strip_prefix("spelunk "))
        {
            let command = command.replace("\\|", "|");
            let words = words(&command);
            // `help` is the parser's own.
            let first = words.first().filter(|word| *word != "help" && word.chars().all(char::is_lowercase));
            let Some(first) = first else { continue };
            n_commands += 1;
            let below = words.get(1).filter(|_| GROUPS.contains(&first.as_str()));
            let below = below
                .into_iter()
                .flat_map(|word| word.split('|'))
                .filter(|word| word.chars().all(char::is_lowercase));
            let paths: Vec<Vec<String>> = match below.map(str::to_owned).collect::<Vec<_>>() {
                none if none.is_empty() => vec![vec![first.clone()]],
                some => some.into_iter().map(|word| vec![first.clone(), word]).collect(),
            };
            for path in paths {
                let help = helps.entry(path.clone()).or_insert_with(|| {
                    let ran = scene.spelunk(path.iter().map(String::as_str).chain(["--help"])).run();
                    if ran.code == 0 { ran.stdout } else { String::new() }
                });
                let flags = words.iter().map(|word| word.trim_matches(['[', ']', '…', ',']));
                let flags =
                    flags.filter(|word| word.starts_with("--")).map(|word| word.split('=').next().unwrap());
                let are_known = flags.into_iter().all(|flag| help.contains(flag));
                if help.is_empty() || !are_known {
                    unknown.insert(format!("{name}: spelunk {command}"));
                }
            }
        }
    }
    assert_eq!(unknown, BTreeSet::new());
    assert!(n_commands > 80, "{n_commands}");
}

#[test]
fn the_readme_fits_on_a_page() {
    let n_lines = page("README.md").lines().count();
    assert!(n_lines <= 120, "{n_lines} lines");
}
