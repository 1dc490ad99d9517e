//! `cargo xtask models`: updates the catalogue of hosted models with `spelunk model update`, the
//! command that users run. It prints the changes; review the file before you commit it.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::wheel::call;

const CATALOGUE: &str = "crates/spelunk-model/data/models.txt";

#[expect(clippy::disallowed_methods, reason = "a chore removes its own folder")]
pub(crate) fn run(root: &Path) -> Result<(), String> {
    let folder = std::env::temp_dir().join(format!("spelunk-models-{}", std::process::id()));
    let updated = update(root, &folder);
    drop(fs::remove_dir_all(&folder));
    updated
}

fn update(root: &Path, folder: &Path) -> Result<(), String> {
    let mut update = Command::new("cargo");
    update.args(["run", "--quiet", "--package", "spelunk", "--ignore-rust-version", "--", "model", "update"]);
    call(update.arg(format!("--set=local.path={}", folder.display())).current_dir(root))?;
    let copied = fs::copy(folder.join("hosted-models.txt"), root.join(CATALOGUE));
    copied.map(drop).map_err(|error| format!("could not write `{CATALOGUE}`: {error}"))
}
