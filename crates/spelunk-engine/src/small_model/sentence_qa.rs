//! Sentence QA: a small model sees only the few relevant sentences. If its answer rests on sentences that lack words
//! of the question, it is shown them again, since a near miss is the most common mistake. When the text does not
//! contain the answer, the result is one plain sentence without evidence.

use std::collections::BTreeSet;
use std::sync::Arc;

use spelunk_context::{Shown, View};
use spelunk_model::Prompt;
use spelunk_types::{Citation, EventKind, Grounding};

use super::multi_hop::path;
use super::name_hops::{Sentence, VIEW_BYTES_MAX, follow, holds, lines_with};
use crate::plain_answer::{self, CodeAlone, empty_reply};
use crate::question::{self, identifiers_in, sentences};
use crate::retrieval::FoundPassage;
use crate::{Answer, Frame, FrameError, Task, evidence};

const SYSTEM: &str = include_str!("../prompts/close-system.md");
const CHECK: &str = include_str!("../prompts/close-check.md");
const SAME: &str = include_str!("../prompts/close-same.md");
pub(super) const PROMPTS: [&str; 3] = [SYSTEM, CHECK, SAME];

/// The reply that prompts ask for if no sentence answers the question.
const UNSAID: &str = "The text does not say it.";

/// Sentences that share words with the question.
const SENTENCES_MAX: usize = 12;
/// Maximum lines with an identifier.
const IDENTIFIER_LINES_MAX: usize = 40;
/// Passages shown in full if no sentence has the words of the question.
const PASSAGES_MAX: usize = 3;
/// Rounds in which names are followed; more mislead a small model.
const ROUNDS: usize = 1;
/// Beyond this length, small models repeat themselves.
const ANSWER_TOKENS_MAX: u64 = 600;
const SAME_TOKENS_MAX: u64 = 8;
/// Sentences that an answer is checked against.
const BASIS_MAX: usize = 4;
const CITATIONS_MAX: usize = 10;

/// Words that say nothing about what is asked.
const PLAIN: &[&str] = &[
    "the", "a", "an", "of", "at", "in", "is", "are", "was", "were", "be", "been", "to", "and", "or", "not",
    "does", "do", "did", "has", "have", "had", "it", "its", "this", "that", "these", "those", "which",
    "what", "who", "whom", "whose", "when", "where", "why", "how", "many", "much", "if", "on", "for", "with",
    "by", "from", "as", "there", "any", "all", "can", "will", "would", "should", "whatever", "every",
    "other", "than", "so", "since", "before", "after",
];

/// Answers from the sentences of these passages and those that its names lead to.
pub(crate) async fn solve(
    frame: &Frame,
    task: &Task,
    passages: &Arc<Vec<FoundPassage>>,
) -> Result<Answer, FrameError> {
    let Gathered { shown, is_settled } = gather(task, passages).await;
    frame.note(chosen(task, &shown)).await?;
    let question = task.question_shown();
    let listed: Vec<String> = shown.iter().map(listed).collect();
    let user = format!("{}\n\nQuestion: {question}", listed.join("\n"));
    let tokens_max = ANSWER_TOKENS_MAX.min(frame.limits().root_output_tokens_max);
    let (prompt, code) = (Prompt::single(SYSTEM, user, tokens_max), CodeAlone::for_question(question));
    let mut text = plain_answer::ask(frame, prompt, code, |prompt| frame.ask(prompt)).await?.text;
    let first = basis(question, &shown, &text);
    let is_doubtful = !is_settled && !is_unsaid(&text);
    if is_doubtful && let Some(other) = speaks_of_another(frame, question, &first).await? {
        text = other;
    } else if is_doubtful && let Some(doubts) = doubts(question, &first) {
        let user =
            format!("Question: {question}\n\nThe answer was: {}\nIt was taken from:\n{doubts}", text.trim());
        if let Some(checked) = empty_reply::said(frame.ask(Prompt::single(CHECK, user, tokens_max)).await)?
            && plain_answer::fault_of(&checked, code).is_none()
        {
            text = checked.text;
        }
    }
    if is_unsaid(&text) {
        let text = text.trim().to_owned();
        return Ok(Answer { text, citations: Vec::new(), grounding: Grounding::Uncited });
    }
    let cited = basis(question, &shown, &text);
    let claims = cited.into_iter().take(CITATIONS_MAX).map(|sentence| Citation {
        document: sentence.document.clone(),
        line: sentence.line,
        quote: sentence.text.clone(),
    });
    let mut seen = Shown::default();
    for sentence in &shown {
        seen.add(&sentence.document, sentence.line, &sentence.text);
    }
    evidence::check_shown(frame, &seen, &text, claims.collect()).await
}

/// Whether the answer is that the text does not say it.
fn is_unsaid(answer: &str) -> bool {
    let begin = UNSAID.trim_end_matches(" it.").to_lowercase();
    answer.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase().starts_with(&begin)
}

/// The text for the model.
struct Gathered {
    shown: Vec<Sentence>,
    /// Whether it was found by unambiguous names: then missing words of the question mean nothing.
    is_settled: bool,
}

async fn gather(task: &Task, passages: &Arc<Vec<FoundPassage>>) -> Gathered {
    let (view, question, passages) = (task.view.clone(), task.question.clone(), Arc::clone(passages));
    // Following names reads the documents.
    let gathering = tokio::task::spawn_blocking(move || {
        if let Some(shown) = by_identifier(&view, &question).or_else(|| path(&view, &question)) {
            return Gathered { shown, is_settled: true };
        }
        let trail = follow(&view, &question, ROUNDS);
        let mut shown = best(&passages, &question);
        shown.retain(|sentence| !trail.contains(sentence));
        // The best are next to the question.
        shown.reverse();
        shown.extend(trail);
        Gathered { shown, is_settled: false }
    });
    gathering.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}

/// The lines with the identifiers of the question; `None` if it contains none.
fn by_identifier(view: &View, question: &str) -> Option<Vec<Sentence>> {
    let names: Vec<String> = identifiers_in(question).into_iter().map(str::to_owned).collect();
    if names.is_empty() || view.bytes() > VIEW_BYTES_MAX {
        return None;
    }
    let lines = lines_with(view, &names, IDENTIFIER_LINES_MAX);
    (!lines.is_empty()).then_some(lines)
}

/// The sentences of passages that share most with the question, best first.
fn best(passages: &[FoundPassage], question: &str) -> Vec<Sentence> {
    let all: Vec<Sentence> = passages.iter().flat_map(sentences_of).collect();
    let asked = asked_words(question);
    let held: Vec<Vec<usize>> = all.iter().map(|sentence| held(&asked, &sentence.text)).collect();
    #[expect(clippy::cast_precision_loss, reason = "sentences are few")]
    let weight = |word: usize| {
        let n_with = held.iter().filter(|held| held.contains(&word)).count();
        (1.0 + all.len() as f64 / n_with.max(1) as f64).ln()
    };
    let weights: Vec<f64> = (0..asked.len()).map(weight).collect();
    let score = |held: &[usize]| held.iter().map(|&word| weights[word]).sum::<f64>();
    let mut order: Vec<usize> = (0..all.len()).filter(|&idx| !held[idx].is_empty()).collect();
    order.sort_by(|&a, &b| score(&held[b]).total_cmp(&score(&held[a])).then(a.cmp(&b)));
    let has_words = order.first().is_some_and(|&idx| held[idx].len() * 2 >= asked.len());
    let mut shown: Vec<Sentence> = Vec::new();
    let by_words = order.into_iter().map(|idx| all[idx].clone());
    // The question uses different words: semantically close passages are shown in full.
    let whole = passages.iter().take(if has_words { 0 } else { PASSAGES_MAX }).flat_map(sentences_of);
    for sentence in by_words.take(SENTENCES_MAX).chain(whole) {
        if !shown.contains(&sentence) {
            shown.push(sentence);
        }
    }
    shown
}

fn sentences_of(passage: &FoundPassage) -> Vec<Sentence> {
    let lines = passage.text.lines().enumerate();
    let cut = lines.flat_map(|(idx, line)| {
        sentences(line).map(move |text| Sentence {
            document: passage.document.clone(),
            line: passage.line_start + idx as u64,
            text: text.to_owned(),
        })
    });
    cut.collect()
}

fn listed(sentence: &Sentence) -> String {
    let name = sentence.document.replace(['\n', '\r'], "?");
    format!("{name}:{}: {}", sentence.line, sentence.text)
}

fn chosen(task: &Task, shown: &[Sentence]) -> EventKind {
    let documents: BTreeSet<&str> = shown.iter().map(|sentence| sentence.document.as_str()).collect();
    let bytes = shown.iter().map(|sentence| sentence.text.len() as u64).sum();
    EventKind::PassagesChosen { documents: documents.len() as u64, bytes, of_bytes: task.view.bytes() }
}

/// The sentences that contain the words of an answer that are not in its question.
fn basis<'a>(question: &str, shown: &'a [Sentence], answer: &str) -> Vec<&'a Sentence> {
    let is_value = |word: &&str| {
        let tells =
            word.contains(|c: char| c.is_ascii_digit() || c == '/') || word.starts_with(char::is_uppercase);
        let is_plain = PLAIN.contains(&word.to_lowercase().as_str());
        word.chars().count() > 1 && tells && !is_plain && !question.contains(*word)
    };
    let values = answer.split(|c: char| !(c.is_alphanumeric() || "_./-".contains(c)));
    let values: Vec<&str> = values.map(|word| word.trim_matches(['.', '-'])).filter(is_value).collect();
    if !values.is_empty() {
        let has_value = |sentence: &&Sentence| values.iter().any(|value| holds(&sentence.text, value));
        return shown.iter().filter(has_value).collect();
    }
    // Neither a name nor a number: sentences with at least half of its words.
    let in_question: Vec<String> = words(question).collect();
    let is_new = |word: &String| !in_question.iter().any(|other| is_form_of(word, other));
    let new: Vec<String> =
        words(answer).filter(|word| !PLAIN.contains(&word.as_str()) && is_new(word)).collect();
    let has_half = |sentence: &&Sentence| held(&new, &sentence.text).len() * 2 >= new.len();
    shown.iter().filter(|sentence| !new.is_empty() && has_half(sentence)).collect()
}

/// The reply if all sentences behind an answer are about another thing: about the mill in that village, while the
/// question is about the church. Code detects the substitution; the model decides whether they are the same.
async fn speaks_of_another(
    frame: &Frame,
    question: &str,
    basis: &[&Sentence],
) -> Result<Option<String>, FrameError> {
    let asked = asked_words(question);
    let mut said = None;
    for sentence in basis.iter().take(BASIS_MAX) {
        let Some(Instead { asked, there }) = instead(question, &asked, &sentence.text) else {
            return Ok(None);
        };
        let user = format!("A: {asked}\nB: {there}\n\nAre A and B the same thing?");
        let reply = empty_reply::said(frame.ask(Prompt::single(SAME, user, SAME_TOKENS_MAX)).await)?;
        if !reply.is_some_and(|reply| reply.text.trim_start().to_lowercase().starts_with("no")) {
            return Ok(None);
        }
        said = Some(format!("{} of the {asked}, only of the {there}.", UNSAID.trim_end_matches('.')));
    }
    Ok(said)
}

/// What a sentence has in place of what the question asks about.
#[derive(Debug, PartialEq, Eq)]
struct Instead {
    asked: String,
    there: String,
}

/// The words of the question that a sentence lacks, and what it has before the words that follow them.
fn instead(question: &str, asked: &[String], text: &str) -> Option<Instead> {
    let held = held(asked, text);
    let question: Vec<String> = words(&question::questions(question)).collect();
    let there: Vec<String> = words(text).collect();
    let is_plain = |word: &String| PLAIN.contains(&word.as_str());
    let is_lacking =
        |word: &String| asked.iter().position(|asked| asked == word).is_some_and(|idx| !held.contains(&idx));
    let start = question.iter().position(is_lacking)?;
    let n_lacking = question.iter().skip(start).take_while(|word| is_lacking(word)).count();
    let follows = question.get(start + n_lacking..start + n_lacking + 2)?;
    let at = there.windows(2).position(|pair| pair == follows)?;
    let other = there.get(at.checked_sub(1)?).filter(|word| !is_plain(word) && !question.contains(word))?;
    // The `office` of a `post office` is part of its name.
    let n_tail = question.iter().skip(start + n_lacking).take_while(|word| !is_plain(word)).count();
    let tail = question.get(start + n_lacking..start + n_lacking + n_tail)?;
    let named = |words: &[String]| [words, tail].concat().join(" ");
    Some(Instead {
        asked: named(question.get(start..start + n_lacking)?),
        there: named(std::slice::from_ref(other)),
    })
}

/// The sentences behind an answer, each with the words of the question that it lacks; `None` if one lacks nothing.
fn doubts(question: &str, basis: &[&Sentence]) -> Option<String> {
    let asked = asked_words(question);
    let mut lines = Vec::new();
    for sentence in basis.iter().take(BASIS_MAX) {
        let held = held(&asked, &sentence.text);
        let lacking: Vec<&str> =
            (0..asked.len()).filter(|word| !held.contains(word)).map(|word| asked[word].as_str()).collect();
        if lacking.is_empty() {
            return None;
        }
        lines.push(format!("{}\n(not in this sentence: {})", sentence.text, lacking.join(", ")));
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// The content words of a question.
pub(super) fn asked_words(question: &str) -> Vec<String> {
    let mut asked: Vec<String> = Vec::new();
    for word in words(&question::questions(question)) {
        if !PLAIN.contains(&word.as_str()) && !asked.contains(&word) {
            asked.push(word);
        }
    }
    asked
}

/// The words that occur in a text, in any form.
pub(super) fn held(asked: &[String], text: &str) -> Vec<usize> {
    let there: Vec<String> = words(text).collect();
    let stands = |word: &String| there.iter().any(|other| is_form_of(word, other));
    (0..asked.len()).filter(|&idx| stands(&asked[idx])).collect()
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// Whether two words are forms of one: same beginning, short different endings.
fn is_form_of(a: &str, b: &str) -> bool {
    let alike = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let (a_chars, b_chars) = (a.chars().count(), b.chars().count());
    a == b || (alike >= 4 && a_chars.max(b_chars) - alike <= 3)
}

#[cfg(test)]
mod tests;
