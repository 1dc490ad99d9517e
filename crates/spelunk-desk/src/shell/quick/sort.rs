//! sort. Lines are compared byte by byte (`C.UTF-8`), by number, or by fields.

mod number;
mod order;

use std::cmp::Ordering;

use self::number::{Number, compare_numbers};
use super::Wants;
use super::options::{Options, count};
use super::text::{Input, Output, Span, write_lines};

/// Lines that are sorted at once.
const LINES_MAX: usize = 2_000_000;
/// The most keys of one command.
const KEYS_MAX: usize = 8;

/// What a command asks for.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command")]
pub(super) struct Sort {
    files: Vec<String>,
    keys: Vec<Key>,
    separator: Option<u8>,
    is_numeric: bool,
    is_reversed: bool,
    is_unique: bool,
    is_stable: bool,
}

/// A part of a line that is compared.
#[derive(Debug, Clone, Copy)]
struct Key {
    /// Fields, from 0; the end is behind the last one.
    first: usize,
    end: Option<usize>,
    is_numeric: bool,
    is_reversed: bool,
}

impl Sort {
    pub(super) fn read(words: &[String]) -> Option<Self> {
        let options = Options::read(words, "nrus", "kt")?;
        let separator = match options.value('t')?.map(str::as_bytes) {
            None => None,
            Some([byte]) if byte.is_ascii() => Some(*byte),
            Some(_) => return None,
        };
        let (is_numeric, is_reversed) = (options.has('n'), options.has('r'));
        let keys: Vec<Key> =
            options.values('k').map(|key| Key::read(key, is_numeric, is_reversed)).collect::<Option<_>>()?;
        (keys.len() <= KEYS_MAX).then(|| Self {
            files: options.files(),
            keys,
            separator,
            is_numeric,
            is_reversed,
            is_unique: options.has('u'),
            is_stable: options.has('s'),
        })
    }

    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        let by_keys = self.compare_keys(a, b);
        if by_keys != Ordering::Equal || self.is_unique || self.is_stable {
            return by_keys;
        }
        // The last word is the whole line.
        reversed(a.cmp(b), self.is_reversed)
    }

    fn compare_keys(&self, a: &[u8], b: &[u8]) -> Ordering {
        if self.keys.is_empty() {
            let order = if self.is_numeric { compare_numbers(a, b) } else { a.cmp(b) };
            return reversed(order, self.is_reversed);
        }
        for key in &self.keys {
            let (a, b) = (key.part(a, self.separator), key.part(b, self.separator));
            let order = if key.is_numeric { compare_numbers(a, b) } else { a.cmp(b) };
            if order != Ordering::Equal {
                return reversed(order, key.is_reversed);
            }
        }
        Ordering::Equal
    }

    /// The lines of a text in order.
    fn sorted(&self, bytes: &[u8], mut lines: Vec<Span>) -> Vec<Span> {
        let is_whole = self.keys.is_empty() && !self.is_numeric;
        if is_whole {
            lines = order::by_bytes(bytes, lines);
            if self.is_reversed {
                lines.reverse();
            }
        } else {
            lines = self.sorted_by_keys(bytes, lines);
        }
        if self.is_unique {
            let is_same = |a: &[u8], b: &[u8]| self.compare_keys(a, b) == Ordering::Equal;
            lines.dedup_by(|later, kept| is_same(kept.of(bytes), later.of(bytes)));
        }
        lines
    }

    /// The first key decides nearly always: a number made of it once is compared first.
    fn sorted_by_keys(&self, bytes: &[u8], lines: Vec<Span>) -> Vec<Span> {
        let whole = Key { first: 0, end: None, is_numeric: self.is_numeric, is_reversed: self.is_reversed };
        let first = self.keys.first().copied().unwrap_or(whole);
        let digest = |line: &Span| {
            let key = if self.keys.is_empty() {
                line.of(bytes)
            } else {
                first.part(line.of(bytes), self.separator)
            };
            if first.is_numeric { Number::read(key).digest() } else { Some(order::head(key, 0)) }
        };
        let (mut keyed, mut is_decided) = (Vec::with_capacity(lines.len()), true);
        for line in lines {
            let digest = digest(&line);
            // Nothing is decided ahead where a number is too long for it.
            is_decided &= digest.is_some();
            keyed.push((digest.unwrap_or_default(), line));
        }
        if is_decided && first.is_numeric && self.keys.len() <= 1 {
            return self.sorted_by_numbers(bytes, keyed, first.is_reversed);
        }
        keyed.sort_by(|(a_digest, a), (b_digest, b)| {
            let ahead = if is_decided { a_digest.cmp(b_digest) } else { Ordering::Equal };
            match reversed(ahead, first.is_reversed) {
                Ordering::Equal => self.compare(a.of(bytes), b.of(bytes)),
                decided @ (Ordering::Less | Ordering::Greater) => decided,
            }
        });
        keyed.into_iter().map(|(_, line)| line).collect()
    }
}

impl Sort {
    /// By one number each: lines of the same number are put in order among themselves.
    fn sorted_by_numbers(&self, bytes: &[u8], mut keyed: Vec<(u64, Span)>, is_reversed: bool) -> Vec<Span> {
        keyed.sort_by(|(a, _), (b, _)| reversed(a.cmp(b), is_reversed));
        let mut sorted = Vec::with_capacity(keyed.len());
        for run in keyed.chunk_by(|(a, _), (b, _)| a == b) {
            let mut lines: Vec<Span> = run.iter().map(|(_, line)| *line).collect();
            if !self.is_unique && !self.is_stable && lines.len() > 1 {
                lines = order::by_bytes(bytes, lines);
                if self.is_reversed {
                    lines.reverse();
                }
            }
            sorted.extend(lines);
        }
        sorted
    }
}

impl super::Filter for Sort {
    fn wants(&self) -> Wants<'_> {
        Wants::of(&self.files)
    }

    fn run(&self, inputs: &[Input], out: &mut Output) -> Option<()> {
        let n_lines = inputs.iter().map(|input| input.n_lines()).sum::<usize>();
        if n_lines > LINES_MAX {
            return None;
        }
        // Each line is compared about so many times, and for each key it is gone over.
        let n_times = u64::from(n_lines.max(1).ilog2() + 1) * (self.keys.len() as u64 + 1);
        out.work.spend((n_lines as u64).saturating_mul(n_times))?;
        out.work.spend_bytes(inputs.iter().map(|input| input.n_bytes()).sum(), n_times)?;
        if let [input] = inputs {
            return out.choose(self.sorted(input.bytes, input.spans().collect()));
        }
        let mut all = Vec::new();
        for input in inputs {
            let lines: Vec<Span> = input.spans().collect();
            write_lines(&lines, input.bytes, &mut all);
        }
        let whole = Input { name: None, bytes: &all, chosen: None, is_file: false };
        let lines = self.sorted(&all, whole.spans().collect());
        out.reserve(all.len());
        lines.into_iter().try_for_each(|line| out.push_line(line.of(&all)))
    }

    fn takes_chosen(&self) -> bool {
        true
    }
}

fn reversed(order: Ordering, is_reversed: bool) -> Ordering {
    if is_reversed { order.reverse() } else { order }
}

fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

impl Key {
    /// `2`, `2,2`, `2n`, `2,3nr`. Letters of a key stand for those of the command.
    fn read(text: &str, is_numeric: bool, is_reversed: bool) -> Option<Self> {
        let (numbers, letters) =
            text.split_at(text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len()));
        if letters.chars().any(|letter| !matches!(letter, 'n' | 'r')) {
            return None;
        }
        let (first, last) = match numbers.split_once(',') {
            None => (count(numbers)?, None),
            Some((first, last)) => (count(first)?, Some(count(last)?)),
        };
        let inherits = letters.is_empty();
        Some(Self {
            first: first.checked_sub(1)?,
            // Field 0 as an end means another thing.
            end: last
                .map(|last| if last == 0 { None } else { Some(last) })
                .map_or(Some(None), |end| end.map(Some))?,
            is_numeric: if inherits { is_numeric } else { letters.contains('n') },
            is_reversed: if inherits { is_reversed } else { letters.contains('r') },
        })
    }

    fn part<'a>(&self, line: &'a [u8], separator: Option<u8>) -> &'a [u8] {
        let start = start_of_field(line, self.first, separator);
        let end = match self.end {
            None => line.len(),
            Some(end) => end_of_field(line, end, separator),
        };
        line.get(start..end).unwrap_or_default()
    }
}

/// Where field `idx` begins. Without a separator a field begins with the blanks in front of it.
fn start_of_field(line: &[u8], idx: usize, separator: Option<u8>) -> usize {
    let mut at = 0;
    for _ in 0..idx {
        match separator {
            Some(separator) => match memchr::memchr(separator, line.get(at..).unwrap_or_default()) {
                Some(found) => at += found + 1,
                None => return line.len(),
            },
            None if at == line.len() => return at,
            None => at = behind_field(line, at),
        }
    }
    at
}

/// Where the field before `end` ends.
fn end_of_field(line: &[u8], end: usize, separator: Option<u8>) -> usize {
    match separator {
        Some(separator) => {
            let start = start_of_field(line, end - 1, Some(separator));
            memchr::memchr(separator, line.get(start..).unwrap_or_default())
                .map_or(line.len(), |found| start + found)
        }
        None => start_of_field(line, end, None),
    }
}

fn behind_field(line: &[u8], at: usize) -> usize {
    let rest = line.get(at..).unwrap_or_default();
    let n_blanks = rest.iter().take_while(|byte| is_blank(**byte)).count();
    let n_others = rest.iter().skip(n_blanks).take_while(|byte| !is_blank(**byte)).count();
    at + n_blanks + n_others
}
