//! The server's documentation page: its examples show what actually happens.

use std::path::Path;

use spelunk_types::ErrorCode;

use super::client::{Answer, Server};
use crate::scene::{NOTE, REPLY, Scene, answering};

/// The commands of the page that call a server, each with the output below it.
fn examples() -> Vec<(String, String)> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/server.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut examples: Vec<(String, String)> = Vec::new();
    for block in page.split("```console\n").skip(1) {
        let block = block.split("```").next().unwrap();
        for line in block.lines() {
            match line.strip_prefix("$ ") {
                Some(command) => examples.push((command.to_owned(), String::new())),
                None => examples.last_mut().unwrap().1 += line,
            }
        }
    }
    examples.retain(|(command, _)| command.starts_with("curl "));
    examples
}

/// Splits a command into words as a shell does.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut is_quoted = false;
    for c in command.chars() {
        match c {
            '\'' => is_quoted = !is_quoted,
            ' ' if !is_quoted => words.push(String::new()),
            c => words.last_mut().unwrap().push(c),
        }
    }
    words
}

/// Sends what curl would send.
fn curl(server: &Server, scene: &Scene, command: &str) -> Answer {
    let (mut path, mut headers, mut body, mut form) =
        (String::new(), Vec::new(), String::new(), String::new());
    let all = words(command);
    let mut rest = all.iter().skip(1);
    while let Some(word) = rest.next() {
        match word.as_str() {
            "-s" | "-sN" => {}
            "-H" => headers.push(rest.next().unwrap().split_once(": ").unwrap()),
            "-d" => body.clone_from(rest.next().unwrap()),
            "-F" => {
                let (name, value) = rest.next().unwrap().split_once('=').unwrap();
                let (file, text) = match value.strip_prefix('@') {
                    Some(path) => (format!("; filename=\"{path}\""), scene.read(path)),
                    None => (String::new(), value.to_owned()),
                };
                form += &format!(
                    "--B\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\r\n{text}\r\n"
                );
            }
            url => url.strip_prefix("http://127.0.0.1:7766").unwrap().clone_into(&mut path),
        }
    }
    if !form.is_empty() {
        body = format!("{form}--B--\r\n");
        headers.push(("Content-Type", "multipart/form-data; boundary=B"));
    }
    server.send(if body.is_empty() { "GET" } else { "POST" }, &path, &headers, body.as_bytes())
}

#[test]
fn every_example_does_what_the_page_says() {
    let (scene, model) = (Scene::new(&NOTE), answering(REPLY));
    let server = Server::start(&scene, &[], Some(&model));
    let mut run = String::new();
    let mut n_shown = 0;
    for (command, shown) in examples() {
        let answer = curl(&server, &scene, &command.replace("RUN", &run));
        if run.is_empty() {
            run = answer.json()["id"].as_str().unwrap().to_owned();
            server.finish(&run);
        }
        if shown.is_empty() {
            assert!(answer.status < 300, "{command}: {}", answer.body);
            continue;
        }
        n_shown += 1;
        let said = crate::scene::json_without_times(
            serde_json::from_str(&answer.body.replace(&run, "RUN")).unwrap(),
        );
        let mut said = said;
        // How far it has come by then depends on the machine.
        if said["links"].is_object() && said["state"] == "answered" {
            said["state"] = "running".into();
        }
        if said["hint"].is_string() {
            said["hint"] = "HINT".into();
        }
        assert_eq!(said.to_string(), shown, "{command}");
    }
    assert_eq!(n_shown, 4);
}

#[test]
fn every_code_of_the_server_is_on_the_page() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/server.md");
    let page = std::fs::read_to_string(page).unwrap();
    let listed = page.split("one of the server's own: ").nth(1).unwrap().split(".\n").next().unwrap();
    let listed: Vec<&str> = listed.split('`').skip(1).step_by(2).collect();
    // Contexts and the compatible APIs have pages of their own.
    let is_elsewhere = |path: &Path| {
        let name = path.file_stem().unwrap().to_str().unwrap();
        ["contexts", "compat", "tests"].contains(&name)
    };
    let code = regex::Regex::new(r#"(?:Problem|Self)::new\(\s*[\w:]+,\s*"([a-z-]+)""#).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spelunk-server/src");
    let mut paths = vec![source.join("http.rs"), source.join("http")];
    let mut used = std::collections::BTreeSet::new();
    while let Some(path) = paths.pop() {
        if is_elsewhere(&path) {
            continue;
        }
        if path.is_dir() {
            paths.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let text = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        used.extend(code.captures_iter(text).map(|found| found[1].to_owned()));
    }
    used.retain(|code| !ErrorCode::ALL.iter().any(|known| known.name() == code));
    assert_eq!(used.into_iter().collect::<Vec<_>>(), listed);
}
