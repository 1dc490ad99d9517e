//! The search strategy: passages are ranked by their words, and one call answers from the best of them. The model
//! proposes queries besides the question. If the best passages do not settle it, the model gets more of them, unless it
//! is small. Suited to a single fact in a lot of text. If the fact is not found, the answer says so.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::json;
use spelunk_context::View;
use spelunk_index::{Hit, Notice};
use spelunk_types::{ErrorCode, Explain};

use super::is_cut_off;
use super::one_call::{self, Answered, CERTAINTY_PERMILLE_MIN, Material, Passage};
use crate::retrieval::by_reading;
use crate::sync::blocking;
use crate::{Answer, Frame, FrameError, Result, Task, certainty, evidence};

const QUERIES: &str = include_str!("../prompts/search-queries.md");
const QUERIES_EXAMPLES: &str = include_str!("../prompts/search-queries-examples.md");
pub(super) const PROMPTS: [&str; 2] = [QUERIES, QUERIES_EXAMPLES];

/// The most queries besides the question itself.
const QUERIES_MAX: usize = 4;
const QUERY_CHARS_MAX: usize = 200;
const HITS_MAX: usize = 30;
/// Reduces the weight of top ranks when rankings are merged.
const RANK_SOFTENER: f32 = 60.0;
const SAMPLE_CHARS_MAX: usize = 5_000;
const ENGLISH: &str = "English";
const QUERIES_TOKENS_MAX: u64 = 200;
/// The first call shows this fraction of the text that fits.
const FIRST_SHARE: u64 = 3;

pub(super) async fn solve(frame: &Frame, task: &Task) -> Result<Answer> {
    let proposal = propose(frame, task).await?;
    Ok(answer(frame, task, proposal, CERTAINTY_PERMILLE_MIN).await?.answer)
}

/// Answers from the best passages; if no shown sentence supports that answer, from more of them.
/// Also reports whether the question is settled.
pub(super) async fn answer(
    frame: &Frame,
    task: &Task,
    proposal: Proposal,
    certainty_min: u16,
) -> Result<Answered> {
    let queries = proposal.queries;
    let passages = Arc::new(find(frame, task, queries.clone()).await?);
    let bytes_max = one_call::bytes_max(frame);
    let text = format!("Nothing was found. The searches were:\n\n- {}", queries.join("\n- "));
    let answer = Answer::new(text, Vec::new());
    let mut answered = Answered { answer, is_settled: false };
    if passages.is_empty() {
        return Ok(answered);
    }
    let bytes = passages.iter().map(|passage| passage.text.len() as u64).sum::<u64>();
    // A small model reads little at once.
    let first = if frame.reader().is_small() { bytes_max } else { bytes_max / FIRST_SHARE };
    for share in [first, bytes_max] {
        let material = gather(task, &passages, share).await;
        match one_call::answer_from(frame, task, &material, certainty_min).await {
            // The model's window is smaller than assumed: half as much is tried, once.
            Err(error) if error.code() == ErrorCode::ModelPromptTooLong => {
                let half = gather(task, &passages, material.bytes / 2).await;
                return one_call::answer_from(frame, task, &half, certainty_min).await;
            }
            outcome => answered = outcome?,
        }
        if answered.is_settled || bytes.min(bytes_max) <= share {
            break;
        }
    }
    Ok(answered)
}

async fn gather(task: &Task, passages: &Arc<Vec<Passage>>, bytes_max: u64) -> Material {
    let (view, passages) = (task.view.clone(), Arc::clone(passages));
    blocking(move || Material::of_passages(&view, &passages, bytes_max)).await
}

pub(super) struct Proposal {
    /// The question in plain words, in the language of the text, without wishes about the form of the answer.
    pub(super) question: String,
    /// What to search for: the question as asked, the plain one, and further queries.
    queries: Vec<String>,
}

/// Whether a text is in another language than the question about it. What tells no language is taken for English.
pub(super) async fn is_in_another_language(task: &Task) -> bool {
    let of_question = evidence::language_of(task.question_shown());
    language_of_text(task).await.unwrap_or(ENGLISH) != of_question.unwrap_or(ENGLISH)
}

async fn language_of_text(task: &Task) -> Option<&'static str> {
    let view = task.view.clone();
    blocking(move || evidence::language_of(&sample(&view))).await
}

/// Asks the model what to search for. If it does not reply, the question alone is searched for.
pub(super) async fn propose(frame: &Frame, task: &Task) -> Result<Proposal> {
    let question = task.question_shown();
    let language = language_of_text(task).await;
    let system =
        QUERIES.replace("{language} ", &language.map(|language| format!("{language} ")).unwrap_or_default());
    let prompt = one_call::with_examples(&system, QUERIES_EXAMPLES, question.to_owned(), QUERIES_TOKENS_MAX);
    let mut queries = vec![question.to_owned()];
    match frame.ask_sub(certainty::steady(frame, prompt)).await {
        Ok(reply) => queries.extend(listed(&reply.text)),
        Err(error @ FrameError::Stopped(_)) => return Err(error),
        Err(error) if is_cut_off(error.code()) => return Err(error),
        Err(_) => {}
    }
    Ok(Proposal { question: queries.get(1).unwrap_or(&queries[0]).clone(), queries })
}

/// The beginning of the first document, which shows the language of the text.
fn sample(view: &View) -> String {
    let text = view.documents().next().and_then(|document| view.read(document).ok());
    text.as_deref().unwrap_or_default().chars().take(SAMPLE_CHARS_MAX).collect()
}

fn listed(reply: &str) -> Vec<String> {
    let bare = |line: &str| {
        let line = line.trim().trim_start_matches(|c: char| c.is_ascii_digit() || ".-*) ".contains(c));
        line.trim_matches(['"', '`']).chars().take(QUERY_CHARS_MAX).collect::<String>()
    };
    let lines = reply.lines().map(bare).filter(|line| !line.is_empty() && !line.starts_with('<'));
    lines.take(QUERIES_MAX).collect()
}

/// The passages of all queries, merged by rank. They are recorded, because the text may have
/// changed when the run is resumed.
async fn find(frame: &Frame, task: &Task, queries: Vec<String>) -> Result<Vec<Passage>> {
    let looking = async {
        let (view, queries) = (task.view.clone(), queries.clone());
        let (passages, notices) = blocking(move || look(&view, &queries)).await;
        for notice in notices {
            frame.warn_of(&notice).await?;
        }
        let rows = passages.iter().map(|passage| {
            let Hit { doc_idx, line_start, text, score, similarity, .. } = passage;
            json!([doc_idx, line_start, text, score, similarity])
        });
        Ok(rows.collect::<serde_json::Value>().to_string())
    };
    let found = frame.observe(&format!("passages {}", json!(queries)), looking).await?;
    let rows: Vec<(u32, u64, String, f32, Option<f32>)> = serde_json::from_str(&found).unwrap_or_default();
    Ok(rows
        .into_iter()
        .map(|(doc_idx, line_start, text, ..)| Passage { doc_idx, line_start, text })
        .collect())
}

/// Ranks the passages for each query by their words: on real text, that finds more than the index,
/// whose passages are longer and whose embeddings rank topics above facts.
fn look(view: &View, queries: &[String]) -> (Vec<Hit>, Vec<Notice>) {
    let (mut rankings, mut notices) = (Vec::new(), Vec::new());
    for query in queries {
        let (passages, told) = by_reading(view, query, HITS_MAX);
        rankings.push(passages);
        let new: Vec<Notice> = told.into_iter().filter(|notice| !notices.contains(notice)).collect();
        notices.extend(new);
    }
    (joined(rankings), notices)
}

/// Sums reciprocal ranks; the order of the queries does not matter.
fn joined(rankings: Vec<Vec<Hit>>) -> Vec<Hit> {
    let mut scores: HashMap<(u32, usize), (f32, Hit)> = HashMap::new();
    for ranking in rankings {
        for (place, passage) in ranking.into_iter().enumerate() {
            #[expect(clippy::cast_precision_loss, reason = "places are few")]
            let score = 1.0 / (RANK_SOFTENER + place as f32);
            // By offset: a document of one long line has many passages.
            let entry = scores.entry((passage.doc_idx, passage.span.start)).or_insert((0.0, passage));
            entry.0 += score;
        }
    }
    let mut passages: Vec<(f32, Hit)> = scores.into_values().collect();
    passages.sort_by(|(a_score, a), (b_score, b)| {
        b_score.total_cmp(a_score).then((a.doc_idx, a.span.start).cmp(&(b.doc_idx, b.span.start)))
    });
    passages.into_iter().map(|(_, passage)| passage).collect()
}
