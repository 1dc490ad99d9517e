//! File access of scripts, on the desk. The interpreter passes every `open`, `Path` and `os` call
//! as `_files(what, path, data)`; the permissions are those of the model's own tools.
#![expect(clippy::wildcard_enum_match_arm, reason = "every other kind of value is treated alike")]

use spelunk_desk::{Desk, DeskError, DeskPath, Entry};
use spelunk_sandbox::{HostCall, Value};

use crate::environment::{Arguments, Refusal, int};

pub(super) fn serve(desk: &mut Desk, call: &mut HostCall) -> Result<Value, Refusal> {
    let mut arguments = Arguments::of(call, &["what", "path", "data"])?;
    let (what, given) = (arguments.need_text("what")?, arguments.need_text("path")?);
    let data = arguments.take("data");
    let parsed = if matches!(given.as_str(), "" | "." | "/" | "./") {
        Ok(DeskPath::top())
    } else {
        DeskPath::parse(&given)
    };
    let path = match (parsed, what.as_str()) {
        (Ok(path), _) => path,
        (Err(_), "exists" | "is_file" | "is_dir") => return Ok(Value::Bool(false)),
        (Err(error), _) => return Err(refusal(&error.into(), &given)),
    };
    let wrong = |error: DeskError| refusal(&error, &given);
    let entry = desk.entry(&path);
    match what.as_str() {
        "exists" => Ok(Value::Bool(entry.is_some())),
        "is_file" => Ok(Value::Bool(matches!(entry, Some(Entry::File { .. } | Entry::Document { .. })))),
        "is_dir" => Ok(Value::Bool(entry == Some(Entry::Directory))),
        "size" => match desk.require(&path).map_err(wrong)? {
            Entry::File { bytes } | Entry::Document { bytes } => Ok(int(bytes)),
            Entry::Directory => Ok(int(0)),
        },
        "read_text" => desk.text(&path).map(|text| Value::from(text.as_ref())).map_err(wrong),
        "read_bytes" => desk.read(&path).map(|bytes| Value::Bytes(bytes.into_owned())).map_err(wrong),
        "list" => {
            let names = desk.list(&path).map_err(wrong)?;
            Ok(Value::List(names.into_iter().map(|(name, _)| Value::from(name.as_str())).collect()))
        }
        "write" => {
            let (bytes, n_written) = bytes(data)?;
            desk.write(&path, bytes).map(|()| int(n_written)).map_err(wrong)
        }
        "append" => {
            let (bytes, n_written) = bytes(data)?;
            desk.append(&path, &bytes).map(|()| int(n_written)).map_err(wrong)
        }
        "remove" => desk.remove(&path).map(|()| Value::None).map_err(wrong),
        "make_directory" => desk.make_directory(&path).map(|()| Value::None).map_err(wrong),
        other => Err(Refusal::new("OSError", format!("[Errno 38] Function not implemented: '{other}'"))),
    }
}

/// The bytes to write, and the count that Python returns.
fn bytes(data: Option<Value>) -> Result<(Vec<u8>, u64), Refusal> {
    match data {
        Some(Value::Str(text)) => {
            let n_chars = text.chars().count() as u64;
            Ok((text.into_bytes(), n_chars))
        }
        Some(Value::Bytes(bytes)) => {
            let n_bytes = bytes.len() as u64;
            Ok((bytes, n_bytes))
        }
        None => Ok((Vec::new(), 0)),
        Some(other) => Err(Refusal::of_type(format!("a file takes str or bytes, not {}", other.type_name()))),
    }
}

fn refusal(error: &DeskError, path: &str) -> Refusal {
    let (kind, what) = match error {
        DeskError::NotFound { .. } => ("FileNotFoundError", "[Errno 2] No such file or directory"),
        DeskError::IsDirectory { .. } => ("IsADirectoryError", "[Errno 21] Is a directory"),
        DeskError::NotDirectory { .. } => ("NotADirectoryError", "[Errno 20] Not a directory"),
        DeskError::Exists { .. } => ("FileExistsError", "[Errno 17] File exists"),
        DeskError::ReadOnly { .. } | DeskError::ToolOnly { .. } => {
            ("PermissionError", "[Errno 13] Permission denied")
        }
        _ => return Refusal::new("OSError", error.to_string()),
    };
    Refusal::new(kind, format!("{what}: '{path}' ({error})"))
}
