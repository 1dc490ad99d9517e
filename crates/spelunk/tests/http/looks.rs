//! Reading runs: reports, files, sources, plans; and the state of the server itself.

use expect_test::expect;
use serde_json::json;

use super::client::Server;
use crate::scene::{NOTE, QUESTION, REPLY, Scene, answering};

#[test]
fn a_run_is_read_as_report_files_and_source() {
    let (scene, model) = (Scene::new(&NOTE), answering(REPLY));
    let server = Server::start(&scene, &[], Some(&model));
    let run = server.ask();
    server.finish(&run);
    let at = format!("/v1/runs/{run}");
    for (format, kind, holds) in [
        ("md", "text/markdown; charset=utf-8", "The magic number is 42."),
        ("html", "text/html; charset=utf-8", "<!doctype html>"),
        ("sarif", "application/sarif+json", "2.1.0"),
        ("json", "application/json", "schema_version"),
    ] {
        let report = server.get(&format!("{at}/report?format={format}"));
        assert_eq!((report.status, report.header("content-type")), (200, Some(kind)));
        assert!(report.body.to_lowercase().contains(&holds.to_lowercase()), "{}", report.body);
        let exported = scene.spelunk(["run", "export", &run, "--format", format]).run();
        assert_eq!(report.body, exported.stdout);
    }
    assert_eq!(server.get(&format!("{at}/report")).header("content-type"), Some("application/json"));
    assert_eq!(server.get(&format!("{at}/report?format=pdf")).problem(), (400, "parameter-wrong".into()));
    let files = server.get(&format!("{at}/files")).json();
    let paths: Vec<&str> =
        files["files"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap()).collect();
    assert!(paths.contains(&"final_answer.md") && !paths.contains(&"journal.jsonl"), "{paths:?}");
    for (path, row) in paths.iter().zip(files["files"].as_array().unwrap()) {
        let file = server.get(&format!("{at}/files/{path}"));
        assert_eq!((file.status, json!(file.body.len())), (200, row["bytes"].clone()), "{path}");
        assert_eq!(file.header("content-type"), Some("text/plain; charset=utf-8"));
    }
    let source = server.get(&format!("{at}/source?source=a.md&line=3&context=1")).json();
    assert_eq!(
        source,
        json!({ "source": "a.md", "first_line": 2, "lines": ["", "The magic number is 42."], "total_lines": 3,
            "changed": false, "quote": "The magic number is 42." })
    );
    let beyond = server.get(&format!("{at}/source?source=a.md&line=999")).json();
    assert_eq!(beyond["detail"], "`a.md` has no line 999: it has 3, counted from 1");
    let plan = server.get(&format!("{at}/plan")).json();
    assert_eq!(
        plan,
        json!({ "documents": [{ "path": "a.md", "bytes": 35, "type": "prose", "tasks": 0, "state": "none" }],
            "cut": false })
    );
}

#[test]
fn secrets_are_blacked_out_in_the_source() {
    let key = format!("ghp_{}", "a1B2c3D4e5".repeat(4).get(..36).unwrap());
    let text = format!("# Numbers\n\ntoken = {key}\n");
    let scene = Scene::new(&[("notes/a.md", text.as_str())]);
    let model = answering(REPLY);
    let server = Server::start(&scene, &[], Some(&model));
    let run = server.ask();
    server.finish(&run);
    let source = server.get(&format!("/v1/runs/{run}/source?source=a.md&line=3"));
    assert_eq!(source.status, 200, "{}", source.body);
    assert!(source.body.contains("token = ") && !source.body.contains(&key), "{}", source.body);
}

#[test]
fn the_documents_of_an_analysis_say_how_far_it_has_come() {
    let report = json!({ "relevant": true, "summary": "s", "findings": [] }).to_string();
    let scene = Scene::new(&[("notes/a.md", "# A\n\nAlpha.\n"), ("notes/b.md", "# B\n\nBeta.\n")]);
    let model = answering(&report);
    let server = Server::start(&scene, &[], Some(&model));
    let run = server.ask_with(&json!({ "question": QUESTION, "paths": ["notes"], "strategy": "map" }));
    server.finish(&run);
    let plan = server.get(&format!("/v1/runs/{run}/plan")).json();
    let states: Vec<(&str, u64)> = plan["documents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["state"].as_str().unwrap(), row["tasks"].as_u64().unwrap()))
        .collect();
    assert_eq!(states, [("done", 1), ("done", 1)], "{plan}");
}

#[test]
fn a_plan_costs_nothing_and_is_what_the_command_line_prints() {
    let scene = Scene::new(&NOTE);
    let server = Server::start(&scene, &[], None);
    let planned = server.post("/v1/plan", &json!({ "paths": ["notes"] }));
    let printed = scene.spelunk(["plan", "notes", "--json"]).run();
    assert_eq!(planned.json(), serde_json::from_str::<serde_json::Value>(&printed.stdout).unwrap());
    assert_eq!(
        server.post("/v1/plan", &json!({ "paths": ["notes"], "strategy": "guess" })).problem(),
        (422, "usage-wrong".into())
    );
    assert!(scene.runs().is_empty());
}

#[test]
fn the_server_says_what_it_can_do() {
    let (scene, model) = (Scene::new(&NOTE), answering(REPLY));
    let server = Server::start(&scene, &["--root", "notes"], Some(&model));
    let about = server.get("/v1/server").json();
    assert_eq!(about["limits_default"]["depth_max"], json!(spelunk_types::Limits::default().depth_max));
    let mut about = about;
    about["limits_default"] = json!({});
    expect![[r#"{"auth":false,"fleet":false,"focuses":["general","security","architecture","performance","data"],"has_model":true,"limits_default":{},"limits_settable":["calls_max","tokens_max","cost_microusd_max","run_ms_max","depth_max","turns_max"],"model_names":["openai/scripted"],"roots":["notes"],"scopes":["read","run","admin"],"strategies":["auto","direct","repl","search","map","hybrid","agent"],"version":"0.1.0"}"#]].assert_eq(&about.to_string());
    assert_eq!(server.get("/healthz").json(), json!({ "status": "alive" }));
    assert_eq!(server.get("/readyz").json(), json!({ "status": "ready" }));
    assert_eq!(server.get("/openapi.json").json()["openapi"], "3.1.0");
    let page = server.get("/");
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    let tag = page.header("etag").unwrap();
    assert_eq!(server.send("GET", "/", &[("If-None-Match", tag)], b"").status, 304);
    for none in ["nope.js", "..%2f..%2fCargo.toml", "%2e%2e", "viewer.js%00"] {
        assert_eq!(server.get(&format!("/assets/{none}")).problem(), (404, "not-found".into()), "{none}");
    }
    let metrics = server.get("/metrics");
    assert_eq!(metrics.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    assert!(metrics.body.contains("route=\"/v1/server\",status=\"200\""), "{}", metrics.body);
}

#[test]
fn paths_are_looked_for_below_the_roots_and_completed() {
    let files = [
        ("in/docs/a.md", "# A\n\nAlpha.\n"),
        ("in/docs/.hidden", "x\n"),
        ("in/dosage.md", "x\n"),
        ("out/b.md", "x\n"),
    ];
    let (scene, model) = (Scene::new(&files), answering(REPLY));
    let server = Server::start(&scene, &["--root", "in"], Some(&model));
    let complete = |prefix: &str| server.get(&format!("/v1/paths?prefix={prefix}")).json()["paths"].clone();
    assert_eq!(complete("do"), json!(["docs/", "dosage.md"]));
    assert_eq!(complete("docs/"), json!(["docs/a.md"]));
    assert_eq!(complete("in/docs/"), json!(["in/docs/a.md"]));
    for outside in ["out/", "../out/", "/etc/", "docs/../../out/", "%00", "nothing/"] {
        assert_eq!(complete(outside), json!([]), "{outside}");
    }
    for path in ["docs/a.md", "in/docs/a.md"] {
        let run = server.ask_with(&json!({ "question": QUESTION, "paths": [path], "strategy": "direct" }));
        server.finish(&run);
        let shown = server.get(&format!("/v1/runs/{run}")).json();
        assert_eq!(
            (&shown["documents"], &shown["outcome"]),
            (&json!(1), &json!({ "is": "answered" })),
            "{path}"
        );
    }
    let asked = json!({ "question": QUESTION, "paths": ["out/b.md"] });
    assert_eq!(server.post("/v1/runs", &asked).problem(), (422, "source-unreadable".into()));
}

#[test]
fn the_server_says_where_it_is_and_what_it_answers_with() {
    let (scene, model) = (Scene::new(&NOTE), answering(REPLY));
    let server = Server::start(&scene, &["--root", "notes"], Some(&model));
    let shown = server.log_with("  roots ").replace(&server.address.to_string(), "ADDRESS");
    expect![[r#"
        listening on http://ADDRESS
          page   http://ADDRESS/
          API    http://ADDRESS/v1, described by /openapi.json
          MCP    http://ADDRESS/mcp
          model  openai/scripted
          roots  DIR/work/notes"#]]
    .assert_eq(&scene.normalise(&shown));
}
