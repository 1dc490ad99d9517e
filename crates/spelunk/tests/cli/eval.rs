//! Evaluations: tasks, trials, budgets, outages and reports, with the simulated reader and with a server.

use expect_test::expect;
use serde_json::Value;
use spelunk_testkit::{ModelServer, status};

use crate::scene::{Ran, Scene, answering, to_all};

const STRATEGIES: &str = "auto,direct,repl,search,map,whole";

fn with_tasks(kinds: &str, sizes: &str) -> Scene {
    let scene = Scene::new(&[]);
    let ran = scene
        .spelunk(["eval", "tasks", "--kind", kinds, "--tokens", sizes, "--seed", "2", "--out", "t"])
        .run();
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, format!("{}\n", scene.path("t/tasks.jsonl").display()).as_str())
    );
    scene
}

fn evaluate(scene: &Scene, more: &[&str]) -> Ran {
    let mut args = vec!["eval", "run", "--tasks", "t", "--out", "r.jsonl", "--parallel", "2"];
    args.extend(more);
    scene.spelunk(args).run()
}

fn lines(scene: &Scene) -> Vec<Value> {
    scene.read("r.jsonl").lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// One line per trial: task, strategy, status, score.
fn shown(scene: &Scene) -> Vec<String> {
    let trials = lines(scene).into_iter().filter(|line| line["task"].is_string());
    let mut shown: Vec<String> = trials
        .map(|trial| {
            let word = |name: &str| trial[name].as_str().unwrap_or_default().to_owned();
            format!(
                "{} {} {} {:.2}",
                word("task"),
                word("strategy"),
                word("status"),
                trial["score"].as_f64().unwrap()
            )
        })
        .collect();
    shown.sort();
    shown
}

/// The simulated reader recognizes roles by their prompts: a prompt that changed beyond recognition fails here.
#[test]
fn the_simulated_reader_answers_by_every_strategy() {
    let scene = with_tasks("needle:single,labels:count-easy,table:sum,absent", "2k");
    let ran = evaluate(
        &scene,
        &["--strategies", STRATEGIES, "--model", "sim", "--sim-slip-permille", "0", "--drop-runs"],
    );
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    expect![[r#"
        absent-number-2k-2 auto answered 1.00
        absent-number-2k-2 direct answered 1.00
        absent-number-2k-2 map answered 1.00
        absent-number-2k-2 repl answered 1.00
        absent-number-2k-2 search answered 1.00
        absent-number-2k-2 whole answered 1.00
        labels-count-easy-2k-2 auto answered 1.00
        labels-count-easy-2k-2 direct answered 1.00
        labels-count-easy-2k-2 map answered 1.00
        labels-count-easy-2k-2 repl answered 1.00
        labels-count-easy-2k-2 search answered 1.00
        labels-count-easy-2k-2 whole answered 1.00
        needle-single-2k-2 auto answered 1.00
        needle-single-2k-2 direct answered 1.00
        needle-single-2k-2 map answered 1.00
        needle-single-2k-2 repl answered 1.00
        needle-single-2k-2 search answered 1.00
        needle-single-2k-2 whole answered 1.00
        table-sum-2k-2 auto answered 1.00
        table-sum-2k-2 direct answered 1.00
        table-sum-2k-2 map answered 1.00
        table-sum-2k-2 repl answered 1.00
        table-sum-2k-2 search answered 1.00
        table-sum-2k-2 whole answered 1.00"#]]
    .assert_eq(&shown(&scene).join("\n"));
    assert!(!scene.exists("r.runs"));
    let again = evaluate(&scene, &["--strategies", STRATEGIES, "--model", "sim", "--sim-slip-permille", "0"]);
    assert!(again.stderr.starts_with("24 of 24 trials were already done\n"), "{}", again.stderr);
}

/// Too long for one call: analysts and sub-calls read the parts, and code combines the results.
#[test]
fn the_simulated_reader_decomposes_what_does_not_fit() {
    let scene = with_tasks("labels:count-read", "60k");
    let ran = evaluate(&scene, &["--strategies", "repl,whole", "--model", "sim"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let off: Vec<(String, f64)> = lines(&scene)
        .iter()
        .filter_map(|line| Some((line["strategy"].as_str()?.to_owned(), line["off"].as_f64()?)))
        .collect();
    for (strategy, off) in off {
        match strategy.as_str() {
            "repl" => assert!(off < 0.02, "{off}"),
            _ => assert!(off > 0.2, "{strategy} {off}"),
        }
    }
}

#[test]
fn a_budget_of_money_refuses_a_model_without_a_price() {
    let scene = with_tasks("needle:single", "2k");
    let command = ["--model", "command/x", "--set", "model.command=cat", "--budget-cost", "1"];
    let ran = evaluate(&scene, &command);
    let told =
        "error: no price is known for `command/x`, so `limits.cost_microusd_max` would have no effect\n";
    assert!(ran.code == 2 && ran.stderr.contains(told), "{}: {}", ran.code, ran.stderr);
    assert!(!scene.exists("r.jsonl"));
}

#[test]
fn a_budget_ends_early_and_says_so_and_the_same_command_goes_on() {
    let scene = with_tasks("needle:single,absent:number", "1k,2k");
    let sim = ["--strategies", "direct", "--model", "sim"];
    let first = evaluate(&scene, &[&sim[..], &["--budget-trials", "3"]].concat());
    assert_eq!(first.code, 3, "{}", first.stderr);
    assert_eq!(shown(&scene).len(), 3);
    assert_eq!(lines(&scene).last().unwrap().to_string(), r#"{"done":3,"note":"budget-trials","planned":4}"#);
    let report = scene.spelunk(["eval", "report", "r.jsonl", "--tasks", "t"]).run();
    assert!(
        report.stdout.contains("Partial: `r.jsonl` has 3 of 4 trials (budget-trials)."),
        "{}",
        report.stdout
    );
    // A line cut off by a crash does no harm.
    let torn = format!("{}{{\"engine\":\"spel", scene.read("r.jsonl"));
    scene.write("r.jsonl", torn.as_bytes());
    let second = evaluate(&scene, &sim);
    assert_eq!(second.code, 0, "{}", second.stderr);
    assert_eq!((shown(&scene).len(), lines(&scene).last().unwrap()["note"].as_str()), (4, Some("complete")));
    let report = scene
        .spelunk(["eval", "report", "r.jsonl", "--tasks", "t", "--out", "r.md", "--out", "r.html"])
        .run();
    assert_eq!((report.code, report.stderr.as_str()), (0, "wrote r.md\nwrote r.html\n"));
    assert!(!scene.read("r.md").contains("Partial") && scene.read("r.html").contains("<svg "));
    let labelled = evaluate(&scene, &[&sim[..], &["--label", "small parts"]].concat());
    assert_eq!((labelled.code, shown(&scene).len()), (0, 8), "{}", labelled.stderr);
    let report = scene.spelunk(["eval", "report", "r.jsonl"]).run().stdout;
    assert!(
        report.contains("| direct | sim | 4 |") && report.contains("| direct (small parts) | sim | 4 |"),
        "{report}"
    );
    let same = scene.spelunk(["eval", "compare", "r.jsonl", "r.jsonl", "--json"]).run();
    let same: Value = serde_json::from_str(&same.stdout).unwrap();
    assert_eq!((same[0]["pairs"].as_u64(), same[0]["difference"].as_f64()), (Some(4), Some(0.0)));
}

#[test]
fn a_model_that_fails_in_the_middle_is_asked_again_for_what_is_missing() {
    let scene = with_tasks("absent:number", "1k,2k,3k");
    let flags = ["--strategies", "direct", "--set", "limits.retries_max=0", "--parallel", "1"];
    let of = |server: &ModelServer| {
        let mut args = vec!["eval", "run", "--tasks", "t", "--out", "r.jsonl"];
        args.extend(flags);
        scene.spelunk(args).server(server).run()
    };
    let failing = ModelServer::start_blocking([to_all().always(status(500))]);
    let first = of(&failing);
    assert_eq!(first.code, 1, "{}", first.stderr);
    let statuses: Vec<String> =
        shown(&scene).iter().map(|line| line.split(' ').nth(2).unwrap().to_owned()).collect();
    assert_eq!(statuses, ["outage", "outage", "outage"]);
    let second = of(&answering("It is not in the text.\n\nANSWER: absent"));
    assert_eq!(second.code, 0, "{}", second.stderr);
    let report = scene.spelunk(["eval", "report", "r.jsonl"]).run().stdout;
    assert!(
        report.contains("| direct | scripted | 3 | 1.000 [1.000, 1.000] | 100 % [44, 100] |"),
        "{report}"
    );
}

#[test]
fn results_of_another_engine_stand_in_the_same_table() {
    let scene = with_tasks("absent:number", "1k");
    let id: Value = serde_json::from_str(scene.read("t/tasks.jsonl").lines().next().unwrap()).unwrap();
    let line = serde_json::json!({
        "engine": "rlms", "task": id["id"], "strategy": "rlms", "model": "m", "repeat": 0, "answer": "ANSWER: absent",
        "tokens_in": 900, "tokens_out": 100, "calls": 4, "wall_ms": 5000, "status": "answered", "error": null,
    });
    scene.write("rlms.jsonl", format!("{line}\n").as_bytes());
    let report = scene.spelunk(["eval", "report", "rlms.jsonl", "--tasks", "t"]).run().stdout;
    assert!(report.contains("| rlms | m | 1 | 1.000 [1.000, 1.000] | 100 % [21, 100] | 1.0k |"), "{report}");
}

#[test]
fn what_cannot_be_used_is_refused_before_anything_is_asked() {
    let scene = with_tasks("absent:number", "1k");
    let refused = |args: &str| {
        let ran = scene.spelunk(args.split(' ')).run();
        format!("{} {}", ran.code, ran.stderr)
    };
    scene.write("bad.jsonl", b"{\"id\":\"a\",\"kind\":\"needle\"}\n");
    scene.write("worse.jsonl", b"[1]\n");
    scene.write("empty.jsonl", b"");
    let all = [
        refused("eval run --tasks bad.jsonl --out x.jsonl --model sim"),
        refused("eval run --tasks nowhere --out x.jsonl --model sim"),
        refused("eval run --tasks t --out worse.jsonl --model sim"),
        refused("eval run --tasks t --out x.jsonl --model sim --strategies luck"),
        refused("eval run --tasks t --out x.jsonl --model sim --budget-time soon"),
        refused("eval run --tasks t --out x.jsonl"),
        refused("eval tasks --kind hay --out u"),
        refused("eval tasks --kind labels:hard --out u"),
        refused("eval tasks --kind needle --tokens 1 --out u"),
        refused("eval tasks --kind code --out u"),
        refused("eval tasks --kind needle --out t"),
        refused("eval report worse.jsonl"),
        refused("eval report empty.jsonl --out r.pdf"),
    ];
    expect![[r#"
        2 error: `DIR/work/bad.jsonl`: line 1 of the tasks is not valid: missing field `seed` at line 1 column 26

        hint: correct the line, or generate the tasks again with `spelunk eval tasks`

        2 error: could not read `DIR/work/nowhere`: No such file or directory (os error 2)

        hint: generate some with `spelunk eval tasks --out DIR`

        2 error: `DIR/work/worse.jsonl`: line 1 of the results is not valid: it is not a JSON object

        hint: remove the line, or choose another file

        2 error: there is no strategy `luck`

        hint: choose one of auto, direct, repl, search, map, hybrid, whole

        2 error: `--budget-time` is not an amount: `soon`

        hint: write it like `--budget-cost 2.50` or `--budget-time 9m`

        2 error: no model is configured

        hint: choose one with `--model` and `--base-url`, or run `spelunk doctor`

        2 error: there is no kind `hay`

        hint: choose one of needle, labels, pairs, hops, code, logs, table, absent

        2 error: there is no variant of `labels` `hard`

        hint: choose one of count-read, common-read, count-easy, common-easy

        2 error: could not generate a task of the kind `needle`: a task has from 1000 to 10000000 tokens, not 1

        hint: change `--tokens`

        2 error: could not generate a task of the kind `code`: tasks of the kind `code` need a source tree, and none was given

        hint: choose one with `--tree`, or leave out the kind `code`

        2 error: `DIR/work/t` already contains tasks

        hint: choose another folder with `--out`, or remove this one

        2 error: `DIR/work/worse.jsonl`: line 1 of the results is not valid: it is not a JSON object

        hint: remove the line, or choose another file

        2 error: unknown report format: `r.pdf`

        hint: choose a file name that ends in `.md` or `.html`
    "#]].assert_eq(&scene.normalise(&all.join("\n")));
    assert!(!scene.exists("x.jsonl"));
}
