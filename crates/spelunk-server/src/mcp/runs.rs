//! The runs of this server. A task follows the events of each run to its end, so that it continues whether or not a
//! client waits. The journals are the source of truth about runs; this only tracks which are in progress.

use std::collections::{BTreeMap, HashMap};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use spelunk_app::app::App;
use spelunk_app::blocking::blocking;
use spelunk_app::live_runs::Slot;
use spelunk_app::provider::OF_CLIENT;
use spelunk_app::render::progress::{run_status, task_line};
use spelunk_app::runs::files_incomplete;
use spelunk_app::units::count;
use spelunk_engine::{Cancel, Projector, RunHandle, RunResult, RunView};
use spelunk_journal::Record;
use spelunk_types::{EventKind, FrameId, RunId};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::query::Query;
use super::{AgentTasks, ClientModelName, Questions, Usage, lock};

pub(super) struct Runs {
    live: Arc<Mutex<HashMap<RunId, Arc<Live>>>>,
    keepers: Mutex<JoinSet<()>>,
    stop: watch::Sender<bool>,
    app: Arc<App>,
}

pub(super) struct Live {
    pub(super) run: RunId,
    pub(super) cancel: Cancel,
    pub(super) progress: watch::Receiver<Step>,
    ended: watch::Receiver<Option<Arc<Ended>>>,
    pub(super) host: HostAnswers,
    fold: Arc<Mutex<Fold>>,
}

/// The calls that the host answers instead of a provider.
#[derive(Default)]
pub(super) struct HostAnswers {
    pub(super) questions: Option<Arc<Questions>>,
    pub(super) client_model: ClientModelName,
    pub(super) agent_tasks: Option<Arc<AgentTasks>>,
    /// To find passages if the client cannot sample after all.
    pub(super) query: Option<Arc<Query>>,
}

pub(super) type AfterEnd = Box<dyn FnOnce(Arc<Ended>) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send>;

/// The state of a run, folded from its events so far.
#[derive(Debug, Default)]
pub(super) struct Fold {
    pub(super) view: RunView,
    pub(super) notices: BTreeMap<FrameId, String>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Step {
    pub(super) seq: u64,
    /// As one line.
    pub(super) text: String,
}

pub(crate) struct Ended {
    pub(crate) result: RunResult,
    pub(crate) view: RunView,
}

pub(super) fn model_name(name: &ClientModelName) -> Option<String> {
    let name = lock(name);
    (!name.is_empty()).then(|| format!("{OF_CLIENT}/{name}"))
}

impl Live {
    pub(super) fn fold(&self) -> MutexGuard<'_, Fold> {
        lock(&self.fold)
    }

    /// Waits for the end; `None` if the server stops first.
    pub(super) async fn end(&self) -> Option<Arc<Ended>> {
        let mut ended = self.ended.clone();
        let came = ended.wait_for(Option::is_some).await.ok()?;
        came.clone()
    }
}

impl Runs {
    pub(super) fn new(app: Arc<App>) -> Self {
        let (live, keepers, stop) = (Arc::default(), Mutex::default(), watch::Sender::new(false));
        Self { live, keepers, stop, app }
    }

    /// Takes a slot for a run before anything is read for it.
    pub(super) fn take_slot(&self) -> Result<Slot, Usage> {
        let registry = &self.app.live_runs;
        registry.take_slot().ok_or_else(|| Usage {
            message: format!("{} already in progress", count(registry.slots_taken() as u64, "run")),
            hint: "wait for one, or cancel one with `rlm_run`".into(),
        })
    }

    /// Takes over a run and follows it to its end; `then` runs before the end is announced.
    pub(super) fn keep(
        &self,
        handle: RunHandle,
        mut slot: Slot,
        host: HostAnswers,
        then: Option<AfterEnd>,
    ) -> Arc<Live> {
        slot.hold(&handle.run, &handle.cancel);
        let (tell, progress) = watch::channel(Step::default());
        let (end, ended) = watch::channel(None);
        let fold = Arc::new(Mutex::new(Fold::default()));
        let live = Arc::new(Live {
            run: handle.run.clone(),
            cancel: handle.cancel.clone(),
            progress,
            ended,
            host,
            fold: Arc::clone(&fold),
        });
        lock(&self.live).insert(live.run.clone(), Arc::clone(&live));
        let (table, stop) = (Arc::clone(&self.live), self.stop.subscribe());
        let (run, app) = (live.run.clone(), Arc::clone(&self.app));
        let workspace = app.existing_workspace().ok().flatten();
        let projector = workspace.and_then(|workspace| Projector::start(&workspace, &run));
        let mut keepers = lock(&self.keepers);
        while keepers.try_join_next().is_some() {}
        keepers.spawn(async move {
            if let Some(came) = follow(handle, &fold, tell, stop).await.map(Arc::new) {
                let finished = blocking(move || Ok(projector.map_or(Ok(()), Projector::finish)?)).await;
                if let Err(failure) = finished {
                    app.say(&format!("warning: {}", files_incomplete(&run, failure.0.as_ref())));
                }
                if let Some(then) = then {
                    then(Arc::clone(&came)).await;
                }
                end.send_replace(Some(came));
            }
            lock(&table).remove(&run);
            drop(slot);
        });
        live
    }

    pub(super) fn find(&self, run: &RunId) -> Option<Arc<Live>> {
        lock(&self.live).get(run).cloned()
    }

    pub(super) fn all(&self) -> Vec<Arc<Live>> {
        lock(&self.live).values().cloned().collect()
    }

    /// Stops every run. The journals are complete when this returns.
    pub(super) async fn abandon_all(&self) {
        self.stop.send_replace(true);
        let mut keepers = std::mem::take(&mut *lock(&self.keepers));
        while keepers.join_next().await.is_some() {}
    }
}

async fn follow(
    mut handle: RunHandle,
    fold: &Mutex<Fold>,
    tell: watch::Sender<Step>,
    mut stop: watch::Receiver<bool>,
) -> Option<Ended> {
    let began = Instant::now();
    let fold = || lock(fold);
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
            // Later requests read records that cannot be parsed here from the journal.
            Some(Ok(Record::Unknown { .. }) | Err(_)) => {}
        }
    }
    let result = handle.join().await;
    let view = fold().view.clone();
    Some(Ended { result, view })
}

pub(crate) async fn stopped(stop: &mut watch::Receiver<bool>) {
    // If the sender was dropped, the server has stopped too.
    drop(stop.wait_for(|stop| *stop).await);
}
