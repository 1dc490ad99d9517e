//! An index of one corpus on disk, for finding passages by words and by meaning. It is derived: it can be deleted at
//! any time, damage is detected when it is opened, and an update brings it in sync with a view. It contains no text
//! that a view would withhold. One process updates it at a time; any number can search the last commit.

pub(crate) mod notice;
mod prepare;
mod results;
pub(crate) mod search;
pub(crate) mod update;

use std::fs::File;
use std::io;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use spelunk_context::{Corpus, Detector, DocEntry, SourceError, View};
use spelunk_fs::{LockError, PrivateDir, if_there, lock_file};

use crate::catalogue::{BYTES_MAX, Catalogue, FileRecord, Vectors};
use crate::files;
use crate::index::search::{IndexedDocuments, SearchResults, search};
use crate::index::update::{Update, would_rebuild};
use crate::query::Query;
use crate::texts::Texts;
use crate::vector_store::Rows;
use crate::words_index::{BitSet, EmbeddedPassage, WORDS_DIRECTORY, WordsIndex, embedded_passages};
use crate::{EmbedError, Embedder, IndexError};

const CATALOGUE: &str = "catalogue";
const LOCK: &str = "update.lock";
const COMMIT_LOCK: &str = "commit.lock";
pub(crate) const VECTORS_DIRECTORY: &str = "vectors";
const TICKS_MAX: usize = 2000;

/// What an index depends on besides its directory.
#[derive(Clone, Default)]
pub struct IndexOptions {
    /// Computes vectors. Without one, the index searches by words alone.
    pub embedder: Option<Arc<dyn Embedder>>,
}

impl std::fmt::Debug for IndexOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let id = self.embedder.as_ref().map(|embedder| embedder.id());
        f.debug_struct("IndexOptions").field("embedder", &id).finish()
    }
}

/// What an update depends on besides the view.
#[derive(Debug, Clone)]
pub struct UpdateOptions {
    /// Detects content types.
    pub detector: Detector,
    /// Changes whenever the detector's settings do: everything is then read again.
    pub detector_key: String,
    /// How much text is processed between commits.
    pub commit_bytes: u64,
}

impl Default for UpdateOptions {
    fn default() -> Self {
        Self { detector: Detector::default(), detector_key: String::new(), commit_bytes: 256 << 20 }
    }
}

/// The progress of an update.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IndexProgress {
    /// New or changed documents that are done.
    pub documents_done: u64,
    /// New or changed documents.
    pub documents_total: u64,
    /// The size of those that are done.
    pub bytes_done: u64,
    /// The size of all of them.
    pub bytes_total: u64,
    /// Passages made so far.
    pub passages: u64,
}

/// What an update did.
#[derive(Debug, Default)]
pub struct UpdateReport {
    /// New documents.
    pub added: u64,
    /// Documents that were indexed in another version.
    pub changed: u64,
    /// Documents that no longer exist.
    pub removed: u64,
    /// Documents left as they are.
    pub unchanged: u64,
    /// Documents that could not be read, and why.
    pub unreadable: Vec<(String, SourceError)>,
    /// Passages made.
    pub passages: u64,
    /// Passages embedded; the others were in the cache.
    pub embedded: u64,
    /// Why the index was rebuilt, if it was; shown to the user.
    pub rebuilt: Option<Rebuilt>,
    /// Whether it was stopped; the next update continues from there.
    pub interrupted: bool,
}

/// Why an index was rebuilt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rebuilt {
    /// Its files were damaged, or of another version.
    Damaged(String),
    /// Its vectors came from another model.
    OtherModel,
    /// Documents are now cut differently.
    OtherCut,
    /// Most of its vectors belonged to removed passages.
    Compacted,
}

impl std::fmt::Display for Rebuilt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Damaged(why) => write!(f, "the index was rebuilt: {why}"),
            Self::OtherModel => f.write_str("the index was rebuilt for another embedding model"),
            Self::OtherCut => f.write_str("the index was rebuilt because the content types have changed"),
            Self::Compacted => f.write_str("the index was rebuilt to free space"),
        }
    }
}

/// The index of one corpus.
#[derive(Debug)]
pub struct Index {
    pub(crate) directory: PathBuf,
    pub(crate) options: IndexOptions,
    pub(crate) state: State,
}

#[derive(Debug)]
pub(crate) enum State {
    Empty,
    Ready(Box<Snapshot>),
    Damaged(String),
}

#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) catalogue: Catalogue,
    pub(crate) words: WordsIndex,
    pub(crate) rows: Option<Rows>,
    /// Which passage has which vector, sorted by row, and the set of these rows; computed on first use.
    embedded_passages: OnceLock<(Vec<EmbeddedPassage>, BitSet)>,
    /// The last searched corpus and its indexed documents: comparing names is slower than a search.
    indexed: Mutex<Option<(Weak<Corpus>, Arc<IndexedDocuments>)>>,
}

impl Snapshot {
    pub(crate) fn indexed(
        &self,
        corpus: &Arc<Corpus>,
        compare: impl FnOnce() -> IndexedDocuments,
    ) -> Arc<IndexedDocuments> {
        let mut known = self.indexed.lock().unwrap_or_else(PoisonError::into_inner);
        match &*known {
            Some((of, indexed)) if of.as_ptr() == Arc::as_ptr(corpus) => Arc::clone(indexed),
            Some(_) | None => {
                let indexed = Arc::new(compare());
                *known = Some((Arc::downgrade(corpus), Arc::clone(&indexed)));
                indexed
            }
        }
    }

    pub(crate) fn embedded_passages(&self) -> tantivy::Result<&(Vec<EmbeddedPassage>, BitSet)> {
        if let Some(known) = self.embedded_passages.get() {
            return Ok(known);
        }
        let passages = embedded_passages(&self.words.searcher())?;
        let rows = passages.iter().map(|passage| u64::from(passage.row)).collect();
        Ok(self.embedded_passages.get_or_init(|| (passages, rows)))
    }
}

impl Index {
    /// Opens or creates the index in a folder of a private directory, where links are an error.
    pub fn open_in(dir: &PrivateDir, folder: &str, options: IndexOptions) -> Result<Self, IndexError> {
        let directory =
            dir.plain_dir(folder).map_err(|source| IndexError::of(&dir.root().join(folder), source))?;
        Self::open(&directory, options)
    }

    /// Opens the index in a directory, creating it if necessary. Damage is left for `update` to repair.
    pub fn open(directory: &Path, options: IndexOptions) -> Result<Self, IndexError> {
        files::make_directory(directory).map_err(|source| IndexError::of(directory, source))?;
        let state = load(directory).map_err(|source| IndexError::of(directory, source))?;
        Ok(Self { directory: directory.to_owned(), options, state })
    }

    /// Brings the index in sync with a view: new or changed documents are read, removed ones are dropped. `progress`
    /// may stop it; finished work is kept, and a later update continues.
    pub fn update(
        &mut self,
        view: &View,
        options: &UpdateOptions,
        progress: &mut dyn FnMut(IndexProgress) -> ControlFlow<()>,
    ) -> Result<UpdateReport, IndexError> {
        let _lock = self.lock()?;
        // Another process may have committed in the meantime.
        self.state = load(&self.directory).map_err(|source| IndexError::of(&self.directory, source))?;
        let outcome = Update::start(self, view, options).and_then(|update| update.run(progress));
        self.state = load(&self.directory).map_err(|source| IndexError::of(&self.directory, source))?;
        outcome.map_err(|error| IndexError::of(&self.directory, error))
    }

    /// The passages of the view relevant to a query, best first. Only documents indexed as they are
    /// now count.
    pub fn search(&self, view: &View, query: &Query) -> Result<SearchResults, IndexError> {
        self.search_with(view, query, &mut Texts::default())
    }

    /// Like [`Self::search`], for several searches of one view that share the texts they read.
    pub fn search_with(
        &self,
        view: &View,
        query: &Query,
        texts: &mut Texts,
    ) -> Result<SearchResults, IndexError> {
        match &self.state {
            State::Empty => Ok(SearchResults::nothing(query, view)),
            State::Damaged(why) => Err(self.damaged(why.clone())),
            State::Ready(snapshot) => {
                // If a mapped file is damaged, the library may panic.
                let found = catch_unwind(AssertUnwindSafe(|| search(self, snapshot, view, query, texts)));
                found.unwrap_or_else(|_| Err(self.damaged("a file changed while it was open".to_owned())))
            }
        }
    }

    /// The numbers of documents and passages in the last commit.
    pub fn size(&self) -> (u64, u64) {
        match &self.state {
            State::Ready(snapshot) => {
                (snapshot.catalogue.documents.len() as u64, snapshot.catalogue.n_passages())
            }
            State::Empty | State::Damaged(_) => (0, 0),
        }
    }

    /// Whether every document of the view is indexed in its current version and with these options.
    pub fn holds(&self, view: &View, options: &UpdateOptions) -> bool {
        self.missing(view, options).next().is_none()
    }

    /// The size of the documents of the view that are not indexed in this way.
    pub fn missing_bytes(&self, view: &View, options: &UpdateOptions) -> u64 {
        self.missing(view, options).map(|document| document.bytes).sum()
    }

    fn missing<'a>(&'a self, view: &'a View, options: &UpdateOptions) -> impl Iterator<Item = &'a DocEntry> {
        let snapshot = match &self.state {
            State::Ready(snapshot) if !would_rebuild(self, options) => Some(snapshot),
            State::Ready(_) | State::Empty | State::Damaged(_) => None,
        };
        let is_held =
            move |document: &DocEntry| snapshot.is_some_and(|s| s.catalogue.current(document).is_some());
        view.documents().filter(move |document| !is_held(document))
    }

    pub(crate) fn damaged(&self, why: String) -> IndexError {
        IndexError::Damaged { directory: self.directory.clone(), why }
    }

    /// One process writes at a time. The lock is released with its process.
    fn lock(&self) -> Result<File, IndexError> {
        let unusable = |source: io::Error| IndexError::of(&self.directory, source);
        let file = files::open_private(&self.directory.join(LOCK)).map_err(unusable)?;
        lock_file(file, Duration::ZERO).map_err(|error| match error {
            LockError::Held(pid) => IndexError::Locked { directory: self.directory.clone(), pid },
            LockError::Unusable(source) => unusable(source),
        })
    }
}

/// Held while the committed state changes, so that nobody opens an index between two states.
pub(crate) fn hold_commit(directory: &Path) -> io::Result<File> {
    let file = files::open_private(&directory.join(COMMIT_LOCK))?;
    file.lock()?;
    Ok(file)
}

fn load(directory: &Path) -> io::Result<State> {
    let commit = files::open_private(&directory.join(COMMIT_LOCK))?;
    commit.lock_shared()?;
    let Some(bytes) = files::read_whole(&directory.join(CATALOGUE), BYTES_MAX)? else {
        let is_bare = files::names(&directory.join(WORDS_DIRECTORY))?.is_empty();
        let damaged = || State::Damaged("its catalogue is missing".to_owned());
        return Ok(if is_bare { State::Empty } else { damaged() });
    };
    let catalogue = match Catalogue::decode(&bytes) {
        Ok(catalogue) => catalogue,
        Err(why) => return Ok(State::Damaged(why.to_owned())),
    };
    for (name, record) in &catalogue.files {
        if !is_as_recorded(&directory.join(name), record)? {
            return Ok(State::Damaged(format!("`{name}` has changed since it was written")));
        }
    }
    let words_path = directory.join(WORDS_DIRECTORY);
    let words = match catch_unwind(AssertUnwindSafe(|| WordsIndex::open(&words_path))) {
        Ok(Ok(words)) => words,
        Ok(Err(error)) => return Ok(State::Damaged(format!("its word index cannot be opened: {error}"))),
        Err(_) => return Ok(State::Damaged("its word index cannot be opened".to_owned())),
    };
    let rows_of = |of: &Vectors| Rows::new(directory.join(VECTORS_DIRECTORY), of.dimensions, of.n_rows);
    let rows = catalogue.vectors.as_ref().map(rows_of);
    let (embedded_passages, indexed) = Default::default();
    Ok(State::Ready(Box::new(Snapshot { catalogue, words, rows, embedded_passages, indexed })))
}

/// A file whose recorded size and time match is trusted; any other is read and verified.
fn is_as_recorded(path: &Path, record: &FileRecord) -> io::Result<bool> {
    let Some(stamp) = if_there(files::stamp(path))? else { return Ok(false) };
    if stamp == record.stamp {
        return Ok(true);
    }
    Ok(stamp.bytes == record.stamp.bytes && files::digest(path)?.to_hex().as_str() == record.digest)
}

/// Records files and writes the catalogue after a commit. Files recorded before and unchanged are not read again.
pub(crate) fn write_catalogue(
    directory: &Path,
    catalogue: &mut Catalogue,
    names: impl Iterator<Item = String>,
) -> io::Result<()> {
    let before = std::mem::take(&mut catalogue.files);
    let mut newest_ns = 0;
    for name in names {
        let path = directory.join(&name);
        let stamp = files::stamp(&path)?;
        newest_ns = newest_ns.max(stamp.changed_ns);
        let record = match before.get(&name) {
            Some(record) if record.stamp == stamp => record.clone(),
            Some(_) | None => FileRecord { stamp, digest: files::digest(&path)?.to_hex().to_string() },
        };
        catalogue.files.insert(name, record);
    }
    if !wait_for_the_clock(directory, newest_ns)? {
        catalogue.files.values_mut().for_each(|record| record.stamp.changed_ns = 0);
    }
    files::replace(&directory.join(CATALOGUE), catalogue.encode().as_bytes())
}

/// Waits until a file changed now gets a later time than those recorded; file system clocks tick in milliseconds. If
/// the clock does not tick, no time is trusted and files are verified when opened.
fn wait_for_the_clock(directory: &Path, newest_ns: u128) -> io::Result<bool> {
    let probe = directory.join("tick");
    let mut has_ticked = false;
    for _ in 0..TICKS_MAX {
        has_ticked = files::touch(&probe)?.changed_ns > newest_ns;
        if has_ticked {
            break;
        }
        std::thread::yield_now();
    }
    files::remove(&probe)?;
    Ok(has_ticked)
}

/// Removes everything in the directory but its locks.
pub(crate) fn wipe(directory: &Path) -> io::Result<()> {
    files::remove(&directory.join(CATALOGUE))?;
    files::remove_directory(&directory.join(WORDS_DIRECTORY))?;
    files::remove_directory(&directory.join(VECTORS_DIRECTORY))
}

pub(crate) fn embedder_for<'a>(
    index: &'a Index,
    snapshot: &Snapshot,
) -> Result<&'a dyn Embedder, IndexError> {
    let no_vectors = || IndexError::NoVectors { directory: index.directory.clone() };
    let vectors = snapshot.catalogue.vectors.as_ref().ok_or_else(no_vectors)?;
    let embedder = index.options.embedder.as_deref().ok_or_else(no_vectors)?;
    if embedder.id() != vectors.embedder {
        return Err(IndexError::OtherModel {
            directory: index.directory.clone(),
            made_with: vectors.embedder.clone(),
            asked: embedder.id().to_owned(),
        });
    }
    Ok(embedder)
}

pub(crate) fn embed_checked(embedder: &dyn Embedder, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
    let vectors = embedder.embed(texts)?;
    let wrong = vectors.iter().map(Vec::len).find(|&n| n != embedder.dimensions());
    if vectors.len() == texts.len() && wrong.is_none() {
        return Ok(vectors);
    }
    Err(EmbedError::Shape {
        model: embedder.id().to_owned(),
        asked: texts.len(),
        given: vectors.len(),
        dimensions: wrong.unwrap_or_else(|| embedder.dimensions()),
    })
}

#[cfg(test)]
mod tests;
