//! Functions that the prelude calls and this process answers. Only operations on host objects reach the host.

use monty::ReplFunctionCall;
use monty_types::unstable::{MontyNode, child, node};
use monty_types::{ExcType, ExtFunctionResult, MontyException, MontyObject, ObjectRef};

use super::patterns::{Patterns, text_of};
use super::values::from_monty;
use super::{MontyInterpreter, Turn};
use crate::{HostCall, Value};

impl MontyInterpreter {
    pub(super) fn internal(&mut self, call: ReplFunctionCall) -> Turn {
        let key = || call.args.arg(0).and_then(|key| key.as_int()).unwrap_or(0);
        let answer = match call.function_name.as_str() {
            "__sp_host_attributes" => ExtFunctionResult::Return(attribute_names(call.args.arg(0))),
            "__sp_host_rewrite" => self.rewritten_text(&call),
            "__sp_host_pattern" => Patterns::written(&call),
            "__sp_host_template" => Patterns::template(&call),
            "__sp_host_matches" => self.patterns.matches(&call),
            "__sp_host_park" => {
                self.cell.parked.insert(key(), call.call_id);
                return Ok(call.resume_pending(self.writer()));
            }
            "__sp_host_wake" => {
                self.cell.woken.push(key());
                ExtFunctionResult::Return(MontyObject::none())
            }
            "__sp_host_parts" => ExtFunctionResult::Return(parts_of(call.args.arg(0))),
            "__sp_host_call" => return self.ask_handle(call),
            "__sp_host_doc" => {
                let function = self.functions.get(&text_of(call.args.arg(0)));
                let doc = function.map(|function| MontyObject::string(&function.doc));
                ExtFunctionResult::Return(doc.unwrap_or_else(MontyObject::none))
            }
            _ => ExtFunctionResult::NotFound(call.function_name.clone()),
        };
        Ok(call.resume(answer, self.writer()))
    }

    /// The text given to `eval` or `exec`, rewritten like a cell.
    fn rewritten_text(&mut self, call: &ReplFunctionCall) -> ExtFunctionResult {
        let code = text_of(call.args.arg(0));
        let is_expression = call.args.arg(1).and_then(|flag| flag.as_bool()).unwrap_or(false);
        match self.session.text(&code, is_expression) {
            Ok(code) => ExtFunctionResult::Return(MontyObject::string(code)),
            Err(refused) => {
                ExtFunctionResult::Error(MontyException::new(ExcType::SyntaxError, Some(refused.message)))
            }
        }
    }

    /// An operation on a host object: the object, the name of the operation, its arguments.
    fn ask_handle(&mut self, call: ReplFunctionCall) -> Turn {
        let mut args = call.args.args();
        let receiver = args.next().map(|object| from_monty(object, &self.handles));
        let name = args.next().and_then(|name| name.as_str().map(str::to_owned));
        let (Some(Value::Handle(handle)), Some(name)) = (receiver, name) else {
            let error = MontyException::new(ExcType::TypeError, Some("this is not a host object".to_owned()));
            drop(args);
            return Ok(call.resume(error, self.writer()));
        };
        let args: Vec<Value> = args.map(|arg| slice_or(from_monty(arg, &self.handles))).collect();
        let kwargs = self.kwargs_of(&call);
        let asked = HostCall { name, receiver: Some(handle), args, kwargs };
        self.ask_for(call, asked, false)
    }
}

/// The prelude encodes a slice as a dictionary with one key that no argument of a host call has by chance.
fn slice_or(value: Value) -> Value {
    if let Value::Dict(pairs) = &value
        && let [(Value::Str(key), Value::Tuple(bounds))] = &**pairs
        && key == "__sp_slice"
        && let [start, stop, step] = &**bounds
    {
        let bound = |value: &Value| if let Value::Int(int) = value { Some(*int) } else { None };
        return Value::Slice(bound(start), bound(stop), bound(step));
    }
    value
}

/// Characters of one part of a large text.
const PART_CHARS: usize = 1024;

fn parts_of(text: Option<ObjectRef<'_>>) -> MontyObject {
    let mut rest = text.as_ref().and_then(ObjectRef::as_str).unwrap_or_default();
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let end = rest.char_indices().nth(PART_CHARS).map_or(rest.len(), |(at, _)| at);
        let (part, after) = rest.split_at(end);
        parts.push(MontyObject::string(part));
        rest = after;
    }
    MontyObject::list(parts)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "nothing else has attributes")]
fn attribute_names(object: Option<ObjectRef<'_>>) -> MontyObject {
    let Some(object) = object else { return MontyObject::list([]) };
    let attrs = match node(object) {
        MontyNode::ClassInstance { attrs, .. } => attrs.as_slice(),
        MontyNode::ClassType(class) => class.attrs.as_slice(),
        _ => &[],
    };
    MontyObject::list(
        attrs.iter().filter_map(|(name, _)| child(object, *name).as_str().map(MontyObject::string)),
    )
}
