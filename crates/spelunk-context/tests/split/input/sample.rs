//! A sample.

use std::collections::{
    BTreeMap,
    BTreeSet,
};
use std::fmt;

/// A cave.
#[derive(Debug)]
pub struct Cave {
    rooms: BTreeMap<String, u64>,
    seen: BTreeSet<String>,
}

impl Cave {
    /// How many rooms there are.
    pub fn len(&self) -> usize {
        self.rooms.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rooms.is_empty()
    }

    /// Enters a room.
    pub fn enter(&mut self, room: &str) {
        *self.rooms.entry(room.to_owned()).or_default() += 1;
        self.seen.insert(room.to_owned());
    }
}

impl fmt::Display for Cave {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (room, visits) in &self.rooms {
            writeln!(f, "{room}: {visits}")?;
        }
        Ok(())
    }
}

#[test]
fn an_empty_cave_is_empty() {
    let cave = Cave { rooms: BTreeMap::new(), seen: BTreeSet::new() };
    assert!(cave.is_empty());
}
