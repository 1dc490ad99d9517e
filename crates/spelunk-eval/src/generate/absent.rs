//! Absent facts: the right answer is that the text does not contain it. The text contains near misses: the same fact
//! about another place, another fact about the same place.

use super::prose::{keeper_fact, number_fact, two_things, write};
use super::wording::Shape;
use super::{Draft, GenerateError, GeneratedTask};
use crate::Scoring;
use crate::words::{PEOPLE_MAX, PLACES_MAX, different, person, place};

const NEAR: usize = 5;

pub(super) fn make(mut draft: Draft<'_>) -> Result<GeneratedTask, GenerateError> {
    let is_number = draft.variant == "number";
    let rng = &mut draft.rng;
    let (thing, other_thing) = two_things(rng);
    let places = different(rng, NEAR + 1, PLACES_MAX);
    let asked = places.first().copied().unwrap_or_default();
    let mut facts = Vec::new();
    for near in places.iter().skip(1) {
        let (number, keeper) = (100_000 + rng.below(900_000), person(rng.below(PEOPLE_MAX)));
        let fact =
            if is_number { number_fact(thing, *near, number) } else { keeper_fact(thing, *near, &keeper) };
        facts.push((rng.below(1000), fact));
    }
    // The place in question, with a fact that is not asked for.
    let (number, keeper) = (100_000 + rng.below(900_000), person(rng.below(PEOPLE_MAX)));
    let (same_place, same_but) = if is_number {
        (keeper_fact(thing, asked, &keeper), number_fact(other_thing, asked, number))
    } else {
        (number_fact(thing, asked, number), keeper_fact(other_thing, asked, &keeper))
    };
    facts.push((rng.below(1000), same_place));
    facts.push((rng.below(1000), same_but));
    let path = draft.path("book.txt");
    write(&mut draft, &path, &facts)?;
    let what = if is_number {
        format!("What is the registration number of the {thing} at {}?", place(asked))
    } else {
        format!("Who has kept the {thing} at {} since the war?", place(asked))
    };
    Ok(GeneratedTask {
        question: what,
        shape: Shape::of(if is_number { "number" } else { "name" }, "value").or_missing(),
        answer: vec!["absent".to_owned()],
        scoring: Scoring::Absent,
        files: vec![path],
    })
}
