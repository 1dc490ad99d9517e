//! `spelunk run list`: every run of the workspace, including damaged ones.

use expect_test::expect;

use crate::scene::{NOTE, REPLY, Scene, answering, json_without_times};

/// An answered run whose id contains a known time, and one with a damaged line in the middle.
fn listed() -> Scene {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let run = scene.answered(&server);
    let journal = std::fs::read_to_string(scene.journal_path(&run)).unwrap();
    std::fs::remove_dir_all(scene.path(".spelunk/runs")).unwrap();
    scene.write(".spelunk/runs/rlm-20260101T000000Z-0000000a/journal.jsonl", journal.as_bytes());
    let damaged = journal.replacen("\"call.started\"", "\"call.startled\"", 1);
    scene.write(".spelunk/runs/rlm-20260102T000000Z-0000000b/journal.jsonl", damaged.as_bytes());
    let open: String = journal.split_inclusive('\n').take(5).collect();
    scene.write(".spelunk/runs/rlm-20260103T000000Z-0000000c/journal.jsonl", open.as_bytes());
    scene.write(".spelunk/runs/rlm-20260104T000000Z-0000000d/run.lock", b"");
    scene
}

#[test]
fn runs_are_listed_newest_first_and_a_damaged_one_hides_none() {
    let ran = listed().spelunk(["run", "list"]).run();
    expect![[r#"
        RUN       STARTED      STATE        CALLS      COST  QUESTION
        0000000c  2026-01-03   interrupted      1     $0.00  What is the magic number?
        0000000b  2026-01-02   damaged          0     $0.00
        0000000a  2026-01-01   answered         1     $0.00  What is the magic number?
    "#]]
    .assert_eq(&ran.stdout);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
}

#[test]
fn json_lists_the_same_runs() {
    let ran = listed().spelunk(["run", "list", "--json"]).run();
    let listed = json_without_times(serde_json::from_str(&ran.stdout).unwrap());
    expect![[r#"
        [
          {
            "active_ms": 0,
            "calls": 1,
            "cost_microusd": 0,
            "lifecycle": "active",
            "model": "openai/scripted",
            "question": "What is the magic number?",
            "run": "rlm-20260103T000000Z-0000000c",
            "state": "open",
            "status": "interrupted",
            "strategy": "direct"
          },
          {
            "active_ms": null,
            "calls": 0,
            "cost_microusd": 0,
            "lifecycle": "active",
            "model": null,
            "question": "",
            "run": "rlm-20260102T000000Z-0000000b",
            "state": "journal-damaged",
            "status": "damaged",
            "strategy": null
          },
          {
            "active_ms": 0,
            "calls": 1,
            "cost_microusd": 0,
            "lifecycle": "active",
            "model": "openai/scripted",
            "question": "What is the magic number?",
            "run": "rlm-20260101T000000Z-0000000a",
            "state": "answered",
            "status": "answered",
            "strategy": "direct"
          }
        ]
    "#]]
    .assert_eq(&format!("{listed:#}\n"));
}

#[test]
fn a_place_without_a_workspace_has_no_runs_and_gets_none() {
    let scene = Scene::new(&[]);
    scene.spelunk(["run", "list"]).run().check(&expect![[r"
        --- stderr
        No runs yet: there is no workspace here.
        --- exit 0
    "]]);
    scene.spelunk(["run", "list", "--json", "-q"]).run().check(&expect![[r"
        []
        --- stderr
        --- exit 0
    "]]);
    assert!(!scene.exists(".spelunk"));
}
