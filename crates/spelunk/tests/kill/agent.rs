//! `kill -9` of an agent that writes files, runs a shell and a script, calls sub-models and records evidence. Whenever
//! it is killed, the run ends with the same answer, nothing acknowledged is paid for again, and the files next to the
//! journal match the journal.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use spelunk_testkit::{ModelServer, Rule, when};

use super::moments::{at_each, kill_at, moments};
use crate::scene::{NOTE, QUESTION, Scene, n_calls};

const SEED: u64 = 10;
const MOMENTS: u32 = 24;
const ARGUMENTS: [&str; 6] = ["ask", QUESTION, "notes", "--strategy", "agent", "--no-cache"];
const ANSWER: &str = "It is forty-two.\n  a.md:3  The magic number is 42.\n";
/// The turns of the agent, the sub-call of its script, and the one of `LlmQuery`.
const N_CALLS: usize = 7;
/// Calls that a kill may leave in flight: sent, perhaps answered, not yet in the journal.
const REPEATS_MAX: usize = 1;

const SHELL: &str = "grep -n magic input/contexts/a.md | cut -d: -f1 > scratch/line.txt\n\
                     for n in 1 2 3; do echo \"$n $(cat scratch/line.txt)\" >> scratch/n.txt; done; echo SHELL''-DONE";
const SCRIPT: &str = "from tools.llm_client import LLMClient\n\
                      first = LLMClient().call('SUB: ' + 'first').content\n\
                      with open('scratch/first.txt', 'w') as file:\n    file.write(first + '\\n')\n\
                      print('SCRIPT' + '-DONE', first)";

/// A model that works in steps; it derives the next step from its prompt.
fn server() -> ModelServer {
    let slow = |rule: Rule| rule.usage(100, 20).delay_ms(15).pace_ms(5);
    let step = |seen: &'static str, calls: &[(&str, Value)]| {
        let rule = when(move |prompt| prompt.contains(seen)).reply("");
        slow(calls.iter().fold(rule, |rule, (name, arguments)| rule.tool_call(name, &arguments.to_string())))
    };
    let answer = json!({ "answer": "It is forty-two.", "evidence": ["a.md:3: The magic number is 42."] });
    ModelServer::start_blocking([
        step("Before your answer is accepted", &[("Finish", answer.clone())]),
        step("evidence 1 recorded", &[("Finish", answer)]),
        step(
            "two, says the sub-model",
            &[(
                "Evidence",
                json!({ "tag": "number", "content": "The magic number is 42.", "source": "input/contexts/a.md:3" }),
            )],
        ),
        step(
            "SCRIPT-DONE forty",
            &[("LlmQuery", json!({ "prompt": "SUB: second", "save_to": "scratch/second.txt" }))],
        ),
        step("SHELL-DONE", &[("RunScript", json!({ "name": "ask", "code": SCRIPT }))]),
        slow(when(|prompt| prompt.contains("SUB: first")).reply("forty")),
        slow(when(|prompt| prompt.contains("SUB: second")).reply("two, says the sub-model")),
        step(
            "magic",
            &[
                ("Write", json!({ "path": "state/notes.md", "content": "look, count, ask\n" })),
                ("Shell", json!({ "command": SHELL })),
            ],
        ),
    ])
}

/// All files of a directory except the journal's own and those that depend on how the run got there.
fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let (mut found, mut open) = (BTreeMap::new(), vec![root.to_owned()]);
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
                found.insert(name, std::fs::read(&path).unwrap());
            }
        }
    }
    found.retain(|name, _| !["journal.jsonl", "prompts.pack", "run.lock"].contains(&name.as_str()));
    found
}

/// What must hold in the end.
fn check_end(scene: &Scene, moment: Duration) {
    let mut runs = scene.runs();
    let run = runs.pop().unwrap();
    // A run killed before its first event was complete is asked again.
    assert!(runs.iter().all(|run| scene.journal(run).is_empty()), "{runs:?}, killed at {moment:?}");
    let events = scene.journal(&run);
    let settled = events.iter().filter(|event| event["type"] == "call.settled").count();
    assert_eq!(settled, N_CALLS, "killed at {moment:?}");
    let shown = scene.spelunk(["show", &run, "--json"]).run();
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
    let wasted = events.iter().filter(|event| event["type"] == "call.wasted");
    let wasted = |name: &str| wasted.clone().filter_map(|event| event["usage"][name].as_u64()).sum::<u64>();
    let spent = |name: &str, each: u64| each * N_CALLS as u64 + wasted(name);
    let usage =
        json!({ "input_tokens": spent("input_tokens", 100), "output_tokens": spent("output_tokens", 20) });
    assert_eq!(shown["usage"], usage, "killed at {moment:?}");
    let exported = scene.spelunk(["run", "export", &run, "--format", "workspace", "--output", "again"]).run();
    assert_eq!(exported.code, 0, "{}", exported.stderr);
    let (on_disk, again) = (files(&scene.path(".spelunk/runs").join(&run)), files(&scene.path("again")));
    assert_eq!(on_disk.keys().collect::<Vec<_>>(), again.keys().collect::<Vec<_>>(), "killed at {moment:?}");
    for (name, bytes) in &on_disk {
        assert_eq!(
            String::from_utf8_lossy(bytes),
            String::from_utf8_lossy(&again[name]),
            "{name}, killed at {moment:?}"
        );
    }
    assert_eq!(String::from_utf8_lossy(&on_disk["scratch/n.txt"]), "1 3\n2 3\n3 3\n");
    assert_eq!(String::from_utf8_lossy(&on_disk["scratch/first.txt"]), "forty\n");
}

fn killed_at(moment: Duration) {
    let (scene, server) = (Scene::new(&NOTE), server());
    let ask = || scene.spelunk(ARGUMENTS).server(&server);
    kill_at(ask().start(), moment);
    let recorded = scene.runs().pop().filter(|run| !scene.journal(run).is_empty());
    let ran = match &recorded {
        Some(run) => scene.spelunk(["resume", run]).run(),
        None => ask().run(),
    };
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ANSWER), "killed at {moment:?}: {}", ran.stderr);
    let n_asked = n_calls(&server);
    assert!(n_asked <= N_CALLS + REPEATS_MAX, "killed at {moment:?}: {n_asked} requests");
    assert!(n_asked as u64 <= scene.calls_reported(), "killed at {moment:?}: {n_asked} requests");
    assert_eq!(server.unexpected(), []);
    check_end(&scene, moment);
}

#[test]
fn killed_at_any_moment_an_agent_goes_on_to_the_same_answer_and_files() {
    let (scene, server) = (Scene::new(&NOTE), server());
    let began = Instant::now();
    let ran = scene.spelunk(ARGUMENTS).server(&server).run();
    let whole = began.elapsed();
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ANSWER), "{}", ran.stderr);
    assert_eq!(n_calls(&server), N_CALLS);
    check_end(&scene, whole);
    at_each(&moments(SEED, MOMENTS, whole), killed_at);
}

/// The same work with the machine's own Python: its `open` sees the desk, and the client in `tools` calls sub-models.
#[test]
fn scripts_work_on_the_desk_in_either_sandbox() {
    let (scene, server) = (Scene::new(&NOTE), server());
    let ask = scene.spelunk(ARGUMENTS).arg("--sandbox=cpython").server(&server);
    let ran = ask.run();
    if ran.stderr.contains("cpython") {
        println!("skipped: this machine has no `python3` that can be confined: {}", ran.stderr);
        return;
    }
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ANSWER), "{}", ran.stderr);
    assert_eq!(n_calls(&server), N_CALLS);
    check_end(&scene, Duration::ZERO);
}
