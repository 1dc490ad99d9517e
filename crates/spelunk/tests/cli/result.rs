//! `ask --json`: answer, evidence, metrics, errors and success are present for every strategy, even without an answer;
//! and `--json` of other commands.

use expect_test::expect;
use serde_json::{Value, json};
use spelunk_testkit::{ModelServer, when};

use crate::scene::{NOTE, QUESTION, REPLY, Scene, answering, to_all};

fn server(strategy: &str) -> ModelServer {
    let finding = r#"[{"type": "data", "summary": "It is 42", "file": "a.md", "line": 3, "evidence": "The magic number is 42.", "severity": "low"}]"#;
    let fact = r#"{"tag": "number", "content": "It is 42.", "source": "input/contexts/a.md:3"}"#;
    let finish = r#"{"answer": "It is 42.", "evidence": ["a.md:3: The magic number is 42."]}"#;
    match strategy {
        "repl" => {
            let cell = "```repl\nFINAL('It is 42.', cite=grep('magic'))\n```";
            ModelServer::start_blocking([to_all().reply(cell).usage(100, 20)])
        }
        "map" | "hybrid" => ModelServer::start_blocking([
            when(|prompt| prompt.contains("final part of a report"))
                .reply("## Summary\n\nSee [F1].")
                .usage(100, 20),
            when(|prompt| prompt.contains("You combine")).reply("## Summary\n\nSee [F1].").usage(100, 20),
            to_all().reply(finding).usage(100, 20),
        ]),
        "agent" => ModelServer::start_blocking([
            when(|prompt| prompt.contains("evidence 1 recorded"))
                .reply("")
                .tool_call("Finish", finish)
                .usage(100, 20),
            when(|_| true).reply("").tool_call("Evidence", fact).usage(100, 20),
        ]),
        _ => answering(REPLY),
    }
}

/// The fields common to every result, one per line.
fn shown(scene: &Scene, stdout: &str) -> String {
    let result = scene.normalise_json(stdout);
    let mut text = String::new();
    for name in ["success", "answer", "evidence", "metrics", "errors", "error"] {
        assert!(result.get(name).is_some(), "{name} is missing: {result}");
        let Some(rows) = result[name].as_array() else {
            text += &format!("  {name}: {}\n", result[name]);
            continue;
        };
        text += &format!("  {name}:\n");
        for row in rows {
            text += &format!("    {row}\n");
        }
    }
    text
}

#[test]
fn every_strategy_tells_all_of_it() {
    let mut told = String::new();
    for strategy in ["direct", "search", "repl", "map", "hybrid", "agent"] {
        let (scene, server) = (Scene::new(&NOTE), server(strategy));
        let args = ["ask", QUESTION, "notes", "--json", "--strategy", strategy];
        let ran = scene.spelunk(args).arg("--set=limits.calls_parallel_max=1").server(&server).run();
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        told += &format!("{strategy}\n{}", shown(&scene, &ran.stdout));
        // The result read from the journal is the same.
        let run = scene.only_run();
        let again = scene.spelunk(["resume", &run, "--json"]).server(&server).run();
        assert_eq!(shown(&scene, &again.stdout), shown(&scene, &ran.stdout), "{strategy}");
    }
    expect![[r###"
        direct
          success: true
          answer: "The magic number is 42."
          evidence:
            {"document":"a.md","found":"exact","is":"citation","line":3,"quote":"The magic number is 42."}
          metrics: {"active_ms":0,"calls":1,"calls_cached":0,"calls_failed":0,"cells":0,"cost_microusd":0,"frames":1,"resumed":0,"retries":0,"tokens":120,"tools":{}}
          errors:
          error: null
        search
          success: true
          answer: "The magic number is 42."
          evidence:
            {"document":"a.md","found":"exact","is":"citation","line":3,"quote":"The magic number is 42."}
          metrics: {"active_ms":0,"calls":2,"calls_cached":0,"calls_failed":0,"cells":0,"cost_microusd":0,"frames":1,"resumed":0,"retries":0,"tokens":240,"tools":{}}
          errors:
          error: null
        repl
          success: true
          answer: "It is 42."
          evidence:
            {"document":"a.md","found":"exact","is":"citation","line":3,"quote":"The magic number is 42."}
          metrics: {"active_ms":0,"calls":1,"calls_cached":0,"calls_failed":0,"cells":1,"cost_microusd":0,"frames":1,"resumed":0,"retries":0,"tokens":120,"tools":{}}
          errors:
          error: null
        map
          success: true
          answer: "## Summary\n\nSee (a.md:3).\n\n## Per-File Findings\n\n### a.md (prose)\n\n- **low** data, line 3: It is 42 — “The magic number is 42.”\n\n## Coverage\n\n- 1 document, read in 1 task"
          evidence:
            {"document":"a.md","found":"exact","is":"citation","line":3,"quote":"The magic number is 42."}
          metrics: {"active_ms":0,"calls":2,"calls_cached":0,"calls_failed":0,"cells":0,"cost_microusd":0,"frames":3,"resumed":0,"retries":0,"tokens":240,"tools":{}}
          errors:
          error: null
        hybrid
          success: true
          answer: "## Summary\n\nSee (a.md:3).\n\n## Per-File Findings\n\n### a.md (prose)\n\n- **low** data, line 3: It is 42 — “The magic number is 42.”\n\n## Coverage\n\n- 1 document, read in 1 task"
          evidence:
            {"document":"a.md","found":"exact","is":"citation","line":3,"quote":"The magic number is 42."}
          metrics: {"active_ms":0,"calls":2,"calls_cached":0,"calls_failed":0,"cells":0,"cost_microusd":0,"frames":3,"resumed":0,"retries":0,"tokens":240,"tools":{}}
          errors:
          error: null
        agent
          success: true
          answer: "It is 42."
          evidence:
            {"document":"a.md","found":"exact","is":"citation","line":3,"quote":"The magic number is 42."}
            {"content":"It is 42.","is":"fact","metadata":null,"source":"input/contexts/a.md:3","tag":"number"}
          metrics: {"active_ms":0,"calls":2,"calls_cached":0,"calls_failed":0,"cells":0,"cost_microusd":0,"frames":1,"resumed":0,"retries":0,"tokens":240,"tools":{"Evidence":1,"Finish":1}}
          errors:
          error: null
    "###]].assert_eq(&told);
}

#[test]
fn a_run_without_an_answer_tells_what_went_wrong() {
    let mut told = String::new();
    for (strategy, setting) in [("direct", "limits.calls_max=0"), ("agent", "limits.calls_max=1")] {
        let (scene, server) = (Scene::new(&NOTE), server(strategy));
        let args = ["ask", QUESTION, "notes", "--json", "--strategy", strategy, "--set", setting];
        let ran = scene.spelunk(args).server(&server).run();
        told += &format!("{strategy} {}\n{}", ran.code, shown(&scene, &ran.stdout));
    }
    let scene = Scene::new(&NOTE);
    let refusing = ModelServer::start_blocking([to_all().reply("no").usage(1, 1)]);
    let schema = json!({ "type": "object", "required": ["n"], "properties": { "n": { "type": "integer" } } });
    scene.write("schema.json", schema.to_string().as_bytes());
    let args = ["ask", QUESTION, "notes", "--json", "--schema", "schema.json", "--strategy", "repl"];
    let ran = scene.spelunk(args).arg("--set=limits.turns_max=2").server(&refusing).run();
    told += &format!("repl with a schema {}\n{}", ran.code, shown(&scene, &ran.stdout));
    expect![[r#"
        direct 3
          success: false
          answer: null
          evidence:
          metrics: {"active_ms":0,"calls":0,"calls_cached":0,"calls_failed":0,"cells":0,"cost_microusd":0,"frames":1,"resumed":0,"retries":0,"tokens":0,"tools":{}}
          errors:
            {"call":null,"code":"calls-exhausted","frame":"0","message":"The run has reached its call limit.","seq":7}
          error: {"causes":[],"code":"calls-exhausted","hint":"raise it with `--set limits.calls_max=1`","message":"call limit reached (0)"}
        agent 3
          success: false
          answer: null
          evidence:
          metrics: {"active_ms":0,"calls":1,"calls_cached":0,"calls_failed":0,"cells":0,"cost_microusd":0,"frames":1,"resumed":0,"retries":0,"tokens":120,"tools":{}}
          errors:
            {"call":null,"code":"calls-exhausted","frame":"0","message":"The run has reached its call limit.","seq":11}
          error: {"causes":[],"code":"calls-exhausted","hint":"raise it with `--set limits.calls_max=2`","message":"call limit reached (1)"}
        repl with a schema 1
          success: false
          answer: null
          evidence:
          metrics: {"active_ms":0,"calls":3,"calls_cached":0,"calls_failed":0,"cells":0,"cost_microusd":0,"frames":1,"resumed":0,"retries":0,"tokens":6,"tools":{}}
          errors:
            {"call":null,"code":"answer-invalid","frame":"0","message":"no answer: the answer does not match the schema: it is not JSON","seq":10}
          error: {"causes":[],"code":"answer-invalid","hint":"loosen the schema, or choose a stronger model","message":"no answer: the answer does not match the schema: it is not JSON"}
    "#]].assert_eq(&told);
}

#[test]
fn with_json_every_command_prints_one_value() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    scene.answered(&server);
    let mut shown = String::new();
    for args in [
        ["--quiet", "--json"].as_slice(),
        &["gc", "--json"],
        &["trust", "--json"],
        &["tools", "list", "--json"],
        &["repair", "rlm-", "--json"],
        &["show", "--json", "--call", "0#0"],
        &["show", "--json", "--at", "x"],
        &["shwo", "--json"],
    ] {
        let ran = scene.spelunk(args.iter().copied()).run();
        let mut value = scene.normalise_json(&ran.stdout);
        // The prompt is long, and another test shows it.
        for part in value.get_mut("prompt").and_then(Value::as_array_mut).into_iter().flatten() {
            part["text"] = json!(part["text"].as_str().map(str::len) > Some(100));
        }
        shown += &format!("{} {value}\n", ran.code);
    }
    expect![[r#"
        0 {"model":null,"runs":1,"version":"0.1.0"}
        0 {"blobs_kept":0,"bytes_removed":0,"dry_run":false,"files_removed":0}
        0 {"runs":1,"was_trusted":true,"workspace":"DIR/work/.spelunk"}
        0 []
        0 {"bytes_cut":0,"events_kept":9,"kept_in":null,"run":"RUN"}
        0 {"call":"0#0","error":null,"prompt":[{"speaker":"system","text":true},{"speaker":"user","text":true}],"reply":"The magic number is 42.\n\n```evidence\na.md:3: The magic number is 42.\n```"}
        2 {"error":{"causes":[],"code":"usage-wrong","hint":"see `spelunk help`","message":"invalid value 'x' for '--at <SEQ>': invalid digit found in string"}}
        2 {"error":{"causes":[],"code":"usage-wrong","hint":"see `spelunk help`","message":"unrecognized subcommand 'shwo'"}}
    "#]]
    .assert_eq(&shown);
}
