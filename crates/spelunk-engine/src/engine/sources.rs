//! The sources of a run: stores texts that come with a request, and reopens the sources that a journal names.

use std::sync::Arc;

use spelunk_context::{Corpus, Pins, ScanOptions, ScanProgress, SourceError, SourceInput, given_text};
use spelunk_journal::{Blobs, JournalError, Workspace};
use spelunk_types::{BlobId, SourceSpec};

use super::Engine;
use crate::EngineError;
use crate::sync::lock;

pub(super) type OpenServer = Arc<dyn Fn(&str) -> SourceInput + Send + Sync>;

impl Engine {
    /// Stores a text that arrived with a request, with its secrets redacted, so that a resumed run finds it
    /// again. It is not garbage-collected until a run of this engine has started or the engine is dropped.
    pub fn keep_text(&self, name: &str, bytes: &[u8]) -> Result<SourceSpec, JournalError> {
        let bytes = &*given_text(name, bytes, &self.scan);
        let hold = self.workspace.hold()?;
        *lock(&self.texts_held) = hold;
        let blobs = self.workspace.blobs();
        Ok(SourceSpec::Text { name: name.to_owned(), content: blobs.keep_bytes(bytes)? })
    }

    /// Scans the sources. Blocking; reports to `progress`.
    pub fn open_corpus(
        &self,
        sources: &[SourceSpec],
        progress: &mut dyn FnMut(ScanProgress),
    ) -> Result<Corpus, EngineError> {
        self.read_sources(sources, &self.scan, &Pins::new(), progress)
    }

    pub(super) fn read_sources(
        &self,
        sources: &[SourceSpec],
        scan: &ScanOptions,
        pins: &Pins,
        progress: &mut dyn FnMut(ScanProgress),
    ) -> Result<Corpus, EngineError> {
        let blobs = self.workspace.blobs();
        let input = |source: &SourceSpec| self.source_input(&blobs, source);
        let inputs = sources.iter().map(input).collect::<Result<Vec<_>, _>>()?;
        Ok(Corpus::scan_pinned(&inputs, scan, pins, progress)?)
    }

    fn source_input(&self, blobs: &Blobs, source: &SourceSpec) -> Result<SourceInput, EngineError> {
        Ok(match source {
            SourceSpec::Path { path, name: None } => SourceInput::Path(path.into()),
            SourceSpec::Path { path, name: Some(name) } => {
                SourceInput::Typed { path: path.into(), typed: name.into() }
            }
            SourceSpec::Text { name, content } => {
                let bytes = blobs.bytes(content).map_err(|source| EngineError::GivenText { source })?;
                SourceInput::Kept { name: name.clone(), bytes }
            }
            SourceSpec::Snapshot { manifest, file, name } => {
                snapshot_input(&self.workspace, manifest, file.as_deref(), name.as_deref())
                    .map_err(|source| EngineError::GivenText { source })?
            }
            SourceSpec::Database { url } | SourceSpec::Objects { url } => match &self.servers {
                Some(open) => open(url),
                None => {
                    let (why, hint) =
                        ("this program opens no servers".to_owned(), "resume it with `spelunk`");
                    return Err(SourceError::Objects { url: url.clone(), why, hint }.into());
                }
            },
        })
    }
}

/// The files of a snapshot, or one of them under the name that the user typed.
pub fn snapshot_input(
    workspace: &Workspace,
    manifest: &BlobId,
    file: Option<&str>,
    name: Option<&str>,
) -> Result<SourceInput, JournalError> {
    let missing = || JournalError::Blob { blob: manifest.clone(), what: "in a fleet: pass `--fleet`" };
    let shared = workspace.shared().ok_or_else(missing)?;
    let unread = |source| JournalError::Read { name: format!("the snapshot {manifest}"), source };
    let folder = shared.snapshot(manifest).map_err(unread)?;
    let path = file.map_or_else(|| folder.clone(), |file| folder.join(file));
    Ok(match name {
        Some(name) => SourceInput::Typed { path, typed: name.into() },
        None => SourceInput::Path(path),
    })
}
