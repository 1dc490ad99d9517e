//! The values of awk: numbers, texts, and texts that were read, which are compared as numbers if they look like one.

use std::borrow::Cow;
use std::cmp::Ordering;

/// A value. Where the tools would not agree on what becomes of one, its methods give nothing.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value<'t> {
    /// Both empty and zero.
    Unset,
    /// A field that is not there, and the like: empty to all, but not to all of them zero.
    Missing,
    Number(f64),
    Text(Cow<'t, [u8]>),
    /// A field, or a line.
    Input(Cow<'t, [u8]>),
    /// The index of an array. To some it is a text, to others it may be a number.
    Key(Cow<'t, [u8]>),
}

/// Whole numbers are written out up to here, and numbers beyond have lost digits.
const WHOLE_MAX: f64 = 1e15;

impl<'t> Value<'t> {
    pub(super) fn truth(is_true: bool) -> Self {
        Value::Number(if is_true { 1.0 } else { 0.0 })
    }

    /// The same, held by itself.
    pub(super) fn kept(self) -> Value<'static> {
        let owned = |text: Cow<'t, [u8]>| Cow::Owned(text.into_owned());
        match self {
            Value::Unset => Value::Unset,
            Value::Missing => Value::Missing,
            Value::Number(n) => Value::Number(n),
            Value::Text(text) => Value::Text(owned(text)),
            Value::Input(text) => Value::Input(owned(text)),
            Value::Key(text) => Value::Key(owned(text)),
        }
    }

    /// The size of its text.
    pub(super) fn n_bytes(&self) -> usize {
        match self {
            Value::Unset | Value::Missing | Value::Number(_) => 0,
            Value::Text(text) | Value::Input(text) | Value::Key(text) => text.len(),
        }
    }

    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Value::Unset | Value::Missing => Some(0.0),
            Value::Number(n) => Some(*n),
            Value::Text(text) | Value::Input(text) | Value::Key(text) => leading(text).map(|(_, n)| n),
        }
    }

    pub(super) fn text(self) -> Option<Cow<'t, [u8]>> {
        match self {
            Value::Unset | Value::Missing => Some(Cow::Borrowed(b"")),
            Value::Number(n) => written(n).map(Cow::Owned),
            Value::Text(text) | Value::Input(text) | Value::Key(text) => Some(text),
        }
    }

    /// The same as the key of an array. A broken number that is written as a whole one is another key to some.
    pub(super) fn key(self) -> Option<Cow<'t, [u8]>> {
        let is_broken = matches!(self, Value::Number(n) if n.fract() != 0.0);
        let text = self.text()?;
        (!is_broken || text.iter().any(|byte| matches!(byte, b'.' | b'e'))).then_some(text)
    }

    pub(super) fn is_true(&self) -> Option<bool> {
        Some(match self {
            Value::Unset | Value::Missing => false,
            Value::Number(n) => *n != 0.0,
            Value::Text(text) => !text.is_empty(),
            Value::Input(text) => match whole(text)? {
                Some(n) => n != 0.0,
                None => !text.is_empty(),
            },
            Value::Key(text) => match whole(text)? {
                Some(_) => return None,
                None => !text.is_empty(),
            },
        })
    }

    /// As numbers where both are, as texts otherwise. What is a number to some only must come out the same either way.
    pub(super) fn compare(self, other: Self) -> Option<Ordering> {
        let is_open = |value: &Self| matches!(value, Value::Key(_) | Value::Missing);
        let (is_open, numbers) = (is_open(&self) || is_open(&other), (self.as_number()?, other.as_number()?));
        let by_number = match numbers {
            (Some(a), Some(b)) => Some(a.partial_cmp(&b)?),
            _ => None,
        };
        match by_number {
            Some(order) if !is_open => Some(order),
            Some(order) => Some(self.text()?.cmp(&other.text()?)).filter(|by_text| *by_text == order),
            None => Some(self.text()?.cmp(&other.text()?)),
        }
    }

    /// The number it is; the inner is nothing if it is a text.
    #[expect(clippy::option_option, reason = "the outer one is the refusal")]
    fn as_number(&self) -> Option<Option<f64>> {
        match self {
            Value::Unset | Value::Missing => Some(Some(0.0)),
            Value::Number(n) => Some(Some(*n)),
            Value::Text(_) => Some(None),
            Value::Input(text) | Value::Key(text) => whole(text),
        }
    }
}

/// A number as `print` writes it: whole ones in full, others with six digits.
pub(super) fn written(n: f64) -> Option<Vec<u8>> {
    if !n.is_finite() || (n == 0.0 && n.is_sign_negative()) || n.abs() >= WHOLE_MAX {
        return None;
    }
    if n.fract() == 0.0 {
        return Some(format!("{n:.0}").into_bytes());
    }
    six_digits(n)
}

/// `%.6g` of a number that is not zero.
fn six_digits(n: f64) -> Option<Vec<u8>> {
    let scientific = format!("{n:.5e}");
    let (digits, exponent) = scientific.split_once('e')?;
    let exponent: i32 = exponent.parse().ok()?;
    // Only zeros behind a point may go: those of `234560` are part of the number.
    let trimmed = |digits: &str| {
        let has_point = digits.contains('.');
        let kept = if has_point { digits.trim_end_matches('0').trim_end_matches('.') } else { digits };
        kept.to_owned()
    };
    if !(-4..6).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return Some(format!("{}e{sign}{:02}", trimmed(digits), exponent.abs()).into_bytes());
    }
    let places = usize::try_from(5 - exponent).ok()?;
    Some(trimmed(&format!("{n:.places$}")).into_bytes())
}

/// The number that a text is, with nothing but blanks around it.
#[expect(clippy::option_option, reason = "the outer one is the refusal")]
fn whole(text: &[u8]) -> Option<Option<f64>> {
    let (n_bytes, n) = leading(text)?;
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
    let is_all = n_bytes > 0 && text.get(n_bytes..)?.iter().all(is_blank);
    Some(is_all.then_some(n))
}

/// The number that a text begins with, and how many bytes it takes; zero bytes if it begins with none.
fn leading(text: &[u8]) -> Option<(usize, f64)> {
    let count = |from: usize, is_in: fn(&u8) -> bool| {
        text.get(from..).unwrap_or_default().iter().take_while(|byte| is_in(byte)).count()
    };
    let n_blanks = count(0, |byte| matches!(byte, b' ' | b'\t' | b'\n'));
    let mut at = n_blanks;
    if let Some(b'+' | b'-') = text.get(at) {
        at += 1;
        // To some, `+inf` and `-nan` are numbers.
        if let Some(b'i' | b'I' | b'n' | b'N') = text.get(at) {
            return None;
        }
    }
    let n_whole = count(at, u8::is_ascii_digit);
    at += n_whole;
    let mut n_fraction = 0;
    if text.get(at) == Some(&b'.') {
        n_fraction = count(at + 1, u8::is_ascii_digit);
        at += if n_whole + n_fraction > 0 { 1 + n_fraction } else { 0 };
    }
    if n_whole + n_fraction == 0 {
        return Some((0, 0.0));
    }
    if let Some(b'e' | b'E') = text.get(at) {
        let n_sign = usize::from(matches!(text.get(at + 1), Some(b'+' | b'-')));
        let n_digits = count(at + 1 + n_sign, u8::is_ascii_digit);
        at += if n_digits > 0 { 1 + n_sign + n_digits } else { 0 };
    } else if let Some(b'x' | b'X') = text.get(at) {
        // To some, `0x10` is sixteen.
        return None;
    }
    let digits = std::str::from_utf8(text.get(n_blanks..at)?).ok()?;
    digits.parse().ok().filter(|n: &f64| n.is_finite()).map(|n| (at, n))
}
