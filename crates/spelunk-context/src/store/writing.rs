//! Changes to the catalogue: made under the registry's lock, on top of what other processes wrote meanwhile, first on
//! disk and then in memory. A change that could not be written has no effect.

use std::collections::HashSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use spelunk_fs::PrivateDir;

use crate::store::admission::Admitted;
use crate::store::catalogue::{Catalogue, Change};
use crate::store::registry::{RegistryFile, RegistryLock};
use crate::store::revision::Stamp;
use crate::store::wire::{self, Parsed};
use crate::store::{
    ClockMs, Context, ContextId, ContextSource, ContextStore, LoadPolicy, NewContext, State, StoreError,
    StoreSettings,
};

/// A registry that was damaged. The readable part was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryWarning {
    /// The number of contexts kept.
    pub n_kept: usize,
    /// Entries that could not be read. A truncated end counts as one.
    pub n_lost: usize,
    /// Where the damaged file is now; `None` if it could not be set aside and was left as it is.
    pub set_aside: Option<PathBuf>,
}

impl fmt::Display for RegistryWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { n_kept, n_lost, set_aside } = self;
        let kept = if *n_kept == 1 { "context was" } else { "contexts were" };
        write!(f, "the registry was damaged: {n_kept} {kept} kept, {n_lost} lost")?;
        match set_aside {
            Some(path) => write!(f, "; the damaged file is `{}`", path.display()),
            None => f.write_str("; the damaged file could not be moved"),
        }
    }
}

impl ContextStore {
    /// Opens the registry in this directory. A damaged one is salvaged and set aside, with a warning; one of a newer
    /// version is refused. Nothing is written unless there is something to repair.
    pub fn open(
        storage: impl Into<PrivateDir>,
        clock: ClockMs,
        settings: StoreSettings,
    ) -> Result<(Self, Vec<RegistryWarning>), StoreError> {
        let lock_wait_max = Duration::from_millis(settings.lock_wait_ms_max);
        let registry = RegistryFile { dir: storage.into(), lock_wait_max };
        let store = Self::with(Some(registry), clock, settings);
        let warnings = store.reload()?;
        Ok((store, warnings))
    }

    /// Adopts the registrations and removals of other processes.
    pub fn reload(&self) -> Result<Vec<RegistryWarning>, StoreError> {
        let mut seen = self.seen();
        let Some(registry) = &self.registry else { return Ok(Vec::new()) };
        if registry.has_leftovers()
            && let Ok(lock) = registry.lock()
        {
            lock.remove_leftovers();
        }
        let Some((bytes, stamp)) = registry.read()? else { return Ok(Vec::new()) };
        let parsed = parse(registry, &bytes)?;
        if parsed.is_undamaged() {
            *seen = Some(stamp);
            self.state().adopt(parsed.contexts);
            return Ok(Vec::new());
        }
        drop(bytes);
        Ok(self.repair(registry, &mut seen, parsed)?.into_iter().collect())
    }

    /// Registers a context. An id that is already taken is an error.
    pub fn register(&self, new: NewContext) -> Result<Arc<Context>, StoreError> {
        let mut registered = self.register_all(vec![new])?;
        Ok(registered.remove(0))
    }

    /// Registers all of them in one write, or none.
    pub fn register_all(&self, new: Vec<NewContext>) -> Result<Vec<Arc<Context>>, StoreError> {
        self.put(new.into_iter().map(|new| (new, None)).collect(), TakenId::Refused)
    }

    /// Registers a context, replacing the one with its id if there is one.
    pub fn replace(&self, new: NewContext) -> Result<Arc<Context>, StoreError> {
        let mut replaced = self.put(vec![(new, None)], TakenId::Replaced)?;
        Ok(replaced.remove(0))
    }

    /// Removes a context from the registry. Its file is untouched.
    pub fn remove(&self, id: &str) -> Result<Arc<Context>, StoreError> {
        self.entry(id)?;
        let mut removed = None;
        self.change(|catalogue| {
            let Some(entry) = catalogue.get(id) else { return Ok(Vec::new()) };
            removed = Some(entry.context.clone());
            Ok(vec![Change::Remove(entry.context.id.clone())])
        })?;
        match removed {
            Some(context) => Ok(context),
            // Another process removed it first.
            None => self.get(id),
        }
    }

    /// Removes all contexts. Returns how many there were.
    pub fn clear(&self) -> Result<usize, StoreError> {
        let mut n_removed = 0;
        self.change(|catalogue| {
            n_removed = catalogue.len();
            Ok(catalogue.contexts().map(|context| Change::Remove(context.id.clone())).collect())
        })?;
        Ok(n_removed)
    }

    /// Removes expired inline texts. Returns how many there were.
    pub fn remove_expired(&self) -> Result<usize, StoreError> {
        let now_ms = self.now_ms();
        let mut n_removed = 0;
        self.change(|catalogue| {
            let expired = expired(catalogue, now_ms);
            n_removed = expired.len();
            Ok(expired.into_iter().map(Change::Remove).collect())
        })?;
        Ok(n_removed)
    }

    /// Writes access counts, the access log and revisions. All other changes are written at once.
    pub fn save(&self) -> Result<(), StoreError> {
        let mut seen = self.seen();
        let Some(registry) = self.registry.as_ref().filter(|registry| !registry.is_read_only()) else {
            return Ok(());
        };
        if !self.state().catalogue.contexts().any(|context| context.policy.is_durable()) {
            return Ok(());
        }
        let lock = registry.lock()?;
        self.catch_up(registry, &lock, &mut seen)?;
        let draft = self.state().catalogue.clone();
        self.write(&lock, &mut seen, &draft)?;
        self.state().catalogue.settle(&draft);
        let accesses: Vec<_> = self.state().log.entries().cloned().collect();
        let limits = &self.settings.limits;
        lock.add_accesses(&accesses, limits.access_log_entries_max, limits.access_log_entries_kept)?;
        self.state().log.drop_oldest(accesses.len());
        Ok(())
    }

    /// Registers contexts, whose files may already be checked, in one write.
    pub(super) fn put(
        &self,
        new: Vec<(NewContext, Option<Admitted>)>,
        taken: TakenId,
    ) -> Result<Vec<Arc<Context>>, StoreError> {
        // Files are checked before any lock is taken.
        let mut admitted = Vec::with_capacity(new.len());
        for (new, source) in new {
            admitted.push(self.admit(new, source)?);
        }
        let now_ms = self.now_ms();
        self.change(|catalogue| plan_put(catalogue, &admitted, taken, now_ms, self.settings.contexts_max))?;
        Ok(admitted.into_iter().map(|(context, _)| context).collect())
    }

    /// The only way to change the catalogue. `plan` sees the state on disk and must not use the store.
    pub(super) fn change(
        &self,
        plan: impl FnOnce(&Catalogue) -> Result<Vec<Change>, StoreError>,
    ) -> Result<(), StoreError> {
        let mut seen = self.seen();
        let lock = self.registry.as_ref().map(RegistryFile::lock).transpose()?;
        if let (Some(registry), Some(lock)) = (&self.registry, &lock) {
            self.catch_up(registry, lock, &mut seen)?;
        }
        let state = self.state();
        let planned = plan(&state.catalogue)?;
        self.check_held(&state, &planned)?;
        let reaches_disk = planned.iter().any(|change| reaches_disk(&state.catalogue, change));
        let draft =
            lock.as_ref().filter(|_| reaches_disk).map(|lock| (lock, Draft::new(&state.catalogue, &planned)));
        drop(state);
        if let Some((lock, draft)) = &draft {
            for change in &planned {
                if let Change::Put(context, Some(text)) = change
                    && let Some(digest) = context.source.inline_digest()
                    && context.policy.is_durable()
                {
                    lock.put_inline(digest, text)?;
                }
            }
            self.write(lock, &mut seen, &draft.catalogue)?;
            self.state().catalogue.settle(&draft.catalogue);
        }
        let mut state = self.state();
        for change in planned {
            state.commit(change, self.registry.is_some());
        }
        drop(state);
        if let Some((lock, draft)) = &draft {
            draft.remove_orphans(lock);
        }
        Ok(())
    }

    /// Reads the registry again if another process wrote it.
    fn catch_up(
        &self,
        registry: &RegistryFile,
        lock: &RegistryLock<'_>,
        seen: &mut Option<Stamp>,
    ) -> Result<(), StoreError> {
        let now = registry.stamp();
        if now.is_some() && now == *seen {
            return Ok(());
        }
        let Some((bytes, stamp)) = registry.read()? else { return Ok(()) };
        let parsed = parse(registry, &bytes)?;
        if parsed.is_undamaged() {
            self.state().adopt(parsed.contexts);
        } else {
            // The next write replaces the damaged file: keep a copy for inspection.
            lock.set_aside().map_err(|source| StoreError::Registry { path: registry.path(), source })?;
            self.state().adopt_damaged(parsed.contexts);
        }
        *seen = Some(stamp);
        Ok(())
    }

    /// Sets a damaged registry aside and writes the readable part. A read-only disk does not prevent opening.
    fn repair(
        &self,
        registry: &RegistryFile,
        seen: &mut Option<Stamp>,
        mut parsed: Parsed,
    ) -> Result<Option<RegistryWarning>, StoreError> {
        let lock = registry.lock().ok();
        // Another process may have repaired it while this one waited for the lock.
        if lock.is_some()
            && let Some((bytes, _)) = registry.read()?
        {
            parsed = parse(registry, &bytes)?;
        }
        let (n_kept, n_lost, is_undamaged) = (parsed.contexts.len(), parsed.n_lost, parsed.is_undamaged());
        if is_undamaged {
            self.state().adopt(parsed.contexts);
            return Ok(None);
        }
        self.state().adopt_damaged(parsed.contexts);
        let set_aside = lock.and_then(|lock| {
            let set_aside = lock.set_aside().ok()?;
            let draft = self.state().catalogue.clone();
            self.write(&lock, seen, &draft).ok()?;
            Some(set_aside)
        });
        Ok(Some(RegistryWarning { n_kept, n_lost, set_aside }))
    }

    fn write(
        &self,
        lock: &RegistryLock<'_>,
        seen: &mut Option<Stamp>,
        draft: &Catalogue,
    ) -> Result<(), StoreError> {
        let durable = draft.contexts().map(Arc::as_ref).filter(|context| context.policy.is_durable());
        let bytes = wire::registry_bytes(self.now_ms(), durable)
            .map_err(|error| StoreError::Registry { path: lock.file.path(), source: error.into() })?;
        *seen = lock.write(&bytes)?;
        Ok(())
    }

    /// Texts that exist only in memory have a budget of their own, because they cannot be evicted.
    fn check_held(&self, state: &State, planned: &[Change]) -> Result<(), StoreError> {
        let (mut size_bytes, mut freed_bytes) = (0, 0);
        for change in planned {
            freed_bytes += state.held.get(change.id().as_str()).map_or(0, |text| text.len() as u64);
            if let Change::Put(context, Some(text)) = change
                && !self.is_on_disk(context)
            {
                size_bytes += text.len() as u64;
            }
        }
        let held_bytes = state.held_bytes - freed_bytes;
        let bytes_max = self.settings.limits.content_cache_bytes_max;
        if size_bytes > 0 && held_bytes + size_bytes > bytes_max {
            return Err(StoreError::SessionFull { held_bytes, size_bytes, bytes_max });
        }
        Ok(())
    }

    fn is_on_disk(&self, context: &Context) -> bool {
        self.registry.is_some() && context.policy.is_durable()
    }

    fn seen(&self) -> MutexGuard<'_, Option<Stamp>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn adopt(&mut self, on_disk: Vec<Context>) {
        for id in self.catalogue.adopt(on_disk) {
            self.forget(id.as_str());
        }
    }

    /// A context missing from a damaged file was not removed by anyone: contexts still in memory are kept.
    fn adopt_damaged(&mut self, mut salvaged: Vec<Context>) {
        let ids: HashSet<ContextId> = salvaged.iter().map(|context| context.id.clone()).collect();
        let is_lost =
            |context: &&Arc<Context>| context.policy.is_durable() && !ids.contains(context.id.as_str());
        salvaged.extend(self.catalogue.contexts().filter(is_lost).map(|context| Context::clone(context)));
        self.adopt(salvaged);
    }

    fn commit(&mut self, change: Change, has_disk: bool) {
        let id = change.id().clone();
        self.forget(id.as_str());
        if let Some(text) = self.held.remove(id.as_str()) {
            self.held_bytes -= text.len() as u64;
        }
        if let Change::Put(context, Some(text)) = &change
            && !(has_disk && context.policy.is_durable())
        {
            self.held_bytes += text.len() as u64;
            self.held.insert(id, text.clone());
        }
        self.catalogue.apply(change);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TakenId {
    Refused,
    Replaced,
}

/// Adds the new contexts and removes expired ones, so that tool results do not pile up.
fn plan_put(
    catalogue: &Catalogue,
    admitted: &[(Arc<Context>, Option<Arc<str>>)],
    taken: TakenId,
    now_ms: u64,
    contexts_max: u64,
) -> Result<Vec<Change>, StoreError> {
    let expired: HashSet<ContextId> = expired(catalogue, now_ms).into_iter().collect();
    let mut ids: HashSet<&str> = HashSet::new();
    for (context, _) in admitted {
        let id = context.id.as_str();
        let is_taken = taken == TakenId::Refused && catalogue.contains(id) && !expired.contains(id);
        if is_taken || !ids.insert(id) {
            return Err(StoreError::Duplicate { id: id.to_owned() });
        }
    }
    let n_new = ids.iter().filter(|id| !catalogue.contains(id)).count();
    let n_gone = expired.iter().filter(|id| !ids.contains(id.as_str())).count();
    if (catalogue.len() + n_new - n_gone) as u64 > contexts_max {
        return Err(StoreError::Full { contexts_max });
    }
    let gone = expired.into_iter().filter(|id| !ids.contains(id.as_str()));
    let put = admitted.iter().map(|(context, text)| Change::Put(context.clone(), text.clone()));
    Ok(gone.map(Change::Remove).chain(put).collect())
}

fn expired(catalogue: &Catalogue, now_ms: u64) -> Vec<ContextId> {
    let is_over = |context: &&Arc<Context>| expires_at_ms(context).is_some_and(|at| at <= now_ms);
    catalogue.contexts().filter(is_over).map(|context| context.id.clone()).collect()
}

/// When an inline text expires; `None` for everything that can be obtained again.
pub(super) fn expires_at_ms(context: &Context) -> Option<u64> {
    let LoadPolicy::TtlMs(ttl_ms) = context.policy else { return None };
    let is_inline = matches!(context.source, ContextSource::Inline { .. });
    is_inline.then(|| context.registered_at_ms.saturating_add(ttl_ms))
}

fn parse(registry: &RegistryFile, bytes: &[u8]) -> Result<Parsed, StoreError> {
    let parsed = wire::parse_registry(bytes);
    match parsed.version {
        Some(version) if version > wire::VERSION => {
            Err(StoreError::RegistryNewer { path: registry.path(), version })
        }
        Some(_) | None => Ok(parsed),
    }
}

/// A change among contexts of this session needs no write.
fn reaches_disk(before: &Catalogue, change: &Change) -> bool {
    let was_durable = before.get(change.id().as_str()).is_some_and(|entry| entry.context.policy.is_durable());
    was_durable
        || match change {
            Change::Put(context, _) => context.policy.is_durable(),
            Change::Remove(_) => false,
        }
}

/// The catalogue to be written, and the inline texts that it may no longer reference.
struct Draft {
    catalogue: Catalogue,
    digests_before: HashSet<String>,
}

impl Draft {
    fn new(before: &Catalogue, planned: &[Change]) -> Self {
        let mut catalogue = before.clone();
        let mut digests_before = HashSet::new();
        for change in planned {
            let replaced = before.get(change.id().as_str()).filter(|entry| entry.context.policy.is_durable());
            let digest = replaced.and_then(|entry| entry.context.source.inline_digest());
            digests_before.extend(digest.map(str::to_owned));
            catalogue.apply(change.clone());
        }
        Self { catalogue, digests_before }
    }

    fn remove_orphans(&self, lock: &RegistryLock<'_>) {
        if self.digests_before.is_empty() {
            return;
        }
        let durable = self.catalogue.contexts().filter(|context| context.policy.is_durable());
        let needed: HashSet<&str> = durable.filter_map(|context| context.source.inline_digest()).collect();
        for digest in self.digests_before.iter().filter(|digest| !needed.contains(digest.as_str())) {
            lock.remove_inline(digest);
        }
    }
}
