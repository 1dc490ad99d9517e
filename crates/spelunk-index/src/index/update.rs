//! Updates: brings an index in sync with a view. Threads read, cut and embed documents; the caller's thread writes the
//! results, in whole documents, and commits from time to time. Memory is bounded: each thread holds one document or
//! window, and the queue between them is short.

use std::collections::{BTreeSet, HashMap};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use spelunk_context::{Detected, DocEntry, SourceError, View};

use crate::catalogue::{Catalogue, DocumentRecord, Vectors, language_name};
use crate::cut::CUT_VERSION;
use crate::index::prepare::{Prepared, Preparer, Vector};
use crate::index::{
    Index, IndexProgress, Rebuilt, State, UpdateOptions, UpdateReport, VECTORS_DIRECTORY, hold_commit,
    unusable, wipe, words_error, write_catalogue,
};
use crate::vector_cache::VectorCache;
use crate::vector_store::{Appender, Rows};
use crate::words_index::{NewPassage, WORDS_DIRECTORY, WordsIndex, WordsWriter};
use crate::{EmbedError, Embedder, IndexError, files};

/// Threads that read, cut and embed, and so documents in memory at once.
const THREADS_MAX: usize = 4;

/// Threads that write words. Less text than `SMALL_BYTES_MAX` is written by one thread, into one segment.
const WRITER_THREADS_MAX: usize = 2;
const SMALL_BYTES_MAX: u64 = 32 << 20;

/// The queue of documents, or windows of them, to be written.
const QUEUE_MAX: usize = 4;

/// Rows of removed passages are kept as a cache, up to this many beyond those in use.
const ROWS_SPARE: u64 = 1 << 18;

const OLD_VECTORS_DIRECTORY: &str = "vectors-old";

/// The hash of a document's bytes and of how they may be read: with secrets allowed, it is another text.
pub(crate) fn version_of(document: &DocEntry) -> String {
    let mark = if document.redacts { "" } else { "+secrets" };
    format!("{}{mark}", document.digest)
}

/// What a reading thread sends to the writer.
enum Message {
    Passages { idx: usize, passages: Vec<Prepared> },
    Done { idx: usize, outcome: Result<Option<Detected>, SourceError> },
    Stopped { idx: usize, error: Option<EmbedError> },
}

/// An update that is ready to start.
pub(crate) struct Update<'a> {
    directory: PathBuf,
    embedder: Option<&'a dyn Embedder>,
    view: &'a View,
    options: &'a UpdateOptions,
    catalogue: Catalogue,
    words: WordsIndex,
    report: UpdateReport,
    todo: Vec<&'a DocEntry>,
    gone: Vec<u64>,
}

impl<'a> Update<'a> {
    /// Compares the index with the view. Unusable data is discarded.
    pub(crate) fn start(
        index: &'a Index,
        view: &'a View,
        options: &'a UpdateOptions,
    ) -> Result<Self, IndexError> {
        let directory = index.directory.clone();
        let embedder = index.options.embedder.as_deref();
        let cut = cut_of(options);
        let rebuilt = reason_to_rebuild(&index.state, embedder, &cut);
        let mut report = UpdateReport::default();
        let (mut catalogue, words) = match &index.state {
            State::Ready(snapshot) if rebuilt.is_none() => {
                let words = WordsIndex::open(&directory.join(WORDS_DIRECTORY));
                (snapshot.catalogue.clone(), words.map_err(|error| words_error(&directory, error))?)
            }
            State::Ready(_) | State::Empty | State::Damaged(_) => {
                let fresh = make_anew(&directory, rebuilt.as_ref());
                let words = fresh.and_then(|()| {
                    WordsIndex::create(&directory.join(WORDS_DIRECTORY))
                        .map_err(|error| words_error(&directory, error))
                })?;
                let vectors = embedder.map(|embedder| Vectors {
                    embedder: embedder.id().to_owned(),
                    dimensions: embedder.dimensions(),
                    n_rows: 0,
                });
                (Catalogue { cut, vectors, next_id: 1, ..Catalogue::default() }, words)
            }
        };
        report.rebuilt = rebuilt;
        let mut gone = std::mem::take(&mut catalogue.partial);
        let todo = compare(&mut catalogue, view, &mut gone, &mut report);
        Ok(Self { directory, embedder, view, options, catalogue, words, report, todo, gone })
    }

    pub(crate) fn run(
        mut self,
        progress: &mut dyn FnMut(IndexProgress) -> ControlFlow<()>,
    ) -> Result<UpdateReport, IndexError> {
        let is_old = |name: &String| name.starts_with(OLD_VECTORS_DIRECTORY);
        let is_written = !self.catalogue.files.is_empty() && !self.catalogue.files.keys().any(is_old);
        if self.todo.is_empty() && self.gone.is_empty() && is_written {
            return Ok(self.report);
        }
        let bytes_total: u64 = self.todo.iter().map(|document| document.bytes).sum();
        let n_cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let n_writers = if bytes_total < SMALL_BYTES_MAX { 1 } else { n_cores.min(WRITER_THREADS_MAX) };
        let words = self.words.writer(n_writers).map_err(|error| words_error(&self.directory, error))?;
        for &id in &self.gone {
            words.remove_document(id);
        }
        let vectors = self.open_vectors()?;
        let first_id = self.catalogue.next_id;
        self.catalogue.next_id += self.todo.len() as u64;
        let documents_total = self.todo.len() as u64;
        let mut writing = Writing {
            update: self,
            words,
            vectors,
            first_id,
            partial: BTreeSet::new(),
            n_passages: HashMap::new(),
            bytes_uncommitted: 0,
            progress: IndexProgress { documents_total, bytes_total, ..IndexProgress::default() },
            embed_error: None,
        };
        let known = writing.load_known()?;
        let n_threads = n_cores.min(THREADS_MAX).min(writing.update.todo.len().max(1));
        writing.write_all(n_threads, &known, progress)?;
        writing.finish()
    }

    fn open_vectors(&self) -> Result<Option<OpenVectors>, IndexError> {
        let unusable = |source| unusable(&self.directory, source);
        let Some(Vectors { dimensions, n_rows, .. }) = self.catalogue.vectors else { return Ok(None) };
        let rows = Rows::new(self.directory.join(VECTORS_DIRECTORY), dimensions, n_rows);
        Ok(Some(OpenVectors { appender: rows.append().map_err(unusable)? }))
    }
}

/// The cutting version for these options.
fn cut_of(options: &UpdateOptions) -> String {
    blake3::hash(format!("{CUT_VERSION} {}", options.detector_key).as_bytes()).to_hex().to_string()
}

/// Whether an update would rebuild the index.
pub(crate) fn would_rebuild(index: &Index, options: &UpdateOptions) -> bool {
    reason_to_rebuild(&index.state, index.options.embedder.as_deref(), &cut_of(options)).is_some()
}

/// Why the index must be rebuilt, if so.
fn reason_to_rebuild(state: &State, embedder: Option<&dyn Embedder>, cut: &str) -> Option<Rebuilt> {
    match state {
        State::Empty => None,
        State::Damaged(why) => Some(Rebuilt::Damaged(why.clone())),
        State::Ready(snapshot) => {
            let catalogue = &snapshot.catalogue;
            let made_with = catalogue.vectors.as_ref().map(|vectors| vectors.embedder.as_str());
            let n_rows = catalogue.vectors.as_ref().map_or(0, |vectors| u64::from(vectors.n_rows));
            if made_with != embedder.map(Embedder::id) {
                Some(Rebuilt::OtherModel)
            } else if catalogue.cut != cut {
                Some(Rebuilt::OtherCut)
            } else if n_rows > 2 * catalogue.n_passages() + ROWS_SPARE {
                Some(Rebuilt::Compacted)
            } else {
                None
            }
        }
    }
}

/// Empties the directory. Vectors that are still valid stay, to be reused.
fn make_anew(directory: &Path, rebuilt: Option<&Rebuilt>) -> Result<(), IndexError> {
    let unusable = |source| unusable(directory, source);
    let _commit = hold_commit(directory).map_err(unusable)?;
    let old = directory.join(OLD_VECTORS_DIRECTORY);
    files::remove_directory(&old).map_err(unusable)?;
    if matches!(rebuilt, Some(Rebuilt::OtherCut | Rebuilt::Compacted)) {
        files::rename(&directory.join(VECTORS_DIRECTORY), &old).map_err(unusable)?;
    }
    wipe(directory).map_err(unusable)?;
    files::make_directory(&directory.join(WORDS_DIRECTORY)).map_err(unusable)
}

/// Removes deleted and changed documents from the catalogue; returns those to be read.
fn compare<'a>(
    catalogue: &mut Catalogue,
    view: &'a View,
    gone: &mut Vec<u64>,
    report: &mut UpdateReport,
) -> Vec<&'a DocEntry> {
    let mut held = std::mem::take(&mut catalogue.documents);
    let mut todo = Vec::new();
    for document in view.documents() {
        match held.remove(&document.name) {
            Some(record) if record.version == version_of(document) => {
                report.unchanged += 1;
                catalogue.documents.insert(document.name.clone(), record);
            }
            Some(record) => {
                report.changed += 1;
                gone.push(record.id);
                todo.push(document);
            }
            None => {
                report.added += 1;
                todo.push(document);
            }
        }
    }
    report.removed = held.len() as u64;
    gone.extend(held.into_values().map(|record| record.id));
    todo
}

struct OpenVectors {
    appender: Appender,
}

/// What happens to the vectors of an index that is being replaced.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OldVectors {
    Kept,
    Dropped,
}

/// An update in progress.
struct Writing<'a> {
    update: Update<'a>,
    words: WordsWriter,
    vectors: Option<OpenVectors>,
    first_id: u64,
    /// Documents that are partly written.
    partial: BTreeSet<usize>,
    n_passages: HashMap<usize, u64>,
    bytes_uncommitted: u64,
    progress: IndexProgress,
    embed_error: Option<EmbedError>,
}

impl Writing<'_> {
    /// Texts that already have a vector.
    fn load_known(&self) -> Result<VectorCache, IndexError> {
        let (Some(open), false) = (&self.vectors, self.update.todo.is_empty()) else {
            return Ok(VectorCache::default());
        };
        let dimensions = self.update.catalogue.vectors.as_ref().map_or(0, |vectors| vectors.dimensions);
        let old = self.update.directory.join(OLD_VECTORS_DIRECTORY);
        let known = VectorCache::load(open.appender.rows(), &old, dimensions);
        known.map_err(|source| unusable(&self.update.directory, source))
    }

    fn write_all(
        &mut self,
        n_threads: usize,
        known: &VectorCache,
        progress: &mut dyn FnMut(IndexProgress) -> ControlFlow<()>,
    ) -> Result<(), IndexError> {
        let stop = AtomicBool::new(progress(self.progress).is_break());
        self.update.report.interrupted = stop.load(Ordering::Relaxed);
        let next = AtomicUsize::new(0);
        let todo = self.update.todo.clone();
        let preparer = Preparer {
            view: self.update.view,
            detector: &self.update.options.detector,
            embedder: self.update.embedder,
        };
        std::thread::scope(|scope| {
            let (sender, receiver) = sync_channel(QUEUE_MAX);
            for _ in 0..n_threads {
                let sender = sender.clone();
                let (todo, next, stop, preparer) = (&todo, &next, &stop, &preparer);
                scope.spawn(move || read_share(todo, next, stop, known, preparer, &sender));
            }
            drop(sender);
            let written = self.receive(&receiver, known, &stop, progress);
            // Threads waiting for room in the queue wake up and end.
            stop.store(true, Ordering::Relaxed);
            drop(receiver);
            written
        })
    }

    fn receive(
        &mut self,
        receiver: &Receiver<Message>,
        known: &VectorCache,
        stop: &AtomicBool,
        progress: &mut dyn FnMut(IndexProgress) -> ControlFlow<()>,
    ) -> Result<(), IndexError> {
        while let Ok(message) = receiver.recv() {
            match message {
                Message::Passages { idx, passages } => self.add(idx, passages, known)?,
                Message::Done { idx, outcome } => self.close(idx, outcome)?,
                Message::Stopped { idx, error } => {
                    self.drop_part(idx);
                    self.embed_error = self.embed_error.take().or(error);
                }
            }
            if self.embed_error.is_some() {
                stop.store(true, Ordering::Relaxed);
            }
            if progress(self.progress).is_break() && !stop.swap(true, Ordering::Relaxed) {
                self.update.report.interrupted = true;
            }
        }
        Ok(())
    }

    fn add(&mut self, idx: usize, passages: Vec<Prepared>, known: &VectorCache) -> Result<(), IndexError> {
        self.partial.insert(idx);
        *self.n_passages.entry(idx).or_default() += passages.len() as u64;
        self.progress.passages += passages.len() as u64;
        for Prepared { place, text, scope, fingerprint, vector } in passages {
            self.bytes_uncommitted += text.len() as u64;
            let row = self.row_of(vector, known)?;
            let path = self.update.todo.get(idx).map(|document| document.name.clone()).unwrap_or_default();
            let document = self.first_id + idx as u64;
            let passage = NewPassage { document, place, text, path, scope, fingerprint, row };
            self.words.add(passage).map_err(|error| words_error(&self.update.directory, error))?;
        }
        Ok(())
    }

    fn row_of(&mut self, vector: Vector, known: &VectorCache) -> Result<Option<u32>, IndexError> {
        let (key, vector) = match vector {
            Vector::None => return Ok(None),
            Vector::Known(row) => return Ok(Some(row)),
            Vector::Old(key, vector) => (key, vector),
            Vector::New(key, vector) => {
                self.update.report.embedded += 1;
                (key, vector)
            }
        };
        let Some(vectors) = &mut self.vectors else { return Ok(None) };
        // Two threads may have embedded the same text at once.
        if let Some(row) = known.row(&key) {
            return Ok(Some(row));
        }
        let row = vectors.appender.add(&key, &vector);
        let row = row.map_err(|source| unusable(&self.update.directory, source))?;
        if let Some(row) = row {
            known.insert(key, row);
        }
        Ok(row)
    }

    /// A document is complete, or could not be read.
    fn close(
        &mut self,
        idx: usize,
        outcome: Result<Option<Detected>, SourceError>,
    ) -> Result<(), IndexError> {
        let Some(document) = self.update.todo.get(idx).copied() else { return Ok(()) };
        self.progress.documents_done += 1;
        self.progress.bytes_done += document.bytes;
        match outcome {
            Ok(detected) => {
                self.partial.remove(&idx);
                let n_passages = self.n_passages.remove(&idx).unwrap_or(0);
                let record = record_of(self.first_id + idx as u64, document, n_passages, detected.as_ref());
                self.update.catalogue.documents.insert(document.name.clone(), record);
                self.update.report.passages += n_passages;
            }
            Err(error) => {
                self.drop_part(idx);
                self.update.report.unreadable.push((document.name.clone(), error));
            }
        }
        if self.bytes_uncommitted >= self.update.options.commit_bytes {
            self.commit(OldVectors::Kept)?;
        }
        Ok(())
    }

    fn drop_part(&mut self, idx: usize) {
        if self.partial.remove(&idx) {
            self.words.remove_document(self.first_id + idx as u64);
        }
        self.n_passages.remove(&idx);
    }

    /// Vectors first, then words, then the catalogue that covers both. Vectors of an index that is being replaced are
    /// kept as long as passages may need them.
    fn commit(&mut self, old_vectors: OldVectors) -> Result<(), IndexError> {
        let directory = self.update.directory.clone();
        let unusable = |source| unusable(&directory, source);
        let words_error = |error| words_error(&directory, error);
        let _commit = hold_commit(&directory).map_err(unusable)?;
        let catalogue = &mut self.update.catalogue;
        let mut names = Vec::new();
        if let (Some(open), Some(vectors)) = (&mut self.vectors, &mut catalogue.vectors) {
            open.appender.sync().map_err(unusable)?;
            let rows = open.appender.rows();
            vectors.n_rows = rows.n_rows();
            names.extend(rows.file_names().map(|name| format!("{VECTORS_DIRECTORY}/{name}")));
        }
        if old_vectors == OldVectors::Kept {
            let old = files::names(&directory.join(OLD_VECTORS_DIRECTORY)).map_err(unusable)?;
            names.extend(old.into_iter().map(|name| format!("{OLD_VECTORS_DIRECTORY}/{name}")));
        }
        self.words.commit(&self.update.words).map_err(words_error)?;
        let held = files::names(&directory.join(WORDS_DIRECTORY)).map_err(unusable)?;
        for name in &held {
            files::make_private(&directory.join(WORDS_DIRECTORY).join(name)).map_err(unusable)?;
        }
        let held = self.update.words.file_names(held).map_err(words_error)?;
        names.extend(held.into_iter().map(|name| format!("{WORDS_DIRECTORY}/{name}")));
        catalogue.partial = self.partial.iter().map(|&idx| self.first_id + idx as u64).collect();
        self.bytes_uncommitted = 0;
        write_catalogue(&directory, catalogue, names.into_iter()).map_err(unusable)
    }

    fn finish(mut self) -> Result<UpdateReport, IndexError> {
        // Removes documents that were only partly written.
        for idx in std::mem::take(&mut self.partial) {
            self.words.remove_document(self.first_id + idx as u64);
        }
        let is_done = !self.update.report.interrupted && self.embed_error.is_none();
        self.commit(if is_done { OldVectors::Dropped } else { OldVectors::Kept })?;
        let Self { update, words, embed_error, .. } = self;
        words.finish().map_err(|error| words_error(&update.directory, error))?;
        if is_done {
            let old = update.directory.join(OLD_VECTORS_DIRECTORY);
            files::remove_directory(&old).map_err(|source| unusable(&update.directory, source))?;
        }
        match embed_error {
            Some(source) => Err(IndexError::Embed { source }),
            None => Ok(update.report),
        }
    }
}

pub(crate) fn record_of(
    id: u64,
    document: &DocEntry,
    n_passages: u64,
    detected: Option<&Detected>,
) -> DocumentRecord {
    let content_type =
        detected.map_or(spelunk_context::ContentType::Unknown, |detected| detected.content_type);
    let custom = detected.and_then(|detected| detected.custom.as_ref()).map(|kind| kind.name.clone());
    let language = language_name(detected.and_then(|detected| detected.language));
    DocumentRecord { id, version: version_of(document), n_passages, content_type, language, custom }
}

/// One thread: processes documents until there are none left or it is stopped.
fn read_share(
    todo: &[&DocEntry],
    next: &AtomicUsize,
    stop: &AtomicBool,
    known: &VectorCache,
    preparer: &Preparer<'_>,
    sender: &SyncSender<Message>,
) {
    while !stop.load(Ordering::Relaxed) {
        let idx = next.fetch_add(1, Ordering::Relaxed);
        let Some(document) = todo.get(idx) else { return };
        let mut stopped = None;
        let outcome = preparer.prepare(document, known, &mut |prepared| {
            let is_sent = match prepared {
                Ok(passages) => sender.send(Message::Passages { idx, passages }).is_ok(),
                Err(error) => {
                    stopped = Some(Some(error));
                    false
                }
            };
            let goes_on = is_sent && !stop.load(Ordering::Relaxed);
            if !goes_on && stopped.is_none() {
                stopped = Some(None);
            }
            goes_on
        });
        // A document whose last passage was sent is complete, even if a stop was requested meanwhile.
        let message = match (stopped, outcome) {
            (Some(error), Ok((_, false))) => Message::Stopped { idx, error },
            (Some(Some(error)), _) => Message::Stopped { idx, error: Some(error) },
            (_, Ok((detected, _))) => Message::Done { idx, outcome: Ok(detected) },
            (_, Err(error)) => Message::Done { idx, outcome: Err(error) },
        };
        if sender.send(message).is_err() {
            return;
        }
    }
}
