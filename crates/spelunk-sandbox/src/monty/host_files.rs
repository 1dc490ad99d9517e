//! Files kept by the host: file operations of a cell become calls of the host function [`FILES`], if the setup has one.
//! Without it, a session has its own in-memory files.

use monty_types::{
    ExcType, ExtFunctionResult, MontyException, MontyFileHandle, MontyObject, OsFunctionCall, file_stat,
};

use crate::{HostCall, Value};

/// The host function that serves files: `_files(what, path, data)`. `what` is one of `exists`, `is_file`, `is_dir`,
/// `size`, `read_text`, `read_bytes`, `list`, `write`, `append`, `remove`, `make_directory`.
pub const FILES: &str = "_files";

/// The host call for a file operation; `None` if it is not about a file, or needs no host.
pub(super) fn asked(call: &OsFunctionCall) -> Option<HostCall> {
    let (what, path, data) = operation(call)?;
    let args = vec![Value::from(what), Value::from(path), data];
    Some(HostCall { name: FILES.to_owned(), receiver: None, args, kwargs: Vec::new() })
}

/// The name, the path and the data of a file operation.
#[expect(clippy::wildcard_enum_match_arm, reason = "what is not listed needs no host")]
pub(super) fn operation(call: &OsFunctionCall) -> Option<(&'static str, &str, Value)> {
    Some(match call {
        OsFunctionCall::Exists(path) => ("exists", path.as_str(), Value::None),
        OsFunctionCall::IsFile(path) => ("is_file", path.as_str(), Value::None),
        OsFunctionCall::IsDir(path) => ("is_dir", path.as_str(), Value::None),
        OsFunctionCall::Stat(path) => ("size", path.as_str(), Value::None),
        OsFunctionCall::ReadText(path) => ("read_text", path.as_str(), Value::None),
        OsFunctionCall::ReadBytes(path) => ("read_bytes", path.as_str(), Value::None),
        OsFunctionCall::Iterdir(path) => ("list", path.as_str(), Value::None),
        OsFunctionCall::WriteText(args) => ("write", args.path.as_str(), Value::from(args.data.as_str())),
        OsFunctionCall::AppendText(args) => ("append", args.path.as_str(), Value::from(args.data.as_str())),
        OsFunctionCall::WriteBytes(args) => ("write", args.path.as_str(), Value::Bytes(args.data.clone())),
        OsFunctionCall::AppendBytes(args) => ("append", args.path.as_str(), Value::Bytes(args.data.clone())),
        OsFunctionCall::Unlink(path) => ("remove", path.as_str(), Value::None),
        OsFunctionCall::Mkdir(args) => ("make_directory", args.path.as_str(), Value::None),
        OsFunctionCall::Open(args) => {
            let what = match (args.mode.writable(), args.mode.truncate(), args.mode.create()) {
                (false, ..) | (true, false, false) => "size",
                (true, true, _) => "write",
                (true, false, true) => "append",
            };
            (what, args.path.as_str(), Value::None)
        }
        _ => return None,
    })
}

/// Converts the host's reply to what the operation expects.
pub(super) fn answered(call: &OsFunctionCall, value: Value) -> ExtFunctionResult {
    let wrong = || {
        let what = "the host returned an invalid reply for a file".to_owned();
        ExtFunctionResult::Error(MontyException::new(ExcType::OSError, Some(what)))
    };
    let object = match (call, value) {
        (OsFunctionCall::Open(args), _) => {
            let path = args.path.as_str().to_owned();
            MontyObject::file_handle(MontyFileHandle { path, mode: args.mode, position: 0 })
        }
        (OsFunctionCall::Stat(_), Value::Int(bytes)) => file_stat(0o644, bytes, 0.0),
        (OsFunctionCall::Iterdir(path), Value::List(names)) => {
            let below = path.as_str().trim_end_matches('/').to_owned();
            let paths = names.iter().filter_map(Value::as_str).map(|name| format!("{below}/{name}"));
            MontyObject::list(paths.map(MontyObject::path).collect::<Vec<_>>())
        }
        (_, Value::Bool(flag)) => MontyObject::bool(flag),
        (_, Value::Int(n)) => MontyObject::int(n),
        (_, Value::Str(text)) => MontyObject::string(text),
        (_, Value::Bytes(bytes)) => MontyObject::bytes(bytes),
        (_, Value::None) => MontyObject::none(),
        _ => return wrong(),
    };
    ExtFunctionResult::Return(object)
}
