//! Looks up a run by its id or a prefix of the short id. Names are only compared with existing ids; none ever becomes a
//! path.

use spelunk_app::failure::Failure;
use spelunk_app::runs::{read_view, state};
use spelunk_journal::{JournalError, Workspace};
use spelunk_types::RunId;

use super::super::Server;
use super::tickets::{Progress, Ticket};

const NAME_BYTES_MAX: usize = 100;
/// A shorter prefix is more likely a mistake.
const SHORT_BYTES_MIN: usize = 4;

/// A run in any state.
pub(super) struct Found {
    pub(super) run: RunId,
    /// `None` for a run without a journal.
    pub(super) workspace: Option<Workspace>,
    /// Why it has no journal, or why it could not continue.
    pub(super) settled: Option<Ticket>,
}

/// Searches the journals, then the runs that have none, yet or ever. Blocking.
pub(super) fn find(server: &Server, name: &str) -> Result<Found, Failure> {
    let not_found = || JournalError::NotFound { name: name.chars().take(NAME_BYTES_MAX).collect() };
    if name.is_empty() || name.len() > NAME_BYTES_MAX {
        return Err(not_found().into());
    }
    // Read before the journals: a run that starts or ends in the meantime has a journal by then.
    let promised = server.runs.names();
    let workspace = server.app.existing_workspace()?;
    let exact: Option<RunId> = name.parse().ok();
    let mut runs = workspace.as_ref().map(Workspace::runs).transpose()?.unwrap_or_default();
    let is_meant = |run: &RunId| match &exact {
        Some(exact) => run == exact,
        None => name.len() >= SHORT_BYTES_MIN && run.short().starts_with(name),
    };
    runs.retain(is_meant);
    let with_journal = runs.len();
    for run in promised.into_iter().filter(is_meant) {
        if !runs.contains(&run) {
            runs.push(run);
        }
    }
    match runs.len() {
        0 => Err(not_found().into()),
        1 => {
            let run = runs.remove(0);
            let settled = server.runs.settled_as(&run);
            Ok(Found { run, workspace: workspace.filter(|_| with_journal > 0), settled })
        }
        _ => Err(JournalError::Ambiguous { name: name.to_owned(), runs }.into()),
    }
}

/// The state of a run, in the words of the list. Blocking.
pub(super) fn word(server: &Server, run: &RunId) -> Result<String, Failure> {
    let (live, settled) = server.runs.standing(run);
    if let Some(live) = live {
        return Ok(if live.is_waiting() { "queued" } else { "running" }.to_owned());
    }
    let workspace = server.app.existing_workspace()?;
    let has_journal =
        workspace.as_ref().is_some_and(|workspace| workspace.runs().is_ok_and(|runs| runs.contains(run)));
    if let (Some(workspace), true) = (workspace, has_journal) {
        return match settled.map(|ticket| ticket.progress) {
            Some(Progress::Refused { refusal }) if refusal.is_of_question => {
                Ok(format!("failed: {}", refusal.code))
            }
            Some(_) | None => Ok(state(&read_view(&workspace, run)?)),
        };
    }
    let ticket = settled.ok_or_else(|| JournalError::NotFound { name: run.to_string() })?;
    Ok(settled_word(&ticket))
}

/// The state of a run that never started.
pub(super) fn settled_word(ticket: &Ticket) -> String {
    if let Progress::Refused { refusal } = &ticket.progress {
        return format!("failed: {}", refusal.code);
    }
    if ticket.progress == Progress::Withdrawn { "cancelled" } else { "open" }.to_owned()
}
