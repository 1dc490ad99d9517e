//! Secrets in text that comes with a request: on standard input, in a body, by upload, as a context, as a thought and
//! in the question itself. They are redacted where the text enters, so they appear in no file, event, export, report or
//! route.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use expect_test::expect;
use serde_json::{Value, json};
use spelunk_testkit::pdf;

use crate::http::client::{Answer, Server};
use crate::mcp::client::Client;
use crate::scene::{NOTE, QUESTION, REPLY, Ran, Scene, answering, wait_for};

/// A different one for every way in.
const TOKENS: [&str; 7] = [
    "ghp_Zk3vQ9xT7bLmW2rY8nHc5JdPf4SgA1uEoK6i",
    "ghp_9pWq2LxV5nTb8RzK3mHc6YdJf1SgA4uEoQ7x",
    "ghp_4hNs7BvC2kXd9MwT5rLp8ZqJf3GyA6uEoU1t",
    "ghp_6tRm1KzP8wQb4HnX7vLc2DsJf9YgA3uEoN5j",
    "ghp_2yLc8DvS5jWq1TxM4kNb7RpZf6HgA9uEoB3w",
    "ghp_8bXn4GsT1pVr6LzC9mKw3HdQf2JyA5uEoF7v",
    "ghp_5wCk9JtB3xMq7ZnR1vHs4LdGf8PyA2uEoD6z",
];
const PASSWORD: &str = "tKqWzRbXvNpLhGfDcMsJyTwQ";

fn text(token: &str) -> String {
    format!("The magic number is 42.\ntoken = {token}\npassword = \"{PASSWORD}\"\n")
}

#[track_caller]
fn assert_clean(what: &str, bytes: &[u8]) {
    for secret in TOKENS.iter().chain([&PASSWORD]) {
        let is_in = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
        assert!(!is_in, "{what} has {secret}: {}", String::from_utf8_lossy(bytes));
    }
}

/// Checks every file that was written, and every file name.
#[track_caller]
fn assert_nowhere(scene: &Scene) {
    for path in super::files_below(scene.root()) {
        assert_clean(&path.display().to_string(), &std::fs::read(&path).unwrap());
        assert_clean("a path", path.to_str().unwrap().as_bytes());
    }
}

#[track_caller]
fn assert_printed_clean(ran: &Ran) {
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_clean("standard output", ran.stdout.as_bytes());
    assert_clean("standard error", ran.stderr.as_bytes());
}

#[test]
fn standard_input_and_the_question_leave_no_secret_anywhere() {
    for strategy in ["direct", "search", "map"] {
        let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
        let question = format!("{QUESTION} I have {}", TOKENS[1]);
        let ask = ["ask", &question, "-", "--events", "--strategy", strategy];
        let asked = scene.spelunk(ask).server(&server).stdin(text(TOKENS[0])).run();
        // That reply is of little use to an analyst.
        assert!([0, 3].contains(&asked.code), "{}", asked.stderr);
        assert_clean("what was printed", format!("{}{}", asked.stdout, asked.stderr).as_bytes());
        for request in server.requests() {
            assert_clean("a request", request.body.as_bytes());
        }
        for format in ["html", "json", "markdown", "sarif", "workspace"] {
            let to = format!("out.{format}");
            let export = scene.spelunk(["run", "export", "--format", format, "--output", &to]).run();
            // Without an answer, some formats have nothing to export.
            assert_clean(format, format!("{}{}", export.stdout, export.stderr).as_bytes());
        }
        let page = scene.spelunk(["run", "export", "--html", "run.html"]).run();
        assert_printed_clean(&page);
        for show in [["show", "--json"], ["show", "--events"], ["run", "list"]] {
            let ran = scene.spelunk(show).run();
            assert_clean(show[0], format!("{}{}", ran.stdout, ran.stderr).as_bytes());
        }
        assert_nowhere(&scene);
    }
}

#[test]
fn what_was_taken_out_of_standard_input_is_counted() {
    let (scene, server) = (Scene::new(&NOTE), answering("42."));
    let ask = ["ask", QUESTION, "-"];
    scene.spelunk(ask).server(&server).stdin(text(TOKENS[0])).run().check(&expect![[r#"
        42.
          stdin:1  The magic number is 42. token = [secret:github-token] password = "[secret:assigned-secret]"
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        Redacted: 2 secrets (keep them with `--allow-secrets`)
        1 file · 92 B read · 1 call · 120 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
    let first = &scene.journal(&scene.only_run())[0];
    assert_eq!(
        first["sources"][0]["content"]["text"],
        "The magic number is 42.\ntoken = [secret:github-token]\npassword = \"[secret:assigned-secret]\"\n"
    );
}

#[test]
fn a_person_may_allow_what_is_on_standard_input() {
    let (scene, server) = (Scene::new(&NOTE), answering("42."));
    let ask = ["ask", QUESTION, "-", "--allow-secrets"];
    assert_eq!(scene.spelunk(ask).server(&server).stdin(text(TOKENS[0])).run().code, 0);
    let first = &scene.journal(&scene.only_run())[0];
    assert_eq!(first["sources"][0]["content"]["text"], text(TOKENS[0]));
}

/// Every file and blob of a run, and every other route about it.
fn routes(scene: &Scene, server: &Server, run: &str) -> Vec<(String, Answer)> {
    let at = format!("/v1/runs/{run}");
    let mut paths: Vec<String> = ["", "/events", "/result", "/evidence", "/report", "/plan", "/files"]
        .iter()
        .map(|tail| format!("{at}{tail}"))
        .collect();
    let formats = ["markdown", "html", "json", "sarif"];
    paths.extend(formats.map(|format| format!("{at}/report?format={format}")));
    paths.extend(
        ["text", "a.txt", "attachments/b.txt"].map(|name| format!("{at}/source?document={name}&line=2")),
    );
    let files = server.get(&format!("{at}/files")).json();
    let files = files["files"].as_array().unwrap();
    paths.extend(files.iter().map(|file| format!("{at}/files/{}", file["path"].as_str().unwrap())));
    let blobs = super::files_below(&scene.path(".spelunk/blobs"));
    let name = |path: &std::path::PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    paths.extend(blobs.iter().map(|path| format!("{at}/blobs/{}", name(path))));
    paths.extend(["/v1/runs".to_owned(), "/api/context/".to_owned(), "/api/context/pasted".to_owned()]);
    paths.push("/api/context/pasted/grep?pattern=token".to_owned());
    paths.into_iter().map(|path| (path.clone(), server.get(&path))).collect()
}

#[test]
fn bodies_uploads_and_contexts_leave_no_secret_anywhere() {
    let (scene, model) = (Scene::new(&NOTE), answering(REPLY));
    let server = Server::start(&scene, &[], Some(&model));
    let pasted = json!({ "id": "pasted", "text": text(TOKENS[4]) });
    let registered = server.post("/api/context/register", &pasted);
    assert_eq!(registered.status, 201, "{}", registered.body);
    let request = json!({
        "question": format!("{QUESTION} I have {}", TOKENS[0]),
        "text": text(TOKENS[1]),
        "contexts": ["pasted"],
        "attachments": [{ "name": "b.txt", "base64": STANDARD.encode(text(TOKENS[2])) }],
    });
    let boundary = "Content-Disposition: form-data; name=";
    let form = format!(
        "--B\r\n{boundary}\"request\"\r\n\r\n{request}\r\n\
         --B\r\n{boundary}\"file\"; filename=\"c.pdf\"\r\n\r\n{}\r\n\
         --B\r\n{boundary}\"file\"; filename=\"a.txt\"\r\n\r\n{}\r\n--B--\r\n",
        String::from_utf8(pdf(&[&format!("BT (The token is {}) Tj ET", TOKENS[6])])).unwrap(),
        // Long enough to be stored as a blob.
        text(TOKENS[3]) + &"The rest is of no interest.\n".repeat(2000),
    );
    let headers = [("Content-Type", "multipart/form-data; boundary=B"), ("Idempotency-Key", "k")];
    let answer = server.send("POST", "/v1/runs", &headers, form.as_bytes());
    assert_eq!(answer.status, 202, "{}", answer.body);
    let run = answer.json()["id"].as_str().unwrap().to_owned();
    for event in server.finish(&run) {
        assert_clean("an event", event.data.as_bytes());
    }
    wait_for("the files", || scene.exists(&format!(".spelunk/runs/{run}/metadata.json")).then_some(()));
    let answers = routes(&scene, &server, &run);
    assert!(answers.iter().filter(|(_, answer)| answer.status == 200).count() > 12, "{answers:?}");
    for (path, answer) in answers {
        assert_clean(&path, answer.body.as_bytes());
    }
    let result = server.get(&format!("/v1/runs/{run}/result")).json();
    assert_eq!(result["redacted"], json!({ "assigned-secret": 4, "github-token": 5 }));
    let said = json!({ "model": "spelunk", "messages": [{ "role": "user", "content": text(TOKENS[5]) }] });
    let chat = server.post("/v1/chat/completions", &said);
    assert_eq!(chat.status, 200, "{}", chat.body);
    for request in model.requests() {
        assert_clean("a request", request.body.as_bytes());
    }
    assert_clean("the log", server.log().as_bytes());
    assert_nowhere(&scene);
}

#[test]
fn contexts_thoughts_and_messages_of_an_agent_leave_no_secret_anywhere() {
    let (scene, model) = (Scene::new(&NOTE), answering(REPLY));
    let mut client = Client::legacy(&scene, &[], Some(&model), &json!({}));
    let mut said = vec![
        client.call("context_register", &json!({ "text": text(TOKENS[0]), "context_id": "pasted" })),
        client.call("context_load", &json!({ "context_id": "pasted" })),
        client.call("thought_add", &json!({ "text": text(TOKENS[1]) })),
        client.call("thought_list", &json!({})),
    ];
    let query = json!({
        "messages": [{ "role": "user", "content": format!("{QUESTION} {}", text(TOKENS[2])) }],
        "contexts": ["pasted"],
        "attachments": [{ "name": "b.txt", "text": text(TOKENS[3]) }],
        "thoughts": true,
    });
    said.push(client.call("rlm_query", &query));
    let is_error = |answer: &Value| answer["isError"] == true;
    assert!(!said.iter().any(is_error), "{said:?}");
    for answer in &said {
        assert_clean("an answer", answer.to_string().as_bytes());
    }
    for request in model.requests() {
        assert_clean("a request", request.body.as_bytes());
    }
    assert_nowhere(&scene);
}
