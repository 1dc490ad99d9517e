//! Evidence: an append-only file of numbered findings, without timestamps: the same work gives the same file.

use serde_json::Value;

use super::{arguments, refused, wire};
use crate::{Desk, DeskError, DeskPath, Zone, show};

const TAG_CHARS_MAX: usize = 100;
const SOURCE_CHARS_MAX: usize = 1000;
const CONTENT_BYTES_MAX: usize = 64 * 1024;
const METADATA_BYTES_MAX: usize = 16 * 1024;

pub(super) fn run(desk: &mut Desk, value: &Value) -> Result<String, DeskError> {
    let wire::Evidence { tag, content, metadata, source } = arguments("Evidence", value)?;
    let tag = tag.trim();
    if tag.is_empty() || tag.chars().count() > TAG_CHARS_MAX {
        return Err(refused("Evidence", format!("`tag` must have 1 to {TAG_CHARS_MAX} characters")));
    }
    if content.trim().is_empty() {
        return Err(refused("Evidence", "`content` is empty"));
    }
    if content.len() > CONTENT_BYTES_MAX {
        let why = format!(
            "`content` has {} bytes; the maximum is {CONTENT_BYTES_MAX}; write a file and name it in `source`",
            content.len()
        );
        return Err(refused("Evidence", why));
    }
    if source.as_ref().is_some_and(|source| source.chars().count() > SOURCE_CHARS_MAX) {
        return Err(refused("Evidence", format!("`source` must have at most {SOURCE_CHARS_MAX} characters")));
    }
    if metadata.as_ref().is_some_and(|metadata| metadata.to_string().len() > METADATA_BYTES_MAX) {
        return Err(refused("Evidence", format!("`metadata` must have at most {METADATA_BYTES_MAX} bytes")));
    }
    let path = DeskPath::of(Zone::EVIDENCE);
    let n_held = match desk.entry(&path) {
        Some(_) => memchr::memchr_iter(b'\n', &desk.read(&path)?).count() as u64,
        None => 0,
    };
    let sequence = n_held + 1;
    let record =
        wire::EvidenceRecord { sequence, tag, content: &content, metadata: &metadata, source: &source };
    let line = serde_json::to_string(&record)
        .map_err(|error| refused("Evidence", show::on_one_line(&error.to_string(), 200)))?;
    desk.put_more(&path, format!("{line}\n").as_bytes())?;
    Ok(format!("evidence {sequence} recorded under `{}`", show::on_one_line(tag, 100)))
}
