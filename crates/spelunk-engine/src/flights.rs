//! Flights: questions that are being asked right now. Two identical questions of one tree are one request: the second
//! waits for the first and finds its reply in the cache.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use spelunk_types::BlobId;

/// One turn for each question that is on its way.
#[derive(Debug, Default)]
pub(crate) struct Flights {
    turns: Mutex<HashMap<BlobId, Weak<tokio::sync::Mutex<()>>>>,
}

impl Flights {
    /// The turn of this question: whoever holds its lock asks, the others wait.
    pub(crate) fn turn(&self, key: &BlobId) -> Arc<tokio::sync::Mutex<()>> {
        let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turn) = turns.get(key).and_then(Weak::upgrade) {
            return turn;
        }
        // Questions that have been answered are forgotten when the map would grow.
        if turns.len() == turns.capacity() {
            turns.retain(|_, turn| turn.strong_count() > 0);
        }
        let turn = Arc::default();
        turns.insert(key.clone(), Arc::downgrade(&turn));
        turn
    }
}
