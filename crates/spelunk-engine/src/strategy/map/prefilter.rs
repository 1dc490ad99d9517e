//! The prefilter: finds lines that share words with the question or are semantically close to it. The `hybrid`
//! strategy reads only the parts that contain them. They are recorded, because the index may be gone when a run is
//! resumed, and the parts must be the same.

use std::collections::BTreeMap;

use spelunk_context::{Plan, View, Work};
use spelunk_index::{Hit, IndexError, Mode, Notice, RankOptions};
use spelunk_types::Explain;

use crate::retrieval::rank_readable;
use crate::sync::blocking;
use crate::{Frame, Result, Task};

const WORDS_PASSAGES_MAX: u64 = 500;
/// The most passages searched for by meaning, and their minimum similarity. On this project's own
/// documentation, unrelated questions stay below 0.23; those that it answers reach 0.28 to 0.53.
const MEANING_PASSAGES_MAX: usize = 40;
const SIMILARITY_MIN: f32 = 0.25;

/// The first and the last line of a passage.
type Lines = (u64, u64);

/// Lines by document.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Prefilter(BTreeMap<u32, Vec<Lines>>);

pub(super) async fn find(frame: &Frame, task: &Task) -> Result<Prefilter> {
    let recorded = frame.observe("likely lines", look(frame, task)).await?;
    Ok(Prefilter(serde_json::from_str(&recorded).unwrap_or_default()))
}

async fn look(frame: &Frame, task: &Task) -> Result<String> {
    let (here, view, question) = (frame.clone(), task.view.clone(), task.question.clone());
    let (likely, failed) = blocking(move || {
        let mut likely = by_words(&view, &question);
        let near = by_meaning(&here, &view, &question).map(|near| likely.add(&near));
        (likely, near.err())
    })
    .await;
    if let Some(error) = failed {
        let hint = error.hint().unwrap_or_default();
        frame.warn(Notice::words_only(&error).to_string(), hint).await?;
    }
    Ok(serde_json::to_string(&likely.0).unwrap_or_default())
}

fn by_words(view: &View, question: &str) -> Prefilter {
    // Short passages, so that one at the edge of a part does not include the neighbouring part.
    let options = RankOptions { passage_lines: 4, ..RankOptions::new(WORDS_PASSAGES_MAX, u64::MAX) };
    // Documents that can no longer be read are reported at the end of the run.
    let (passages, _) = rank_readable(view, question, &options);
    let mut likely = Prefilter::default();
    likely.add(&passages);
    likely
}

fn by_meaning(frame: &Frame, view: &View, question: &str) -> Result<Vec<Hit>, IndexError> {
    let mut tell = frame.show_indexing();
    let (mut found, _) =
        frame.run().retrieval.find(view, question, Mode::Meaning, MEANING_PASSAGES_MAX, &mut tell)?;
    found.retain(|passage| passage.similarity.is_some_and(|near| near >= SIMILARITY_MIN));
    Ok(found)
}

impl Prefilter {
    fn add(&mut self, passages: &[Hit]) {
        for passage in passages {
            self.0.entry(passage.doc_idx).or_default().push((passage.line_start, passage.line_end));
        }
    }

    /// Keeps the parts that contain some of the lines, or all if there are none; returns how many were removed.
    pub(super) fn narrow(&self, plan: &mut Plan) -> u64 {
        if self.0.is_empty() {
            return 0;
        }
        let n_before = plan.tasks.len() + plan.manifest.len();
        plan.tasks.retain(|task| match &task.work {
            Work::Chunk(chunk) => self.0.get(&chunk.document_idx).is_some_and(|lines| {
                lines.iter().any(|(first, last)| first <= chunk.lines.end() && last >= chunk.lines.start())
            }),
            Work::Batch(_) => true,
        });
        plan.manifest.retain(|row| row.n_chunks > 0 || self.0.contains_key(&row.document_idx));
        (n_before - plan.tasks.len() - plan.manifest.len()) as u64
    }
}
