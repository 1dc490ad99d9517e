//! A whole directory on the command line: analysts, one report, and on a repeat only what changed.

use expect_test::expect;
use serde_json::{Value, json};
use spelunk_testkit::{ModelServer, when};

use crate::scene::{Scene, answering, n_calls, to_all};

const FILES: [(&str, &str); 3] = [
    ("service/login.py", "import db\n\ndef login(name):\n    return db.run('select ' + name)\n"),
    ("service/report.py", "def report(rows):\n    print(rows)\n"),
    ("service/settings.toml", "debug = true\n"),
];

const QUESTION: &str = "Review this service for security problems";

fn reviewer() -> ModelServer {
    let injection = r#"{"type": "vulnerability", "summary": "SQL is built from input", "file": "login.py", "line": 4, "evidence": "db.run('select ' + name)", "scope": "function:login", "severity": "high"}"#;
    let debug = r#"{"type": "data", "summary": "Debugging is on", "line": 1, "evidence": "debug = true", "severity": "low"}"#;
    ModelServer::start_blocking([
        when(|prompt| prompt.contains("You prepare a search")).reply("What is insecure?\npassword").usage(10, 5),
        when(|prompt| prompt.contains("fact or overview")).reply("overview").usage(10, 1),
        when(|prompt| prompt.contains("final part of a report"))
            .reply("## Summary\n\nOne hole [F1] and one careless setting [F2].\n\n## Recommendations\n\nUse parameters.")
            .usage(300, 30),
        when(|prompt| prompt.contains("You combine")).reply("## Summary\n\nSee [F1].").usage(200, 20),
        when(|prompt| prompt.contains("login.py")).reply(format!("[{injection}]")).usage(100, 10),
        when(|prompt| prompt.contains("report.py")).reply("[]").usage(50, 5),
        when(|prompt| prompt.contains("debug = ")).reply(format!("[{debug}]")).usage(100, 10),
    ])
}

#[test]
fn a_directory_is_read_by_analysts_and_one_report_comes_of_it() {
    let (scene, server) = (Scene::new(&FILES), reviewer());
    let arguments = ["ask", QUESTION, "service", "--strategy", "map", "--focus", "security"];
    let ask = || scene.spelunk(arguments).arg("--set=limits.calls_parallel_max=1").server(&server);
    ask().run().check(&expect![[r#"
        ## Summary

        One hole (login.py:4) and one careless setting (settings.toml:1).

        ## Per-File Findings

        ### login.py (source_code)

        - **high** vulnerability, line 4 `function:login`: SQL is built from input — “db.run('select ' + name)”

        ### settings.toml (config)

        - **low** data, line 1: Debugging is on — “debug = true”

        ## Recommendations

        Use parameters.

        ## Coverage

        - 3 documents, read in 2 tasks
          login.py:4       db.run('select ' + name)
          settings.toml:1  debug = true
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        task 1/2 complete: 1 finding (1 low): settings.toml
        task 2/2 complete: 1 finding (1 high): report.py and 1 other
        3 files · 111 B read · 5 calls · 990 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
    // Nothing has changed, so nothing is asked.
    let n_asked = n_calls(&server);
    let again = ask().run();
    assert!(again.stdout.contains("- 3 documents, all covered by earlier runs"), "{}", again.stdout);
    assert_eq!(n_calls(&server), n_asked);
    // One file has changed.
    scene.write("service/report.py", b"def report(rows):\n    return rows\n");
    ask().run().check(&expect![[r#"
        ## Summary

        One hole (login.py:4) and one careless setting (settings.toml:1).

        ## Per-File Findings

        ### login.py (source_code)

        - **high** vulnerability, line 4 `function:login`: SQL is built from input — “db.run('select ' + name)”

        ### settings.toml (config)

        - **low** data, line 1: Debugging is on — “debug = true”

        ## Recommendations

        Use parameters.

        ## Coverage

        - 3 documents, read in 1 task
        - Parts covered by earlier runs: 2
          login.py:4       db.run('select ' + name)
          settings.toml:1  debug = true
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        task 1/1 complete: not relevant: report.py
        3 files · 34 B read of 111 B · 1 call, 3 from cache · 55 tokens · $0.00 · TIME · run SHORT3
        --- exit 0
    "#]]);
    assert_eq!(n_calls(&server), n_asked + 1, "the findings are the same, so the summaries are at hand");
    let changed = server.requests().iter().filter(|request| request.body.contains("return rows")).count();
    assert_eq!(changed, 1);
    assert_eq!(server.unexpected(), []);
}

#[test]
fn a_review_of_more_than_one_call_can_hold_is_read_by_analysts_without_being_told_to() {
    let long = format!(
        "debug = true\n{}",
        "# A comment that is of no interest to anybody who reads it.\n".repeat(1_400)
    );
    let (scene, server) = (Scene::new(&[FILES[0], ("service/settings.toml", &long)]), reviewer());
    let ask = scene.spelunk(["ask", QUESTION, "service"]).arg("--set=limits.calls_parallel_max=1");
    ask.server(&server).run().check(&expect![[r#"
        ## Summary

        One hole (login.py:4) and one careless setting (settings.toml:1).

        ## Per-File Findings

        ### login.py (source_code)

        - **high** vulnerability, line 4 `function:login`: SQL is built from input — “db.run('select ' + name)”

        ### settings.toml (config)

        - **low** data, line 1: Debugging is on — “debug = true”

        ## Recommendations

        Use parameters.

        ## Coverage

        - 2 documents, read in 2 tasks
          login.py:4       db.run('select ' + name)
          settings.toml:1  debug = true
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        map: the question asks for an overview of the whole text
        task 1/2 complete: 1 finding (1 low): settings.toml
        task 2/2 complete: 1 finding (1 high): login.py
        2 files · 84.0 kB read · 8 calls · 1.0k tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
    assert_eq!(server.unexpected(), []);
}

#[test]
fn a_schema_is_kept_by_a_strategy_that_answers_in_words() {
    let scene = Scene::new(&[FILES[0], ("schema.json", "{\"type\": \"object\"}")]);
    let server = ModelServer::start_blocking([
        when(|prompt| prompt.contains("You write an answer as JSON")).reply("{\"is\": \"a service\"}"),
        to_all().reply("It is a service."),
    ]);
    let arguments = ["ask", "What is it?", "service", "--strategy", "direct", "--schema", "schema.json"];
    let ran = scene.spelunk(arguments).server(&server).run();
    assert_eq!(
        (ran.stdout.as_str(), n_calls(&server)),
        ("{\n  \"is\": \"a service\"\n}\n", 2),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_focus_that_is_none_is_refused_with_those_there_are() {
    let scene = Scene::new(&FILES);
    scene.spelunk(["ask", QUESTION, "service", "--focus", "beauty"]).run().check(&expect![[r#"
        --- stderr
        error: there is no focus `beauty`

        hint: choose one of general, security, architecture, performance, data
        --- exit 2
    "#]]);
}

#[test]
fn hybrid_reads_what_shares_words_with_the_question_or_means_something_near() {
    let filler = |word: &str| format!("{word}\n").repeat(300);
    let with_filler = |text: &str, word: &str| format!("{text}\n\n# Other\n\n{}", filler(word));
    let words = "# Notes\n\nThe password must be changed each year.";
    let near = "# Signing in\n\nUsers authenticate with a secret phrase that they renew annually.";
    let files = [
        ("docs/words.md", with_filler(words, "stone")),
        ("docs/near.md", with_filler(near, "tree")),
        ("docs/far.md", filler("river")),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let scene = Scene::new(&files);
    let server = ModelServer::start_blocking([when(|_| true).reply("[]")]);
    let question = "How often do people have to update the password they log in with?";
    let ask = |strategy: &'static str| {
        let arguments = ["ask", question, "docs", "--strategy", strategy, "--set=limits.small_lines_max=10"];
        assert_eq!(scene.spelunk(arguments).server(&server).run().code, 0);
        let mut read: Vec<String> = Vec::new();
        for request in server.requests() {
            let text = request.prompt();
            read.extend(
                ["words.md", "near.md", "far.md"]
                    .map(str::to_owned)
                    .into_iter()
                    .filter(|name| text.contains(name.as_str())),
            );
        }
        read.sort();
        read.dedup();
        read
    };
    assert_eq!(ask("hybrid"), ["near.md", "words.md"]);
    assert_eq!(ask("map"), ["far.md", "near.md", "words.md"]);
}

#[test]
fn s1_01_types_and_plain_splitting_hold_for_the_run_as_for_the_plan() {
    let scene = Scene::new(&[("src/a.inc", "value 1\n"), ("src/b.md", "# B\n")]);
    let server = answering(r#"{"relevant": false, "findings": []}"#);
    let types = |flags: &[&str]| {
        let asked = scene.spelunk(["ask", "Review it", "src", "--strategy", "map", "--no-cache"]);
        let ran = flags.iter().fold(asked, |asked, flag| asked.arg(flag)).server(&server).run();
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let run = scene.runs().pop().unwrap();
        let metadata: Value =
            serde_json::from_str(&scene.read(&format!(".spelunk/runs/{run}/metadata.json"))).unwrap();
        metadata["context"]["content_types"].clone()
    };
    assert_eq!(types(&[]), json!(["prose", "unknown"]));
    assert_eq!(types(&["--type", "*.inc=source_code"]), json!(["prose", "source_code"]));
    let ran = scene.spelunk(["ask", "x", "src", "--type", "*.inc=sauce_code"]).server(&server).run();
    ran.check(&expect![[r#"
        --- stderr
        error: there is no content type `sauce_code`

        hint: did you mean `source_code`? the types are source_code, structured_data, json, jsonl, log, prose, markup, config, unknown
        --- exit 2
    "#]]);
    let scene = Scene::new(&[("long.md", &"some words on a line\n".repeat(4000))]);
    let tasks = |flags: &[&str]| {
        let asked = scene.spelunk(["ask", "Review it", "long.md", "--strategy", "map", "--no-cache"]);
        let ran = flags.iter().fold(asked, |asked, flag| asked.arg(flag)).server(&server).run();
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let run = scene.runs().pop().unwrap();
        std::fs::read_dir(scene.path(&format!(".spelunk/runs/{run}/tasks"))).unwrap().count()
    };
    assert_eq!((tasks(&[]), tasks(&["--plain"])), (16, 12));
}
