//! The engine: the façade that every face uses. Plain data in, events out.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use spelunk_context::{Corpus, ScanOptions, ScanProgress, SourceInput, View};
use spelunk_journal::{Blobs, JournalError, Workspace};
use spelunk_model::Model;
use spelunk_types::{
    BlobId, Event, EventKind, FrameId, JOURNAL_FORMAT, Limits, ModelRef, RunId, RunOutcome, SourceSpec, Strategy, Text,
};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinSet;

use crate::replay::Replay;
use crate::run::{Run, drive};
use crate::scribe::{Desk, Scribe};
use crate::watch::EventStream;
use crate::{Cancel, Clock, EngineError, FrameError, Program, Purse, RunResult, RunSettings, RunView, Stop, Task, strategy};

/// Starts, resumes and watches runs of one workspace.
pub struct Engine {
    workspace: Workspace,
    clock: Arc<dyn Clock>,
    scan: ScanOptions,
    /// Runs of this process that have not ended, for watchers that only know an id.
    live: Arc<Mutex<HashMap<RunId, Live>>>,
}

#[derive(Clone)]
struct Live {
    scribe: Scribe,
    cancel: Cancel,
}

/// What is asked. The corpus was opened with [`Engine::open_corpus`] from the same sources.
pub struct RunRequest {
    /// In words.
    pub question: String,
    /// What to answer from.
    pub corpus: Corpus,
    /// Where that came from, for a later resume.
    pub sources: Vec<SourceSpec>,
    /// How to go about it.
    pub strategy: Strategy,
    /// Whom to ask.
    pub model: Arc<dyn Model>,
    /// How far it may go.
    pub settings: RunSettings,
    /// With [`Strategy::Program`]: what drives the root frame.
    pub program: Option<Program>,
}

/// What a run goes on with.
pub struct ResumeRequest {
    /// The same model it was started with.
    pub model: Arc<dyn Model>,
    /// Limits on spending may differ from before; the others are taken from the journal.
    pub settings: RunSettings,
    /// With [`Strategy::Program`]: the program it was started with.
    pub program: Option<Program>,
}

/// A run on its way.
pub struct RunHandle {
    /// Its name.
    pub run: RunId,
    /// Everything that happens in it, from its first event on.
    pub events: EventStream,
    /// Stops it.
    pub cancel: Cancel,
    driver: JoinSet<RunResult>,
    written: oneshot::Receiver<()>,
}

impl RunHandle {
    /// Waits for the end. Dropping the handle instead stops the run where it is, as a crash would.
    pub async fn join(mut self) -> RunResult {
        drop(self.events);
        let ended = self.driver.join_next().await.expect("the set holds the run's task");
        // The journal is complete and its lock free once the scribe has gone.
        drop(self.written.await);
        ended.unwrap_or_else(|error| {
            let stop = Stop::Bug { frame: FrameId::root(), message: error.to_string() };
            let outcome = RunOutcome::Failed { code: spelunk_types::ErrorCode::Bug, message: stop.to_string() };
            RunResult { run: self.run, outcome, answer: None, error: Some(FrameError::Stopped(stop)) }
        })
    }
}

impl Engine {
    /// An engine on this workspace.
    pub fn new(workspace: Workspace, clock: Arc<dyn Clock>, scan: ScanOptions) -> Self {
        Self { workspace, clock, scan, live: Arc::default() }
    }

    /// The workspace.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// Keeps text that arrived with a request, so that a resumed run finds it again.
    pub fn keep_text(&self, name: &str, bytes: &[u8]) -> Result<SourceSpec, JournalError> {
        let blobs = self.workspace.blobs();
        let content = match std::str::from_utf8(bytes) {
            Ok(text) => blobs.keep(text)?,
            Err(_) => Text::Blob { blob: blobs.put(bytes)?, bytes: bytes.len() as u64 },
        };
        Ok(SourceSpec::Text { name: name.to_owned(), content })
    }

    /// Reads the sources through. Blocking; `progress` is told how far it is.
    pub fn open_corpus(
        &self,
        sources: &[SourceSpec],
        progress: &mut dyn FnMut(ScanProgress),
    ) -> Result<Corpus, EngineError> {
        let blobs = self.workspace.blobs();
        let inputs = sources.iter().map(|source| source_input(&blobs, source)).collect::<Result<Vec<_>, _>>();
        let inputs = inputs.map_err(|source| EngineError::Journal { run: RunId::new(0, 0), source })?;
        Ok(Corpus::scan(&inputs, &self.scan, progress)?)
    }

    /// Starts a run. Must be called within a tokio runtime; blocks for a few disk writes.
    pub fn start(&self, request: RunRequest) -> Result<RunHandle, EngineError> {
        let run = RunId::new(self.clock.now_ms(), random_tail());
        let of_run = |source| EngineError::Journal { run: run.clone(), source };
        let lock = self.workspace.lock(&run).map_err(of_run)?;
        let mut journal = self.workspace.create_journal(&run);
        let start = started(&request, &self.workspace.blobs()).map_err(of_run)?;
        let mut facts = vec![(FrameId::root(), start)];
        facts.extend(scanned(&request.corpus).into_iter().map(|kind| (FrameId::root(), kind)));
        let events = journal.append(self.clock.now_ms(), facts).map_err(of_run)?;
        let desk = Desk {
            journal,
            blobs: self.workspace.blobs(),
            replies: self.workspace.replies(),
            clock: Arc::clone(&self.clock),
            lock,
        };
        let task =
            Task { question: request.question, view: View::of(Arc::new(request.corpus)), strategy: request.strategy };
        Ok(self.launch(run, desk, events, task, request.model, request.settings, request.program))
    }

    /// Goes on with a run where its journal ends. Blocks while the sources are read again.
    pub fn resume(
        &self,
        run: &RunId,
        request: ResumeRequest,
        progress: &mut dyn FnMut(ScanProgress),
    ) -> Result<RunHandle, EngineError> {
        let of_run = |source| EngineError::Journal { run: run.clone(), source };
        let lock = self.workspace.lock(run).map_err(of_run)?;
        let opened = self.workspace.open_journal(run).map_err(of_run)?;
        let (mut journal, mut events) = (opened.journal, opened.events);
        let mut view = RunView::default();
        events.iter().for_each(|event| view.apply(event));
        if view.outcome == Some(RunOutcome::Answered) {
            return Err(EngineError::Finished { run: run.clone() });
        }
        let Some(Event { kind: EventKind::RunStarted { question, strategy, sources, model, corpus_digest, settings_digest, limits, .. }, .. }) =
            events.first().cloned()
        else {
            let what = "the journal is empty".to_owned();
            return Err(of_run(JournalError::Damaged { run: run.clone(), line: 1, what }));
        };
        let limits = resumed_limits(&limits, &request.settings.limits);
        check_same(run, &model, request.model.reference(), &settings_digest, strategy, &limits)?;
        if strategy == Strategy::Program && request.program.is_none() {
            return Err(EngineError::ProgramMissing { run: run.clone() });
        }
        let corpus = self.open_corpus(&sources, progress)?;
        if *corpus.digest() != corpus_digest {
            return Err(EngineError::CorpusChanged { run: run.clone() });
        }
        let question = self.workspace.blobs().text(&question).map_err(of_run)?;
        let resumed = EventKind::RunResumed { from_seq: journal.seq_last(), bytes_dropped: opened.bytes_dropped };
        let written = journal.append(self.clock.now_ms(), vec![(FrameId::root(), resumed)]).map_err(of_run)?;
        events.extend(written);
        let (blobs, replies) = (self.workspace.blobs(), self.workspace.replies());
        let desk = Desk { journal, blobs, replies, clock: Arc::clone(&self.clock), lock };
        let task = Task { question, view: View::of(Arc::new(corpus)), strategy };
        let settings = RunSettings { limits, ..request.settings };
        Ok(self.launch(run.clone(), desk, events, task, request.model, settings, request.program))
    }

    /// Follows a run from after `after_seq`, whichever process drives it.
    pub fn watch(&self, run: &RunId, after_seq: u64) -> Result<EventStream, EngineError> {
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner).get(run).cloned();
        let subscription = live.map(|live| live.scribe.subscribe());
        EventStream::open(&self.workspace, run, after_seq, subscription)
            .map_err(|source| EngineError::Journal { run: run.clone(), source })
    }

    /// Stops a run of this process; false if there is none of that name.
    pub fn cancel(&self, run: &RunId) -> bool {
        let live = self.live.lock().unwrap_or_else(PoisonError::into_inner).get(run).cloned();
        live.inspect(|live| live.cancel.cancel()).is_some()
    }

    #[expect(clippy::too_many_arguments, reason = "start and resume meet here, each with all its parts in hand")]
    fn launch(
        &self,
        id: RunId,
        desk: Desk,
        events: Vec<Event>,
        task: Task,
        model: Arc<dyn Model>,
        settings: RunSettings,
        program: Option<Program>,
    ) -> RunHandle {
        let mut view = RunView::default();
        events.iter().for_each(|event| view.apply(event));
        let (blobs, replies) = (desk.blobs.clone(), desk.replies.clone());
        let (scribe, written) = Scribe::start(desk);
        let stream = EventStream::live(self.workspace.clone(), id.clone(), events.clone(), scribe.subscribe());
        let cancel = Cancel::new();
        let time_left = settings.limits.run_ms_max.saturating_sub(view.active_ms());
        let permits = usize::try_from(settings.limits.calls_parallel_max).unwrap_or(usize::MAX);
        let run = Run {
            id: id.clone(),
            model,
            purse: Purse::new(&settings.limits, view.n_paid_calls(), view.spent),
            replay: Replay::from_events(&events),
            scribe: scribe.clone(),
            permits: Semaphore::new(permits.clamp(1, Semaphore::MAX_PERMITS)),
            settings,
            blobs,
            replies,
            program,
        };
        self.live
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(id.clone(), Live { scribe, cancel: cancel.clone() });
        let leaving = Leaving { live: Arc::clone(&self.live), run: id.clone() };
        let driving = drive(Arc::new(run), task, cancel.clone(), Duration::from_millis(time_left));
        let mut driver = JoinSet::new();
        driver.spawn(async move {
            let _leaving = leaving;
            driving.await
        });
        RunHandle { run: id, events: stream, cancel, driver, written }
    }
}

/// Takes a run off the list of live ones when its task ends, however it ends.
struct Leaving {
    live: Arc<Mutex<HashMap<RunId, Live>>>,
    run: RunId,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        self.live.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.run);
    }
}

fn source_input(blobs: &Blobs, source: &SourceSpec) -> Result<SourceInput, JournalError> {
    Ok(match source {
        SourceSpec::Path { path } => SourceInput::Path(path.into()),
        SourceSpec::Text { name, content: Text::Inline { text } } => {
            SourceInput::Text { name: name.clone(), bytes: text.clone().into_bytes() }
        }
        SourceSpec::Text { name, content: Text::Blob { blob, .. } } => {
            SourceInput::Text { name: name.clone(), bytes: blobs.get(blob)? }
        }
    })
}

fn started(request: &RunRequest, blobs: &Blobs) -> Result<EventKind, JournalError> {
    let model = request.model.reference().clone();
    Ok(EventKind::RunStarted {
        format: JOURNAL_FORMAT,
        engine: env!("CARGO_PKG_VERSION").to_owned(),
        question: blobs.keep(&request.question)?,
        strategy: request.strategy,
        sources: request.sources.clone(),
        corpus_digest: request.corpus.digest().clone(),
        settings_digest: settings_digest(&model, request.strategy, &request.settings.limits),
        model,
        limits: Box::new(request.settings.limits.clone()),
    })
}

fn scanned(corpus: &Corpus) -> Vec<EventKind> {
    let of_report = |report: &spelunk_context::ScanReport| EventKind::SourceScanned {
        source: report.source.clone(),
        documents: report.documents,
        bytes: report.bytes,
        skipped: report.skipped.clone(),
    };
    corpus.reports().iter().map(of_report).collect()
}

/// Everything besides the corpus and the question that shapes the path of a run: the model, the strategy, its prompts,
/// and the limits that are not about spending.
fn settings_digest(model: &ModelRef, strategy: Strategy, limits: &Limits) -> BlobId {
    let mut text = format!("settings-v1\n{model}\n{strategy}\n{}\n", strategy::prompts_digest());
    for limit in Limits::ALL.iter().filter(|limit| !limit.may_change_on_resume) {
        text += &format!("{}={}\n", limit.name, limits.get(limit.name).unwrap_or_default());
    }
    spelunk_journal::digest(text.as_bytes())
}

/// The recorded limits, with today's bounds on spending.
fn resumed_limits(recorded: &Limits, now: &Limits) -> Limits {
    let mut limits = recorded.clone();
    for limit in Limits::ALL.iter().filter(|limit| limit.may_change_on_resume) {
        let known = limits.set(limit.name, now.get(limit.name).unwrap_or(limit.default));
        debug_assert!(known, "{} is a limit", limit.name);
    }
    limits
}

fn check_same(
    run: &RunId,
    recorded: &ModelRef,
    model: &ModelRef,
    digest: &BlobId,
    strategy: Strategy,
    limits: &Limits,
) -> Result<(), EngineError> {
    let changed = |what, recorded: String, now: String| EngineError::SettingsChanged { run: run.clone(), what, recorded, now };
    if (&recorded.provider, &recorded.name) != (&model.provider, &model.name) {
        return Err(changed("model", recorded.to_string(), model.to_string()));
    }
    let now = settings_digest(model, strategy, limits);
    if now != *digest {
        let short = |digest: &BlobId| digest.as_str().chars().take(8).collect();
        return Err(changed("prompts and settings", short(digest), short(&now)));
    }
    Ok(())
}

/// Tells runs of the same second apart. The hasher's keys are the standard library's own randomness.
fn random_tail() -> u32 {
    let hash = RandomState::new().build_hasher().finish();
    u32::try_from(hash & u64::from(u32::MAX)).unwrap_or_default()
}
