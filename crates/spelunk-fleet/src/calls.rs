//! Model calls across nodes. A node makes up to `calls_max` calls at once, for its own runs and for
//! other nodes. Further calls go to any node with a free slot and the same model. Only the prompt and
//! the reply travel; the run, its journal and its limits stay. If the node of a run is lost, the nodes
//! that make its calls keep the replies for the node that continues the run.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_nats::{Subject, Subscriber};
use futures_util::future::BoxFuture;
use futures_util::{StreamExt as _, stream};
use spelunk_model::{
    Asked, CallPlace, CallPlaces, Model, ModelDelta, ModelError, ModelStream, Rate, read_call, read_piece,
    write_call, write_piece,
};
use spelunk_types::ModelRef;
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio::task::JoinSet;

use crate::line::{Frame, Line};
use crate::{AGAIN, Fleet, lock};

/// Part of the subject, so that nodes do not receive calls in another format.
const FORMAT: u64 = 1;
/// The queue group: one of its nodes receives each call.
const GROUP: &str = "nodes";
/// How long to wait for a node to answer.
const ANSWER: Duration = Duration::from_secs(1);
/// How long to wait before asking again if no node has a free slot.
const ASK_AGAIN: Duration = Duration::from_millis(20);
/// How long a node reserves a slot while the caller records the start of the call.
const HOLD: Duration = Duration::from_secs(10);
/// How long a stopping node waits for the calls that it makes for others.
const GRACE: Duration = Duration::from_secs(10);
/// How long a reply is kept after the node that wanted it was lost.
const KEEP: Duration = Duration::from_mins(5);

impl Fleet {
    /// How many calls this node is making.
    pub fn calls(&self) -> u64 {
        self.calls_max().saturating_sub(self.inner.slots.available_permits() as u64)
    }

    /// How many it may make at once.
    pub fn calls_max(&self) -> u64 {
        self.inner.options.calls_max
    }

    /// Whether other nodes can call this model. A program or an in-process model is local.
    pub fn travels(model: &dyn Model) -> bool {
        !model.facts().computes_here && model.reference().base_url.starts_with("http")
    }

    /// Makes calls of this model for other nodes until `stop` completes.
    pub async fn make_calls(&self, model: Arc<dyn Model>, stop: impl Future<Output = ()>) {
        let mut calls = JoinSet::new();
        tokio::select! {
            () = self.take_calls(&model, &mut calls) => {}
            () = stop => {}
        }
        let finished = async { while calls.join_next().await.is_some() {} };
        drop(tokio::time::timeout(GRACE, finished).await);
    }

    async fn take_calls(&self, model: &Arc<dyn Model>, calls: &mut JoinSet<()>) {
        let (client, slots) = (&self.connected().client, &self.inner.slots);
        loop {
            // A full node does not subscribe, so that calls go to nodes with free slots.
            drop(slots.acquire().await);
            let subject = self.calls_subject(model.reference());
            let Ok(mut wanted) = client.queue_subscribe(subject, GROUP.to_owned()).await else {
                tokio::time::sleep(AGAIN).await;
                continue;
            };
            let mut is_open = true;
            while let Some(want) = wanted.next().await {
                while calls.try_join_next().is_some() {}
                let Some(from) = want.reply else { continue };
                match Arc::clone(slots).try_acquire_owned().ok().filter(|_| is_open) {
                    Some(slot) => {
                        calls.spawn(make_call(self.clone(), Arc::clone(model), from, slot));
                    }
                    None => Line::refuse(self, from).await,
                }
                if is_open && slots.available_permits() == 0 {
                    is_open = wanted.drain().await.is_err();
                }
            }
        }
    }

    fn calls_subject(&self, model: &ModelRef) -> String {
        let ModelRef { provider, name, base_url } = model;
        let key = blake3::hash(format!("{provider}\n{name}\n{base_url}").as_bytes()).to_hex();
        self.subject(&format!("calls.{FORMAT}.{key}"))
    }

    /// The subject under which a kept reply is requested.
    fn kept_subject(&self, model: &ModelRef, said: &[u8]) -> String {
        let key = blake3::hash(&[self.calls_subject(model).as_bytes(), said].concat()).to_hex();
        self.subject(&format!("kept.{key}"))
    }

    /// A line to a node that has the reply to a call, or will have it.
    async fn find_kept(&self, subject: String) -> Option<Line> {
        let mut line = Line::open(self, None).await.ok()?;
        line.knock(subject).await;
        let answer = tokio::time::timeout(ANSWER, line.frame()).await;
        matches!(answer, Ok(Frame::Here)).then_some(line)
    }

    /// A line to a node that has reserved a slot for a call of this model.
    async fn find_place(&self, subject: String) -> Line {
        // Only one call at a time asks.
        let front = Arc::clone(lock(&self.inner.asking).entry(subject.clone()).or_default());
        let _front = front.lock().await;
        let (tell, told) = oneshot::channel();
        // A separate task: if a local slot is free first, the remote one must still be released.
        self.spawn(ask_for_place(self.clone(), subject, tell));
        match told.await {
            Ok(line) => line,
            Err(_) => std::future::pending().await,
        }
    }
}

impl CallPlaces for Fleet {
    fn share(&self, model: &ModelRef, rate: Rate) -> Option<Rate> {
        self.share_of(model, rate)
    }

    fn enter<'a>(&'a self, model: &'a dyn Model, asked: Asked) -> BoxFuture<'a, CallPlace> {
        Box::pin(async move {
            if !Self::travels(model) {
                return here(None);
            }
            let slots = &self.inner.slots;
            let place = if let Ok(slot) = Arc::clone(slots).try_acquire_owned() {
                here(Some(slot))
            } else {
                tokio::select! {
                    slot = Arc::clone(slots).acquire_owned() => here(slot.ok()),
                    line = self.find_place(self.calls_subject(model.reference())) => there(line),
                }
            };
            match asked {
                Asked::Now => place,
                Asked::Before => kept_or(self.clone(), place),
            }
        })
    }
}

/// Asks repeatedly until a node has a free slot or the caller is gone.
async fn ask_for_place(fleet: Fleet, subject: String, tell: oneshot::Sender<Line>) {
    let Ok(mut line) = Line::open(&fleet, None).await else { return };
    while !tell.is_closed() {
        line.knock(subject.clone()).await;
        if let Ok(Frame::Here) = tokio::time::timeout(ANSWER, line.frame()).await {
            // If the caller is gone, the line closes, which releases the slot.
            drop(tell.send(line));
            return;
        }
        tokio::time::sleep(ASK_AGAIN).await;
    }
}

/// A call that is made in this process.
fn here(slot: Option<OwnedSemaphorePermit>) -> CallPlace {
    Box::new(move |model, prompt, call| {
        let deltas = model.stream(prompt, call);
        Box::pin(deltas.inspect(move |_| {
            // Held as long as the stream exists.
            let _slot = &slot;
        }))
    })
}

/// A call that the node at the other end makes.
fn there(line: Line) -> CallPlace {
    Box::new(move |_, prompt, call| arriving(line, Some(write_call(prompt, call))))
}

/// Fetches the reply if some node has kept it; otherwise makes the call.
fn kept_or(fleet: Fleet, place: CallPlace) -> CallPlace {
    Box::new(move |model, prompt, call| -> ModelStream {
        let subject = fleet.kept_subject(model.reference(), &write_call(prompt, call));
        // Nothing is sent until this is polled.
        let made = place(model, prompt, call);
        let either = async move {
            match fleet.find_kept(subject).await {
                Some(line) => arriving(line, None),
                None => made,
            }
        };
        Box::pin(stream::once(either).flatten())
    })
}

/// The pieces of a reply that arrive over a line.
fn arriving(line: Line, unsent: Option<Vec<u8>>) -> ModelStream {
    Box::pin(stream::unfold(Some((line, unsent)), |left| async move {
        let (mut line, unsent) = left?;
        if let Some(unsent) = unsent {
            line.send(&unsent).await;
        }
        // The request was sent and may be charged, like one whose connection broke.
        let piece = line.receive().await.and_then(|bytes| read_piece(&bytes));
        let piece = piece.unwrap_or(Err(ModelError::StreamCut));
        let left = (!is_last(&piece)).then_some((line, None));
        Some((piece, left))
    }))
}

fn is_last(piece: &Result<ModelDelta, ModelError>) -> bool {
    matches!(piece, Err(_) | Ok(ModelDelta::Done { .. }))
}

/// Makes one call for the node at the other end.
async fn make_call(fleet: Fleet, model: Arc<dyn Model>, from: Subject, slot: OwnedSemaphorePermit) {
    let Ok(mut line) = Line::open(&fleet, Some(from)).await else { return };
    line.say_here().await;
    let Ok(Some(said)) = tokio::time::timeout(HOLD, line.receive()).await else { return };
    let Some((prompt, call)) = read_call(&said) else { return };
    let mut deltas = model.stream(&prompt, &call);
    let kept = fleet.kept_subject(model.reference(), &said);
    let (mut slot, mut pieces) = (Some(slot), Vec::new());
    let mut other = Other::There(line);
    // Until the caller has the whole reply and closes the line.
    loop {
        tokio::select! {
            piece = deltas.next(), if slot.is_some() => {
                let piece = piece.unwrap_or(Err(ModelError::StreamCut));
                pieces.push(write_piece(&piece));
                other.send(&pieces[pieces.len() - 1..]).await;
                // Errors are not kept.
                if piece.is_err() {
                    return;
                }
                if is_last(&piece) {
                    slot = None;
                }
            }
            next = other.next() => {
                other = match next {
                    Next::Over => return,
                    Next::Lost => {
                        let client = &fleet.connected().client;
                        let wanted = client.queue_subscribe(kept.clone(), GROUP.to_owned()).await;
                        let Ok(wanted) = wanted else { return };
                        Other::Lost { wanted, until: Instant::now() + KEEP }
                    }
                    Next::Wanted(from) => {
                        let Ok(mut line) = Line::open(&fleet, Some(from)).await else { return };
                        line.say_here().await;
                        let mut other = Other::There(line);
                        other.send(&pieces).await;
                        other
                    }
                };
            }
        }
    }
}

enum Other {
    There(Line),
    /// The node is lost; another one may ask for the reply.
    Lost {
        wanted: Subscriber,
        until: Instant,
    },
}

/// What the receiver did.
enum Next {
    Over,
    Lost,
    Wanted(Subject),
}

impl Other {
    async fn send(&mut self, pieces: &[Vec<u8>]) {
        let Self::There(line) = self else { return };
        for piece in pieces {
            line.send(piece).await;
        }
    }

    async fn next(&mut self) -> Next {
        match self {
            Self::There(line) => match line.receive().await {
                None if !line.is_closed() => Next::Lost,
                _ => Next::Over,
            },
            Self::Lost { wanted, until } => {
                let asked = tokio::time::timeout_at((*until).into(), wanted.next()).await;
                asked.ok().flatten().and_then(|asked| asked.reply).map_or(Next::Over, Next::Wanted)
            }
        }
    }
}
