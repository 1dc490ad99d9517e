//! What a run is started or resumed with.

use std::sync::Arc;

use spelunk_context::Corpus;
use spelunk_model::Model;
use spelunk_types::{Focus, SourceSpec, Strategy};

use crate::{CallerTurn, EngineError, Program, RunSettings};

/// A new run. The corpus was opened with [`Engine::open_corpus`](crate::Engine::open_corpus) from the same sources.
#[expect(missing_docs, reason = "the names say it")]
pub struct RunRequest {
    pub question: String,
    pub corpus: Corpus,
    /// Where the corpus came from, for a later resume.
    pub sources: Vec<SourceSpec>,
    pub strategy: Strategy,
    /// The model of the root frame.
    pub model: Arc<dyn Model>,
    /// The model for sub-calls, if different.
    pub sub_model: Option<Arc<dyn Model>>,
    /// The model that merges findings, if not the root's.
    pub synthesis_model: Option<Arc<dyn Model>>,
    /// The JSON Schema of the answer, as text.
    pub schema: Option<String>,
    /// The conversation of a caller that runs its own tools.
    pub turn: Option<CallerTurn>,
    /// What an analysis looks for first.
    pub focus: Focus,
    /// The limits and cache settings of the run.
    pub settings: RunSettings,
    /// With [`Strategy::Program`]: the program that drives the root frame.
    pub program: Option<Program>,
}

#[expect(missing_docs, reason = "the names say it")]
pub struct ResumeRequest {
    pub model: Arc<dyn Model>,
    pub sub_model: Option<Arc<dyn Model>>,
    pub synthesis_model: Option<Arc<dyn Model>>,
    /// Spending limits may differ from before; the others come from the journal.
    pub settings: RunSettings,
    /// With [`Strategy::Program`]: the program it was started with.
    pub program: Option<Program>,
}

impl ResumeRequest {
    /// Returns the error that a resume would return for a missing price.
    pub fn check_prices(&self) -> Result<(), EngineError> {
        let others = self.sub_model.iter().chain(&self.synthesis_model);
        self.settings.check_prices(others.chain([&self.model]))
    }
}
