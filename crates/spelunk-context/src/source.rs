//! Sources: where bytes come from. A source lists candidates; reading them decides which become documents.

pub(crate) mod archive;
mod directory;
mod filter;
mod globs;
mod text;

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

pub(crate) use archive::Format;
use archive::{Unpacked, Unpacking};
use directory::FoundFile;
pub(crate) use filter::Filter;
pub(crate) use text::extract_kind;
pub use text::given_text;

use crate::document::{Origin, Pin, SourceInput};
use crate::extract::ExtractKind;
use crate::scratch::Scratch;
use crate::secrets::marks_in;
use crate::unpack_limits::UnpackLimits;
use crate::{
    ObjectEntry, ObjectsHandle, QueryWatch, ScanReport, ServerHandle, SkipReason, SourceError, name,
};

const DESCRIBE_MS_MAX: u64 = 10_000;

#[derive(Debug)]
pub(crate) struct Candidate {
    /// The position of its source; set by the scan, like `extract` and `pin`.
    pub(crate) source_idx: usize,
    pub(crate) origin: Origin,
    pub(crate) name: String,
    /// According to the file system; the actual length counts.
    pub(crate) bytes: u64,
    pub(crate) named_by: NamedBy,
    /// How its text is extracted, if it is not read directly.
    pub(crate) extract: Option<ExtractKind>,
    pub(crate) redacts: bool,
    /// How an earlier scan found it, if it has grown since.
    pub(crate) pin: Option<Pin>,
    /// Whether it is an image, already counted as skipped.
    pub(crate) is_image: bool,
    /// The server whose tables it describes.
    pub(crate) server: Option<ServerHandle>,
    /// The object that has its bytes, until it is fetched.
    pub(crate) object: Option<BucketObject>,
}

#[derive(Debug)]
pub(crate) struct BucketObject {
    pub(crate) bucket: ObjectsHandle,
    pub(crate) entry: ObjectEntry,
}

/// Who named a candidate: one that is not text is refused if the user did, and skipped if a walk did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NamedBy {
    User,
    Walk,
}

#[derive(Clone, Copy)]
pub(crate) struct ScanContext<'a> {
    pub(crate) filter: &'a Filter<'a>,
    pub(crate) scratch: &'a Scratch,
}

/// A source that exists. Paths are canonical, so that one file has one path.
#[derive(Debug)]
pub(crate) enum Source {
    Directory { path: PathBuf },
    File { path: PathBuf, name: String, bytes: u64 },
    Archive { path: PathBuf, name: String, format: Format },
    Text { name: String, bytes: Arc<[u8]> },
    Database { server: ServerHandle, text: Arc<[u8]> },
    Objects { bucket: ObjectsHandle, entries: Vec<ObjectEntry> },
}

impl Source {
    pub(crate) fn open(input: &SourceInput, filter: &Filter<'_>) -> Result<Self, SourceError> {
        let (path, typed) = match input {
            SourceInput::Text { name, bytes } => {
                let bytes = given_text(name, bytes, filter.options);
                return Ok(Self::Text { name: text::name(name), bytes: bytes.as_ref().into() });
            }
            SourceInput::Kept { name, bytes } => {
                return Ok(Self::Text { name: text::name(name), bytes: bytes.as_slice().into() });
            }
            SourceInput::Database(server) => {
                let described = server.describe(&QueryWatch::of_ms(DESCRIBE_MS_MAX));
                let text =
                    described.map_err(|error| SourceError::database(server.url(), error))?.into_bytes();
                return Ok(Self::Database { server: server.clone(), text: text.into() });
            }
            SourceInput::Objects(bucket) => {
                let entries = bucket.list().map_err(|error| bucket.failed(error))?;
                return Ok(Self::Objects { bucket: bucket.clone(), entries });
            }
            SourceInput::Path(path) => (path, path),
            SourceInput::Typed { path, typed } => (path, typed),
        };
        let metadata = path.metadata().map_err(|error| SourceError::from_io(path, error))?;
        let canonical = path.canonicalize().map_err(|error| SourceError::from_io(path, error))?;
        if metadata.is_dir() {
            Ok(Self::Directory { path: canonical })
        } else if metadata.is_file() {
            open_file((path, typed), canonical, metadata.len(), filter)
        } else {
            Err(SourceError::Special { path: path.clone() })
        }
    }

    /// The name in reports, and the prefix of a directory's documents if there are several sources.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Directory { path } => match name::tail(path, 1) {
                name if name.is_empty() => "/".to_owned(),
                name => name,
            },
            Self::File { name, .. } | Self::Archive { name, .. } | Self::Text { name, .. } => name.clone(),
            Self::Database { server, .. } => text::name(server.name()),
            Self::Objects { bucket, .. } => name::printable_text(bucket.url()),
        }
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::Directory { path } | Self::File { path, .. } | Self::Archive { path, .. } => Some(path),
            Self::Text { .. } | Self::Database { .. } | Self::Objects { .. } => None,
        }
    }

    /// Lists the candidates of this source. `prefix` is prepended to the names of a directory's documents.
    pub(crate) fn list(
        self,
        prefix: &str,
        room: ScanContext<'_>,
        report: &mut ScanReport,
        found: &mut dyn FnMut(Candidate),
    ) -> Result<(), SourceError> {
        let (filter, name) = (room.filter, report.source.clone());
        match self {
            Self::Directory { path } => {
                directory::walk(&path, filter, report, &mut |file, report| {
                    let FoundFile { path, relative, bytes, is_image } = file;
                    let redacts = !filter.allows_secrets_in(&relative);
                    let name =
                        if prefix.is_empty() { relative.clone() } else { format!("{prefix}/{relative}") };
                    let item = |path, name| Candidate::in_file(path, name, bytes, NamedBy::Walk, redacts);
                    match Format::of(&name) {
                        None => found(Candidate { is_image, ..item(path, name) }),
                        Some(format) => {
                            match unpack((&path, format), (&name, &relative), room, report, found) {
                                // One that cannot be opened is counted and not fatal.
                                Err(SourceError::Archive { .. }) => report.skip(SkipReason::Damaged, &name),
                                outcome => return outcome,
                            }
                        }
                    }
                    Ok(())
                })
            }
            Self::File { path, bytes, .. } => {
                let redacts = !filter.allows_secrets_in(&name);
                found(Candidate::in_file(path, name, bytes, NamedBy::User, redacts));
                Ok(())
            }
            Self::Archive { path, format, .. } => {
                unpack((&path, format), (&name, &name), room, report, found)
            }
            Self::Objects { bucket, entries } => list_objects(&bucket, entries, room, report, found),
            Self::Text { bytes, .. } => {
                let item = Candidate::of_text(bytes, name, filter);
                if let (true, Origin::Text(bytes)) = (item.redacts, &item.origin) {
                    report.redact(&item.name, &marks_in(bytes));
                }
                found(item);
                Ok(())
            }
            Self::Database { server, text } => {
                found(Candidate { server: Some(server), ..Candidate::of_text(text, name, filter) });
                Ok(())
            }
        }
    }
}

impl Candidate {
    fn in_file(path: PathBuf, name: String, bytes: u64, named_by: NamedBy, redacts: bool) -> Self {
        Self::new(Origin::File(path), name, bytes, named_by, redacts)
    }

    fn of_text(text: Arc<[u8]>, name: String, filter: &Filter<'_>) -> Self {
        let (n_bytes, redacts) = (text.len() as u64, !filter.allows_secrets_in(&name));
        Self::new(Origin::Text(text), name, n_bytes, NamedBy::User, redacts)
    }

    fn new(origin: Origin, name: String, bytes: u64, named_by: NamedBy, redacts: bool) -> Self {
        let (source_idx, extract, pin, is_image, server, object) = (0, None, None, false, None, None);
        Self { source_idx, origin, name, bytes, named_by, extract, redacts, pin, is_image, server, object }
    }
}

/// Opens a file that the user named. It is taken even if a walk would skip it, unless its name indicates a secret. An
/// archive is opened. `given` is its location, and the path it is named after if that path only descends.
fn open_file(
    (given, typed): (&Path, &Path),
    canonical: PathBuf,
    bytes: u64,
    filter: &Filter<'_>,
) -> Result<Source, SourceError> {
    let is_plain =
        typed.components().all(|component| matches!(component, Component::CurDir | Component::Normal(_)));
    let name = if is_plain { name::printable(typed) } else { name::tail(given, 1) };
    // Both names count: a link called `notes.txt` to a key is a key.
    if filter.is_secret(&canonical, &name) || filter.is_secret(given, &name) {
        return Err(SourceError::Secret { path: given.to_owned() });
    }
    if let Some(format) = Format::of(&name) {
        return Ok(Source::Archive { path: canonical, name, format });
    }
    Ok(Source::File { path: canonical, name, bytes })
}

/// Lists the objects of a bucket by the rules of a walk, except that it has no ignore files and its images are not
/// shown. Nothing is fetched yet but archives.
fn list_objects(
    bucket: &ObjectsHandle,
    entries: Vec<ObjectEntry>,
    room: ScanContext<'_>,
    report: &mut ScanReport,
    found: &mut dyn FnMut(Candidate),
) -> Result<(), SourceError> {
    let (filter, url) = (room.filter, report.source.clone());
    // A key that ends with a slash only marks a folder.
    for entry in entries.into_iter().filter(|entry| !entry.key.ends_with('/')) {
        let is_named = entry.key.is_empty();
        // No URL can name a key with a `.` in it.
        let has_dot = entry.key.split('/').any(|part| part == ".");
        let (name, relative) = match archive::safe_name(&entry.key).filter(|_| !has_dot) {
            _ if is_named => (url.clone(), name::file_name(&url).to_owned()),
            Some(relative) => (format!("{url}/{relative}"), relative),
            None => {
                report.skip(SkipReason::UnsafeName, &name::printable_text(&entry.key));
                continue;
            }
        };
        if is_named && filter.is_secret(Path::new(&relative), &relative) {
            return Err(SourceError::Secret { path: url.into() });
        }
        if let Some(reason) = filter.against_entry(&relative, is_named).filter(|_| !is_named) {
            report.skip(reason, &name);
            continue;
        }
        if let Some(format) = Format::of(&relative) {
            let Some(path) = bucket.copy(&entry)? else {
                report.skip(SkipReason::Unreadable, &name);
                continue;
            };
            match unpack((&path, format), (&name, &relative), room, report, found) {
                Err(SourceError::Archive { .. }) if !is_named => report.skip(SkipReason::Damaged, &name),
                outcome => outcome?,
            }
            continue;
        }
        let (named_by, redacts) =
            (if is_named { NamedBy::User } else { NamedBy::Walk }, !filter.allows_secrets_in(&relative));
        let item = Candidate::in_file(PathBuf::from(&name), name, entry.bytes, named_by, redacts);
        let object = Some(BucketObject { bucket: bucket.clone(), entry });
        found(Candidate { object, ..item });
    }
    Ok(())
}

/// Unpacks an archive. Globs match its path below the directory or bucket that contains it.
fn unpack(
    (path, format): (&Path, Format),
    (name, relative): (&str, &str),
    room: ScanContext<'_>,
    report: &mut ScanReport,
    found: &mut dyn FnMut(Candidate),
) -> Result<(), SourceError> {
    let ScanContext { filter, scratch } = room;
    let mut keep = |Unpacked { path, relative, bytes }: Unpacked| {
        let redacts = !filter.allows_secrets_in(&relative);
        found(Candidate::in_file(path, format!("{name}/{relative}"), bytes, NamedBy::Walk, redacts));
    };
    let mut unpacking = Unpacking {
        archive: name,
        filter,
        is_included: filter.includes_archive(relative),
        scratch,
        limits: UnpackLimits::default(),
        report,
        found: &mut keep,
        n_seen: 0,
        bytes: 0,
    };
    archive::unpack(path, format, &mut unpacking)
}

#[cfg(test)]
mod tests;
