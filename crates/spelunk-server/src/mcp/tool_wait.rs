//! Waits for a run or a cell on behalf of one tool call: progress notifications, cancellation, and rounds. A round ends
//! the call with the run's questions and a handle; the client calls again with the handle and the replies. The handle
//! is random and means nothing outside this process: nothing that a client sends is trusted.

use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::future::pending;
use std::hash::BuildHasher as _;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::ErrorData;
use rmcp::model::{
    CallToolResponse, InputRequest, InputRequiredResult, InputResponses, ProgressNotificationParam,
};
use serde_json::json;
use tokio::sync::{oneshot, watch};
use tokio::time::{Instant, sleep, sleep_until};

use super::cells::Console;
use super::runs::Step;
use super::{CallContext, Ended, Failure, Live, State, ToolAnswer, Usage, lock};

/// The number of rounds after which clients give up.
pub(super) const ROUNDS_MAX: u32 = 10;
/// The maximum number of calls that wait for their client; the oldest is dropped first.
const SUSPENDED_MAX: usize = 64;
const PROGRESS_INTERVAL: Duration = Duration::from_millis(100);

pub(super) enum Work {
    Run(Arc<Live>),
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

struct Wait<'a> {
    state: &'a Arc<State>,
    context: &'a CallContext,
    /// The tool that was called; a handle is valid only for the same tool.
    tool: &'static str,
    /// The timeout; `None` waits until the end.
    ms_max: Option<u64>,
}

pub(super) enum CallStart {
    /// What it waits for, and for how long; `None` means until the end.
    Waits(Work, Option<u64>),
    Answered(ToolAnswer),
}

pub(super) type CallResult = Result<CallStart, Failure>;

pub(super) async fn wait_for(
    state: &Arc<State>,
    context: &CallContext,
    tool: &'static str,
    begun: CallResult,
) -> Result<CallToolResponse, ErrorData> {
    match begun {
        Ok(CallStart::Waits(work, ms_max)) => {
            Wait { state, context, tool, ms_max }.finish(work, EarlierRounds::default()).await
        }
        Ok(CallStart::Answered(said)) => Ok(said.respond(state)),
        Err(failure) => Ok(ToolAnswer::error(state, failure.0.as_ref()).respond(state)),
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct EarlierRounds {
    n_rounds: u32,
    /// The last step that was reported to the client.
    seq_told: u64,
}

#[derive(Default)]
pub(super) struct Rounds {
    suspended: Mutex<BTreeMap<u64, Suspended>>,
    random: RandomState,
}

struct Suspended {
    handle: String,
    tool: &'static str,
    work: Work,
    /// The questions that were sent to the client.
    sent: Vec<String>,
    past: EarlierRounds,
    ms_max: Option<u64>,
}

impl Rounds {
    /// Stores a call until its client continues it, and returns an unguessable handle.
    fn suspend(&self, mut suspended: Suspended) -> String {
        let mut table = lock(&self.suspended);
        let n = table.keys().next_back().map_or(0, |last| last + 1);
        // A keyed hash of a counter, with a random key for this server.
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
        let mut table = lock(&self.suspended);
        let (&n, _) = table.iter().find(|(_, one)| one.handle == handle && one.tool == tool)?;
        table.remove(&n)
    }
}

pub(super) async fn go_on(
    state: &Arc<State>,
    context: &CallContext,
    tool: &'static str,
    handle: &str,
    replies: InputResponses,
) -> Result<CallToolResponse, ErrorData> {
    let Some(suspended) = state.rounds.take(handle, tool) else {
        let message = "the request state is not valid";
        let hint = "find the run and continue it with `rlm_run`";
        return Ok(ToolAnswer::error(state, &Usage::new(message, hint)).respond(state));
    };
    if let Some(questions) = &suspended.work.live().host.questions {
        questions.give(&suspended.sent, replies);
    }
    let wait = Wait { state, context, tool, ms_max: suspended.ms_max };
    wait.finish(suspended.work, suspended.past).await
}

enum WaitOutcome {
    Ended(Arc<Ended>),
    Printed(String),
    /// The server is closing.
    Abandoned,
    Asks,
    Waited,
    Cancelled,
}

impl Wait<'_> {
    async fn finish(&self, mut work: Work, mut past: EarlierRounds) -> Result<CallToolResponse, ErrorData> {
        loop {
            let came = self.follow(&mut work, &mut past.seq_told).await;
            let said = match came {
                WaitOutcome::Asks if past.n_rounds >= ROUNDS_MAX => {
                    ToolAnswer::error(self.state, &too_many_rounds(work.live()))
                }
                WaitOutcome::Asks => {
                    let questions = work.live().host.questions.as_ref().map(|questions| questions.take());
                    let requests = questions.unwrap_or_default();
                    // Another call took them, so this one keeps waiting.
                    if requests.is_empty() {
                        continue;
                    }
                    past.n_rounds += 1;
                    return Ok(self.suspend(work, requests, past).into());
                }
                WaitOutcome::Ended(ended) => match &work {
                    Work::Run(live) => {
                        ToolAnswer::of(self.state, super::query::ended_run(self.state, live, &ended).await)
                    }
                    Work::Cell { console, .. } => console.ended(&ended),
                },
                WaitOutcome::Printed(text) => match &work {
                    Work::Cell { console, .. } => console.said(&text),
                    Work::Run(_) => ToolAnswer::new(text, json!({})),
                },
                WaitOutcome::Waited => super::query::under_way(work.live()),
                WaitOutcome::Cancelled => {
                    if let Work::Run(live) = &work {
                        live.cancel.cancel();
                    }
                    return Err(ErrorData::internal_error("the request was cancelled", None));
                }
                WaitOutcome::Abandoned => {
                    return Err(ErrorData::internal_error("the server is shutting down", None));
                }
            };
            return Ok(said.respond(self.state));
        }
    }

    fn suspend(
        &self,
        work: Work,
        requests: BTreeMap<String, InputRequest>,
        past: EarlierRounds,
    ) -> InputRequiredResult {
        let sent = requests.keys().cloned().collect();
        let (tool, ms_max) = (self.tool, self.ms_max);
        let suspended = Suspended { handle: String::new(), tool, work, sent, past, ms_max };
        let handle = self.state.rounds.suspend(suspended);
        InputRequiredResult::new(Some(requests), Some(handle))
    }

    async fn follow(&self, work: &mut Work, seq_told: &mut u64) -> WaitOutcome {
        let live = Arc::clone(work.live());
        let token = self.context.meta.get_progress_token();
        let (mut ended, mut progress) = (pin!(live.end()), live.progress.clone());
        let mut asks = pin!(async {
            match &live.host.questions {
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
                text = said(work) => return text.map_or(WaitOutcome::Abandoned, WaitOutcome::Printed),
                came = &mut ended => return came.map_or(WaitOutcome::Abandoned, WaitOutcome::Ended),
                () = self.context.ct.cancelled() => return WaitOutcome::Cancelled,
                () = &mut asks => return WaitOutcome::Asks,
                () = &mut waited => return WaitOutcome::Waited,
                step = next_step(&mut progress, next_at), if token.is_some() => step,
            };
            if let Some(token) = token.as_ref().filter(|_| step.seq > *seq_told) {
                *seq_told = step.seq;
                // The number of a step is that of its event, so it always increases.
                #[expect(clippy::cast_precision_loss, reason = "nobody counts events beyond 2^52")]
                let param = ProgressNotificationParam::new(token.clone(), step.seq as f64);
                // A client that does not listen misses the notification.
                drop(self.context.peer.notify_progress(param.with_message(step.text)).await);
                next_at = Instant::now() + PROGRESS_INTERVAL;
            }
        }
    }
}

/// The output of the cell; a run has none before its end.
async fn said(work: &mut Work) -> Option<String> {
    match work {
        Work::Run(_) => pending().await,
        // If the session ended without output for this cell, the wait reports its end.
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
    Usage::new(
        format!("run `{run}` asked the client's model in {ROUNDS_MAX} rounds without finishing"),
        format!(
            "configure a provider (ANTHROPIC_API_KEY, OPENAI_API_KEY or a local server), or call `rlm_run` with action result and run `{run}` to continue"
        ),
    )
}
