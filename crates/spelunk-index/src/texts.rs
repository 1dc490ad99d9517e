//! The texts of passages, read back through the view. A document is opened and verified against its digest once,
//! however many passages and searches need it, as long as the texts fit; a large one is read at offsets.

use std::collections::HashMap;

use spelunk_context::{DocEntry, SourceError, View};

use crate::cut::{LargeDocument, WHOLE_BYTES_MAX};
use crate::words_index::PassageLocation;

/// How much text is held before all of it is dropped.
const HELD_BYTES_MAX: usize = 64 << 20;

/// How many large documents are open at once.
const OPEN_MAX: usize = 16;

/// A document that can no longer be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unreadable;

/// Texts of one corpus, for one search or several.
#[derive(Default)]
pub struct Texts {
    /// Windows by document and index; `None` if unreadable.
    windows: HashMap<(u32, u64), Option<String>>,
    held_bytes: usize,
    large: HashMap<u32, LargeDocument>,
}

impl Texts {
    /// The text of a passage; `None` if the document has no such location.
    pub(crate) fn get(
        &mut self,
        view: &View,
        document: &DocEntry,
        location: PassageLocation,
    ) -> Result<Option<String>, Unreadable> {
        let key = (document.idx, location.window);
        if !self.windows.contains_key(&key) {
            let text = self.read(view, document, location.window).ok();
            let bytes = text.as_ref().map_or(0, String::len);
            if self.held_bytes + bytes > HELD_BYTES_MAX {
                self.windows.clear();
                self.held_bytes = 0;
            }
            self.held_bytes += bytes;
            self.windows.insert(key, text);
        }
        let text = self.windows[&key].as_ref().ok_or(Unreadable)?;
        let to_usize = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        Ok(text.get(to_usize(location.start)..to_usize(location.end)).map(str::to_owned))
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
