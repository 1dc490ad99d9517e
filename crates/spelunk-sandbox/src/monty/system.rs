//! Operating system calls of a cell: time, sleep, files. The clock is simulated, so that replay sees the same times;
//! there is no environment and no entropy.

use std::time::Duration;

use monty_types::{
    ExcType, ExtFunctionResult, MontyDate, MontyDateTime, MontyException, MontyObject, MontyTimeZone,
    OsFunctionCall,
};

use super::files::Files;

/// A clock that advances by one millisecond per reading and by the time a cell sleeps.
#[derive(Debug)]
pub(super) struct Clock {
    now_ms: u64,
}

impl Clock {
    pub(super) fn new(now_ms: u64) -> Self {
        Self { now_ms }
    }

    fn read(&mut self) -> u64 {
        let now_ms = self.now_ms;
        self.now_ms += 1;
        now_ms
    }

    fn sleep(&mut self, duration: Duration) {
        self.now_ms = self.now_ms.saturating_add(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX));
    }
}

/// Answers a call.
#[expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is not there")]
pub(super) fn answer(call: &OsFunctionCall, clock: &mut Clock, files: &mut Files) -> ExtFunctionResult {
    if let Some(answer) = files.answer(call) {
        return answer;
    }
    match call {
        OsFunctionCall::Time(_) => {
            let now_ms = clock.read();
            #[expect(clippy::cast_precision_loss, reason = "milliseconds of this era fit")]
            ExtFunctionResult::Return(MontyObject::float(now_ms as f64 / 1000.0))
        }
        OsFunctionCall::DateToday => {
            let now = datetime(clock.read(), None);
            ExtFunctionResult::Return(MontyObject::date(MontyDate {
                year: now.year,
                month: now.month,
                day: now.day,
            }))
        }
        OsFunctionCall::DateTimeNow(zone) => {
            ExtFunctionResult::Return(MontyObject::datetime(datetime(clock.read(), zone.as_ref())))
        }
        OsFunctionCall::Sleep(duration)
        | OsFunctionCall::SystemSleep(duration)
        | OsFunctionCall::AsyncSleep(duration)
        | OsFunctionCall::AsyncSystemSleep(duration) => {
            clock.sleep(*duration);
            ExtFunctionResult::Return(MontyObject::none())
        }
        OsFunctionCall::Getenv(args) => ExtFunctionResult::Return(args.default.clone()),
        OsFunctionCall::GetEnviron => ExtFunctionResult::Return(MontyObject::dict([])),
        OsFunctionCall::Import(name) => ExtFunctionResult::NotFound(name.clone()),
        other => {
            let what = format!("`{}` is not there in this sandbox", other.name());
            ExtFunctionResult::Error(MontyException::new(ExcType::PermissionError, Some(what)))
        }
    }
}

/// The date and time of an instant, in UTC or a fixed zone.
fn datetime(now_ms: u64, zone: Option<&MontyTimeZone>) -> MontyDateTime {
    let offset = zone.map_or(0, |zone| i64::from(zone.offset_seconds));
    let seconds = i64::try_from(now_ms / 1000).unwrap_or(0) + offset;
    let (year, month, day) = civil(seconds.div_euclid(86_400));
    let second = seconds.rem_euclid(86_400);
    let part = |value: i64| u8::try_from(value).unwrap_or(0);
    MontyDateTime {
        year,
        month,
        day,
        hour: part(second / 3600),
        minute: part(second / 60 % 60),
        second: part(second % 60),
        microsecond: u32::try_from(now_ms % 1000).unwrap_or(0) * 1000,
        offset_seconds: zone.map(|zone| zone.offset_seconds),
        timezone_name: zone.and_then(|zone| zone.name.clone()),
    }
}

/// Year, month and day of a day since 1970-01-01, computed in eras of 400 years.
fn civil(days: i64) -> (i32, u8, u8) {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_idx = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_idx + 2) / 5 + 1;
    let month = if month_idx < 10 { month_idx + 3 } else { month_idx - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (i32::try_from(year).unwrap_or(9999), u8::try_from(month).unwrap_or(1), u8::try_from(day).unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::civil;

    #[test]
    fn days_become_dates_across_leap_years() {
        let dates = [0, 59, 11_016, 19_782, 20_772].map(civil);
        assert_eq!(dates, [(1970, 1, 1), (1970, 3, 1), (2000, 2, 29), (2024, 2, 29), (2026, 11, 15)]);
    }
}
