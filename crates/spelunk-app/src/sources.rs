//! Sources: paths as typed, registered contexts, and what a scan skipped.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use spelunk_context::{
    ContextSource, ContextStore, Corpus, ScanProgress, SecretFiles, SourceInput, StoreSettings,
};
use spelunk_engine::{Clock, SystemClock};

use crate::app::App;
use crate::env::Environment;
use crate::failure::Result;
use crate::postgres::{self, is_postgres_url};
use crate::s3::{self, S3};
use crate::units::{bytes, count};

pub fn is_server_url(typed: &str) -> bool {
    is_postgres_url(typed) || typed.starts_with(S3)
}

#[derive(Clone)]
pub(crate) struct Servers {
    environment: Environment,
    cache: s3::Cache,
}

impl App {
    pub(crate) fn servers(&self) -> Servers {
        Servers {
            environment: self.environment.clone(),
            cache: s3::Cache { dir: self.user.cache("objects"), bytes_max: self.settings.objects_bytes_max },
        }
    }
}

impl Servers {
    /// The server of this URL. Whether it can be used is seen when it is used.
    pub(crate) fn open(&self, url: &str) -> SourceInput {
        if !url.starts_with(S3) {
            return SourceInput::Database(postgres::database(url, &self.environment));
        }
        SourceInput::Objects(s3::bucket(url, &self.environment, self.cache.clone()))
    }
}

/// A bucket as a source. What is not the URL of one cannot be read.
pub fn bucket(app: &App, url: &str) -> SourceInput {
    let Servers { environment, cache } = app.servers();
    SourceInput::Objects(s3::bucket(url, &environment, cache))
}

/// A typed path or the URL of a server as a source. A file is cited by the typed path, so that it can be
/// opened from here.
pub fn source(app: &App, typed: &Path) -> SourceInput {
    if let Some(url) = typed.to_str().filter(|typed| is_server_url(typed)) {
        return app.servers().open(url);
    }
    let path = app.current_dir.join(typed);
    let is_named = typed.is_relative() && path.is_file();
    if is_named { SourceInput::Typed { path, typed: typed.into() } } else { SourceInput::Path(path) }
}

/// The contexts of the workspace, for a user on their own machine.
pub fn contexts(app: &App, secrets: SecretFiles) -> Result<ContextStore> {
    let settings = StoreSettings { secrets, ..StoreSettings::for_a_person(app.settings.limits.clone()) };
    let clock = Arc::new(|| SystemClock.now_ms());
    let (store, warnings) = ContextStore::open(app.workspace_dir()?, clock, settings)?;
    for warning in warnings {
        app.say(&format!("warning: {warning}"));
    }
    Ok(store)
}

/// A context as a source. A file is read in place and cited by the id; any other text is copied
/// now. `admit` decides whether a file may still be read.
pub fn context_source(
    store: &ContextStore,
    id: &str,
    admit: &dyn Fn(&Path) -> Result<PathBuf>,
) -> Result<SourceInput> {
    let context = store.get(id)?;
    if let ContextSource::File(path) = &context.source {
        return Ok(SourceInput::Typed { path: admit(path)?, typed: context.id.as_str().into() });
    }
    let text = store.load(id)?;
    Ok(SourceInput::Text { name: context.id.as_str().to_owned(), bytes: text.as_bytes().to_vec() })
}

pub struct LeftOut {
    /// Skipped files, by reason.
    pub skipped: BTreeMap<String, u64>,
    /// The first of the files over `files_max`.
    pub(crate) over_the_cap: Vec<String>,
    /// Redacted secrets, by rule.
    pub redacted: BTreeMap<String, u64>,
}

pub(crate) fn left_out(corpus: &Corpus) -> LeftOut {
    let over_the_cap = corpus.reports().iter().flat_map(|report| report.left_out.clone());
    LeftOut { skipped: skipped(corpus), over_the_cap: over_the_cap.collect(), redacted: redacted(corpus) }
}

pub fn skipped(corpus: &Corpus) -> BTreeMap<String, u64> {
    sums(corpus.reports().iter().map(|report| &report.skipped))
}

pub fn redacted(corpus: &Corpus) -> BTreeMap<String, u64> {
    sums(corpus.reports().iter().map(|report| &report.redactions))
}

fn sums<'a>(counts: impl Iterator<Item = &'a BTreeMap<String, u64>>) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for (what, n) in counts.flatten() {
        *sums.entry(what.clone()).or_default() += n;
    }
    sums
}

pub fn scan_status(scan: &ScanProgress) -> String {
    format!(
        "reading {} of {} · {} of {}",
        scan.files_done,
        count(scan.files_total, "file"),
        bytes(scan.bytes_done),
        bytes(scan.bytes_total)
    )
}
