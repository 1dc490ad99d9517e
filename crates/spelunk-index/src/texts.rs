//! The texts of passages, read back through the view. A document is read and verified once for all passages
//! and searches, or once per set of candidates if memory is short. A large one is read at offsets.

use std::collections::HashMap;

use spelunk_context::{DocEntry, SourceError, View};

use crate::cut::{LargeDocument, WHOLE_BYTES_MAX};
use crate::words_index::PassageLocation;

/// How much text is held before all of it is dropped.
const HELD_BYTES_MAX: usize = 64 << 20;
const OPEN_MAX: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unreadable;

type WindowKey = (u32, u64);

/// Texts of one corpus, for one search or several.
pub struct Texts {
    /// `None` if unreadable.
    windows: HashMap<WindowKey, Option<String>>,
    held_bytes: usize,
    pub(crate) held_bytes_max: usize,
    /// The passages that may be needed next. They stay when their window is dropped.
    expected: HashMap<WindowKey, Vec<PassageLocation>>,
    passages: HashMap<(WindowKey, u64, u64), Option<String>>,
    large: HashMap<u32, LargeDocument>,
}

impl Default for Texts {
    fn default() -> Self {
        Self {
            windows: HashMap::new(),
            held_bytes: 0,
            held_bytes_max: HELD_BYTES_MAX,
            expected: HashMap::new(),
            passages: HashMap::new(),
            large: HashMap::new(),
        }
    }
}

impl Texts {
    /// Announces the passages of a set of candidates, in place of the previous set.
    pub(crate) fn expect(&mut self, passages: impl Iterator<Item = (u32, PassageLocation)>) {
        self.expected.clear();
        self.passages.clear();
        for (doc_idx, location) in passages {
            self.expected.entry((doc_idx, location.window)).or_default().push(location);
        }
    }

    /// The text of a passage; `None` if the document has no such location.
    pub(crate) fn get(
        &mut self,
        view: &View,
        document: &DocEntry,
        location: PassageLocation,
    ) -> Result<Option<String>, Unreadable> {
        let key = (document.idx, location.window);
        if let Some(passage) = self.passages.get(&(key, location.start, location.end)) {
            return Ok(passage.clone());
        }
        if !self.windows.contains_key(&key) {
            let text = self.read(view, document, location.window).ok();
            let bytes = text.as_ref().map_or(0, String::len);
            if self.held_bytes + bytes > self.held_bytes_max {
                self.drop_windows();
            }
            self.held_bytes += bytes;
            self.windows.insert(key, text);
        }
        let text = self.windows[&key].as_ref().ok_or(Unreadable)?;
        Ok(passage_of(text, location))
    }

    /// Drops all windows, but keeps their expected passages.
    fn drop_windows(&mut self) {
        for (key, text) in std::mem::take(&mut self.windows) {
            let Some(text) = text else { continue };
            for &location in self.expected.get(&key).into_iter().flatten() {
                let passage = passage_of(&text, location);
                self.passages.insert((key, location.start, location.end), passage);
            }
        }
        self.held_bytes = 0;
    }

    fn read(&mut self, view: &View, document: &DocEntry, window: u64) -> Result<String, SourceError> {
        if document.bytes <= WHOLE_BYTES_MAX {
            return view.read_owned(document);
        }
        if !self.large.contains_key(&document.idx) {
            if self.large.len() >= OPEN_MAX {
                self.large.clear();
            }
            self.large.insert(document.idx, LargeDocument::open(view, document)?);
        }
        self.large[&document.idx].window(window)
    }
}

fn passage_of(text: &str, location: PassageLocation) -> Option<String> {
    let to_usize = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
    text.get(to_usize(location.start)..to_usize(location.end)).map(str::to_owned)
}
