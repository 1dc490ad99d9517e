//! The state of an agent: its desk and the counters of its budgets. All of it can be derived from the journal.

use std::borrow::Cow;
use std::sync::{Arc, Mutex};

use serde_json::json;
use spelunk_desk::{Desk, DeskError, DeskPath, Entry};
use spelunk_model::Reply;
use spelunk_types::Usage;

use crate::frame::ChangedFile;
use crate::sync::lock;

const METRICS: &str = "state/metrics.json";
const ERRORS: &str = "state/errors.jsonl";
const MESSAGE_CHARS_MAX: usize = 500;

#[derive(Debug, Clone)]
pub(crate) struct AgentState {
    pub(crate) desk: Desk,
    /// Shared with calls in flight.
    counts: Arc<Mutex<Counts>>,
    /// Failures of calls in flight, until they are logged.
    failures: Arc<Mutex<Vec<Failure>>>,
}

#[derive(Debug, Clone)]
struct Failure {
    kind: String,
    message: String,
    context: String,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) scripts: u64,
    /// Calls of sub-models, including those answered from the cache.
    pub(crate) subcalls: u64,
    pub(crate) cache_hits: u64,
    pub(crate) tokens: u64,
    pub(crate) errors: u64,
    /// Calls of the running script that the cache has not answered (yet).
    pub(crate) script_calls: u64,
}

impl AgentState {
    pub(crate) fn new(desk: Desk) -> Self {
        Self { desk, counts: Arc::default(), failures: Arc::default() }
    }

    pub(crate) fn counts(&self) -> Counts {
        *lock(&self.counts)
    }

    pub(crate) fn count(&self, change: impl FnOnce(&mut Counts)) {
        change(&mut lock(&self.counts));
    }

    /// A copy to restore later: a plain clone would share its counters with the original.
    pub(crate) fn saved(&self) -> (Desk, Counts) {
        (self.desk.clone(), self.counts())
    }

    pub(crate) fn restore(&mut self, (desk, counts): (Desk, Counts)) {
        self.desk = desk;
        lock(&self.failures).clear();
        *lock(&self.counts) = counts;
    }

    /// Counts a reply. A reply from the cache used nothing.
    pub(crate) fn count_reply(&self, reply: &Reply, is_script: bool) -> bool {
        let usage = reply.usage.unwrap_or_default();
        let is_cached = usage == Usage::default();
        self.count(|counts| {
            counts.subcalls += 1;
            counts.tokens += usage.tokens();
            counts.cache_hits += u64::from(is_cached);
            if is_script && is_cached {
                counts.script_calls = counts.script_calls.saturating_sub(1);
            }
        });
        is_cached
    }

    pub(crate) fn fail(&self, kind: &str, message: &str, context: &str) {
        let (kind, message, context) = (kind.to_owned(), message.to_owned(), context.to_owned());
        let failure = Failure { kind, message, context };
        lock(&self.failures).push(failure);
    }

    /// Logs the failures so far. Parallel calls end in any order; the log is sorted.
    pub(crate) fn settle_failures(&mut self) -> Result<(), DeskError> {
        let mut failed = std::mem::take(&mut *lock(&self.failures));
        failed.sort_by(|one, other| (&one.context, &one.message).cmp(&(&other.context, &other.message)));
        failed
            .iter()
            .try_for_each(|Failure { kind, message, context }| self.log_error(kind, message, context))
    }

    pub(crate) fn log_error(&mut self, kind: &str, message: &str, context: &str) -> Result<(), DeskError> {
        self.count(|counts| counts.errors += 1);
        let short = |text: &str| text.chars().take(MESSAGE_CHARS_MAX).collect::<String>();
        let line = json!({
            "sequence": self.counts().errors,
            "error_type": kind,
            "error_message": short(message),
            "context": short(context),
        });
        self.desk.put_more(&path(ERRORS), format!("{line}\n").as_bytes())
    }

    /// Updates the counters on the desk. Nothing depends on them.
    pub(crate) fn write_metrics(&mut self) -> Result<(), DeskError> {
        let text = self.counts().text();
        let path = path(METRICS);
        let is_same = file(&self.desk, &path).is_some_and(|bytes| *bytes == *text.as_bytes());
        if is_same { Ok(()) } else { self.desk.put(&path, text.into_bytes()) }
    }
}

impl Counts {
    pub(crate) fn text(self) -> String {
        let Self { scripts, subcalls, cache_hits, tokens, errors, .. } = self;
        let counted = json!({
            "scripts_created": scripts,
            "subcalls_made": subcalls,
            "tokens_used": tokens,
            "cache_hits": cache_hits,
            "errors": errors,
        });
        format!("{counted:#}\n")
    }
}

/// A path that is known to be valid.
pub(crate) fn path(path: &str) -> DeskPath {
    DeskPath::parse(path).expect("our own paths are paths")
}

/// The content of a file on the desk; mounted documents are not part of it.
pub(crate) fn file<'a>(desk: &'a Desk, path: &DeskPath) -> Option<Cow<'a, [u8]>> {
    match desk.entry(path)? {
        Entry::File { .. } => desk.read(path).ok(),
        Entry::Directory | Entry::Document { .. } => None,
    }
}

pub(crate) fn changes(before: &Desk, after: &Desk) -> Vec<ChangedFile> {
    let changed = |path: DeskPath| {
        let name = path.as_str().to_owned();
        let Some(now) = file(after, &path) else { return ChangedFile::Removed { path: name } };
        let was = file(before, &path).filter(|was| !was.is_empty());
        match was.and_then(|was| now.strip_prefix(&*was)) {
            Some(more) => ChangedFile::Appended { path: name, bytes: more.into() },
            None => ChangedFile::Written { path: name, bytes: (&*now).into() },
        }
    };
    after.changed_since(before).into_iter().map(changed).collect()
}
