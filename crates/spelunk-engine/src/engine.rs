//! The engine: the façade that every front end uses. Plain data in, events out.

mod drive;
mod request;
mod sources;
mod start;
mod words;

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use spelunk_context::{Corpus, Detector, Mode, ScanOptions, ScanProgress, View};
use spelunk_index::StaticEmbedder;
use spelunk_journal::{Blobs, Journal, RunLock, Workspace, WorkspaceHold};
use spelunk_model::{CallPlaces, Model};
use spelunk_sandbox::Sandbox;
use spelunk_types::{EffectId, Event, EventKind, FrameId, RunId, Strategy, Usage};
use tokio::task::JoinSet;
use tokio::time::Instant;

use self::drive::{CutOff, drive};
pub use self::drive::{RunHandle, RunResult};
pub use self::request::{ResumeRequest, RunRequest};
use self::sources::OpenServer;
pub use self::sources::snapshot_input;
use self::start::{check_resumed, corpus_record, pins, recorded_start, start_of};
use self::words::MaskedQuestion;
use crate::frame::{Models, Run};
use crate::journal::replay::Replay;
use crate::journal::watch::EventStream;
use crate::journal::writer::{JournalWriter, WriterFiles};
use crate::limits::concurrency::ConcurrencyLimit;
use crate::limits::in_flight::InFlight;
use crate::retrieval::{OpenEmbedder, Retrieval, index_folder};
use crate::run_start::RunStart;
use crate::sync::lock;
use crate::tools::ExternalTools;
use crate::{
    Budget, CallerTurn, Cancel, Clock, EngineError, NamedModels, Program, RateLimits, RunSettings, RunView,
    Schema, Task, strategy,
};

/// Starts, resumes and watches runs of one workspace.
pub struct Engine {
    workspace: Workspace,
    clock: Arc<dyn Clock>,
    /// How the sources of new runs are read; a resumed run uses the options it was started with.
    scan: ScanOptions,
    sandbox: Sandbox,
    named_models: NamedModels,
    tools: ExternalTools,
    /// Shared with other engines that call the same models.
    pub rate_limits: RateLimits,
    /// Other places where calls may be made, such as the nodes of a fleet.
    pub places: Option<Arc<dyn CallPlaces>>,
    /// Opens the embedding model of the index, at the first search.
    pub embedder: OpenEmbedder,
    /// Opens the databases and buckets of a run that is resumed, by their URLs.
    pub servers: Option<OpenServer>,
    detector: Detector,
    /// Identifies the detector's settings in the index.
    detector_key: String,
    /// Held from the first stored text until the run that refers to it has started, to prevent
    /// garbage collection.
    texts_held: Mutex<Option<WorkspaceHold>>,
}

impl Engine {
    /// Creates an engine for this workspace.
    pub fn new(workspace: Workspace, clock: Arc<dyn Clock>, scan: ScanOptions) -> Self {
        Self {
            workspace,
            clock,
            scan,
            sandbox: Sandbox::in_process(),
            named_models: NamedModels::default(),
            tools: ExternalTools::default(),
            rate_limits: RateLimits::default(),
            places: None,
            embedder: Arc::new(|| Ok(Arc::new(StaticEmbedder::embedded()?))),
            servers: None,
            detector: Detector::default(),
            detector_key: String::new(),
            texts_held: Mutex::default(),
        }
    }

    /// Runs cells in this sandbox instead of in this process.
    #[must_use]
    pub fn with_sandbox(self, sandbox: Sandbox) -> Self {
        Self { sandbox, ..self }
    }

    /// Adds models that code may call by name.
    #[must_use]
    pub fn with_named_models(self, named_models: NamedModels) -> Self {
        Self { named_models, ..self }
    }

    /// Adds external tools.
    #[must_use]
    pub fn with_tools(self, tools: ExternalTools) -> Self {
        Self { tools, ..self }
    }

    /// Adds content types defined by the user. `key` must change whenever the types do.
    #[must_use]
    pub fn with_detector(self, detector: Detector, key: impl Into<String>) -> Self {
        Self { detector, detector_key: key.into(), ..self }
    }

    /// The workspace of this engine.
    pub fn workspace(&self) -> &Workspace {
        &self.workspace
    }

    /// A fresh run id, for a run to be started later.
    pub fn new_id(&self) -> RunId {
        let now_ms = self.clock.now_ms();
        RunId::new(now_ms, tail(now_ms))
    }

    /// Starts a run. Must be called within a tokio runtime; blocks for a few disk writes.
    pub fn start(&self, request: RunRequest) -> Result<RunHandle, EngineError> {
        self.start_as(self.new_id(), request)
    }

    /// Starts a run under an id from [`Engine::new_id`].
    pub fn start_as(&self, run: RunId, mut request: RunRequest) -> Result<RunHandle, EngineError> {
        let question = MaskedQuestion::of(&request.question, &self.scan);
        request.question = question.text;
        let schema = request.schema.as_deref().map(Schema::parse).transpose()?.map(Arc::new);
        let models = self.models(
            request.model.clone(),
            request.sub_model.clone(),
            request.synthesis_model.clone(),
            &request.settings,
        )?;
        let of_run = |source| EngineError::Journal { run: run.clone(), source };
        let run_lock = self.workspace.lock(&run).map_err(of_run)?;
        let mut journal = self.workspace.create_journal(&run);
        let blobs = self.workspace.blobs_of(&run);
        let mut start =
            start_of(&request, self.named_models.names(), &self.tools, &self.scan, &blobs).map_err(of_run)?;
        let scanned = scanned(&request.corpus);
        let view_of_all = View::of(Arc::new(request.corpus));
        // The journal writer stores the copy.
        blobs.gather_prompts();
        let record = corpus_record(&view_of_all, &request.sources, &blobs).map_err(of_run)?;
        if let EventKind::RunStarted { corpus, .. } = &mut start {
            *corpus = Some(Box::new(record));
        }
        let mut facts = vec![(FrameId::root(), start)];
        facts.extend(scanned.into_iter().map(|kind| (FrameId::root(), kind)));
        facts.extend(question.warning);
        facts.extend(models.warnings().map(|kind| (FrameId::root(), kind)));
        let events = journal.append(self.clock.now_ms(), facts).map_err(of_run)?;
        *lock(&self.texts_held) = None;
        let files = self.files(journal, blobs, run_lock);
        let task = Task {
            schema,
            turn: request.turn.map(Arc::new),
            focus: request.focus,
            ..Task::new(request.question, view_of_all, request.strategy)
        };
        let (settings, program, tools) = (request.settings, request.program, self.tools.clone());
        let view = RunView::of(&events);
        Ok(self.launch(Launch { run, files, events, view, task, models, settings, program, tools }))
    }

    /// Resumes a run where its journal ends. Blocks while the sources are scanned again.
    pub fn resume(
        &self,
        run: &RunId,
        request: ResumeRequest,
        progress: &mut dyn FnMut(ScanProgress),
    ) -> Result<RunHandle, EngineError> {
        self.go_on(run, request, None, progress)
    }

    /// Asks an agent's finished run a further question: the agent keeps its files, variables and conversation.
    /// Earlier work is replayed from the journal, without new calls or costs.
    pub fn ask_more(
        &self,
        run: &RunId,
        question: &str,
        request: ResumeRequest,
        progress: &mut dyn FnMut(ScanProgress),
    ) -> Result<RunHandle, EngineError> {
        self.go_on(run, request, Some(question), progress)
    }

    fn go_on(
        &self,
        run: &RunId,
        request: ResumeRequest,
        more: Option<&str>,
        progress: &mut dyn FnMut(ScanProgress),
    ) -> Result<RunHandle, EngineError> {
        let of_run = |source| EngineError::Journal { run: run.clone(), source };
        let run_lock = self.workspace.lock(run).map_err(of_run)?;
        let opened = self.workspace.open_journal(run).map_err(of_run)?;
        let (mut journal, mut events) = (opened.journal, opened.events);
        let mut view = RunView::of(&events);
        let start = recorded_start(run, &events).map_err(of_run)?;
        check_may_be_asked(run, &view, start.strategy, more)?;
        let limits = check_resumed(&start, run, &request, self.named_models.names())?;
        let models =
            self.models(request.model, request.sub_model, request.synthesis_model, &request.settings)?;
        let again_from = match more {
            None => {
                view.check_resumable(run, &limits)?;
                view.again_from(&limits)
            }
            Some(_) => None,
        };
        let blobs = self.workspace.blobs_of(run);
        let told = start.tools.as_ref().map(|text| blobs.text(text)).transpose().map_err(of_run)?;
        let tools = check_tools(run, &view, &self.tools, told.as_deref())?;
        let pins = pins(&start, &blobs).map_err(of_run)?;
        let corpus = self.read_sources(&start.sources, &start.scan, &pins, progress)?;
        if *corpus.digest() != start.corpus_digest {
            return Err(EngineError::CorpusChanged { run: run.clone() });
        }
        let question = blobs.text(&start.question).map_err(of_run)?;
        let schema = start.schema.as_ref().map(|text| blobs.text(text)).transpose().map_err(of_run)?;
        let schema = schema.as_deref().map(Schema::parse).transpose()?.map(Arc::new);
        let turn = start.turn.as_ref().map(|text| blobs.text(text)).transpose().map_err(of_run)?;
        let turn = turn.as_deref().and_then(CallerTurn::of_json).map(Arc::new);
        let (from_seq, bytes_dropped) = (journal.seq_last(), opened.bytes_dropped);
        let mut facts =
            vec![(FrameId::root(), EventKind::RunResumed { from_seq, bytes_dropped, again_from })];
        facts.extend(charged(&view));
        facts.extend(models.warnings().map(|kind| (FrameId::root(), kind)));
        if let Some(question) = more {
            let words = MaskedQuestion::of(question, &start.scan);
            let question = blobs.keep(&words.text).map_err(of_run)?;
            facts.push((FrameId::root(), EventKind::QuestionAdded { question }));
            facts.extend(words.warning);
        }
        for event in journal.append(self.clock.now_ms(), facts).map_err(of_run)? {
            view.apply(&event);
            events.push(event);
        }
        let files = self.files(journal, blobs, run_lock);
        let view_of_all = View::of(Arc::new(corpus));
        let task =
            Task { schema, turn, focus: start.focus, ..Task::new(question, view_of_all, start.strategy) };
        let settings = RunSettings { limits, ..request.settings };
        let (run, program) = (run.clone(), request.program);
        Ok(self.launch(Launch { run, files, events, view, task, models, settings, program, tools }))
    }

    /// Follows a run's events after `after_seq`, whichever process drives the run.
    pub fn watch(&self, run: &RunId, after_seq: u64) -> Result<EventStream, EngineError> {
        EventStream::open(&self.workspace, run, after_seq)
            .map_err(|source| EngineError::Journal { run: run.clone(), source })
    }

    /// The models of a run, defaulting to the root's. If the cost is bounded, every model must have a price.
    fn models(
        &self,
        root: Arc<dyn Model>,
        sub: Option<Arc<dyn Model>>,
        synthesis: Option<Arc<dyn Model>>,
        settings: &RunSettings,
    ) -> Result<Models, EngineError> {
        let or_root = |model: Option<Arc<dyn Model>>| model.unwrap_or_else(|| Arc::clone(&root));
        let (sub, synthesis) = (or_root(sub), or_root(synthesis));
        settings.check_prices([&root, &sub, &synthesis])?;
        let named = self.named_models.clone();
        let named = if settings.cost_is_bounded { named.with_prices() } else { named };
        Ok(Models { root, sub, synthesis, named })
    }

    fn retrieval(&self, whole: &View) -> Retrieval {
        Retrieval {
            directory: self.workspace.dir().map(|dir| (dir.clone(), index_folder(whole))),
            embedder: Arc::clone(&self.embedder),
            detector: self.detector.clone(),
            detector_key: self.detector_key.clone(),
            whole: whole.clone(),
            index: Mutex::default(),
        }
    }

    fn files(&self, journal: Journal, blobs: Blobs, lock: Option<RunLock>) -> WriterFiles {
        WriterFiles {
            journal,
            blobs,
            replies: self.workspace.replies(),
            clock: Arc::clone(&self.clock),
            lock,
        }
    }

    fn launch(&self, launch: Launch) -> RunHandle {
        let Launch { run: id, files, events, view, task, models, settings, program, tools } = launch;
        let replay = Replay::from_events(&events);
        let scan = events.first().and_then(|event| RunStart::of(&event.kind)).map(|start| start.scan);
        let scan = scan.unwrap_or_default();
        let (blobs, replies) = (files.blobs.clone(), files.replies.clone());
        let (writer, written) = JournalWriter::start(files);
        let stream = EventStream::live(self.workspace.clone(), id.clone(), events, writer.subscribe());
        let (cancel, cut_off) = (Cancel::new(), CutOff(Arc::default()));
        // Every interface has validated the types. If one is gone since, the plan differs.
        let detector =
            self.detector.clone().with_overrides(&scan.types).unwrap_or_else(|_| self.detector.clone());
        let time_left = settings.limits.run_ms_max.saturating_sub(view.active_ms());
        let mut tool_calls = HashMap::new();
        for call in view.effects.values().filter(|call| call.is_sent) {
            *tool_calls.entry(call.tool.clone()).or_default() += 1;
        }
        let run = Run {
            id: id.clone(),
            started_at_ms: view.started_at_ms,
            models,
            sandbox: self.sandbox.clone(),
            detector,
            mode: if scan.plain { Mode::Plain } else { Mode::ByType },
            texts: Arc::default(),
            retrieval: Arc::new(self.retrieval(&task.view)),
            ends_at: Instant::now() + Duration::from_millis(time_left),
            limits_at_start: view.limits.clone().unwrap_or_else(|| settings.limits.clone()),
            budget: Budget::new(&settings.limits, view.n_paid_calls(), view.spent),
            replay,
            writer,
            concurrency: ConcurrencyLimit::new(settings.limits.calls_parallel_max),
            rate_limits: self.rate_limits.clone(),
            places: self.places.clone(),
            in_flight: InFlight::default(),
            limits_told: Mutex::default(),
            stand_ins_told: Mutex::default(),
            refused_by: Mutex::default(),
            is_cut_off: Arc::clone(&cut_off.0),
            settings,
            tool_calls: Mutex::new(tool_calls),
            tools,
            image_bytes: AtomicU64::default(),
            allows_secrets: scan.allow_secrets,
            blobs,
            replies,
            program,
            solve: |frame, task| Box::pin(strategy::solve(frame, task)),
        };
        let mut driver = JoinSet::new();
        driver.spawn(drive(Arc::new(run), task, cancel.clone(), Duration::from_millis(time_left)));
        RunHandle { run: id, events: stream, cancel, cut_off, driver, written }
    }
}

struct Launch {
    run: RunId,
    files: WriterFiles,
    events: Vec<Event>,
    view: RunView,
    task: Task,
    models: Models,
    settings: RunSettings,
    program: Option<Program>,
    tools: ExternalTools,
}

/// Refuses to resume without the tools of the run, or without a decision about each call whose outcome is unknown.
fn check_tools(
    run: &RunId,
    view: &RunView,
    tools: &ExternalTools,
    told: Option<&str>,
) -> Result<ExternalTools, EngineError> {
    let decisions = &tools.decisions;
    if let Some((effect, call)) = view.unknown_effects().find(|(effect, _)| !decisions.contains_key(effect)) {
        let (run, effect, tool) = (run.clone(), effect.clone(), call.tool.clone());
        return Err(EngineError::EffectUnknown { run, effect, tool });
    }
    let is_known = |effect: &&EffectId| !view.unknown_effects().any(|(unknown, _)| unknown == *effect);
    if let Some(effect) = decisions.keys().find(is_known) {
        return Err(EngineError::EffectKnown { run: run.clone(), effect: effect.clone() });
    }
    tools.as_recorded(told).map_err(|recorded| {
        let names: Vec<&str> = tools.all().iter().map(|tool| tool.name.as_str()).collect();
        let now = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        EngineError::SettingsChanged { run: run.clone(), what: "the tools", recorded, now }
    })
}

fn check_may_be_asked(
    run: &RunId,
    view: &RunView,
    strategy: Strategy,
    more: Option<&str>,
) -> Result<(), EngineError> {
    let run = run.clone();
    match more {
        Some(_) if strategy != Strategy::Agent => Err(EngineError::NotAgent { run, strategy }),
        Some(_) if view.answer().is_none() => Err(EngineError::Unfinished { run }),
        None | Some(_) => Ok(()),
    }
}

/// Requests that were in flight when the previous process died. Their outcome is unknown, so each
/// is charged its reservation once, and the user is warned.
fn charged(view: &RunView) -> Vec<(FrameId, EventKind)> {
    let mut sum = Usage::default();
    let mut facts = Vec::new();
    for (call, usage) in view.unanswered() {
        sum = sum.plus(usage);
        facts.push((call.frame.clone(), EventKind::CallWasted { call: call.clone(), usage }));
    }
    let counted = match sum.cost_microusd {
        0 => format!("{} tokens", sum.tokens()),
        cost => format!("{} tokens, ${}.{:06}", sum.tokens(), cost / 1_000_000, cost % 1_000_000),
    };
    let message = match facts.len() {
        0 => return facts,
        1 => format!("1 request was sent but not answered when the run stopped; it is counted as {counted}"),
        n => format!(
            "{n} requests were sent but not answered when the run stopped; they are counted as {counted}"
        ),
    };
    let hint = "this is an upper bound; the provider's bill may be lower".to_owned();
    facts.push((FrameId::root(), EventKind::WarningRaised { message, hint }));
    facts
}

fn scanned(corpus: &Corpus) -> Vec<EventKind> {
    let of_report = |report: &spelunk_context::ScanReport| EventKind::SourceScanned {
        source: report.source.clone(),
        documents: report.documents,
        bytes: report.bytes,
        skipped: report.skipped.clone(),
        redacted: report.redactions.clone(),
    };
    corpus.reports().iter().map(of_report).collect()
}

/// Distinguishes runs of the same second and sorts them by millisecond. Randomness comes from the
/// keys of the standard library's hasher.
fn tail(now_ms: u64) -> u32 {
    let random = RandomState::new().build_hasher().finish();
    let tail = (now_ms % 1000) << 22 | random & 0x003f_ffff;
    u32::try_from(tail).unwrap_or_default()
}
