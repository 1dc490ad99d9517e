//! Multi-hop questions: expeditions have leaders, leaders have home towns, towns have bridges, each in its own
//! document. Each step has hard negatives: another expedition to the same place, another person of the same family,
//! other years in the same town.

use super::wording::Shape;
use super::{Draft, GenerateError, GeneratedTask};
use crate::Scoring;
use crate::rng::Rng;
use crate::sink::OutputFile;
use crate::words::{PEOPLE_MAX, PLACES_MAX, different, paragraph, person, place};

/// The length of a document, unless there would be too many of them.
const DOCUMENT_BYTES: u64 = 2000;
const CHAINS_MIN: u64 = 2;
const CHAINS_MAX: u64 = 600;
/// People per family, see `words::person`.
const FAMILY: u64 = 20;

/// One chain from an expedition to a year.
struct Chain {
    destination: String,
    year: u64,
    leader: String,
    town: String,
    bridge_year: u64,
}

pub(super) fn make(mut draft: Draft<'_>) -> Result<GeneratedTask, GenerateError> {
    // Chains come in pairs: each is the other's near miss.
    let n_pairs = (draft.bytes_max / DOCUMENT_BYTES / 6).clamp(CHAINS_MIN / 2, CHAINS_MAX / 2);
    let chains = chains(&mut draft.rng, usize::try_from(n_pairs).unwrap_or_default());
    let mut documents: Vec<String> = chains.iter().flat_map(facts).collect();
    draft.rng.shuffle(&mut documents);
    let document_bytes = draft.bytes_max / (documents.len() as u64).max(1);
    let mut files = Vec::new();
    for (idx, fact) in documents.iter().enumerate() {
        let path = draft.path(&format!("{:04}.md", idx + 1));
        let mut out = OutputFile::begin(draft.sink, &path)?;
        let before = draft.rng.below(document_bytes * 2 / 3);
        let mut is_told = false;
        while out.bytes() < document_bytes || !is_told {
            if !is_told && out.bytes() >= before {
                out.line(fact)?;
                is_told = true;
            } else {
                out.line(&paragraph(&mut draft.rng))?;
            }
            out.line("")?;
        }
        files.push(path);
    }
    let asked = draft.rng.idx(chains.len());
    let Some(chain) = chains.get(asked) else { return Err(GenerateError::Size { tokens: 0 }) };
    let question = format!(
        "In which year was the bridge opened in the town where the leader of the expedition to {} of {} was born?",
        chain.destination, chain.year
    );
    let shape = Shape::of("year", "value").or_missing();
    let answer = vec![chain.bridge_year.to_string()];
    Ok(GeneratedTask { question, shape, answer, scoring: Scoring::Exact, files })
}

fn chains(rng: &mut Rng, n_pairs: usize) -> Vec<Chain> {
    let places = different(rng, n_pairs * 3, PLACES_MAX);
    let families = different(rng, n_pairs, PEOPLE_MAX / FAMILY);
    let mut chains = Vec::new();
    for (pair, family) in families.iter().enumerate() {
        let first = rng.below(FAMILY - 1);
        let (year, bridge) = (rng.between(1820, 1880), rng.between(1700, 1800));
        for half in 0..2_u64 {
            let at = |idx: usize| places.get(pair * 3 + idx).copied().map(place).unwrap_or_default();
            let town = at(1 + usize::try_from(half).unwrap_or_default());
            chains.push(Chain {
                destination: at(0),
                year: year + half * rng.between(3, 15),
                leader: person(family * FAMILY + first + half),
                town,
                bridge_year: bridge + half * rng.between(2, 90),
            });
        }
    }
    chains
}

fn facts(chain: &Chain) -> [String; 3] {
    let Chain { destination, year, leader, town, bridge_year } = chain;
    [
        format!("The expedition to {destination} of {year} was led by {leader}, who wrote little about it."),
        format!("{leader} was born in {town}, the youngest of four, and left it early."),
        format!(
            "In {town} the bridge was opened in {bridge_year}; the town hall is from {}, the station from {}.",
            bridge_year + 31,
            bridge_year + 97
        ),
    ]
}
