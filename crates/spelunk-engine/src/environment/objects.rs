//! Host objects: contexts too large to copy into the interpreter. To code they behave like the `str`, `dict`
//! or `list` they represent; each operation is served here and reads only what it needs.
#![expect(clippy::wildcard_enum_match_arm, reason = "every other kind of value is treated alike")]

mod collections;
mod pattern;
mod text;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use spelunk_context::{JsonRecords, LazyText, PyPattern, RecordShape, TextError, View};
use spelunk_sandbox::{Handle, HostCall, Value};
use spelunk_types::Limits;

use super::{Arguments, Refusal};
use crate::sync::lock;

/// How many documents keep their indexes at once.
const OPEN_MAX: usize = 64;

/// The objects of one environment, by the id in their handle. An id fully describes its object, so
/// a repeated cell gets the same objects.
pub(super) struct Objects {
    view: View,
    limits: Limits,
    open: Mutex<HashMap<u32, Arc<LazyText>>>,
    records: Mutex<HashMap<u32, Arc<JsonRecords>>>,
    parts: Mutex<TextRanges>,
    /// By source and flags.
    patterns: Mutex<HashMap<(String, u64), Arc<PyPattern>>>,
}

#[derive(Default)]
struct TextRanges {
    by_id: Vec<TextRange>,
    ids: HashMap<TextRange, u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct TextRange {
    pub(super) doc_idx: u32,
    pub(super) chars: Range<u64>,
}

enum Object {
    Documents,
    Text(u32),
    Records(u32),
    TextRange(TextRange),
}

const KIND_SHIFT: u32 = 32;
const DOCUMENTS: u64 = 1;
const TEXT: u64 = 2;
const RECORDS: u64 = 3;
const PART: u64 = 4;

impl Objects {
    pub(super) fn new(view: View, limits: Limits) -> Self {
        let (open, records, parts) = (Mutex::default(), Mutex::default(), Mutex::default());
        Self { view, limits, open, records, parts, patterns: Mutex::default() }
    }

    pub(super) fn documents() -> Value {
        handle("Documents", DOCUMENTS << KIND_SHIFT)
    }

    pub(super) fn text(doc_idx: u32) -> Value {
        handle("Text", TEXT << KIND_SHIFT | u64::from(doc_idx))
    }

    pub(super) fn list(doc_idx: u32) -> Value {
        handle("Records", RECORDS << KIND_SHIFT | u64::from(doc_idx))
    }

    pub(super) fn part(&self, part: TextRange) -> Value {
        let mut parts = lock(&self.parts);
        let next = parts.by_id.len() as u64;
        let id = *parts.ids.entry(part.clone()).or_insert(next);
        if id == next {
            parts.by_id.push(part);
        }
        handle("Text", PART << KIND_SHIFT | id)
    }

    /// Serves an operation on an object. Ids that were never handed out are rejected.
    pub(super) fn serve(&self, call: &mut HostCall) -> Result<Value, Refusal> {
        let object = call.receiver.as_ref().and_then(|handle| self.object(handle));
        match object {
            Some(Object::Documents) => collections::serve_documents(self, call),
            Some(Object::Text(doc_idx)) => text::serve(self, self.lazy(doc_idx)?.as_ref(), call),
            Some(Object::Records(doc_idx)) => collections::serve_records(self.json(doc_idx)?.as_ref(), call),
            Some(Object::TextRange(part)) => {
                let whole = self.lazy(part.doc_idx)?;
                let piece = whole.slice(part.chars).map_err(refused)?;
                text::serve(self, &LazyText::of_string(whole.name(), &piece), call)
            }
            None => Err(Refusal::new("RuntimeError", "unknown object")),
        }
    }

    pub(super) fn read(&self, handle: &Handle, bytes_max: u64) -> Option<String> {
        match self.object(handle)? {
            Object::Text(doc_idx) => self.lazy(doc_idx).ok()?.to_string_bounded(bytes_max).ok(),
            Object::TextRange(part) => self.lazy(part.doc_idx).ok()?.slice(part.chars).ok(),
            Object::Documents | Object::Records(_) => None,
        }
    }

    pub(super) fn document_of(&self, handle: &Handle) -> Option<u32> {
        match self.object(handle)? {
            Object::Text(doc_idx) | Object::Records(doc_idx) => Some(doc_idx),
            Object::Documents | Object::TextRange(_) => None,
        }
    }

    fn object(&self, handle: &Handle) -> Option<Object> {
        let idx = u32::try_from(handle.id & u64::from(u32::MAX)).ok()?;
        let is_ours = || self.view.documents().any(|document| document.idx == idx);
        match handle.id >> KIND_SHIFT {
            DOCUMENTS => Some(Object::Documents),
            TEXT => is_ours().then_some(Object::Text(idx)),
            RECORDS => is_ours().then_some(Object::Records(idx)),
            PART => {
                let parts = lock(&self.parts);
                parts.by_id.get(idx as usize).cloned().map(Object::TextRange)
            }
            _ => None,
        }
    }

    /// The text of a document, with the indexes built by earlier accesses.
    pub(super) fn lazy(&self, doc_idx: u32) -> Result<Arc<LazyText>, Refusal> {
        let mut open = lock(&self.open);
        if let Some(text) = open.get(&doc_idx) {
            return Ok(Arc::clone(text));
        }
        let document = self.view.documents().find(|document| document.idx == doc_idx);
        let document =
            document.ok_or_else(|| Refusal::new("RuntimeError", "this document is not in the context"))?;
        let text = Arc::new(LazyText::open(&self.view, document).map_err(refused)?);
        if open.len() >= OPEN_MAX {
            open.clear();
        }
        open.insert(doc_idx, Arc::clone(&text));
        Ok(text)
    }

    pub(super) fn json(&self, doc_idx: u32) -> Result<Arc<JsonRecords>, Refusal> {
        if let Some(records) = lock(&self.records).get(&doc_idx) {
            return Ok(Arc::clone(records));
        }
        let records = JsonRecords::open(self.lazy(doc_idx)?, RecordShape::Lines).map_err(refused)?;
        let records = Arc::new(records);
        lock(&self.records).insert(doc_idx, Arc::clone(&records));
        Ok(records)
    }
}

fn handle(class: &str, id: u64) -> Value {
    Value::Handle(Handle { class: class.to_owned(), id })
}

#[expect(clippy::needless_pass_by_value, reason = "it stands in `map_err`")]
fn refused(error: TextError) -> Refusal {
    let kind = match &error {
        TextError::Pattern(_) => "re.error",
        TextError::Read(_) => "NotFound",
        TextError::NoRecord { .. } => "IndexError",
        _ => "ValueError",
    };
    let hint = spelunk_types::Explain::hint(&error).map(|hint| format!(" ({hint})")).unwrap_or_default();
    Refusal::new(kind, format!("{error}{hint}"))
}

/// `context[a:b]` as a range, clipped as in Python. Steps other than 1 are not supported for texts
/// of this size.
fn range(start: Option<i64>, end: Option<i64>, step: Option<i64>, len: u64) -> Result<Range<u64>, Refusal> {
    if !matches!(step, None | Some(1)) {
        return Err(Refusal::value("a slice with a step needs a real str: take context[a:b] first"));
    }
    let place = |bound: i64| match u64::try_from(bound) {
        Ok(bound) => bound.min(len),
        Err(_) => len.saturating_sub(bound.unsigned_abs()),
    };
    let (start, end) = (start.map_or(0, place), end.map_or(len, place));
    Ok(start..end.max(start))
}

/// One position, counted from the end if negative.
fn position(idx: i64, len: u64, what: &str) -> Result<u64, Refusal> {
    let place = match u64::try_from(idx) {
        Ok(idx) => Some(idx),
        Err(_) => len.checked_sub(idx.unsigned_abs()),
    };
    let out = || Refusal::new("IndexError", format!("{what} index out of range"));
    place.filter(|place| *place < len).ok_or_else(out)
}

fn strings(items: impl IntoIterator<Item = String>) -> Value {
    Value::List(items.into_iter().map(Value::Str).collect())
}

/// Where `__iter__` continues; without a cursor, at the start.
fn iterated_from(call: &mut HostCall) -> Result<u64, Refusal> {
    let given = Arguments::of(call, &["cursor"])?.take("cursor");
    Ok(cursor(given).first().copied().unwrap_or(0))
}

/// A cursor in the form that code holds: nothing, a number, or numbers.
fn cursor(value: Option<Value>) -> Vec<u64> {
    let number = |value: &Value| match value {
        Value::Int(n) => u64::try_from(*n).ok(),
        _ => None,
    };
    match value {
        Some(Value::Tuple(parts) | Value::List(parts)) => parts.iter().filter_map(number).collect(),
        Some(value) => number(&value).into_iter().collect(),
        None => Vec::new(),
    }
}

fn batch(items: Value, next: Option<Value>) -> Value {
    Value::Tuple(vec![items, next.unwrap_or(Value::None)])
}
