//! Prose with embedded facts: meaningless paragraphs, and facts at given positions.

use std::io;

use super::Draft;
use crate::rng::Rng;
use crate::sink::OutputFile;
use crate::words::{paragraph, place};

/// Writes the file; fact `n` is at the position `depths[n]`, in thousandths of the file.
pub(super) fn write(draft: &mut Draft<'_>, path: &str, facts: &[(u64, String)]) -> io::Result<()> {
    let mut facts = facts.to_vec();
    facts.sort_by_key(|(depth, _)| *depth);
    let mut facts = facts.into_iter().peekable();
    let mut out = OutputFile::begin(draft.sink, path)?;
    while out.bytes() < draft.bytes_max {
        let mut text = paragraph(&mut draft.rng);
        while let Some((_, fact)) = facts.next_if(|(depth, _)| out.bytes() * 1000 >= depth * draft.bytes_max)
        {
            // In the middle of a paragraph: only its words distinguish it from its neighbours.
            let at = text.find(". ").map_or(text.len(), |at| at + 1);
            let (before, after) = text.split_at(at);
            text = format!("{before} {fact}{after}");
        }
        out.line(&text)?;
        out.line("")?;
    }
    for (_, fact) in facts {
        out.line(&fact)?;
    }
    Ok(())
}

/// What a needle is about, and what another one is about.
pub(super) fn two_things(rng: &mut Rng) -> (&'static str, &'static str) {
    let mut things = ["lighthouse", "windmill", "observatory", "signal station", "pumping station"];
    rng.shuffle(&mut things);
    (things[0], things[1])
}

/// A needle: the number of a thing at a place.
pub(super) fn number_fact(thing: &str, place_number: u64, number: u64) -> String {
    format!("The registration number of the {thing} at {} is {number}.", place(place_number))
}

/// Another needle: who keeps it.
pub(super) fn keeper_fact(thing: &str, place_number: u64, keeper: &str) -> String {
    format!("The {thing} at {} has been kept by {keeper} since the war.", place(place_number))
}
