//! Access to contexts by id: peek, grep, page and load, each counted. Only a load caches the text, within limits.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::store::catalogue::Entry;
use crate::store::reading::{OpenContext, Purpose};
use crate::store::{AccessCounts, ContextStore, LoadPolicy, StoreError};
use crate::{GrepQuery, GrepReport, Page, Peek, ReadError, Reader};

const N_ATTEMPTS: usize = 3;

impl ContextStore {
    /// The first lines, limited to a number of tokens.
    pub fn peek(&self, id: &str, lines: u64, tokens: u64) -> Result<Peek, StoreError> {
        let look = AccessCounts { peeks: 1, ..AccessCounts::default() };
        self.look(id, Purpose::Look, look, |reader| reader.peek(lines, tokens))
    }

    /// The matching lines.
    pub fn grep(&self, id: &str, query: &GrepQuery, cancel: &AtomicBool) -> Result<GrepReport, StoreError> {
        let query = query.compile().map_err(StoreError::Request)?;
        let look = AccessCounts { greps: 1, ..AccessCounts::default() };
        self.look(id, Purpose::Look, look, |reader| reader.grep_compiled(&query, cancel))
    }

    /// A page of `lines` lines, counted from 0.
    pub fn page(&self, id: &str, page: u64, lines: u64) -> Result<Page, StoreError> {
        let purpose = if page == 0 { Purpose::Look } else { Purpose::LaterPage };
        let look = AccessCounts { pages: 1, ..AccessCounts::default() };
        self.look(id, purpose, look, |reader| reader.page(page, lines))
    }

    /// The whole text, from the cache if it is there and still valid. A text above `load_bytes_max` is refused.
    pub fn load(&self, id: &str) -> Result<Arc<str>, StoreError> {
        let entry = self.entry(id)?;
        let loaded_at_ms = self.now_ms();
        let (text, opened) =
            self.retrying(&entry, Purpose::Load, |opened| self.load_opened(&entry, opened, loaded_at_ms))?;
        self.count(&entry, &opened, AccessCounts { loads: 1, ..AccessCounts::default() });
        Ok(text)
    }

    fn look<T>(
        &self,
        id: &str,
        purpose: Purpose,
        look: AccessCounts,
        read: impl Fn(&Reader) -> Result<T, ReadError>,
    ) -> Result<T, StoreError> {
        let entry = self.entry(id)?;
        let (found, opened) = self.retrying(&entry, purpose, |opened| read(&opened.reader))?;
        self.count(&entry, &opened, look);
        if entry.context.policy == LoadPolicy::Hot {
            // The access succeeded; that the whole is too large or gone matters only to a load.
            let now_ms = self.now_ms();
            drop(self.retrying(&entry, Purpose::Load, |opened| self.load_opened(&entry, opened, now_ms)));
        }
        Ok(found)
    }

    pub(super) fn retrying<T>(
        &self,
        entry: &Entry,
        purpose: Purpose,
        read: impl Fn(&OpenContext) -> Result<T, ReadError>,
    ) -> Result<(T, OpenContext), StoreError> {
        let mut n_left = N_ATTEMPTS;
        loop {
            let opened = self.open_context(entry, purpose)?;
            n_left -= 1;
            match read(&opened) {
                Ok(found) => return Ok((found, opened)),
                Err(ReadError::Changed { .. }) if n_left > 0 => {
                    self.state().pool.remove(entry.context.id.as_str());
                }
                Err(error) => return Err(StoreError::unread(&entry.context.id, error)),
            }
        }
    }

    fn load_opened(
        &self,
        entry: &Entry,
        opened: &OpenContext,
        loaded_at_ms: u64,
    ) -> Result<Arc<str>, ReadError> {
        let bytes_max = self.settings.limits.load_bytes_max;
        if let Some(text) = &opened.text {
            let bytes = text.len() as u64;
            if bytes > bytes_max {
                return Err(ReadError::TooLarge { name: entry.context.id.to_string(), bytes, bytes_max });
            }
            return Ok(text.clone());
        }
        if let Some(text) = self.cached(entry, opened.stamp, Purpose::Load) {
            return Ok(text);
        }
        let text: Arc<str> = opened.reader.load(bytes_max)?.into();
        self.keep(entry, opened.stamp, &text, loaded_at_ms);
        Ok(text)
    }

    /// Records an access, and the state of the context at that time.
    pub(super) fn count(&self, entry: &Entry, opened: &OpenContext, mut look: AccessCounts) {
        look.last_accessed_ms = Some(self.now_ms());
        let mut revision = opened.revision();
        let mut state = self.state();
        let Some(context) = state.catalogue.update(entry.context.id.as_str(), entry.generation, &look) else {
            return;
        };
        // The digest is still valid if size and modification time are unchanged.
        if let Some(known) = &context.revision
            && (known.size_bytes, known.modified_ms) == (revision.size_bytes, revision.modified_ms)
        {
            revision.digest.clone_from(&known.digest);
        }
        context.revision = Some(revision);
    }
}
