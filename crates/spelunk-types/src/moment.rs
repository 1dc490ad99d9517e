//! Timestamps in the form that people and other programs use. Events count milliseconds; files that others read contain
//! the date.

/// `2026-08-22T10:14:03.250Z` for milliseconds since 1970.
pub fn iso_time(at_ms: u64) -> String {
    let [year, month, day] = civil_date(at_ms / 86_400_000);
    let (second, ms) = (at_ms / 1000 % 86_400, at_ms % 1000);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

/// Year, month and day of a count of days since 1970-01-01, in the proleptic Gregorian calendar.
pub fn civil_date(days: u64) -> [u64; 3] {
    // Years begin in March here, so that the leap day is the last day of the year.
    let day_of_era_origin = days + 719_468;
    let era = day_of_era_origin / 146_097;
    let day_of_era = day_of_era_origin % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    [year_of_era + era * 400 + u64::from(month <= 2), month, day]
}

/// The days from 1970-01-01 to a date of that calendar; 0 if it is earlier.
pub fn days_since_1970([year, month, day]: [u64; 3]) -> u64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year.saturating_sub(1), month + 9) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day;
    days.saturating_sub(719_469)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn milliseconds_become_a_date() {
        assert_eq!(iso_time(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(iso_time(1_787_393_643_250), "2026-08-22T10:14:03.250Z");
    }

    #[test]
    fn days_and_dates_are_the_same() {
        for days in [0_u64, 58, 59, 60, 10_956, 10_957, 11_016, 20_454, 40_000] {
            assert_eq!(days_since_1970(civil_date(days)), days);
        }
        assert_eq!([[1969, 12, 31], [0, 0, 0]].map(days_since_1970), [0, 0]);
    }
}
