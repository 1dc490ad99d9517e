//! Labelled lines (after OOLONG): a number or a category over all lines. In `read` the label follows from the content
//! of a line; in `easy` it is written in the line, so that code can count it.

use super::messages::{COMMON, TOPICS, Topic, explained, line};
use super::wording::Shape;
use super::{Draft, GenerateError, GeneratedTask};
use crate::Scoring;
use crate::rng::Rng;
use crate::sink::OutputFile;

const USERS: u64 = 9000;
/// The minimum lead of the most common topic, in lines.
const LEAD: u64 = 3;

pub(super) fn make(mut draft: Draft<'_>) -> Result<GeneratedTask, GenerateError> {
    let is_easy = draft.variant.ends_with("easy");
    let is_count = draft.variant.starts_with("count");
    let topics = TOPICS.first_chunk::<COMMON>().copied().unwrap_or([TOPICS[0]; COMMON]);
    let rng = &mut draft.rng;
    let most = rng.idx(COMMON);
    let weights = weights(rng, most);
    let mut counts = [0_u64; COMMON];
    let path = format!("{}/messages.txt", draft.folder);
    let mut out = OutputFile::begin(draft.sink, &path)?;
    let mut number = 0;
    while out.bytes() < draft.bytes_max || !leads(&counts, most) {
        let is_over = out.bytes() >= draft.bytes_max;
        let idx = if is_over { most } else { weighted(rng, &weights) };
        number += 1;
        let user = 1000 + rng.below(USERS);
        let (Some(topic), Some(count)) = (topics.get(idx), counts.get_mut(idx)) else { continue };
        *count += 1;
        out.line(&line(rng, number, user, topic, is_easy))?;
    }
    let asked = rng.idx(COMMON);
    let topic: Topic = topics.get(if is_count { asked } else { most }).copied().unwrap_or(TOPICS[0]);
    let count = counts.get(asked).copied().unwrap_or_default();
    let given = format!(
        "Each line of the text is a message of a customer. Each message has one topic of these: {}.",
        explained(&topics)
    );
    let (asks, shape, answer, scoring) = if is_count {
        let asks = format!("How many messages have the topic {}?", topic.name);
        (asks, Shape::NUMBER, count.to_string(), Scoring::Number)
    } else {
        let among = topics.iter().map(|topic| topic.name.to_owned()).collect();
        let asks = "Which topic is the most common?".to_owned();
        (asks, Shape::of("topic", "topic"), topic.name.to_owned(), Scoring::Choice { among })
    };
    let question = format!("{given} {asks}");
    Ok(GeneratedTask { question, shape, answer: vec![answer], scoring, files: vec![path] })
}

/// The frequencies of topics; one leads.
fn weights(rng: &mut Rng, most: usize) -> [u64; COMMON] {
    let mut weights = [0; COMMON];
    for (idx, weight) in weights.iter_mut().enumerate() {
        *weight = if idx == most { 160 } else { rng.between(50, 110) };
    }
    weights
}

fn weighted(rng: &mut Rng, weights: &[u64]) -> usize {
    let mut left = rng.below(weights.iter().sum());
    for (idx, weight) in weights.iter().enumerate() {
        if left < *weight {
            return idx;
        }
        left -= weight;
    }
    0
}

fn leads(counts: &[u64; COMMON], most: usize) -> bool {
    let ahead = counts.get(most).copied().unwrap_or_default();
    counts.iter().enumerate().all(|(idx, count)| idx == most || count + LEAD <= ahead)
}
