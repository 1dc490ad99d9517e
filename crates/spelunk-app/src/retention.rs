//! Retention: runs that have not changed for `run.retention_days` are removed by `spelunk run clean`, and
//! automatically when a run or a server starts. Runs that are in progress, damaged or resumable are kept.

use std::sync::atomic::Ordering;

use spelunk_engine::{Clock as _, SystemClock};
use spelunk_journal::{JournalError, Workspace, remove_run, run_bytes};
use spelunk_types::{Explain as _, RunId};

use crate::app::App;
use crate::runs::{can_go_on, fold};
use crate::units::count;

pub const DAY_MS: u64 = 86_400_000;
/// The minimum time between two searches for old runs: the more runs there are, the longer listing takes.
const AGAIN_MS: u64 = 3_600_000;
const LOOKED_AT_MAX: usize = 50;

pub struct Fate {
    pub run: RunId,
    pub bytes: u64,
    pub is_archive: bool,
    pub kept: Option<String>,
}

/// What would happen to a run; `None` if it changed after `before_ms`. With `all`, resumable runs are removed too.
pub fn fate(workspace: &Workspace, run: RunId, before_ms: u64, all: bool) -> Option<Fate> {
    let (is_old, kept) = match workspace.read_journal(&run) {
        Ok(records) => {
            let view = fold(&records);
            let kept = (!all && can_go_on(&view)).then(|| "can be resumed".to_owned());
            (view.updated_at_ms <= before_ms, kept)
        }
        // A damaged run may be all that is left of something valuable.
        Err(error) => (true, Some(error.code().name().to_owned())),
    };
    let kept = if workspace.is_locked(&run) { Some("in use".to_owned()) } else { kept };
    let bytes = run_bytes(workspace, &run);
    is_old.then_some(Fate { run, bytes, is_archive: false, kept })
}

pub fn started_before(run: &RunId, at_ms: u64) -> bool {
    let stamp = |run: &RunId| run.as_str().chars().take(20).collect::<String>();
    stamp(run) <= stamp(&RunId::new(at_ms, 0))
}

/// Removes runs older than the retention period and reports it. Runs that cannot be removed are
/// left to `run clean`. Does nothing if this process did it within the last hour.
pub fn apply(app: &App, workspace: &Workspace) -> Result<(), JournalError> {
    let (days, now_ms) = (app.settings.retention_days, SystemClock.now_ms());
    let is_recent = now_ms.saturating_sub(app.cleaned_at_ms.load(Ordering::Relaxed)) < AGAIN_MS;
    // The runs of a fleet are removed only by `spelunk run clean`: no node decides for the others.
    if days == 0 || is_recent || workspace.shared().is_some() {
        return Ok(());
    }
    app.cleaned_at_ms.store(now_ms, Ordering::Relaxed);
    let before_ms = now_ms.saturating_sub(days.saturating_mul(DAY_MS));
    // The newest first, so that runs that are always kept do not hide the others.
    let old = workspace.runs_where(|run| started_before(run, before_ms))?.into_iter().rev();
    let fates = old.take(LOOKED_AT_MAX).filter_map(|run| fate(workspace, run, before_ms, false));
    let removed = fates.filter(|fate| fate.kept.is_none() && remove_run(workspace, &fate.run).is_ok());
    let n_removed = removed.count() as u64;
    if n_removed > 0 {
        let runs = count(n_removed, "run");
        app.say(&format!("Removed {runs} unchanged for {} (`run.retention_days`)", count(days, "day")));
    }
    Ok(())
}
