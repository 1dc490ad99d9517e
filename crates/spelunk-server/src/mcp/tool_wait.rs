//! Waiting for a run or a cell on behalf of one call of a tool: progress to the client, cancellation by it, and rounds.
//! A round ends the call with the questions of the run and a handle; the client calls again with the handle and the
//! replies. The handle is random and means nothing outside of this process: what a client sends is never believed.

use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::future::pending;
use std::hash::BuildHasher as _;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CallToolResponse, InputRequest, InputRequiredResult, InputResponses, ProgressNotificationParam,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::json;
use spelunk_app::failure::{Failure, Usage};
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep, sleep_until};

use super::answer::Said;
use super::cells::Console;
use super::runs::{Ended, Live, Step};
use super::state::State;

/// What clients allow before they give up by themselves.
pub(super) const ROUNDS_MAX: u32 = 10;
/// Calls that wait for their client; the oldest is forgotten first.
const SUSPENDED_MAX: usize = 64;
/// Progress is told so often at most.
const PACE: Duration = Duration::from_millis(100);

/// What a call waits for.
pub(super) enum Work {
    /// The end of a run.
    Run(Arc<Live>),
    /// What a cell says.
    Cell { console: Arc<Console>, said: oneshot::Receiver<String> },
}

impl Work {
    fn live(&self) -> &Arc<Live> {
        match self {
            Self::Run(live) => live,
            Self::Cell { console, .. } => &console.live,
        }
    }
}

/// One call of a tool that waits.
pub(super) struct Wait<'a> {
    pub(super) state: &'a State,
    pub(super) context: &'a RequestContext<RoleServer>,
    /// The tool that was called; a handle is good for the same one only.
    pub(super) tool: &'static str,
    /// How long at most; until the end unless said.
    pub(super) ms_max: Option<u64>,
}

/// What the earlier rounds of a call came to.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Past {
    n_rounds: u32,
    /// The last step that the client was told of.
    seq_told: u64,
}

/// Calls that ended in a round and have not come back.
pub(super) struct Rounds {
    suspended: Mutex<BTreeMap<u64, Suspended>>,
    random: RandomState,
}

struct Suspended {
    handle: String,
    tool: &'static str,
    work: Work,
    /// The questions that the client has.
    sent: Vec<String>,
    past: Past,
    ms_max: Option<u64>,
}

impl Default for Rounds {
    fn default() -> Self {
        Self { suspended: Mutex::default(), random: RandomState::new() }
    }
}

impl Rounds {
    /// Keeps a call until its client comes back, and gives it a name that cannot be guessed.
    fn suspend(&self, mut suspended: Suspended) -> String {
        let mut table = self.suspended.lock().unwrap_or_else(PoisonError::into_inner);
        let n = table.keys().next_back().map_or(0, |last| last + 1);
        // A keyed hash of a counter, with a key that the system drew at random for this server.
        let mark = RandomState::new().hash_one(n);
        let handle =
            format!("{:016x}{:016x}", self.random.hash_one((n, mark)), self.random.hash_one((mark, n)));
        suspended.handle.clone_from(&handle);
        table.insert(n, suspended);
        while table.len() > SUSPENDED_MAX {
            table.pop_first();
        }
        handle
    }

    fn take(&self, handle: &str, tool: &str) -> Option<Suspended> {
        let mut table = self.suspended.lock().unwrap_or_else(PoisonError::into_inner);
        let (&n, _) = table.iter().find(|(_, one)| one.handle == handle && one.tool == tool)?;
        table.remove(&n)
    }
}

/// Goes on with a call that ended in a round.
pub(super) async fn go_on(
    state: &State,
    context: &RequestContext<RoleServer>,
    tool: &'static str,
    handle: &str,
    replies: InputResponses,
) -> Result<CallToolResponse, ErrorData> {
    let Some(suspended) = state.rounds.take(handle, tool) else {
        let message = "the request state is not one of this server's".to_owned();
        let hint = "find the run with `rlm_status` and go on with `rlm_result` or `rlm_resume`".to_owned();
        let failure: Failure = Usage { message, hint }.into();
        return Ok(Said::error(failure.0.as_ref()).into_result(state.output_chars_max).into());
    };
    if let Some(questions) = &suspended.work.live().questions {
        questions.give(&suspended.sent, replies);
    }
    let wait = Wait { state, context, tool, ms_max: suspended.ms_max };
    wait.finish(suspended.work, suspended.past).await
}

/// What ended the waiting.
enum Came {
    Ended(Arc<Ended>),
    Said(String),
    /// The server is closing.
    Abandoned,
    /// The run wants to ask the client's model.
    Asks,
    /// The caller did not want to wait longer.
    Waited,
    /// The caller took its request back.
    Cancelled,
}

impl Wait<'_> {
    /// Waits, and makes an answer of what came.
    pub(super) async fn finish(&self, mut work: Work, mut past: Past) -> Result<CallToolResponse, ErrorData> {
        loop {
            let came = self.follow(&mut work, &mut past.seq_told).await;
            let said = match came {
                Came::Asks if past.n_rounds >= ROUNDS_MAX => Said::error(&too_many_rounds(work.live())),
                Came::Asks => {
                    let questions = work.live().questions.as_ref().map(|questions| questions.take());
                    let requests = questions.unwrap_or_default();
                    // Another call took them; this one waits on.
                    if requests.is_empty() {
                        continue;
                    }
                    past.n_rounds += 1;
                    return Ok(self.suspend(work, requests, past).into());
                }
                Came::Ended(ended) => match &work {
                    Work::Run(_) => Said::from(super::query::ended(self.state, &ended)),
                    Work::Cell { console, .. } => console.ended(&ended),
                },
                Came::Said(text) => match &work {
                    Work::Cell { console, .. } => console.said(&text),
                    Work::Run(_) => Said::new(text, json!({})),
                },
                Came::Waited => super::query::under_way(work.live()),
                Came::Cancelled => {
                    if let Work::Run(live) = &work {
                        live.cancel.cancel();
                    }
                    return Err(ErrorData::internal_error("the request was cancelled", None));
                }
                Came::Abandoned => return Err(ErrorData::internal_error("the server is closing", None)),
            };
            return Ok(said.into_result(self.state.output_chars_max).into());
        }
    }

    fn suspend(
        &self,
        work: Work,
        requests: BTreeMap<String, InputRequest>,
        past: Past,
    ) -> InputRequiredResult {
        let sent = requests.keys().cloned().collect();
        let (tool, ms_max) = (self.tool, self.ms_max);
        let suspended = Suspended { handle: String::new(), tool, work, sent, past, ms_max };
        let handle = self.state.rounds.suspend(suspended);
        InputRequiredResult::new(Some(requests), Some(handle))
    }

    async fn follow(&self, work: &mut Work, seq_told: &mut u64) -> Came {
        let live = Arc::clone(work.live());
        let token = self.context.meta.get_progress_token();
        let (mut ended, mut progress) = (pin!(live.end()), live.progress.clone());
        let mut asks = pin!(async {
            match &live.questions {
                Some(questions) => questions.ready().await,
                None => pending().await,
            }
        });
        let mut waited = pin!(async {
            match self.ms_max {
                Some(ms_max) => sleep(Duration::from_millis(ms_max)).await,
                None => pending().await,
            }
        });
        let mut next_at = Instant::now();
        loop {
            let step = tokio::select! {
                biased;
                text = said(work) => return text.map_or(Came::Abandoned, Came::Said),
                came = &mut ended => return came.map_or(Came::Abandoned, Came::Ended),
                () = self.context.ct.cancelled() => return Came::Cancelled,
                () = &mut asks => return Came::Asks,
                () = &mut waited => return Came::Waited,
                step = next_step(&mut progress, next_at), if token.is_some() => step,
            };
            if let Some(token) = token.as_ref().filter(|_| step.seq > *seq_told) {
                *seq_told = step.seq;
                // Steps are counted by events, so that the number grows with every one.
                #[expect(clippy::cast_precision_loss, reason = "nobody counts events beyond 2^52")]
                let param = ProgressNotificationParam::new(token.clone(), step.seq as f64);
                // A client that does not listen is told nothing.
                drop(self.context.peer.notify_progress(param.with_message(step.text)).await);
                next_at = Instant::now() + PACE;
            }
        }
    }
}

/// What the cell says; a run says nothing before its end.
async fn said(work: &mut Work) -> Option<String> {
    match work {
        Work::Run(_) => pending().await,
        // A session that ended without a word to this cell is told about by its end.
        Work::Cell { said, .. } => match said.await {
            Ok(text) => Some(text),
            Err(_) => pending().await,
        },
    }
}

async fn next_step(progress: &mut watch::Receiver<Step>, next_at: Instant) -> Step {
    sleep_until(next_at).await;
    if progress.changed().await.is_err() {
        return pending().await;
    }
    progress.borrow_and_update().clone()
}

fn too_many_rounds(live: &Live) -> Usage {
    let run = live.run.short();
    Usage {
        message: format!("run `{run}` asked the client's model in {ROUNDS_MAX} rounds and is not done"),
        hint: format!(
            "configure a provider (ANTHROPIC_API_KEY, OPENAI_API_KEY or a local server), or call `rlm_result` with run `{run}` to go on"
        ),
    }
}
