//! Attachments over HTTP: a conversation in place of the question, and files, as JSON and as a form.

use expect_test::expect;
use serde_json::{Value, json};

use super::client::Server;
use crate::scene::{NOTE, QUESTION, Scene, answering, n_calls};

/// The question of a run and the names of its documents.
fn asked(scene: &Scene, run: &str) -> String {
    let started = scene.journal(run)[0].clone();
    let names: Vec<&str> =
        started["sources"].as_array().unwrap().iter().filter_map(|source| source["name"].as_str()).collect();
    format!("{:?} {names:?}\n", started["question"]["text"].as_str().unwrap())
}

#[test]
fn a_conversation_and_attachments_are_answered_from() {
    let model = answering("It is 42.\n\n```evidence\nattachments/b.md:1: The number is 42.\n```");
    let scene = Scene::new(&NOTE);
    let server = Server::start(&scene, &[], Some(&model));
    let run = server.ask_with(&json!({
        "messages": [{ "role": "user", "content": "Hello." }, { "role": "user", "content": QUESTION }],
        "system": "Be brief.",
        "paths": ["notes"],
        "attachments": [
            { "name": "a/../../b.md", "text": "The number is 42.\n" },
            { "name": "B.md", "base64": "dHdvCg==" },
        ],
    }));
    server.finish(&run);
    let result = server.get(&format!("/v1/runs/{run}/result")).json();
    assert_eq!(
        result["citations"],
        json!([{ "document": "attachments/b.md", "line": 1, "quote": "The number is 42." }])
    );
    expect![[r###"
        "## system\nBe brief.\n\n## user\nHello.\n\n## user\nWhat is the magic number?\n" ["attachments/b.md", "attachments/B-2.md", "messages.json"]
    "###]].assert_eq(&asked(&scene, &run));
    // A conversation alone is enough to ask about.
    let alone = server.ask_with(&json!({ "messages": [{ "role": "user", "content": QUESTION }] }));
    server.finish(&alone);
    assert_eq!(server.get(&format!("/v1/runs/{alone}/result")).json()["success"], true);
}

#[test]
fn a_form_brings_attachments_under_harmless_names() {
    let (scene, model) = (Scene::new(&NOTE), answering("42."));
    let server = Server::start(&scene, &[], Some(&model));
    let part =
        |head: &str, body: &str| format!("--B\r\nContent-Disposition: form-data; {head}\r\n\r\n{body}\r\n");
    let request = json!({ "question": QUESTION, "attachments": [{ "name": "passwd", "text": "three\n" }] });
    let mut form = part("name=\"request\"", &request.to_string());
    for (name, text) in [("../../etc/passwd", "one\n"), ("/etc/PASSWD", "two\n"), ("..", "dots\n")] {
        form += &part(&format!("name=\"attachment\"; filename=\"{name}\""), text);
    }
    form += &part("name=\"file\"; filename=\"plain.txt\"", "plain\n");
    form += "--B--\r\n";
    let headers = [("Content-Type", "multipart/form-data; boundary=B"), ("Idempotency-Key", "k")];
    let send = || server.send("POST", "/v1/runs", &headers, form.as_bytes());
    let answer = send();
    assert_eq!(answer.status, 202, "{}", answer.body);
    let run = answer.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(send().json()["id"], run.as_str(), "the same form under the same key");
    server.finish(&run);
    expect![[r#"
        "What is the magic number?" ["attachments/passwd", "attachments/PASSWD-2", "attachments/attachment", "plain.txt", "attachments/passwd-3"]
    "#]].assert_eq(&asked(&scene, &run));
    assert!(!scene.exists(&format!(".spelunk/server/uploads/{run}")));
}

#[test]
fn what_makes_no_sense_is_refused_and_nothing_is_promised() {
    let (scene, model) = (Scene::new(&NOTE), answering("42."));
    let server = Server::start(&scene, &["--set", "server.upload_bytes_max=40000000"], Some(&model));
    let mut said = String::new();
    let message = json!({ "role": "user", "content": "q" });
    for request in [
        json!({ "question": "q", "messages": [message] }),
        json!({ "messages": [] }),
        json!({ "messages": [{ "role": "user" }] }),
        json!({ "messages": { "messages": [message] } }),
        json!({ "question": "q", "system": "s", "paths": ["notes"] }),
        json!({ "question": "q", "attachments": [{ "name": "a" }] }),
        json!({ "question": "q", "attachments": [{ "name": "a", "base64": "?" }] }),
        json!({ "question": "q", "attachments": [{ "name": "a", "path": "/etc/passwd" }] }),
        json!({ "question": "q", "attachments": vec![json!({ "name": "a", "text": "" }); 201] }),
    ] {
        let answer = server.post("/v1/runs", &request);
        let (status, code) = answer.problem();
        said += &format!("{status} {code}: {}\n", answer.json()["detail"].as_str().unwrap());
    }
    expect![[r#"
        422 usage-wrong: the argument `messages` cannot be combined with `question`: send one of the two
        422 usage-wrong: the argument `messages` is not a conversation: it has no messages
        422 usage-wrong: the argument `messages` is not a conversation: message 1 has no `role` and `content`
        422 usage-wrong: the argument `messages` must be a list of messages
        422 usage-wrong: the argument `system` needs `messages`
        422 usage-wrong: the argument `attachments` is not valid: entry 1: it needs either `text` or `base64`
        422 usage-wrong: the argument `attachments` is not valid: entry 1: `base64` is not valid: Invalid symbol 63, offset 0
        422 usage-wrong: the argument `attachments` is not valid: entry 1: there is no argument `path`
        422 usage-wrong: the argument `attachments` has 201 entries; the maximum is 200
    "#]].assert_eq(&said);
    let head = "--B\r\nContent-Disposition: form-data; name=\"request\"\r\n\r\n{\"question\":\"q\"}\r\n\
        --B\r\nContent-Disposition: form-data; name=\"attachment\"; filename=\"a\"\r\n\r\n";
    let form = [head.as_bytes(), &vec![b'x'; 16_000_001], b"\r\n--B--\r\n"].concat();
    let headers = [("Content-Type", "multipart/form-data; boundary=B")];
    assert_eq!(server.send("POST", "/v1/runs", &headers, &form).problem(), (413, "body-too-large".into()));
    assert_eq!((scene.runs().len(), n_calls(&model)), (0, 0));
    assert_eq!(server.get("/v1/runs").json(), json!({ "runs": Vec::<Value>::new() }));
}
