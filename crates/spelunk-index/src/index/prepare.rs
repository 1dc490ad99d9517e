//! Prepares a document for the index: reads it, detects its type, cuts it into passages, and computes a vector for each
//! passage that has none yet. Pure except for reading; runs on several threads.

use spelunk_context::{ContentType, Detected, Detector, DocEntry, SourceError, View};

use crate::cut::{Cut, cut, passage_limits, windows};
use crate::index::embed_checked;
use crate::passage::fingerprint;
use crate::vector_store::{Key, Quantised, VectorCache, key_of};
use crate::words_index::PassageLocation;
use crate::{EmbedError, Embedder};

const BATCH_TEXTS: usize = 64;

/// Prose with less text than this outside of its listings is embedded with them.
const SENTENCE_BYTES_MIN: usize = 40;

#[derive(Debug)]
pub(crate) struct PreparedPassage {
    pub(crate) location: PassageLocation,
    pub(crate) text: String,
    pub(crate) scope: Option<String>,
    pub(crate) fingerprint: u64,
    pub(crate) vector: Vector,
}

#[derive(Debug)]
pub(crate) enum Vector {
    None,
    Known(u32),
    /// The text was embedded before, in an index that this one replaces.
    Old(Key, Quantised),
    New(Key, Quantised),
}

pub(crate) struct Preparer<'a> {
    pub(crate) view: &'a View,
    pub(crate) detector: &'a Detector,
    pub(crate) embedder: Option<&'a dyn Embedder>,
}

impl Preparer<'_> {
    /// Passes the passages of a document to `on_passages`, window by window, while it returns true.
    /// Returns the type of the document, and whether all of it was passed.
    pub(crate) fn prepare(
        &self,
        document: &DocEntry,
        known: &VectorCache,
        on_passages: &mut dyn FnMut(Result<Vec<PreparedPassage>, EmbedError>) -> bool,
    ) -> Result<(Option<Detected>, bool), SourceError> {
        let limits = passage_limits();
        let mut detected: Option<Detected> = None;
        let (mut goes_on, mut is_whole) = (true, true);
        windows(self.view, document, &mut |window, text, lines_before| {
            if !goes_on {
                is_whole = false;
                return false;
            }
            // The first window determines the type of the document.
            let detected = detected.get_or_insert_with(|| self.detector.detect(&document.name, text));
            let cuts = cut(text, &document.name, detected, &limits, lines_before);
            let prepared = self.passages(detected.content_type, window, text, cuts, known);
            is_whole &= prepared.is_ok();
            goes_on = on_passages(prepared);
            true
        })?;
        Ok((detected, is_whole))
    }

    fn passages(
        &self,
        content_type: ContentType,
        window: u64,
        text: &str,
        cuts: Vec<Cut>,
        known: &VectorCache,
    ) -> Result<Vec<PreparedPassage>, EmbedError> {
        let mut prepared = Vec::with_capacity(cuts.len());
        for Cut { span, line_start, line_end, scope } in cuts {
            let (start, end) = (span.start as u64, span.end as u64);
            let text = text.get(span).unwrap_or_default().to_owned();
            let location = PassageLocation { window, start, end, line_start, line_end };
            let fingerprint = fingerprint(&text);
            prepared.push(PreparedPassage { location, text, scope, fingerprint, vector: Vector::None });
        }
        if let Some(embedder) = self.embedder {
            embed(embedder, content_type, &mut prepared, known)?;
        }
        Ok(prepared)
    }
}

fn embed(
    embedder: &dyn Embedder,
    content_type: ContentType,
    passages: &mut [PreparedPassage],
    known: &VectorCache,
) -> Result<(), EmbedError> {
    for batch in passages.chunks_mut(BATCH_TEXTS) {
        let mut unknown: Vec<(usize, Key, String)> = Vec::new();
        for (idx, passage) in batch.iter_mut().enumerate() {
            let text = meaning_text(content_type, passage.scope.as_deref(), &passage.text);
            let key = key_of(embedder.id(), &text);
            if let Some(row) = known.row(&key) {
                passage.vector = Vector::Known(row);
            } else if let Some(vector) = known.old_vector(&key) {
                passage.vector = Vector::Old(key, vector);
            } else {
                unknown.push((idx, key, text));
            }
        }
        if unknown.is_empty() {
            continue;
        }
        let texts: Vec<&str> = unknown.iter().map(|(_, _, text)| text.as_str()).collect();
        let vectors = embed_checked(embedder, &texts)?;
        for ((idx, key, _), vector) in unknown.into_iter().zip(vectors) {
            batch[idx].vector = Vector::New(key, Quantised::of(&vector));
        }
    }
    Ok(())
}

/// The text embedded for a passage: its words, and its heading. In prose, examples and listings say less than the
/// sentences around them, and are omitted unless there is nothing else.
fn meaning_text(content_type: ContentType, scope: Option<&str>, text: &str) -> String {
    let mut words = String::with_capacity(text.len());
    if content_type == ContentType::Prose {
        let flush = text.lines().filter(|line| !line.starts_with([' ', '\t', '.']));
        flush.for_each(|line| push_words(line, &mut words));
    }
    if words.len() < SENTENCE_BYTES_MIN {
        words.clear();
        push_words(text, &mut words);
    }
    match scope {
        Some(scope) => format!("{scope}\n{words}"),
        None => words,
    }
}

/// Appends the words of a text without punctuation: markup characters occur on every page.
fn push_words(text: &str, words: &mut String) {
    words.extend(text.chars().map(|c| if c.is_alphanumeric() || matches!(c, '\'' | '.') { c } else { ' ' }));
    words.push('\n');
}

#[cfg(test)]
mod tests;
