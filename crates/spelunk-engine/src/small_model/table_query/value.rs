//! Cell values as numbers or moments. Only two of the same type can be ordered; texts cannot, because `1200ms` sorts
//! before `950ms`.

use std::cmp::Ordering;

/// Currency symbols before a number.
const MONEY: [char; 4] = ['$', '€', '£', '¥'];
const UNIT_CHARS_MAX: usize = 12;
/// What people write in a cell without a value.
const MISSING: [&str; 10] = ["", "-", "–", "—", "?", "n/a", "na", "null", "none", "nan"];

/// Whether a cell means that there is no value.
pub(super) fn is_missing(cell: &str) -> bool {
    let cell = cell.trim();
    MISSING.iter().any(|word| word.eq_ignore_ascii_case(cell))
}

/// A number with its unit: `$20`, `45%`, `950 ms`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Number<'t> {
    pub(super) value: f64,
    money: Option<char>,
    unit: &'t str,
}

impl<'t> Number<'t> {
    /// Parses `1_000`, `1,000.50`, `-2`, `1e6`, each with an optional currency before it or unit after it.
    pub(super) fn read(text: &'t str) -> Option<Self> {
        let text = text.trim();
        let (is_negative, text) = match text.strip_prefix(['-', '−']) {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let money = text.chars().next().filter(|c| MONEY.contains(c));
        let text = money.map_or(text, |money| text.trim_start_matches(money).trim_start());
        let end = end_of_number(text);
        let value = bare(text.get(..end)?)?;
        let unit = text.get(end..)?.trim();
        let begins_well = |c: char| c.is_alphabetic() || matches!(c, '%' | '°' | '€' | '$' | '£');
        let is_unit = |unit: &str| {
            unit.starts_with(begins_well)
                && unit.chars().count() <= UNIT_CHARS_MAX
                && !unit.contains(char::is_numeric)
        };
        let is_fine = value.is_finite() && (unit.is_empty() || is_unit(unit));
        is_fine.then_some(Self { value: if is_negative { -value } else { value }, money, unit })
    }

    /// Whether two numbers are comparable: a bare number matches any unit.
    pub(super) fn fits(&self, other: &Number<'_>) -> bool {
        let is_bare = |number: &Number<'_>| number.money.is_none() && number.unit.is_empty();
        is_bare(other) || (self.money == other.money && self.unit.eq_ignore_ascii_case(other.unit))
    }

    /// Formats another number with this unit.
    pub(super) fn with(&self, value: f64) -> String {
        let text = shown(value);
        let (sign, text) = text.strip_prefix('-').map_or(("", text.as_str()), |rest| ("-", rest));
        let money = self.money.map(String::from).unwrap_or_default();
        let space = if self.unit.starts_with(char::is_alphabetic) { " " } else { "" };
        format!("{sign}{money}{text}{space}{}", self.unit)
    }
}

/// The end of the number at the beginning of a text, including an exponent.
fn end_of_number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_digit = |idx: usize| bytes.get(idx).is_some_and(u8::is_ascii_digit);
    let mut end = bytes.iter().take_while(|byte| byte.is_ascii_digit() || b"_,.".contains(byte)).count();
    if end > 0 && matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if is_digit(end + 1 + sign) {
            end += 1 + sign;
            end += bytes.iter().skip(end).take_while(|byte| byte.is_ascii_digit()).count();
        }
    }
    end
}

/// Parses an unsigned number. Commas must separate groups of three: `2,5` may be two and a half, so it is rejected.
fn bare(text: &str) -> Option<f64> {
    let (whole, rest) = text.split_once('.').map_or((text, None), |(whole, rest)| (whole, Some(rest)));
    if rest.is_some_and(|rest| rest.contains(['.', ',', '_'])) {
        return None;
    }
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or_default();
    let is_grouped = whole.contains(',');
    if is_grouped && (first.is_empty() || first.len() > 3 || first == "0") {
        return None;
    }
    if groups.any(|group| group.len() != 3) {
        return None;
    }
    let plain: String = text.chars().filter(|c| !matches!(c, ',' | '_')).collect();
    plain.parse().ok()
}

/// A number without superfluous digits.
fn shown(value: f64) -> String {
    if value != 0.0 && value.abs() < 1e-4 {
        return format!("{value:e}");
    }
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

const MINUTE_US: i64 = 60_000_000;
const DAY_US: i64 = 24 * 60 * MINUTE_US;

/// A date, a time of day, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    /// Increases with the date.
    day: Option<i64>,
    time_us: Option<i64>,
    /// The precision of the time: a minute, a second, or less.
    step_us: i64,
    /// Offset east of UTC.
    zone_minutes: Option<i64>,
}

impl Moment {
    /// Parses `2025-03-07`, `06:00`, `2025-03-07T06:00:00.5+02:00`. Dates with an ambiguous order of day and month
    /// are rejected.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut rest = text.trim();
        let day = rest.get(..10).and_then(day);
        if day.is_some() {
            rest = rest.get(10..)?;
            if rest.is_empty() {
                return Some(Self { day, time_us: None, step_us: 1, zone_minutes: None });
            }
            rest = rest.strip_prefix(['T', ' '])?;
        }
        let end = rest.find(|c: char| !(c.is_ascii_digit() || ":.,".contains(c))).unwrap_or(rest.len());
        let (time_us, step_us) = time(rest.get(..end)?)?;
        let zone = rest.get(end..)?.trim();
        let zone_minutes = if zone.is_empty() { None } else { Some(self::zone(zone)?) };
        Some(Self { day, time_us: Some(time_us), step_us, zone_minutes })
    }

    pub(super) fn has_time(&self) -> bool {
        self.time_us.is_some()
    }

    /// Compares what both have: dates if one has no time, times if one has no date. Time zones count if both have
    /// one.
    fn order(&self, other: &Self) -> Option<Ordering> {
        let zones = self.zone_minutes.zip(other.zone_minutes).unwrap_or_default();
        match ((self.day, self.time_us), (other.day, other.time_us)) {
            ((Some(a), Some(a_us)), (Some(b), Some(b_us))) => {
                let us = |day: i64, time_us: i64, zone: i64| day * DAY_US + time_us - zone * MINUTE_US;
                Some(us(a, a_us, zones.0).cmp(&us(b, b_us, zones.1)))
            }
            ((Some(a), _), (Some(b), _)) | ((_, Some(a)), (_, Some(b))) => Some(a.cmp(&b)),
            _ => None,
        }
    }

    /// Whether this equals the other at the other's precision: 06:00:30 is at 06:00.
    fn is_at(&self, other: &Self) -> bool {
        let coarse = Self { time_us: self.time_us.map(|us| us - us % other.step_us), ..*self };
        coarse.order(other) == Some(Ordering::Equal)
    }
}

/// A day number that increases with the date: every month counts as 31 days.
fn day(text: &str) -> Option<i64> {
    let sign = text.get(4..5).filter(|sign| matches!(*sign, "-" | "/"))?;
    let mut parts = text.split(sign).map(digits);
    let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
    let is_fine = parts.next().is_none() && (1..=12).contains(&month) && (1..=31).contains(&day);
    is_fine.then_some((year * 12 + month) * 31 + day)
}

/// A time of day and its precision.
fn time(text: &str) -> Option<(i64, i64)> {
    let mut parts = text.splitn(3, ':');
    let hour = digits(parts.next()?).filter(|hour| *hour < 24)?;
    let minute =
        parts.next().filter(|minute| minute.len() == 2).and_then(digits).filter(|minute| *minute < 60)?;
    let minutes_us = (hour * 60 + minute) * MINUTE_US;
    let Some(seconds) = parts.next() else { return Some((minutes_us, MINUTE_US)) };
    let (second, fraction) =
        seconds.split_once(['.', ',']).map_or((seconds, None), |(s, rest)| (s, Some(rest)));
    let second_us = digits(second).filter(|second| *second <= 60)? * 1_000_000;
    let Some(fraction) = fraction else { return Some((minutes_us + second_us, 1_000_000)) };
    let micros: String = fraction.chars().chain("000000".chars()).take(6).collect();
    Some((minutes_us + second_us + digits(&micros)?, 1))
}

/// `Z`, `+02:00`, `-0530`.
fn zone(text: &str) -> Option<i64> {
    if text.eq_ignore_ascii_case("z") || text.eq_ignore_ascii_case("utc") {
        return Some(0);
    }
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let bare: String = text.strip_prefix(['+', '-'])?.chars().filter(|&c| c != ':').collect();
    let (hours, minutes) = (bare.get(..2)?, bare.get(2..)?);
    let minutes = if minutes.is_empty() { 0 } else { digits(minutes)? };
    Some(sign * (digits(hours)? * 60 + minutes))
}

fn digits(text: &str) -> Option<i64> {
    let is_fine = !text.is_empty() && text.len() <= 9 && text.bytes().all(|byte| byte.is_ascii_digit());
    is_fine.then(|| text.parse().ok()).flatten()
}

/// The order of two cells, if they are comparable.
pub(super) fn order(a: &str, b: &str) -> Option<Ordering> {
    if let (Some(a), Some(b)) = (Number::read(a), Number::read(b)) {
        return (a.fits(&b) || b.fits(&a)).then(|| a.value.total_cmp(&b.value));
    }
    Moment::read(a)?.order(&Moment::read(b)?)
}

/// Whether a cell equals a value: the same number, the same moment, or the same text, ignoring case.
pub(super) fn is_same(cell: &str, value: &str) -> bool {
    if let (Some(cell), Some(value)) = (Number::read(cell), Number::read(value)) {
        return cell.fits(&value) && cell.value.total_cmp(&value.value).is_eq();
    }
    match (Moment::read(cell), Moment::read(value)) {
        (Some(cell), Some(value)) => cell.is_at(&value),
        _ => is_same_text(cell, value),
    }
}

pub(super) fn is_same_text(cell: &str, value: &str) -> bool {
    let (cell, value) = (cell.trim(), value.trim());
    cell.eq_ignore_ascii_case(value) || (!cell.is_ascii() && cell.to_lowercase() == value.to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_with_what_stands_at_them() {
        let cases = [
            ("1,234.50", Some("1234.5")),
            ("1_000", Some("1000")),
            ("-$20", Some("-$20")),
            ("$ 20", Some("$20")),
            ("−5", Some("-5")),
            ("950ms", Some("950 ms")),
            ("5 kg", Some("5 kg")),
            ("45%", Some("45%")),
            ("1e6", Some("1000000")),
            ("5 eur", Some("5 eur")),
            ("0.0000001", Some("1e-7")),
            (".5", Some("0.5")),
            ("2,5", None),
            ("0,125", None),
            ("1,2345", None),
            ("(300)", None),
            ("1.2.3", None),
            ("2025-03-07", None),
            ("10:30", None),
            ("1e999", None),
            ("v2", None),
            ("", None),
            ("3 of 4", None),
        ];
        for (text, expected) in cases {
            let number = Number::read(text);
            let said = number.as_ref().map(|number| number.with(number.value));
            assert_eq!(said.as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn only_what_is_of_one_sort_has_an_order() {
        use Ordering::{Equal, Greater, Less};
        let cases = [
            ("950ms", "1200ms", Some(Less)),
            ("950ms", "1000", Some(Less)),
            ("950ms", "1s", None),
            ("low", "high", None),
            ("9:30", "10:15", Some(Less)),
            ("06:00:00", "06:00", Some(Equal)),
            ("2025-03-07T05:00:00", "06:00", Some(Less)),
            ("2025-03-07T05:00:00", "2025-03-07", Some(Equal)),
            ("2025-03-07 23:00:00Z", "2025-03-08T00:30:00+02:00", Some(Greater)),
            ("2025/03/07", "2025-03-08", Some(Less)),
            ("03/07/2025", "03/08/2025", None),
            ("2025-03-07", "06:00", None),
            ("25:00", "06:00", None),
            ("10", "06:00", None),
        ];
        for (a, b, expected) in cases {
            assert_eq!(order(a, b), expected, "{a} {b}");
            assert_eq!(order(b, a), expected.map(Ordering::reverse), "{b} {a}");
        }
    }

    #[test]
    fn the_same_is_told_as_exactly_as_the_value() {
        let cases = [
            ("06:00:30", "06:00", true),
            ("06:00:30", "06:00:00", false),
            ("1,000", "1000", true),
            ("1.10", "1.1", true),
            ("East ", "east", true),
            ("5 kg", "5", true),
            ("5", "5 kg", false),
            ("user 12", "user 1", false),
        ];
        for (cell, value, expected) in cases {
            assert_eq!(is_same(cell, value), expected, "{cell} {value}");
        }
    }
}
