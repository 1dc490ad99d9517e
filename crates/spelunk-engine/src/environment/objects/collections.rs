//! A dictionary of documents, as Python's `dict` from name to text, and a document of many records, as its `list`.
#![expect(clippy::wildcard_enum_match_arm, reason = "every other kind of value is treated alike")]

use spelunk_context::{DocEntry, JsonRecords};
use spelunk_sandbox::{HostCall, Value, parse_json};

use super::{Objects, batch, iterated_from, position, range, refused};
use crate::environment::{Arguments, Refusal, int, text_of_value};

const BATCH_NAMES: usize = 10_000;
/// Documents up to this size are passed as real strings.
const STRING_BYTES_MAX: u64 = 1_000_000;

pub(super) fn serve_documents(objects: &Objects, call: &mut HostCall) -> Result<Value, Refusal> {
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

const BATCH_RECORDS: u64 = 1_000;
const SLICE_RECORDS_MAX: u64 = 100_000;

pub(super) fn serve_records(records: &JsonRecords, call: &mut HostCall) -> Result<Value, Refusal> {
    let len = records.n_records();
    match call.name.as_str() {
        "__len__" => Ok(int(len)),
        "__getitem__" => match Arguments::of(call, &["key"])?.need("key")? {
            Value::Int(idx) => record(records, position(idx, len, "list")?),
            Value::Slice(start, end, step) => {
                let range = range(start, end, step, len)?;
                if range.end - range.start > SLICE_RECORDS_MAX {
                    return Err(Refusal::value(format!(
                        "a slice can have at most {SLICE_RECORDS_MAX} records: use a loop"
                    )));
                }
                Ok(Value::List(range.map(|idx| record(records, idx)).collect::<Result<_, _>>()?))
            }
            other => Err(Refusal::of_type(format!(
                "list indices must be integers or slices, not {}",
                other.type_name()
            ))),
        },
        "__iter__" => {
            let from = iterated_from(call)?;
            let end = from.saturating_add(BATCH_RECORDS).min(len);
            let items = (from..end).map(|idx| record(records, idx)).collect::<Result<_, _>>()?;
            Ok(batch(Value::List(items), (end < len).then(|| int(end))))
        }
        "__str__" | "__repr__" => Ok(Value::Str(format!("<list of {len} records>"))),
        other => Err(Refusal::new(
            "AttributeError",
            format!("'list' object has no attribute '{other}' for this many records"),
        )),
    }
}

fn record(records: &JsonRecords, idx: u64) -> Result<Value, Refusal> {
    let text = records.record(idx).map_err(refused)?;
    parse_json(&text).map_err(|error| Refusal::value(format!("record {idx} is not JSON: {error}")))
}
