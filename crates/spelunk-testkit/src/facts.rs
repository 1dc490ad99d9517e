//! Facts: the events of a run, one line each, without times. Used to compare runs and in golden trajectories.

use spelunk_types::{Durability, Event};

/// One line for every durable event.
pub fn facts<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<String> {
    let kept = |event: &&Event| event.kind.durability() != Durability::Ephemeral;
    events.into_iter().filter(kept).map(Event::to_string).collect()
}
