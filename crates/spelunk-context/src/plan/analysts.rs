//! Analysts: which one reads a content type, and how many of each the tasks need.

use super::PlanTask;
use crate::kind::ContentType;

const TASKS_PER_ANALYST: u64 = 4;

/// A prompt and schema for some content types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Analyst {
    /// Reads code.
    Code,
    /// Reads tables.
    Data,
    /// Reads JSON and JSON lines.
    Json,
    /// Reads everything else.
    General,
}

spelunk_types::named! { Analyst { Code = "code", Data = "data", Json = "json", General = "general" } }

impl Analyst {
    /// The analyst for a content type.
    pub fn of(content_type: ContentType) -> Self {
        match content_type {
            ContentType::SourceCode => Self::Code,
            ContentType::StructuredData => Self::Data,
            ContentType::Json | ContentType::Jsonl => Self::Json,
            ContentType::Log
            | ContentType::Prose
            | ContentType::Markup
            | ContentType::Config
            | ContentType::Unknown => Self::General,
        }
    }
}

/// The tasks of one analyst.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnalystShare {
    /// The kind of analyst.
    pub analyst: Analyst,
    /// The number of its tasks.
    pub tasks: u64,
    /// The number of analysts that work on them.
    pub analysts: u64,
}

impl AnalystShare {
    pub(super) fn of(tasks: &[PlanTask]) -> Vec<Self> {
        let count = |analyst| tasks.iter().filter(|task| task.analyst == analyst).count() as u64;
        let counts = Analyst::ALL.map(count);
        let shares = Analyst::ALL.into_iter().zip(counts).zip(analyst_mix(&counts));
        let shares = shares.map(|((analyst, tasks), analysts)| Self { analyst, tasks, analysts });
        shares.filter(|share| share.tasks > 0).collect()
    }

    /// `code-analyst-1`, `code-analyst-2` and so on.
    pub fn labels(&self) -> impl Iterator<Item = String> {
        let name = self.analyst.name();
        (1..=self.analysts).map(move |number| format!("{name}-analyst-{number}"))
    }
}

/// The number of analysts of each kind for the given numbers of tasks: one per four tasks in total, in proportion to
/// the tasks, rounded half up, at least one for each kind with a task. Rounding may add one or two in total.
pub fn analyst_mix(tasks: &[u64]) -> Vec<u64> {
    let n_tasks: u64 = tasks.iter().sum();
    let target = n_tasks.div_ceil(TASKS_PER_ANALYST).max(1);
    let share = |&own: &u64| match own {
        0 => 0,
        _ => (own.saturating_mul(target).saturating_mul(2) + n_tasks).div_euclid(2 * n_tasks).max(1),
    };
    tasks.iter().map(share).collect()
}
