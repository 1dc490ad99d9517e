//! Words of the generated texts: prose that reads like prose but contains nothing a question asks for, and fictitious
//! names.

use crate::rng::Rng;

const SUBJECTS: &[&str] = &[
    "The harbour master",
    "A retired surveyor",
    "The night train",
    "The choir",
    "The miller's daughter",
    "An old ferry",
    "The town council",
    "A travelling printer",
    "The schoolteacher",
    "The clockmaker",
    "A flock of geese",
    "The postman",
    "The museum's curator",
    "A young botanist",
    "The orchestra",
    "The baker",
    "A company of actors",
    "The lock keeper",
    "The gardener",
    "A merchant from the coast",
];
const VERBS: &[&str] = &[
    "waited for",
    "talked at length about",
    "had long forgotten",
    "wrote a letter concerning",
    "returned to",
    "was fond of",
    "complained about",
    "made a drawing of",
    "could not explain",
    "spent the winter with",
    "argued over",
    "paid little attention to",
    "described",
    "was proud of",
    "kept a record of",
    "dreamt of",
];
const OBJECTS: &[&str] = &[
    "the frozen canal",
    "a borrowed piano",
    "the empty warehouse",
    "the apple harvest",
    "an unfinished map",
    "the brass telescope",
    "the spring flood",
    "a bundle of newspapers",
    "the broken weathervane",
    "the new timetable",
    "a quarrel between neighbours",
    "the smell of tar",
    "the autumn fair",
    "a sack of flour",
    "the old orchard",
    "the tall windows",
    "a quiet afternoon",
    "the gravel road",
];
const ENDS: &[&str] = &[
    "while the rain went on",
    "until the lamps were lit",
    "as everyone had expected",
    "without saying a word",
    "for the rest of the week",
    "before the market opened",
    "although nobody had asked",
    "in spite of the cold",
    "because the road was closed",
    "when the bells rang",
    "and laughed about it afterwards",
    "long after the others had gone",
    "as if nothing had happened",
    "on the last day of the month",
];
const STARTS: &[&str] = &[
    "",
    "",
    "",
    "By noon, it was plain: ",
    "Some say otherwise, but ",
    "In those years ",
    "Later that evening, ",
    "According to the almanac, ",
    "For reasons of their own, ",
    "Nobody was surprised: ",
];

pub(crate) fn sentence(rng: &mut Rng) -> String {
    let start = *rng.pick(STARTS);
    let subject = *rng.pick(SUBJECTS);
    let subject = if start.is_empty() { subject.to_owned() } else { lower_first(subject) };
    let (verb, object, end) = (rng.pick(VERBS), rng.pick(OBJECTS), rng.pick(ENDS));
    format!("{start}{subject} {verb} {object} {end}.")
}

/// A paragraph of them, on one line.
pub(crate) fn paragraph(rng: &mut Rng) -> String {
    let n_sentences = rng.between(3, 7);
    (0..n_sentences).map(|_| sentence(rng)).collect::<Vec<_>>().join(" ")
}

fn lower_first(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}

const HEADS: &[&str] = &[
    "Bar", "Cor", "Dal", "El", "Fen", "Gor", "Hal", "Ister", "Jor", "Kel", "Lin", "Mar", "Nor", "Ost", "Pel",
    "Quen", "Rav", "Sel", "Tarn", "Ul", "Vel", "Wend", "Yar", "Zel",
];
const MIDDLES: &[&str] = &["a", "e", "i", "o", "u", "an", "en", "or", "il", "um", "est", "ard"];
const PLACE_TAILS: &[&str] =
    &["by", "dorf", "fell", "gate", "holm", "mere", "ness", "stad", "ton", "vik", "wick", "sund"];
const PERSON_TAILS: &[&str] =
    &["berg", "cott", "dahl", "gard", "hart", "ling", "mann", "quist", "rell", "son", "ström", "tor"];
const FIRST: &[&str] = &[
    "Ada", "Bruno", "Clara", "Dario", "Edith", "Felix", "Greta", "Hugo", "Ines", "Jonas", "Karin", "Leo",
    "Mara", "Nils", "Olga", "Paul", "Rosa", "Simon", "Thea", "Viktor",
];

/// How many distinct place names there are.
pub(crate) const PLACES_MAX: u64 = (HEADS.len() * MIDDLES.len() * PLACE_TAILS.len()) as u64;

/// The name of a place; distinct for each number below [`PLACES_MAX`].
pub(crate) fn place(number: u64) -> String {
    name(number, PLACE_TAILS)
}

/// How many distinct names of people there are.
pub(crate) const PEOPLE_MAX: u64 = (FIRST.len() * HEADS.len() * MIDDLES.len() * PERSON_TAILS.len()) as u64;

pub(crate) fn person(number: u64) -> String {
    let first = at(FIRST, number);
    format!("{first} {}", name(number / FIRST.len() as u64, PERSON_TAILS))
}

fn name(number: u64, tails: &[&str]) -> String {
    let (heads, middles) = (HEADS.len() as u64, MIDDLES.len() as u64);
    let (head, rest) = (at(HEADS, number), number / heads);
    format!("{head}{}{}", at(MIDDLES, rest), at(tails, rest / middles))
}

fn at<'a>(list: &[&'a str], number: u64) -> &'a str {
    let idx = usize::try_from(number % list.len() as u64).unwrap_or_default();
    list.get(idx).copied().unwrap_or_default()
}

/// `n` distinct numbers below `end`, at most half of them, in random order.
pub(crate) fn different(rng: &mut Rng, n: usize, end: u64) -> Vec<u64> {
    let mut chosen: Vec<u64> = Vec::with_capacity(n);
    while chosen.len() < n.min(usize::try_from(end / 2).unwrap_or(usize::MAX)) {
        let number = rng.below(end);
        if !chosen.contains(&number) {
            chosen.push(number);
        }
    }
    chosen
}
