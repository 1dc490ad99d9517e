//! The files a session sees: those it was given, and those it wrote itself. All are in memory.

use std::collections::BTreeMap;

use monty_types::{ExcType, ExtFunctionResult, MontyException, MontyObject, OsFunctionCall};

use super::host_files;
use crate::Value;

/// All that a session writes.
const SCRATCH_BYTES_MAX: usize = 64 * 1024 * 1024;

#[derive(Debug, Default)]
pub(super) struct Files {
    /// By absolute path.
    by_path: BTreeMap<String, File>,
    scratch_bytes: usize,
}

#[derive(Debug)]
struct File {
    bytes: Vec<u8>,
    is_given: bool,
}

impl Files {
    pub(super) fn new(given: &[(String, Value)]) -> Self {
        let mut files = Self::default();
        for (path, content) in given {
            let bytes = if let Value::Bytes(bytes) = content {
                bytes.clone()
            } else {
                content.as_str().unwrap_or_default().as_bytes().to_vec()
            };
            files.by_path.insert(absolute(path), File { bytes, is_given: true });
        }
        files
    }

    /// Handles a file operation as a host would. `None` if the call is about something else.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is done as a host does it")]
    pub(super) fn answer(&mut self, call: &OsFunctionCall) -> Option<ExtFunctionResult> {
        match call {
            OsFunctionCall::IsSymlink(_) => return Some(ExtFunctionResult::Return(MontyObject::bool(false))),
            OsFunctionCall::Resolve(path) | OsFunctionCall::Absolute(path) => {
                return Some(ExtFunctionResult::Return(MontyObject::path(path.as_str())));
            }
            _ => {}
        }
        let is_opened = matches!(call, OsFunctionCall::Open(args) if args.mode.writable());
        let (what, path, data) = host_files::operation(call)?;
        let done = match what {
            "exists" | "is_file" => Ok(Value::Bool(self.by_path.contains_key(path))),
            "is_dir" => Ok(Value::Bool(path == "/")),
            "size" => self.read(path).map(|bytes| Value::Int(count(bytes.len()))).and_then(|bytes| {
                // A file that is opened for reading and writing.
                if is_opened { self.check_writable(path).map(|()| bytes) } else { Ok(bytes) }
            }),
            "read_text" => self.read(path).and_then(text_of),
            "read_bytes" => self.read(path).map(|bytes| Value::Bytes(bytes.to_vec())),
            "list" if path == "/" => {
                let names = self.by_path.keys().map(|path| path.trim_start_matches('/').into());
                Ok(Value::List(names.collect()))
            }
            "write" | "append" => self.write(path, &data, what == "append"),
            "remove" => self.remove(path),
            "make_directory" => Ok(Value::None),
            _ => return None,
        };
        Some(match done {
            Ok(value) => host_files::answered(call, value),
            Err(error) => ExtFunctionResult::Error(error),
        })
    }

    fn read(&self, path: &str) -> Result<&[u8], MontyException> {
        self.by_path.get(path).map(|file| file.bytes.as_slice()).ok_or_else(|| not_found(path))
    }

    /// Writes text or bytes. Returns how many characters or bytes there were.
    fn write(&mut self, path: &str, data: &Value, is_appended: bool) -> Result<Value, MontyException> {
        self.check_writable(path)?;
        let (data, n_written) = if let Value::Bytes(bytes) = data {
            (bytes.as_slice(), bytes.len())
        } else {
            data.as_str().map_or((&[][..], 0), |text| (text.as_bytes(), text.chars().count()))
        };
        let old = self.by_path.get(path).map_or(0, |file| file.bytes.len());
        let kept = if is_appended { old } else { 0 };
        let scratch_bytes = self.scratch_bytes - old + kept + data.len();
        if scratch_bytes > SCRATCH_BYTES_MAX {
            let what = format!("[Errno 28] No space left on device: '{path}'");
            return Err(MontyException::new(ExcType::OSError, Some(what)));
        }
        self.scratch_bytes = scratch_bytes;
        let file = self
            .by_path
            .entry(path.to_owned())
            .or_insert_with(|| File { bytes: Vec::new(), is_given: false });
        file.bytes.truncate(kept);
        file.bytes.extend_from_slice(data);
        Ok(Value::Int(count(n_written)))
    }

    fn check_writable(&self, path: &str) -> Result<(), MontyException> {
        // Device and system files appear to exist to programs that write to them.
        let is_system = ["/dev/", "/etc/", "/proc/", "/sys/"].iter().any(|place| path.starts_with(place));
        if is_system || self.by_path.get(path).is_some_and(|file| file.is_given) {
            let what = format!("[Errno 13] Permission denied: '{}'", shown(path));
            return Err(MontyException::new(ExcType::PermissionError, Some(what)));
        }
        Ok(())
    }

    fn remove(&mut self, path: &str) -> Result<Value, MontyException> {
        self.check_writable(path)?;
        let file = self.by_path.remove(path).ok_or_else(|| not_found(path))?;
        self.scratch_bytes -= file.bytes.len();
        Ok(Value::None)
    }
}

fn absolute(path: &str) -> String {
    if path.starts_with('/') { path.to_owned() } else { format!("/{}", path.trim_start_matches("./")) }
}

/// Relative paths arrive below `/`; this is the path as written.
fn shown(path: &str) -> &str {
    path.strip_prefix('/').filter(|rest| !rest.contains('/')).unwrap_or(path)
}

fn not_found(path: &str) -> MontyException {
    let what = format!("[Errno 2] No such file or directory: '{}'", shown(path));
    MontyException::new(ExcType::FileNotFoundError, Some(what))
}

fn text_of(bytes: &[u8]) -> Result<Value, MontyException> {
    std::str::from_utf8(bytes).map(Value::from).map_err(|error| {
        let what = format!("'utf-8' codec can't decode bytes at position {}", error.valid_up_to());
        MontyException::new(ExcType::ValueError, Some(what))
    })
}

fn count(n: usize) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}
