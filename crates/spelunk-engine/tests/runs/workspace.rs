//! The files of a run as other tools know them: rows of the source documents about workspaces, tasks and results.

use std::collections::BTreeMap;
use std::sync::Arc;

use expect_test::expect;
use serde_json::{Value, json};
use spelunk_testkit::{FaultDisk, when};
use spelunk_types::{StopReason, Strategy};

use super::projection::{FILES, mapped, rebuilt};
use crate::stage::{Stage, engine_on};

fn parsed(files: &BTreeMap<String, String>, name: &str) -> Value {
    let text = files.get(name).unwrap_or_else(|| panic!("no `{name}` in {:?}", files.keys()));
    serde_json::from_str(text).unwrap()
}

/// The result of the worker that read this file.
fn result_of(files: &BTreeMap<String, String>, document: &str) -> Value {
    let results = files.keys().filter(|name| name.starts_with("results/worker_"));
    let mut results = results.map(|name| parsed(files, name));
    results.find(|result| result["coverage"][0]["file"] == document).unwrap()
}

#[tokio::test]
async fn s0_02_context_chunks_results_and_answer_are_files() {
    let (_stage, engine, run) = mapped().await;
    let files = rebuilt(&engine, &run);
    for name in ["context.txt", "metadata.json", "chunks/manifest.json", "final_answer.md"] {
        assert!(files.contains_key(name), "{name}");
    }
    for (document, text) in FILES {
        let result = result_of(&files, document);
        let chunk = &files[result["chunk_path"].as_str().unwrap()];
        assert_eq!(chunk, text, "{document}");
    }
    let manifest = parsed(&files, "chunks/manifest.json");
    for row in manifest["chunks"].as_array().unwrap() {
        assert!(files.contains_key(row["chunk_path"].as_str().unwrap()), "{row}");
        assert!(files.contains_key(row["worker"].as_str().unwrap()), "{row}");
    }
}

#[tokio::test]
async fn s0_02_the_files_of_a_batch_are_told_apart_in_its_chunk() {
    let files = [("a.md", "One\n"), ("b.md", "Two, without an end"), ("c.md", "Three\n")];
    let mut stage = Stage::new(&files, [when(|_| true).reply(r#"{"relevant": false, "findings": []}"#)]);
    stage.strategy = Strategy::Map;
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let run = stage.ask(&engine, "Review it").await.run;
    expect![[r#"
        --- FILE 1: a.md (1 lines) ---
        One
        --- FILE 2: b.md (1 lines) ---
        Two, without an end
        --- FILE 3: c.md (1 lines) ---
        Three
    "#]]
    .assert_eq(&rebuilt(&engine, &run)["chunks/chunk_0001.txt"]);
}

#[tokio::test]
async fn s0_07_metadata_is_complete_for_every_strategy() {
    let (_stage, engine, run) = mapped().await;
    let metadata = parsed(&rebuilt(&engine, &run), "metadata.json");
    let context = &metadata["context"];
    assert_eq!((&context["line_count"], &context["structure"]), (&json!(6), &json!("mixed")));
    assert_eq!(context["content_types"], json!(["config", "prose", "source_code"]));
    assert_eq!(metadata["processing"]["strategy"], "partition_map");
    assert_eq!(metadata["processing"]["workers_spawned"], 3);
    // One of three parts said how sure it is, and one failed.
    assert_eq!(metadata["results"]["confidence"], 0.6);
    let coverage = &metadata["results"]["coverage"];
    assert_eq!((&coverage["tasks"], &coverage["tasks_done"]), (&json!(3), &json!(2)));
    assert_eq!((&coverage["tasks_failed"], &coverage["documents_read"]), (&json!(1), &json!(2)));

    let reply = "It is alpha.\n\n```evidence\na.py:1: def alpha():\na.py:2: nowhere\n```";
    let mut stage = Stage::new(&FILES[..1], [when(|_| true).reply(reply)]);
    stage.strategy = Strategy::Direct;
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let run = stage.ask(&engine, "What is it?").await.run;
    let metadata = parsed(&rebuilt(&engine, &run), "metadata.json");
    let context = &metadata["context"];
    assert_eq!((&context["line_count"], &context["structure"]), (&json!(2), &json!("mixed")));
    assert_eq!(context["content_types"], json!(["source_code"]));
    assert_eq!(metadata["results"]["confidence"], 0.5, "one of two quotes was found");
    assert_eq!(metadata["results"]["coverage"]["documents_read"], 1);
}

#[tokio::test]
async fn s0_08_every_worker_says_what_it_read_and_how_sure_it_is() {
    let (_stage, engine, run) = mapped().await;
    let files = rebuilt(&engine, &run);
    let found = result_of(&files, "a.py");
    let results = ["findings", "answer", "count", "summary"].map(|name| found["results"].get(name).is_some());
    assert_eq!(results, [true; 4], "{found}");
    assert!(found["worker_id"].as_str().unwrap().starts_with("worker_"), "{found}");
    assert!(found["chunk_path"].as_str().unwrap().starts_with("chunks/chunk_"), "{found}");
    assert_eq!((&found["query"], &found["depth"]), (&json!("Review it"), &json!(1)));
    assert!(found["metadata"]["processing_time_ms"].is_u64(), "{found}");
    assert_eq!((&found["analyst"], &found["content_type"]), (&json!("code"), &json!("source_code")));
    assert_eq!(found["metadata"]["confidence"], 0.9);
    assert_eq!(found["metadata"]["raised_by"], "its tests");
    assert_eq!(found["metadata"]["contains"], json!({ "key_topics": ["alpha"], "structures": ["alpha"] }));
    let failed = result_of(&files, "b.md");
    assert_eq!((&failed["analyst"], &failed["content_type"]), (&json!("general"), &json!("prose")));
    assert_eq!(failed["coverage"], json!([{ "file": "b.md", "line_start": 1, "line_end": 3 }]));
    assert_eq!((&failed["metadata"]["confidence"], &failed["relevant"]), (&json!(0.0), &Value::Null));
    assert_eq!(failed["error"]["code"], "model-request-refused");
}

#[tokio::test]
async fn s1_13_a_task_says_its_type_what_to_read_and_where_it_is() {
    let (stage, engine, run) = mapped().await;
    let files = rebuilt(&engine, &run);
    let task =
        files.values().find(|text| text.starts_with("Mode: ") && text.contains("FILE 1: a.py")).unwrap();
    let task = task.replace(&stage.documents.path().display().to_string(), "ROOT");
    expect![[r#"
        Mode: multi-file
        Task: task_0002
        State: completed
        Query: Review it

        Type: source_code
        Analyst: code
        1 python file (2 lines).
        --- FILE 1: a.py (2 lines) ---

        Read:
        - `ROOT/a.py`, lines 1 to 2

        --- FINDINGS ---
        {"findings":[{"confidence":0.5,"evidence":"alpha","location":{"file":"a.py","line_start":1},"quote":"exact","severity":"low","summary":"It says alpha","type":"pattern"}],"metadata":{"confidence":0.9,"contains":{"key_topics":["alpha"],"structures":["alpha"]},"content_type":"source_code","raised_by":"its tests","recalled":false,"relevant":true,"summary":"It says alpha"}}
    "#]].assert_eq(&task);
}

#[tokio::test]
async fn s1_20_a_synthesis_has_a_task_and_a_result_and_waits_for_those_it_reads() {
    let reply = r#"{"relevant": true, "answer": "Something.", "findings": []}"#;
    let rules = [
        when(|prompt| prompt.contains("final part of a report")).reply("## Summary\n\nAll of it."),
        when(|prompt| prompt.contains("You combine")).reply("## Summary\n\nOne kind."),
        when(|_| true).reply(reply),
    ];
    let mut stage = Stage::new(&FILES[..2], rules);
    stage.strategy = Strategy::Map;
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let run = stage.ask(&engine, "Review it").await.run;
    let files = rebuilt(&engine, &run);
    let names: Vec<&String> = files.keys().filter(|name| name.contains("synth-")).collect();
    expect![[r#"
        [
            "results/synth-all.json",
            "results/synth-code.json",
            "results/synth-prose.json",
            "tasks/synth-all.md",
            "tasks/synth-code.md",
            "tasks/synth-prose.md",
        ]
    "#]]
    .assert_debug_eq(&names);
    assert!(
        files["tasks/synth-all.md"].contains("Blocked by: synth-prose, synth-code\n"),
        "{}",
        files["tasks/synth-all.md"]
    );
    let all = parsed(&files, "results/synth-all.json");
    assert_eq!(all["processing"]["read_tasks"], json!(["synth-prose", "synth-code"]));
    assert_eq!(all["results"]["answer"], "## Summary\n\nAll of it.");
    let code = parsed(&files, "results/synth-code.json");
    let read = code["processing"]["read_tasks"][0].as_str().unwrap();
    assert!(files[&format!("tasks/{read}.md")].contains("a.py"), "{read}");
}

#[tokio::test]
async fn s0_02_a_run_whose_findings_were_all_at_hand_has_tasks_and_results() {
    let reply = r#"{"relevant": true, "answer": "Something.", "confidence": 0.7, "findings": []}"#;
    let mut stage = Stage::new(
        &FILES[..1],
        [
            when(|prompt| prompt.contains("You combine")).reply("## Summary\n\nOne kind."),
            when(|_| true).reply(reply),
        ],
    );
    (stage.strategy, stage.cache_replies) = (Strategy::Map, true);
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let first = rebuilt(&engine, &stage.ask(&engine, "Review it").await.run);
    let second = rebuilt(&engine, &stage.ask(&engine, "Review it").await.run);
    let names = |files: &BTreeMap<String, String>| files.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&second), names(&first));
    let result = result_of(&second, "a.py");
    assert_eq!((&result["processing"]["recalled"], &result["depth"]), (&json!(true), &json!(1)));
    assert_eq!(result["results"], result_of(&first, "a.py")["results"]);
    let confidence = |files| parsed(files, "metadata.json")["results"]["confidence"].clone();
    assert_eq!((confidence(&second), confidence(&first)), (json!(0.7), json!(0.7)));
    assert_eq!(parsed(&second, "metadata.json")["processing"]["workers_spawned"], 0);
}

#[tokio::test]
async fn c_13_a_part_whose_report_is_too_long_is_read_again_in_halves() {
    let found = |file: &str, line: u64, words: &str| {
        format!(
            r#"{{"relevant": true, "confidence": 0.{line}, "findings": [{{"type": "insight", "summary": "{words}",
               "file": "{file}", "line": {line}, "evidence": "{words}"}}]}}"#
        )
    };
    let rules = vec![
        when(|prompt| prompt.contains("1| # Beta") && prompt.contains("3| Words"))
            .reply("no report")
            .stop(StopReason::Length),
        when(|prompt| prompt.contains("1| # Beta")).reply(found("b.md", 1, "Beta")),
        when(|prompt| prompt.contains("3| Words")).reply(found("b.md", 3, "Words")),
        when(|prompt| prompt.contains("[F1]")).reply("## Summary\n\nBoth halves."),
    ];
    let mut stage = Stage::new(&FILES[1..2], rules);
    stage.strategy = Strategy::Map;
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = stage.ask(&engine, "Review it").await;
    assert_eq!(result.error.map(|error| error.to_string()), None);
    let files = rebuilt(&engine, &result.run);
    let result = result_of(&files, "b.md");
    assert_eq!(result["results"]["findings"].as_array().unwrap().len(), 2);
    assert_eq!(result["metadata"]["confidence"], 0.2, "the mean of both halves");
}

#[tokio::test]
async fn s1_10_many_tasks_are_warned_about_before_they_are_read() {
    let files: Vec<(String, String)> =
        (0..50).map(|n| (format!("{n:02}.log"), "2026-01-02 03:04:05 ERROR x\n".repeat(3))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let mut stage = Stage::new(&files, [when(|_| true).reply(r#"{"relevant": false, "findings": []}"#)]);
    stage.strategy = Strategy::Map;
    stage.limits.small_lines_max = 1;
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let run = stage.ask(&engine, "Review it").await.run;
    let metrics = parsed(&rebuilt(&engine, &run), "state/metrics.json");
    let warning = "everything is read: 50 tasks; consider excluding files or using larger chunks";
    assert_eq!(metrics["warnings"], json!([warning]));
}
