//! What is printed of the ranked sentences: the best with the lines around them, and as many others
//! as fit, one per line. If the best is near the question, few others are shown, as whole sentences.
//! Otherwise it is uncertain which section answers, and short lines show as many sections as fit.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::nearness::Asked;
use super::{Chosen, FoundPassage, NAME_CHARS_MAX, score_max};
use crate::units::head;

/// The most characters printed: in total, and for everything that is neither a passage nor a line.
const PRINTED_CHARS_MAX: usize = 1_500;
const TITLES_CHARS_MAX: usize = 84;
/// The divisor of the total that a best sentence may take.
const SENTENCE_SHARE: usize = 3;
/// The share of the best possible score from which a sentence is near the question.
const NEAR_SHARE: f32 = 0.42;
/// Sentences with a smaller share of the best score are not shown.
const SCORE_SHARE_MIN: f32 = 0.5;
/// The least room for the text of a line, whatever the length of its document's name.
const EXCERPT_CHARS_MIN: usize = 30;
/// More words of a sentence are not looked at when it is shortened.
const EXCERPT_WORDS_MAX: usize = 300;
/// How much more the words of a later part must weigh than those at the beginning.
const LATER_GAIN_MIN: f32 = 1.5;

struct Layout {
    n_wide_max: usize,
    /// The room for the lines around the first.
    around_chars: usize,
    n_of_section_max: usize,
    line_chars_max: usize,
}

const NEAR: Layout = Layout { n_wide_max: 2, around_chars: 250, n_of_section_max: 3, line_chars_max: 200 };
const FAR: Layout = Layout { n_wide_max: 1, around_chars: 0, n_of_section_max: 1, line_chars_max: 72 };

/// The passages in the order in which they are printed; `ranked` is ordered by score.
pub(super) fn laid_out(mut ranked: Vec<Chosen<'_>>, asked: &mut Asked<'_>) -> Vec<FoundPassage> {
    let best = ranked.first().map_or(0.0, |chosen| chosen.score);
    let layout = if best >= NEAR_SHARE * score_max(asked) { &NEAR } else { &FAR };
    ranked.retain(|chosen| chosen.score >= best.min(SCORE_SHARE_MIN * best));
    let ranked = folded(ranked);
    let mut wide: Vec<&Chosen<'_>> = Vec::new();
    for chosen in &ranked {
        if wide.len() < layout.n_wide_max && !wide.iter().any(|wide| wide.is_of_passage(chosen)) {
            wide.push(chosen);
        }
    }
    let mut chars_left = PRINTED_CHARS_MAX - TITLES_CHARS_MAX;
    let mut around_chars = layout.around_chars;
    let first_sizes = |chosen: &&Chosen<'_>| {
        let room = (PRINTED_CHARS_MAX / SENTENCE_SHARE).saturating_sub(chosen.head_chars());
        let passage = chosen.passage(chosen.least_chars().min(room) + std::mem::take(&mut around_chars));
        chars_left = chars_left.saturating_sub(chosen.head_chars() + chosen.chars_of(&passage));
        passage
    };
    let mut passages: Vec<FoundPassage> = wide.iter().map(first_sizes).collect();
    let lines = lines(&ranked, &wide, &passages, layout, asked, &mut chars_left);
    // The room that is left shows more around the first passages, perhaps including the sentence of a line.
    let n_wide = wide.len();
    for (idx, (chosen, passage)) in wide.iter().zip(&mut passages).enumerate() {
        let chars = chosen.chars_of(passage);
        *passage = chosen.passage(chars + chars_left / (n_wide - idx));
        chars_left -= chosen.chars_of(passage).saturating_sub(chars).min(chars_left);
    }
    let lines: Vec<_> = lines.into_iter().filter(|(line, _)| !line.is_in(&passages)).collect();
    passages.extend(lines.into_iter().map(|(line, text)| line.line_passage(text)));
    passages
}

/// As many sentences as fit, few of one section and none that the passages contain.
fn lines<'a>(
    ranked: &'a [Chosen<'a>],
    wide: &[&'a Chosen<'a>],
    passages: &[FoundPassage],
    layout: &Layout,
    asked: &mut Asked<'_>,
    chars_left: &mut usize,
) -> Vec<(&'a Chosen<'a>, String)> {
    let mut shown = wide.to_vec();
    let mut lines = Vec::new();
    for chosen in ranked {
        if *chars_left < EXCERPT_CHARS_MIN {
            break;
        }
        let is_wide = wide.iter().any(|wide| std::ptr::eq(*wide, chosen));
        let n_beside = shown.iter().filter(|shown| shown.is_of_section(chosen)).count();
        if is_wide || chosen.is_in(passages) || n_beside >= layout.n_of_section_max {
            continue;
        }
        let place = format!("{}:{}  \n", head(&chosen.hit.document, NAME_CHARS_MAX), chosen.line());
        let place_chars = place.chars().count();
        let chars_max = layout.line_chars_max.saturating_sub(place_chars).max(EXCERPT_CHARS_MIN);
        let text = excerpt(chosen.said(), chars_max, |word| asked.weight(word));
        let Some(left) = chars_left.checked_sub(place_chars + text.chars().count()) else { continue };
        *chars_left = left;
        shown.push(chosen);
        lines.push((chosen, text));
    }
    lines
}

/// Sentences with the same words as a better one are only counted there.
fn folded(ranked: Vec<Chosen<'_>>) -> Vec<Chosen<'_>> {
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut kept: Vec<Chosen<'_>> = Vec::new();
    for chosen in ranked {
        match known.entry(normal(chosen.said())) {
            Entry::Occupied(same) => kept[*same.get()].n_alike += 1 + chosen.hit.twins,
            Entry::Vacant(new) => {
                new.insert(kept.len());
                kept.push(chosen);
            }
        }
    }
    kept
}

/// The words of a text, to compare its content with another's.
fn normal(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// A sentence on one line. If it is too long, its beginning, or a part whose words weigh much more.
pub(super) fn excerpt(said: &str, chars_max: usize, weight: impl FnMut(&str) -> f32) -> String {
    let said = said.strip_prefix(['-', '*', '+']).filter(|rest| rest.starts_with(' ')).unwrap_or(said);
    let whole = head(said, usize::MAX);
    if whole.chars().count() <= chars_max {
        return whole;
    }
    let words: Vec<&str> = whole.split(' ').take(EXCERPT_WORDS_MAX).collect();
    let weights: Vec<f32> = words.iter().copied().map(weight).collect();
    let (mut best, mut best_weight) = (0..0, -1.0);
    for from in 0..words.len() {
        // A mark and a space before, a mark after.
        let mut chars = if from == 0 { 1 } else { 3 };
        let fits = |word: &&&str| {
            chars += word.chars().count() + 1;
            chars <= chars_max + 1
        };
        let to = from + words[from..].iter().take_while(fits).count();
        let sum: f32 = weights[from..to].iter().sum();
        if sum > best_weight {
            let gain = if from == 0 { LATER_GAIN_MIN } else { 1.0 };
            (best, best_weight) = (from..to, sum * gain);
        }
    }
    if best.is_empty() {
        return head(&whole, chars_max);
    }
    let before = if best.start == 0 { "" } else { "… " };
    let after = if best.end == words.len() { "" } else { "…" };
    format!("{before}{}{after}", words[best].join(" "))
}
