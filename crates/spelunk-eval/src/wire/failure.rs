//! A failure class as a string.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Failure;

impl Serialize for Failure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Failure {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let word = String::deserialize(deserializer)?;
        // A class that only another version knows is still a failure.
        Ok(Self::of(&word).unwrap_or(Self::Wrong))
    }
}
