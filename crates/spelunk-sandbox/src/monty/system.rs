//! Operating system calls of a cell: a simulated clock for replay, and files; no environment or entropy.

use std::time::Duration;

use monty_types::{
    ExcType, ExtFunctionResult, MontyDate, MontyDateTime, MontyException, MontyObject, MontyTimeZone,
    OsFunctionCall,
};

use spelunk_types::civil_date;

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

#[expect(clippy::wildcard_enum_match_arm, reason = "what is not listed is not there")]
pub(super) fn answer(call: &OsFunctionCall, clock: &mut Clock, files: &mut Files) -> ExtFunctionResult {
    if let Some(answer) = files.answer(call) {
        return answer;
    }
    ExtFunctionResult::Return(match call {
        OsFunctionCall::Time(_) => {
            #[expect(clippy::cast_precision_loss, reason = "milliseconds of this era fit")]
            let now_ms = clock.read() as f64;
            MontyObject::float(now_ms / 1000.0)
        }
        OsFunctionCall::DateToday => {
            let MontyDateTime { year, month, day, .. } = datetime(clock.read(), None);
            MontyObject::date(MontyDate { year, month, day })
        }
        OsFunctionCall::DateTimeNow(zone) => MontyObject::datetime(datetime(clock.read(), zone.as_ref())),
        OsFunctionCall::Sleep(duration)
        | OsFunctionCall::SystemSleep(duration)
        | OsFunctionCall::AsyncSleep(duration)
        | OsFunctionCall::AsyncSystemSleep(duration) => {
            clock.sleep(*duration);
            MontyObject::none()
        }
        OsFunctionCall::Getenv(args) => args.default.clone(),
        OsFunctionCall::GetEnviron => MontyObject::dict([]),
        OsFunctionCall::Import(name) => return ExtFunctionResult::NotFound(name.clone()),
        other => {
            let what = format!("`{}` is not available in this sandbox", other.name());
            return ExtFunctionResult::Error(MontyException::new(ExcType::PermissionError, Some(what)));
        }
    })
}

/// The date and time of an instant, in UTC or a fixed zone.
fn datetime(now_ms: u64, zone: Option<&MontyTimeZone>) -> MontyDateTime {
    let offset = zone.map_or(0, |zone| i64::from(zone.offset_seconds));
    let seconds = (now_ms / 1000).saturating_add_signed(offset);
    let [year, month, day] = civil_date(seconds / 86_400);
    let second = seconds % 86_400;
    let part = |value: u64| u8::try_from(value).unwrap_or(0);
    MontyDateTime {
        year: i32::try_from(year).unwrap_or(9999),
        month: part(month),
        day: part(day),
        hour: part(second / 3600),
        minute: part(second / 60 % 60),
        second: part(second % 60),
        microsecond: u32::try_from(now_ms % 1000).unwrap_or(0) * 1000,
        offset_seconds: zone.map(|zone| zone.offset_seconds),
        timezone_name: zone.and_then(|zone| zone.name.clone()),
    }
}
