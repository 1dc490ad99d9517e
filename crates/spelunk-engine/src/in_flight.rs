//! InFlight: questions that are being asked right now. Two identical questions of one tree are one request: the second
//! waits for the first and takes its reply.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use spelunk_model::Reply;
use spelunk_types::BlobId;

/// Questions whose replies are kept at hand; older ones are in the cache by then.
const KEPT_MAX: usize = 1000;

/// One question: whoever holds its lock asks, the others wait, and find the reply here.
pub(crate) type SharedCall = Arc<tokio::sync::Mutex<Option<Reply>>>;

/// The questions of one tree.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    flights: Mutex<HashMap<BlobId, SharedCall>>,
}

impl InFlight {
    /// The flight of this question, new or on its way.
    pub(crate) fn of(&self, key: &BlobId) -> SharedCall {
        let mut flights = self.flights.lock().unwrap_or_else(PoisonError::into_inner);
        if flights.len() >= KEPT_MAX && !flights.contains_key(key) {
            // Only those that nobody waits for.
            flights.retain(|_, flight| Arc::strong_count(flight) > 1);
        }
        Arc::clone(flights.entry(key.clone()).or_default())
    }
}
