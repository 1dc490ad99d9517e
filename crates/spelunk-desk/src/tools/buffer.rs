//! Buffers: texts that grow over many replies. Each is a file of JSON strings under `state/buffers/`, one part per
//! line, so parts stay separate until they are assembled into a file.

use serde_json::Value;

use super::wire::BufferAction;
use super::{arguments, refused, wire};
use crate::{Desk, DeskError, DeskPath, Zone, show};

const PARTS_MAX: u64 = 1000;
const NAME_BYTES_MAX: usize = 64;
const JOIN_BYTES_MAX: usize = 1000;

pub(super) fn run(desk: &mut Desk, value: &Value) -> Result<String, DeskError> {
    let arguments: wire::Buffer = arguments("Buffer", value)?;
    if arguments.join.as_ref().is_some_and(|join| join.len() > JOIN_BYTES_MAX) {
        return Err(refused("Buffer", format!("`join` must have at most {JOIN_BYTES_MAX} bytes")));
    }
    let (name, path) = match (arguments.action, arguments.name.as_deref()) {
        (BufferAction::List, _) => return list(desk),
        (_, Some(name)) => (name, path_of(name)?),
        (_, None) => return Err(refused("Buffer", "`name` is missing")),
    };
    match arguments.action {
        BufferAction::List => list(desk),
        BufferAction::Append => append(desk, name, &path, arguments.text.as_deref()),
        BufferAction::Read => read(desk, name, &path, &arguments),
        BufferAction::Pop => pop(desk, name, &path),
        BufferAction::Clear => {
            parts(desk, name, &path)?;
            desk.discard(&path);
            Ok(format!("buffer `{name}` was removed"))
        }
        BufferAction::Assemble => assemble(desk, name, &path, &arguments),
    }
}

fn path_of(name: &str) -> Result<DeskPath, DeskError> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.is_empty() || name.len() > NAME_BYTES_MAX || !name.chars().all(is_plain) {
        let why = format!("`name` must have 1 to {NAME_BYTES_MAX} letters, digits, `-` or `_`");
        return Err(refused("Buffer", why));
    }
    Ok(DeskPath::parse(&format!("{}/{name}.jsonl", Zone::BUFFERS))?)
}

fn append(desk: &mut Desk, name: &str, path: &DeskPath, text: Option<&str>) -> Result<String, DeskError> {
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        return Err(refused("Buffer", "`text` is missing"));
    };
    let held = if desk.entry(path).is_some() { parts(desk, name, path)? } else { Vec::new() };
    let n_parts = held.len() as u64 + 1;
    if n_parts > PARTS_MAX {
        let what = format!("buffer `{name}`, in parts,");
        return Err(DeskError::TooMuch { what, max: PARTS_MAX, would: n_parts });
    }
    desk.put_more(path, format!("{}\n", Value::from(text)).as_bytes())?;
    let n_chars =
        held.iter().map(|part| part.chars().count() as u64).sum::<u64>() + text.chars().count() as u64;
    Ok(format!("buffer `{name}` has {}", size(n_parts, n_chars)))
}

fn read(desk: &Desk, name: &str, path: &DeskPath, arguments: &wire::Buffer) -> Result<String, DeskError> {
    let parts = parts(desk, name, path)?;
    let as_usize = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let first = arguments.first.unwrap_or(1).max(1);
    let n_max = arguments.limit.map_or(usize::MAX, as_usize);
    let wanted = parts.iter().skip(as_usize(first - 1)).take(n_max);
    let wanted: Vec<&str> = wanted.map(String::as_str).collect();
    let last = first - 1 + wanted.len() as u64;
    let text = wanted.join(arguments.join.as_deref().unwrap_or("\n"));
    let text =
        show::bounded(&text, desk.limits().output_bytes_max, "read fewer parts with `first` and `limit`");
    Ok(format!("{text}\n[parts {first}-{last} of {} in buffer `{name}`]\n", parts.len()))
}

fn list(desk: &Desk) -> Result<String, DeskError> {
    let mut text = String::new();
    for (file, _) in desk.list(&DeskPath::of(Zone::BUFFERS))? {
        let Some(name) = file.strip_suffix(".jsonl") else { continue };
        let parts = parts(desk, name, &path_of(name)?)?;
        let n_chars = parts.iter().map(|part| part.chars().count() as u64).sum();
        let preview = parts.first().map(|part| show::on_one_line(part, 100)).unwrap_or_default();
        text.push_str(&format!("{name}: {}; begins with: {preview}\n", size(parts.len() as u64, n_chars)));
    }
    if text.is_empty() {
        text.push_str("[there are no buffers]\n");
    }
    Ok(show::bounded(&text, desk.limits().output_bytes_max, "clear some"))
}

fn pop(desk: &mut Desk, name: &str, path: &DeskPath) -> Result<String, DeskError> {
    let mut parts = parts(desk, name, path)?;
    let Some(last) = parts.pop() else {
        return Err(DeskError::NoBuffer { name: name.to_owned(), there: " with any parts".to_owned() });
    };
    let rest: Vec<String> = parts.iter().map(|part| Value::from(part.as_str()).to_string() + "\n").collect();
    if parts.is_empty() {
        desk.discard(path);
    } else {
        desk.put(path, rest.concat())?;
    }
    let last = show::bounded(&last, desk.limits().output_bytes_max, "it was removed from the buffer");
    let left = show::counted(parts.len() as u64, "part", "parts");
    Ok(format!("{last}\n[removed from buffer `{name}`, which has {left} left]\n"))
}

fn assemble(
    desk: &mut Desk,
    name: &str,
    path: &DeskPath,
    arguments: &wire::Buffer,
) -> Result<String, DeskError> {
    let Some(target) = arguments.path.as_deref() else {
        let why = "`path` is missing: the file to assemble into, such as `output/answer.md`";
        return Err(refused("Buffer", why));
    };
    let target = DeskPath::parse(target)?;
    let parts = parts(desk, name, path)?;
    let mut text = parts.join(arguments.join.as_deref().unwrap_or("\n"));
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let bytes = text.len();
    desk.write(&target, text)?;
    let parts = show::counted(parts.len() as u64, "part", "parts");
    Ok(format!("wrote {parts} of buffer `{name}` to `{target}`, {bytes} bytes"))
}

fn parts(desk: &Desk, name: &str, path: &DeskPath) -> Result<Vec<String>, DeskError> {
    if desk.entry(path).is_none() {
        let names: Vec<String> = desk
            .list(&DeskPath::of(Zone::BUFFERS))?
            .iter()
            .filter_map(|(file, _)| file.strip_suffix(".jsonl").map(|name| format!("`{name}`")))
            .take(8)
            .collect();
        let there = if names.is_empty() {
            "; append to one first".to_owned()
        } else {
            format!("; the buffers are {}", names.join(", "))
        };
        return Err(DeskError::NoBuffer { name: name.to_owned(), there });
    }
    let text = desk.text(path)?;
    let part = |line: &str| serde_json::from_str::<String>(line);
    text.lines()
        .map(part)
        .collect::<Result<_, _>>()
        .map_err(|error| DeskError::Damaged { path: path.clone(), why: error.to_string() })
}

fn size(n_parts: u64, n_chars: u64) -> String {
    show::counted(n_parts, "part", "parts") + ", " + &show::counted(n_chars, "character", "characters")
}
