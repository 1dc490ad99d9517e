//! A stage: documents, a scripted server, a disk, and an engine that uses them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use spelunk_context::{Corpus, ScanOptions};
use spelunk_engine::{
    Answer, CallerTurn, Engine, EngineError, FrameError, Program, ResumeRequest, RunHandle, RunRequest,
    RunResult, RunSettings, RunView, SystemClock, Task,
};
use spelunk_journal::{Disk, Record, SyncMode, Workspace};
use spelunk_model::{
    FallbackModel, Model, ModelFacts, ModelOptions, ModelStream, OpenAiModel, Price, Prompt,
};
use spelunk_testkit::{ModelServer, Rule};
use spelunk_types::{CallId, Event, Focus, Grounding, Limits, ModelRef, RunId, SourceSpec, Strategy};

/// A model of the scripted server, at 1 dollar per million tokens both ways.
pub(crate) fn model(base_url: &str) -> Arc<dyn Model> {
    let price = Price {
        input_microusd_per_mtok: 1_000_000,
        cached_microusd_per_mtok: 1_000_000,
        cache_write_microusd_per_mtok: 1_000_000,
        output_microusd_per_mtok: 1_000_000,
        above: None,
    };
    let options = ModelOptions {
        base_url: base_url.to_owned(),
        name: "scripted".into(),
        key: None,
        price: Some(price),
        label_calls: true,
    };
    Arc::new(OpenAiModel::new(options).unwrap())
}

/// Longer than anything here takes. A test that hangs fails and does not hold up the others.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Limits that make tests quick.
pub(crate) fn quick_limits() -> Limits {
    Limits { retry_wait_ms_min: 1, retry_wait_ms_max: 20, ..Limits::default() }
}

#[expect(clippy::struct_excessive_bools, reason = "switches of a test")]
pub(crate) struct Stage {
    pub(crate) documents: tempfile::TempDir,
    pub(crate) server: ModelServer,
    pub(crate) limits: Limits,
    pub(crate) cache_replies: bool,
    pub(crate) cost_is_bounded: bool,
    pub(crate) strategy: Strategy,
    pub(crate) schema: Option<String>,
    pub(crate) turn: Option<CallerTurn>,
    pub(crate) focus: Focus,
    pub(crate) program: Option<Program>,
    /// Fallbacks for when the server is unavailable.
    pub(crate) stand_ins: Vec<Arc<dyn Model>>,
    /// Whether the server's model sees images.
    pub(crate) sees_images: bool,
    /// Whether the server's model reads PDF.
    pub(crate) reads_pdf: bool,
}

/// A model that sees images, and reads PDF.
struct Seeing(Arc<dyn Model>, bool, bool);

impl Model for Seeing {
    fn reference(&self) -> &ModelRef {
        self.0.reference()
    }

    fn facts(&self) -> ModelFacts {
        ModelFacts { sees_images: self.1, reads_pdf: self.2, ..self.0.facts() }
    }

    fn stream(&self, prompt: &Prompt, call: &CallId) -> ModelStream {
        self.0.stream(prompt, call)
    }
}

impl Stage {
    pub(crate) fn new(files: &[(&str, &str)], rules: impl IntoIterator<Item = Rule>) -> Self {
        let documents = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = documents.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let server = ModelServer::start_blocking(rules);
        Self {
            documents,
            server,
            limits: quick_limits(),
            cache_replies: false,
            cost_is_bounded: false,
            strategy: Strategy::Direct,
            schema: None,
            turn: None,
            focus: Focus::General,
            program: None,
            stand_ins: Vec::new(),
            sees_images: false,
            reads_pdf: false,
        }
    }

    /// The root's model.
    fn model(&self) -> Arc<dyn Model> {
        let mut first = model(&self.server.base_url());
        if self.sees_images || self.reads_pdf {
            first = Arc::new(Seeing(first, self.sees_images, self.reads_pdf));
        }
        if self.stand_ins.is_empty() {
            return first;
        }
        Arc::new(FallbackModel::new(first, self.stand_ins.clone()))
    }

    pub(crate) fn sources(&self) -> Vec<SourceSpec> {
        vec![SourceSpec::Path { path: self.documents.path().to_str().unwrap().to_owned(), name: None }]
    }

    pub(crate) fn settings(&self) -> RunSettings {
        RunSettings {
            limits: self.limits.clone(),
            cache_replies: self.cache_replies,
            cost_is_bounded: self.cost_is_bounded,
        }
    }

    pub(crate) fn start(&self, engine: &Engine, question: &str) -> Result<RunHandle, EngineError> {
        self.start_over(engine, question, self.sources())
    }

    fn start_over(
        &self,
        engine: &Engine,
        question: &str,
        sources: Vec<SourceSpec>,
    ) -> Result<RunHandle, EngineError> {
        let corpus = engine.open_corpus(&sources, &mut |_| {})?;
        self.start_on(engine, question, sources, corpus)
    }

    /// Starts a run on a corpus that was scanned before.
    pub(crate) fn start_on(
        &self,
        engine: &Engine,
        question: &str,
        sources: Vec<SourceSpec>,
        corpus: Corpus,
    ) -> Result<RunHandle, EngineError> {
        engine.start(RunRequest {
            question: question.to_owned(),
            corpus,
            sources,
            strategy: if self.program.is_some() { Strategy::Program } else { self.strategy },
            model: self.model(),
            sub_model: None,
            synthesis_model: None,
            schema: self.schema.clone(),
            turn: self.turn.clone(),
            focus: self.focus,
            settings: self.settings(),
            program: self.program.clone(),
        })
    }

    pub(crate) fn resume(&self, engine: &Engine, run: &RunId) -> Result<RunHandle, EngineError> {
        let request = ResumeRequest {
            model: self.model(),
            sub_model: None,
            synthesis_model: None,
            settings: self.settings(),
            program: self.program.clone(),
        };
        engine.resume(run, request, &mut |_| {})
    }

    /// Asks about sources other than the stage's own folder.
    pub(crate) async fn ask_over(
        &self,
        engine: &Engine,
        question: &str,
        sources: Vec<SourceSpec>,
    ) -> RunResult {
        let ending = self.start_over(engine, question, sources).unwrap().join();
        tokio::time::timeout(PATIENCE, ending).await.expect("a run ends")
    }

    pub(crate) async fn ask(&self, engine: &Engine, question: &str) -> RunResult {
        let ending = self.start(engine, question).unwrap().join();
        tokio::time::timeout(PATIENCE, ending).await.expect("a run ends")
    }
}

pub(crate) fn engine_on(disk: Arc<dyn Disk>) -> Engine {
    engine_in(SyncMode::default(), disk)
}

pub(crate) fn engine_in(mode: SyncMode, disk: Arc<dyn Disk>) -> Engine {
    let workspace = Workspace::on(disk).with_sync_mode(mode);
    Engine::new(workspace, Arc::new(SystemClock), ScanOptions::default())
}

pub(crate) fn events(engine: &Engine, run: &RunId) -> Vec<Event> {
    let known = |record| match record {
        Record::Known(event) => *event,
        Record::Unknown { name, .. } => panic!("unknown event {name}"),
    };
    engine.workspace().read_journal(run).unwrap().into_iter().map(known).collect()
}

pub(crate) fn view(events: &[Event]) -> RunView {
    RunView::of(events)
}

/// The first run on a disk.
pub(crate) fn only_run(files: &BTreeMap<String, Vec<u8>>) -> Option<RunId> {
    let name = files.keys().find(|name| name.ends_with("/journal.jsonl"))?;
    Some(name.split('/').nth(1).unwrap().parse().unwrap())
}

/// A program that uses everything a run can do: a child per document, two parallel calls, a tolerated failure, and a
/// last call that depends on all of it.
pub(crate) fn survey() -> Program {
    Arc::new(|frame, task| {
        Box::pin(async move {
            let children: Vec<_> = task
                .view
                .documents()
                .map(|document| {
                    let name = document.name.clone();
                    let view = task.view.narrow(|other| other.name == name);
                    frame.descend(Task::new(format!("What does {name} say?"), view, Strategy::Direct))
                })
                .collect();
            let mut findings: Vec<String> = Vec::new();
            for answer in join_all(children).await {
                findings.push(said(answer.map(|answer| answer.text))?);
            }
            let prompts = ["one", "two"].map(|word| Prompt::single("Say it.", word, 50));
            for reply in frame.ask_all(prompts.into()).await {
                findings.push(said(reply.map(|reply| reply.text))?);
            }
            let reply = frame.ask(Prompt::single("Join.", findings.join("\n"), 100)).await?;
            Ok(Answer { text: reply.text, citations: Vec::new(), grounding: Grounding::Uncited })
        })
    })
}

/// Tolerates errors that a strategy may tolerate.
fn said(outcome: Result<String, FrameError>) -> Result<String, FrameError> {
    match outcome {
        Ok(text) => Ok(text),
        Err(FrameError::Call { code, .. } | FrameError::Child { code, .. }) => {
            Ok(format!("(nothing: {code})"))
        }
        Err(error) => Err(error),
    }
}

/// Splitmix64: the same seed gives the same numbers on every machine.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}
