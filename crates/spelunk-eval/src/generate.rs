//! Making tasks. The same order gives the same bytes on every machine: a kind, a variant, a size and a seed decide
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

/// The smallest and the largest task, in tokens.
pub const TOKENS_MIN: u64 = 1000;
/// The largest task, in tokens.
pub const TOKENS_MAX: u64 = 10_000_000;
/// What a token is taken to be.
pub const BYTES_PER_TOKEN: u64 = 4;

/// What is to be made.
#[derive(Debug, Clone)]
pub struct Order<'a> {
    /// What it asks for.
    pub kind: Kind,
    /// In which form; none takes turns by the seed.
    pub variant: Option<&'a str>,
    /// How large.
    pub tokens: u64,
    /// From what.
    pub seed: u64,
    /// For [`Kind::Code`]: what it asks about.
    pub tree: Option<&'a Tree>,
}

/// Why a task cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum GenerateError {
    /// The size is out of bounds.
    #[error("a task has from {TOKENS_MIN} to {TOKENS_MAX} tokens, not {tokens}")]
    Size {
        /// What was asked for.
        tokens: u64,
    },
    /// There is no such variant.
    #[error("`{kind}` has no variant `{variant}`")]
    Variant {
        /// Of what.
        kind: Kind,
        /// What was asked for.
        variant: String,
    },
    /// Questions about code need code.
    #[error("tasks of the kind `code` ask about a real tree, and none was given")]
    NoTree,
    /// The tree is too small for the size.
    #[error("the tree holds {tokens_held} tokens of source code, and the task needs {tokens}")]
    TreeSmall {
        /// What there is.
        tokens_held: u64,
        /// What is needed.
        tokens: u64,
    },
    /// Nothing in the tree can be asked about so.
    #[error("nothing in the tree can be asked about as `{variant}`")]
    TreePoor {
        /// The form of question.
        variant: String,
    },
    /// The files could not be written.
    #[error("could not write the files of a task")]
    Write {
        /// Why.
        #[from]
        source: io::Error,
    },
}

/// What a generator works with.
struct Draft<'a> {
    rng: Rng,
    variant: &'a str,
    bytes_max: u64,
    /// The folder of the task.
    folder: String,
    sink: &'a mut dyn Sink,
    tree: Option<&'a Tree>,
}

/// What it comes back with.
struct Made {
    /// What is asked, without a word about the form of the answer.
    question: String,
    shape: Shape,
    answer: Vec<String>,
    scoring: Scoring,
    files: Vec<String>,
}

impl Draft<'_> {
    /// The path of a file of the task.
    fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.folder)
    }
}

/// Makes a task: its files go into the sink, the rest is returned.
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
    let Made { question, shape, answer, scoring, files } = made;
    // Drawn from a stream of its own: the files are the same however the question is put.
    let question = worded(&mut Rng::of(&["wording", &id]), &question, shape);
    let (kind, variant, seed, tokens) = (order.kind, variant.to_owned(), order.seed, order.tokens);
    Ok(Task { id, kind, variant, seed, tokens, question, answer, scoring, files })
}

#[cfg(test)]
mod tests;
