//! Manifests: every crate inherits the lints of the workspace.

use super::{Complaint, RepoFile};

/// Checks that a crate's manifest has `[lints]` with `workspace = true`.
pub(crate) fn check(file: &RepoFile) -> Option<Complaint> {
    let is_crate = file.path.ends_with("/Cargo.toml");
    if !is_crate || keeps_lints(&file.text) {
        return None;
    }
    Some(Complaint::at(
        &file.path,
        0,
        "does not keep the lints of the workspace: add `[lints]` with `workspace = true`",
    ))
}

fn keeps_lints(manifest: &str) -> bool {
    let section = manifest.lines().map(str::trim).skip_while(|line| *line != "[lints]").skip(1);
    section.take_while(|line| !line.starts_with('[')).any(|line| line == "workspace = true")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::tests::file;

    #[test]
    fn a_crate_without_the_workspace_lints_is_found() {
        let path = "crates/a/Cargo.toml";
        let message = "does not keep the lints of the workspace: add `[lints]` with `workspace = true`";
        let complaint = Some(Complaint::at(path, 0, message));
        assert_eq!(check(&file(path, "[package]\nname = \"a\"\n")), complaint);
        assert_eq!(check(&file(path, "[lints]\n[dependencies]\nworkspace = true\n")), complaint);
        assert_eq!(check(&file(path, "[package]\n\n[lints]\nworkspace = true\n")), None);
    }

    #[test]
    fn the_manifest_of_the_workspace_is_not_a_crate() {
        assert_eq!(check(&file("Cargo.toml", "[workspace]\n")), None);
    }
}
