//! grep: the lines that match, all of a file searched in one piece.

use memchr::{memchr, memrchr};

use super::Wants;
use super::options::{Options, count};
use super::pattern::{Backslash, Manner, Pattern, Syntax};
use super::text::{Input, Output, Span, n_ends, part};

/// What a command asks for.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command")]
pub(super) struct Grep {
    pattern: Pattern,
    files: Vec<String>,
    is_inverted: bool,
    is_counting: bool,
    is_numbered: bool,
    is_named: bool,
    is_listing: bool,
    is_quiet: bool,
    only_matches: bool,
    lines_max: usize,
}

impl Grep {
    pub(super) fn read(words: &[String], syntax: Syntax) -> Option<Self> {
        let options = Options::read(words, "EFGivcnohHlqsxa", "em")?;
        let syntax = match (options.has('E'), options.has('F'), options.has('G')) {
            (false, false, false) => syntax,
            (true, false, false) => Syntax::Extended,
            (false, true, false) => Syntax::Fixed,
            (false, false, true) => Syntax::Basic,
            _ => return None,
        };
        let mut files = options.files();
        let pattern = match options.value('e')? {
            Some(pattern) => pattern.to_owned(),
            None if files.is_empty() => return None,
            None => files.remove(0),
        };
        // Where nothing can be found, nothing is counted either.
        if pattern.is_empty() && options.has('v') {
            return None;
        }
        let manner = Manner {
            syntax,
            ignore_case: options.has('i'),
            whole_line: options.has('x'),
            in_brackets: Backslash::Member,
        };
        let is_named = match (options.has('H'), options.has('h')) {
            (true, true) => return None,
            (true, false) => true,
            (false, true) => false,
            (false, false) => files.len() > 1,
        };
        let grep = Self {
            pattern: Pattern::compile(&pattern, manner)?,
            is_inverted: options.has('v'),
            is_counting: options.has('c'),
            is_numbered: options.has('n'),
            is_named,
            is_listing: options.has('l'),
            is_quiet: options.has('q'),
            only_matches: options.has('o'),
            lines_max: options.value('m')?.map_or(Some(usize::MAX), count)?,
            files,
        };
        grep.is_plain().then_some(grep)
    }

    /// Whether these options go together in a way that everybody knows.
    fn is_plain(&self) -> bool {
        let by_name = self.is_named || self.is_listing;
        let is_odd = self.only_matches && (self.is_inverted || !self.pattern.is_longest)
            || by_name && (self.files.is_empty() || self.files.iter().any(|name| name == "-"))
            || self.is_listing && (self.is_counting || self.is_quiet)
            || self.lines_max == 0;
        !is_odd
    }

    /// Searches one input; whether a line was taken.
    fn search(&self, input: Input, out: &mut Output) -> Option<bool> {
        let (mut n_taken, mut line, mut counted_to) = (0, 1, 0);
        let is_showing = !(self.is_counting || self.is_listing || self.is_quiet);
        // One line decides for those.
        let lines_max = if self.is_listing || self.is_quiet { 1 } else { self.lines_max };
        let mut lines = self.lines(input);
        if !is_showing {
            while n_taken < lines_max && lines.skip_one().is_some() {
                n_taken += 1;
            }
        }
        while is_showing && n_taken < lines_max {
            let Some((start, end)) = lines.next() else { break };
            n_taken += 1;
            if self.is_numbered {
                line += n_ends(part(input.bytes, counted_to, start));
                counted_to = start;
            }
            self.show(input, (start, end), line, out)?;
        }
        let name = input.name.unwrap_or_default().as_bytes();
        if self.is_counting && !self.is_quiet {
            self.push_name(name, out)?;
            out.push_line(n_taken.to_string().as_bytes())?;
        } else if self.is_listing && n_taken > 0 {
            out.push_line(name)?;
        }
        Some(n_taken > 0)
    }

    fn lines<'a>(&'a self, input: Input<'a>) -> Lines<'a> {
        let is_inverted = self.is_inverted;
        Lines { pattern: &self.pattern, bytes: input.bytes, at: 0, is_inverted, next: None }
    }

    /// The lines, or what matches in them, where they lie in the only input.
    fn choose(&self, input: Input, out: &mut Output) -> Option<bool> {
        let mut chosen = Vec::new();
        let mut is_found = false;
        if self.only_matches {
            let mut at = 0;
            while let Some((start, end)) = self.pattern.find(input.bytes, at) {
                // An empty match counts where there is a line.
                is_found |= start < input.bytes.len();
                if chosen.len() >= out.lines_max || start >= input.bytes.len() {
                    break;
                }
                if end > start {
                    chosen.push(Span::between(start, end));
                }
                // Behind an empty match the search goes on with the next character.
                at = if end > start { end } else { next_char(input.bytes, end) };
            }
        } else {
            let lines_max = self.lines_max.min(out.lines_max.max(1));
            chosen.extend(self.lines(input).take(lines_max).map(|(start, end)| Span::between(start, end)));
            is_found = !chosen.is_empty();
            chosen.truncate(out.lines_max);
        }
        out.choose(chosen)?;
        Some(is_found)
    }

    fn show(&self, input: Input, (start, end): (usize, usize), line: usize, out: &mut Output) -> Option<()> {
        let prefix = |out: &mut Output| {
            self.push_name(input.name.unwrap_or_default().as_bytes(), out)?;
            if self.is_numbered {
                out.push(line.to_string().as_bytes())?;
                out.push(b":")?;
            }
            Some(())
        };
        let text = part(input.bytes, start, end);
        if !self.only_matches {
            prefix(out)?;
            return out.push_line(text);
        }
        for found in self.pattern.regex.find_iter(text).filter(|found| !found.is_empty()) {
            prefix(out)?;
            out.push_line(found.as_bytes())?;
        }
        Some(())
    }

    fn push_name(&self, name: &[u8], out: &mut Output) -> Option<()> {
        if self.is_named {
            out.push(name)?;
            out.push(b":")?;
        }
        Some(())
    }
}

impl super::Filter for Grep {
    fn wants(&self) -> Wants<'_> {
        Wants::of(&self.files)
    }

    fn n_pattern_parts(&self) -> u64 {
        self.pattern.n_parts()
    }

    fn run(&self, inputs: &[Input], out: &mut Output) -> Option<()> {
        for input in inputs {
            if !self.pattern.suits(input.bytes) {
                return None;
            }
            self.pattern.spend(input.bytes.len(), &mut out.work)?;
        }
        let is_bare =
            !(self.is_numbered || self.is_named || self.is_counting || self.is_listing || self.is_quiet);
        let has_no_limit = !self.only_matches || self.lines_max == usize::MAX;
        let mut is_found = false;
        if let (&[input], true, true) = (inputs, is_bare, has_no_limit) {
            is_found = self.choose(input, out)?;
        } else {
            for &input in inputs {
                is_found |= self.search(input, out)?;
                if is_found && self.is_quiet {
                    break;
                }
            }
        }
        out.exit_code = i32::from(!is_found);
        Some(())
    }
}

/// The lines that match, or those that do not, as places in a text.
struct Lines<'a> {
    pattern: &'a Pattern,
    bytes: &'a [u8],
    at: usize,
    is_inverted: bool,
    /// The next line that matches, where it is known already.
    next: Option<(usize, usize)>,
}

impl Iterator for Lines<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<(usize, usize)> {
        if !self.is_inverted {
            let (start, end) = self.matching()?;
            self.at = end + 1;
            return Some((start, end));
        }
        while self.at < self.bytes.len() {
            let matching = match self.next {
                Some(next) => next,
                None => *self.next.insert(self.matching().unwrap_or((usize::MAX, usize::MAX))),
            };
            if matching.0 == self.at {
                self.next = None;
                self.at = matching.1 + 1;
                continue;
            }
            let (start, end) = (self.at, end_of_line(self.bytes, self.at));
            self.at = end + 1;
            return Some((start, end));
        }
        None
    }
}

impl Lines<'_> {
    /// Passes over one line without looking where it begins.
    fn skip_one(&mut self) -> Option<()> {
        if self.is_inverted {
            return self.next().map(drop);
        }
        self.at = end_of_line(self.bytes, self.found()?) + 1;
        Some(())
    }

    fn matching(&self) -> Option<(usize, usize)> {
        let found = self.found()?;
        let start =
            memrchr(b'\n', part(self.bytes, self.at, found)).map_or(self.at, |before| self.at + before + 1);
        Some((start, end_of_line(self.bytes, found)))
    }

    /// A place in the next line that matches.
    fn found(&self) -> Option<usize> {
        if self.at >= self.bytes.len() {
            return None;
        }
        let found = self.pattern.find_line(self.bytes, self.at)?;
        // Behind the last line end there is no line.
        (found < self.bytes.len() || self.bytes.last() != Some(&b'\n')).then_some(found)
    }
}

fn end_of_line(bytes: &[u8], from: usize) -> usize {
    memchr(b'\n', part(bytes, from, bytes.len())).map_or(bytes.len(), |at| from + at)
}

/// Behind the character at a place of a text.
fn next_char(bytes: &[u8], at: usize) -> usize {
    let is_within = |byte: &&u8| **byte & 0b1100_0000 == 0b1000_0000;
    at + 1 + part(bytes, at + 1, bytes.len()).iter().take_while(is_within).count()
}
