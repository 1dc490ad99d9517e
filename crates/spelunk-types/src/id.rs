//! Ids. Frames and calls are named by their position in the call tree, not at random: that makes replay work under
//! concurrency. Every id serialises as its `Display` form.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{iso_time, truncate};

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
        let time = iso_time(at_ms).replace(['-', ':'], "");
        let (seconds, _) = time.split_once('.').unwrap_or((&time, ""));
        Self(format!("rlm-{seconds}Z-{tail:08x}"))
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

/// Ids of what a frame does: the frame, a mark, and an index.
macro_rules! ids_within_frames {
    ($($(#[doc = $doc:literal])+ $id:ident = $mark:literal, $what:literal;)+) => {$(
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $id {
            /// The frame that made the call.
            pub frame: FrameId,
            /// The index among such calls of that frame, from 0.
            pub ordinal: u32,
        }

        impl fmt::Display for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!("{}", $mark, "{}"), self.frame, self.ordinal)
            }
        }

        impl FromStr for $id {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                let refused = || IdError::new($what, text);
                let (frame, ordinal) = text.split_once($mark).ok_or_else(refused)?;
                let frame = frame.parse().map_err(|_| refused())?;
                Ok(Self { frame, ordinal: canonical_u32(ordinal).ok_or_else(refused)? })
            }
        }
    )+};
}

ids_within_frames! {
    /// Names a call: `0.3#2` is the third call of frame `0.3`.
    CallId = '#', "call id";
    /// Names a call of an external tool: `0.3!2` is the third of frame `0.3`.
    EffectId = '!', "id of a tool call";
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
