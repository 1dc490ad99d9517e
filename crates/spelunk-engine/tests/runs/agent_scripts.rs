//! Scripts as people who know the file-based design write them: the same imports, names, files and results.

use std::sync::Arc;

use expect_test::expect;
use serde_json::Value;
use spelunk_testkit::{FaultDisk, on, status};
use spelunk_types::{ErrorCode, RunOutcome};

use super::NOTE;
use super::agent::{answer_of, files_of, finish, run, said, script, stage};
use crate::stage::{engine_on, events};

const SCAN: &str = r#"#!/usr/bin/env python3
"""Scan input and build index."""
from tools.chunking import Chunker

chunker = Chunker()
index = chunker.build_index("input/prompt.md", index_type="headings")
print(f"Found {len(index['entries'])} sections")
"#;

const EXTRACT: &str = r#"#!/usr/bin/env python3
"""Extract facts from each section."""
from tools.llm_client import LLMClient
from tools.chunking import chunk_prompt

client = LLMClient()
chunks = chunk_prompt(max_tokens=2000)

for chunk in chunks:
    result = client.call(
        prompt=f"Extract key facts:\n\n{chunk.content}",
        log_to_evidence=True,
        evidence_tag=f"facts_chunk_{chunk.index}",
    )
    if result:
        print(f"Processed chunk {chunk.index}")
"#;

const SYNTHESIZE: &str = r##"#!/usr/bin/env python3
"""Synthesize evidence into final answer."""
import json

# Read all evidence
evidence = []
with open("state/evidence.jsonl") as f:
    for line in f:
        evidence.append(json.loads(line))

# Write final answer
with open("output/answer.md", "w") as f:
    f.write("# Analysis Results\n\n")
    for item in evidence:
        f.write(f"- {item['content']}\n")

print("Answer written to output/answer.md")
"##;

#[tokio::test]
async fn s2_15_scan_extract_and_synthesize_run_as_they_stand() {
    let rules = vec![
        on("0#0").reply("").tool_call("RunScript", &script(SCAN)),
        on("0#1").reply("").tool_call("RunScript", &script(EXTRACT)),
        on("0#2").reply("The magic number is 42."),
        on("0#3").reply("").tool_call("RunScript", &script(SYNTHESIZE)),
        on("0#4").reply("").tool_call("Finish", "{}"),
        on("0#5").reply("").tool_call("Finish", "{}"),
    ];
    let stage = stage(&NOTE, rules);
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let question = "# Task\nName the number.\n\n## Notes\nThe magic number is 42.\n\n## More\nNothing.";
    let result = stage.ask(&engine, question).await;
    expect![[r#"
        RunScript done: Output:
        Found 3 sections
        [0 sub-model calls; 19 scripts left]
        RunScript done: Output:
        Processed chunk 0
        [1 sub-model calls; 18 scripts left]
        RunScript done: Output:
        Answer written to output/answer.md
        [0 sub-model calls; 17 scripts left]
        Finish done: (check it)
        Finish done: Accepted."#]]
    .assert_eq(&said(&events(&engine, &result.run)).join("\n"));
    assert_eq!(answer_of(&result), "# Analysis Results\n\n- The magic number is 42.");
}

#[tokio::test]
async fn s2_09_build_index_has_entries() {
    let code = "from tools.chunking import Chunker, build_index
index = build_index('input/contexts/a.md')
print(index['source_file'], [(entry['level'], entry['title'], entry['line']) for entry in index['entries']])
print(Chunker('input/prompt.md').build_index()['entries'])
";
    let rules = vec![
        on("0#0").reply("").tool_call("RunScript", &script(code)),
        on("0#1").reply("").tool_call("Finish", &finish("42")),
        on("0#2").reply("").tool_call("Finish", "{}"),
    ];
    let stage = stage(&[("a.md", "# One\ntext\n## Two\nmore\n")], rules);
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = run(&stage, &engine).await;
    expect![[r#"
        RunScript done: Output:
        input/contexts/a.md [(1, 'One', 1), (2, 'Two', 3)]
        []
        [0 sub-model calls; 19 scripts left]"#]]
    .assert_eq(&said(&events(&engine, &result.run))[0]);
}

#[tokio::test]
async fn s2_08_use_cache_and_temperature_do_what_they_say() {
    let code = "from tools.llm_client import LLMClient
client = LLMClient()
for asked in [{}, {}, {'use_cache': False}, {'temperature': 0.7}, {'temperature': 0.7}]:
    result = client.call('Which number?', **asked)
    print(asked, result.content, result.cached)
print([one.content for one in client.call_batch(['Which number?'], temperature=0, use_cache=False)])
";
    let rules = vec![
        on("0#0").reply("").tool_call("RunScript", &script(code)),
        on("0#1").reply("first").usage(5, 1),
        on("0#3").reply("second").usage(5, 1),
        on("0#4").reply("third").usage(5, 1),
        on("0#6").reply("fourth").usage(5, 1),
        on("0#7").reply("").tool_call("Finish", &finish("42")),
        on("0#8").reply("").tool_call("Finish", "{}"),
    ];
    let mut stage = stage(&NOTE, rules);
    stage.cache_replies = true;
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = run(&stage, &engine).await;
    expect![[r#"
        RunScript done: Output:
        {} first False
        {} first True
        {'use_cache': False} second False
        {'temperature': 0.7} third False
        {'temperature': 0.7} third True
        ['fourth']
        [4 sub-model calls; 19 scripts left]"#]]
    .assert_eq(&said(&events(&engine, &result.run))[0]);
    let sent = stage.server.requests();
    let temperature = |body: &str| serde_json::from_str::<Value>(body).unwrap()["temperature"].clone();
    let sent: Vec<String> = sent.iter().map(|request| temperature(&request.body).to_string()).collect();
    assert_eq!(sent, ["null", "null", "null", "0.7", "0.0", "null", "null"]);
}

#[tokio::test]
async fn s2_12_an_agent_that_repeats_a_refused_step_is_stopped() {
    let mut rules = Vec::new();
    for turn in 0..4 {
        let ask = on(&format!("0#{}", 2 * turn)).reply("");
        rules.push(ask.tool_call("LlmQuery", r#"{"prompt": "Why?"}"#));
        rules.push(on(&format!("0#{}", 2 * turn + 1)).always(status(400)));
    }
    rules.push(on("0#8").reply("It is 42."));
    let stage = stage(&NOTE, rules);
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = run(&stage, &engine).await;
    assert_eq!(result.outcome, RunOutcome::Partial { stopped_by: ErrorCode::ModelStuck });
    assert_eq!(answer_of(&result), "It is 42.");
}

#[tokio::test]
async fn s2_04_an_agent_descends_within_max_depth() {
    let descend = r#"{"question": "Which number is it?", "paths": ["input/contexts/a.md"]}"#;
    let rules = || {
        vec![
            on("0#0").reply("").tool_call("Descend", descend),
            on("0.0#0").reply("```repl\nFINAL('It is ' + str(context.count('42')) + ' times 42')\n```"),
            on("0#1").reply("").tool_call("Finish", &finish("42")),
            on("0#2").reply("").tool_call("Finish", "{}"),
            on("0#3").reply("").tool_call("Finish", "{}"),
        ]
    };
    let (deep, mut flat) = (stage(&NOTE, rules()), stage(&NOTE, rules()));
    flat.limits.depth_max = 0;
    let mut told = Vec::new();
    for stage in [&deep, &flat] {
        let engine = engine_on(Arc::new(FaultDisk::sound()));
        let result = run(stage, &engine).await;
        told.push(said(&events(&engine, &result.run))[0].clone());
    }
    expect![[r#"
        Descend done: It is 1 times 42
        Descend refused: depth-exceeded: frame `0` may not open a deeper child: `limits.depth_max` is 0"#]]
    .assert_eq(&told.join("\n"));
}

#[tokio::test]
async fn s2_06_cache_responses_tells_the_truth() {
    for cache_replies in [true, false] {
        let rules = vec![on("0#0").reply("").tool_call("Finish", &finish("42"))];
        let mut stage = stage(&NOTE, rules);
        (stage.cache_replies, stage.limits.inline_chars_max) = (cache_replies, 8_000);
        let engine = engine_on(Arc::new(FaultDisk::sound()));
        let result = run(&stage, &engine).await;
        let job: Value = serde_json::from_str(&files_of(&engine, &result.run)["state/job.json"]).unwrap();
        assert_eq!(job["config"]["cache_responses"], cache_replies);
    }
}

#[tokio::test]
async fn s2_10_evidence_errors_and_metrics_on_disk_have_one_shape() {
    let code = "from tools.llm_client import LLMClient
client = LLMClient()
client.call('one', log_to_evidence=True, evidence_tag='number')
print(client.call('two'))
";
    let rules = vec![
        on("0#0").reply("").tool_call("RunScript", &script(code)),
        on("0#1").reply("It is 42."),
        on("0#2").always(status(400)),
        on("0#3").reply("").tool_call("Shell", r#"{"command": "cat state/metrics.json"}"#).tool_call(
            "Finish",
            r#"{"answer": "It is 42.", "evidence": ["a.md:1: The magic number is 42."]}"#,
        ),
        on("0#4").reply("").tool_call("Finish", r#"{"evidence": ["a.md:1: The magic number is 42."]}"#),
    ];
    let stage = stage(&NOTE, rules);
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = run(&stage, &engine).await;
    let files = files_of(&engine, &result.run);
    let lines = |name: &str| -> Vec<Value> {
        files[name].lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let evidence = lines("state/evidence.jsonl");
    for line in &evidence {
        for name in ["timestamp", "tag", "content", "metadata", "source"] {
            assert!(line.get(name).is_some(), "{name} in {line}");
        }
    }
    let tags: Vec<&str> = evidence.iter().map(|line| line["tag"].as_str().unwrap()).collect();
    assert_eq!(tags, ["number", "citation"]);
    let errors = lines("state/errors.jsonl");
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert_eq!(
        (&errors[0]["error_type"], &errors[0]["context"]),
        (&"model-request-refused".into(), &"0#2".into())
    );
    assert!(errors[0]["timestamp"].is_string() && errors[0]["error_message"].is_string());
    let metrics: Value = serde_json::from_str(&files["state/metrics.json"]).unwrap();
    let counted = ["scripts_created", "subcalls_made", "errors"].map(|name| metrics[name].as_u64().unwrap());
    assert_eq!(counted, [1, 1, 1]);
    let seen = said(&events(&engine, &result.run))[1].replace("Shell done: ", "");
    let seen: Value = serde_json::from_str(&seen).unwrap();
    for (name, value) in seen.as_object().unwrap() {
        assert_eq!(&metrics[name], value, "{name} as the agent saw it");
    }
    assert_eq!(metrics["calls_failed"], 1, "and what the run counts");
}

/// The first request of an agent over a text of this many lines.
async fn first_request(n_lines: usize) -> String {
    let text = "Line of the text.\n".repeat(n_lines);
    let mut rules = vec![on("0#0").reply("").tool_call("Finish", &finish("42"))];
    rules.extend(["0#1", "0#2", "0#3"].map(|call| on(call).reply("").tool_call("Finish", "{}")));
    let mut stage = stage(&[("a.md", &text)], rules);
    stage.limits.inline_chars_max = 8000;
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    run(&stage, &engine).await;
    let body: Value = serde_json::from_str(&stage.server.requests()[0].body).unwrap();
    let texts = body["messages"].as_array().unwrap().iter().map(|message| message["content"].to_string());
    texts.collect::<Vec<_>>().join("\n")
}

#[tokio::test]
async fn s2_13_a_short_input_is_shown_and_a_long_one_described() {
    let (short, long) = (first_request(400).await, first_request(500).await);
    let n_shown = |request: &str| request.matches("Line of the text.").count();
    assert_eq!((n_shown(&short), short.contains("If the job is simple, do it directly")), (400, true));
    // A preview of 500 characters, the size and the five steps.
    assert_eq!(n_shown(&long), 500 / "Line of the text.\n".len());
    for words in
        ["1. Read `state/job.json`", "5. Write the answer to `output/answer.md`", "Begin by scanning", "9000"]
    {
        assert!(long.contains(words), "{words} in {long}");
    }
}

#[tokio::test]
async fn s2_14_the_system_prompt_has_the_rules() {
    let system = first_request(1).await;
    for rule in [
        "Write your answer to `output/answer.md`",
        "Never read a whole large file",
        "write long results to files",
        "`state/job.json`: paths and budgets",
        "20 scripts, 25 sub-model calls per script, 50 turns",
    ] {
        assert!(system.contains(rule), "{rule} in {system}");
    }
}
