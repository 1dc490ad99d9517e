//! Untrusted input over HTTP and MCP: request heads, forms, messages.

use std::io::Read as _;
use std::sync::LazyLock;

use serde_json::Value;
use spelunk_journal::DerivedFiles;
use spelunk_server::fuzzing;
use tempfile::TempDir;

use crate::check_message;
use crate::choice::{body_of, number_of, pieces, text_of};

/// The longest protocol line here: short, so that inputs exceed it.
const LINE_BYTES_MAX: usize = 300;
/// Separates the parts of a form in the corpus.
const BOUNDARY: &str = "B";

/// The head of a request: the host is a valid name, parameters are few and short, and a file path only leads down.
pub(crate) fn head(data: &[u8]) {
    let text = text_of(data);
    for line in text.lines() {
        if let Some(name) = fuzzing::host_name(line) {
            let port = line.strip_prefix(name).expect("a host begins with its name");
            assert!(
                port.is_empty() || port.strip_prefix(':').is_some_and(|port| port.parse::<u16>().is_ok()),
                "and ends with its port: {port}"
            );
            assert!(!name.contains(['@', '/', '\\', ',', '%', ' ']) && name.is_ascii(), "no junk: {name}");
            assert_eq!(fuzzing::host_name(name), Some(name), "a name is its own name");
        }
        match fuzzing::parameter(&format!("/v1/x?{line}"), "q") {
            Ok(value) => assert!(value.is_none_or(|value| value.len() <= 4096), "a value is short"),
            Err(message) => check_message(&message),
        }
        check_path(line);
    }
}

/// The folder of a run, and next to it what no client path may reach.
struct Place {
    files: DerivedFiles,
    _dir: TempDir,
}

const INSIDE: &[u8] = b"inside";

static PLACE: LazyLock<Place> = LazyLock::new(|| {
    let dir = tempfile::tempdir().expect("there is a place for temporary files");
    DerivedFiles::within(dir.path()).replace("outside", b"outside").expect("it can be written to");
    let files = DerivedFiles::within(dir.path().join("run"));
    for name in ["answer.md", "frames/0001/prompt.md", "a"] {
        files.replace(name, INSIDE).expect("it can be written to");
    }
    #[cfg(unix)]
    for (link, to) in [("link", "../outside"), ("up", ".."), ("frames/link", "../../outside")] {
        std::os::unix::fs::symlink(to, dir.path().join("run").join(link)).expect("links can be made");
    }
    Place { files, _dir: dir }
});

fn check_path(path: &str) {
    let (dir, _) = PLACE.files.place();
    let Ok(mut file) = dir.open(path) else { return };
    let mut bytes = Vec::new();
    let is_read = file.read_to_end(&mut bytes).is_ok();
    assert!(is_read && bytes == INSIDE, "`{path}` leads out");
}

/// A form: any split of the body gives the same parts, and names cannot escape.
pub(crate) fn form(data: &[u8]) {
    let (number, body) = (number_of(data), body_of(data));
    let whole = fuzzing::form(BOUNDARY, &[body]);
    let cut = fuzzing::form(BOUNDARY, &pieces(number, body));
    assert_eq!(whole.as_ref().ok(), cut.as_ref().ok(), "any cutting: {whole:?} {cut:?}");
    match whole {
        Ok((request, files)) => {
            assert!(!request.is_null() && files.len() <= 100);
            let n_bytes: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
            assert!(n_bytes <= body.len(), "no more than was sent");
            for (name, _) in &files {
                let is_plain =
                    !name.is_empty() && !name.starts_with('/') && !name.contains(['\\', '\0', '\n']);
                assert!(is_plain && !name.split('/').any(|part| part == ".."), "`{name}` leads elsewhere");
            }
        }
        Err(message) => check_message(&message),
    }
}

/// Protocol lines, the messages in them, and the arguments of a tool.
pub(crate) fn message(data: &[u8]) {
    let (number, body) = (number_of(data), body_of(data));
    let lines = fuzzing::mcp_lines(body, body.len().max(1), LINE_BYTES_MAX);
    let piece_bytes = usize::try_from(number % 64).unwrap_or_default() + 1;
    assert_eq!(lines, fuzzing::mcp_lines(body, piece_bytes, LINE_BYTES_MAX), "any cutting");
    let sent: Vec<&[u8]> = body.split(|byte| *byte == b'\n').collect();
    assert!(
        lines.len() == sent.len()
            || lines.len() + 1 == sent.len() && body.ends_with(b"\n")
            || body.is_empty()
    );
    for (line, sent) in lines.iter().zip(&sent) {
        let is_kept = line.as_ref().is_some_and(|line| line == sent);
        assert_eq!(is_kept, sent.len() <= LINE_BYTES_MAX, "a line is there whole, or is too long");
    }
    for line in sent.into_iter().chain([body]) {
        check_line(line);
    }
}

fn check_line(line: &[u8]) {
    let read = serde_json::from_slice::<Value>(line);
    match (fuzzing::mcp_fault(line), &read) {
        (None, read) => assert!(read.as_ref().is_ok_and(|read| read["jsonrpc"] == "2.0")),
        (Some((id, -32_700, words)), Err(_)) => {
            assert!(id.is_null(), "nobody to answer");
            check_message(&words);
        }
        (Some((id, -32_600, words)), Ok(read)) => {
            assert!(id.is_null() || id == read["id"], "the one who asked");
            check_message(&words);
        }
        (Some(fault), read) => panic!("{fault:?} for {read:?}"),
    }
    let Ok(read) = read else { return };
    for arguments in [&read, &read["params"]["arguments"]] {
        match fuzzing::asked(arguments) {
            Ok(question) => assert!(!question.trim().is_empty(), "there is a question"),
            Err(message) => check_message(&message),
        }
    }
}
