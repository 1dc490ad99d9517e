//! Questions to the client: for a reply of its model, or for its user's consent. A client of 2025-11-25 or
//! earlier is sent a request directly. From 2026-07-28 on, a server sends no requests: questions wait here
//! until a tool response carries them to the client, and the client's next call brings the replies.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{InputRequest, ProtocolVersion};
use rmcp::{Peer, RoleServer};
use serde_json::Value;
use tokio::sync::{oneshot, watch};

use super::{CallContext, lock};

/// Questions that arise together are sent together: a batch is sent when no question has followed for this long.
const SETTLE: Duration = Duration::from_millis(50);
const SETTLE_TIMES_MAX: u32 = 40;

#[derive(Clone)]
pub(super) enum ClientChannel {
    /// With a direct request.
    Request(Peer<RoleServer>),
    /// In the response of a tool.
    Rounds(Arc<Questions>),
}

impl ClientChannel {
    /// The channel of this client. A client that is asked in rounds has one list of questions per run.
    pub(super) fn of(context: &CallContext, questions: &mut Option<Arc<Questions>>) -> Self {
        let asks_in_rounds =
            context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        if asks_in_rounds {
            Self::Rounds(Arc::clone(questions.get_or_insert_default()))
        } else {
            Self::Request(context.peer.clone())
        }
    }
}

#[derive(Default)]
pub(super) struct Questions {
    waiting: Mutex<BTreeMap<String, PendingQuestion>>,
    n_asked: AtomicU64,
    /// Counts questions, so that callers can wait for the next.
    arrived: watch::Sender<u64>,
}

struct PendingQuestion {
    request: InputRequest,
    reply: oneshot::Sender<Value>,
    is_sent: bool,
}

impl Questions {
    /// Adds a question at once and waits for the client's reply; `None` if the client returned without one.
    pub(super) fn ask(
        &self,
        call: &impl Display,
        request: InputRequest,
    ) -> impl Future<Output = Option<Value>> + Send + 'static {
        let (reply, answered) = oneshot::channel();
        let n = self.n_asked.fetch_add(1, Ordering::Relaxed) + 1;
        let key = format!("{n}:{call}");
        lock(&self.waiting).insert(key, PendingQuestion { request, reply, is_sent: false });
        self.arrived.send_modify(|n| *n += 1);
        async move { answered.await.ok() }
    }

    /// Waits until there are questions to send and no more follow immediately.
    pub(super) async fn ready(&self) {
        let mut arrived = self.arrived.subscribe();
        loop {
            arrived.mark_unchanged();
            let is_unsent = |question: &PendingQuestion| !question.is_sent && !question.reply.is_closed();
            if lock(&self.waiting).values().any(is_unsent) {
                break;
            }
            // The sender lives as long as this value.
            drop(arrived.changed().await);
        }
        for _ in 0..SETTLE_TIMES_MAX {
            arrived.mark_unchanged();
            if tokio::time::timeout(SETTLE, arrived.changed()).await.is_err() {
                break;
            }
        }
    }

    pub(super) fn take(&self) -> BTreeMap<String, InputRequest> {
        let mut waiting = lock(&self.waiting);
        waiting.retain(|_, question| !question.reply.is_closed());
        let mut requests = BTreeMap::new();
        for (key, question) in waiting.iter_mut().filter(|(_, question)| !question.is_sent) {
            question.is_sent = true;
            requests.insert(key.clone(), question.request.clone());
        }
        requests
    }

    /// Delivers replies to their callers. A question that was sent but got no reply has failed;
    /// unknown replies are ignored.
    pub(super) fn give(&self, sent: &[String], mut replies: BTreeMap<String, Value>) {
        let mut waiting = lock(&self.waiting);
        for key in sent {
            if let (Some(question), Some(reply)) = (waiting.remove(key), replies.remove(key)) {
                // The caller may have given up.
                drop(question.reply.send(reply));
            }
        }
    }
}
