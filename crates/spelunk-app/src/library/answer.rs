//! An answer and its details: citations, evidence, metrics, errors.

use serde_json::{Value, json};
use spelunk_engine::{ReportError, RunResult, RunView};
use spelunk_journal::{Blobs, JournalError};
use spelunk_types::{Citation, Grounding, RunId, RunOutcome};

use crate::result_details::{self, Evidence, Metrics};

/// The result of a run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Answer {
    /// The run id, for follow-up questions, `resume` and `spelunk show`.
    pub run: RunId,
    /// Whether there is a non-empty answer.
    pub success: bool,
    /// The answer as text; JSON if a schema was given.
    pub answer: Option<String>,
    /// Citations that were found in the sources.
    pub citations: Vec<Citation>,
    /// How well the sources support the answer.
    pub grounding: Option<Grounding>,
    /// How certain the answer is, from 0 to 1: see `docs/reports.md`.
    pub confidence: Option<f64>,
    /// Every citation that was checked and every fact that an agent recorded; at most 1,000.
    pub evidence: Vec<Evidence>,
    /// Counters of the run.
    pub metrics: Metrics,
    /// Errors that occurred during the run; at most 1,000.
    pub errors: Vec<ReportError>,
    /// How the run ended.
    pub outcome: RunOutcome,
    /// Warnings for the user.
    pub warnings: Vec<String>,
}

impl Answer {
    /// The answer as JSON; its fields are named as in `spelunk ask --json`.
    pub fn json(&self) -> Value {
        let hint = match &self.outcome {
            RunOutcome::Failed { code, .. } | RunOutcome::Partial { stopped_by: code } => code.hint(),
            RunOutcome::Answered | RunOutcome::Cancelled => None,
        };
        json!({
            "run": self.run,
            "outcome": self.outcome,
            "hint": hint,
            "answer": self.answer,
            "citations": self.citations,
            "grounding": self.grounding.map(Grounding::name),
            "confidence": self.confidence,
            "success": self.success,
            "evidence": self.evidence.iter().map(Evidence::json).collect::<Vec<_>>(),
            "metrics": self.metrics.json(),
            "usage": self.metrics.usage,
            "errors": self.errors.iter().map(result_details::error_json).collect::<Vec<_>>(),
            "warnings": self.warnings,
        })
    }

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
            confidence: view.confidence(),
            metrics: Metrics::of(view),
            errors: result_details::errors(view),
            outcome: result.outcome,
            warnings: view.warnings.iter().map(|(message, _)| message.clone()).collect(),
        })
    }
}
