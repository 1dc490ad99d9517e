//! The catalogue: the contexts of a store in registration order. Pure; changes are applied once on disk.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use crate::store::{AccessCounts, Context, ContextId};

/// Contexts by position and by id. Cloning copies no context.
#[derive(Debug, Clone, Default)]
pub(crate) struct Catalogue {
    places: BTreeMap<u64, Entry>,
    place_of: HashMap<ContextId, u64>,
    n_generations: u64,
}

/// A context, and which registration of its id it is.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) context: Arc<Context>,
    /// Unique within a store. Text of another generation is another text.
    pub(crate) generation: u64,
    /// Accesses counted in the context but not yet on disk.
    pub(crate) unsaved: AccessCounts,
}

#[derive(Debug, Clone)]
pub(crate) enum Change {
    /// Adds or replaces a context, with the text if it is an inline one.
    Put(Arc<Context>, Option<Arc<str>>),
    Remove(ContextId),
}

impl Change {
    pub(crate) fn id(&self) -> &ContextId {
        match self {
            Self::Put(context, _) => &context.id,
            Self::Remove(id) => id,
        }
    }
}

impl Catalogue {
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn get(&self, id: &str) -> Option<&Entry> {
        self.places.get(self.place_of.get(id)?)
    }

    /// Whether this registration was neither replaced nor removed.
    pub(crate) fn has(&self, entry: &Entry) -> bool {
        self.get(entry.context.id.as_str()).is_some_and(|now| now.generation == entry.generation)
    }

    pub(crate) fn contains(&self, id: &str) -> bool {
        self.place_of.contains_key(id)
    }

    /// In the order of registration.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Entry> {
        self.places.values()
    }

    pub(crate) fn contexts(&self) -> impl Iterator<Item = &Arc<Context>> {
        self.places.values().map(|entry| &entry.context)
    }

    /// A context that replaces another takes its position.
    pub(crate) fn apply(&mut self, change: Change) {
        match change {
            Change::Put(context, _) => self.put(context),
            Change::Remove(id) => self.remove(id.as_str()),
        }
    }

    /// Counts an access and returns the context to update, if it is still the one that was accessed.
    pub(crate) fn update(&mut self, id: &str, generation: u64, look: &AccessCounts) -> Option<&mut Context> {
        let entry = self.places.get_mut(self.place_of.get(id)?)?;
        if entry.generation != generation {
            return None;
        }
        entry.unsaved.add(look);
        let context = Arc::make_mut(&mut entry.context);
        context.access.add(look);
        Some(context)
    }

    /// Adopts what another process wrote. Contexts that it removed are dropped; those that are not stored on disk are
    /// kept. Returns the ids whose text may have changed.
    pub(crate) fn adopt(&mut self, on_disk: Vec<Context>) -> Vec<ContextId> {
        let ids: HashSet<ContextId> = on_disk.iter().map(|context| context.id.clone()).collect();
        let gone =
            |entry: &&Entry| entry.context.policy.is_durable() && !ids.contains(entry.context.id.as_str());
        let mut changed: Vec<ContextId> =
            self.iter().filter(gone).map(|entry| entry.context.id.clone()).collect();
        for id in &changed {
            self.remove(id.as_str());
        }
        for mut context in on_disk {
            let id = context.id.clone();
            match self.place_of.get(id.as_str()).and_then(|place| self.places.get_mut(place)) {
                None => self.put(Arc::new(context)),
                // A context of this session shadows one with the same id that another process registered.
                Some(entry) if !entry.context.policy.is_durable() => {}
                Some(entry) => {
                    context.access.add(&entry.unsaved);
                    let is_same = entry.context.registered_at_ms == context.registered_at_ms
                        && entry.context.source == context.source;
                    entry.context = Arc::new(context);
                    if !is_same {
                        self.n_generations += 1;
                        entry.generation = self.n_generations;
                        changed.push(id);
                    }
                }
            }
        }
        changed
    }

    pub(crate) fn settle(&mut self, saved: &Self) {
        for entry in saved.iter() {
            let Some(place) = self.place_of.get(entry.context.id.as_str()) else { continue };
            let Some(own) = self.places.get_mut(place) else { continue };
            if own.generation == entry.generation {
                own.unsaved.peeks -= entry.unsaved.peeks.min(own.unsaved.peeks);
                own.unsaved.greps -= entry.unsaved.greps.min(own.unsaved.greps);
                own.unsaved.pages -= entry.unsaved.pages.min(own.unsaved.pages);
                own.unsaved.loads -= entry.unsaved.loads.min(own.unsaved.loads);
            }
        }
    }

    fn put(&mut self, context: Arc<Context>) {
        self.n_generations += 1;
        let next = self.places.last_key_value().map_or(0, |(place, _)| place + 1);
        let place = *self.place_of.entry(context.id.clone()).or_insert(next);
        let unsaved = AccessCounts::default();
        self.places.insert(place, Entry { context, generation: self.n_generations, unsaved });
    }

    fn remove(&mut self, id: &str) {
        if let Some(place) = self.place_of.remove(id) {
            self.places.remove(&place);
        }
    }
}
