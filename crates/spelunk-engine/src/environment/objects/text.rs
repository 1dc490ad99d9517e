//! A text of any size, as Python's `str`.
#![expect(clippy::wildcard_enum_match_arm, reason = "every other kind of value is treated alike")]

use std::ops::Range;

use spelunk_context::{LazyText, MatchCursor, TextError};
use spelunk_sandbox::{HostCall, Value};

use super::{Objects, batch, iterated_from, pattern, position, range, refused, strings};
use crate::environment::{Arguments, Refusal, int};

const BATCH_BYTES: u64 = 1 << 20;
const WHOLE_BYTES_MAX: u64 = 64 << 20;

pub(super) fn serve(objects: &Objects, text: &LazyText, call: &mut HostCall) -> Result<Value, Refusal> {
    if call.name.starts_with("re.") {
        return pattern::serve(objects, text, call);
    }
    match call.name.as_str() {
        "__len__" => Ok(int(text.chars().map_err(refused)?)),
        "__getitem__" => item(text, Arguments::of(call, &["key"])?.need("key")?),
        "__contains__" => {
            let needle = Arguments::of(call, &["needle"])?.need_text("needle")?;
            Ok(Value::Bool(text.contains(&needle).map_err(refused)?))
        }
        "__str__" | "__repr__" => whole(text).map(Value::Str),
        // A real string of the session, if it fits.
        "__real__" => {
            let fits = text.bytes() <= WHOLE_BYTES_MAX.min(objects.limits.cell_memory_bytes_max / 4);
            if fits { whole(text).map(Value::Str) } else { Ok(Value::None) }
        }
        "__iter__" => {
            let lines = text.lines(iterated_from(call)?, BATCH_BYTES, true).map_err(refused)?;
            Ok(batch(strings(lines.items), lines.next.map(int)))
        }
        "find" | "index" => find(text, call, LazyText::find),
        "rfind" | "rindex" => find(text, call, LazyText::rfind),
        "count" => {
            let (needle, chars) = bounds(text, call)?;
            Ok(int(text.count(&needle, chars).map_err(refused)?))
        }
        "startswith" => any_of(text, call, |needle, chars| match chars {
            None => text.starts_with(needle),
            Some(chars) => {
                let end = chars.end.min(chars.start + needle.chars().count() as u64);
                Ok(text.slice(chars.start..end)? == needle)
            }
        }),
        "endswith" => any_of(text, call, |needle, chars| match chars {
            None => text.ends_with(needle),
            Some(chars) => {
                let start = chars.end.saturating_sub(needle.chars().count() as u64).max(chars.start);
                Ok(text.slice(start..chars.end)? == needle)
            }
        }),
        "splitlines" => splitlines(text, call),
        "split" => split(text, call),
        "encode" | "lower" | "upper" | "strip" | "lstrip" | "rstrip" | "replace" | "title" | "casefold"
        | "capitalize" | "swapcase" | "partition" | "rpartition" | "rsplit" | "isascii" | "removeprefix"
        | "removesuffix" => Err(too_large(text, &call.name)),
        other => Err(Refusal::new(
            "AttributeError",
            format!("'str' object has no attribute '{other}' for a text of this size; take a slice first"),
        )),
    }
}

fn item(text: &LazyText, key: Value) -> Result<Value, Refusal> {
    let len = text.chars().map_err(refused)?;
    let chars = match key {
        Value::Int(idx) => {
            let at = position(idx, len, "string")?;
            at..at + 1
        }
        Value::Slice(start, end, step) => range(start, end, step, len)?,
        other => {
            return Err(Refusal::of_type(format!(
                "string indices must be integers, not '{}'",
                other.type_name()
            )));
        }
    };
    Ok(Value::Str(text.slice(chars).map_err(refused)?))
}

fn whole(text: &LazyText) -> Result<String, Refusal> {
    if text.bytes() > WHOLE_BYTES_MAX {
        return Err(too_large(text, "str"));
    }
    text.to_string_bounded(WHOLE_BYTES_MAX).map_err(refused)
}

fn too_large(text: &LazyText, what: &str) -> Refusal {
    let instead = match what {
        "splitlines" => "`for line in context:`, which iterates over lines",
        "split" | "rsplit" => {
            "`for line in context:`, or `for m in re.finditer(r'\\S+', context):` for words"
        }
        "lower" | "upper" | "casefold" | "title" | "swapcase" | "capitalize" => {
            "`re.search(pattern, context, re.I)`, or `for line in context:` and `line.lower()`"
        }
        "replace" => "`for line in context:` and `line.replace(...)`",
        "partition" | "rpartition" => "`at = context.find(...)` and `context[at:at + 1000]`",
        "strip" | "lstrip" | "rstrip" | "removeprefix" | "removesuffix" => "`context[a:b].strip()`",
        _ => "`context[a:b]`, `for line in context:`, `grep()` or `re`",
    };
    Refusal::value(format!(
        "`{}` has {} bytes and stays outside the session, and {what}() would copy all of it: write {instead}",
        text.name(),
        text.bytes()
    ))
}

type Find = fn(&LazyText, &str, Range<u64>) -> Result<Option<u64>, TextError>;

fn find(text: &LazyText, call: &mut HostCall, find: Find) -> Result<Value, Refusal> {
    let must_find = call.name.ends_with("index");
    let (needle, chars) = bounds(text, call)?;
    match find(text, &needle, chars).map_err(refused)? {
        Some(at) => Ok(int(at)),
        None if must_find => Err(Refusal::value("substring not found")),
        None => Ok(Value::Int(-1)),
    }
}

fn bounds(text: &LazyText, call: &mut HostCall) -> Result<(String, Range<u64>), Refusal> {
    let mut arguments = Arguments::of(call, &["needle", "start", "end"])?;
    let needle = arguments.need_text("needle")?;
    let (start, end) = (arguments.int("start")?, arguments.int("end")?);
    Ok((needle, range(start, end, None, text.chars().map_err(refused)?)?))
}

fn any_of(
    text: &LazyText,
    call: &mut HostCall,
    holds: impl Fn(&str, Option<Range<u64>>) -> Result<bool, TextError>,
) -> Result<Value, Refusal> {
    let mut arguments = Arguments::of(call, &["needle", "start", "end"])?;
    let needles = match arguments.need("needle")? {
        Value::Tuple(items) => items,
        one => vec![one],
    };
    let chars = match (arguments.int("start")?, arguments.int("end")?) {
        (None, None) => None,
        (start, end) => Some(range(start, end, None, text.chars().map_err(refused)?)?),
    };
    for needle in &needles {
        let wrong =
            || Refusal::of_type(format!("a str or a tuple of str is required, not {}", needle.type_name()));
        if holds(needle.as_str().ok_or_else(wrong)?, chars.clone()).map_err(refused)? {
            return Ok(Value::Bool(true));
        }
    }
    Ok(Value::Bool(false))
}

fn splitlines(text: &LazyText, call: &mut HostCall) -> Result<Value, Refusal> {
    let keeps_ends = Arguments::of(call, &["keepends"])?.flag("keepends")?.unwrap_or(false);
    if text.bytes() > WHOLE_BYTES_MAX {
        return Err(too_large(text, "splitlines"));
    }
    let (mut items, mut next) = (Vec::new(), Some(0));
    while let Some(from) = next {
        let lines = text.lines(from, BATCH_BYTES, keeps_ends).map_err(refused)?;
        items.extend(lines.items);
        next = lines.next;
    }
    Ok(strings(items))
}

fn split(text: &LazyText, call: &mut HostCall) -> Result<Value, Refusal> {
    let mut arguments = Arguments::of(call, &["sep", "maxsplit"])?;
    let (separator, splits_max) = (arguments.text("sep")?, arguments.int("maxsplit")?.unwrap_or(-1));
    if text.bytes() > WHOLE_BYTES_MAX && splits_max < 0 {
        return Err(too_large(text, "split"));
    }
    if splits_max == 0 {
        return Ok(Value::List(vec![Value::Str(whole(text)?)]));
    }
    let splits_max = u64::try_from(splits_max).unwrap_or(0);
    let (mut items, mut next) = (Vec::new(), Some(MatchCursor::default()));
    while let Some(from) = next {
        let parts = text.split(separator.as_deref(), splits_max, from, BATCH_BYTES).map_err(refused)?;
        items.extend(parts.items);
        next = parts.next;
    }
    Ok(strings(items))
}
