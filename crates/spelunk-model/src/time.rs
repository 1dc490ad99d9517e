//! The time formats of providers: AWS has two, HTTP a third. Only plausible dates are accepted.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use spelunk_types::{civil_date, days_since_1970};

const DAY_S: u64 = 86_400;

/// `20150830T123600Z`. A time before 1970 becomes 1970: a request signed with it is rejected anyway.
pub(crate) fn stamp(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    let [year, month, day] = civil_date(seconds / DAY_S);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
}

/// `2026-11-15T12:00:00Z`, with or without fractional seconds; `+02:00` or `-0530` may replace the `Z`, and a space the
/// `T`.
pub(crate) fn parse(text: &str) -> Option<SystemTime> {
    let (date, time) = text.trim().split_once(['T', 't', ' '])?;
    let (time, ahead_s) = split_offset(time)?;
    let mut date = date.splitn(3, '-').map(number);
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let local = moment((year, month, day), time.split('.').next()?)?;
    let distance = Duration::from_secs(ahead_s.unsigned_abs());
    if ahead_s > 0 { local.checked_sub(distance) } else { local.checked_add(distance) }
}

/// `Sun, 15 Nov 2026 12:00:00 GMT`, the only form that HTTP servers may generate.
pub(crate) fn parse_http(text: &str) -> Option<SystemTime> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let (_, date) = text.trim().strip_suffix(" GMT")?.split_once(", ")?;
    let mut words = date.split(' ');
    let day = number(words.next()?)?;
    let month = words.next()?;
    let month = (1..).zip(MONTHS).find_map(|(idx, name)| (name == month).then_some(idx))?;
    let year = number(words.next()?)?;
    let time = words.next()?;
    words.next().is_none().then(|| moment((year, month, day), time))?
}

/// Splits a time of day from its offset to UTC in seconds.
fn split_offset(text: &str) -> Option<(&str, i64)> {
    if let Some(time) = text.strip_suffix(['Z', 'z']) {
        return Some((time, 0));
    }
    let at = text.rfind(['+', '-'])?;
    let (time, offset) = text.split_at_checked(at)?;
    let (sign, offset) = offset.split_at_checked(1)?;
    let digits = offset.replacen(':', "", 1);
    let (hours, minutes) = digits.split_at_checked(2).filter(|_| digits.len() == 4)?;
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    if hours > 23 || minutes > 59 {
        return None;
    }
    let seconds = (hours * 3600 + minutes * 60).cast_signed();
    Some((time, if sign == "+" { seconds } else { -seconds }))
}

/// A date and `12:00:00`, in UTC.
fn moment((year, month, day): (u64, u64, u64), time: &str) -> Option<SystemTime> {
    let mut time = time.splitn(3, ':').map(number);
    let (hour, minute, second) = (time.next()??, time.next()??, time.next()??);
    let is_possible = (1970..10_000).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    if !is_possible || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let seconds = days_since_1970([year, month, day]) * DAY_S + hour * 3600 + minute * 60 + second;
    UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

fn number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests;
