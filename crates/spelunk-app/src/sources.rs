//! Sources: paths as typed, and what a scan skipped.

use std::collections::BTreeMap;
use std::path::Path;

use spelunk_context::{Corpus, ScanProgress, SourceInput};

use crate::app::App;
use crate::units::{bytes, count};

/// A path as a source. A file is cited by the path that was typed, so that it can be opened from here.
pub fn source(app: &App, typed: &Path) -> SourceInput {
    let path = app.current_dir.join(typed);
    let is_named = typed.is_relative() && path.is_file();
    if is_named { SourceInput::Typed { path, typed: typed.into() } } else { SourceInput::Path(path) }
}

/// What a plan does not cover.
pub struct LeftOut {
    /// Skipped files, by reason.
    pub skipped: BTreeMap<String, u64>,
    /// The first of the files over `files_max`.
    pub(crate) over_the_cap: Vec<String>,
    /// Redacted secrets, by rule.
    pub redacted: BTreeMap<String, u64>,
}

/// What a plan of this corpus does not cover.
pub(crate) fn left_out(corpus: &Corpus) -> LeftOut {
    let over_the_cap = corpus.reports().iter().flat_map(|report| report.left_out.clone());
    LeftOut { skipped: skipped(corpus), over_the_cap: over_the_cap.collect(), redacted: redacted(corpus) }
}

/// The number of skipped files, by reason.
pub fn skipped(corpus: &Corpus) -> BTreeMap<String, u64> {
    sums(corpus.reports().iter().map(|report| &report.skipped))
}

/// The number of redacted secrets, by the rule that found them.
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
