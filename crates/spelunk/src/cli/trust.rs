//! `spelunk trust`: takes over a workspace that this user did not create here, such as one from an older version, a
//! moved directory or a backup.

use std::process::ExitCode;

use spelunk_app::app::App;
use spelunk_app::failure::{Failure, Usage};
use spelunk_app::units::count;
use spelunk_journal::Workspace;

use super::app::print;

pub(crate) fn trust(app: &App) -> Result<ExitCode, Failure> {
    let root = app.workspace_root();
    if !Workspace::exists(&root) {
        let message = format!("there is no workspace at `{}`", root.display());
        return Err(Usage { message, hint: "name one with `--workspace DIR`".into() }.into());
    }
    let is_new = app.user.trust(&root)?;
    let runs = Workspace::open_read_only(&root)?.runs()?.len();
    let verb = if is_new { "trusted" } else { "trusted already" };
    print(&format!("{verb}: {} ({})\n", root.display(), count(runs as u64, "run")));
    Ok(ExitCode::SUCCESS)
}
