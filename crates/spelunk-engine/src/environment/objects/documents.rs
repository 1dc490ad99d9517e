//! A dictionary of documents, as Python's `dict` from name to text.

use spelunk_context::DocEntry;
use spelunk_sandbox::{HostCall, Value};

use super::{Objects, batch, iterated_from, refused};
use crate::environment::{Arguments, Refusal, int, text_of_value};

/// Names per iteration step.
const BATCH_NAMES: usize = 10_000;
/// Documents up to this size are passed as real strings.
const STRING_BYTES_MAX: u64 = 1_000_000;

pub(super) fn serve(objects: &Objects, call: &mut HostCall) -> Result<Value, Refusal> {
    match call.name.as_str() {
        "__len__" => Ok(int(objects.view.documents().len() as u64)),
        "__getitem__" => {
            let name = Arguments::of(call, &["key"])?.need("key")?;
            let found = name.as_str().and_then(|name| objects.view.find(name));
            let missing = || Refusal::new("KeyError", text_of_value(&name).unwrap_or_default());
            value(objects, found.ok_or_else(missing)?)
        }
        "__contains__" => {
            let name = Arguments::of(call, &["key"])?.need("key")?;
            Ok(Value::Bool(name.as_str().is_some_and(|name| objects.view.find(name).is_some())))
        }
        "get" => {
            let mut arguments = Arguments::of(call, &["key", "default"])?;
            let name = arguments.need("key")?;
            match name.as_str().and_then(|name| objects.view.find(name)) {
                Some(document) => value(objects, document),
                None => Ok(arguments.take("default").unwrap_or(Value::None)),
            }
        }
        "__iter__" => {
            let from = usize::try_from(iterated_from(call)?).unwrap_or(usize::MAX);
            let names: Vec<Value> = objects.view.documents().skip(from).take(BATCH_NAMES).map(name).collect();
            let next = from.saturating_add(names.len());
            let is_end = next >= objects.view.documents().len();
            Ok(batch(Value::List(names), (!is_end).then(|| int(next as u64))))
        }
        "keys" => Ok(Value::List(objects.view.documents().map(name).collect())),
        "values" => {
            Ok(Value::List(objects.view.documents().map(|document| Objects::text(document.idx)).collect()))
        }
        "items" => {
            let pair = |document: &DocEntry| Value::Tuple(vec![name(document), Objects::text(document.idx)]);
            Ok(Value::List(objects.view.documents().map(pair).collect()))
        }
        "__str__" | "__repr__" => {
            let n = objects.view.documents().len();
            Ok(Value::Str(format!("<dict of {n} documents, from name to text>")))
        }
        other => Err(Refusal::new(
            "AttributeError",
            format!("'dict' object has no attribute '{other}' for this many documents"),
        )),
    }
}

fn name(document: &DocEntry) -> Value {
    Value::from(document.name.as_str())
}

fn value(objects: &Objects, document: &DocEntry) -> Result<Value, Refusal> {
    if document.bytes > STRING_BYTES_MAX {
        return Ok(Objects::text(document.idx));
    }
    let text = objects.lazy(document.idx)?;
    Ok(Value::Str(text.to_string_bounded(u64::MAX).map_err(refused)?))
}
