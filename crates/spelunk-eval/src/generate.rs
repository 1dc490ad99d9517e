//! Generates tasks. The same order gives the same bytes on every machine: kind, variant, size and seed determine
//! everything. Files are streamed, so a task of ten million tokens takes no more memory than a small one.

mod absent;
mod code;
mod hops;
mod labels;
mod logs;
mod messages;
mod needle;
mod pairs;
mod prose;
mod table;
mod wording;

use std::io;

use crate::rng::Rng;
use crate::sink::Sink;
use crate::{Kind, Scoring, Task, size_name};
use wording::{Shape, worded};

pub use code::Tree;
pub(crate) use messages::{TOPICS, topic_of};

/// The smallest task, in tokens.
pub const TOKENS_MIN: u64 = 1000;
/// The largest task, in tokens.
pub const TOKENS_MAX: u64 = 10_000_000;
/// The assumed size of a token.
pub const BYTES_PER_TOKEN: u64 = 4;

/// What to generate.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Order<'a> {
    pub kind: Kind,
    /// The variant; `None` chooses one by the seed.
    pub variant: Option<&'a str>,
    pub tokens: u64,
    pub seed: u64,
    /// For [`Kind::Code`]: the source tree to ask about.
    pub tree: Option<&'a Tree>,
}

/// Why a task cannot be generated.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum GenerateError {
    #[error("a task has from {TOKENS_MIN} to {TOKENS_MAX} tokens, not {tokens}")]
    Size { tokens: u64 },
    #[error("`{kind}` has no variant `{variant}`")]
    Variant { kind: Kind, variant: String },
    #[error("tasks of the kind `code` need a source tree, and none was given")]
    NoTree,
    #[error("the tree contains {tokens_held} tokens of source code, but the task needs {tokens}")]
    TreeSmall { tokens_held: u64, tokens: u64 },
    #[error("the tree contains nothing to ask about as `{variant}`")]
    TreePoor { variant: String },
    #[error("could not write the files of a task")]
    Write {
        #[from]
        source: io::Error,
    },
}

struct Draft<'a> {
    rng: Rng,
    variant: &'a str,
    bytes_max: u64,
    folder: String,
    sink: &'a mut dyn Sink,
    tree: Option<&'a Tree>,
}

struct GeneratedTask {
    /// The question, without instructions on the form of the answer.
    question: String,
    shape: Shape,
    answer: Vec<String>,
    scoring: Scoring,
    files: Vec<String>,
}

impl Draft<'_> {
    fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.folder)
    }
}

/// Generates a task: its files go into the sink, the rest is returned.
pub fn generate(order: &Order<'_>, sink: &mut dyn Sink) -> Result<Task, GenerateError> {
    if !(TOKENS_MIN..=TOKENS_MAX).contains(&order.tokens) {
        return Err(GenerateError::Size { tokens: order.tokens });
    }
    let variants = order.kind.variants();
    let turn = usize::try_from(order.seed % variants.len() as u64).unwrap_or_default();
    let variant = match order.variant {
        Some(asked) => variants.iter().find(|variant| **variant == asked).copied(),
        None => variants.get(turn).copied(),
    };
    let Some(variant) = variant else {
        let variant = order.variant.unwrap_or_default().to_owned();
        return Err(GenerateError::Variant { kind: order.kind, variant });
    };
    let id = format!("{}-{variant}-{}-{}", order.kind, size_name(order.tokens), order.seed);
    let draft = Draft {
        rng: Rng::of(&[order.kind.name(), variant, &order.tokens.to_string(), &order.seed.to_string()]),
        variant,
        bytes_max: order.tokens * BYTES_PER_TOKEN,
        folder: id.clone(),
        sink,
        tree: order.tree,
    };
    let made = match order.kind {
        Kind::Needle => needle::make(draft)?,
        Kind::Labels => labels::make(draft)?,
        Kind::Pairs => pairs::make(draft)?,
        Kind::Hops => hops::make(draft)?,
        Kind::Code => code::make(draft)?,
        Kind::Logs => logs::make(draft)?,
        Kind::Table => table::make(draft)?,
        Kind::Absent => absent::make(draft)?,
    };
    let GeneratedTask { question, shape, answer, scoring, files } = made;
    // Drawn from a separate stream, so that the wording of the question does not change the files.
    let question = worded(&mut Rng::of(&["wording", &id]), &question, shape);
    let (kind, variant, seed, tokens) = (order.kind, variant.to_owned(), order.seed, order.tokens);
    Ok(Task {
        id,
        kind,
        variant,
        seed,
        tokens,
        question,
        answer,
        scoring,
        accept: Vec::new(),
        tolerance: 0.0,
        language: String::new(),
        files,
    })
}

#[cfg(test)]
mod tests;
