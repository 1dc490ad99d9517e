//! The plan: exactly how a view would be split into analyst tasks, computed before anything is spent. It has a manifest
//! row per document, a task per chunk and per batch of small documents, and the number of analysts of each kind.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use spelunk_types::Limits;

use crate::kind::{Detected, Detector};
use crate::split::{Chunk, Mode, Units};
use crate::{SchemaSketch, SourceError, View};

mod analysts;
mod batch;
mod long;
mod segment;
mod survey;

pub use analysts::{Analyst, AnalystShare, analyst_mix};
pub use batch::{Batch, BatchItem, batch_small};
use survey::{Surveyed, survey};

/// Documents longer than this, in lines or in the unit of their format, are large.
const LARGE_LINES_MIN: u64 = 5001;
const TASKS_MANY: u64 = 50;

/// What a plan depends on besides the view.
#[derive(Debug, Clone)]
pub struct PlanOptions {
    /// Targets, tiers and the ceiling.
    pub limits: Limits,
    /// Detects content types.
    pub detector: Detector,
    /// How documents are split.
    pub mode: Mode,
    /// Documents that `files_max` kept out of the view; causes a warning.
    pub files_left_out: u64,
}

/// How a view would be split.
#[derive(Debug)]
pub struct Plan {
    /// Every readable document, in view order.
    pub manifest: Vec<ManifestRow>,
    /// Chunks in document order, then batches by type.
    pub tasks: Vec<PlanTask>,
    /// Analysts that have tasks.
    pub analysts: Vec<AnalystShare>,
    /// The limits that were used.
    pub limits: Limits,
    /// Documents that could not be read, and why.
    pub unreadable: Vec<(String, SourceError)>,
    /// What the user should know before starting.
    pub warnings: Vec<PlanWarning>,
}

/// What is known about one document.
#[derive(Debug, Clone)]
pub struct ManifestRow {
    /// Its index in the corpus.
    pub document_idx: u32,
    /// Its name.
    pub name: String,
    /// The size of its text.
    pub bytes: u64,
    /// The lines of its text.
    pub lines: u64,
    /// Its length in the unit of its format.
    pub units: Units,
    /// Its format, and how it was determined.
    pub detected: Detected,
    /// Its size class.
    pub tier: Tier,
    /// The expected number of chunks: units divided by the target; 0 for a batched document.
    pub partitions_expected: u64,
    /// The actual number of chunks, without blank ones; 0 for a batched document.
    pub n_chunks: u64,
    /// The structure of a JSON document that was split; a batched one is read whole.
    pub schema: Option<Arc<SchemaSketch>>,
}

/// The size class of a document, by lines and by the unit of its format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Goes into a batch.
    Small,
    /// Is split.
    Medium,
    /// Is split into many chunks.
    Large,
}

spelunk_types::named! { Tier { Small = "small", Medium = "medium", Large = "large" } }

impl Tier {
    /// The tier of a document. One above the token ceiling is never small, however few lines it has.
    pub fn of(lines: u64, units: u64, tokens: u64, limits: &Limits) -> Self {
        let longest = lines.max(units);
        if longest >= LARGE_LINES_MIN {
            Self::Large
        } else if longest > limits.small_lines_max || tokens > limits.chunk_tokens_max {
            Self::Medium
        } else {
            Self::Small
        }
    }
}

/// A piece of text for one analyst.
#[derive(Debug, Clone)]
pub struct PlanTask {
    /// The analyst that reads it.
    pub analyst: Analyst,
    /// Its format.
    pub detected: Detected,
    /// The estimated number of tokens of its text.
    pub tokens_estimate: u64,
    /// The structure of the whole document, for a chunk of JSON.
    pub schema: Option<Arc<SchemaSketch>>,
    /// The text, by reference.
    pub work: Work,
}

/// The subject of a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Work {
    /// Part of one document.
    Chunk(Box<Chunk>),
    /// Whole small documents of one type.
    Batch(Batch),
}

/// What the user should know before starting.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum PlanWarning {
    FilesLeftOut(u64),
    Unreadable(u64),
    ManyTokens(u64),
    ManyTasks(u64),
}

impl fmt::Display for PlanWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FilesLeftOut(files) => {
                let verb = if *files == 1 { "file is" } else { "files are" };
                write!(f, "{files} {verb} excluded by `files_max`; set it to 0 to include all")
            }
            Self::Unreadable(files) => write!(f, "{files} files could not be read and are not in the plan"),
            Self::ManyTokens(tokens) => write!(f, "about {tokens} tokens; consider excluding files"),
            Self::ManyTasks(tasks) => {
                write!(f, "{tasks} tasks; consider excluding files or using larger chunks")
            }
        }
    }
}

impl Plan {
    /// The estimated number of tokens of all tasks.
    pub fn tokens_estimate(&self) -> u64 {
        self.tasks.iter().map(|task| task.tokens_estimate).sum()
    }

    /// Warnings about more text or tasks than most people expect.
    pub fn size_warnings(&self) -> [Option<PlanWarning>; 2] {
        let (tokens, n_tasks) = (self.tokens_estimate(), self.tasks.len() as u64);
        [
            (tokens > self.limits.corpus_tokens_warn).then_some(PlanWarning::ManyTokens(tokens)),
            (n_tasks >= TASKS_MANY).then_some(PlanWarning::ManyTasks(n_tasks)),
        ]
    }

    /// The number of parts of each document: 0 if it has no text, 1 if it is small.
    pub fn parts(&self) -> BTreeMap<&str, u64> {
        let parts = |row: &ManifestRow| match (row.bytes, row.tier) {
            (0, _) => 0,
            (_, Tier::Small) => row.n_chunks.max(1),
            (_, Tier::Medium | Tier::Large) => row.n_chunks,
        };
        self.manifest.iter().map(|row| (row.name.as_str(), parts(row))).collect()
    }

    /// The number of batches.
    pub fn n_batches(&self) -> u64 {
        self.tasks.iter().filter(|task| matches!(task.work, Work::Batch(_))).count() as u64
    }
}

/// Plans a view. Reads each document once and holds only a few at a time, and a segment of a long one; the plan itself
/// holds no text except the preludes of long documents.
pub fn plan(view: &View, options: &PlanOptions) -> Plan {
    let mut manifest = Vec::new();
    let mut tasks = Vec::new();
    let mut unreadable = Vec::new();
    for (name, surveyed) in survey(view, options) {
        match surveyed {
            Ok(Surveyed { row, chunks }) => {
                tasks.extend(chunks.into_iter().map(|chunk| chunk_task(&row, chunk)));
                manifest.push(row);
            }
            Err(error) => unreadable.push((name, error)),
        }
    }
    tasks.extend(
        batch_small(&manifest, &options.limits).into_iter().map(|batch| batch_task(&manifest, batch)),
    );
    let analysts = AnalystShare::of(&tasks);
    let limits = options.limits.clone();
    let mut plan = Plan { manifest, tasks, analysts, limits, unreadable, warnings: Vec::new() };
    plan.warnings = warnings(&plan, options);
    plan
}

fn chunk_task(row: &ManifestRow, chunk: Chunk) -> PlanTask {
    PlanTask {
        analyst: Analyst::of(row.detected.content_type),
        detected: row.detected.clone(),
        tokens_estimate: chunk.tokens_estimate,
        schema: row.schema.clone(),
        work: Work::Chunk(Box::new(chunk)),
    }
}

fn batch_task(manifest: &[ManifestRow], batch: Batch) -> PlanTask {
    let detected = manifest[batch.items[0].row_idx].detected.clone();
    PlanTask {
        analyst: Analyst::of(detected.content_type),
        detected,
        tokens_estimate: batch.tokens_estimate,
        schema: None,
        work: Work::Batch(batch),
    }
}

fn warnings(plan: &Plan, options: &PlanOptions) -> Vec<PlanWarning> {
    let [many_tokens, many_tasks] = plan.size_warnings();
    let n_unreadable = plan.unreadable.len() as u64;
    [
        (options.files_left_out > 0).then_some(PlanWarning::FilesLeftOut(options.files_left_out)),
        (n_unreadable > 0).then_some(PlanWarning::Unreadable(n_unreadable)),
        many_tokens,
        many_tasks,
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests;
