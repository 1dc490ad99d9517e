//! The task tools: agents of the host as the analysts of a run.

use expect_test::expect;
use serde_json::{Value, json};

use super::client::Client;
use crate::scene::Scene;

const CODE: &str = "def pay(amount):\n    # no check of the sign\n    return amount\n";

fn begun() -> (Scene, Client, Value) {
    let scene = Scene::new(&[("src/pay.py", CODE), ("src/notes.md", "# Notes\n\nPay is called by hand.\n")]);
    let mut client = Client::plain(&scene);
    let begun = client.data("rlm_tasks", &json!({ "question": "What is wrong?", "paths": ["src"] }));
    (scene, client, begun)
}

fn report(file: &str, line: u64, evidence: &str, kind: &str) -> Value {
    let finding = json!({ "type": kind, "summary": "A sign is not checked.", "file": file, "line": line, "evidence": evidence, "severity": "high" });
    json!({ "relevant": true, "summary": "One fault.", "answer": null, "count": null, "findings": [finding] })
}

#[test]
fn agents_read_the_parts_and_the_synthesis_comes_last() {
    let (scene, mut client, begun) = begun();
    assert_eq!(
        (begun["planned"].as_u64(), begun["synthesis_blocked"].as_bool()),
        (Some(2), Some(true)),
        "{begun}"
    );
    let mut notices = Vec::new();
    for (agent, file, line, evidence, kind) in [
        ("ann", "pay.py", 2, "# no check of the sign", "bug"),
        ("bob", "notes.md", 3, "Pay is called by hand.", "insight"),
    ] {
        // Each agent claims the task about its file.
        let listed = client.data("task_list", &json!({}));
        let tasks = listed["tasks"].as_array().unwrap().clone();
        let task = tasks.iter().find(|task| {
            client.data("task_get", &json!({ "task": task["task"] }))["text"].as_str().unwrap().contains(file)
        });
        let task = task.unwrap()["task"].clone();
        let claimed = client.data("task_claim", &json!({ "agent": agent, "task": task }));
        assert!(claimed["instruction"].as_str().unwrap().contains("Reply with one JSON object"), "{claimed}");
        let said = client.data(
            "task_submit",
            &json!({ "task": task, "agent": agent, "report": report(file, line, evidence, kind) }),
        );
        assert_eq!(said["accepted"], true, "{said}");
        notices.push(said["notice"].as_str().unwrap().to_owned());
    }
    notices.sort();
    expect![[r#"
        [
            "task 1/2 complete: 1 finding (1 high): pay.py",
            "task 2/2 complete: 1 finding (1 high): notes.md",
        ]
    "#]]
    .assert_debug_eq(&notices);
    let listed = client.data("task_list", &json!({}));
    assert_eq!(
        (listed["done"].as_u64(), listed["synthesis_blocked"].as_bool()),
        (Some(2), Some(false)),
        "{listed}"
    );
    // The synthesis of each type, then the one across types.
    let mut n_synthesis = 0;
    let run = listed["run"].clone();
    while client.data("rlm_status", &json!({ "run": run }))["state"] == "running" {
        let result = client.call("task_claim", &json!({ "agent": "lead" }));
        if result["isError"] == true {
            continue;
        }
        n_synthesis += 1;
        let task = result["structuredContent"]["task"].clone();
        client.call(
            "task_submit",
            &json!({ "task": task, "agent": "lead", "report": "## Summary\n\nOne fault [F1].\n" }),
        );
    }
    assert_eq!(n_synthesis, 3);
    let answer = client.data("rlm_result", &json!({ "run": run }));
    assert!(answer["answer"].as_str().unwrap().contains("One fault"), "{answer}");
    assert_eq!(answer["model"], "mcp/agents");
    assert_eq!(scene.runs().len(), 1);
}

#[test]
fn a_report_that_cannot_be_used_comes_back_with_what_is_wrong() {
    let (_scene, mut client, _) = begun();
    let claimed = client.data("task_claim", &json!({ "agent": "ann" }));
    let task = claimed["task"].clone();
    let said = client.data("task_submit", &json!({ "task": task, "agent": "ann", "report": { "findings": [{ "type": "nonsense", "summary": "x" }] } }));
    assert_eq!((said["accepted"].as_bool(), said["agent"].as_str()), (Some(false), Some("ann")), "{said}");
    assert!(said["faults"].as_str().unwrap().contains("finding 1:"), "{said}");
    let again = client.data(
        "task_submit",
        &json!({ "task": said["task"], "agent": "ann", "report": { "relevant": false, "findings": [] } }),
    );
    assert_eq!(again["accepted"], true, "{again}");
}

#[test]
fn a_task_is_one_agents_at_a_time() {
    let (_scene, mut client, begun) = begun();
    let task = begun["tasks"][0]["task"].clone();
    client.call("task_claim", &json!({ "agent": "ann", "task": task }));
    assert!(
        client.text("task_claim", &json!({ "agent": "bob", "task": task })).contains("is leased to `ann`")
    );
    assert!(
        client
            .text("task_submit", &json!({ "task": task, "agent": "bob", "report": {} }))
            .contains("is leased to `ann`")
    );
    // A very short lease has expired when the next call arrives.
    client.call("task_claim", &json!({ "agent": "ann", "task": task, "lease_ms": 1 }));
    crate::scene::wait_for("the end of the lease", || {
        (!client.text("task_claim", &json!({ "agent": "bob", "task": task })).starts_with("FAILED"))
            .then_some(())
    });
    for wrong in ["", "x", "nope/0#0", "../..", "ffffffff/0.0#99"] {
        assert!(client.text("task_get", &json!({ "task": wrong })).starts_with("FAILED"), "{wrong}");
    }
}

#[test]
fn a_run_of_agents_goes_on_in_the_next_server() {
    let (scene, mut client, _) = begun();
    let claimed = client.data("task_claim", &json!({ "agent": "ann" }));
    client.call(
        "task_submit",
        &json!({ "task": claimed["task"], "agent": "ann", "report": { "relevant": false, "findings": [] } }),
    );
    client.kill();
    let mut client = Client::plain(&scene);
    assert!(client.text("task_list", &json!({})).contains("no run is waiting for agents"));
    let resumed = client.data("rlm_resume", &json!({ "run": scene.only_run(), "wait_ms": 0 }));
    assert_eq!(resumed["state"], "running");
    let listed = crate::scene::wait_for("the other task", || {
        let listed = client.data("task_list", &json!({}));
        (listed["open"] == 1).then_some(listed)
    });
    assert_eq!(listed["done"], 1, "{listed}");
}

#[test]
fn s1_15_agents_see_the_files_of_a_task_and_claim_by_analyst() {
    let (_scene, mut client, begun) = begun();
    let rows = begun["tasks"].as_array().unwrap();
    let mut seen: Vec<(&str, &Value)> =
        rows.iter().map(|row| (row["analyst"].as_str().unwrap(), &row["files"])).collect();
    seen.sort_by_key(|(analyst, _)| *analyst);
    assert_eq!(seen, [("code", &json!(["pay.py"])), ("general", &json!(["notes.md"]))]);
    let claimed = client.data("task_claim", &json!({ "agent": "ann", "analyst": "general" }));
    assert_eq!(claimed["files"], json!(["notes.md"]), "{claimed}");
    expect![[r#"
        FAILED error: no task is available

        hint: wait for the other agents, or see `task_list`"#]]
    .assert_eq(&client.text("task_claim", &json!({ "agent": "bob", "analyst": "general" })));
    expect![[r#"
        FAILED error: there is no analyst `poet`

        hint: the analysts are code, data, json, general, synthesis"#]]
    .assert_eq(&client.text("task_claim", &json!({ "agent": "bob", "analyst": "poet" })));
}
