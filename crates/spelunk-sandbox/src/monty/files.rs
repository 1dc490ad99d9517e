//! The files a session sees: those it was given, and those it wrote itself. All are in memory.

use std::collections::BTreeMap;

use monty_types::{
    ExcType, ExtFunctionResult, MontyException, MontyFileHandle, MontyObject, OpenCallArgs, OsFunctionCall,
    file_stat,
};

use crate::Value;

/// How much a session may write in total.
const SCRATCH_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Files by absolute path.
#[derive(Debug, Default)]
pub(super) struct Files {
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

    /// Handles a file operation. `None` if the call is about something else.
    #[expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is not about a file that is here")]
    pub(super) fn answer(&mut self, call: &OsFunctionCall) -> Option<ExtFunctionResult> {
        let answer = match call {
            OsFunctionCall::Exists(path) | OsFunctionCall::IsFile(path) => {
                Ok(MontyObject::bool(self.by_path.contains_key(path.as_str())))
            }
            OsFunctionCall::IsDir(path) => Ok(MontyObject::bool(path.as_str() == "/")),
            OsFunctionCall::IsSymlink(_) => Ok(MontyObject::bool(false)),
            OsFunctionCall::ReadText(path) => self.read(path.as_str()).and_then(text_of),
            OsFunctionCall::ReadBytes(path) => self.read(path.as_str()).map(MontyObject::bytes),
            OsFunctionCall::Stat(path) => {
                self.read(path.as_str()).map(|bytes| file_stat(0o644, size_of(&bytes), 0.0))
            }
            OsFunctionCall::Resolve(path) | OsFunctionCall::Absolute(path) => {
                Ok(MontyObject::path(path.as_str()))
            }
            OsFunctionCall::Iterdir(path) if path.as_str() == "/" => {
                Ok(MontyObject::list(self.by_path.keys().map(MontyObject::path)))
            }
            OsFunctionCall::Open(args) => self.open(args),
            OsFunctionCall::WriteText(args) => {
                self.write(args.path.as_str(), args.data.as_bytes(), false, args.data.chars().count())
            }
            OsFunctionCall::AppendText(args) => {
                self.write(args.path.as_str(), args.data.as_bytes(), true, args.data.chars().count())
            }
            OsFunctionCall::WriteBytes(args) => {
                self.write(args.path.as_str(), &args.data, false, args.data.len())
            }
            OsFunctionCall::AppendBytes(args) => {
                self.write(args.path.as_str(), &args.data, true, args.data.len())
            }
            OsFunctionCall::Unlink(path) => self.remove(path.as_str()),
            OsFunctionCall::Mkdir(_) => Ok(MontyObject::none()),
            _ => return None,
        };
        Some(answer.map_or_else(ExtFunctionResult::Error, ExtFunctionResult::Return))
    }

    fn open(&mut self, args: &OpenCallArgs) -> Result<MontyObject, MontyException> {
        let path = args.path.as_str();
        if args.mode.writable() {
            if !args.mode.create() && !args.mode.truncate() && !self.by_path.contains_key(path) {
                return Err(not_found(path));
            }
            let is_new = !self.by_path.contains_key(path);
            if args.mode.truncate() || is_new {
                self.write(path, &[], false, 0)?;
            } else {
                self.check_writable(path)?;
            }
        } else if !self.by_path.contains_key(path) {
            return Err(not_found(path));
        }
        Ok(MontyObject::file_handle(MontyFileHandle { path: path.to_owned(), mode: args.mode, position: 0 }))
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, MontyException> {
        self.by_path.get(path).map(|file| file.bytes.clone()).ok_or_else(|| not_found(path))
    }

    fn write(
        &mut self,
        path: &str,
        data: &[u8],
        is_appended: bool,
        n_written: usize,
    ) -> Result<MontyObject, MontyException> {
        self.check_writable(path)?;
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
        Ok(MontyObject::int(i64::try_from(n_written).unwrap_or(i64::MAX)))
    }

    fn check_writable(&self, path: &str) -> Result<(), MontyException> {
        // Device and system files appear to exist to programs that write to them.
        let is_system = ["/dev/", "/etc/", "/proc/", "/sys/"].iter().any(|place| path.starts_with(place));
        if is_system || self.by_path.get(path).is_some_and(|file| file.is_given) {
            return Err(MontyException::new(
                ExcType::PermissionError,
                Some(format!("[Errno 13] Permission denied: '{}'", shown(path))),
            ));
        }
        Ok(())
    }

    fn remove(&mut self, path: &str) -> Result<MontyObject, MontyException> {
        self.check_writable(path)?;
        let file = self.by_path.remove(path).ok_or_else(|| not_found(path))?;
        self.scratch_bytes -= file.bytes.len();
        Ok(MontyObject::none())
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
    MontyException::new(
        ExcType::FileNotFoundError,
        Some(format!("[Errno 2] No such file or directory: '{}'", shown(path))),
    )
}

fn text_of(bytes: Vec<u8>) -> Result<MontyObject, MontyException> {
    String::from_utf8(bytes).map(MontyObject::string).map_err(|error| {
        let what =
            format!("'utf-8' codec can't decode bytes at position {}", error.utf8_error().valid_up_to());
        MontyException::new(ExcType::ValueError, Some(what))
    })
}

fn size_of(bytes: &[u8]) -> i64 {
    i64::try_from(bytes.len()).unwrap_or(i64::MAX)
}
