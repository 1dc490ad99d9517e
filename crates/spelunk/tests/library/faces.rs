//! The files that a run leaves behind, whichever interface started it.

use std::collections::BTreeMap;

use expect_test::expect;
use regex::Regex;
use serde_json::{Value, json};
use spelunk::{Question, Strategy};
use spelunk_testkit::ModelServer;

use super::{block_on, builder};
use crate::http::client::Server;
use crate::mcp::client::Client;
use crate::scene::{Scene, answering};

const FILES: [(&str, &str); 2] = [
    ("src/pay.py", "def pay(amount):\n    return amount\n"),
    ("src/notes.md", "# Notes\n\nPay is called by hand.\n"),
];
const ASKED: &str = "What is wrong?";
const REPORT: &str = r#"{"relevant": true, "summary": "s", "answer": "No sign is checked.", "confidence": 0.8, "findings": []}"#;

/// The files beside the journal, without what differs between executions.
fn left_behind(scene: &Scene, server: &ModelServer) -> BTreeMap<String, String> {
    let run = scene.only_run();
    let folder = scene.path(&format!(".spelunk/runs/{run}"));
    let times =
        Regex::new(r#""\d{4}-\d\d-\d\dT[^"]*Z"|(?m)(_ms|"seq|"events)": \d+|worker_\d{8}T\d{6}Z_\w+"#)
            .unwrap();
    let (mut found, mut folders) = (BTreeMap::new(), vec![folder.clone()]);
    while let Some(next) = folders.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(&folder).unwrap().display().to_string();
            if path.is_dir() {
                folders.push(path);
            } else if !["journal.jsonl", "prompts.pack", "run.lock"].contains(&name.as_str()) {
                let text = std::fs::read_to_string(&path).unwrap();
                let root = scene.path("").display().to_string();
                let text = text.replace(root.trim_end_matches('/'), "ROOT").replace(&run, "RUN");
                let text = text.replace(&server.base_url(), "SERVER");
                found.insert(name, times.replace_all(&text, "TIME").into_owned());
            }
        }
    }
    found
}

#[test]
fn s0_02_every_interface_leaves_the_same_files() {
    let by_command = {
        let (scene, server) = (Scene::new(&FILES), answering(REPORT));
        let ran = scene.spelunk(["ask", ASKED, "src", "--strategy", "map"]).server(&server).run();
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        left_behind(&scene, &server)
    };
    let names: Vec<&String> = by_command.keys().collect();
    expect![[r#"
        [
            "chunks/chunk_0001.txt",
            "chunks/chunk_0002.txt",
            "chunks/manifest.json",
            "context.txt",
            "final_answer.md",
            "input/documents.txt",
            "input/prompt.md",
            "metadata.json",
            "output/answer.md",
            "results/synth-all.json",
            "results/synth-code.json",
            "results/synth-prose.json",
            "results/worker_0001.json",
            "results/worker_0002.json",
            "state/errors.jsonl",
            "state/evidence.jsonl",
            "state/job.json",
            "state/metrics.json",
            "tasks/synth-all.md",
            "tasks/synth-code.md",
            "tasks/synth-prose.md",
            "tasks/task_0001.md",
            "tasks/task_0002.md",
        ]
    "#]]
    .assert_debug_eq(&names);
    let by_http = {
        let (scene, model) = (Scene::new(&FILES), answering(REPORT));
        let server = Server::start(&scene, &[], Some(&model));
        let run = server.ask_with(&json!({ "question": ASKED, "paths": ["src"], "strategy": "map" }));
        server.finish(&run);
        crate::scene::wait_for("the answer as a file", || {
            scene.exists(&format!(".spelunk/runs/{run}/final_answer.md")).then_some(())
        });
        left_behind(&scene, &model)
    };
    let by_mcp = {
        let (scene, server) = (Scene::new(&FILES), answering(REPORT));
        let mut client = Client::legacy(&scene, &[], Some(&server), &json!({}));
        let asked = json!({ "question": ASKED, "paths": ["src"], "strategy": "map" });
        let data = client.data("rlm_query", &asked);
        assert!(data["answer"].is_string(), "{data}");
        left_behind(&scene, &server)
    };
    let by_library = {
        let (scene, server) = (Scene::new(&FILES), answering(REPORT));
        let question = Question::new(ASKED).path("src").strategy(Strategy::Map);
        let answer =
            block_on(async { builder(&scene, &server).build().unwrap().ask(question).await.unwrap() });
        assert!(answer.success, "{answer:?}");
        left_behind(&scene, &server)
    };
    for (face, files) in [("HTTP", by_http), ("MCP", by_mcp), ("library", by_library)] {
        for (name, text) in &by_command {
            assert_eq!(files.get(name), Some(text), "{name} over {face}");
        }
        assert_eq!(files.len(), by_command.len(), "{face}: {:?}", files.keys());
    }
}

#[test]
fn s1_01_types_are_named_over_http_and_mcp_too() {
    let files = [("src/a.inc", "value 1\n"), ("src/b.md", "# B\n")];
    let (scene, model) = (Scene::new(&files), answering(r#"{"relevant": false, "findings": []}"#));
    let types = json!(["*.inc=source_code"]);
    let asked = json!({ "question": "Review it", "paths": ["src"], "strategy": "map", "types": types });
    let found = |run: &str| {
        let metadata = scene.read(&format!(".spelunk/runs/{run}/metadata.json"));
        serde_json::from_str::<Value>(&metadata).unwrap()["context"]["content_types"].clone()
    };
    let expected = json!(["prose", "source_code"]);
    let wrong = json!({ "question": "Review it", "paths": ["src"], "types": ["*.inc=sauce_code"] });
    let said = "there is no content type `sauce_code`";

    let server = Server::start(&scene, &[], Some(&model));
    let run = server.ask_with(&asked);
    server.finish(&run);
    assert_eq!(found(&run), expected);
    let plan = server.post("/v1/plan", &json!({ "paths": ["src"], "types": types })).json();
    let planned: Vec<&Value> = plan["manifest"].as_array().unwrap().iter().map(|row| &row["type"]).collect();
    assert_eq!(planned, ["source_code", "prose"]);
    let refused = server.post("/v1/runs", &wrong);
    assert!(refused.status == 422 && refused.body.contains(said), "{} {}", refused.status, refused.body);

    let mut client = Client::legacy(&scene, &[], Some(&model), &json!({}));
    let run = client.data("rlm_query", &asked)["run"].as_str().unwrap().to_owned();
    assert_eq!(found(&run), expected);
    assert!(client.text("rlm_query", &wrong).contains(said));
}
