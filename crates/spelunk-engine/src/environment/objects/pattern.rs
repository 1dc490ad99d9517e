//! Python's `re` on a host object. Arguments are the pattern, its flags, and then those of the function after the
//! text.

use std::sync::Arc;

use spelunk_context::{FindAllItem, Flags, LazyText, MatchCursor, PyMatch, PyPattern};
use spelunk_sandbox::{HostCall, Value};
use spelunk_types::Limits;

use super::{Objects, batch, cursor, refused};
use crate::environment::{Arguments, Refusal, int};
use crate::sync::lock;

const BATCH_MATCHES: u64 = 5_000;
const BATCH_BYTES: u64 = 1 << 20;
const PATTERNS_MAX: usize = 100;
const RESULT_BYTES_MAX: u64 = 256 << 20;

pub(super) fn serve(objects: &Objects, text: &LazyText, call: &mut HostCall) -> Result<Value, Refusal> {
    let function = call.name.clone();
    let mut arguments = Arguments::of(call, &["pattern", "flags", "a", "b"])?;
    let (source, flags) = (arguments.need_text("pattern")?, arguments.int("flags")?.unwrap_or(0));
    let pattern = compiled(objects, source, flags.unsigned_abs())?;
    match function.as_str() {
        "re.search" => Ok(one(text.re_search(&pattern).map_err(refused)?)),
        "re.match" => Ok(one(text.re_match(&pattern).map_err(refused)?)),
        "re.fullmatch" => Ok(one(text.re_fullmatch(&pattern).map_err(refused)?)),
        "re.findall" => findall(text, &pattern, &objects.limits),
        "re.finditer" => finditer(text, &pattern, arguments.take("a")),
        "re.split" => split(text, &pattern, arguments.count("a")?.unwrap_or(0)),
        "re.sub" | "re.subn" => {
            let template = arguments.need_text("a")?;
            let replacement = pattern
                .replacement(&template)
                .map_err(|fault| Refusal::new("re.error", fault.to_string()))?;
            let n_max = arguments.count("b")?.unwrap_or(0);
            let (replaced, n) =
                text.re_sub(&pattern, &replacement, n_max, RESULT_BYTES_MAX).map_err(refused)?;
            Ok(if function == "re.sub" {
                Value::Str(replaced)
            } else {
                Value::Tuple(vec![Value::Str(replaced), int(n)])
            })
        }
        other => Err(Refusal::new(
            "AttributeError",
            format!("{other} does not support a text of this size; take a slice first"),
        )),
    }
}

fn compiled(objects: &Objects, source: String, flags: u64) -> Result<Arc<PyPattern>, Refusal> {
    let key = (source, flags);
    if let Some(pattern) = lock(&objects.patterns).get(&key) {
        return Ok(Arc::clone(pattern));
    }
    let pattern = PyPattern::compile(&key.0, Flags::from_python(flags))
        .map_err(|fault| Refusal::new("re.error", fault.to_string()))?;
    let (pattern, mut known) = (Arc::new(pattern), lock(&objects.patterns));
    if known.len() >= PATTERNS_MAX {
        known.clear();
    }
    known.insert(key, Arc::clone(&pattern));
    Ok(pattern)
}

fn one(found: Option<PyMatch>) -> Value {
    found.map_or(Value::None, of_match)
}

/// The texts of a match's groups and their spans. The session wraps it to behave like `re.Match`.
fn of_match(found: PyMatch) -> Value {
    let (mut groups, mut spans) = (Vec::new(), Vec::new());
    for group in found.groups {
        match group {
            Some(group) => {
                spans.push(Value::Tuple(vec![int(group.chars.start), int(group.chars.end)]));
                groups.push(Value::Str(group.text));
            }
            None => {
                spans.push(Value::Tuple(vec![Value::Int(-1), Value::Int(-1)]));
                groups.push(Value::None);
            }
        }
    }
    Value::Tuple(vec![Value::List(groups), Value::List(spans)])
}

fn findall(text: &LazyText, pattern: &PyPattern, limits: &Limits) -> Result<Value, Refusal> {
    let matches_max = limits.cell_matches_max;
    let found =
        text.re_findall(pattern, MatchCursor::default(), matches_max, RESULT_BYTES_MAX).map_err(refused)?;
    if found.next.is_some() {
        let n = found.items.len();
        return Err(Refusal::value(format!(
            "there are more than {n} matches: iterate with re.finditer, or narrow the pattern"
        )));
    }
    let item = |found| match found {
        FindAllItem::Text(text) => Value::Str(text),
        FindAllItem::Groups(groups) => Value::Tuple(groups.into_iter().map(Value::Str).collect()),
    };
    Ok(Value::List(found.items.into_iter().map(item).collect()))
}

fn finditer(text: &LazyText, pattern: &PyPattern, from: Option<Value>) -> Result<Value, Refusal> {
    let from = match cursor(from).try_into() {
        Ok(parts) => MatchCursor::from_parts(parts),
        Err(_) => MatchCursor::default(),
    };
    let found = text.re_finditer(pattern, from, BATCH_MATCHES, BATCH_BYTES).map_err(refused)?;
    let next = found.next.map(|next| Value::Tuple(next.to_parts().map(int).to_vec()));
    Ok(batch(Value::List(found.items.into_iter().map(of_match).collect()), next))
}

fn split(text: &LazyText, pattern: &PyPattern, splits_max: u64) -> Result<Value, Refusal> {
    let (mut items, mut bytes, mut next) = (Vec::new(), 0, Some(MatchCursor::default()));
    while let Some(from) = next {
        let parts = text.re_split(pattern, splits_max, from, BATCH_BYTES).map_err(refused)?;
        for part in parts.items {
            bytes += part.as_ref().map_or(0, String::len) as u64;
            items.push(part.map_or(Value::None, Value::Str));
        }
        if bytes > RESULT_BYTES_MAX {
            return Err(Refusal::value(format!(
                "the parts have more than {RESULT_BYTES_MAX} bytes: split a slice"
            )));
        }
        next = parts.next;
    }
    Ok(Value::List(items))
}
