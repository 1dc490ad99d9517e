//! sort and uniq. Lines are compared byte by byte (`C.UTF-8`), by number, or by fields.

use std::cmp::Ordering;

use super::Wants;
use super::options::{Options, count};
use super::text::{Input, Output, lines, n_lines};

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

    fn sorted<'a>(&self, mut all: Vec<&'a [u8]>) -> Vec<&'a [u8]> {
        if self.keys.is_empty() && !self.is_numeric {
            let mut all = sorted_bytes(all);
            if self.is_reversed {
                all.reverse();
            }
            if self.is_unique {
                all.dedup();
            }
            return all;
        }
        all.sort_by(|a, b| self.compare(a, b));
        if self.is_unique {
            all.dedup_by(|later, kept| self.compare_keys(kept, later) == Ordering::Equal);
        }
        all
    }
}

impl super::Filter for Sort {
    fn wants(&self) -> Wants<'_> {
        Wants::of(&self.files)
    }

    fn run(&self, inputs: &[Input], out: &mut Output) -> Option<()> {
        let n_all: usize = inputs.iter().map(|input| n_lines(input.bytes)).sum();
        if n_all > LINES_MAX {
            return None;
        }
        let mut all = Vec::with_capacity(n_all);
        for input in inputs {
            all.extend(lines(input.bytes));
        }
        out.reserve(inputs.iter().map(|input| input.bytes.len() + 1).sum());
        self.sorted(all).into_iter().try_for_each(|line| out.push_line(line))
    }
}

fn reversed(order: Ordering, is_reversed: bool) -> Ordering {
    if is_reversed { order.reverse() } else { order }
}

/// Lines by their bytes. What all have in common is looked at once, and the eight bytes behind it are compared as one
/// number: lines of a log begin alike.
fn sorted_bytes(all: Vec<&[u8]>) -> Vec<&[u8]> {
    let Some(first) = all.first() else { return all };
    let common = all.iter().fold(first.len(), |common, line| {
        first.iter().zip(line.iter()).take(common).take_while(|(a, b)| a == b).count()
    });
    let mut keyed: Vec<(u64, &[u8])> = all.into_iter().map(|line| (head(line, common), line)).collect();
    keyed.sort_unstable_by(|(a_head, a), (b_head, b)| a_head.cmp(b_head).then_with(|| a.cmp(b)));
    keyed.into_iter().map(|(_, line)| line).collect()
}

/// The eight bytes behind `from`, as a number that sorts like them. A line that ends there is filled with zeros: it sorts
/// before longer ones or is compared again.
fn head(line: &[u8], from: usize) -> u64 {
    let rest = line.get(from..).unwrap_or_default();
    let mut bytes = [0; 8];
    for (byte, &of_line) in bytes.iter_mut().zip(rest) {
        *byte = of_line;
    }
    u64::from_be_bytes(bytes)
}

/// The number a line begins with, as `sort -n` reads it: blanks, a minus, digits and a fraction; without them it is zero.
fn compare_numbers(a: &[u8], b: &[u8]) -> Ordering {
    let (a, b) = (Number::read(a), Number::read(b));
    match (a.is_negative, b.is_negative) {
        (false, true) => Ordering::Greater,
        (true, false) => Ordering::Less,
        (false, false) => a.compare_size(&b),
        (true, true) => b.compare_size(&a),
    }
}

struct Number<'a> {
    is_negative: bool,
    /// Without the zeros in front.
    whole: &'a [u8],
    /// Without the zeros behind.
    fraction: &'a [u8],
}

impl<'a> Number<'a> {
    fn read(line: &'a [u8]) -> Self {
        let rest = line.trim_ascii_start_blanks();
        let (is_minus, rest) = match rest.strip_prefix(b"-") {
            Some(rest) => (true, rest),
            None => (false, rest),
        };
        let (whole, rest) = digits(rest);
        let fraction = rest.strip_prefix(b".").map_or(&[][..], |rest| digits(rest).0);
        let n_zeros = whole.iter().take_while(|&&digit| digit == b'0').count();
        let whole = whole.get(n_zeros..).unwrap_or_default();
        let n_kept = fraction.iter().rposition(|&digit| digit != b'0').map_or(0, |last| last + 1);
        let fraction = fraction.get(..n_kept).unwrap_or_default();
        // Minus nothing is nothing.
        Self { is_negative: is_minus && !(whole.is_empty() && fraction.is_empty()), whole, fraction }
    }

    fn compare_size(&self, other: &Self) -> Ordering {
        let by_length = self.whole.len().cmp(&other.whole.len());
        by_length.then_with(|| self.whole.cmp(other.whole)).then_with(|| self.fraction.cmp(other.fraction))
    }
}

fn digits(bytes: &[u8]) -> (&[u8], &[u8]) {
    bytes.split_at(bytes.iter().take_while(|byte| byte.is_ascii_digit()).count())
}

trait Blanks {
    fn trim_ascii_start_blanks(&self) -> &Self;
}

impl Blanks for [u8] {
    fn trim_ascii_start_blanks(&self) -> &Self {
        let n_blanks = self.iter().take_while(|byte| is_blank(**byte)).count();
        self.get(n_blanks..).unwrap_or_default()
    }
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

/// uniq: lines that are like the one before are shown once.
#[derive(Debug)]
pub(super) struct Uniq {
    files: Vec<String>,
    is_counting: bool,
    shows_single: bool,
    shows_repeated: bool,
}

impl Uniq {
    pub(super) fn read(words: &[String]) -> Option<Self> {
        let options = Options::read(words, "cdu", "")?;
        let (repeated_only, single_only) = (options.has('d'), options.has('u'));
        // A second file is where the output goes.
        let is_plain = options.operands.len() <= 1 && !(repeated_only && single_only);
        is_plain.then(|| Self {
            files: options.files(),
            is_counting: options.has('c'),
            shows_single: !repeated_only,
            shows_repeated: !single_only,
        })
    }

    fn show(&self, line: &[u8], n_times: usize, out: &mut Output) -> Option<()> {
        let is_shown = if n_times == 1 { self.shows_single } else { self.shows_repeated };
        if !is_shown {
            return Some(());
        }
        if self.is_counting {
            push_count(n_times, out)?;
        }
        out.push_line(line)
    }
}

/// A count of seven places and a space.
fn push_count(n_times: usize, out: &mut Output) -> Option<()> {
    const PLACES: usize = 7;
    let mut digits = [b' '; 21];
    let (mut rest, mut at) = (n_times, digits.len() - 1);
    loop {
        at -= 1;
        if let (Some(place), Ok(digit)) = (digits.get_mut(at), u8::try_from(rest % 10)) {
            *place = b'0' + digit;
        }
        rest /= 10;
        if rest == 0 || at == 0 {
            break;
        }
    }
    let from = at.min(digits.len() - 1 - PLACES);
    out.push(digits.get(from..).unwrap_or_default())
}

impl super::Filter for Uniq {
    fn wants(&self) -> Wants<'_> {
        Wants::of(&self.files)
    }

    fn run(&self, inputs: &[Input], out: &mut Output) -> Option<()> {
        for input in inputs {
            out.reserve(input.bytes.len());
            let mut last: Option<(&[u8], usize)> = None;
            for line in lines(input.bytes) {
                match &mut last {
                    Some((same, n_times)) if *same == line => *n_times += 1,
                    _ => {
                        if let Some((line, n_times)) = last.replace((line, 1)) {
                            self.show(line, n_times, out)?;
                        }
                    }
                }
            }
            if let Some((line, n_times)) = last {
                self.show(line, n_times, out)?;
            }
        }
        Some(())
    }
}
