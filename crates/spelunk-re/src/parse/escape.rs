//! Escape sequences, in a pattern and inside a set.

use super::source::Source;
use super::{Assertion, Category, Item, Node, Parser, PatternFault, Scope};
use crate::Flags;

impl Parser {
    /// An escape outside a set, after its second character.
    pub(super) fn escape(&mut self, c: char, scope: Scope) -> Result<Node, PatternFault> {
        let ascii = scope.has(Flags::ASCII);
        if let Some(item) = category(c, scope) {
            return Ok(Node::Set { negated: false, items: vec![item], fold: scope.fold() });
        }
        match c {
            'A' => return Ok(Node::Assertion(Assertion::TextStart)),
            'Z' => return Ok(Node::Assertion(Assertion::TextEnd)),
            'b' | 'B' => return Ok(Node::Assertion(Assertion::Boundary { negated: c == 'B', ascii })),
            '1'..='9' => return self.octal_or_group(c, scope),
            _ => {}
        }
        if let Some(literal) = simple(c) {
            return Ok(scope.char(literal));
        }
        let literal = match c {
            '0' => octal(&mut self.source, c)?,
            _ => self.long_escape(c)?,
        };
        Ok(scope.char(literal))
    }

    /// An escape in a set, after its second character.
    pub(super) fn set_escape(&mut self, c: char, scope: Scope) -> Result<Item, PatternFault> {
        if let Some(item) = category(c, scope) {
            return Ok(item);
        }
        let literal = match (c, simple(c)) {
            ('b', _) => '\x08',
            (_, Some(literal)) => literal,
            ('0'..='7', None) => octal(&mut self.source, c)?,
            (_, None) => self.long_escape(c)?,
        };
        Ok(Item::Range(literal, literal))
    }

    /// `\x41`, `\u20ac`, `\U0001f600`, or a literal character.
    fn long_escape(&mut self, c: char) -> Result<char, PatternFault> {
        let digits_max = match c {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            'N' => {
                let message = "character names are not supported: use \\u with the code point";
                return Err(self.source.fault(message, 2));
            }
            _ if c.is_ascii_alphanumeric() => return Err(self.source.fault(format!("bad escape \\{c}"), 2)),
            _ => return Ok(c),
        };
        let digits = self.source.take_while(digits_max, |c| c.is_ascii_hexdigit())?;
        let back = digits.len() + 2;
        if digits.len() < digits_max {
            return Err(self.source.fault(format!("incomplete escape \\{c}{digits}"), back));
        }
        let number = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
        number.ok_or_else(|| self.source.fault(format!("bad escape \\{c}{digits}"), back))
    }

    /// A character or a reference to a group.
    fn octal_or_group(&mut self, first: char, scope: Scope) -> Result<Node, PatternFault> {
        let (idx, n_digits) = match digits(&mut self.source, first)? {
            Digits::Octal(c) => return Ok(scope.char(c)),
            Digits::Group(idx, n_digits) => (idx, n_digits),
        };
        if idx >= self.widths.len() {
            return Err(self.source.fault(format!("invalid group reference {idx}"), n_digits));
        }
        if self.group_width(idx).is_none() {
            return Err(self.source.fault("cannot refer to an open group", n_digits + 1));
        }
        self.check_behind(idx)?;
        Ok(Node::Backref { idx, fold: scope.fold() })
    }
}

pub(crate) enum Digits {
    Octal(char),
    /// The number of a group, and how many digits it has.
    Group(usize, usize),
}

/// Three octal digits are a character, anything else is a group number.
pub(crate) fn digits(source: &mut Source, first: char) -> Result<Digits, PatternFault> {
    let mut digits = first.to_string();
    digits.push_str(&source.take_while(1, |c| c.is_ascii_digit())?);
    if digits.len() == 2 && digits.bytes().all(|digit| digit < b'8') {
        let third = source.take_while(1, |c| ('0'..='7').contains(&c))?;
        if !third.is_empty() {
            return octal_char(source, &(digits + &third)).map(Digits::Octal);
        }
    }
    Ok(Digits::Group(digits.parse().unwrap_or(usize::MAX), digits.len()))
}

/// Up to three octal digits, the first of which is already read.
pub(crate) fn octal(source: &mut Source, first: char) -> Result<char, PatternFault> {
    let mut digits = first.to_string();
    digits.push_str(&source.take_while(2, |c| ('0'..='7').contains(&c))?);
    octal_char(source, &digits)
}

fn octal_char(source: &Source, digits: &str) -> Result<char, PatternFault> {
    let number = u32::from_str_radix(digits, 8).unwrap_or(u32::MAX);
    u8::try_from(number).map(char::from).map_err(|_| {
        let message = format!("octal escape value \\{digits} outside of range 0-0o377");
        source.fault(message, digits.len() + 1)
    })
}

fn category(c: char, scope: Scope) -> Option<Item> {
    let class = match c.to_ascii_lowercase() {
        'd' => Category::Digit,
        's' => Category::Space,
        'w' => Category::Word,
        _ => return None,
    };
    Some(Item::Category { class, negated: c.is_ascii_uppercase(), ascii: scope.has(Flags::ASCII) })
}

/// The escapes that mean one character everywhere. `\b` is a backspace only in sets.
pub(crate) fn simple(c: char) -> Option<char> {
    Some(match c {
        'a' => '\x07',
        'f' => '\x0c',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'v' => '\x0b',
        '\\' => '\\',
        _ => return None,
    })
}
