//! Pairs (after OOLONG-Pairs): which users belong together, given everything each of them wrote.
//! The relevant topics are rare, so that the answer stays short however long the text is.

use std::collections::BTreeSet;

use super::messages::{COMMON, TOPICS, explained, line};
use super::wording::Shape;
use super::{Draft, GenerateError, GeneratedTask};
use crate::Scoring;
use crate::sink::OutputFile;
use crate::words::different;

const USERS: u64 = 9000;
/// How many users have the first and the second of the rare topics.
const FIRST: usize = 3;
const SECOND: usize = 3;

pub(super) fn make(mut draft: Draft<'_>) -> Result<GeneratedTask, GenerateError> {
    let is_easy = draft.variant == "easy";
    let rng = &mut draft.rng;
    let (first, second) = (&TOPICS[COMMON], &TOPICS[COMMON + 1]);
    let users: Vec<u64> = different(rng, FIRST + SECOND, USERS).into_iter().map(|user| 1000 + user).collect();
    let mut rare: Vec<(u64, u64, bool)> =
        users.iter().enumerate().map(|(idx, user)| (rng.below(1000), *user, idx < FIRST)).collect();
    rare.sort_unstable();
    let mut rare = rare.into_iter().peekable();
    let path = format!("{}/messages.txt", draft.folder);
    let mut out = OutputFile::begin(draft.sink, &path)?;
    let mut number = 0;
    while out.bytes() < draft.bytes_max || rare.peek().is_some() {
        number += 1;
        let is_due = |(depth, ..): &(u64, u64, bool)| {
            out.bytes() * 1000 >= depth * draft.bytes_max || out.bytes() >= draft.bytes_max
        };
        let text = match rare.next_if(is_due) {
            Some((_, user, is_first)) => {
                line(rng, number, user, if is_first { first } else { second }, is_easy)
            }
            None => {
                let (topic, user) = (rng.idx(COMMON), 1000 + rng.below(USERS));
                line(rng, number, user, TOPICS.get(topic).unwrap_or(first), is_easy)
            }
        };
        out.line(&text)?;
    }
    let (firsts, seconds) = users.split_at(FIRST.min(users.len()));
    let pairs: BTreeSet<(u64, u64)> =
        firsts.iter().flat_map(|a| seconds.iter().map(move |b| (*a.min(b), *a.max(b)))).collect();
    let question = format!(
        "Each line of the text is a message of a user. Each message has one topic of these: {}. List all pairs of users of which one has written a message with the topic {} and the other one a message with the topic {}, the smaller number first.",
        explained(&TOPICS),
        first.name,
        second.name
    );
    let answer = pairs.iter().map(|(a, b)| format!("({a}, {b})")).collect();
    let shape = Shape::of("list of pairs", "(number, number); (number, number)");
    Ok(GeneratedTask { question, shape, answer, scoring: Scoring::Pairs, files: vec![path] })
}
