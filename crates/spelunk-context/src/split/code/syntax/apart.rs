//! Parses a file in a worker process. Code with syntax errors can make the parser use ten thousand times its size in
//! memory between two progress checks.

use spelunk_types::{WorkBounds, WorkError, WorkLine, workers};

use super::{CutPoint, grammar_of_name, parse_whole, places_of};
use crate::extract::WorkerSlot;
use crate::kind::Language;
use crate::pack::Strength;

/// The name of the worker task.
pub const PARSE_TASK: &str = "parse";

/// Limits for one file. Hand-written code uses a hundredth of both.
const BOUNDS: WorkBounds = WorkBounds { memory_bytes_max: 768 << 20, cpu_ms_max: 20_000 };

/// The encoded size of a place in a message.
const PLACE_BYTES: usize = 9;

/// The places of a file; `None` if it exceeds the limits, and then the line rule is used. A program without workers,
/// such as the tests of this crate, parses it in this process.
pub(super) fn places(text: &str, language: Language) -> Option<Vec<CutPoint>> {
    let Some(workers) = workers() else {
        let tree = parse_whole(text, &grammar_of_name(language.name())?)?;
        return Some(places_of(&tree, text));
    };
    let _slot = WorkerSlot::take();
    let reply = workers.start(PARSE_TASK, BOUNDS).and_then(|mut line| {
        line.send(language.name().as_bytes())?;
        line.send(text.as_bytes())?;
        line.receive()
    });
    decode(&reply.ok()?, text)
}

/// The worker's side: parses one file and sends where it can be cut.
pub fn serve_parse(mut line: Box<dyn WorkLine>) -> Result<(), WorkError> {
    let (name, text) = (line.receive()?, line.receive()?);
    let (name, text) = (String::from_utf8_lossy(&name), String::from_utf8_lossy(&text));
    let tree = grammar_of_name(&name).and_then(|grammar| parse_whole(&text, &grammar));
    let places = tree.map(|tree| places_of(&tree, &text)).unwrap_or_default();
    line.send(&encode(&places))
}

fn encode(places: &[CutPoint]) -> Vec<u8> {
    let strength = |strength| match strength {
        Strength::Section => 3,
        Strength::Item => 2,
        Strength::Paragraph | Strength::Sentence | Strength::Word => 1,
    };
    let bytes =
        |place: &CutPoint| [(place.at as u64).to_le_bytes().as_slice(), &[strength(place.strength)]].concat();
    places.iter().flat_map(bytes).collect()
}

/// A worker may be controlled by a malicious file: only line starts are accepted.
fn decode(message: &[u8], text: &str) -> Option<Vec<CutPoint>> {
    let mut places = Vec::new();
    for bytes in message.chunks(PLACE_BYTES) {
        let (at, strength) = bytes.split_first_chunk::<8>()?;
        let at = usize::try_from(u64::from_le_bytes(*at)).ok()?;
        let strength = match strength {
            [3] => Strength::Section,
            [2] => Strength::Item,
            [1] => Strength::Paragraph,
            _ => return None,
        };
        let is_line_start = at == 0 || text.as_bytes().get(at.checked_sub(1)?) == Some(&b'\n');
        places.push(CutPoint { at, strength });
        if !is_line_start || at >= text.len() {
            return None;
        }
    }
    (!places.is_empty()).then_some(places)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_as_they_were_written_and_nothing_else_is_taken() {
        let text = "a\nb\nc\n";
        let place = |at, strength| CutPoint { at, strength };
        let places =
            vec![place(0, Strength::Section), place(2, Strength::Item), place(4, Strength::Paragraph)];
        assert_eq!(decode(&encode(&places), text), Some(places));
        for at in [1, 3, 6, usize::MAX] {
            assert_eq!(decode(&encode(&[place(at, Strength::Item)]), text), None, "{at}");
        }
        assert_eq!((decode(b"", text), decode(b"12345678", text), decode(&[0; 9], text)), (None, None, None));
    }
}
