//! The journal writer: the one thread that writes a run's journal. Events reach it through a queue;
//! all waiting events are written together and made durable by one sync, so that a thousand
//! parallel calls do not wait for a thousand syncs. Unless nothing may be lost in a power failure,
//! a second thread syncs (`syncing.rs`), and "durable" means written.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use spelunk_journal::{Blobs, Journal, JournalError, ReplyCache, RunLock};
use spelunk_types::{Durability, Event, EventKind, FrameId};
use tokio::sync::{broadcast, mpsc, oneshot, watch};

use super::syncing::Syncing;
use crate::sync::lock;
use crate::{Clock, JournalResult};

const BATCH_ENTRIES_MAX: usize = 512;
const REPLIES_MAX: usize = 4096;
/// How many events a watcher may lag; further behind, it catches up from the journal.
const WATCHER_EVENTS_MAX: usize = 8192;

/// Builds an event after storing its long texts; runs on the writer's thread.
pub(crate) type Draft = Box<dyn FnOnce(&Blobs) -> Result<EventKind, JournalError> + Send>;
type Chore = Box<dyn FnOnce(&ReplyCache) + Send>;
pub(super) type Broken = Arc<OnceLock<Arc<JournalError>>>;
type Ack = oneshot::Sender<JournalResult>;

enum Entry {
    Fact { frame: FrameId, draft: Draft, ack: Option<Ack> },
    Chore(Chore),
}

#[derive(Clone)]
pub(crate) struct JournalWriter {
    /// Unbounded, but every call waits for its own events, so the calls in flight bound it.
    queue: mpsc::UnboundedSender<Entry>,
    events: broadcast::Sender<Event>,
    seq_last: Arc<AtomicU64>,
    /// Events posted so far that must become durable, and how many of them are.
    n_posted: Arc<AtomicU64>,
    n_durable: watch::Receiver<u64>,
    /// The positions of the last replies, oldest first.
    replies: Arc<Mutex<VecDeque<Mark>>>,
    broken: Broken,
    clock: Arc<dyn Clock>,
}

pub(crate) struct WriterFiles {
    pub(crate) journal: Journal,
    pub(crate) blobs: Blobs,
    pub(crate) replies: ReplyCache,
    pub(crate) clock: Arc<dyn Clock>,
    /// Held until the last event is written.
    pub(crate) lock: Option<RunLock>,
}

impl JournalWriter {
    /// Starts the thread. The receiver resolves when the last event is written and the lock is released.
    pub(crate) fn start(files: WriterFiles) -> (Self, oneshot::Receiver<()>) {
        let (queue, entries) = mpsc::unbounded_channel();
        let events = broadcast::Sender::new(WATCHER_EVENTS_MAX);
        let (done, finished) = oneshot::channel();
        let seq_last = Arc::new(AtomicU64::new(files.journal.seq_last()));
        let clock = Arc::clone(&files.clock);
        let (broken, (tell_durable, n_durable)) = (Broken::default(), watch::channel(0));
        let writer = Self {
            queue,
            events: events.clone(),
            seq_last: Arc::clone(&seq_last),
            n_posted: Arc::default(),
            n_durable,
            replies: Arc::default(),
            broken: Arc::clone(&broken),
            clock,
        };
        let thread = std::thread::Builder::new().name("spelunk-journal".into());
        let started = thread.spawn(move || {
            write_all(files, entries, &events, &WriterState { seq_last, n_durable: tell_durable, broken });
            // The receiver may be gone.
            let _unheard = done.send(());
        });
        started.expect("the operating system grants one thread per run");
        (writer, finished)
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Event> {
        self.events.subscribe()
    }

    /// Records an event. A synced one is on disk when this returns; a buffered one is only queued.
    pub(crate) async fn record(&self, frame: &FrameId, kind: EventKind) -> JournalResult {
        let durability = kind.durability();
        self.record_draft(frame, durability, Box::new(move |_| Ok(kind))).await
    }

    pub(crate) async fn record_draft(
        &self,
        frame: &FrameId,
        durability: Durability,
        draft: Draft,
    ) -> JournalResult {
        match durability {
            Durability::Promised | Durability::Synced => self.post(frame, draft).written().await,
            Durability::Buffered | Durability::Ephemeral => {
                self.send(Entry::Fact { frame: frame.clone(), draft, ack: None })
            }
        }
    }

    /// Fixes an event's position in the journal now; await the receipt for durability.
    pub(crate) fn post(&self, frame: &FrameId, draft: Draft) -> Receipt {
        let (ack, written) = oneshot::channel();
        self.n_posted.fetch_add(1, Ordering::SeqCst);
        let sent = self.send(Entry::Fact { frame: frame.clone(), draft, ack: Some(ack) });
        Receipt { sent, written }
    }

    pub(crate) fn post_event(&self, frame: &FrameId, kind: EventKind) -> Receipt {
        self.post(frame, Box::new(move |_| Ok(kind)))
    }

    /// Posts a reply without a receipt: everything that depends on it waits for it instead.
    pub(crate) fn post_reply(&self, frame: &FrameId, draft: Draft) {
        drop(self.post(frame, draft));
        let mut replies = lock(&self.replies);
        if replies.len() >= REPLIES_MAX {
            replies.pop_front();
        }
        replies.push_back(self.mark());
    }

    /// A mark before the last `n_last` replies.
    pub(crate) fn replies_before_last(&self, n_last: u64) -> Mark {
        let replies = lock(&self.replies);
        let n_last = usize::try_from(n_last).unwrap_or(usize::MAX).min(REPLIES_MAX - 1);
        let idx = replies.len().checked_sub(n_last + 1);
        idx.and_then(|idx| replies.get(idx)).copied().unwrap_or(Mark(0))
    }

    /// A mark after the events posted so far. A prompt built now can depend only on events up to this mark.
    pub(crate) fn mark(&self) -> Mark {
        Mark(self.n_posted.load(Ordering::SeqCst))
    }

    /// Waits until every event before the mark is on disk. Whatever leaves the run waits for what it depends on.
    pub(crate) async fn written_before(&self, Mark(n_posted): Mark) -> JournalResult {
        let mut n_durable = self.n_durable.clone();
        // Events are written in order, so a count is enough.
        if n_durable.wait_for(|n_durable| *n_durable >= n_posted).await.is_err() {
            self.check()?;
            return Err(gone());
        }
        self.check()
    }

    pub(crate) fn show(&self, frame: &FrameId, kind: EventKind) {
        debug_assert_eq!(kind.durability(), Durability::Ephemeral);
        let seq = self.seq_last.load(Ordering::Relaxed);
        // Sending fails only without watchers.
        drop(self.events.send(Event { seq, at_ms: self.clock.now_ms(), frame: frame.clone(), kind }));
    }

    pub(crate) fn chore(&self, chore: Chore) -> JournalResult {
        self.send(Entry::Chore(chore))
    }

    /// Returns the first write error: nothing may be paid for that cannot be recorded.
    pub(crate) fn check(&self) -> JournalResult {
        self.broken.get().map_or(Ok(()), |error| Err(Arc::clone(error)))
    }

    fn send(&self, entry: Entry) -> JournalResult {
        self.check()?;
        self.queue.send(entry).map_err(|_| gone())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Mark(u64);

pub(crate) struct Receipt {
    sent: JournalResult,
    written: oneshot::Receiver<JournalResult>,
}

impl Receipt {
    /// Waits until the event is on disk, or written if it is only buffered.
    pub(crate) async fn written(self) -> JournalResult {
        self.sent?;
        self.written.await.unwrap_or_else(|_| Err(gone()))
    }
}

fn gone() -> Arc<JournalError> {
    let source = std::io::Error::other("the journal's writer has stopped");
    Arc::new(JournalError::Write { name: "journal.jsonl".into(), source })
}

struct WriterState {
    seq_last: Arc<AtomicU64>,
    n_durable: watch::Sender<u64>,
    broken: Broken,
}

fn write_all(
    mut files: WriterFiles,
    mut entries: mpsc::UnboundedReceiver<Entry>,
    events: &broadcast::Sender<Event>,
    WriterState { seq_last, n_durable, broken }: &WriterState,
) {
    let syncing = Syncing::start(&files.journal, broken);
    let mut batch = Vec::new();
    while let Some(entry) = entries.blocking_recv() {
        batch.push(entry);
        while batch.len() < BATCH_ENTRIES_MAX
            && let Ok(entry) = entries.try_recv()
        {
            batch.push(entry);
        }
        let Sorted { drafts, acks, chores } = sort(&mut batch);
        let written = match broken.get() {
            Some(error) => Err(Arc::clone(error)),
            None => write_batch(&mut files, drafts).map_err(Arc::new),
        };
        let (facts, outcome) = match written {
            Ok(facts) => (facts, Ok(())),
            Err(error) => (Vec::new(), Err(error)),
        };
        seq_last.store(files.journal.seq_last(), Ordering::Relaxed);
        if let Err(error) = &outcome {
            // Set before the acknowledgements, so that their receivers see the error.
            broken.get_or_init(|| Arc::clone(error));
        }
        // The count advances after a write error too, so that waiting callers wake up and see the error.
        n_durable.send_modify(|n_durable| *n_durable += acks.len() as u64);
        for ack in acks {
            drop(ack.send(outcome.clone()));
        }
        if files.journal.is_ahead() {
            syncing.wake();
        }
        // Only watchers need these; no request waits for them.
        if let Err(error) = files.blobs.write_prompts() {
            broken.get_or_init(|| Arc::new(error));
        }
        for event in facts {
            // Sending fails only without watchers.
            drop(events.send(event));
        }
        for chore in chores {
            chore(&files.replies);
        }
    }
    if files.journal.is_ahead() {
        syncing.finish();
    }
    drop(files.lock);
}

struct Sorted {
    drafts: Vec<(FrameId, Draft)>,
    acks: Vec<Ack>,
    chores: Vec<Chore>,
}

fn sort(batch: &mut Vec<Entry>) -> Sorted {
    let drafts = Vec::with_capacity(batch.len());
    let mut sorted = Sorted { drafts, acks: Vec::new(), chores: Vec::new() };
    for entry in batch.drain(..) {
        match entry {
            Entry::Fact { frame, draft, ack } => {
                sorted.acks.extend(ack);
                sorted.drafts.push((frame, draft));
            }
            Entry::Chore(chore) => sorted.chores.push(chore),
        }
    }
    sorted
}

fn write_batch(files: &mut WriterFiles, drafts: Vec<(FrameId, Draft)>) -> Result<Vec<Event>, JournalError> {
    let mut facts = Vec::with_capacity(drafts.len());
    files.blobs.gather_prompts();
    for (frame, draft) in drafts {
        facts.push((frame, draft(&files.blobs)?));
    }
    if facts.is_empty() {
        return Ok(Vec::new());
    }
    files.journal.append(files.clock.now_ms(), facts)
}
