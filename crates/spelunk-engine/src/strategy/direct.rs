//! The direct strategy: one call with everything that fits. If the view exceeds `direct_tokens_max`, only the
//! passages that share the most words with the question are sent, and the answer reports what share was read.

use spelunk_context::{DocEntry, SourceError, View};
use spelunk_index::{Hit, RankOptions, rank};
use spelunk_types::{ErrorCode, Explain};

use super::one_call::{CERTAINTY_PERMILLE_MIN, Material, Passage, answer_from, answer_plainly, bytes_max};
use crate::sync::blocking;
use crate::{Answer, Conversation, Frame, Result, Task};

const PASSAGES_MAX: u64 = 200;
/// Of a longer conversation, only the end is asked.
const ASKED_BYTES_MAX: u64 = 30_000;

pub(crate) async fn solve(frame: &Frame, task: &Task) -> Result<Answer> {
    if is_all_there_is(task) {
        return answer_plainly(frame, task).await;
    }
    answer(frame, task, CERTAINTY_PERMILLE_MIN).await
}

/// Answers from the text that fits into one call.
pub(super) async fn answer(frame: &Frame, task: &Task, certainty_min: u16) -> Result<Answer> {
    let material = gather(task, bytes_max(frame)).await?;
    let answered = match answer_from(frame, task, &material, certainty_min).await {
        // The model's window is smaller than assumed: half as much is tried, once.
        Err(error) if error.code() == ErrorCode::ModelPromptTooLong => {
            let half = gather(task, material.text.len() as u64 / 2).await?;
            answer_from(frame, task, &half, certainty_min).await
        }
        answered => answered,
    };
    Ok(answered?.answer)
}

/// Whether the question contains everything: there are no documents, or only the messages that it consists of.
fn is_all_there_is(task: &Task) -> bool {
    let is_conversation = |document: &DocEntry| document.name == Conversation::DOCUMENT;
    task.view.documents().all(is_conversation) && task.view.bytes() <= ASKED_BYTES_MAX
}

async fn gather(task: &Task, bytes_max: u64) -> Result<Material> {
    let (view, question) = (task.view.clone(), task.question.clone());
    let gathered = blocking(move || {
        if view.bytes() <= bytes_max { whole(&view) } else { best_passages(&view, &question, bytes_max) }
    });
    Ok(gathered.await?)
}

fn whole(view: &View) -> Result<Material, SourceError> {
    let mut material = Material::empty(view);
    for document in view.documents() {
        let text = view.read(document)?;
        material.push(document, 1, &text);
        material.documents += 1;
    }
    // Redacted text may be shorter than the file, but the whole file was read.
    material.bytes = material.of_bytes;
    Ok(material)
}

fn best_passages(view: &View, question: &str, bytes_max: u64) -> Result<Material, SourceError> {
    let options = RankOptions::new(PASSAGES_MAX, bytes_max);
    let passages = rank(view, question, &options, &mut |_| {})?.passages;
    if passages.is_empty() {
        return beginnings(view, bytes_max);
    }
    let passage = |Hit { doc_idx, line_start, text, .. }: Hit| Passage { doc_idx, line_start, text };
    let passages: Vec<Passage> = passages.into_iter().map(passage).collect();
    Ok(Material::of_passages(view, &passages, bytes_max))
}

/// For a question of which no word occurs in the text: the first lines of each document at least show what there is.
fn beginnings(view: &View, bytes_max: u64) -> Result<Material, SourceError> {
    let mut material = Material::empty(view);
    let share = (bytes_max / (view.documents().len() as u64).max(1)).max(400);
    for document in view.documents() {
        if material.bytes + share > bytes_max {
            break;
        }
        let text = view.read(document)?;
        let end = text.floor_char_boundary(usize::try_from(share).unwrap_or(usize::MAX));
        material.push(document, 1, text.get(..end).unwrap_or_default());
        material.documents += 1;
    }
    Ok(material)
}
