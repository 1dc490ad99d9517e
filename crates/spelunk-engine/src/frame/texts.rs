//! The texts of documents that the frames of a run read concurrently: each is in memory once, and a few threads read
//! them. With one thread per task, a wave of replies would wake a hundred threads at once, all queueing for the same
//! texts.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, LazyLock, Mutex, Weak};

use spelunk_context::{DocEntry, Segment, SourceError, View};
use tokio::sync::Semaphore;

use crate::sync::{blocking, lock};

/// The number of texts below which unused ones are not swept.
const IN_USE_MIN: usize = 256;

/// Texts in use, and the last one used. Tasks take the parts of a document in order; reading the
/// document again for each would dominate the cost.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    state: Mutex<State>,
    pub(crate) readers: Readers,
}

/// A document and the offset at which the text begins: long documents are read in segments.
type TextKey = (u32, u64);

#[derive(Debug, Default)]
struct State {
    last: Option<(TextKey, Arc<String>)>,
    in_use: HashMap<TextKey, Weak<String>>,
    /// The number of texts at which unused ones are swept next.
    in_use_swept_at: usize,
}

impl Texts {
    /// The text of a document or segment. Concurrent callers wait, then share it.
    pub(crate) fn get(
        &self,
        view: &View,
        document: &DocEntry,
        segment: Option<&Segment>,
    ) -> Result<Arc<String>, SourceError> {
        let place: TextKey = (document.idx, segment.map_or(0, |segment| segment.bytes.start));
        let mut state = lock(&self.state);
        let at_hand = match &state.last {
            Some((last, text)) if *last == place => Some(Arc::clone(text)),
            Some(_) | None => state.in_use.get(&place).and_then(Weak::upgrade),
        };
        if let Some(text) = at_hand {
            return Ok(text);
        }
        // Released before the next text is read, so that an unused text does not stay in memory.
        state.last = None;
        let text = Arc::new(view.read_part(document, segment)?);
        if state.in_use.len() >= state.in_use_swept_at {
            state.in_use.retain(|_, text| text.strong_count() > 0);
            state.in_use_swept_at = (2 * state.in_use.len()).max(IN_USE_MIN);
        }
        state.in_use.insert(place, Arc::downgrade(&text));
        state.last = Some((place, Arc::clone(&text)));
        Ok(text)
    }
}

/// The most threads that read at once: the model, the executor and the journal writer need cores too.
static THREADS_MAX: LazyLock<usize> = LazyLock::new(|| {
    let n_cores = std::thread::available_parallelism().map_or(2, NonZeroUsize::get);
    (n_cores / 2).clamp(1, 4)
});

/// The permits to read, one per thread. Tasks wait for them in order of arrival.
#[derive(Debug)]
pub(crate) struct Readers(Arc<Semaphore>);

impl Default for Readers {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(*THREADS_MAX)))
    }
}

impl Readers {
    pub(crate) async fn have<T: Send + 'static>(&self, read: impl FnOnce() -> T + Send + 'static) -> T {
        let permit = Arc::clone(&self.0).acquire_owned().await.expect("the semaphore is never closed");
        // The thread holds the permit, so that a caller that no longer waits does not free it.
        blocking(move || {
            let _permit = permit;
            read()
        })
        .await
    }
}

#[cfg(test)]
mod tests;
