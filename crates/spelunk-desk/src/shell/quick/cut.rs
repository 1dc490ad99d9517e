//! cut: fields or bytes of every line.

use memchr::{memchr, memchr_iter};

use super::Wants;
use super::options::{Options, count};
use super::text::{Input, Output, Span, part};

/// What a command asks for.
#[derive(Debug)]
pub(super) struct Cut {
    files: Vec<String>,
    by: By,
    /// In order and without overlaps; from 0, the end is behind the last.
    ranges: Vec<(usize, usize)>,
}

#[derive(Debug)]
enum By {
    Bytes,
    Fields { delimiter: u8, delimited_only: bool },
}

impl Cut {
    pub(super) fn read(words: &[String]) -> Option<Self> {
        let options = Options::read(words, "s", "bcdf")?;
        let delimiter = match options.value('d')?.map(str::as_bytes) {
            None => b'\t',
            Some([byte]) if byte.is_ascii() && *byte != b'\n' => *byte,
            Some(_) => return None,
        };
        let (by, list) = match (options.value('f')?, options.value('b')?, options.value('c')?) {
            (Some(list), None, None) => (By::Fields { delimiter, delimited_only: options.has('s') }, list),
            (None, Some(list), None) | (None, None, Some(list))
                if options.value('d')?.is_none() && !options.has('s') =>
            {
                (By::Bytes, list)
            }
            _ => return None,
        };
        Some(Self { files: options.files(), by, ranges: ranges(list)? })
    }

    fn cut_fields(&self, line: &[u8], delimiter: u8, delimited_only: bool, out: &mut Output) -> Option<()> {
        if memchr(delimiter, line).is_none() {
            return if delimited_only { Some(()) } else { out.push_line(line) };
        }
        let ends = memchr_iter(delimiter, line).chain(std::iter::once(line.len()));
        let (mut ranges, mut start, mut is_first) = (self.ranges.iter().peekable(), 0, true);
        for (idx, end) in ends.enumerate() {
            while ranges.next_if(|(_, behind)| *behind <= idx).is_some() {}
            let Some(&&(from, _)) = ranges.peek() else { break };
            if from <= idx {
                if !std::mem::take(&mut is_first) {
                    out.push(&[delimiter])?;
                }
                out.push(part(line, start, end))?;
            }
            start = end + 1;
        }
        out.push(b"\n")
    }

    /// One part of every line, where it lies.
    fn parts(&self, input: Input, (from, to): (usize, usize), lines_max: usize) -> Vec<Span> {
        let mut parts = Vec::new();
        for span in input.spans() {
            if parts.len() >= lines_max {
                break;
            }
            let (start, end) = (span.start(), span.end());
            match self.by {
                By::Bytes => {
                    parts.push(Span::between((start + from).min(end), end.min(start.saturating_add(to))));
                }
                By::Fields { delimiter, delimited_only } => {
                    match fields(span.of(input.bytes), delimiter, (from, to)) {
                        Some((from, to)) => parts.push(Span::between(start + from, start + to)),
                        None if delimited_only => {}
                        None => parts.push(span),
                    }
                }
            }
        }
        parts
    }
}

/// Where neighbouring fields of a line begin and end; nothing if the line has no delimiter.
fn fields(line: &[u8], delimiter: u8, (from, to): (usize, usize)) -> Option<(usize, usize)> {
    let (mut n_fields, mut start) = (0, (from == 0).then_some(0));
    for at in memchr_iter(delimiter, line) {
        n_fields += 1;
        if n_fields == to {
            return Some((start.unwrap_or(at), at));
        }
        if n_fields == from {
            start = Some(at + 1);
        }
    }
    // A line that has fewer gives an empty one.
    (n_fields > 0).then_some((start.unwrap_or(line.len()), line.len()))
}

impl super::Filter for Cut {
    fn wants(&self) -> Wants<'_> {
        Wants::of(&self.files)
    }

    fn run(&self, inputs: &[Input], out: &mut Output) -> Option<()> {
        // Others count characters.
        if matches!(self.by, By::Bytes) && !inputs.iter().all(|input| input.bytes.is_ascii()) {
            return None;
        }
        if let ([input], [range]) = (inputs, self.ranges.as_slice()) {
            return out.choose(self.parts(*input, *range, out.lines_max));
        }
        for line in inputs.iter().flat_map(|input| input.lines()) {
            out.work.spend(self.ranges.len() as u64)?;
            match self.by {
                By::Bytes => {
                    for &(from, to) in &self.ranges {
                        out.push(part(line, from.min(line.len()), to))?;
                    }
                    out.push(b"\n")?;
                }
                By::Fields { delimiter, delimited_only } => {
                    self.cut_fields(line, delimiter, delimited_only, out)?;
                }
            }
        }
        Some(())
    }

    fn takes_chosen(&self) -> bool {
        true
    }
}

/// `1`, `2-4`, `-3`, `5-` and lists of them.
fn ranges(given: &str) -> Option<Vec<(usize, usize)>> {
    const RANGES_MAX: usize = 100;
    let mut ranges = Vec::new();
    for item in given.split(',').take(RANGES_MAX + 1) {
        let (first, last) = match item.split_once('-') {
            None => (count(item)?, count(item)?),
            Some(("", "")) => return None,
            Some(("", last)) => (1, count(last)?),
            Some((first, "")) => (count(first)?, usize::MAX),
            Some((first, last)) => (count(first)?, count(last)?),
        };
        if first == 0 || last < first {
            return None;
        }
        ranges.push((first - 1, last));
    }
    if ranges.len() > RANGES_MAX {
        return None;
    }
    ranges.sort_unstable();
    let mut merged: Vec<(usize, usize)> = Vec::with_capacity(ranges.len());
    for (from, to) in ranges {
        match merged.last_mut() {
            Some((_, last)) if from <= *last => *last = to.max(*last),
            _ => merged.push((from, to)),
        }
    }
    Some(merged)
}
