//! The hub: downloads one file over HTTP, continuing where an earlier attempt stopped.

use std::io::Write as _;

use spelunk_model::{CatalogueModel, Download};

use super::file::{Checked, Staging, disk};
use super::{PullError, Puller};
use crate::units::bytes;

const PARTIAL: &str = "hub.gguf";
const BYTES_MAX: u64 = 1 << 40;
const SAID_PERCENT: u64 = 10;

/// The complete file, verified against the checksum of the catalogue or else of the hub.
pub(super) async fn fetch(
    puller: &Puller<'_>,
    staging: &Staging,
    file: &str,
    model: Option<&CatalogueModel>,
) -> Result<Checked, PullError> {
    let (_, n_there) = staging.append(PARTIAL)?;
    let mut download = Download::begin(&puller.hub_url, file, n_there).await?;
    if download.begins_at == 0 {
        drop(staging.create(PARTIAL)?);
    } else {
        (puller.say)(&format!("continuing after {}", bytes(download.begins_at)));
    }
    write(puller, staging, &mut download).await?;
    let path = staging.path(PARTIAL);
    let checked = Checked::of_file(&path)?;
    let expected = model.map(|model| model.sha256.clone()).or_else(|| download.sha256.clone());
    let refused = |what: String| {
        staging.remove(PARTIAL);
        Err(PullError::Checksum { name: file.to_owned(), what })
    };
    match (expected, download.bytes) {
        (_, Some(length)) if length != checked.bytes => {
            // A short file can be continued; a file that is too long must be wrong.
            if checked.bytes > length {
                return refused(format!("{} instead of {length} bytes", checked.bytes));
            }
            Err(spelunk_model::ModelError::StreamCut.into())
        }
        (Some(expected), _) if expected != checked.sha256 => {
            refused(format!("its SHA-256 is {} instead of {expected}", checked.sha256))
        }
        _ => Ok(checked),
    }
}

async fn write(puller: &Puller<'_>, staging: &Staging, download: &mut Download) -> Result<(), PullError> {
    let path = staging.path(PARTIAL);
    let (file, mut n_there) = staging.append(PARTIAL)?;
    let mut file = std::io::BufWriter::with_capacity(1 << 20, file);
    let mut said = 0;
    while let Some(piece) = download.piece().await? {
        n_there = n_there.saturating_add(piece.len() as u64);
        if n_there > download.bytes.unwrap_or(BYTES_MAX).min(BYTES_MAX) {
            staging.remove(PARTIAL);
            return Err(PullError::TooLong { bytes_max: download.bytes.unwrap_or(BYTES_MAX) });
        }
        file.write_all(&piece).map_err(|source| disk(&path, source))?;
        let Some(whole) = download.bytes.filter(|whole| *whole > 0) else { continue };
        let percent = n_there.saturating_mul(100) / whole;
        if percent >= said + SAID_PERCENT || (percent == 100 && said < 100) {
            said = percent - percent % SAID_PERCENT;
            (puller.say)(&format!("{} of {} ({percent} %)", bytes(n_there), bytes(whole)));
        }
    }
    file.flush().map_err(|source| disk(&path, source))
}
