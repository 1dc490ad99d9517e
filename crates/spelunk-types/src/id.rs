//! Ids. Frames and calls are named by their position in the call tree, not at random: that makes replay work under
//! concurrency. Every id serialises as its `Display` form.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::truncate;

/// A text that is not a valid id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdError {
    /// What was expected: "run id", "frame id", …
    pub expected: &'static str,
    /// What was found.
    pub found: String,
}

impl IdError {
    pub(crate) fn new(expected: &'static str, found: &str) -> Self {
        Self { expected, found: truncate(found, 64).to_owned() }
    }
}

impl fmt::Display for IdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a {}", self.found, self.expected)
    }
}

impl std::error::Error for IdError {}

/// Names one run: `rlm-20260822T101403Z-3f9a2b1c`. Sorts by start time.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunId(String);

impl RunId {
    /// The id of a run started at `at_ms` (Unix time); `tail` distinguishes runs of the same second.
    pub fn new(at_ms: u64, tail: u32) -> Self {
        let [year, month, day] = civil_date(at_ms / 86_400_000);
        let second = at_ms / 1000 % 86_400;
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        Self(format!("rlm-{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z-{tail:08x}"))
    }

    /// The random tail, which people use as the short name of a run.
    pub fn short(&self) -> &str {
        self.0.rsplit('-').next().unwrap_or(&self.0)
    }

    /// The whole id.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for RunId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let refused = || IdError::new("run id", text);
        let rest = text.strip_prefix("rlm-").ok_or_else(refused)?;
        let (stamp, tail) = rest.split_once('-').ok_or_else(refused)?;
        let stamp_ok =
            stamp.len() == 16 && stamp.bytes().all(|b| b.is_ascii_digit() || b == b'T' || b == b'Z');
        let tail_ok = tail.len() == 8 && tail.bytes().all(|b| b.is_ascii_hexdigit());
        if stamp_ok && tail_ok { Ok(Self(text.to_owned())) } else { Err(refused()) }
    }
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

/// Names a frame by its path from the root: `0` is the root, `0.3` its fourth child.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FrameId(Vec<u32>);

impl FrameId {
    /// The root frame, `0`.
    pub fn root() -> Self {
        Self(vec![0])
    }

    /// The child with this index.
    #[must_use]
    pub fn child(&self, idx: u32) -> Self {
        let mut path = self.0.clone();
        path.push(idx);
        Self(path)
    }

    /// The frame that opened this one; the root has none.
    pub fn parent(&self) -> Option<Self> {
        let (_, parent) = self.0.split_last()?;
        (!parent.is_empty()).then(|| Self(parent.to_vec()))
    }

    /// How many frames are above it; 0 for the root.
    pub fn depth(&self) -> u32 {
        u32::try_from(self.0.len()).unwrap_or(u32::MAX).saturating_sub(1)
    }
}

impl fmt::Display for FrameId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (idx, part) in self.0.iter().enumerate() {
            if idx > 0 {
                f.write_str(".")?;
            }
            write!(f, "{part}")?;
        }
        Ok(())
    }
}

impl FromStr for FrameId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let path = text.split('.').map(canonical_u32).collect::<Option<Vec<_>>>();
        path.map(Self).ok_or_else(|| IdError::new("frame id", text))
    }
}

/// Names a call: `0.3#2` is the third call of frame `0.3`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId {
    /// The frame that made the call.
    pub frame: FrameId,
    /// The index among the calls of that frame, from 0.
    pub ordinal: u32,
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.frame, self.ordinal)
    }
}

impl FromStr for CallId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let refused = || IdError::new("call id", text);
        let (frame, ordinal) = text.split_once('#').ok_or_else(refused)?;
        let frame = frame.parse().map_err(|_| refused())?;
        Ok(Self { frame, ordinal: canonical_u32(ordinal).ok_or_else(refused)? })
    }
}

/// Names a call of an external tool: `0.3!2` is the third of frame `0.3`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EffectId {
    /// The frame that called the tool.
    pub frame: FrameId,
    /// The index among such calls of that frame, from 0.
    pub ordinal: u32,
}

impl fmt::Display for EffectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}!{}", self.frame, self.ordinal)
    }
}

impl FromStr for EffectId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let refused = || IdError::new("id of a tool call", text);
        let (frame, ordinal) = text.split_once('!').ok_or_else(refused)?;
        let frame = frame.parse().map_err(|_| refused())?;
        Ok(Self { frame, ordinal: canonical_u32(ordinal).ok_or_else(refused)? })
    }
}

/// Names immutable bytes by their BLAKE3 hash: 64 lowercase hex digits.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlobId([u8; 32]);

impl BlobId {
    /// The id for a hash that was computed elsewhere; this crate does not hash.
    pub fn from_hash(hash: [u8; 32]) -> Self {
        Self(hash)
    }
}

impl fmt::Debug for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&hex(&self.0))
    }
}

impl FromStr for BlobId {
    type Err = IdError;

    fn from_str(text: &str) -> Result<Self, IdError> {
        let digit = |b: u8| match b {
            b'0'..=b'9' => Some(b - b'0'),
            b'a'..=b'f' => Some(b - b'a' + 10),
            _ => None,
        };
        let bytes = text.as_bytes().chunks_exact(2);
        let hash: Option<Vec<u8>> = bytes.map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect();
        let hash = hash.filter(|_| text.len() == 64).and_then(|hash| hash.try_into().ok());
        hash.map(Self).ok_or_else(|| IdError::new("blob id", text))
    }
}

/// Bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    use fmt::Write as _;
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        write!(text, "{byte:02x}").expect("writing to a String cannot fail");
    }
    text
}

/// Parses digits without sign or leading zero, so that an id has one spelling.
fn canonical_u32(text: &str) -> Option<u32> {
    let canonical = text == "0" || (!text.starts_with(['0', '+']) && !text.is_empty());
    if canonical { text.parse().ok() } else { None }
}

macro_rules! serialise_as_display {
    ($($id:ty),+) => {$(
        impl Serialize for $id {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $id {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(serde::de::Error::custom)
            }
        }
    )+};
}

serialise_as_display!(RunId, FrameId, CallId, EffectId, BlobId);

#[cfg(test)]
mod tests;
