//! Crash at every write of a run that calls tools of each class. The world outlives the process: what must happen once
//! happened once in the end, whatever the disk lost.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use spelunk_engine::{ConsentFn, ConsentView, EffectDecision, Engine, ExternalTool, ExternalTools};
use spelunk_testkit::{FaultDisk, on};
use spelunk_types::{EffectClass, EffectId, RunId, RunOutcome, Strategy};

use super::{Blow, FILES};
use crate::runs::tools::{World, tool};
use crate::stage::{Stage, engine_in, events, only_run, view};

const ANSWER: &str = "looked tagged booked";

/// A cell with all three, one with two calls at once, and an agent that calls them natively.
fn stages() -> [Stage; 2] {
    let calls = "```repl\nsaid = [look('a'), tag('a'), book('a')]\nprint(said)\n```";
    let both = "```repl\nimport asyncio\nprint(await asyncio.gather(book('b'), look('b')))\n```";
    let rules = [
        on("0#0").reply(calls).usage(100, 10),
        on("0#1").reply(both).usage(100, 10),
        on("0#2").reply("```repl\nFINAL(' '.join(str(one) for one in said))\n```").usage(100, 10),
    ];
    let mut repl = Stage::new(&FILES, rules);
    repl.strategy = Strategy::Repl;
    let (a, b) = (r#"{"what": "a"}"#, r#"{"what": "b"}"#);
    let answer = format!(r#"{{"answer": "{ANSWER}"}}"#);
    let rules = [
        on("0#0").reply("").tool_call("look", a).tool_call("tag", a).tool_call("book", a).usage(100, 10),
        on("0#1").reply("").tool_call("book", b).usage(100, 10),
        on("0#2").reply("").tool_call("Finish", &answer).usage(100, 10),
        on("0#3").reply("").tool_call("Finish", "{}").usage(100, 10),
    ];
    let mut agent = Stage::new(&FILES, rules);
    agent.strategy = Strategy::Agent;
    [repl, agent]
}

fn with_tools(engine: Engine, world: &World, decisions: BTreeMap<EffectId, EffectDecision>) -> Engine {
    let says = |word: &'static str| move |_: &Value| Ok(Value::from(word));
    let tools = vec![
        tool(world, "look", EffectClass::Read, says("looked")),
        tool(world, "tag", EffectClass::Repeatable, says("tagged")),
        ExternalTool { is_allowed: false, ..tool(world, "book", EffectClass::Once, says("booked")) },
    ];
    let asked = Arc::clone(world);
    let consent: ConsentFn = Arc::new(move |request| {
        asked.lock().unwrap().push(format!("asked {}", request.effect));
        Box::pin(async { true })
    });
    let tools = ExternalTools::new(tools).unwrap().with_consent(consent);
    engine.with_tools(tools.with_decisions(decisions))
}

#[tokio::test]
async fn a_crash_at_every_write_repeats_no_call_that_must_happen_once() {
    let (mut n_resumed, mut n_decided) = (0, 0);
    for n in 1.. {
        let mut has_died = false;
        for blow in Blow::all(n) {
            for stage in stages() {
                if let Some(decided) = crash(&stage, blow).await {
                    (has_died, n_resumed, n_decided) = (true, n_resumed + 1, n_decided + decided);
                }
            }
        }
        if !has_died {
            break;
        }
    }
    assert!(n_resumed > 100 && n_decided > 10, "{n_resumed} runs were resumed, {n_decided} calls decided");
}

/// The number of calls that had to be decided, if the disk died at its n-th write and the run could be resumed.
async fn crash(stage: &Stage, blow: Blow) -> Option<usize> {
    let world = World::default();
    let dying = Arc::new(FaultDisk::sound().dying_at(blow.n));
    if let Ok(handle) = stage
        .start(&with_tools(engine_in(blow.mode, dying.clone()), &world, BTreeMap::new()), "What is there?")
    {
        handle.join().await;
    }
    if !dying.is_dead() {
        return None;
    }
    let disk = Arc::new(dying.after(blow.crash));
    let run = only_run(&disk.files());
    let survived = |run: &RunId| events(&engine_in(blow.mode, disk.clone()), run);
    let Some(run) = run.filter(|run| !survived(run).is_empty()) else { return Some(0) };
    let before = view(&survived(&run));
    let mut decisions = BTreeMap::new();
    for (effect, call) in before.unknown_effects() {
        let spelunk_types::Text::Inline { text } = &call.arguments else { panic!("short arguments") };
        let happened = world.lock().unwrap().contains(&format!("{} {text}", call.tool));
        let decision = if happened { EffectDecision::Done } else { EffectDecision::Again };
        decisions.insert(effect.clone(), decision);
    }
    let n_decided = decisions.len();
    if before.outcome != Some(RunOutcome::Answered) {
        let engine = with_tools(engine_in(blow.mode, disk.clone()), &world, decisions.clone());
        let resumed = stage.resume(&engine, &run).unwrap_or_else(|error| panic!("{blow:?}: {error}"));
        let result = resumed.join().await;
        let text = result.answer.unwrap_or_else(|| panic!("{blow:?}: {:?}", result.error)).text;
        // A call that was decided to be done returns nothing.
        let is_cut = decisions.values().any(|decision| *decision == EffectDecision::Done);
        assert!(text == ANSWER || is_cut, "{blow:?}: {text}");
    }
    let world = world.lock().unwrap();
    // Nobody is asked again about what was decided, or may have happened.
    for (effect, call) in &before.effects {
        let is_decided = matches!(call.consent, Some(ConsentView::Decided { .. }));
        let n_asked = world.iter().filter(|line| **line == format!("asked {effect}")).count();
        assert!(n_asked <= 2 && !(is_decided && n_asked > 1), "{blow:?} {effect}: {world:?}");
    }
    for what in ["a", "b"] {
        let booked = world.iter().filter(|call| **call == format!(r#"book {{"what":"{what}"}}"#)).count();
        assert_eq!(booked, 1, "{blow:?} {what}: {world:?}");
    }
    for (name, n_max) in [("look", 4), ("tag", 2)] {
        let n = world.iter().filter(|call| call.starts_with(name)).count();
        assert!((1..=n_max).contains(&n), "{blow:?} {name}: {world:?}");
    }
    Some(n_decided)
}
