//! Watching a run: its events in order, without gaps, whichever process writes them. The process that started
//! the run receives them directly and catches up from the journal when it lags; others follow the file.

use std::collections::VecDeque;
use std::time::Duration;

use spelunk_journal::{JournalError, JournalTail, Record, Workspace};
use spelunk_types::{Durability, Event, EventKind, RunId};
use tokio::sync::broadcast::{self, error::RecvError};

const POLL: Duration = Duration::from_millis(100);

/// The events of a run, as they occur.
pub struct EventStream {
    backlog: VecDeque<Record>,
    seq_last: u64,
    /// Set once the run has ended and its process has released it.
    ended: bool,
    from: From,
}

enum From {
    Process { workspace: Workspace, run: RunId, events: broadcast::Receiver<Event> },
    File(JournalTail),
}

impl EventStream {
    pub(crate) fn live(
        workspace: Workspace,
        run: RunId,
        backlog: Vec<Event>,
        events: broadcast::Receiver<Event>,
    ) -> Self {
        let backlog = backlog.into_iter().map(|event| Record::Known(Box::new(event))).collect();
        Self { backlog, seq_last: 0, ended: false, from: From::Process { workspace, run, events } }
    }

    /// Follows the journal file of a run, which any process may write.
    pub(crate) fn open(workspace: &Workspace, run: &RunId, after_seq: u64) -> Result<Self, JournalError> {
        let from = From::File(JournalTail::open(workspace, run)?);
        Ok(Self { backlog: VecDeque::new(), seq_last: after_seq, ended: false, from })
    }

    /// The next event; ephemeral ones are not in the file. `None` once the run has ended.
    pub async fn next(&mut self) -> Option<Result<Record, JournalError>> {
        loop {
            if let Some(record) = self.take_backlog() {
                return Some(Ok(record));
            }
            if self.ended {
                return None;
            }
            if let Err(error) = self.refill().await {
                self.ended = true;
                return Some(Err(error));
            }
        }
    }

    fn take_backlog(&mut self) -> Option<Record> {
        while let Some(record) = self.backlog.pop_front() {
            let is_ephemeral = match &record {
                Record::Known(event) => event.kind.durability() == Durability::Ephemeral,
                Record::Unknown { .. } => false,
            };
            if is_ephemeral {
                return Some(record);
            }
            if record.seq() > self.seq_last {
                self.seq_last = record.seq();
                return Some(record);
            }
        }
        None
    }

    async fn refill(&mut self) -> Result<(), JournalError> {
        match &mut self.from {
            From::Process { workspace, run, events } => match events.recv().await {
                Ok(event) => self.backlog.push_back(Record::Known(Box::new(event))),
                Err(RecvError::Lagged(_)) => self.backlog.extend(workspace.read_journal(run)?),
                Err(RecvError::Closed) => self.ended = true,
            },
            From::File(tail) => {
                let new = tail.read_new()?;
                // An earlier end is followed by a resumption. If a run is resumed after this check,
                // it must be watched again.
                self.ended = new.last().is_some_and(is_end);
                if new.is_empty() {
                    tokio::time::sleep(POLL).await;
                }
                self.backlog.extend(new);
            }
        }
        Ok(())
    }
}

fn is_end(record: &Record) -> bool {
    matches!(record, Record::Known(event) if matches!(event.kind, EventKind::RunFinished { .. }))
}
