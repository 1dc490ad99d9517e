//! The texts embedded in an exported run: answers, replies and code first, then prompts, with a
//! limit per text and in total. Texts that do not fit are counted, so that the page can say so.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use spelunk_journal::{Blobs, Record};
use spelunk_types::{BlobId, EventKind, Text};

pub(super) struct SizeLimits {
    pub(super) each_bytes_max: usize,
    pub(super) all_bytes_max: usize,
}

impl Default for SizeLimits {
    fn default() -> Self {
        Self { each_bytes_max: 512_000, all_bytes_max: 24_000_000 }
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Texts {
    pub(super) kept: BTreeMap<String, String>,
    pub(super) n_left_out: u64,
    pub(super) bytes_left_out: u64,
    bytes_kept: usize,
    seen: BTreeSet<BlobId>,
}

pub(super) fn gather(blobs: &Blobs, records: &[Record], limits: &SizeLimits) -> Texts {
    let mut texts = Texts::default();
    let kinds = || records.iter().filter_map(Record::event).map(|event| &event.kind);
    for blob in kinds().flat_map(spoken) {
        texts.take(blobs, blob, limits);
    }
    for text in kinds().filter_map(prompt) {
        if let Some(blob) = text.blob() {
            texts.take(blobs, blob, limits);
        }
        let record = match text {
            Text::Inline { text } => Some(text.clone()),
            Text::Blob { blob, .. } => texts.kept.get(&blob.to_string()).cloned(),
        };
        for blob in record.iter().flat_map(|record| parts(record)) {
            texts.take(blobs, &blob, limits);
        }
    }
    texts
}

/// Everything but prompts and the corpus: readers of the file need no copy of the documents.
fn spoken(kind: &EventKind) -> Vec<&BlobId> {
    if let EventKind::RunStarted { question, .. } = kind {
        return question.blob().into_iter().collect();
    }
    if prompt(kind).is_some() { Vec::new() } else { kind.blobs() }
}

fn prompt(kind: &EventKind) -> Option<&Text> {
    if let EventKind::CallStarted { text, .. } = kind { Some(text) } else { None }
}

fn parts(record: &str) -> Vec<BlobId> {
    let record: Value = serde_json::from_str(record).unwrap_or_default();
    let messages = record["messages"].as_array().into_iter().flatten();
    let of_message = |message: &Value| {
        let parts = message["parts"].as_array().into_iter().flatten();
        std::iter::once(&message["text"]).chain(parts).filter_map(named).collect::<Vec<_>>()
    };
    named(&record["system"]).into_iter().chain(messages.flat_map(of_message)).collect()
}

fn named(text: &Value) -> Option<BlobId> {
    text["blob"].as_str()?.parse().ok()
}

impl Texts {
    fn take(&mut self, blobs: &Blobs, blob: &BlobId, limits: &SizeLimits) {
        if !self.seen.insert(blob.clone()) {
            return;
        }
        // A missing or damaged blob counts as left out.
        let text = blobs.get(blob).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let bytes = text.as_ref().map_or(0, String::len);
        let fits =
            bytes <= limits.each_bytes_max && self.bytes_kept.saturating_add(bytes) <= limits.all_bytes_max;
        match text.filter(|_| fits) {
            Some(text) => {
                self.bytes_kept += bytes;
                self.kept.insert(blob.to_string(), text);
            }
            None => {
                self.n_left_out += 1;
                self.bytes_left_out = self.bytes_left_out.saturating_add(bytes as u64);
            }
        }
    }
}

#[cfg(test)]
mod tests;
