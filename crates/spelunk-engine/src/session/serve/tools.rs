//! Calls of external tools by a cell: a single call, or a batch of one tool.
#![expect(clippy::wildcard_enum_match_arm, reason = "every other kind of value is treated alike")]

use futures_util::future::{FutureExt, ready};
use futures_util::stream::{self, StreamExt as _};
use serde_json::Value as Json;
use spelunk_sandbox::{HostCall, HostReply, Value};

use super::{Refused, Replying, Session};
use crate::environment::{Arguments, Refusal, json_of_value, value_of_json};
use crate::tools::ExternalTool;

/// How many tool calls of a batch run at once: each may be a process.
const TOOL_CALLS_PARALLEL_MAX: usize = 8;

fn plain(session: &Session<'_>, value: &Value) -> Json {
    match value {
        Value::Handle(handle) => session.environment.text_of(handle).map_or(Json::Null, Json::String),
        _ => json_of_value(value),
    }
}

/// Calls an external tool with each of many arguments. The ids are taken in order; one wrong argument refuses the batch.
pub(super) fn act_batch(session: &Session<'_>, call: &mut HostCall) -> Result<Replying, Refused> {
    let mut arguments = Arguments::of(call, &["name", "calls"])?;
    let (name, calls) = (arguments.need_text("name")?, arguments.need_items("calls")?);
    let known = session.frame.tools().iter().find(|tool| tool.name == name);
    let tool = known.ok_or_else(|| Refusal::new("NameError", format!("there is no tool '{name}'")))?;
    let mut bound = Vec::new();
    for (idx, arguments) in calls.iter().enumerate() {
        let Json::Object(arguments) = plain(session, arguments) else {
            let kind = arguments.type_name();
            return Err(Refusal::of_type(format!("arguments {idx} must be a dict, not {kind}")).into());
        };
        bound.push(
            tool.bind(Vec::new(), arguments)
                .map_err(|why| Refusal::of_type(format!("arguments {idx}: {why}")))?,
        );
    }
    let acting: Vec<_> = bound.into_iter().map(|arguments| session.frame.act(tool, arguments)).collect();
    Ok(Box::pin(async move {
        let mut acted = stream::iter(acting).buffered(TOOL_CALLS_PARALLEL_MAX);
        let mut items = Vec::new();
        while let Some(acted) = acted.next().await {
            let (failed, item) = match acted? {
                Ok(value) => (false, value_of_json(value)),
                Err((_, message)) => (true, Value::Str(message)),
            };
            items.push(Value::Tuple(vec![Value::Bool(failed), item]));
        }
        Ok(HostReply::Return(Value::List(items)))
    }))
}

pub(super) fn act(session: &Session<'_>, tool: &ExternalTool, call: HostCall) -> Replying {
    let args = call.args.iter().map(|value| plain(session, value)).collect();
    let kwargs = call.kwargs.into_iter().map(|(name, value)| (name, plain(session, &value)));
    match tool.bind(args, kwargs) {
        Ok(arguments) => {
            let acting = session.frame.act(tool, arguments);
            Box::pin(async move {
                Ok(match acting.await? {
                    Ok(value) => HostReply::Return(value_of_json(value)),
                    Err((kind, message)) => HostReply::Raise { kind, message },
                })
            })
        }
        Err(why) => ready(Ok(HostReply::from(Refusal::of_type(why)))).boxed(),
    }
}
