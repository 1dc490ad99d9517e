//! Facts: what a run recorded, a line for each event, without times. To compare runs and to write down in golden
//! trajectories.

use spelunk_types::{Durability, Event};

/// A line for every event that is kept.
pub fn facts<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<String> {
    let kept = |event: &&Event| event.kind.durability() != Durability::Ephemeral;
    events.into_iter().filter(kept).map(Event::to_string).collect()
}
