//! Runs of agents: tools, scripts, budgets, refusals, follow-up questions, and the resulting files.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use expect_test::expect;
use spelunk_engine::{Engine, Projection, ResumeRequest, RunResult};
use spelunk_journal::DerivedFiles;
use spelunk_testkit::{FaultDisk, Rule, on, status};
use spelunk_types::{ErrorCode, Event, EventKind, Explain as _, RunId, SourceSpec, Strategy, Text};

use super::{NOTE, refusal, shown, told};
use crate::stage::{PATIENCE, Stage, engine_on, events, model};

/// An agent whose input is too large for the first message.
pub(super) fn stage(files: &[(&str, &str)], rules: Vec<Rule>) -> Stage {
    let mut stage = Stage::new(files, rules);
    (stage.strategy, stage.limits.inline_chars_max) = (Strategy::Agent, 10);
    stage
}

fn text(text: &Text) -> String {
    match text {
        Text::Inline { text } => text.clone(),
        Text::Blob { .. } => panic!("a long text"),
    }
}

/// The output of each tool call, by name.
pub(super) fn said(events: &[Event]) -> Vec<String> {
    let said = |event: &Event| {
        let EventKind::ToolRan { name, output, failed, .. } = &event.kind else { return None };
        let how = if *failed { "refused" } else { "done" };
        let output = text(output);
        // The check is the same each time; a trajectory shows it.
        let output = if output.starts_with("Before your answer is accepted") {
            "(check it)"
        } else {
            output.trim_end()
        };
        Some(format!("{name} {how}: {output}"))
    };
    events.iter().filter_map(said).collect()
}

pub(super) async fn run(stage: &Stage, engine: &Engine) -> RunResult {
    let result = stage.ask(engine, "What is the magic number?").await;
    assert_eq!(stage.server.unexpected().len(), 0, "{:?}", stage.server.unexpected());
    result
}

pub(super) fn answer_of(result: &RunResult) -> &str {
    &result.answer.as_ref().unwrap_or_else(|| panic!("{:?}", result.error)).text
}

pub(super) fn script(code: &str) -> String {
    serde_json::json!({ "name": "try", "code": code }).to_string()
}

pub(super) fn finish(answer: &str) -> String {
    serde_json::json!({ "answer": answer }).to_string()
}

#[tokio::test]
async fn a_script_reads_the_desk_asks_sub_models_and_keeps_its_variables() {
    let first = "from tools.llm_client import LLMClient
from tools.chunking import Chunker, chunk_prompt
client = LLMClient()
result = client.call('What is in ' + open('input/contexts/a.md').read(), log_to_evidence=True, evidence_tag='number')
print(result.content, result.cached, result.call_id)
with open('scratch/found.txt', 'w') as file:
    file.write('found ' + result.content)
print([chunk.index for chunk in chunk_prompt()], Chunker('input/contexts/a.md').chunk_by_lines()[0].content.strip())
";
    let second =
        "print(open('scratch/found.txt').read(), result.content, client.check_budget()['scripts_created'])
import os
print(os.path.exists('scratch/found.txt'), os.path.exists('/etc/passwd'))
try:
    open('state/job.json', 'w')
except PermissionError as error:
    print('PermissionError')
open('/etc/passwd')
";
    let rules = vec![
        on("0#0").reply("").tool_call("RunScript", &script(first)),
        on("0#1").reply("42"),
        on("0#2").reply("").tool_call("RunScript", &script(second)),
        on("0#3").reply("").tool_call("Finish", &finish("It is 42.")),
        on("0#4").reply("").tool_call("Finish", "{}"),
    ];
    let stage = stage(&NOTE, rules);
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = run(&stage, &engine).await;
    let events = events(&engine, &result.run);
    expect![[r#"
        RunScript done: Output:
        42 False 0#1
        [0] The magic number is 42.
        [1 sub-model calls; 19 scripts left]
        RunScript refused: Output:
        found 42 42 2
        True False
        PermissionError
        Traceback (most recent call last):
          File "<cell 2>", line 8, in <module>
            open('/etc/passwd')
            ^^^^^^^^^^^^^^^^^^^
        FileNotFoundError: [Errno 2] No such file or directory: '/etc/passwd' (`etc/passwd` does not exist)
        [0 sub-model calls; 18 scripts left]
        Finish done: (check it)
        Finish done: Accepted."#]]
    .assert_eq(&said(&events).join("\n"));
    assert_eq!(answer_of(&result), "It is 42.");
}

#[tokio::test]
async fn budgets_are_the_engines_and_the_cache_comes_before_them() {
    let asking = "from tools.llm_client import LLMClient
said = []
for word in ['one', 'two', 'one', 'three']:
    try:
        said.append(LLMClient().call(word).content)
    except BudgetError as error:
        said.append('BudgetError')
print(said)
";
    let rules = vec![
        on("0#0").reply("").tool_call("RunScript", &script(asking)),
        on("0#1").reply("1"),
        on("0#2").reply("2"),
        on("0#4").reply("").tool_call("RunScript", &script("print('again')")),
        on("0#5").reply("").tool_call("Finish", &finish("42")),
        on("0#6").reply("").tool_call("Finish", "{}"),
    ];
    let mut stage = stage(&NOTE, rules);
    (stage.limits.scripts_max, stage.limits.script_calls_max, stage.cache_replies) = (1, 2, true);
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = run(&stage, &engine).await;
    let events = events(&engine, &result.run);
    expect![[r#"
        RunScript done: Output:
        ['1', '2', '1', 'BudgetError']
        [2 sub-model calls; 0 scripts left]
        RunScript refused: all 1 scripts of this run were used: finish with what you have, or use Shell and LlmBatch
        Finish done: (check it)
        Finish done: Accepted."#]].assert_eq(&said(&events).join("\n"));
}

#[tokio::test]
async fn nothing_reaches_out_of_the_desk_or_into_the_engines_files() {
    let hostile = [
        ("Read", r#"{"path": "../../../etc/passwd"}"#),
        ("Read", r#"{"path": "/etc/passwd"}"#),
        ("Write", r#"{"path": "../journal.jsonl", "content": "x"}"#),
        ("Write", r#"{"path": "state/job.json", "content": "{\"config\": {\"max_scripts\": 999}}"}"#),
        ("Edit", r#"{"path": "state/job.json", "old": "20", "new": "999"}"#),
        ("Shell", r#"{"command": "echo hacked > state/job.json; cat /etc/passwd; echo $HOME"}"#),
        ("Write", r#"{"path": "state/evidence.jsonl", "content": "forged"}"#),
        ("Nothing", r#"{}"#),
        ("Read", r#"[1]"#),
        ("Read", r#"{"path": "a", "bogus": 1}"#),
        ("Read", r#"{"#),
    ];
    let mut rule = on("0#0").reply("");
    for (name, arguments) in hostile {
        rule = rule.tool_call(name, arguments);
    }
    let rules = vec![
        rule,
        on("0#1").reply("").tool_call("Finish", &finish("TODO")),
        on("0#2").reply("").tool_call("Grep", r#"{"pattern": "magic"}"#).tool_call("Finish", &finish("42")),
        on("0#3").reply("").tool_call("Finish", "{}"),
    ];
    let stage = stage(&NOTE, rules);
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = run(&stage, &engine).await;
    let events = events(&engine, &result.run);
    expect![[r#"
        Read refused: `../../../etc/passwd` is not a valid path: `..` is not allowed; write the path relative to the folder
        Read refused: `etc/passwd` does not exist
        Write refused: `../journal.jsonl` is not a valid path: `..` is not allowed; write the path relative to the folder
        Write refused: `state/job.json` is read-only; write under `scratch/`, `output/`, `cache/indexes/` or to `state/notes.md`
        Edit refused: `state/job.json` is read-only; write under `scratch/`, `output/`, `cache/indexes/` or to `state/notes.md`
        Shell done: /
        [stderr]
        bash: line 1: state/job.json: Read-only file system
        cat: /etc/passwd: No such file or directory
        Write refused: `state/evidence.jsonl` can only be appended to with the Evidence tool
        Nothing refused: no tool `Nothing`; the tools are Read, Write, Edit, Grep, Glob, Chunk, Evidence, Buffer, Shell, RunScript, LlmQuery, LlmBatch, Descend, Finish
        Read refused: the arguments of Read must be a JSON object, not `[1]`
        Read refused: invalid arguments for Read: unknown field `bogus`, expected one of `file`, `file_path`, `path`, `offset`, `limit`, `byte_offset`, `byte_limit`
        Read refused: the arguments of Read are not JSON (EOF while parsing an object at line 1 column 1): `{`
        Finish refused: `output/answer.md` is empty or a placeholder: write the answer itself, then call Finish
        Grep done: input/contexts/a.md (1 match)
             1: The magic number is 42.
        input/prompt.md (1 match)
             1: What is the magic number?
        [2 matches in 2 files]
        Finish done: (check it)
        Finish done: Accepted."#]].assert_eq(&said(&events).join("\n"));
    let job = &files_of(&engine, &result.run)["state/job.json"];
    assert!(job.contains("\"max_scripts\": 20"), "{job}");
}

#[tokio::test]
async fn a_provider_without_tools_is_spoken_to_in_text() {
    let refused = status(400).message("scripted does not support tools");
    let call = |name: &str, arguments: &str| {
        format!("I go on.\n\n```tool\n{{\"name\": \"{name}\", \"arguments\": {arguments}}}\n```")
    };
    let rules = vec![
        on("0#0").always(refused),
        on("0#1").reply(call("Grep", r#"{"pattern": "magic"}"#)),
        on("0#2").reply("```tool\n{broken}\n```"),
        on("0#3").reply("I am done."),
        on("0#4").reply(call(
            "Finish",
            r#"{"answer": "It is 42.", "evidence": ["a.md:1: The magic number is 42."]}"#,
        )),
        on("0#5").reply(call("Finish", r#"{"evidence": ["a.md:1: The magic number is 42."]}"#)),
    ];
    let stage = stage(&NOTE, rules);
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = run(&stage, &engine).await;
    assert_eq!(answer_of(&result), "It is 42.");
    expect![[r#"
        run.started      agent openai/scripted
        source.scanned   documents=1 bytes=24
        frame.opened     0 agent
        value.observed   0 cache_responses false
        desk.laid        0 files=9
        call.started     0#0
        call.settled     0#0 failed model-request-refused
        call.started     0#1
        call.settled     0#1 replied live tokens=2841+19
        tool.ran         0 tool=0 Grep done
        call.started     0#2
        call.settled     0#2 replied live tokens=2899+5
        tool.ran         0 tool=1 tool refused
        call.started     0#3
        call.settled     0#3 replied live tokens=2931+3
        call.started     0#4
        call.settled     0#4 replied live tokens=2963+32
        tool.ran         0 tool=2 Finish done output/answer.md
        call.started     0#5
        call.settled     0#5 replied live tokens=3072+26
        tool.ran         0 tool=3 Finish done
        citation.checked 0 exact a.md:1
        frame.closed     0 answered cited=1
        run.finished     answered"#]]
    .assert_eq(&told(&engine, &result.run));
    let requests = stage.server.requests();
    let last: serde_json::Value = serde_json::from_str(&requests[3].body).unwrap();
    expect![[r#"
        tool was refused:
        the arguments of tool are not JSON (key must be a string at line 1 column 2): `{broken}`"#]]
    .assert_eq(last["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap());
}

#[tokio::test]
async fn a_model_that_only_talks_ends_with_what_it_has() {
    let rules = vec![
        on("0#0").reply("Hm."),
        on("0#1").reply("Hm."),
        on("0#2").reply("Hm."),
        on("0#3").reply("Perhaps 42."),
    ];
    let stage = stage(&NOTE, rules);
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = run(&stage, &engine).await;
    assert_eq!(answer_of(&result), "Perhaps 42.");
    assert_eq!(result.outcome.to_string(), "partial model-stuck");
}

#[tokio::test]
async fn out_of_turns_the_answer_that_is_written_is_taken() {
    let write = r#"{"path": "output/answer.md", "content": "It is 42, I think."}"#;
    let rules = vec![
        on("0#0").reply("").tool_call("Grep", r#"{"pattern": "magic"}"#),
        on("0#1").reply("").tool_call("Write", write),
    ];
    let mut stage = stage(&NOTE, rules);
    stage.limits.agent_turns_max = 2;
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = run(&stage, &engine).await;
    assert_eq!(answer_of(&result), "It is 42, I think.");
    assert_eq!(result.outcome.to_string(), "partial turns-exhausted");
}

#[tokio::test]
async fn a_run_that_is_asked_more_goes_on_with_its_files_and_variables() {
    let rules = vec![
        on("0#0").reply("").tool_call("RunScript", &script("kept = 6 * 7\nprint(kept)")),
        on("0#1").reply("").tool_call("Finish", &finish("It is 42.")),
        on("0#2").reply("").tool_call("Finish", "{}"),
        on("0#3")
            .reply("")
            .tool_call("RunScript", &script("print(kept / 2, open('output/answer.md').read())")),
        on("0#4").reply("").tool_call("Finish", &finish("It is 21.")),
        on("0#5").reply("").tool_call("Finish", "{}"),
    ];
    let stage = stage(&NOTE, rules);
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let first = run(&stage, &engine).await;
    assert_eq!(answer_of(&first), "It is 42.");
    let request = || ResumeRequest {
        model: model(&stage.server.base_url()),
        sub_model: None,
        synthesis_model: None,
        settings: stage.settings(),
        program: None,
    };
    let handle = engine.ask_more(&first.run, "And half of it?", request(), &mut |_| {}).unwrap();
    let second = tokio::time::timeout(PATIENCE, handle.join()).await.expect("a run ends");
    assert_eq!(answer_of(&second), "It is 21.");
    assert_eq!(second.run, first.run);
    let events = events(&engine, &first.run);
    expect![[r#"
        RunScript done: Output:
        42
        [0 sub-model calls; 19 scripts left]
        Finish done: (check it)
        Finish done: Accepted.
        RunScript done: Output:
        21.0 It is 42.
        [0 sub-model calls; 18 scripts left]
        Finish done: (check it)
        Finish done: Accepted."#]]
    .assert_eq(&said(&events).join("\n"));
    for call in ["0#0", "0#1", "0#2", "0#3", "0#4", "0#5"] {
        assert_eq!(stage.server.times_served(call), 1, "{call}");
    }
    let files = files_of(&engine, &first.run);
    assert_eq!(files["output/answer.md"], "It is 21.\n");
    assert_eq!(in_steps(&engine, &first.run, 1), files);
}

#[tokio::test]
async fn only_an_agent_with_an_answer_is_asked_more() {
    let mut stage = Stage::new(&NOTE, [on("0#0").reply("It is 42.")]);
    stage.strategy = Strategy::Direct;
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = run(&stage, &engine).await;
    let request = ResumeRequest {
        model: model(&stage.server.base_url()),
        sub_model: None,
        synthesis_model: None,
        settings: stage.settings(),
        program: None,
    };
    let refused = refusal(engine.ask_more(&result.run, "More?", request, &mut |_| {}));
    expect![[r#"
        usage-wrong: run `RUN` takes no follow-up question: it used the strategy `direct`, and only `agent` keeps its work
        hint: ask a new question about its files with another `--strategy`"#]]
    .assert_eq(&shown(&refused, &result.run));
}

#[tokio::test]
async fn what_came_with_the_question_lies_beside_it() {
    let rules = vec![
        on("0#0").reply("").tool_call("Glob", r#"{"pattern": "input/**"}"#),
        on("0#1")
            .reply("")
            .tool_call("Finish", r#"{"answer": "42", "evidence": ["input/attachments/b.md:1: It is 42."]}"#),
        on("0#2").reply("").tool_call("Finish", r#"{"evidence": ["input/attachments/b.md:1: It is 42."]}"#),
    ];
    let stage = stage(&NOTE, rules);
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let mut sources = stage.sources();
    sources.push(engine.keep_text("attachments/b.md", b"It is 42.\n").unwrap());
    sources.push(engine.keep_text("messages.json", b"{\"system\": null, \"messages\": []}\n").unwrap());
    assert!(matches!(sources[1], SourceSpec::Text { .. }));
    let result = stage.ask_over(&engine, "## user\nWhat is it?\n", sources).await;
    let folder = stage.documents.path().file_name().unwrap().to_str().unwrap();
    let said = said(&events(&engine, &result.run)).join("\n").replace(folder, "FOLDER");
    expect![[r#"
        Glob done: input/attachments/b.md
        input/contexts/FOLDER/a.md
        input/messages.json
        input/prompt.md
        [4 files]
        Finish done: (check it)
        Finish done: Accepted."#]]
    .assert_eq(&said);
    assert_eq!(result.answer.unwrap().citations.len(), 1);
}

#[tokio::test]
async fn what_does_not_fit_on_the_desk_is_refused_by_name() {
    let large = format!(r#"{{"path": "scratch/large.md", "content": "{}"}}"#, "x".repeat(40_000));
    let rules = vec![
        on("0#0").reply("").tool_call("Read", r#"{"path": "input/prompt.md"}"#).tool_call("Write", &large),
        on("0#1").reply("").tool_call("Finish", r#"{"answer": "42"}"#),
        on("0#2").reply("").tool_call("Finish", "{}"),
    ];
    let mut stage = stage(&NOTE, rules);
    stage.limits.desk_bytes_max = 40_000;
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = run(&stage, &engine).await;
    assert_eq!(answer_of(&result), "42");
    let told = said(&events(&engine, &result.run));
    let full = "the maximum is 40000; remove files under `scratch/`";
    assert!(
        told[1].starts_with("Write refused: the folder would have ") && told[1].contains(full),
        "{told:?}"
    );
    // The documents stay where they are; an attachment is put on the desk.
    let mut sources = stage.sources();
    sources.push(engine.keep_text("attachments/b.md", &b"x".repeat(40_001)).unwrap());
    let refused = stage.ask_over(&engine, "What is it?", sources).await;
    let error = refused.error.expect("it does not fit");
    assert_eq!(error.code(), ErrorCode::DeskFull);
    assert_eq!(
        error.to_string(),
        "frame `0` could not start: the folder would have 40001 bytes; the maximum is 40000; remove files under `scratch/`"
    );
}

fn files(root: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().display().to_string();
                files.insert(name, String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned());
            }
        }
    }
    files
}

pub(super) fn files_of(engine: &Engine, run: &RunId) -> BTreeMap<String, String> {
    let home = tempfile::tempdir().unwrap();
    Projection::rebuild(engine.workspace(), run, DerivedFiles::within(home.path())).unwrap();
    let once = files(home.path());
    // Rebuilding over existing files gives the same.
    Projection::rebuild(engine.workspace(), run, DerivedFiles::within(home.path())).unwrap();
    assert_eq!(files(home.path()), once);
    once
}

fn in_steps(engine: &Engine, run: &RunId, step: usize) -> BTreeMap<String, String> {
    let home = tempfile::tempdir().unwrap();
    let mut projection = Projection::new(engine.workspace(), run, DerivedFiles::within(home.path()));
    for piece in engine.workspace().read_journal(run).unwrap().chunks(step) {
        for record in piece {
            projection.apply(record).unwrap();
        }
        projection.flush().unwrap();
    }
    files(home.path())
}

#[tokio::test]
async fn the_desk_is_left_as_files_that_the_journal_makes_again() {
    let rules = vec![
        on("0#0")
            .reply("")
            .tool_call("Shell", r#"{"command": "mkdir -p scratch/tmp && grep -rn magic input/contexts > scratch/tmp/hits.txt; cp scratch/tmp/hits.txt scratch/tmp/hits.txt.new; wc -l scratch/tmp/hits.txt"}"#)
            .tool_call("Evidence", r#"{"tag": "n", "content": "The magic number is 42.", "source": "input/contexts/a.md:1"}"#)
            .tool_call("Write", r##"{"path": "state/notes.md", "content": "# Plan\n"}"##)
            .tool_call("Write", r#"{"path": "state/notes.md", "content": "Look.\n", "append": true}"#)
            .tool_call("Buffer", r#"{"action": "append", "name": "long", "text": "Part one. "}"#)
            .tool_call("Buffer", r#"{"action": "append", "name": "long", "text": "Part two."}"#)
            .tool_call("Buffer", r#"{"action": "assemble", "name": "long", "path": "output/answer.md"}"#),
        on("0#1").reply("").tool_call("Shell", r#"{"command": "rm scratch/tmp/hits.txt"}"#).tool_call("Finish", "{}"),
        on("0#2").reply("").tool_call("Finish", "{}"),
    ];
    let stage = stage(&NOTE, rules);
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = run(&stage, &engine).await;
    let whole = files_of(&engine, &result.run);
    for step in [1, 2, 3, 5, 100] {
        assert_eq!(in_steps(&engine, &result.run, step), whole, "every {step} events");
    }
    expect![[r#"
        Shell done: 1 scratch/tmp/hits.txt
        Evidence done: evidence 1 recorded under `n`
        Write done: wrote 7 bytes (1 line) to `state/notes.md`
        Write done: added 6 bytes (1 line) to `state/notes.md`
        Buffer done: buffer `long` has 1 part, 10 characters
        Buffer done: buffer `long` has 2 parts, 19 characters
        Buffer done: wrote 2 parts of buffer `long` to `output/answer.md`, 21 bytes
        Shell done: [no output]
        Finish done: (check it)
        Finish done: Accepted."#]]
    .assert_eq(&said(&events(&engine, &result.run)).join("\n"));
    let listed: Vec<_> = whole.keys().map(String::as_str).collect();
    expect![[r#"
        chunks/manifest.json
        context.txt
        final_answer.md
        input/documents.txt
        input/prompt.md
        metadata.json
        output/answer.md
        scratch/tmp/hits.txt.new
        state/buffers/long.jsonl
        state/errors.jsonl
        state/evidence.jsonl
        state/job.json
        state/metrics.json
        state/notes.md
        tools/README.md
        tools/chunking.py
        tools/llm_client.py"#]]
    .assert_eq(&listed.join("\n"));
    assert_eq!(whole["output/answer.md"].trim_end(), answer_of(&result));
    assert_eq!(whole["state/notes.md"], "# Plan\nLook.\n");
    let line = whole["state/evidence.jsonl"].lines().next().unwrap_or_default();
    let mut fact: serde_json::Value = serde_json::from_str(line).unwrap();
    for name in ["at", "timestamp"] {
        assert!(fact[name].take().is_string(), "{line}");
    }
    expect![[r#"{"at":null,"content":"The magic number is 42.","frame":"0","is":"fact","metadata":null,"seq":9,"sequence":1,"source":"input/contexts/a.md:1","tag":"n","timestamp":null}"#]].assert_eq(&fact.to_string());
}
