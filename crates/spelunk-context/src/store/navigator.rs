//! The navigator, with which an agent explores contexts. Every result is bounded and suggests a next step.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::store::{
    Action, Context, ContextId, ContextStore, SearchHit, SearchReport, StoreError, Suggestion, suggest,
};
use crate::{GrepMatch, GrepQuery, Page, Peek, ReadError};

/// Explores one store, which logs the requests. Shared by threads.
#[derive(Debug)]
pub struct Navigator {
    store: Arc<ContextStore>,
}

/// The beginning of a context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PeekView {
    /// The context with its metadata.
    pub context: Arc<Context>,
    /// The first lines. Their `Display` is shown to the agent.
    pub peek: Peek,
    /// What to do next.
    pub suggestions: Vec<Suggestion>,
}

/// The matches in a context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrepView {
    /// The context.
    pub id: ContextId,
    /// The first matches.
    pub matches: Vec<GrepMatch>,
    /// The number of matching lines.
    pub n_matches: u64,
    /// Whether more lines match than are shown.
    pub truncated: bool,
    /// Whether the search stopped early, so that `n_matches` is a lower bound.
    pub stopped_early: bool,
    /// What to do next.
    pub suggestions: Vec<Suggestion>,
}

/// A page of a context, with the pages before and after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageView {
    /// The context.
    pub id: ContextId,
    /// The page.
    pub page: Page,
}

/// A whole context.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadView {
    /// The context.
    pub id: ContextId,
    /// All of its text.
    pub text: Arc<str>,
    /// In bytes.
    pub size_bytes: u64,
    /// In characters.
    pub size_chars: u64,
    /// The approximate number of tokens, at four characters each.
    pub tokens_approx: u64,
    /// What to do instead next time, if the text is long.
    pub warning: Option<String>,
}

const WARNED_CHARS_MIN: u64 = 10_000;
const CHARS_PER_TOKEN: u64 = 4;
static NEVER: AtomicBool = AtomicBool::new(false);

impl Navigator {
    /// A navigator for this store.
    pub fn new(store: Arc<ContextStore>) -> Self {
        Self { store }
    }

    /// The store.
    pub fn store(&self) -> &Arc<ContextStore> {
        &self.store
    }

    /// All contexts in registration order: everything known about them, without their texts.
    pub fn list(&self) -> Vec<Arc<Context>> {
        self.note(Action::List, None, "");
        self.store.list()
    }

    /// The contexts of one kind. A kind that does not exist is an error.
    pub fn list_of_kind(&self, kind: &str) -> Result<Vec<Arc<Context>>, StoreError> {
        let contexts = self.store.list_of_kind(kind)?;
        self.note(Action::List, None, kind);
        Ok(contexts)
    }

    /// The first lines of a context: 1 to `peek_lines_max`, at most `peek_tokens` tokens.
    pub fn peek(&self, id: &str, lines: u64) -> Result<PeekView, StoreError> {
        let limits = self.store.limits();
        in_range("lines of a peek", lines, 1, limits.peek_lines_max)?;
        let peek = self.store.peek(id, lines, limits.peek_tokens)?;
        let context = self.store.get(id)?;
        self.note(Action::Peek, Some(&context), &lines.to_string());
        let suggestions = suggest::after_peek(&context, &peek, limits);
        Ok(PeekView { context, peek, suggestions })
    }

    /// A query within the limits: a case-insensitive regular expression.
    pub fn query(&self, pattern: &str, context_lines: u64) -> GrepQuery {
        let matches_max = self.store.limits().grep_matches_max;
        GrepQuery { context_lines, matches_max, ..GrepQuery::new(pattern) }
    }

    /// The matching lines, at most `grep_matches_max`, with up to `grep_context_lines_max` lines around.
    pub fn grep(&self, id: &str, query: &GrepQuery) -> Result<GrepView, StoreError> {
        let query = self.bounded(query)?;
        let found = self.store.grep(id, &query, &NEVER)?;
        let context = self.store.get(id)?;
        self.note(Action::Grep, Some(&context), &query.pattern);
        let suggestions = suggest::after_grep(&context, &found, self.store.limits());
        Ok(GrepView {
            id: context.id.clone(),
            matches: found.matches,
            n_matches: found.n_matches,
            truncated: found.truncated,
            stopped_early: found.stopped_early,
            suggestions,
        })
    }

    /// A page of a context, counted from 0, of 1 to `page_lines_max` lines.
    pub fn page(&self, id: &str, page: u64, lines: u64) -> Result<PageView, StoreError> {
        in_range("lines of a page", lines, 1, self.store.limits().page_lines_max)?;
        let found = self.store.page(id, page, lines)?;
        let context = self.store.get(id)?;
        self.note(Action::Page, Some(&context), &page.to_string());
        Ok(PageView { id: context.id.clone(), page: found })
    }

    /// The whole text of a context, with a warning if it is long.
    pub fn load(&self, id: &str) -> Result<LoadView, StoreError> {
        let text = self.store.load(id)?;
        let context = self.store.get(id)?;
        self.note(Action::Load, Some(&context), "");
        let size_chars = text.chars().count() as u64;
        let tokens_approx = size_chars / CHARS_PER_TOKEN;
        let warning = (size_chars > WARNED_CHARS_MIN)
            .then(|| format!("long text (about {tokens_approx} tokens): grep it or read it in pages"));
        let size_bytes = text.len() as u64;
        Ok(LoadView { id: context.id.clone(), text, size_bytes, size_chars, tokens_approx, warning })
    }

    /// The contexts with a match, in registration order.
    pub fn search_all(&self, query: &GrepQuery) -> Result<(Vec<SearchHit>, SearchReport), StoreError> {
        let query = self.bounded(query)?;
        let mut hits = Vec::new();
        let report = self.store.search_all(&query, &NEVER, &mut |hit| {
            hits.push(hit);
            ControlFlow::Continue(())
        })?;
        self.note(Action::Search, None, &query.pattern);
        Ok((hits, report))
    }

    fn bounded(&self, query: &GrepQuery) -> Result<GrepQuery, StoreError> {
        let limits = self.store.limits();
        in_range("lines of context", query.context_lines, 0, limits.grep_context_lines_max)?;
        let matches_max = query.matches_max.min(limits.grep_matches_max);
        Ok(GrepQuery { matches_max, ..query.clone() })
    }

    fn note(&self, action: Action, context: Option<&Arc<Context>>, detail: &str) {
        self.store.note(action, context.map(|context| context.id.clone()), detail);
    }
}

fn in_range(what: &'static str, value: u64, min: u64, max: u64) -> Result<(), StoreError> {
    ReadError::check(what, value, min, max).map_err(StoreError::Request)
}

#[cfg(test)]
mod tests;
