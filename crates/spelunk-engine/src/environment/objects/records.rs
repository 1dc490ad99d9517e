//! A document of many records, as Python's `list`.
#![expect(clippy::wildcard_enum_match_arm, reason = "every other kind of value is treated alike")]

use std::sync::Arc;

use spelunk_context::{JsonRecords, LazyText, RecordShape, TextError};
use spelunk_sandbox::{HostCall, Value, parse_json};

use super::{batch, iterated_from, position, range, refused};
use crate::environment::{Arguments, Refusal, int};

/// Records per iteration step.
const BATCH_RECORDS: u64 = 1_000;
const SLICE_RECORDS_MAX: u64 = 100_000;

/// JSON Lines by extension, otherwise the elements of an array.
pub(super) fn open(text: Arc<LazyText>) -> Result<JsonRecords, TextError> {
    let is_lines = [".jsonl", ".ndjson"].iter().any(|extension| text.name().ends_with(extension));
    JsonRecords::open(text, if is_lines { RecordShape::Lines } else { RecordShape::Array })
}

pub(super) fn serve(records: &JsonRecords, call: &mut HostCall) -> Result<Value, Refusal> {
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
