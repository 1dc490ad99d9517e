//! A Python virtual environment for tests with third-party clients. If Python or the packages are unavailable, there is
//! none, and such a test checks nothing.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A Python that can import `modules`, created once below the target directory.
pub(crate) fn python(place: &str, packages: &[&str], modules: &str) -> Option<PathBuf> {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(place);
    let python = place.join("bin/python");
    let has_them = || {
        let import = format!("import {modules}");
        Command::new(&python).args(["-c", &import]).output().is_ok_and(|ran| ran.status.success())
    };
    if has_them() {
        return Some(python);
    }
    let made = Command::new("python3").args(["-m", "venv", "--clear"]).arg(&place).output();
    if !made.is_ok_and(|ran| ran.status.success()) {
        return None;
    }
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1"];
    drop(Command::new(&python).args(install).args(packages).output());
    has_them().then_some(python)
}
