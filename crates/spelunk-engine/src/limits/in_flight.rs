//! Calls in flight. Identical prompts of one tree become one request: the second waits for the
//! first and takes its reply.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use spelunk_model::Reply;
use spelunk_types::BlobId;

use crate::sync::lock;

/// How many prompts keep their replies in memory; older ones are in the cache by then.
const KEPT_MAX: usize = 1000;

/// One prompt: the holder of the lock sends it; the others wait and find the reply here.
pub(crate) type SharedCall = Arc<tokio::sync::Mutex<Option<Reply>>>;

#[derive(Debug, Default)]
pub(crate) struct InFlight {
    calls: Mutex<HashMap<BlobId, SharedCall>>,
}

impl InFlight {
    /// The shared call for this prompt, new or in flight.
    pub(crate) fn of(&self, key: &BlobId) -> SharedCall {
        let mut calls = lock(&self.calls);
        if calls.len() >= KEPT_MAX && !calls.contains_key(key) {
            // Removes only those that nobody waits for.
            calls.retain(|_, call| Arc::strong_count(call) > 1);
        }
        Arc::clone(calls.entry(key.clone()).or_default())
    }
}
