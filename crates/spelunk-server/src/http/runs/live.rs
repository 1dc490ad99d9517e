//! A run that has not ended, and who watches it: its phase, its status and the pieces that stream.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use spelunk_types::RunId;
use tokio::sync::{broadcast, watch};

use super::Ticket;

/// How many streamed pieces a watcher may lag behind before it misses some. Recorded events are never missed.
const PIECES_MAX: usize = 256;

pub(crate) struct Live {
    pub(super) run: RunId,
    pub(super) question: String,
    pub(super) phase: watch::Sender<Phase>,
    pub(super) pieces: broadcast::Sender<StreamedPiece>,
    pub(super) said: broadcast::Sender<SaidPiece>,
    pub(super) is_cancelled: AtomicBool,
    /// Whether this process works on it; in a fleet, another may.
    pub(super) is_here: AtomicBool,
    pub(super) status: watch::Sender<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SaidPiece {
    /// More of the reply to this call of the root frame.
    More { ordinal: u32, text: String },
    /// The model had to start over: nothing more is streamed.
    Anew,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StreamedPiece {
    /// The last event recorded before it.
    pub(super) seq: u64,
    /// As JSON.
    pub(super) text: Arc<str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Waiting,
    /// In progress, with this many events in its journal; 0 while its sources are read.
    Running {
        seq: u64,
    },
    Over,
}

impl Live {
    pub(super) fn new(lean: &Ticket) -> Arc<Self> {
        let (phase, pieces) = (watch::Sender::new(Phase::Waiting), broadcast::Sender::new(PIECES_MAX));
        let status = watch::Sender::new("queued".to_owned());
        let (run, question) = (lean.run.clone(), lean.question().to_owned());
        let (said, is_cancelled) = (broadcast::Sender::new(PIECES_MAX), AtomicBool::new(false));
        Arc::new(Self {
            run,
            question,
            phase,
            pieces,
            said,
            is_cancelled,
            is_here: AtomicBool::new(false),
            status,
        })
    }

    pub(super) fn is_waiting(&self) -> bool {
        *self.phase.borrow() == Phase::Waiting
    }
}
