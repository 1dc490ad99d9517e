//! The formats of `printf` that everybody writes: `%d`, `%s` and `%f` with a width, places and a side.

use std::iter::Peekable;
use std::str::Chars;

use super::value::Value;

/// The widest that anything is made.
const WIDTH_MAX: usize = 200;
const PLACES_MAX: usize = 20;
/// Whole numbers up to here are written by all alike.
const WHOLE_MAX: f64 = 1e15;

/// A part of a format.
#[derive(Debug)]
pub(super) enum Piece {
    Text(String),
    Slot(Slot),
}

/// A place for a value.
#[derive(Debug)]
pub(super) struct Slot {
    kind: Kind,
    is_left: bool,
    has_zeros: bool,
    width: usize,
    places: Option<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Whole,
    Fixed,
    Text,
}

/// The parts of a format; nothing if it holds more than is known here.
pub(super) fn pieces(format: &str) -> Option<Vec<Piece>> {
    let (mut pieces, mut text, mut chars) = (Vec::new(), String::new(), format.chars().peekable());
    while let Some(c) = chars.next() {
        if c != '%' {
            text.push(c);
            continue;
        }
        if chars.next_if_eq(&'%').is_some() {
            text.push('%');
            continue;
        }
        pieces.push(Piece::Text(std::mem::take(&mut text)));
        let (mut is_left, mut has_zeros) = (false, false);
        while let Some(flag) = chars.next_if(|c| matches!(c, '-' | '0')) {
            is_left |= flag == '-';
            has_zeros |= flag == '0';
        }
        let width = digits(&mut chars).map_or(Some(0), |text| number(&text, WIDTH_MAX))?;
        let places = match chars.next_if_eq(&'.') {
            Some(_) => Some(number(&digits(&mut chars)?, PLACES_MAX)?),
            None => None,
        };
        let kind = match (chars.next()?, has_zeros, places) {
            ('d' | 'i', _, None) => Kind::Whole,
            ('f', _, _) => Kind::Fixed,
            ('s', false, _) => Kind::Text,
            _ => return None,
        };
        pieces.push(Piece::Slot(Slot { kind, is_left, has_zeros, width, places }));
    }
    pieces.push(Piece::Text(text));
    Some(pieces)
}

fn digits(chars: &mut Peekable<Chars>) -> Option<String> {
    let mut digits = String::new();
    while let Some(digit) = chars.next_if(char::is_ascii_digit) {
        digits.push(digit);
    }
    (!digits.is_empty()).then_some(digits)
}

fn number(digits: &str, most: usize) -> Option<usize> {
    digits.parse().ok().filter(|n| *n <= most)
}

impl Slot {
    /// The value as it is written there.
    pub(super) fn filled(&self, value: Value) -> Option<Vec<u8>> {
        let text = match self.kind {
            Kind::Text => {
                let text = value.text()?;
                let n_shown = self.places.unwrap_or(usize::MAX).min(text.len());
                text.get(..n_shown)?.to_vec()
            }
            Kind::Whole => {
                let n = value.number()?.trunc();
                if n.abs() >= WHOLE_MAX || (n == 0.0 && n.is_sign_negative()) {
                    return None;
                }
                format!("{n:.0}").into_bytes()
            }
            Kind::Fixed => {
                let n = value.number()?;
                if n.abs() >= WHOLE_MAX {
                    return None;
                }
                let places = self.places.unwrap_or(6);
                format!("{n:.places$}").into_bytes()
            }
        };
        let n_missing = self.width.saturating_sub(text.len());
        let fill = std::iter::repeat_n(if self.has_zeros && !self.is_left { b'0' } else { b' ' }, n_missing);
        Some(match (self.is_left, text.split_first()) {
            (true, _) => text.iter().copied().chain(fill).collect(),
            // Zeros stand behind the sign.
            (false, Some((b'-', digits))) if self.has_zeros => {
                std::iter::once(b'-').chain(fill).chain(digits.iter().copied()).collect()
            }
            (false, _) => fill.chain(text.iter().copied()).collect(),
        })
    }
}
