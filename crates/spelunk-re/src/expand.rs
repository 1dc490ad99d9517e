//! Replacements as `re.sub` accepts them: text with references to groups.

use crate::parse::{Digits, Source, Token, digits, is_identifier, octal, simple};
use crate::{Parsed, PatternFault};

/// A replacement, parsed for one pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replacement {
    parts: Vec<ReplacementPart>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum ReplacementPart {
    Text(String),
    Group(usize),
}

impl Replacement {
    /// Parses a replacement such as `\g<name>: \1`.
    pub fn parse(template: &str, pattern: &Parsed) -> Result<Self, PatternFault> {
        let mut source = Source::new(template)?;
        let mut replacement = Self { parts: Vec::new() };
        while let Some(token) = source.get()? {
            match token {
                Token::Char(c) => replacement.push(c),
                Token::Escape('g') => {
                    let idx = named_group(&mut source, pattern)?;
                    replacement.parts.push(ReplacementPart::Group(idx));
                }
                Token::Escape('0') => replacement.push(octal(&mut source, '0')?),
                Token::Escape(first @ '1'..='9') => match digits(&mut source, first)? {
                    Digits::Octal(c) => replacement.push(c),
                    Digits::Group(idx, n_digits) => {
                        let idx = known_group(&source, idx, n_digits, pattern)?;
                        replacement.parts.push(ReplacementPart::Group(idx));
                    }
                },
                Token::Escape(c) => match simple(c) {
                    Some(c) => replacement.push(c),
                    // `\b` is a backspace here, because a replacement has no word boundaries.
                    None if c == 'b' => replacement.push('\x08'),
                    None if c.is_ascii_alphabetic() => {
                        return Err(source.fault(format!("bad escape \\{c}"), 2));
                    }
                    None => {
                        replacement.push('\\');
                        replacement.push(c);
                    }
                },
            }
        }
        Ok(replacement)
    }

    /// A literal replacement, such as the result of a function.
    pub fn literal(text: &str) -> Self {
        Self { parts: vec![ReplacementPart::Text(text.to_owned())] }
    }

    /// Writes the text for one match. A group that did not match is empty.
    pub fn expand<'t>(&self, group: impl Fn(usize) -> Option<&'t str>, out: &mut String) {
        for part in &self.parts {
            out.push_str(match part {
                ReplacementPart::Text(text) => text,
                ReplacementPart::Group(idx) => group(*idx).unwrap_or_default(),
            });
        }
    }

    /// Whether it refers to groups.
    pub fn has_groups(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, ReplacementPart::Group(_)))
    }

    /// The same replacement using only `\\` and `\g<1>`, which the cell interpreter understands.
    pub fn template(&self) -> String {
        let parts = self.parts.iter().map(|part| match part {
            ReplacementPart::Text(text) => text.replace('\\', r"\\"),
            ReplacementPart::Group(idx) => format!("\\g<{idx}>"),
        });
        parts.collect()
    }

    fn push(&mut self, c: char) {
        match self.parts.last_mut() {
            Some(ReplacementPart::Text(text)) => text.push(c),
            Some(ReplacementPart::Group(_)) | None => self.parts.push(ReplacementPart::Text(c.to_string())),
        }
    }
}

/// `<name>` or `<2>` after `\g`.
fn named_group(source: &mut Source, pattern: &Parsed) -> Result<usize, PatternFault> {
    if !source.take('<')? {
        return Err(source.fault("missing <", 0));
    }
    let name = source.take_until('>', "group name")?;
    let back = name.chars().count() + 1;
    if is_identifier(&name) {
        let known = pattern.names.iter().find(|(known, _)| *known == name);
        return known
            .map(|(_, idx)| *idx)
            .ok_or_else(|| PatternFault::plain(format!("unknown group name '{name}'")));
    }
    match name.parse::<usize>() {
        Ok(idx) => known_group(source, idx, back, pattern),
        Err(_) => Err(source.fault(format!("bad character in group name '{name}'"), back)),
    }
}

fn known_group(source: &Source, idx: usize, back: usize, pattern: &Parsed) -> Result<usize, PatternFault> {
    if idx < pattern.n_groups {
        return Ok(idx);
    }
    Err(source.fault(format!("invalid group reference {idx}"), back))
}
