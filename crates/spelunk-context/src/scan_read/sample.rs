//! The digest of a large file: its length, its modification time and samples of its text. Hashing a gigabyte would take
//! longer than most questions. A change outside the samples that does not update the modification time goes unnoticed.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::time::{SystemTime, UNIX_EPOCH};

use spelunk_types::BlobId;

pub(crate) const WHOLE_BYTES_MAX: u64 = 64 << 20;

const SAMPLE_BYTES: u64 = 16 << 10;
const N_SAMPLES: u64 = 64;

/// The digest of the first `bytes` of an open file that was last modified at `modified`.
pub(crate) fn digest(mut file: &File, bytes: u64, modified: Option<SystemTime>) -> io::Result<BlobId> {
    let changed = modified.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let mut hasher = blake3::Hasher::new();
    hasher.update(b"sampled-v1");
    hasher.update(&bytes.to_le_bytes());
    hasher.update(&changed.map_or(0, |at| at.as_nanos()).to_le_bytes());
    let step = bytes.saturating_sub(SAMPLE_BYTES) / (N_SAMPLES - 1);
    let mut sample = Vec::new();
    for idx in 0..N_SAMPLES {
        sample.clear();
        file.seek(SeekFrom::Start(idx * step))?;
        file.take(SAMPLE_BYTES.min(bytes)).read_to_end(&mut sample)?;
        hasher.update(&sample);
    }
    Ok(BlobId::from_hash(*hasher.finalize().as_bytes()))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn now(file: &File) -> BlobId {
        let metadata = file.metadata().unwrap();
        digest(file, metadata.len(), metadata.modified().ok()).unwrap()
    }

    #[test]
    fn the_samples_reach_from_the_first_byte_to_the_last() {
        let mut file = tempfile::tempfile().unwrap();
        file.set_len(3 * WHOLE_BYTES_MAX).unwrap();
        let time = UNIX_EPOCH + std::time::Duration::from_secs(1_000);
        let mut digest_with = |at: u64| {
            file.seek(SeekFrom::Start(at)).unwrap();
            file.write_all(b"x").unwrap();
            file.set_modified(time).unwrap();
            let digest = now(&file);
            file.seek(SeekFrom::Start(at)).unwrap();
            file.write_all(&[0]).unwrap();
            digest
        };
        let (first, last, again) = (digest_with(0), digest_with(3 * WHOLE_BYTES_MAX - 1), digest_with(0));
        assert_ne!(first, last);
        assert_eq!(first, again);
    }

    #[test]
    fn a_file_that_was_changed_a_moment_later_has_another_digest() {
        let file = tempfile::tempfile().unwrap();
        file.set_len(2 * WHOLE_BYTES_MAX).unwrap();
        let at = |ms| UNIX_EPOCH + std::time::Duration::from_millis(ms);
        file.set_modified(at(1_000)).unwrap();
        let before = now(&file);
        file.set_modified(at(1_001)).unwrap();
        assert_ne!(now(&file), before);
    }
}
