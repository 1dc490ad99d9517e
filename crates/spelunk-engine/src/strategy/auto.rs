//! The auto strategy: looks at the text first, answers cheaply where the evidence settles the question, and climbs
//! otherwise. Rows are queried with SQL. For other text, short calls tell a request for an overview, for which `map`
//! reads everything, from a question for a fact, which `search` looks up. What a search does not settle is left to
//! `repl`. A small model answers with `direct` instead, which ranks by the question alone: on the development half of
//! `eval/real`, the searches that it proposes find no more. It searches only if the text is in another language, with
//! which the question shares few words. Each step is recorded with its reason. Code interprets no word of the question.

use spelunk_types::{EventKind, Explain as _, Strategy};

use super::one_call::{Answered, CERTAINTY_PERMILLE_MIN, with_examples};
use super::{direct, is_cut_off, search};
use crate::rows::{RowsOutcome, query_rows};
use crate::{Answer, Frame, FrameError, Result, Task, certainty};

const KIND: &str = include_str!("../prompts/auto-kind.md");
const KIND_EXAMPLES: &str = include_str!("../prompts/auto-kind-examples.md");
pub(super) const PROMPTS: [&str; 2] = [KIND, KIND_EXAMPLES];

/// One word, with room for a model that begins with punctuation.
const KIND_TOKENS_MAX: u64 = 8;
/// If no query over rows gave a result, a small model that reads some of them must be this certain: on the development
/// half of `eval/real`, 7 of its 8 answers there were wrong, and it was less certain of each of them.
const ROWS_CERTAINTY_PERMILLE_MIN: u16 = 800;

pub(super) enum Outcome {
    /// An answer that the evidence settles, or the best that this model can give.
    Answered(Answer),
    /// This strategy has to answer.
    Climb(Strategy),
}

pub(super) async fn solve(frame: &Frame, task: &Task) -> Result<Outcome> {
    let rows = if task.note.is_none() { query_rows(frame, task).await? } else { RowsOutcome::NoRows };
    let certainty_min = match rows {
        RowsOutcome::Answered(answer) => return Ok(Outcome::Answered(answer)),
        RowsOutcome::NoResult => ROWS_CERTAINTY_PERMILLE_MIN,
        RowsOutcome::NoRows => CERTAINTY_PERMILLE_MIN,
    };
    let searches = !frame.reader().is_small() || search::is_in_another_language(task).await;
    let mut proposal = if searches { Some(search::propose(frame, task).await?) } else { None };
    // A single reply is often wrong; a question that is one for an overview in both wordings rarely is not.
    if is_overview(frame, task.question_shown()).await? {
        let proposed = match proposal.take() {
            Some(proposed) => proposed,
            None => search::propose(frame, task).await?,
        };
        if is_overview(frame, &proposed.question).await? {
            return climb(frame, Strategy::Map, "the question asks for an overview of the whole text").await;
        }
        proposal = searches.then_some(proposed);
    }
    let why = "the question asks for something that the text states";
    let Some(proposal) = proposal else {
        choose(frame, Strategy::Direct, why).await?;
        return Ok(Outcome::Answered(direct::answer(frame, task, certainty_min).await?));
    };
    choose(frame, Strategy::Search, why).await?;
    match search::answer(frame, task, proposal, certainty_min).await? {
        Answered { answer, is_settled } if is_settled || frame.reader().is_small() => {
            Ok(Outcome::Answered(answer))
        }
        Answered { .. } => {
            climb(frame, Strategy::Repl, "the passages that were found do not settle the question").await
        }
    }
}

async fn climb(frame: &Frame, strategy: Strategy, why: &str) -> Result<Outcome> {
    choose(frame, strategy, why).await?;
    Ok(Outcome::Climb(strategy))
}

async fn choose(frame: &Frame, strategy: Strategy, why: &str) -> Result<()> {
    frame.note(EventKind::StrategyChosen { strategy, why: why.to_owned() }).await
}

/// Whether a question asks for an overview. Any other reply means a question for a fact.
async fn is_overview(frame: &Frame, question: &str) -> Result<bool> {
    let prompt = with_examples(KIND, KIND_EXAMPLES, question.to_owned(), KIND_TOKENS_MAX);
    match frame.ask_sub(certainty::steady(frame, prompt)).await {
        Ok(reply) => {
            let word = reply.text.trim_start_matches(|c: char| !c.is_alphabetic());
            Ok(word.to_lowercase().starts_with("overview"))
        }
        Err(error @ FrameError::Stopped(_)) => Err(error),
        Err(error) if is_cut_off(error.code()) => Err(error),
        Err(_) => Ok(false),
    }
}
