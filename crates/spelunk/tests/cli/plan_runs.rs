//! The forecast of `plan` compared with what `ask` then does, over twenty different folders: the same files, the same
//! tasks, and calls, tokens and cost within the forecast.

use std::fmt::Write as _;

use serde_json::Value;
use spelunk_testkit::{ModelServer, when};

use crate::scene::Scene;

const PRICES: [&str; 2] =
    ["--set=model.price_input_usd_per_mtok=3", "--set=model.price_output_usd_per_mtok=15"];
const QUESTIONS: [&str; 4] = [
    "Review this for problems",
    "How many requests failed?",
    "What is all of this about, and who wrote it?",
    "Compare the parts with each other",
];

/// A file of the `kind`-th type with `n_lines` lines.
fn file(kind: usize, n_lines: usize) -> (&'static str, String) {
    let mut text = String::new();
    let (extension, line): (_, fn(usize) -> String) = match kind % 8 {
        0 => ("py", |n| format!("def f{n}(x):\n    return x + {n}\n")),
        1 => ("md", |n| format!("## Part {n}\n\nSome words about part {n} and what it is for.\n")),
        2 => ("csv", |n| format!("{n},name {n},{}", n * 7 % 13)),
        3 => ("jsonl", |n| format!("{{\"id\": {n}, \"level\": \"info\", \"ms\": {}}}", n * 31 % 1000)),
        4 => ("log", |n| format!("2026-01-01T00:{:02}:{:02} ERROR request {n} failed", n / 60 % 60, n % 60)),
        5 => ("toml", |n| format!("key_{n} = {n}")),
        6 => ("txt", |n| format!("数据库连接超时，请稍后重试 {n}")),
        _ => ("rs", |n| format!("pub fn g{n}() -> u64 {{\n    {n}\n}}\n")),
    };
    for n in 1..=n_lines {
        writeln!(text, "{}", line(n)).unwrap();
    }
    (extension, text)
}

/// The `number`-th folder: more files or longer ones, of one type or of many.
fn corpus(number: usize) -> Scene {
    let scene = Scene::new(&[]);
    let n_files = [1, 2, 3, 7, 25, 41][number % 6];
    for idx in 0..n_files {
        let kind = if number.is_multiple_of(3) { number } else { number + idx };
        let n_lines = [1, 40, 300, 1_700][(number + idx * 5) % 4].min(12_000 / n_files);
        let (extension, text) = file(kind, n_lines);
        let folder = if idx % 4 == 3 { "docs/below" } else { "docs" };
        scene.write(&format!("{folder}/file-{idx:02}.{extension}"), text.as_bytes());
    }
    scene
}

/// Models that find nothing, that find much, and that have to be asked twice.
fn servers() -> [ModelServer; 3] {
    let finding = |n: usize| {
        let words = "what was seen there and why it matters to whoever reads this ".repeat(4);
        format!(r#"{{"type": "pattern", "summary": "{n}: {words}", "severity": "low"}}"#)
    };
    let one_file = (1..=30).map(finding).collect::<Vec<_>>().join(",");
    let much = format!(r#"{{"relevant": true, "answer": "Much of it.", "findings": [{one_file}]}}"#);
    let report = || when(|prompt| prompt.contains("<document name=")).reply(r#"{"relevant": false}"#);
    let summary = || when(|prompt| !prompt.is_empty()).reply("## Summary\n\nThere is something [F1].");
    [
        ModelServer::start_blocking([report(), summary()]),
        ModelServer::start_blocking([
            when(|prompt| prompt.contains("<document name=") && !prompt.contains("--- FILE 2")).reply(much),
            report(),
            summary(),
        ]),
        ModelServer::start_blocking([
            when(|prompt| prompt.contains("<document name=") && !prompt.contains("I would rather talk"))
                .reply("I would rather talk about it. ".repeat(100)),
            report(),
            summary(),
        ]),
    ]
}

/// The tasks of a plan, named as in a run.
fn planned_tasks(plan: &Value) -> Vec<String> {
    let label = |task: &Value| {
        let work = &task["work"];
        match work["files"].as_array().map(Vec::as_slice) {
            Some([only]) => only.as_str().unwrap().to_owned(),
            Some([first, other]) if other.is_string() => format!("{} and 1 other", first.as_str().unwrap()),
            Some([first, others @ ..]) => format!("{} and {} others", first.as_str().unwrap(), others.len()),
            Some([]) | None => {
                let (file, first, last) =
                    (work["file"].as_str().unwrap(), &work["line_start"], &work["line_end"]);
                if first == last {
                    format!("{file} line {first}")
                } else {
                    format!("{file} lines {first} to {last}")
                }
            }
        }
    };
    let mut tasks: Vec<String> = plan["tasks"].as_array().unwrap().iter().map(label).collect();
    tasks.sort();
    tasks
}

#[track_caller]
fn within(what: &str, least: &Value, actual: u64, most: &Value) {
    let (least, most) = (least.as_u64().unwrap(), most.as_u64().unwrap());
    assert!((least..=most).contains(&actual), "{what}: {actual} is not in {least} to {most}");
}

#[test]
fn a_run_reads_the_files_and_does_the_tasks_that_were_planned_for_the_price_that_was_forecast() {
    let servers = servers();
    for number in 0..20 {
        let (scene, server) = (corpus(number), &servers[number % 3]);
        let question = QUESTIONS[number % 4];
        let plan = scene.spelunk(["plan", "docs", "--json", "--query", question]);
        let plan = plan.arg(PRICES[0]).arg(PRICES[1]).server(server).run();
        let plan: Value = serde_json::from_str(&plan.stdout).unwrap();
        let ask = scene.spelunk(["ask", question, "docs", "--strategy", "map", "--json", "-q"]);
        let ran = ask.arg(PRICES[0]).arg(PRICES[1]).server(server).run();
        assert_eq!(ran.code, 0, "{number}: {}", ran.stderr);
        let result: Value = serde_json::from_str(&ran.stdout).unwrap();
        let journal = scene.read(&format!(".spelunk/runs/{}/journal.jsonl", result["run"].as_str().unwrap()));
        let events = journal.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let events: Vec<Value> = events.collect();
        let of = |name: &'static str| events.iter().filter(move |event| event["type"] == name);
        let mut tasks: Vec<String> =
            of("task.reported").map(|event| event["label"].as_str().unwrap().to_owned()).collect();
        tasks.sort();
        assert_eq!(tasks, planned_tasks(&plan), "{number}");
        let n_files = plan["manifest"].as_array().unwrap().len() as u64;
        assert_eq!(result["documents"], n_files, "{number}");
        assert_eq!(result["documents_read"], n_files, "{number}");
        let calls = result["calls"].as_u64().unwrap();
        within("calls", &plan["calls_at_least"], calls, &plan["calls_at_most"]);
        let (least, most) = (&plan["usage_at_least"], &plan["usage_at_most"]);
        for kind in ["input_tokens", "output_tokens"] {
            within(kind, &least[kind], result["usage"][kind].as_u64().unwrap(), &most[kind]);
        }
        let cost = result["usage"]["cost_microusd"].as_u64().unwrap();
        let own = &plan["reader"];
        within("cost", &own["cost_microusd_at_least"], cost, &own["cost_microusd_at_most"]);
    }
}

/// The plan and the run have the same cap.
#[test]
fn a_cap_on_files_holds_for_the_plan_and_for_the_run() {
    let (scene, servers) = (corpus(4), servers());
    let documents = |args: &[&'static str]| {
        let ran = scene.spelunk(args.iter().copied()).server(&servers[0]).run();
        let said: Value = serde_json::from_str(&ran.stdout).unwrap();
        said["documents"].as_u64().unwrap_or_else(|| said["manifest"].as_array().unwrap().len() as u64)
    };
    for (setting, expected) in [("--set=limits.files_max=0", 25), ("--set=limits.files_max=5", 5)] {
        let ask = ["ask", "Review it", "docs", "--strategy", "map", "--json", "-q", setting];
        assert_eq!(documents(&["plan", "docs", "--json", setting]), expected);
        assert_eq!(documents(&ask), expected);
    }
}
