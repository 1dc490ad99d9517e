//! Flags that limit a run: `--max-cost`, `--max-tokens`, `--max-calls`, `--max-time`. Each sets a
//! limit in human units; all are reserved before a call is made.

use clap::Args;
use spelunk_app::config::FlagValue;

use super::Usage;

/// How far a run may go.
#[derive(Debug, Clone, Default, Args)]
pub(crate) struct LimitFlags {
    /// Spend at most this many dollars, such as 0.50
    #[arg(long = "max-cost", value_name = "DOLLARS")]
    cost: Option<String>,
    /// Use at most this many input and output tokens, such as 200000, 200k or 2M
    #[arg(long = "max-tokens", value_name = "TOKENS")]
    tokens: Option<String>,
    /// Send at most this many requests to models, including retries
    #[arg(long = "max-calls", value_name = "CALLS")]
    calls: Option<String>,
    /// Stop after this time, such as 90s, 10m or 2h
    #[arg(long = "max-time", value_name = "TIME")]
    time: Option<String>,
}

impl LimitFlags {
    pub(super) fn values(self) -> Result<Vec<FlagValue>, Usage> {
        type Read = fn(&str) -> Option<u64>;
        let flags: [(&str, &str, Option<String>, Read, &str); 4] = [
            ("--max-cost", "cost_microusd_max", self.cost, microusd, "dollars, such as `0.50`"),
            ("--max-tokens", "tokens_max", self.tokens, tokens, "a number, such as `200k`"),
            ("--max-calls", "calls_max", self.calls, whole, "an integer"),
            ("--max-time", "run_ms_max", self.time, time_ms, "a time, such as `90s`, `10m` or `2h`"),
        ];
        let mut values = Vec::new();
        for (flag, limit, typed, read, must) in flags {
            let Some(typed) = typed else { continue };
            let value = read(typed.trim()).ok_or_else(|| {
                let shown: String = typed.chars().take(60).collect();
                Usage::new(
                    format!("`{flag}` must be {must}, not `{shown}`"),
                    format!("it sets `limits.{limit}`"),
                )
            })?;
            values.push(FlagValue::new(flag, &format!("limits.{limit}"), value.to_string()));
        }
        Ok(values)
    }
}

const VALUE_MAX: u64 = i64::MAX.unsigned_abs();

fn whole(text: &str) -> Option<u64> {
    let is_number = !text.is_empty() && text.chars().all(|digit| digit.is_ascii_digit() || digit == '_');
    let value = text.replace('_', "").parse().ok()?;
    (is_number && value <= VALUE_MAX).then_some(value)
}

/// Parses `200000`, `200k`, `2M`.
pub(super) fn tokens(text: &str) -> Option<u64> {
    let (digits, unit) = split_unit(text);
    let scale = match unit {
        "" => 1,
        "k" | "K" => 1_000,
        "m" | "M" => 1_000_000,
        _ => return None,
    };
    scaled(digits, scale)
}

/// Parses `90s`, `10m`, `2h`; a bare number is seconds.
pub(super) fn time_ms(text: &str) -> Option<u64> {
    let (digits, unit) = split_unit(text);
    let scale = match unit {
        "ms" => 1,
        "" | "s" => 1_000,
        "m" | "min" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    scaled(digits, scale)
}

/// Parses `0.50`, `$2`.
pub(super) fn microusd(text: &str) -> Option<u64> {
    scaled(text.strip_prefix('$').unwrap_or(text), 1_000_000)
}

fn split_unit(text: &str) -> (&str, &str) {
    let at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    text.split_at(at)
}

/// Parses a number with up to six decimals, times `scale`, rounded up: a tiny limit must not become zero.
fn scaled(text: &str, scale: u64) -> Option<u64> {
    let (integer, decimals) = text.trim_end().split_once('.').unwrap_or((text.trim_end(), ""));
    if decimals.len() > 6 || !decimals.chars().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let integer = if integer.is_empty() && !decimals.is_empty() { 0 } else { whole(integer)? };
    let millionths: u64 = format!("{decimals:0<6}").parse().ok()?;
    let whole_part = u128::from(integer) * u128::from(scale);
    let rest = (u128::from(millionths) * u128::from(scale)).div_ceil(1_000_000);
    u64::try_from(whole_part + rest).ok().filter(|value| *value <= VALUE_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_as_people_write_them() {
        assert_eq!(
            ["0.50", "$2", ".5", "0", "0.000001"].map(microusd),
            [Some(500_000), Some(2_000_000), Some(500_000), Some(0), Some(1)]
        );
        assert_eq!(
            ["200000", "200k", "2M", "1.5M", "200_000"].map(tokens),
            [Some(200_000), Some(200_000), Some(2_000_000), Some(1_500_000), Some(200_000)]
        );
        assert_eq!(
            ["90", "90s", "10m", "2h", "1.5h", "250ms", "10 m"].map(time_ms),
            [
                Some(90_000),
                Some(90_000),
                Some(600_000),
                Some(7_200_000),
                Some(5_400_000),
                Some(250),
                Some(600_000)
            ]
        );
    }

    #[test]
    fn what_is_no_amount_is_refused() {
        let huge = "9".repeat(40);
        for text in ["", "-1", "x", "1e3", "1.2.3", "1,5", "0.0000001", "٣", "1k2", ".", huge.as_str()] {
            assert_eq!((microusd(text), tokens(text), time_ms(text)), (None, None, None), "{text}");
        }
        assert_eq!((time_ms("5d"), tokens("5s"), microusd("5k"), whole("1.5")), (None, None, None, None));
        assert_eq!(scaled("9223372036854775807", 1_000_000), None);
    }

    #[test]
    fn a_refusal_names_the_flag_and_the_setting() {
        let flags = LimitFlags { time: Some("soon".into()), ..LimitFlags::default() };
        let refused = flags.values().unwrap_err();
        assert_eq!(refused.message, "`--max-time` must be a time, such as `90s`, `10m` or `2h`, not `soon`");
        assert_eq!(refused.hint, "it sets `limits.run_ms_max`");
    }
}
