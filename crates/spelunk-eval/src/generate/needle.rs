//! Needles: one fact in a lot of prose (S-NIAH), or all facts of a kind. Facts of the same form about other things are
//! nearby, so that the form alone does not give them away.

use super::prose::{number_fact, two_things, write};
use super::wording::Shape;
use super::{Draft, GenerateError, GeneratedTask};
use crate::Scoring;
use crate::words::{PLACES_MAX, different, place};

const NEEDLES: usize = 4;
const OTHERS: usize = 4;

pub(super) fn make(mut draft: Draft<'_>) -> Result<GeneratedTask, GenerateError> {
    let is_single = draft.variant == "single";
    let n_needles = if is_single { 1 } else { NEEDLES };
    let rng = &mut draft.rng;
    let (thing, other_thing) = two_things(rng);
    let places = different(rng, n_needles + OTHERS, PLACES_MAX);
    let numbers = different(rng, n_needles + OTHERS, 900_000);
    let facts: Vec<(u64, u64, u64)> = places
        .iter()
        .zip(numbers)
        .map(|(place, number)| (rng.below(1000), *place, 100_000 + number))
        .collect();
    let texts: Vec<(u64, String)> = facts
        .iter()
        .enumerate()
        .map(|(idx, (depth, place, number))| {
            let thing = if idx < n_needles { thing } else { other_thing };
            (*depth, number_fact(thing, *place, *number))
        })
        .collect();
    let path = draft.path("book.txt");
    write(&mut draft, &path, &texts)?;
    let answer = facts.iter().take(n_needles).map(|(_, _, number)| number.to_string()).collect();
    let at = facts.first().map(|(_, number, _)| place(*number)).unwrap_or_default();
    let (question, shape, scoring) = if is_single {
        let question = format!("What is the registration number of the {thing} at {at}?");
        (question, Shape::of("number", "value").or_missing(), Scoring::Exact)
    } else {
        let question = format!(
            "What are the registration numbers of the {thing}s, at whatever place? The text names several."
        );
        (question, Shape::of("list of numbers", "value, value, value"), Scoring::Set)
    };
    Ok(GeneratedTask { question, shape, answer, scoring, files: vec![path] })
}
