//! awk: programs that pick fields, filter, count and add up, which is nearly all that is written on a command line. A program
//! with anything else in it (its own functions, loops that count, files) is left to the interpreter, and so is
//! a text or a number on which awks do not agree.

mod format;
mod lex;
mod order;
mod parse;
mod run;
mod tree;
mod value;

use self::parse::Parsed;
use self::run::Machine;
use self::tree::{Expr, Rule, Statement};
use super::Wants;
use super::options::Options;
use super::text::{Input, Output, Span, all_bytes};

/// What a command asks for.
#[derive(Debug)]
pub(super) struct Awk {
    files: Vec<String>,
    separator: Option<u8>,
    output_separator: String,
    parsed: Parsed,
    /// The values of what is set from outside.
    given: Vec<String>,
}

impl Awk {
    pub(super) fn read(words: &[String]) -> Option<Self> {
        let options = Options::read(words, "", "Fv")?;
        let mut files = options.files();
        let program = if files.is_empty() { return None } else { files.remove(0) };
        // An assignment may stand between the files, and what looks like an option there is none.
        let behind = words.iter().skip_while(|word| **word != program).skip(1);
        if behind.clone().any(|word| word.contains('=') || word.starts_with('-')) {
            return None;
        }
        let (mut names, mut given, mut output_separator) = (Vec::new(), Vec::new(), None);
        let mut field_separator =
            options.value('F')?.map(unescaped).map_or(Some(None), |text| text.map(Some))?;
        for assignment in options.values('v') {
            let (name, value) = assignment.split_once('=')?;
            let value = unescaped(value)?;
            match name {
                "OFS" => output_separator = Some(value),
                "FS" => field_separator = Some(value),
                name => {
                    names.push(name);
                    given.push(value);
                }
            }
        }
        let mut parsed = parse::parse(&program, &names)?;
        let field_separator = parsed.field_separator.take().or(field_separator);
        let output_separator = parsed.output_separator.take().or(output_separator);
        Some(Self {
            files,
            separator: field_separator.map_or(Some(None), |text| separator(&text))?,
            output_separator: output_separator.unwrap_or_else(|| " ".to_owned()),
            parsed,
            given,
        })
    }

    /// The one field of each line that is printed, and on which lines, where that is all.
    fn single(&self) -> Option<(usize, &Rule)> {
        let program = &self.parsed.program;
        let ([rule], true, false) = (program.rules.as_slice(), program.first.is_empty(), program.has_last)
        else {
            return None;
        };
        match (rule.body.as_slice(), &rule.condition) {
            ([Statement::Print(items)], None | Some(Expr::Matches { .. })) => match items.as_slice() {
                [] | [Expr::Line] => Some((0, rule)),
                [Expr::Field(idx)] => Some((*idx, rule)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Chooses fields where they lie.
    fn choose(&self, input: Input, idx: usize, rule: &Rule, out: &mut Output) -> Option<()> {
        let pattern = match &rule.condition {
            None => None,
            Some(Expr::Matches { text, pattern, is_negated: false }) if matches!(**text, Expr::Line) => {
                Some(pattern)
            }
            Some(_) => return None,
        };
        if let Some(pattern) = pattern {
            pattern.spend(input.n_bytes(), &mut out.work)?;
        }
        let mut chosen = Vec::new();
        for span in input.spans() {
            if chosen.len() >= out.lines_max {
                break;
            }
            out.work.spend(1)?;
            let line = span.of(input.bytes);
            if pattern.is_some_and(|pattern| pattern.find_line(line, 0).is_none()) {
                continue;
            }
            chosen.push(match idx.checked_sub(1) {
                None => span,
                Some(idx) => {
                    let (from, to) = field(line, self.separator, idx);
                    Span::between(span.start() + from, span.start() + to)
                }
            });
        }
        out.choose(chosen)
    }
}

impl super::Filter for Awk {
    fn wants(&self) -> Wants<'_> {
        let program = &self.parsed.program;
        if program.rules.is_empty() && !program.has_last { Wants::Nothing } else { Wants::of(&self.files) }
    }

    fn n_pattern_parts(&self) -> u64 {
        self.parsed.n_pattern_parts
    }

    fn run(&self, inputs: &[Input], out: &mut Output) -> Option<()> {
        // Which of the other spaces part fields, and what a character is, differs.
        let is_plain = |byte: u8| (byte == b'\t') | ((byte == b'\n') | (byte.wrapping_sub(b' ') < 0x5f));
        if !inputs.iter().all(|input| all_bytes(input.bytes, is_plain)) {
            return None;
        }
        if let (&[input], Some((idx, rule))) = (inputs, self.single())
            && self.choose(input, idx, rule, out).is_some()
        {
            return Some(());
        }
        let mut machine =
            Machine::new(&self.parsed.program, self.separator, self.output_separator.as_bytes(), out);
        for (scalar, value) in self.parsed.given.iter().zip(&self.given) {
            machine.set(*scalar, value)?;
        }
        machine.begin()?;
        for input in inputs {
            machine.begin_file();
            for line in input.lines() {
                machine.line(line)?;
            }
        }
        machine.end()
    }

    fn takes_chosen(&self) -> bool {
        true
    }
}

/// Where a field begins and ends, counted from 0; empty if it is not there.
fn field(line: &[u8], separator: Option<u8>, idx: usize) -> (usize, usize) {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let mut at = 0;
    for n_before in 0..=idx {
        let rest = line.get(at..).unwrap_or_default();
        let (start, end) = match separator {
            Some(separator) => (0, rest.iter().position(|byte| *byte == separator)),
            None => {
                let Some(start) = rest.iter().position(|byte| !is_blank(byte)) else { break };
                (start, rest.iter().skip(start).position(is_blank).map(|n_bytes| start + n_bytes))
            }
        };
        if n_before == idx {
            return (at + start, at + end.unwrap_or(rest.len()));
        }
        let Some(end) = end else { break };
        at += end + 1;
    }
    (0, 0)
}

/// What a text from outside means: `\t` is a tab, and other escapes are left alone.
fn unescaped(text: &str) -> Option<String> {
    match text {
        "\\t" => Some("\t".to_owned()),
        text => (text.is_ascii() && !text.contains(['\\', '\n'])).then(|| text.to_owned()),
    }
}

/// A separator of one byte; the inner is nothing for blanks.
#[expect(clippy::option_option, reason = "the outer one is the refusal")]
fn separator(text: &str) -> Option<Option<u8>> {
    match text.as_bytes() {
        b" " => Some(None),
        b"\t" => Some(Some(b'\t')),
        [byte] if byte.is_ascii_punctuation() && !matches!(byte, b'\\' | b'^') => Some(Some(*byte)),
        _ => None,
    }
}
