//! The plan: exactly how a view would be cut into analyst tasks, known before anything is spent. A manifest row per
//! document, a task per chunk and per batch of small documents, and how many analysts of each kind the tasks keep busy.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use spelunk_types::Limits;

use crate::kind::{Detected, Detector, language_of};
use crate::split::{Chunk, CodeRule, Mode, Units, has_grammar};
use crate::{SchemaSketch, SourceError, View};

mod analysts;
mod batch;
mod long;
mod survey;

pub use analysts::{Analyst, AnalystShare, analyst_mix};
pub use batch::{Batch, BatchItem, batch_small};
use survey::{Surveyed, survey};

/// Documents longer than this, in lines or in the unit of their format, are large.
const LARGE_LINES_MIN: u64 = 5001;

/// Files shorter than this have too few lines to be cut.
const PARSED_FILE_BYTES_MIN: u64 = 16 * 1024;

/// Tasks from which a person should think again.
const TASKS_MANY: u64 = 50;

/// What a plan depends on besides the view.
#[derive(Debug, Clone)]
pub struct PlanOptions {
    /// Targets, tiers and the ceiling.
    pub limits: Limits,
    /// Tells content types.
    pub detector: Detector,
    /// How documents are cut.
    pub mode: Mode,
    /// Documents that a cap kept out of the view; they are warned about.
    pub files_left_out: u64,
}

/// How a view would be cut.
#[derive(Debug)]
pub struct Plan {
    /// Every document that could be read, in the order of the view.
    pub manifest: Vec<ManifestRow>,
    /// Chunks in the order of their documents, then batches by type.
    pub tasks: Vec<PlanTask>,
    /// Analysts that have tasks.
    pub analysts: Vec<AnalystShare>,
    /// How the definitions of code were found.
    pub code_rule: CodeRule,
    /// The targets that it was cut by.
    pub limits: Limits,
    /// Documents that could not be read, and why.
    pub unreadable: Vec<(String, SourceError)>,
    /// What a person should know before starting.
    pub warnings: Vec<PlanWarning>,
}

/// What is known about one document.
#[derive(Debug, Clone)]
pub struct ManifestRow {
    /// Its position in the corpus.
    pub document_idx: u32,
    /// Its name.
    pub name: String,
    /// The size of its text.
    pub bytes: u64,
    /// The lines of its text.
    pub lines: u64,
    /// The same in the unit of its format.
    pub units: Units,
    /// What it is, and how we know.
    pub detected: Detected,
    /// How long it is.
    pub tier: Tier,
    /// Chunks by the formula: units by target; 0 for what is batched.
    pub partitions_expected: u64,
    /// Chunks it was cut into, blank ones not counted; 0 for what is batched.
    pub n_chunks: u64,
    /// What JSON that was cut looks like as a whole; what is batched is read as a whole.
    pub schema: Option<Arc<SchemaSketch>>,
}

/// How long a document is, by lines and by the unit of its format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// Goes into a batch.
    Small,
    /// Is cut.
    Medium,
    /// Is cut into many.
    Large,
}

impl Tier {
    /// The tier of a document. One that is over the token ceiling is never small, however few its lines are.
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

    /// The word for it in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Small => "small",
            Self::Medium => "medium",
            Self::Large => "large",
        }
    }
}

/// Something for one analyst to read.
#[derive(Debug, Clone)]
pub struct PlanTask {
    /// Who reads it.
    pub analyst: Analyst,
    /// What it is.
    pub detected: Detected,
    /// A guess at the tokens of its text.
    pub tokens_estimate: u64,
    /// What the document of a chunk of JSON looks like as a whole.
    pub schema: Option<Arc<SchemaSketch>>,
    /// The text itself, by reference.
    pub work: Work,
}

/// What a task is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Work {
    /// Part of one document.
    Chunk(Box<Chunk>),
    /// Small documents of one type, whole.
    Batch(Batch),
}

/// What a person should know before starting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanWarning {
    /// A cap kept documents out.
    FilesLeftOut(u64),
    /// Some documents could not be read.
    Unreadable(u64),
    /// More text than is wise.
    ManyTokens(u64),
    /// More tasks than is wise.
    ManyTasks(u64),
    /// So many bytes of code are more than is parsed.
    CodeNotParsed(u64),
}

impl fmt::Display for PlanWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FilesLeftOut(files) => {
                let verb = if *files == 1 { "file is" } else { "files are" };
                write!(f, "{files} {verb} left out by `files_max`; set it to 0 to take all")
            }
            Self::Unreadable(files) => write!(f, "{files} files could not be read; the plan is without them"),
            Self::ManyTokens(tokens) => write!(f, "about {tokens} tokens; consider leaving files out"),
            Self::ManyTasks(tasks) => {
                write!(f, "{tasks} tasks; consider leaving files out or larger chunks")
            }
            Self::CodeNotParsed(bytes) => write!(
                f,
                "{bytes} bytes of code are cut by how lines begin; raise `parsed_bytes_max` to have them parsed"
            ),
        }
    }
}

impl Plan {
    /// A guess at the tokens of all tasks together.
    pub fn tokens_estimate(&self) -> u64 {
        self.tasks.iter().map(|task| task.tokens_estimate).sum()
    }

    /// How many parts each document is cut into; none of one without text or with nothing but blanks. A small one is a part
    /// of its own.
    pub fn parts(&self) -> BTreeMap<&str, u64> {
        let parts = |row: &ManifestRow| match (row.bytes, row.tier) {
            (0, _) => 0,
            (_, Tier::Small) => row.n_chunks.max(1),
            (_, Tier::Medium | Tier::Large) => row.n_chunks,
        };
        self.manifest.iter().map(|row| (row.name.as_str(), parts(row))).collect()
    }

    /// How many batches there are.
    pub fn n_batches(&self) -> u64 {
        self.tasks.iter().filter(|task| matches!(task.work, Work::Batch(_))).count() as u64
    }
}

/// Plans a view. Reads each document once and holds a few of them at a time, and of a long one a segment; the plan itself
/// holds no text but the preludes of long documents.
pub fn plan(view: &View, options: &PlanOptions) -> Plan {
    let mut manifest = Vec::new();
    let mut tasks = Vec::new();
    let mut unreadable = Vec::new();
    let code_bytes = code_bytes(view);
    let is_parsed = code_bytes <= options.limits.parsed_bytes_max;
    let code_rule = if is_parsed { CodeRule::Parsed } else { CodeRule::Lines };
    for (name, surveyed) in survey(view, options, code_rule) {
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
    let mut plan = Plan { manifest, tasks, analysts, code_rule, limits, unreadable, warnings: Vec::new() };
    plan.warnings = warnings(&plan, options, code_bytes);
    plan
}

/// Code that would be parsed. Known from names and sizes alone, so that the same view is always cut alike.
fn code_bytes(view: &View) -> u64 {
    let parsed = view.documents().filter(|document| {
        let language = language_of(&document.name);
        document.bytes >= PARSED_FILE_BYTES_MIN && language.is_some_and(has_grammar)
    });
    parsed.map(|document| document.bytes).sum()
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

fn warnings(plan: &Plan, options: &PlanOptions, code_bytes: u64) -> Vec<PlanWarning> {
    let (tokens, n_tasks) = (plan.tokens_estimate(), plan.tasks.len() as u64);
    let n_unreadable = plan.unreadable.len() as u64;
    [
        (options.files_left_out > 0).then_some(PlanWarning::FilesLeftOut(options.files_left_out)),
        (n_unreadable > 0).then_some(PlanWarning::Unreadable(n_unreadable)),
        (tokens > options.limits.corpus_tokens_warn).then_some(PlanWarning::ManyTokens(tokens)),
        (n_tasks >= TASKS_MANY).then_some(PlanWarning::ManyTasks(n_tasks)),
        (plan.code_rule == CodeRule::Lines).then_some(PlanWarning::CodeNotParsed(code_bytes)),
    ]
    .into_iter()
    .flatten()
    .collect()
}

#[cfg(test)]
mod tests;
