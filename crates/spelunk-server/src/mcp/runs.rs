//! The runs of this server: each is kept by a task that follows its events to the end, so that it goes on whether or not
//! a client waits. The truth about a run is its journal; what is here is only who is at work.

use std::collections::{BTreeMap, HashMap};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use spelunk_app::failure::Usage;
use spelunk_app::render::progress::{run_status, task_line};
use spelunk_engine::{Cancel, RunHandle, RunResult, RunView};
use spelunk_journal::Record;
use spelunk_types::{EventKind, FrameId, RunId};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::agent_tasks::AgentTasks;
use super::sampling::Questions;

/// Runs and sessions at once.
const RUNS_MAX: usize = 16;

/// All runs that are under way.
pub(super) struct Runs {
    live: Arc<Mutex<HashMap<RunId, Arc<Live>>>>,
    keepers: Mutex<JoinSet<()>>,
    stop: watch::Sender<bool>,
}

/// A run that is under way.
pub(super) struct Live {
    pub(super) run: RunId,
    pub(super) cancel: Cancel,
    pub(super) progress: watch::Receiver<Step>,
    ended: watch::Receiver<Option<Arc<Ended>>>,
    /// What it wants to know of the client's model, where the client is asked in rounds.
    pub(super) questions: Option<Arc<Questions>>,
    /// What it wants agents to do, where they take the place of a model.
    pub(super) board: Option<Arc<AgentTasks>>,
    fold: Arc<Mutex<Fold>>,
}

/// Who is asked besides a provider.
#[derive(Default)]
pub(super) struct Asked {
    /// The client, in rounds.
    pub(super) questions: Option<Arc<Questions>>,
    /// Agents of the host.
    pub(super) board: Option<Arc<AgentTasks>>,
}

/// What is done with the result of a run.
pub(super) type Then = Box<dyn FnOnce(Arc<Ended>) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send>;

/// The state of a run as far as its events have come.
#[derive(Debug, Default)]
pub(super) struct Fold {
    pub(super) view: RunView,
    /// What was said about tasks, by their frames.
    pub(super) notices: BTreeMap<FrameId, String>,
}

/// How far a run has come.
#[derive(Debug, Clone, Default)]
pub(super) struct Step {
    pub(super) seq: u64,
    /// In a line.
    pub(super) text: String,
}

/// What came of a run.
pub(super) struct Ended {
    pub(super) result: RunResult,
    pub(super) view: RunView,
}

impl Live {
    /// How it stands now.
    pub(super) fn fold(&self) -> MutexGuard<'_, Fold> {
        self.fold.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the end; nothing if the server stops first.
    pub(super) async fn end(&self) -> Option<Arc<Ended>> {
        let mut ended = self.ended.clone();
        let came = ended.wait_for(Option::is_some).await.ok()?;
        came.clone()
    }
}

impl Default for Runs {
    fn default() -> Self {
        Self { live: Arc::default(), keepers: Mutex::default(), stop: watch::Sender::new(false) }
    }
}

impl Runs {
    /// Refuses a run before anything is read for it.
    pub(super) fn require_room(&self) -> Result<(), Usage> {
        if self.live().len() < RUNS_MAX {
            return Ok(());
        }
        let message = format!("{RUNS_MAX} runs are under way already");
        Err(Usage { message, hint: "wait for one with `rlm_result`, or stop one with `rlm_cancel`".into() })
    }

    /// Takes a run over and follows it to its end; `then` is done before anybody hears of that.
    pub(super) fn keep(&self, handle: RunHandle, asked: Asked, then: Option<Then>) -> Arc<Live> {
        let Asked { questions, board } = asked;
        let (tell, progress) = watch::channel(Step::default());
        let (end, ended) = watch::channel(None);
        let fold = Arc::new(Mutex::new(Fold::default()));
        let live = Arc::new(Live {
            run: handle.run.clone(),
            cancel: handle.cancel.clone(),
            progress,
            ended,
            questions,
            board,
            fold: Arc::clone(&fold),
        });
        self.live().insert(live.run.clone(), Arc::clone(&live));
        let (table, stop) = (Arc::clone(&self.live), self.stop.subscribe());
        let run = live.run.clone();
        let mut keepers = self.keepers.lock().unwrap_or_else(PoisonError::into_inner);
        while keepers.try_join_next().is_some() {}
        keepers.spawn(async move {
            if let Some(came) = follow(handle, &fold, tell, stop).await.map(Arc::new) {
                if let Some(then) = then {
                    then(Arc::clone(&came)).await;
                }
                end.send_replace(Some(came));
            }
            table.lock().unwrap_or_else(PoisonError::into_inner).remove(&run);
        });
        live
    }

    pub(super) fn find(&self, run: &RunId) -> Option<Arc<Live>> {
        self.live().get(run).cloned()
    }

    /// Every run that is under way.
    pub(super) fn all(&self) -> Vec<Arc<Live>> {
        self.live().values().cloned().collect()
    }

    /// Stops every run where it is. Their journals are complete when this returns.
    pub(super) async fn abandon_all(&self) {
        self.stop.send_replace(true);
        let mut keepers = std::mem::take(&mut *self.keepers.lock().unwrap_or_else(PoisonError::into_inner));
        while keepers.join_next().await.is_some() {}
    }

    fn live(&self) -> MutexGuard<'_, HashMap<RunId, Arc<Live>>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Folds the events of a run until it ends, or until the server does.
async fn follow(
    mut handle: RunHandle,
    fold: &Mutex<Fold>,
    tell: watch::Sender<Step>,
    mut stop: watch::Receiver<bool>,
) -> Option<Ended> {
    let began = Instant::now();
    let fold = || fold.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let record = tokio::select! {
            record = handle.events.next() => record,
            () = stopped(&mut stop) => {
                handle.abandon().await;
                return None;
            }
        };
        match record {
            None => break,
            Some(Ok(Record::Known(event))) => {
                if matches!(event.kind, EventKind::CallStreamed { .. }) {
                    continue;
                }
                let mut fold = fold();
                fold.view.apply(&event);
                let notice = task_line(&event.kind);
                if let Some(notice) = &notice {
                    fold.notices.insert(event.frame.clone(), notice.clone());
                }
                let text = notice.unwrap_or_else(|| run_status(&fold.view, 0, began.elapsed()));
                tell.send_replace(Step { seq: fold.view.seq_last, text });
            }
            // What cannot be read while it is written is read from the journal by whoever asks later.
            Some(Ok(Record::Unknown { .. }) | Err(_)) => {}
        }
    }
    let result = handle.join().await;
    let view = fold().view.clone();
    Some(Ended { result, view })
}

async fn stopped(stop: &mut watch::Receiver<bool>) {
    // A server that is gone without a word has stopped, too.
    drop(stop.wait_for(|stop| *stop).await);
}
