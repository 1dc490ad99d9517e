//! The commands that look at nothing but lines and sizes: cat, head, tail, wc, and those that only speak.

use super::Wants;
use super::options::{Options, count};
use super::text::{Input, Output, all_bytes, n_ends, part, start_of_line};

/// cat without options.
#[derive(Debug)]
pub(super) struct Cat {
    files: Vec<String>,
}

impl Cat {
    pub(super) fn read(words: &[String]) -> Option<Self> {
        Some(Self { files: Options::read(words, "", "")?.files() })
    }
}

impl super::Filter for Cat {
    fn wants(&self) -> Wants<'_> {
        Wants::of(&self.files)
    }

    fn run(&self, inputs: &[Input], out: &mut Output) -> Option<()> {
        out.reserve(inputs.iter().map(|input| input.bytes.len()).sum());
        inputs.iter().try_for_each(|input| out.push(input.bytes))
    }
}

/// echo, true and `:`.
#[derive(Debug)]
pub(super) struct Say {
    text: String,
}

impl Say {
    pub(super) fn echo(words: &[String]) -> Option<Self> {
        // Its options, and what some take for an escape.
        let is_plain = words.iter().all(|word| !word.starts_with('-') && !word.contains('\\'));
        is_plain.then(|| Self { text: words.join(" ") + "\n" })
    }

    pub(super) fn nothing(words: &[String]) -> Option<Self> {
        words.is_empty().then(|| Self { text: String::new() })
    }
}

impl super::Filter for Say {
    fn wants(&self) -> Wants<'_> {
        Wants::Nothing
    }

    fn run(&self, _: &[Input], out: &mut Output) -> Option<()> {
        out.push(self.text.as_bytes())
    }
}

/// head and tail of one file.
#[derive(Debug)]
pub(super) struct End {
    files: Vec<String>,
    kept: Kept,
}

#[derive(Debug, Clone, Copy)]
enum Kept {
    FirstLines(usize),
    FirstBytes(usize),
    LastLines(usize),
    LastBytes(usize),
    /// From this line on, counted from 0.
    FromLine(usize),
}

impl End {
    pub(super) fn head(words: &[String]) -> Option<Self> {
        let (n_lines, words) = short_count(words);
        let options = Options::read(words, "", "nc")?;
        let kept = match (n_lines, options.value('n')?, options.value('c')?) {
            (None, None, None) => Kept::FirstLines(10),
            (Some(n_lines), None, None) => Kept::FirstLines(n_lines),
            (None, Some(n_lines), None) => Kept::FirstLines(count(n_lines)?),
            (None, None, Some(n_bytes)) => Kept::FirstBytes(count(n_bytes)?),
            _ => return None,
        };
        Self::of(kept, &options)
    }

    pub(super) fn tail(words: &[String]) -> Option<Self> {
        let (n_lines, words) = short_count(words);
        let options = Options::read(words, "", "nc")?;
        let kept = match (n_lines, options.value('n')?, options.value('c')?) {
            (None, None, None) => Kept::LastLines(10),
            (Some(n_lines), None, None) => Kept::LastLines(n_lines),
            (None, Some(n_lines), None) => match n_lines.strip_prefix('+') {
                Some(from) => Kept::FromLine(count(from)?.saturating_sub(1)),
                None => Kept::LastLines(count(n_lines)?),
            },
            (None, None, Some(n_bytes)) => Kept::LastBytes(count(n_bytes)?),
            _ => return None,
        };
        Self::of(kept, &options)
    }

    fn of(kept: Kept, options: &Options) -> Option<Self> {
        // Several files get headings.
        (options.operands.len() <= 1).then(|| Self { files: options.files(), kept })
    }
}

/// The count of `head -5`, and the words behind it.
fn short_count(words: &[String]) -> (Option<usize>, &[String]) {
    match words.split_first() {
        Some((first, rest)) => match first.strip_prefix('-').and_then(count) {
            Some(n_lines) => (Some(n_lines), rest),
            None => (None, words),
        },
        None => (None, words),
    }
}

impl super::Filter for End {
    fn wants(&self) -> Wants<'_> {
        Wants::of(&self.files)
    }

    fn run(&self, inputs: &[Input], out: &mut Output) -> Option<()> {
        let [input] = inputs else { return None };
        if let Some(lines) = input.chosen {
            let chosen = match self.kept {
                Kept::FirstLines(n) => lines.get(..n).unwrap_or(lines),
                Kept::LastLines(n) => lines.get(lines.len().saturating_sub(n)..)?,
                Kept::FromLine(idx) => lines.get(idx..).unwrap_or_default(),
                Kept::FirstBytes(_) | Kept::LastBytes(_) => return None,
            };
            return out.choose(chosen.to_vec());
        }
        let bytes = input.bytes;
        out.push(match self.kept {
            Kept::FirstLines(n) => part(bytes, 0, start_of_line(bytes, n)),
            Kept::FirstBytes(n) => part(bytes, 0, n),
            Kept::LastBytes(n) => part(bytes, bytes.len().saturating_sub(n), bytes.len()),
            Kept::FromLine(idx) => part(bytes, start_of_line(bytes, idx), bytes.len()),
            Kept::LastLines(n) => part(bytes, start_of_last_lines(bytes, n), bytes.len()),
        })
    }

    fn takes_chosen(&self) -> bool {
        matches!(self.kept, Kept::FirstLines(_) | Kept::LastLines(_) | Kept::FromLine(_))
    }

    fn lines_max(&self) -> usize {
        match self.kept {
            Kept::FirstLines(n) => n,
            Kept::FirstBytes(_) | Kept::LastBytes(_) | Kept::LastLines(_) | Kept::FromLine(_) => usize::MAX,
        }
    }
}

/// Where the last lines begin.
fn start_of_last_lines(bytes: &[u8], n_lines: usize) -> usize {
    let Some(n_before) = n_lines.checked_sub(1) else { return bytes.len() };
    // The end of the last line is not one between two lines.
    let within = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    memchr::memrchr_iter(b'\n', within).nth(n_before).map_or(0, |at| at + 1)
}

/// wc: lines, words and bytes.
#[derive(Debug)]
pub(super) struct Wc {
    files: Vec<String>,
    shows: [bool; 3],
}

impl Wc {
    pub(super) fn read(words: &[String]) -> Option<Self> {
        let options = Options::read(words, "lwc", "")?;
        let shows = [options.has('l'), options.has('w'), options.has('c')];
        let shows = if shows == [false; 3] { [true; 3] } else { shows };
        Some(Self { files: options.files(), shows })
    }

    fn counts(&self, input: Input) -> Option<[usize; 3]> {
        let [_, shows_words, _] = self.shows;
        let n_ends = input.chosen.map_or_else(|| n_ends(input.bytes), <[_]>::len);
        let n_words = match (shows_words, input.chosen) {
            (false, _) => 0,
            (true, None) => n_words(input.bytes)?,
            (true, Some(_)) => input.lines().map(n_words).sum::<Option<usize>>()?,
        };
        Some([n_ends, n_words, input.n_bytes()])
    }

    fn push(&self, counts: [usize; 3], width: usize, name: Option<&str>, out: &mut Output) -> Option<()> {
        let shown: Vec<String> = counts
            .iter()
            .zip(self.shows)
            .filter(|(_, is_shown)| *is_shown)
            .map(|(count, _)| format!("{count:>width$}"))
            .collect();
        let name = name.map(|name| format!(" {name}")).unwrap_or_default();
        out.push_line(format!("{}{name}", shown.join(" ")).as_bytes())
    }
}

impl super::Filter for Wc {
    fn wants(&self) -> Wants<'_> {
        Wants::of(&self.files)
    }

    fn run(&self, inputs: &[Input], out: &mut Output) -> Option<()> {
        // As wide as the sum of the files; a pipe is given seven places, and a number that stands alone none.
        let is_alone = inputs.len() == 1 && self.shows.iter().filter(|is_shown| **is_shown).count() == 1;
        let n_bytes: usize = inputs.iter().filter(|input| input.is_file).map(|input| input.n_bytes()).sum();
        let least = if inputs.iter().all(|input| input.is_file) { 1 } else { 7 };
        let width = if is_alone { 1 } else { n_bytes.to_string().len().max(least) };
        let mut total = [0; 3];
        for input in inputs {
            let counts = self.counts(*input)?;
            for (sum, count) in total.iter_mut().zip(counts) {
                *sum += count;
            }
            self.push(counts, width, input.name, out)?;
        }
        if inputs.len() > 1 {
            self.push(total, width, Some("total"), out)?;
        }
        Some(())
    }

    fn takes_chosen(&self) -> bool {
        true
    }
}

/// Words between spaces, for text where everybody agrees on what those are. The bytes of a block are looked at together:
/// a word begins where a space is followed by none.
fn n_words(bytes: &[u8]) -> Option<usize> {
    /// So few that a count of them fits a byte.
    const AT_ONCE: usize = 128;
    let is_space = |byte: u8| (byte == b' ') | (byte.wrapping_sub(b'\t') < 5);
    if !all_bytes(bytes, |byte| is_space(byte) | (byte.wrapping_sub(0x21) < 0x5e)) {
        return None;
    }
    let begins = |before: u8, byte: u8| u8::from(is_space(before) & !is_space(byte));
    let mut n_words = usize::from(bytes.first().is_some_and(|&first| !is_space(first)));
    let behind = bytes.get(1..).unwrap_or_default();
    for (before, here) in bytes.chunks(AT_ONCE).zip(behind.chunks(AT_ONCE)) {
        n_words += usize::from(before.iter().zip(here).map(|(&a, &b)| begins(a, b)).sum::<u8>());
    }
    Some(n_words)
}
