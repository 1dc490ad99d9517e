//! The search strategy: the model says what to look for, the index finds passages by words and by meaning, and one call
//! answers from them. For a fact that stands somewhere in a lot of text. What is not there is said to be not there.

use std::collections::HashMap;
use std::sync::Arc;

use spelunk_index::Mode;
use spelunk_model::Prompt;
use spelunk_types::{ErrorCode, Explain, Grounding};

use super::direct::{self, Material};
use super::{close, trail};
use crate::finder::FoundPassage;
use crate::{Answer, Frame, FrameError, Task};

const QUERIES: &str = include_str!("../prompts/search-queries.md");
pub(super) const PROMPTS: [&str; 1] = [QUERIES];

/// Searches besides the question itself.
const QUERIES_MAX: usize = 5;
const QUERY_CHARS_MAX: usize = 200;
/// Passages that one search gives.
const HITS_MAX: usize = 30;
/// What softens the first places when rankings are joined.
const RANK_SOFTENER: f32 = 60.0;
/// Tokens that the list of searches may take.
const QUERIES_TOKENS_MAX: u64 = 300;

/// Answers from what a search finds.
pub(super) async fn solve(frame: &Frame, task: &Task) -> Result<Answer, FrameError> {
    let queries = queries(frame, task).await?;
    let passages = find(frame, task, queries.clone()).await?;
    if passages.is_empty() {
        let text = format!("Nothing was found. These were looked for:\n\n- {}", queries.join("\n- "));
        return Ok(Answer { text, citations: Vec::new(), grounding: Grounding::Uncited });
    }
    let passages = Arc::new(passages);
    if frame.reader().is_small() {
        return close::solve(frame, task, &passages).await;
    }
    let passages = with_trail(task, passages).await?;
    let material = gather(task, &passages, direct::bytes_max(frame)).await;
    match direct::answer_from(frame, task, &material).await {
        // The model's window is smaller than was thought: half as much is tried, once.
        Err(error) if error.code() == ErrorCode::ModelPromptTooLong => {
            let half = gather(task, &passages, material.bytes() / 2).await;
            direct::answer_from(frame, task, &half).await
        }
        answered => answered,
    }
}

/// Rounds in which names are followed.
const TRAIL_ROUNDS: usize = 3;

/// The passages, and before them the lines to which the names of the question lead and that are in none of them.
async fn with_trail(
    task: &Task,
    passages: Arc<Vec<FoundPassage>>,
) -> Result<Arc<Vec<FoundPassage>>, FrameError> {
    let (view, question) = (task.view.clone(), task.question.clone());
    let following = tokio::task::spawn_blocking(move || {
        let mut all = Vec::new();
        for trail::Sentence { document, line, text } in trail::follow(&view, &question, TRAIL_ROUNDS)? {
            let is_there = passages.iter().any(|passage| {
                let lines = passage.line_start..passage.line_start + passage.text.lines().count() as u64;
                passage.document == document && lines.contains(&line)
            });
            if let Some(doc_idx) = view.find(&document).map(|found| found.idx).filter(|_| !is_there) {
                all.push(FoundPassage {
                    document,
                    doc_idx,
                    line_start: line,
                    text,
                    score: 0.0,
                    similarity: None,
                });
            }
        }
        all.extend(passages.iter().cloned());
        Ok::<_, spelunk_context::SourceError>(Arc::new(all))
    });
    Ok(following.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))?)
}

async fn gather(task: &Task, passages: &Arc<Vec<FoundPassage>>, bytes_max: u64) -> Material {
    let (view, passages) = (task.view.clone(), Arc::clone(passages));
    let gathering = tokio::task::spawn_blocking(move || Material::of_passages(&view, &passages, bytes_max));
    gathering.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}

/// The question, and what the model would look for.
async fn queries(frame: &Frame, task: &Task) -> Result<Vec<String>, FrameError> {
    let question = task.question_shown();
    let asked = format!("Question: {question}\n");
    let reply = frame.ask_sub(Prompt::single(QUERIES, asked, QUERIES_TOKENS_MAX)).await;
    let mut queries = vec![question.to_owned()];
    match reply {
        Ok(reply) => queries.extend(listed(&reply.text)),
        Err(error @ FrameError::Stopped(_)) => return Err(error),
        // The question alone finds something, too.
        Err(_) => {}
    }
    Ok(queries)
}

fn listed(reply: &str) -> Vec<String> {
    let bare = |line: &str| {
        let line = line.trim().trim_start_matches(|c: char| c.is_ascii_digit() || ".-*) ".contains(c));
        line.trim_matches(['"', '`']).chars().take(QUERY_CHARS_MAX).collect::<String>()
    };
    let lines = reply.lines().map(bare).filter(|line| !line.is_empty() && !line.starts_with('<'));
    lines.take(QUERIES_MAX).collect()
}

/// The passages of all searches, joined by their ranks.
async fn find(frame: &Frame, task: &Task, queries: Vec<String>) -> Result<Vec<FoundPassage>, FrameError> {
    let (frame_here, view) = (frame.clone(), task.view.clone());
    let finding = tokio::task::spawn_blocking(move || {
        let mut rankings = Vec::new();
        for query in &queries {
            let mut tell = |so_far| frame_here.show_indexing(so_far);
            rankings.push(frame_here.finder().find(&view, query, Mode::Hybrid, HITS_MAX, &mut tell)?);
        }
        Ok::<_, spelunk_index::IndexError>(joined(rankings))
    });
    let found = finding.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()));
    found.map_err(|error| FrameError::Child {
        frame: frame.id().clone(),
        code: error.code(),
        message: error.to_string(),
    })
}

/// Reciprocal ranks, added up; the order of the searches does not matter.
fn joined(rankings: Vec<Vec<FoundPassage>>) -> Vec<FoundPassage> {
    let mut scores: HashMap<(u32, u64), (f32, FoundPassage)> = HashMap::new();
    for ranking in rankings {
        for (place, passage) in ranking.into_iter().enumerate() {
            #[expect(clippy::cast_precision_loss, reason = "places are few")]
            let score = 1.0 / (RANK_SOFTENER + place as f32);
            let entry = scores.entry((passage.doc_idx, passage.line_start)).or_insert((0.0, passage));
            entry.0 += score;
        }
    }
    let mut passages: Vec<(f32, FoundPassage)> = scores.into_values().collect();
    passages.sort_by(|(a_score, a), (b_score, b)| {
        b_score.total_cmp(a_score).then((a.doc_idx, a.line_start).cmp(&(b.doc_idx, b.line_start)))
    });
    passages.into_iter().map(|(_, passage)| passage).collect()
}
