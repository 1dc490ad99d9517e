//! Files kept by the host: if the setup has the function for it, opening, listing and removing files are host calls, in
//! every backend alike.

use std::collections::BTreeMap;

use spelunk_sandbox::{CellEnd, FILES, HostCall, HostFunction, HostReply, Sandbox, Step, Value};

use crate::scene::{Session, setup};

/// A host with a few files, one of them read-only.
#[derive(Default)]
struct Host {
    files: BTreeMap<String, Vec<u8>>,
}

impl Host {
    fn serve(&mut self, call: &HostCall) -> HostReply {
        assert_eq!(call.name, FILES);
        let text = |idx: usize| call.args.get(idx).and_then(Value::as_str).unwrap_or_default().to_owned();
        let (what, path) = (text(0), text(1).trim_start_matches(['/', '.']).to_owned());
        let data = match call.args.get(2) {
            Some(Value::Bytes(bytes)) => bytes.clone(),
            Some(Value::Str(text)) => text.clone().into_bytes(),
            _ => Vec::new(),
        };
        let n_written = Value::Int(i64::try_from(String::from_utf8_lossy(&data).chars().count()).unwrap());
        let is_directory =
            path.is_empty() || self.files.keys().any(|name| name.starts_with(&format!("{path}/")));
        let file = self.files.get(&path).cloned();
        let value = match (what.as_str(), file) {
            ("exists", file) => Value::Bool(file.is_some() || is_directory),
            ("is_file", file) => Value::Bool(file.is_some()),
            ("is_dir", _) => Value::Bool(is_directory),
            ("list", _) => {
                let names = self.files.keys().filter_map(|name| name.strip_prefix(&format!("{path}/")));
                Value::List(names.map(Value::from).collect())
            }
            ("write" | "append", _) if path.starts_with("input/") => {
                return raised("PermissionError", "[Errno 13] Permission denied");
            }
            ("write", _) => {
                self.files.insert(path, data);
                n_written
            }
            ("append", _) => {
                self.files.entry(path).or_default().extend(data);
                n_written
            }
            (_, None) => {
                return raised(
                    "FileNotFoundError",
                    &format!("[Errno 2] No such file or directory: '{path}'"),
                );
            }
            ("size", Some(bytes)) => Value::Int(i64::try_from(bytes.len()).unwrap()),
            ("read_text", Some(bytes)) => Value::from(String::from_utf8(bytes).unwrap().as_str()),
            ("read_bytes", Some(bytes)) => Value::Bytes(bytes),
            ("remove", Some(_)) => {
                self.files.remove(&path);
                Value::None
            }
            (what, Some(_)) => panic!("asked to {what}"),
        };
        HostReply::Return(value)
    }

    /// Runs a cell; returns its output, or the kind of its exception.
    fn run(&mut self, session: &mut Session, code: &str) -> String {
        let mut step = session.interpreter().feed(code).unwrap();
        loop {
            match step {
                Step::Calls(calls) => {
                    let replies = calls.iter().map(|call| self.serve(call)).collect();
                    step = session.interpreter().resume(replies).unwrap();
                }
                Step::Finished(CellEnd::Done { output } | CellEnd::Finished { output }) => {
                    return output.render();
                }
                Step::Finished(CellEnd::Raised { raised, .. }) => {
                    return format!("{}: {}", raised.kind, raised.message);
                }
            }
        }
    }
}

fn raised(kind: &str, message: &str) -> HostReply {
    HostReply::Raise { kind: kind.to_owned(), message: message.to_owned() }
}

pub(crate) fn files_of_the_host_are_the_files_of_a_cell(sandbox: &Sandbox) {
    let mut setup = setup();
    setup.files = Vec::new();
    setup.functions = vec![HostFunction { name: FILES.into(), doc: String::new(), is_awaitable: false }];
    let (mut session, mut host) = (Session::open(sandbox, &setup), Host::default());
    host.files.insert("input/a.txt".to_owned(), b"one\ntwo\n".to_vec());
    let mut run = |code: &str| host.run(&mut session, code);
    assert_eq!(run("print(open('input/a.txt').read())"), "one\ntwo\n\n");
    assert_eq!(
        run("from pathlib import Path\nprint(Path('input/a.txt').read_text().split())"),
        "['one', 'two']\n"
    );
    assert_eq!(
        run("print(Path('input/a.txt').exists(), Path('input/b.txt').exists(), Path('input').is_dir())"),
        "True False True\n"
    );
    assert_eq!(
        run("import os\nprint(os.listdir('input'), os.path.exists('input/a.txt'))"),
        "['a.txt'] True\n"
    );
    assert_eq!(run("with open('scratch/x.txt', 'w') as f:\n    f.write('a\\n')"), "");
    assert_eq!(run("with open('scratch/x.txt', 'a') as f:\n    f.write('b\\n')"), "");
    assert_eq!(
        run("Path('scratch/y.txt').write_text('é')\nprint(Path('scratch/y.txt').read_bytes())"),
        "b'\\xc3\\xa9'\n"
    );
    assert_eq!(run("import json\nwith open('scratch/j.json', 'w') as f:\n    json.dump([1], f)"), "");
    assert_eq!(run("os.remove('scratch/y.txt')"), "");
    assert!(run("open('input/none.txt')").starts_with("FileNotFoundError: [Errno 2] No such file"));
    assert!(run("open('input/a.txt', 'w')").starts_with("PermissionError: [Errno 13] Permission denied"));
    assert!(run("open('/etc/passwd')").starts_with("FileNotFoundError"));
    let kept: Vec<(&str, &[u8])> =
        host.files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    let expected: [(&str, &[u8]); 3] =
        [("input/a.txt", b"one\ntwo\n"), ("scratch/j.json", b"[1]"), ("scratch/x.txt", b"a\nb\n")];
    assert_eq!(kept, expected);
}
