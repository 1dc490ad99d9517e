//! The texts of passages, read back through the view. A document is opened and verified against its digest once,
//! however many passages and searches need it; a large one is read at offsets.

use std::collections::HashMap;

use spelunk_context::{DocEntry, SourceError, View};

use crate::cut::{Large, WHOLE_BYTES_MAX};
use crate::words_index::Place;

/// How much text is held whole. Beyond that, only the passages that may be needed are kept.
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
    windows: HashMap<(u32, u64), Option<Window>>,
    held_bytes: usize,
    large: HashMap<u32, Large>,
}

enum Window {
    Whole(String),
    Passages(HashMap<(u64, u64), String>),
}

impl Texts {
    /// The text of a passage; `None` if the document has no such location. `likely` are the passages of the same window
    /// that may be needed next.
    pub(crate) fn get(
        &mut self,
        view: &View,
        document: &DocEntry,
        place: Place,
        likely: &[Place],
    ) -> Result<Option<String>, Unreadable> {
        let key = (document.idx, place.window);
        let known = self.windows.get(&key).map(|window| window.as_ref().map(|window| window.get(place)));
        match known {
            Some(None) => return Err(Unreadable),
            Some(Some(Some(text))) => return Ok(Some(text)),
            Some(Some(None)) if self.is_whole(key) => return Ok(None),
            Some(Some(None)) | None => {}
        }
        let Ok(text) = self.read(view, document, place.window) else {
            self.windows.insert(key, None);
            return Err(Unreadable);
        };
        let found = part(&text, place);
        let window = if self.held_bytes + text.len() <= HELD_BYTES_MAX {
            self.held_bytes += text.len();
            Window::Whole(text)
        } else {
            let kept =
                likely.iter().filter_map(|place| Some(((place.start, place.end), part(&text, *place)?)));
            Window::Passages(kept.collect())
        };
        self.windows.insert(key, Some(window));
        Ok(found)
    }

    fn is_whole(&self, key: (u32, u64)) -> bool {
        matches!(self.windows.get(&key), Some(Some(Window::Whole(_))))
    }

    fn read(&mut self, view: &View, document: &DocEntry, window: u64) -> Result<String, SourceError> {
        if document.bytes <= WHOLE_BYTES_MAX {
            return view.read_owned(document);
        }
        if !self.large.contains_key(&document.idx) {
            if self.large.len() >= OPEN_MAX {
                self.large.clear();
            }
            self.large.insert(document.idx, Large::open(view, document)?);
        }
        self.large[&document.idx].window(window)
    }
}

impl Window {
    fn get(&self, place: Place) -> Option<String> {
        match self {
            Self::Whole(text) => part(text, place),
            Self::Passages(kept) => kept.get(&(place.start, place.end)).cloned(),
        }
    }
}

fn part(text: &str, place: Place) -> Option<String> {
    let to_usize = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
    text.get(to_usize(place.start)..to_usize(place.end)).map(str::to_owned)
}
