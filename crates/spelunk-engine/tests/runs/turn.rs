//! The turn of a caller that runs tools itself.

use std::sync::Arc;

use serde_json::json;
use spelunk_engine::CallerTurn;
use spelunk_model::{Message, Part, Tool, ToolCall, ToolResult};
use spelunk_testkit::{FaultDisk, on};
use spelunk_types::{Citation, ErrorCode, Grounding, RunOutcome, Strategy};

use super::NOTE;
use crate::stage::{Stage, engine_on};

fn turn() -> CallerTurn {
    let (id, name) = ("c1".to_owned(), "lookup".to_owned());
    let call = ToolCall { id: id.clone(), name: name.clone(), arguments: "{}".to_owned(), signature: None };
    let result = ToolResult { call_id: id, name, text: "[document `a.md`]".to_owned(), is_error: false };
    let tool = Tool { name: "lookup".into(), description: "Looks up.".into(), schema: Arc::new(json!({})) };
    CallerTurn {
        system: "Be brief.".to_owned(),
        messages: vec![
            Message::user("Which number?"),
            Message::assistant("I look.").with_parts([Part::ToolCall(call)]),
            Message::user("").with_parts([Part::ToolResult(result)]),
        ],
        tools: vec![tool],
        must_call: true,
        has_documents: true,
    }
}

#[tokio::test]
async fn a_turn_that_a_limit_stopped_is_resumed_with_its_tools_and_reads_nothing_again() {
    let read =
        on("0#0").reply("Let me read.").tool_call(CallerTurn::READ, "{\"question\":\"Which number?\"}");
    let mut stage = Stage::new(
        &NOTE,
        [
            read.tool_call("lookup", "{\"too\":\"early\"}"),
            on("0.0#0").reply("It is 42.\n\n```evidence\na.md:1: The magic number is 42.\n```"),
            on("0#1").reply("").tool_call("lookup", "{\"number\":42}"),
        ],
    );
    (stage.strategy, stage.turn, stage.limits.calls_max) = (Strategy::Direct, Some(turn()), 2);
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let stopped = stage.ask(&engine, "Which number?").await;
    assert_eq!(stopped.outcome, RunOutcome::Partial { stopped_by: ErrorCode::CallsExhausted });
    stage.limits.calls_max = 3;
    let again = stage.resume(&engine, &stopped.run).unwrap().join().await;
    let answer = again.answer.unwrap();
    assert_eq!(answer.text, "Let me read.\n\nCalls lookup with {\"number\":42}");
    let quote = "The magic number is 42.".to_owned();
    assert_eq!(answer.citations, [Citation { document: "a.md".into(), line: 1, quote }]);
    assert_eq!(answer.grounding, Grounding::Cited);
    let requests = stage.server.requests();
    assert_eq!(requests.len(), 3);
    // The model was given back its own call alone, with what was read.
    let last: serde_json::Value = serde_json::from_str(&requests[2].body).unwrap();
    let said = last["messages"].as_array().unwrap();
    assert_eq!(said[said.len() - 2]["tool_calls"].as_array().unwrap().len(), 1);
    assert_eq!(said[said.len() - 1]["content"], "It is 42.\n\na.md:1: The magic number is 42.");
    assert_eq!(last["tool_choice"], "required");
}
