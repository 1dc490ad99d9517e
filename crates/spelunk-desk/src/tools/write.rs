//! Write: replaces a file or appends to it.

use serde_json::Value;

use super::{Outcome, arguments, wire};
use crate::{Desk, DeskError, DeskPath, show};

pub(super) fn run(desk: &mut Desk, value: &Value) -> Result<Outcome, DeskError> {
    let wire::Write { path, content, append } = arguments("Write", value)?;
    let path = DeskPath::parse(&path)?;
    let (bytes, n_lines) = (content.len() as u64, content.lines().count() as u64);
    let text = if append {
        desk.append(&path, content.as_bytes())?;
        format!("added {} to `{path}`", size(bytes, n_lines))
    } else {
        desk.write(&path, content)?;
        format!("wrote {} to `{path}`", size(bytes, n_lines))
    };
    Ok(Outcome { text, changed: vec![path] })
}

fn size(bytes: u64, n_lines: u64) -> String {
    format!("{} ({})", show::counted(bytes, "byte", "bytes"), show::counted(n_lines, "line", "lines"))
}
