//! A run as one page: the content of the file, and what is rejected before anything is written.

use expect_test::expect;
use serde_json::Value;

use crate::scene::{NOTE, REPLY, Scene, answering};

/// The run data embedded in the file.
fn data(page: &str) -> Value {
    let (_, rest) = page.split_once("id=\"exported\">").unwrap();
    let (json, _) = rest.split_once("</script>").unwrap();
    serde_json::from_str(json).unwrap()
}

#[test]
fn a_run_is_written_as_one_page_with_its_events_and_sources() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let run = scene.answered(&server);
    let export = scene.spelunk(["run", "export", "--html", "run.html", "--json"]).run();
    assert_eq!((export.code, export.stderr.contains("page: run.html")), (0, true), "{}", export.stderr);
    let told: Value = serde_json::from_str(&export.stdout).unwrap();
    let page = scene.read("run.html");
    assert_eq!((&told["run"], &told["bytes"]), (&run.as_str().into(), &page.len().into()));
    let data = data(&page);
    let events: Vec<&str> =
        data["events"].as_array().unwrap().iter().map(|event| event["type"].as_str().unwrap()).collect();
    let recorded: Vec<Value> = scene.journal(&run);
    let recorded: Vec<&str> = recorded.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(events, recorded);
    assert_eq!(data["excerpts"][0]["source"], "a.md");
    assert_eq!(data["excerpts"][0]["lines"][2], "The magic number is 42.");
    assert_eq!(data["plan"]["documents"][0]["path"], "a.md");
    assert_eq!(data["report"]["state"], "answered");
    assert_eq!(data["left_out"], serde_json::json!({ "blobs": 0, "bytes": 0 }));
}

#[test]
fn a_text_that_was_typed_in_does_not_leave_with_the_page() {
    let (scene, server) = (Scene::new(&NOTE), answering("Yes."));
    let ask = scene.spelunk(["ask", "Is there a key?", "-"]).stdin("The key is sk-typed-in-0123456789.\n");
    let ran = ask.server(&server).run();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let export = scene.spelunk(["run", "export", "--html", "run.html"]).run();
    assert_eq!(export.code, 0, "{}", export.stderr);
    let data = data(&scene.read("run.html"));
    assert_eq!(data["events"][0]["sources"][0]["content"], serde_json::json!({ "text": "" }));
}

#[test]
fn sources_that_are_gone_leave_a_page_that_says_so() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    scene.answered(&server);
    std::fs::remove_dir_all(scene.path("notes")).unwrap();
    let export = scene.spelunk(["run", "export", "--html", "run.html"]).run();
    assert_eq!(export.code, 0, "{}", export.stderr);
    let data = data(&scene.read("run.html"));
    assert_eq!(data["excerpts"], serde_json::json!([]));
    let remark = data["excerpts_remark"].as_str().unwrap();
    assert!(remark.starts_with("the sources could not be read again"), "{remark}");
}

#[test]
fn a_page_that_cannot_be_written_is_refused() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    scene.answered(&server);
    scene.spelunk(["run", "export", "--html", "nowhere/run.html"]).run().check(&expect![[r#"
        --- stderr
        error: the directory of `nowhere/run.html` does not exist

        hint: choose a file in an existing directory
        --- exit 2
    "#]]);
    scene.spelunk(["run", "export", "--html", "notes"]).run().check(&expect![[r#"
        --- stderr
        error: `notes` is a directory

        hint: choose a file in an existing directory
        --- exit 2
    "#]]);
    let both = scene.spelunk(["run", "export", "--html", "run.html", "--format", "md"]).run();
    assert_eq!(both.code, 2, "{}", both.stderr);
    assert!(!scene.exists("run.html"));
}
