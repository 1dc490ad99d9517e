//! Reports: the same run as Markdown, HTML, SARIF and JSON, and as files for other tools.

use std::collections::BTreeMap;
use std::path::Path;

use expect_test::{expect, expect_file};
use serde_json::Value;
use spelunk_testkit::{Gate, ModelServer, Rule, status, when};

use crate::scene::{NOTE, QUESTION, REPLY, Scene, answering, n_calls, short, to_all, wait_at, wait_for};

const LOGIN: &str = "import db\n\ndef login(name, password):\n    query = \"select * from users where name = '\" + name + \"'\"\n    return db.run(query)\n";
const FILES: [(&str, &str); 3] = [
    ("app/login.py", LOGIN),
    ("app/report.py", "def report(rows):\n    for row in rows:\n        print(row)\n"),
    ("app/settings.toml", "debug = true\nbind = \"0.0.0.0\"\n"),
];
const REVIEW: &str = "Review this service for security problems";

const CODE: &str = r#"{"relevant": true, "summary": "Login builds SQL by hand.", "findings": [
 {"type": "vulnerability", "summary": "The query is built from input", "file": "login.py", "line": 4,
  "evidence": "query = \"select * from users where name = '\" + name", "scope": "function:login",
  "severity": "high", "confidence": 0.9}]}"#;
const CONFIG: &str = r#"{"relevant": true, "summary": "Debugging is on.", "findings": [
 {"type": "data", "summary": "Debugging is on", "line": 1, "evidence": "debug = true", "severity": "medium"},
 {"type": "insight", "summary": "It listens everywhere", "line": 2, "evidence": "bind = '0.0.0.0'", "severity": "low"}]}"#;

fn shows(text: &'static str) -> Rule {
    when(move |prompt| prompt.contains(text))
}

fn reviewer() -> ModelServer {
    ModelServer::start_blocking([
        shows("<summary of=")
            .reply("## Summary\n\nChange the **query** [F1] and the settings [F2].\n\n## Recommendations\n\n1. Use parameters.\n2. Set `debug` to false."),
        shows("[F1]").reply("## Summary\n\nInput reaches the database [F1]."),
        shows("[F2]").reply("## Summary\n\nThese are settings of a test machine [F2]."),
        shows("<document name=\"login.py\">").reply(CODE).usage(100, 20),
        shows("<document name=\"settings.toml\">").reply(CONFIG).usage(100, 20),
    ])
}

/// A run of `map` over three files.
fn reviewed() -> (Scene, ModelServer) {
    let (scene, server) = (Scene::new(&FILES), reviewer());
    let ran = scene.spelunk(["ask", REVIEW, "app", "--strategy", "map", "-q"]).server(&server).run();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{:?}", server.unexpected());
    (scene, server)
}

#[test]
fn every_face_says_how_much_was_read() {
    let scene = Scene::new(&FILES);
    let server = ModelServer::start_blocking([
        shows("[F1]").reply("## Summary\n\nInput reaches the database [F1]."),
        shows("<document name=\"login.py\">").reply(CODE).usage(100, 20),
        shows("<document name=\"settings.toml\">").always(status(500)),
    ]);
    let ask = scene.spelunk(["ask", REVIEW, "app", "--strategy", "map", "--set=limits.retries_max=0"]);
    let ran = ask.server(&server).run();
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    let (n_read, n_all) =
        (FILES[0].1.len() + FILES[1].1.len(), FILES.iter().map(|file| file.1.len()).sum::<usize>());
    let told = format!("2 of 3 files · {n_read} B read of {n_all} B");
    assert!(ran.stderr.contains(&told), "{}", ran.stderr);
    assert!(ran.stdout.contains("- 2 of 3 documents read in full, in 1 of 2 tasks\n"), "{}", ran.stdout);
    let run = scene.only_run();
    let export = |format| scene.spelunk(["run", "export", &run, "--format", format]).run().stdout;
    assert!(export("md").contains(&format!("| read | {told} · 1 of 2 tasks |")), "{}", export("md"));
    assert!(export("html").contains(&told.replace(" · ", ", ")), "{}", export("html"));
    let (json, sarif): (Value, Value) =
        (serde_json::from_str(&export("json")).unwrap(), serde_json::from_str(&export("sarif")).unwrap());
    let shown: Value = serde_json::from_str(&scene.spelunk(["show", &run, "--json"]).run().stdout).unwrap();
    for coverage in [&json["coverage"], &sarif["runs"][0]["properties"]["coverage"], &shown] {
        let numbers = ["documents_read", "bytes_read", "documents"].map(|name| coverage[name].as_u64());
        assert_eq!(numbers, [Some(2), Some(n_read as u64), Some(3)], "{coverage}");
    }
}

/// A report without what differs between executions.
fn fixed(scene: &Scene, text: &str) -> String {
    let mut shown = String::new();
    for line in scene.normalise(text).split_inclusive('\n') {
        let is_time = line.trim_start().starts_with("\"active_ms\"");
        shown += if is_time { "\"active_ms\": 0\n" } else { line };
    }
    let chars: Vec<char> = shown.chars().collect();
    let mut fixed = String::new();
    let mut at = 0;
    while at < chars.len() {
        let rest = &chars[at..];
        match ["dddd-dd-ddTdd:dd:dd.dddZ", "dddd-dd-dd dd:dd"]
            .into_iter()
            .find(|shape| has_shape(rest, shape))
        {
            Some(shape) => {
                fixed += "MOMENT";
                at += shape.len();
            }
            None => {
                fixed.push(chars[at]);
                at += 1;
            }
        }
    }
    fixed
}

fn has_shape(chars: &[char], shape: &str) -> bool {
    chars.len() >= shape.len()
        && shape.chars().zip(chars).all(|(want, c)| if want == 'd' { c.is_ascii_digit() } else { want == *c })
}

fn exported(scene: &Scene, format: &'static str) -> String {
    let ran = scene.spelunk(["run", "export", "--format", format]).run();
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    ran.stdout
}

#[test]
fn a_run_is_reported_in_every_format() {
    let (scene, _server) = reviewed();
    let checked = |format| fixed(&scene, &exported(&scene, format));
    expect_file!["golden/report.md"].assert_eq(&checked("md"));
    expect_file!["golden/report.json"].assert_eq(&checked("json"));
    expect_file!["golden/report.sarif"].assert_eq(&checked("sarif"));
    let html = checked("html");
    let (head, body) = html.split_once("</style>").unwrap();
    expect_file!["golden/report.html"].assert_eq(body);
    assert!(head.contains("Content-Security-Policy"));
    for outside in ["src=", "url(", "@import", "<script", "http://", "https://"] {
        assert!(!html.contains(outside), "{outside}");
    }
}

#[test]
fn sarif_says_what_code_hosts_ask_for() {
    let (scene, _server) = reviewed();
    let sarif: Value = serde_json::from_str(&exported(&scene, "sarif")).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    let run = &sarif["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 3);
    for result in results {
        let rule = &rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
        assert_eq!(rule["id"], result["ruleId"]);
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
        let place = &result["locations"][0]["physicalLocation"];
        let uri = place["artifactLocation"]["uri"].as_str().unwrap();
        // File names are relative to the current directory.
        let lines = std::fs::read_to_string(scene.path(uri)).unwrap();
        let region = &place["region"];
        let line = usize::try_from(region["startLine"].as_u64().unwrap()).unwrap();
        assert_eq!(region["snippet"]["text"].as_str(), lines.lines().nth(line - 1));
        assert_eq!(result["partialFingerprints"]["spelunkFinding/v1"].as_str().unwrap().len(), 34);
    }
}

#[test]
fn ask_writes_the_reports_that_are_named() {
    let (scene, server) = (Scene::new(&FILES), reviewer());
    let ask = scene.spelunk([
        "ask",
        REVIEW,
        "app",
        "--strategy",
        "map",
        "--report",
        "r.html",
        "--report",
        "r.sarif.json",
        "--report",
        "r.json",
        "--report",
        "r.md",
    ]);
    let ran = ask.server(&server).run();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("report: r.html ("), "{}", ran.stderr);
    for (name, format) in [("r.html", "html"), ("r.sarif.json", "sarif"), ("r.json", "json"), ("r.md", "md")]
    {
        assert_eq!(scene.read(name), exported(&scene, format), "{name}");
    }
    let ran = scene.spelunk(["run", "export", "-o", "again.html", "--json"]).run();
    assert_eq!(ran.code, 0);
    assert_eq!(scene.read("again.html"), scene.read("r.html"));
}

#[test]
fn a_report_that_cannot_be_written_is_refused_before_anything_is_spent() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    scene.ask(&server).arg("--report").arg("r.pdf").run().check(&expect![[r"
        --- stderr
        error: the file name `r.pdf` does not determine a report format

        hint: use the extension .md, .html, .sarif or .json
        --- exit 2
    "]]);
    scene.ask(&server).arg("--report").arg("nowhere/r.md").run().check(&expect![[r"
        --- stderr
        error: the directory of `nowhere/r.md` does not exist

        hint: choose a file in an existing directory
        --- exit 2
    "]]);
    assert_eq!(n_calls(&server), 0);
    assert!(!scene.exists(".spelunk"));
    scene.answered(&server);
    scene.spelunk(["run", "export", "--format", "pdf"]).run().check(&expect![[r"
        --- stderr
        error: there is no format `pdf`

        hint: choose one of md, html, sarif, json, workspace
        --- exit 2
    "]]);
    scene.spelunk(["run", "export", "--output", "r.pdf"]).run().check(&expect![[r"
        --- stderr
        error: the file name `r.pdf` does not determine a report format

        hint: choose one with `--format`, or use the extension .md, .html, .sarif or .json
        --- exit 2
    "]]);
}

#[test]
fn hostile_names_quotes_and_summaries_stay_text() {
    const NAME: &str = "app/<script>alert(1)<&\"'.py";
    let scene = Scene::new(&[(NAME, "a = '</pre><script>alert(2)</script>'\n")]);
    let code = serde_json::json!({ "relevant": true, "summary": "</title><script>alert(3)</script>", "findings": [{
        "type": "bug\"><script>", "summary": "</h4><img src=x onerror=alert(4)>", "line": 1, "severity": "high",
        "evidence": "</pre><script>alert(2)</script>", "scope": "<iframe>" }] });
    let server = ModelServer::start_blocking([
        shows("[F1]").reply("## Summary\n\n<script>alert(5)</script> [F1] [x](javascript:alert(6))"),
        shows("<document name=").reply(code.to_string()),
    ]);
    let ask = scene.spelunk(["ask", "<script>why?</script>", "app", "--strategy", "map", "-q"]);
    assert_eq!(ask.server(&server).run().code, 0);
    let html = exported(&scene, "html");
    for bad in ["<script", "<img", "<iframe", "</pre><", "<h4></h4>", "href=\"javascript"] {
        let n_own = if bad == "</pre><" { 0 } else { html.matches(bad).count() };
        assert_eq!(n_own, 0, "{bad} in {html}");
    }
    assert!(html.contains("&lt;img src=x onerror=alert(4)&gt;"), "{html}");
    let sarif: Value = serde_json::from_str(&exported(&scene, "sarif")).unwrap();
    let uri = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(uri, "app/%3Cscript%3Ealert%281%29%3C%26%22%27.py");
}

#[test]
fn sources_that_changed_are_not_shown_as_if_they_had_not() {
    let (scene, _server) = reviewed();
    scene.write("app/login.py", format!("# a new first line\n{LOGIN}").as_bytes());
    let html = exported(&scene, "html");
    assert!(html.contains("the sources have changed since; 2 of 5 locations remain"), "{html}");
    assert!(!html.contains("a new first line"));
    std::fs::remove_dir_all(scene.path("app")).unwrap();
    let html = exported(&scene, "html");
    assert!(html.contains("the sources could not be read again"), "{html}");
    assert!(html.contains("The query is built from input"));
}

/// Every derived file below a directory.
fn derived(root: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
                continue;
            }
            let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
            if !["journal.jsonl", "prompts.pack", "run.lock"].contains(&name.as_str()) {
                files.insert(name, std::fs::read_to_string(&path).unwrap());
            }
        }
    }
    files
}

#[test]
fn the_files_of_a_run_are_written_live_and_again_from_its_journal_byte_for_byte() {
    let (scene, _server) = reviewed();
    let home = scene.path(".spelunk/runs").join(scene.only_run());
    let live = derived(&home);
    expect![[r#"
        chunks/chunk_0001.txt
        chunks/chunk_0002.txt
        chunks/manifest.json
        context.txt
        final_answer.md
        input/documents.txt
        input/prompt.md
        metadata.json
        output/answer.md
        results/synth-all.json
        results/synth-code.json
        results/synth-config.json
        results/worker_0001.json
        results/worker_0002.json
        state/errors.jsonl
        state/evidence.jsonl
        state/job.json
        state/metrics.json
        tasks/synth-all.md
        tasks/synth-code.md
        tasks/synth-config.md
        tasks/task_0001.md
        tasks/task_0002.md
    "#]]
    .assert_eq(&live.keys().map(|name| format!("{name}\n")).collect::<Vec<_>>().concat());
    let ran = scene.spelunk(["run", "export", "--format", "workspace", "--output", "out"]).run();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(derived(&scene.path("out")), live);
    for name in live.keys() {
        std::fs::remove_file(home.join(name)).unwrap();
    }
    assert_eq!(scene.spelunk(["run", "export", "--format", "workspace"]).run().code, 0);
    assert_eq!(derived(&home), live);
    assert_eq!(live["final_answer.md"], live["output/answer.md"]);
    // Analysts finish in any order.
    let shown = |name: &str| match name.strip_suffix(".jsonl") {
        None => fixed(&scene, &live[name]),
        Some(_) => {
            let mut lines: Vec<String> = live[name].lines().map(without_seq).collect();
            lines.sort();
            fixed(&scene, &lines.concat())
        }
    };
    let whole: String = [
        "metadata.json",
        "context.txt",
        "chunks/manifest.json",
        "tasks/task_0002.md",
        "state/evidence.jsonl",
    ]
    .map(|name| format!("=== {name}\n{}", shown(name)))
    .concat();
    expect_file!["golden/projection.txt"].assert_eq(&whole);
    let worker: Value = serde_json::from_str(&live["results/worker_0002.json"]).unwrap();
    assert_eq!(worker["results"]["findings"][0]["type"], "vulnerability");
    assert_eq!(worker["metadata"]["confidence"], 0.9);
}

#[test]
fn the_files_are_there_while_the_run_goes_on_and_right_after_a_crash_and_a_resume() {
    let gate = Gate::new();
    let server = ModelServer::start_blocking([to_all().reply(REPLY).gate(&gate).usage(100, 20)]);
    let scene = Scene::new(&NOTE);
    let mut child = scene.ask(&server).start();
    wait_at(&gate, &server);
    let home = scene.path(".spelunk/runs").join(scene.only_run());
    let status = || {
        let text = std::fs::read_to_string(home.join("metadata.json")).ok()?;
        let metadata: Value = serde_json::from_str(&text).unwrap();
        metadata["processing"]["status"].as_str().map(str::to_owned)
    };
    assert_eq!(wait_for("metadata.json", status), "active");
    assert!(!home.join("final_answer.md").exists());
    child.kill().unwrap();
    child.wait().unwrap();
    std::fs::write(home.join("state/evidence.jsonl"), "a torn li").unwrap();
    gate.open();
    assert_eq!(scene.spelunk(["resume", "-q"]).server(&server).run().code, 0);
    let live = derived(&home);
    assert_eq!(status().as_deref(), Some("complete"));
    assert_eq!(live["state/evidence.jsonl"].lines().count(), 1);
    assert_eq!(scene.spelunk(["run", "export", "--format", "workspace", "-o", "out"]).run().code, 0);
    assert_eq!(derived(&scene.path("out")), live);
}

fn without_seq(line: &str) -> String {
    let mut line: Value = serde_json::from_str(line).unwrap();
    line["seq"] = 0.into();
    format!("{line}\n")
}

#[cfg(unix)]
#[test]
fn the_files_of_a_run_are_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let (scene, _server) = reviewed();
    let home = scene.path(".spelunk/runs").join(scene.only_run());
    for name in ["metadata.json", "results/worker_0001.json", "state/evidence.jsonl"] {
        assert_eq!(home.join(name).metadata().unwrap().permissions().mode() & 0o777, 0o600, "{name}");
    }
    for name in ["results", "state"] {
        assert_eq!(home.join(name).metadata().unwrap().permissions().mode() & 0o777, 0o700, "{name}");
    }
}

#[test]
fn a_run_that_died_anywhere_can_be_reported() {
    let (scene, _server) = reviewed();
    let journal = std::fs::read_to_string(scene.journal_path(&scene.only_run())).unwrap();
    let n_lines = journal.lines().count();
    assert!(n_lines > 20);
    for n_kept in (1..n_lines).step_by(4) {
        let mut kept: String = journal.split_inclusive('\n').take(n_kept).collect();
        kept += "{\"torn\":";
        let run = "rlm-20260101T000000Z-0000000a";
        scene.write(&format!(".spelunk/runs/{run}/journal.jsonl"), kept.as_bytes());
        for format in ["md", "html", "sarif", "json", "workspace"] {
            let ran = scene.spelunk(["run", "export", "0000000a", "--format", format]).run();
            assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{format} after {n_kept} events");
        }
    }
}

#[test]
fn a_run_without_findings_is_reported_too() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let run = scene.answered(&server);
    let html = exported(&scene, "html");
    assert!(html.contains("<mark><span class=\"no\">    3</span> The magic number is 42.</mark>"), "{html}");
    let home = scene.path(".spelunk/runs").join(&run);
    let files = derived(&home);
    assert_eq!(files["final_answer.md"], "The magic number is 42.\n");
    assert_eq!(files["input/prompt.md"], format!("{QUESTION}\n"));
    let ran = scene.spelunk(["run", "export", short(&run), "--format", "workspace", "-o", "out"]).run();
    assert_eq!(ran.code, 0);
    assert_eq!(derived(&scene.path("out")), files);
}
