//! `kill -9` of `spelunk demo`: five calls in two frames, a simulated crash and resume, and no server.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::moments::{at_each, kill_at, moments};
use crate::scene::Scene;

const SEED: u64 = 303;
const MOMENTS: u32 = 16;

/// What must be the same in the end, however often the process was killed.
#[derive(Debug, PartialEq)]
struct Ended {
    stdout: String,
    /// How often each call was settled.
    settled: BTreeMap<String, u64>,
    /// Tokens of all replies.
    tokens: u64,
}

/// The tokens reported by events of this kind.
fn tokens(events: &[Value], kind: &str, usage: &str) -> u64 {
    let of_kind = events.iter().filter(|event| event["type"] == kind);
    let names = |event: &Value| {
        let told = event.pointer(usage).cloned().unwrap_or_default();
        ["input_tokens", "output_tokens"].iter().filter_map(|name| told[name].as_u64()).sum::<u64>()
    };
    of_kind.map(names).sum()
}

fn ended(scene: &Scene, stdout: String) -> Ended {
    let run = scene.runs().pop().unwrap();
    let (mut settled, events) = (BTreeMap::new(), scene.journal(&run));
    for event in events.iter().filter(|event| event["type"] == "call.settled") {
        *settled.entry(event["call"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    let shown = scene.spelunk(["show", &run, "--json"]).run();
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
    // The estimate for requests that a crash cut off is added, and marked as such.
    let replied = tokens(&events, "call.settled", "/outcome/usage");
    let spent = replied + tokens(&events, "call.wasted", "/usage");
    let shown = ["input_tokens", "output_tokens"].map(|name| shown["usage"][name].as_u64().unwrap());
    assert_eq!(shown[0] + shown[1], spent);
    Ended { stdout, settled, tokens: replied }
}

#[test]
fn killed_at_any_moment_a_demo_goes_on_to_the_same_answer_and_spend() {
    let scene = Scene::new(&[]);
    let began = Instant::now();
    let ran = scene.spelunk(["demo"]).run();
    let whole = began.elapsed();
    let undisturbed = ended(&scene, ran.stdout);
    let once = ["0#0", "0#1", "0#2", "0.0#0", "0.0#1"].map(|call| (call.to_owned(), 1));
    assert_eq!(undisturbed.settled, BTreeMap::from(once));
    let killed_at = |moment: Duration| {
        let scene = Scene::new(&[]);
        kill_at(scene.spelunk(["demo"]).start(), moment);
        let recorded = scene.runs().pop().filter(|run| !scene.journal(run).is_empty());
        let ran = match &recorded {
            Some(run) => scene.spelunk(["resume", run]).run(),
            None => scene.spelunk(["demo"]).run(),
        };
        assert_eq!(ran.code, 0, "killed at {moment:?}: {}", ran.stderr);
        assert_eq!(ended(&scene, ran.stdout), undisturbed, "killed at {moment:?}");
    };
    at_each(&moments(SEED, MOMENTS, whole), killed_at);
}
