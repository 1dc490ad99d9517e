//! The worked examples of the source documents, from files to report: a Python service and a data pipeline.

use std::collections::BTreeMap;
use std::sync::Arc;

use expect_test::{Expect, expect};
use spelunk_testkit::{FaultDisk, when};
use spelunk_types::{EventKind, RunOutcome, Strategy};

use crate::stage::{Stage, engine_on, events, view};

/// Functions of ten lines, so that a chunk of 200 lines ends at one.
fn python(lines: usize) -> String {
    let body = "    x = step(x)\n".repeat(7);
    (0..lines / 10).fold(String::new(), |text, n| text + &format!("def f{n}(x):\n{body}    return x\n\n"))
}

fn lines(n: usize, line: impl Fn(usize) -> String) -> String {
    (0..n).map(line).collect()
}

fn json(n: usize) -> String {
    format!("[\n{}  0\n]\n", lines(n - 3, |idx| format!("  {idx},\n")))
}

async fn check(files: &[(&str, String)], expected: &Expect) {
    let texts: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let rules = [
        when(|prompt| prompt.contains("final part of a report")).reply("## Summary\n\nAll of it."),
        when(|prompt| prompt.contains("You combine")).reply("## Summary\n\nOne kind."),
        when(|_| true).reply(r#"{"relevant": true, "answer": "Something.", "findings": []}"#),
    ];
    let mut stage = Stage::new(&texts, rules);
    stage.strategy = Strategy::Map;
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = stage.ask(&engine, "Review it").await;
    assert_eq!(result.outcome, RunOutcome::Answered, "{:?}", result.error);
    let events = events(&engine, &result.run);
    let mut planned = None;
    for event in &events {
        if let EventKind::TasksPlanned { tasks, by_type, .. } = &event.kind {
            planned = Some((*tasks, by_type.clone()));
        }
    }
    let (tasks, by_type): (u64, BTreeMap<String, u64>) = planned.unwrap();
    let by_type: Vec<String> = by_type.iter().map(|(name, n)| format!("{name} {n}")).collect();
    let seen = view(&events);
    assert_eq!(seen.tasks.as_ref().map(|tasks| tasks.done), Some(tasks), "every task is read");
    let n_syntheses = seen.frames.values().filter(|frame| frame.strategy == Strategy::Synthesis).count();
    expected.assert_eq(&format!(
        "{tasks} tasks: {}\n{n_syntheses} syntheses, {} calls\n",
        by_type.join(", "),
        seen.calls.len()
    ));
}

/// One task fewer than by the formula: the remaining hundred lines of `models.py` are added to the chunk before them.
#[tokio::test]
async fn example_a_a_service_in_python() {
    let files = [
        ("api.py", python(2800)),
        ("models.py", python(1900)),
        ("service.py", python(3200)),
        ("util.py", python(400)),
        ("fixtures.json", json(250)),
        ("schema.json", json(180)),
        ("app.yaml", lines(50, |n| format!("key_{n}: {n}\n"))),
        ("deploy.toml", lines(120, |n| format!("key_{n} = {n}\n"))),
        ("README.md", lines(300, |n| format!("Sentence {n} of the readme.\n"))),
    ];
    check(
        &files,
        &expect![[r#"
        43 tasks: config 1, json 1, prose 1, source_code 40
        5 syntheses, 48 calls
    "#]],
    )
    .await;
}

#[tokio::test]
async fn example_b_a_pipeline_of_data() {
    let row = |n: usize| format!("{n},{},x\n", n % 7);
    let files = [
        ("events.csv", format!("id,kind,note\n{}", lines(82_000, row))),
        ("users.csv", format!("id,kind,note\n{}", lines(45_000, row))),
        (
            "stream.jsonl",
            lines(25_000, |n| {
                let fields: Vec<String> = (0..12).map(|field| format!("\"f{field}\":{n}")).collect();
                format!("{{{}}}\n", fields.join(","))
            }),
        ),
        ("app.log", lines(15_000, |n| format!("2026-03-01T00:00:{:02}Z INFO step {n}\n", n % 60))),
        ("transform.py", python(4200)),
        ("pipeline_config.json", json(80)),
        ("README.md", lines(60, |n| format!("Sentence {n} of the readme.\n"))),
        ("settings.toml", lines(20, |n| format!("key_{n} = {n}\n"))),
    ];
    check(
        &files,
        &expect![[r#"
        128 tasks: config 1, json 1, jsonl 34, log 6, prose 1, source_code 21, structured_data 64
        8 syntheses, 136 calls
    "#]],
    )
    .await;
}
