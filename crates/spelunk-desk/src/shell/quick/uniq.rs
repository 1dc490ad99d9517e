//! uniq: lines that are like the one before are shown once.

use std::iter::Peekable;

use super::Wants;
use super::options::Options;
use super::text::{Input, Output, Span, Spans};

/// What a command asks for.
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

    fn is_shown(&self, n_times: usize) -> bool {
        if n_times == 1 { self.shows_single } else { self.shows_repeated }
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

    fn takes_chosen(&self) -> bool {
        true
    }

    fn run(&self, inputs: &[Input], out: &mut Output) -> Option<()> {
        let [input] = inputs else { return None };
        let mut chosen = Vec::new();
        let mut n_shown = 0;
        for (line, n_times) in (Runs { bytes: input.bytes, spans: input.spans().peekable() }) {
            if n_shown >= out.lines_max {
                break;
            }
            if !self.is_shown(n_times) {
                continue;
            }
            n_shown += 1;
            if self.is_counting {
                push_count(n_times, out)?;
                out.push_line(line.of(input.bytes))?;
            } else {
                chosen.push(line);
            }
        }
        if self.is_counting { Some(()) } else { out.choose(chosen) }
    }
}

/// Lines with how many times each stands there in a row.
struct Runs<'a> {
    bytes: &'a [u8],
    spans: Peekable<Spans<'a>>,
}

impl Iterator for Runs<'_> {
    type Item = (Span, usize);

    fn next(&mut self) -> Option<(Span, usize)> {
        let first = self.spans.next()?;
        let text = first.of(self.bytes);
        let mut n_times = 1;
        while self.spans.next_if(|span| span.of(self.bytes) == text).is_some() {
            n_times += 1;
        }
        Some((first, n_times))
    }
}
