//! An answer, with everything that a program may want to know about it.

use spelunk_engine::{ReportError, RunResult, RunView};
use spelunk_journal::{Blobs, JournalError};
use spelunk_types::{Citation, Grounding, RunId, RunOutcome};

use crate::result_details::{self, Evidence, Metrics};

/// What came of a run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// The run: to ask more, to resume, to look at with `spelunk show`.
    pub run: RunId,
    /// Whether there is an answer, and it says something.
    pub success: bool,
    /// In words; in JSON where there is a schema.
    pub answer: Option<String>,
    /// Evidence that was found in the sources.
    pub citations: Vec<Citation>,
    /// How far the answer rests on the sources.
    pub grounding: Option<Grounding>,
    /// Every citation that was looked up, and every fact that an agent kept; the first thousand.
    pub evidence: Vec<Evidence>,
    /// What was counted.
    pub metrics: Metrics,
    /// What went wrong on the way; the first thousand things.
    pub errors: Vec<ReportError>,
    /// How the run ended.
    pub outcome: RunOutcome,
    /// What a person should know.
    pub warnings: Vec<String>,
}

impl Answer {
    pub(super) fn of(result: RunResult, view: &RunView, blobs: &Blobs) -> Result<Self, JournalError> {
        let (answer, citations, grounding) = match result.answer {
            Some(answer) => (Some(answer.text), answer.citations, Some(answer.grounding)),
            None => (None, Vec::new(), None),
        };
        Ok(Self {
            run: result.run,
            success: answer.as_ref().is_some_and(|text| !text.trim().is_empty()),
            evidence: Evidence::of(view, &citations, blobs)?,
            answer,
            citations,
            grounding,
            metrics: Metrics::of(view),
            errors: result_details::errors(view),
            outcome: result.outcome,
            warnings: view.warnings.iter().map(|(message, _)| message.clone()).collect(),
        })
    }
}
