//! Numbers as `sort -n` reads them: of any length, compared as they are written.

use std::cmp::Ordering;

use super::is_blank;

/// The digest of nothing: those of negative numbers are below it.
const ZERO: u64 = 1 << 63;

/// The number a line begins with, as `sort -n` reads it: blanks, a minus, digits and a fraction; without them it is zero.
pub(super) fn compare_numbers(a: &[u8], b: &[u8]) -> Ordering {
    let (a, b) = (Number::read(a), Number::read(b));
    match (a.is_negative, b.is_negative) {
        (false, true) => Ordering::Greater,
        (true, false) => Ordering::Less,
        (false, false) => a.compare_size(&b),
        (true, true) => b.compare_size(&a),
    }
}

/// A number as it is written.
pub(super) struct Number<'a> {
    is_negative: bool,
    /// Without the zeros in front.
    whole: &'a [u8],
    /// Without the zeros behind.
    fraction: &'a [u8],
}

impl<'a> Number<'a> {
    /// The number a text begins with.
    pub(super) fn read(line: &'a [u8]) -> Self {
        let rest = without_blanks(line);
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

    /// A number that sorts like it; nothing if it has too many digits.
    pub(super) fn digest(&self) -> Option<u64> {
        const WHOLE_MAX: usize = 12;
        const FRACTION_MAX: usize = 5;
        if self.whole.len() > WHOLE_MAX || self.fraction.len() > FRACTION_MAX {
            return None;
        }
        let more = |sum: u64, digit: &u8| sum * 10 + u64::from(digit - b'0');
        let zeros = std::iter::repeat_n(&b'0', FRACTION_MAX - self.fraction.len());
        let size = self.whole.iter().chain(self.fraction).chain(zeros).fold(0, more);
        Some(if self.is_negative { ZERO - size } else { ZERO + size })
    }

    fn compare_size(&self, other: &Self) -> Ordering {
        let by_length = self.whole.len().cmp(&other.whole.len());
        by_length.then_with(|| self.whole.cmp(other.whole)).then_with(|| self.fraction.cmp(other.fraction))
    }
}

fn digits(bytes: &[u8]) -> (&[u8], &[u8]) {
    bytes.split_at(bytes.iter().take_while(|byte| byte.is_ascii_digit()).count())
}

fn without_blanks(text: &[u8]) -> &[u8] {
    let n_blanks = text.iter().take_while(|byte| is_blank(**byte)).count();
    text.get(n_blanks..).unwrap_or_default()
}
