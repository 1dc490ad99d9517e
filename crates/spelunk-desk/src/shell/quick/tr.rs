//! tr: bytes in place of others, taken away or squeezed together. Only sets of ASCII: the bytes of other characters are
//! never in one, and are left alone.

use super::Wants;
use super::options::Options;
use super::text::{Input, Output};

/// What a command asks for.
#[derive(Debug)]
pub(super) struct Tr {
    becomes: [u8; 256],
    is_deleted: [bool; 256],
    is_squeezed: [bool; 256],
    is_ascii_only: bool,
    shift: Option<Shift>,
}

impl Tr {
    pub(super) fn read(words: &[String]) -> Option<Self> {
        let options = Options::read(words, "cCds", "")?;
        let (deletes, squeezes) = (options.has('d'), options.has('s'));
        let is_complement = options.has('c') || options.has('C');
        let sets: Vec<Vec<u8>> = options.operands.iter().map(|set| bytes_of(set)).collect::<Option<_>>()?;
        let mut tr = Self {
            becomes: std::array::from_fn(|byte| u8::try_from(byte).unwrap_or_default()),
            is_deleted: [false; 256],
            is_squeezed: [false; 256],
            is_ascii_only: is_complement,
            shift: None,
        };
        let members = |set: &[u8]| -> [bool; 256] {
            std::array::from_fn(|byte| {
                u8::try_from(byte).is_ok_and(|byte| set.contains(&byte)) != is_complement
            })
        };
        match (deletes, squeezes, sets.as_slice()) {
            (true, false, [set]) => tr.is_deleted = members(set),
            (false, true, [set]) => tr.is_squeezed = members(set),
            // All that is not in the set becomes one byte; more would be in an order of its own.
            (false, squeezes, [_, to]) if is_complement && to.len() == 1 => {
                let (members, to) = (members(sets.first()?), *to.first()?);
                for (becomes, _) in tr.becomes.iter_mut().zip(members).filter(|(_, is_in)| *is_in) {
                    *becomes = to;
                }
                *tr.is_squeezed.get_mut(usize::from(to))? = squeezes;
            }
            (false, squeezes, [from, to]) if !is_complement && !to.is_empty() && suits(&options.operands) => {
                let last = *to.last()?;
                for (idx, &byte) in from.iter().enumerate() {
                    *tr.becomes.get_mut(usize::from(byte))? = to.get(idx).copied().unwrap_or(last);
                }
                if squeezes {
                    tr.is_squeezed =
                        std::array::from_fn(|byte| u8::try_from(byte).is_ok_and(|byte| to.contains(&byte)));
                }
            }
            _ => return None,
        }
        tr.shift = Shift::of(&tr.becomes);
        Some(tr)
    }
}

impl super::Filter for Tr {
    fn wants(&self) -> Wants<'_> {
        Wants::Stdin
    }

    fn run(&self, inputs: &[Input], out: &mut Output) -> Option<()> {
        for input in inputs {
            if self.is_ascii_only && !input.bytes.is_ascii() {
                return None;
            }
            out.reserve(input.bytes.len());
            out.push(input.bytes)?;
            let from = out.bytes.len() - input.bytes.len();
            let bytes = out.bytes.get_mut(from..)?;
            match self.shift {
                // A range that moves by the same distance needs no table.
                Some(Shift { first, n_bytes, by }) => {
                    for byte in bytes {
                        let is_in = byte.wrapping_sub(first) < n_bytes;
                        *byte = byte.wrapping_add(if is_in { by } else { 0 });
                    }
                }
                None => {
                    for byte in bytes {
                        *byte = self.becomes.get(usize::from(*byte)).copied().unwrap_or(*byte);
                    }
                }
            }
            self.take_away(&mut out.bytes, from);
        }
        Some(())
    }
}

impl Tr {
    /// Takes away what is deleted, and what is squeezed, from a place on.
    fn take_away(&self, bytes: &mut Vec<u8>, from: usize) {
        if !self.is_deleted.contains(&true) && !self.is_squeezed.contains(&true) {
            return;
        }
        let is_in = |set: &[bool; 256], byte: u8| set.get(usize::from(byte)).copied().unwrap_or_default();
        let (mut kept, mut last) = (from, None);
        for idx in from..bytes.len() {
            let Some(&byte) = bytes.get(idx) else { break };
            let is_again = last == Some(byte) && is_in(&self.is_squeezed, byte);
            if !is_in(&self.is_deleted, byte) && !is_again {
                if let Some(place) = bytes.get_mut(kept) {
                    *place = byte;
                }
                kept += 1;
                last = Some(byte);
            }
        }
        bytes.truncate(kept);
    }
}

/// Neighbouring bytes that all become others at the same distance.
#[derive(Debug, Clone, Copy)]
struct Shift {
    first: u8,
    n_bytes: u8,
    by: u8,
}

impl Shift {
    /// What a table does, if it is no more than that.
    fn of(becomes: &[u8; 256]) -> Option<Self> {
        let changed = || (0..=255_u8).zip(becomes).filter(|(byte, becomes)| byte != *becomes);
        let (first, last) = (changed().next()?.0, changed().next_back()?.0);
        let by = changed().next()?.1.wrapping_sub(first);
        let n_bytes = (last - first).checked_add(1)?;
        let is_even = changed().all(|(byte, becomes)| becomes.wrapping_sub(byte) == by);
        (is_even && changed().count() == usize::from(n_bytes)).then_some(Self { first, n_bytes, by })
    }
}

/// Whether the second set is one that may stand there: of the classes only the one for the other case.
fn suits(sets: &[&str]) -> bool {
    match sets {
        ["[:lower:]", "[:upper:]"] | ["[:upper:]", "[:lower:]"] => true,
        [_, to] => !to.contains("[:"),
        _ => false,
    }
}

/// The bytes of a set in order: characters, ranges, `\n`, `\t`, `\\`, and the classes whose order is known.
fn bytes_of(set: &str) -> Option<Vec<u8>> {
    if !set.is_ascii() {
        return None;
    }
    let (mut rest, mut bytes) = (set.as_bytes(), Vec::new());
    while let [first, behind @ ..] = rest {
        if let Some((class, behind)) = named(rest) {
            bytes.extend(class);
            rest = behind;
            continue;
        }
        // `[=a=]`, `[a*3]` and classes that are not known.
        if *first == b'[' && behind.len() > 1 {
            return None;
        }
        let (from, behind) = one(rest)?;
        match behind {
            [b'-', _, ..] => {
                let (to, behind) = one(behind.get(1..)?)?;
                if to < from {
                    return None;
                }
                bytes.extend(from..=to);
                rest = behind;
            }
            _ => {
                bytes.push(from);
                rest = behind;
            }
        }
    }
    Some(bytes)
}

fn one(rest: &[u8]) -> Option<(u8, &[u8])> {
    match rest {
        [b'\\', b'n', behind @ ..] => Some((b'\n', behind)),
        [b'\\', b't', behind @ ..] => Some((b'\t', behind)),
        [b'\\', b'\\', behind @ ..] => Some((b'\\', behind)),
        [b'\\', ..] | [] => None,
        [byte, behind @ ..] => Some((*byte, behind)),
    }
}

type IsIn = fn(&u8) -> bool;

fn named(rest: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let all = 0..=127_u8;
    let classes: [(&[u8], IsIn); 6] = [
        (b"[:lower:]", u8::is_ascii_lowercase),
        (b"[:upper:]", u8::is_ascii_uppercase),
        (b"[:digit:]", u8::is_ascii_digit),
        (b"[:alpha:]", u8::is_ascii_alphabetic),
        (b"[:alnum:]", u8::is_ascii_alphanumeric),
        (b"[:punct:]", u8::is_ascii_punctuation),
    ];
    classes
        .iter()
        .find_map(|(name, is_in)| Some((all.clone().filter(is_in).collect(), rest.strip_prefix(*name)?)))
}
