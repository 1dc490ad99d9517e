//! External tools: what code sees of them, what is recorded, who is asked, and what happens if it is unknown
//! whether a call did its work.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use spelunk_engine::{ConsentFn, EffectDecision, Engine, ExternalTool, ExternalTools, ToolError};
use spelunk_testkit::{FaultDisk, Rule, facts, on};
use spelunk_types::{EffectClass, ErrorCode, EventKind, Explain, Strategy, Text};

use super::NOTE;
use crate::stage::{Stage, engine_on, events};

/// What the tools did, in order.
pub(crate) type World = Arc<Mutex<Vec<String>>>;

/// A tool that notes each call in the world and returns what `result` says.
pub(crate) fn tool(
    world: &World,
    name: &'static str,
    effect: EffectClass,
    result: impl Fn(&Value) -> Result<Value, ToolError> + Send + Sync + 'static,
) -> ExternalTool {
    let (world, result) = (Arc::clone(world), Arc::new(result));
    ExternalTool {
        name: name.to_owned(),
        source: "test".to_owned(),
        description: format!("Does {name}.\nSlowly."),
        schema: json!({ "type": "object", "properties": { "what": { "type": "string" } }, "required": ["what"] }),
        effect,
        timeout_ms: 10_000,
        calls_max: 10,
        is_allowed: true,
        in_children: false,
        call: Arc::new(move |arguments| {
            let (world, result) = (Arc::clone(&world), Arc::clone(&result));
            Box::pin(async move {
                world.lock().unwrap().push(format!("{name} {arguments}"));
                result(&arguments)
            })
        }),
    }
}

#[expect(clippy::unnecessary_wraps, reason = "this is the form of a tool")]
fn done(arguments: &Value) -> Result<Value, ToolError> {
    Ok(json!({ "done": arguments["what"], "n": [1, 2.5, null] }))
}

fn repl(cells: &[&str]) -> Stage {
    let rule = |(idx, code): (usize, &&str)| -> Rule {
        on(&format!("0#{idx}")).reply(format!("```repl\n{code}\n```")).usage(1, 1)
    };
    let mut stage = Stage::new(&NOTE, cells.iter().enumerate().map(rule));
    stage.strategy = Strategy::Repl;
    stage
}

fn engine(disk: &Arc<FaultDisk>, tools: Vec<ExternalTool>) -> Engine {
    engine_on(disk.clone()).with_tools(ExternalTools::new(tools).unwrap())
}

fn happened(world: &World) -> Vec<String> {
    world.lock().unwrap().clone()
}

#[tokio::test]
async fn code_calls_a_tool_and_gets_plain_values_and_exceptions() {
    let world = World::default();
    let code = "r = book('flight')
try:
    look(what='x')
except ToolError as error:
    failed = str(error)
try:
    book()
except TypeError as error:
    wrong = str(error)
help(book)
FINAL([r['done'], r['n'], failed, wrong])";
    let stage = repl(&[code]);
    let fails = |_: &Value| Err(ToolError::Failed("no such thing".to_owned()));
    let tools =
        vec![tool(&world, "book", EffectClass::Once, done), tool(&world, "look", EffectClass::Read, fails)];
    let engine = engine(&Arc::new(FaultDisk::sound()), tools);
    let result = stage.ask(&engine, "Book it.").await;
    let answer =
        r#"["flight", [1, 2.5, null], "no such thing", "book() needs 'what': it is `book(what: str)`"]"#;
    let answered: Value = serde_json::from_str(&result.answer.unwrap().text).unwrap();
    assert_eq!(answered, serde_json::from_str::<Value>(answer).unwrap());
    assert_eq!(happened(&world), [r#"book {"what":"flight"}"#, r#"look {"what":"x"}"#]);
    let told: Vec<String> =
        facts(&events(&engine, &result.run)).into_iter().filter(|line| line.starts_with("effect")).collect();
    expect_test::expect![[r"
        effect.started   0!0 book once
        effect.settled   0!0 returned
        effect.started   0!1 look read
        effect.settled   0!1 failed ToolError"]]
    .assert_eq(&told.join("\n"));
    let prompt = stage.server.requests()[0].body.clone();
    assert!(prompt.contains("- `book(what: str)`: Does book."), "{prompt}");
    assert!(!prompt.contains("Slowly."), "{prompt}");
}

#[tokio::test]
async fn without_tools_the_prompt_says_nothing_of_them() {
    let stage = repl(&["FINAL('none')"]);
    stage.ask(&engine_on(Arc::new(FaultDisk::sound())), "Which?").await;
    assert!(!stage.server.requests()[0].body.clone().contains("ToolError"));
}

#[tokio::test]
async fn awaited_calls_run_together() {
    let world = World::default();
    let gate = Arc::new(tokio::sync::Barrier::new(2));
    let mut both = tool(&world, "both", EffectClass::Read, done);
    both.call = Arc::new(move |arguments| {
        let gate = Arc::clone(&gate);
        Box::pin(async move {
            gate.wait().await;
            Ok(arguments["what"].clone())
        })
    });
    let code = "import asyncio\nFINAL(' '.join(await asyncio.gather(both('a'), both('b'))))";
    let result = repl(&[code]).ask(&engine(&Arc::new(FaultDisk::sound()), vec![both]), "Both?").await;
    assert_eq!(result.answer.unwrap().text, "a b");
}

#[tokio::test]
async fn a_tool_that_changes_something_is_refused_without_consent() {
    let world = World::default();
    let ask = |consent: Option<bool>| {
        let world = Arc::clone(&world);
        async move {
            let book =
                ExternalTool { is_allowed: false, ..tool(&world, "book", EffectClass::Repeatable, done) };
            let look = ExternalTool { is_allowed: false, ..tool(&world, "look", EffectClass::Read, done) };
            let mut tools = ExternalTools::new(vec![book, look]).unwrap();
            if let Some(consent) = consent {
                let asked = Arc::clone(&world);
                tools = tools.with_consent(Arc::new(move |request| {
                    asked.lock().unwrap().push(format!("asked {} {}", request.tool, request.arguments));
                    Box::pin(async move { consent })
                }));
            }
            let code =
                "look('a')\ntry:\n    FINAL(book('b')['done'])\nexcept ToolError as e:\n    FINAL(str(e))";
            let engine = engine_on(Arc::new(FaultDisk::sound())).with_tools(tools);
            let text = repl(&[code]).ask(&engine, "Book it.").await.answer.unwrap().text;
            (text, std::mem::take(&mut *world.lock().unwrap()))
        }
    };
    let (look, book, asked) = (
        r#"look {"what":"a"}"#.to_owned(),
        r#"book {"what":"b"}"#.to_owned(),
        r#"asked book {"what":"b"}"#.to_owned(),
    );
    let alone = "`book` may change something, so it needs consent: `--allow-tool book`";
    assert_eq!(ask(None).await, (alone.to_owned(), vec![look.clone()]));
    let refused = "the user does not allow this call of `book`";
    assert_eq!(ask(Some(false)).await, (refused.to_owned(), vec![look.clone(), asked.clone()]));
    assert_eq!(ask(Some(true)).await, ("b".to_owned(), vec![look, asked, book]));
}

#[tokio::test]
async fn a_tool_is_called_as_often_as_it_may_and_its_result_is_bounded_and_redacted() {
    let world = World::default();
    let result = |arguments: &Value| {
        Ok(match arguments["what"].as_str() {
            Some("large") => json!("x".repeat(2_000_000)),
            Some("secret") => json!({ "key": "ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z5A" }),
            Some(_) | None => Value::Null,
        })
    };
    let look = ExternalTool { calls_max: 2, ..tool(&world, "look", EffectClass::Read, result) };
    let code = "said = []
for what in ['large', 'secret', 'more']:
    try:
        said.append(look(what))
    except Exception as error:
        said.append(type(error).__name__ + ' ' + str(error))
FINAL(said)";
    let disk = Arc::new(FaultDisk::sound());
    let answer = repl(&[code]).ask(&engine(&disk, vec![look]), "Look.").await.answer.unwrap().text;
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(
        answer[0],
        "ToolError the tool was called, but its result has 2000002 bytes, more than 1000000"
    );
    assert_eq!(answer[1], json!({ "key": "[secret:github-token]" }));
    assert_eq!(answer[2], "BudgetError `look` may be called 2 times in one run");
    let is_on_disk = disk.files().values().any(|bytes| String::from_utf8_lossy(bytes).contains("ghp_aB3d"));
    assert!(!is_on_disk);
}

#[tokio::test]
async fn a_call_that_must_not_be_repeated_and_does_not_end_stops_the_run_until_somebody_decides() {
    for (decision, answer, n_calls) in
        [(EffectDecision::Done, "None", 1), (EffectDecision::Again, "{'done': 'b', 'n': [1, 2.5, None]}", 2)]
    {
        let world = World::default();
        let stage = repl(&["r = look('a')\nprint(r)", "FINAL(str(book('b')))"]);
        let disk = Arc::new(FaultDisk::sound());
        let mut slow = tool(&world, "book", EffectClass::Once, done);
        slow.timeout_ms = 20;
        let noted = Arc::clone(&slow.call);
        slow.call = Arc::new(move |arguments| {
            let noted = noted(arguments);
            Box::pin(async move {
                noted.await?;
                std::future::pending().await
            })
        });
        let look = || tool(&world, "look", EffectClass::Read, done);
        let engine = engine(&disk, vec![slow, look()]);
        let result = stage.ask(&engine, "Book it.").await;
        let error = result.error.unwrap();
        assert_eq!(error.code(), ErrorCode::ToolOutcomeUnknown);
        let why = "it is unknown whether call `0!1` of `book` took effect: there was no result within 20 ms";
        assert_eq!(error.to_string(), why);
        let tools = || vec![tool(&world, "book", EffectClass::Once, done), look()];
        let undecided = stage.resume(&self::engine(&disk, tools()), &result.run).err().unwrap();
        let hint = format!(
            "check whether it did, then continue with `spelunk resume {} --tool '0!1=done'` or `--tool '0!1=again'`",
            result.run.short()
        );
        assert_eq!((undecided.code(), undecided.hint()), (ErrorCode::ToolOutcomeUnknown, Some(hint)));
        let decide = |id: &str| {
            let decisions =
                BTreeMap::from([(id.parse().unwrap(), decision), ("0!1".parse().unwrap(), decision)]);
            let tools = ExternalTools::new(tools()).unwrap().with_decisions(decisions);
            stage.resume(&engine_on(disk.clone()).with_tools(tools), &result.run)
        };
        let other = decide("0!7").err().unwrap();
        let known =
            format!("run `{}` has no call `0!7` of a tool with an unknown outcome", result.run.short());
        assert_eq!((other.code(), other.to_string()), (ErrorCode::UsageWrong, known));
        let resumed = decide("0!1").unwrap().join().await;
        assert_eq!(resumed.answer.unwrap().text, answer);
        let booked = happened(&world).iter().filter(|call| call.starts_with("book")).count();
        let looked = happened(&world).iter().filter(|call| call.starts_with("look")).count();
        assert_eq!((booked, looked), (n_calls, 1));
    }
}

#[tokio::test]
async fn calls_before_a_crash_count_towards_what_a_tool_may_be_called() {
    let world = World::default();
    let second =
        "book('b')\nlook('b')\ntry:\n    look('c')\nexcept Exception as error:\n    FINAL(str(error))";
    let stage = repl(&["print(look('a'))", second]);
    let disk = Arc::new(FaultDisk::sound());
    let lost = |_: &Value| Err(ToolError::Unknown("the connection was lost".to_owned()));
    let tools = || {
        let look = ExternalTool { calls_max: 2, ..tool(&world, "look", EffectClass::Read, done) };
        vec![tool(&world, "book", EffectClass::Once, lost), look]
    };
    let result = stage.ask(&engine(&disk, tools()), "Book it.").await;
    assert_eq!(result.error.unwrap().code(), ErrorCode::ToolOutcomeUnknown);
    let decisions = BTreeMap::from([("0!1".parse().unwrap(), EffectDecision::Done)]);
    let tools = ExternalTools::new(tools()).unwrap().with_decisions(decisions);
    let resumed = stage.resume(&engine_on(disk).with_tools(tools), &result.run).unwrap().join().await;
    assert_eq!(resumed.answer.unwrap().text, "`look` may be called 2 times in one run");
    let looked = happened(&world).into_iter().filter(|call| call.starts_with("look")).collect::<Vec<_>>();
    assert_eq!(looked, [r#"look {"what":"a"}"#, r#"look {"what":"b"}"#]);
}

#[tokio::test]
async fn a_run_is_not_resumed_without_its_tools() {
    let world = World::default();
    let mut stage = repl(&["print(look('a'))", "FINAL('late')"]);
    stage.limits.calls_max = 1;
    let disk = Arc::new(FaultDisk::sound());
    let result =
        stage.ask(&engine(&disk, vec![tool(&world, "look", EffectClass::Read, done)]), "Look.").await;
    stage.limits.calls_max = 9;
    let error = stage.resume(&engine_on(disk), &result.run).err().unwrap();
    let message = format!("run `{}` was started with the tools look, not none", result.run.short());
    assert_eq!((error.code(), error.to_string()), (ErrorCode::SettingsChanged, message));
}

#[tokio::test]
async fn an_agent_calls_them_natively_and_from_its_scripts() {
    let world = World::default();
    let script = r#"{"name": "s", "code": "print(look('b')['done'])"}"#;
    let rules = [
        on("0#0").reply("").tool_call("look", r#"{"what": "a"}"#).tool_call("RunScript", script).usage(1, 1),
        on("0#1").reply("").tool_call("Finish", r#"{"answer": "Seen."}"#).usage(1, 1),
        on("0#2").reply("").tool_call("Finish", "{}").usage(1, 1),
    ];
    let mut stage = Stage::new(&NOTE, rules);
    stage.strategy = Strategy::Agent;
    let disk = Arc::new(FaultDisk::sound());
    let engine = engine(&disk, vec![tool(&world, "look", EffectClass::Read, done)]);
    let result = stage.ask(&engine, "Look.").await;
    assert_eq!(result.answer.unwrap().text, "Seen.");
    assert_eq!(happened(&world), [r#"look {"what":"a"}"#, r#"look {"what":"b"}"#]);
    let second = stage.server.requests()[1].body.clone();
    assert!(second.contains(r#"{\"done\":\"a\",\"n\":[1,2.5,null]}"#), "{second}");
    let offered = stage.server.requests()[0].body.clone();
    assert!(offered.contains(r#""name":"look""#), "{offered}");
}

#[tokio::test]
async fn what_was_asked_and_decided_is_recorded_with_secrets_redacted() {
    for (allowed, word) in [(true, "allowed"), (false, "denied")] {
        let world = World::default();
        let book = ExternalTool { is_allowed: false, ..tool(&world, "book", EffectClass::Once, done) };
        let shown = Arc::new(Mutex::new(Vec::new()));
        let asked = Arc::clone(&shown);
        let consent: ConsentFn = Arc::new(move |request| {
            asked.lock().unwrap().push(request);
            Box::pin(async move { allowed })
        });
        let tools = ExternalTools::new(vec![book]).unwrap().with_consent(consent);
        let code = "try:\n    book('ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z5A')\nexcept ToolError:\n    pass\nFINAL('done')";
        let engine = engine_on(Arc::new(FaultDisk::sound())).with_tools(tools);
        let result = repl(&[code]).ask(&engine, "Book it.").await;
        let events = events(&engine, &result.run);
        let told: Vec<String> =
            facts(&events).into_iter().filter(|line| line.starts_with("effect")).collect();
        let ended = if allowed { "returned" } else { "failed ToolError" };
        assert_eq!(
            told,
            [
                "effect.asked     0!0 book".to_owned(),
                format!("effect.decided   0!0 {word}"),
                "effect.started   0!0 book once".to_owned(),
                format!("effect.settled   0!0 {ended}"),
            ]
        );
        let redacted = json!({ "what": "[secret:github-token]" });
        let request = shown.lock().unwrap()[0].clone();
        assert_eq!((&request.run, &request.arguments), (&result.run, &redacted));
        let asked = events.iter().find_map(|event| {
            let EventKind::EffectAsked { arguments: Text::Inline { text }, .. } = &event.kind else {
                return None;
            };
            Some(text.clone())
        });
        assert_eq!(asked, Some(redacted.to_string()));
    }
}

#[tokio::test]
async fn a_batch_of_calls_runs_together_and_a_failure_is_a_value() {
    let world = World::default();
    let gate = Arc::new(tokio::sync::Barrier::new(3));
    let mut look = tool(&world, "look", EffectClass::Read, done);
    look.calls_max = 4;
    look.call = Arc::new(move |arguments| {
        let gate = Arc::clone(&gate);
        Box::pin(async move {
            gate.wait().await;
            match arguments["what"].as_str() {
                Some("b") => Err(ToolError::Failed("no b".to_owned())),
                Some(_) | None => Ok(arguments["what"].clone()),
            }
        })
    });
    let code = "said = look_batched([{'what': 'a'}, {'what': 'b'}, {'what': 'c'}])
kinds = [type(one).__name__ for one in said]
try:
    look_batched([{'what': 'd'}, {'that': 'e'}])
except TypeError as error:
    wrong = str(error)
try:
    look_batched(['f'])
except TypeError as error:
    kind = str(error)
print(SHOW_VARS())
FINAL([str(one) for one in said] + kinds + [wrong, kind])";
    let stage = repl(&[code]);
    let engine = engine(&Arc::new(FaultDisk::sound()), vec![look]);
    let result = stage.ask(&engine, "Look.").await;
    let answered: Value = serde_json::from_str(&result.answer.unwrap().text).unwrap();
    let expected = json!([
        "a",
        "no b",
        "c",
        "str",
        "ToolError",
        "str",
        "arguments 1: look() has no argument 'that': it is `look(what: str)`",
        "arguments 0 must be a dict, not str",
    ]);
    assert_eq!(answered, expected);
    let told: Vec<String> = facts(&events(&engine, &result.run))
        .into_iter()
        .filter(|line| line.starts_with("effect.started"))
        .collect();
    assert_eq!(told.len(), 3, "a wrong argument refuses the whole batch: {told:?}");
    let cell = events(&engine, &result.run).into_iter().find_map(|event| {
        let EventKind::CellRan { output: Text::Inline { text }, .. } = event.kind else { return None };
        Some(text)
    });
    let printed = cell.unwrap();
    assert_eq!(printed.trim_end(), "kind: str, kinds: list, said: list, wrong: str");
}

#[tokio::test]
async fn child_frames_have_only_the_tools_that_are_named_for_them() {
    let world = World::default();
    let child = "```repl\nseen = len(context)\ntry:\n    book('c')\nexcept NameError:\n    FINAL(look('d')['done'])\n```";
    let rules = [
        on("0#0").reply("```repl\nbook('a')\nFINAL(rlm_query('What?', context))\n```").usage(1, 1),
        on("0.0#0").reply(child).usage(1, 1),
    ];
    let mut stage = Stage::new(&NOTE, rules);
    stage.strategy = Strategy::Repl;
    let look = ExternalTool { in_children: true, ..tool(&world, "look", EffectClass::Read, done) };
    let tools = vec![tool(&world, "book", EffectClass::Repeatable, done), look];
    let engine = engine(&Arc::new(FaultDisk::sound()), tools);
    let result = stage.ask(&engine, "Look.").await;
    assert_eq!(result.answer.unwrap().text, "d");
    assert_eq!(happened(&world), [r#"book {"what":"a"}"#, r#"look {"what":"d"}"#]);
    let told: Vec<String> = facts(&events(&engine, &result.run))
        .into_iter()
        .filter(|line| line.starts_with("effect.started"))
        .collect();
    assert_eq!(told, ["effect.started   0!0 book repeatable", "effect.started   0.0!0 look read"]);
    let prompt = stage.server.requests()[1].body.clone();
    assert!(prompt.contains("- `look(what: str)`") && !prompt.contains("- `book(what: str)`"), "{prompt}");
}
