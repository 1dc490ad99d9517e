//! The requirements for a new context: kind, description and source. Checked before a lock is taken.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use spelunk_types::percent_decoded;

use crate::store::revision::{Stamp, digest_of_file};
use crate::store::{
    AccessCounts, Context, ContextId, ContextRevision, ContextSource, ContextStore, NewContext, NewSource,
    StoreError,
};
use crate::{ContentType, Detector, ReadError, Reader, SkipReason, SourceError, secrets};

const NAME_BYTES_MAX: usize = 800;
const METADATA_ENTRIES_MAX: usize = 64;
const KEY_BYTES_MAX: usize = 100;
const VALUE_BYTES_MAX: usize = 2000;
const ADDRESS_BYTES_MAX: usize = 2000;
/// How much of a text is read to detect its format.
const HEAD_LINES: u64 = 50;
const HEAD_TOKENS: u64 = 4000;

impl ContextStore {
    /// Builds the context to register, and its inline text. `admitted` was checked before:
    /// extraction is slow.
    pub(super) fn admit(
        &self,
        new: NewContext,
        admitted: Option<Admitted>,
    ) -> Result<(Arc<Context>, Option<Arc<str>>), StoreError> {
        check_description(&new)?;
        let kind = self.kind(new.kind.name())?;
        let policy = new.policy.unwrap_or_else(|| self.state().default_policy(&kind));
        let Admitted { source, revision, text, content_type, about } = match admitted {
            Some(admitted) => admitted,
            None => self.admit_source(&new.id, new.source)?,
        };
        let mut metadata = about;
        metadata.extend(new.metadata);
        let context = Context {
            id: new.id,
            name: new.name,
            kind,
            content_type: new.content_type.or(content_type),
            source,
            metadata: metadata.into(),
            policy,
            registered_at_ms: self.now_ms(),
            revision,
            access: AccessCounts::default(),
        };
        Ok((Arc::new(context), text))
    }

    fn admit_source(&self, id: &ContextId, source: NewSource) -> Result<Admitted, StoreError> {
        match source {
            NewSource::File(path) => self.look_at_file(&path).map_err(|refusal| refusal.into_error(id)),
            NewSource::Inline(text) => {
                // Redact now: the text is copied next to the registry, and from there into runs and indexes.
                let text = self.redacted(text);
                let digest = blake3::hash(text.as_bytes()).to_hex().to_string();
                let size_bytes = text.len() as u64;
                let revision =
                    ContextRevision { size_bytes, modified_ms: None, digest: Some(digest.clone()) };
                let source = ContextSource::Inline { digest, size_bytes };
                let content_type = type_of("", &text);
                Ok(Admitted {
                    text: Some(text.into()),
                    content_type,
                    ..Admitted::new(source, Some(revision))
                })
            }
            NewSource::Loader(name) => {
                check_length(id, "name of the loader", name.len(), 1, ADDRESS_BYTES_MAX)?;
                Ok(Admitted::new(ContextSource::Loader(name), None))
            }
            NewSource::Uri(uri) => match path_of_uri(&uri)? {
                Some(path) => self.look_at_file(&path).map_err(|refusal| refusal.into_error(id)),
                None => {
                    check_length(id, "URI", uri.len(), 1, ADDRESS_BYTES_MAX)?;
                    Ok(Admitted::new(ContextSource::Uri(uri), None))
                }
            },
        }
    }

    /// Checks that a file has text; reads all of it only if the text must be extracted or unpacked.
    pub(super) fn look_at_file(&self, path: &Path) -> Result<Admitted, Refusal> {
        let absent = |error| Refusal::from(SourceError::from_io(path, error));
        let absolute = std::path::absolute(path).map_err(absent)?;
        if absolute.to_str().is_none() {
            return Err(Refusal::File(StoreError::PathNotUnicode { path: absolute }));
        }
        self.check_place(&absolute)?;
        let metadata = absolute.metadata().map_err(absent)?;
        if metadata.is_dir() {
            return Err(Refusal::File(StoreError::IsDirectory { path: path.to_owned() }));
        }
        if !metadata.is_file() {
            return Err(Refusal::from(SourceError::Special { path: path.to_owned() }));
        }
        // A file that cannot be read as text is refused now, not at the first access.
        let derived = Reader::open_derived(&absolute, self.allows_secrets()).map_err(Refusal::Unread)?;
        let mut revision = Stamp::of(&metadata).revision();
        if derived.is_made {
            revision.digest = Some(digest_of_file(&absolute).map_err(absent)?);
        }
        let mut admitted = Admitted::new(ContextSource::File(absolute.clone()), Some(revision));
        let head = derived.reader.peek(HEAD_LINES, HEAD_TOKENS).map_err(Refusal::Unread)?;
        admitted.content_type = type_of(&absolute.to_string_lossy(), &head.text);
        let n_documents = derived.n_documents.map(|n| ("documents".to_owned(), n.to_string()));
        admitted.about.extend(n_documents);
        admitted.about.extend(derived.left_out.map(|reasons| ("left_out".to_owned(), reasons)));
        Ok(admitted)
    }

    /// Whether a file may be read, with links resolved. Checked at every open, because a link can change.
    pub(super) fn check_place(&self, path: &Path) -> Result<(), Refusal> {
        let resolved =
            path.canonicalize().map_err(|error| Refusal::from(SourceError::from_io(path, error)))?;
        if let Some(roots) = &self.settings.roots {
            let is_below = |root: &PathBuf| root.canonicalize().is_ok_and(|root| resolved.starts_with(root));
            if !roots.iter().any(is_below) {
                let (path, roots) = (path.to_owned(), roots.clone());
                return Err(Refusal::File(StoreError::OutsideRoots { path, roots }));
            }
        }
        let is_secret = secrets::is_secret(path) || secrets::is_secret(&resolved);
        if is_secret && !self.allows_secrets() {
            return Err(Refusal::from(SourceError::Secret { path: path.to_owned() }));
        }
        Ok(())
    }
}

fn type_of(name: &str, head: &str) -> Option<String> {
    let found = Detector::default().detect(name, head).content_type;
    (found != ContentType::Unknown).then(|| found.name().to_owned())
}

#[derive(Debug, Clone)]
pub(super) struct Admitted {
    source: ContextSource,
    revision: Option<ContextRevision>,
    text: Option<Arc<str>>,
    content_type: Option<String>,
    /// Becomes metadata: how many documents an archive has, and what was left out of it.
    about: BTreeMap<String, String>,
}

impl Admitted {
    fn new(source: ContextSource, revision: Option<ContextRevision>) -> Self {
        Self { source, revision, text: None, content_type: None, about: BTreeMap::new() }
    }
}

#[derive(Debug)]
pub(super) enum Refusal {
    /// It cannot be read, or has no text.
    Unread(ReadError),
    /// It is outside the roots, a directory, or has a path that is not Unicode.
    File(StoreError),
}

impl From<SourceError> for Refusal {
    fn from(source: SourceError) -> Self {
        Self::Unread(source.into())
    }
}

impl Refusal {
    pub(super) fn into_error(self, id: &ContextId) -> StoreError {
        match self {
            Self::Unread(source) => StoreError::unread(id, source),
            Self::File(error) => error,
        }
    }

    /// The reason a directory walk skips the file; `None` if the problem is not limited to the file.
    pub(super) fn skip_reason(&self) -> Option<SkipReason> {
        let Self::Unread(error) = self else { return None };
        let source = match error {
            ReadError::Source(source) => source,
            ReadError::TooLarge { .. } | ReadError::MadeTooLarge { .. } => return Some(SkipReason::TooLarge),
            ReadError::Changed { .. } => return Some(SkipReason::Unreadable),
            ReadError::Directory { .. }
            | ReadError::PageOutOfRange { .. }
            | ReadError::LineOutOfRange { .. }
            | ReadError::ValueOutOfRange { .. }
            | ReadError::Pattern(_)
            | ReadError::Cancelled => return None,
        };
        match source {
            SourceError::NotText { why, .. } => Some((*why).into()),
            SourceError::Image { .. } => Some(SkipReason::Binary),
            SourceError::Extract { source, .. } => Some(source.reason()),
            SourceError::Archive { .. } => Some(SkipReason::Damaged),
            // An archive with nothing readable in it: report the gravest reason.
            SourceError::Empty { skipped, .. } => {
                let mut grave =
                    [SkipReason::Damaged, SkipReason::Encrypted, SkipReason::TooLarge].into_iter();
                grave.find(|reason| skipped.contains_key(reason.name())).or(Some(SkipReason::NoText))
            }
            SourceError::NotFound { .. } | SourceError::Read { .. } | SourceError::Changed { .. } => {
                Some(SkipReason::Unreadable)
            }
            SourceError::Secret { .. } => Some(SkipReason::Secret),
            SourceError::Special { .. } => Some(SkipReason::Special),
            SourceError::Scratch { .. }
            | SourceError::Glob { .. }
            | SourceError::Database { .. }
            | SourceError::Objects { .. } => None,
        }
    }
}

fn check_description(new: &NewContext) -> Result<(), StoreError> {
    let id = &new.id;
    check_length(id, "name", new.name.len(), 0, NAME_BYTES_MAX)?;
    check_length(id, "content type", new.content_type.as_ref().map_or(0, String::len), 0, KEY_BYTES_MAX)?;
    check_size((id, "metadata"), new.metadata.len(), METADATA_ENTRIES_MAX, "entries")?;
    for (key, value) in &new.metadata {
        check_length(id, "metadata key", key.len(), 0, KEY_BYTES_MAX)?;
        check_length(id, "metadata value", value.len(), 0, VALUE_BYTES_MAX)?;
    }
    Ok(())
}

fn check_length(
    id: &ContextId,
    what: &'static str,
    bytes: usize,
    bytes_min: usize,
    bytes_max: usize,
) -> Result<(), StoreError> {
    if bytes < bytes_min {
        return Err(StoreError::DescriptionEmpty { id: id.to_string(), what });
    }
    check_size((id, what), bytes, bytes_max, "bytes")
}

fn check_size(
    (id, what): (&ContextId, &'static str),
    size: usize,
    size_max: usize,
    unit: &'static str,
) -> Result<(), StoreError> {
    if size <= size_max {
        return Ok(());
    }
    let (id, size, size_max) = (id.to_string(), size as u64, size_max as u64);
    Err(StoreError::DescriptionTooLong { id, what, size, size_max, unit })
}

/// The path of a local `file:` URI; `None` for another scheme.
fn path_of_uri(uri: &str) -> Result<Option<PathBuf>, StoreError> {
    let bad = || StoreError::BadUri { uri: crate::name::printable_text(uri) };
    let (scheme, rest) = uri.split_once(':').ok_or_else(bad)?;
    let is_scheme_char = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let is_scheme =
        scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(is_scheme_char);
    if !is_scheme || rest.is_empty() || crate::name::printable_text(uri) != uri {
        return Err(bad());
    }
    if !scheme.eq_ignore_ascii_case("file") {
        return Ok(None);
    }
    let path = match rest.strip_prefix("//") {
        None => rest,
        Some(rest) => rest.strip_prefix("localhost").filter(|path| path.starts_with('/')).unwrap_or(rest),
    };
    if !path.starts_with('/') {
        return Err(bad());
    }
    let path = percent_decoded(path).filter(|path| !path.contains('\0')).ok_or_else(bad)?;
    Ok(Some(PathBuf::from(path)))
}
