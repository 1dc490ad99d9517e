//! Updates: brings an index in sync with a view. Threads read, cut and embed documents; the caller's thread writes the
//! results, in whole documents, and commits from time to time. Memory is bounded: each thread holds one document or
//! window, and the queue between them is short.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use spelunk_context::{Detected, DocEntry, SourceError, View};

use crate::catalogue::{Catalogue, DocumentRecord, Vectors};
use crate::cut::CUT_VERSION;
use crate::error::FileError;
use crate::index::prepare::{PreparedPassage, Preparer, Vector};
use crate::index::{
    Index, IndexProgress, Rebuilt, State, UpdateOptions, UpdateReport, VECTORS_DIRECTORY, hold_commit, wipe,
    write_catalogue,
};
use crate::vector_store::{Appender, Rows, VectorCache};
use crate::words_index::{NewPassage, StoredPassage, WORDS_DIRECTORY, WordsIndex, WordsWriter};
use crate::{EmbedError, Embedder, files};

/// Threads that read, cut and embed, and so documents in memory at once.
const THREADS_MAX: usize = 4;

/// Threads that write words. Less text than `SMALL_BYTES_MAX` is written by one thread, into one segment.
const WRITER_THREADS_MAX: usize = 2;
const SMALL_BYTES_MAX: u64 = 32 << 20;
const QUEUE_MAX: usize = 4;

/// Rows of removed passages are kept as a cache, up to this many beyond those in use.
const ROWS_SPARE: u64 = 1 << 18;

const OLD_VECTORS_DIRECTORY: &str = "vectors-old";

enum Message {
    Passages { idx: usize, passages: Vec<PreparedPassage> },
    Done { idx: usize, outcome: Result<Option<Detected>, SourceError> },
    Stopped { idx: usize, error: Option<EmbedError> },
}

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
    ) -> Result<Self, FileError> {
        let directory = index.directory.clone();
        let embedder = index.options.embedder.as_deref();
        let cut = cut_of(options);
        let rebuilt = reason_to_rebuild(&index.state, embedder, &cut);
        let mut report = UpdateReport::default();
        let (mut catalogue, words) = match &index.state {
            State::Ready(snapshot) if rebuilt.is_none() => {
                (snapshot.catalogue.clone(), WordsIndex::open(&directory.join(WORDS_DIRECTORY))?)
            }
            State::Ready(_) | State::Empty | State::Damaged(_) => {
                make_anew(&directory, rebuilt.as_ref())?;
                let words = WordsIndex::create(&directory.join(WORDS_DIRECTORY))?;
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
    ) -> Result<UpdateReport, FileError> {
        let is_old = |name: &String| name.starts_with(OLD_VECTORS_DIRECTORY);
        let is_written = !self.catalogue.files.is_empty() && !self.catalogue.files.keys().any(is_old);
        if self.todo.is_empty() && self.gone.is_empty() && is_written {
            return Ok(self.report);
        }
        let bytes_total: u64 = self.todo.iter().map(|document| document.bytes).sum();
        let n_cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
        let n_writers = if bytes_total < SMALL_BYTES_MAX { 1 } else { n_cores.min(WRITER_THREADS_MAX) };
        let words = self.words.writer(n_writers)?;
        for &id in &self.gone {
            words.remove_document(id);
        }
        let rows = |of: &Vectors| Rows::new(self.directory.join(VECTORS_DIRECTORY), of.dimensions, of.n_rows);
        let vectors = self.catalogue.vectors.as_ref().map(|of| rows(of).append()).transpose()?;
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
}

fn cut_of(options: &UpdateOptions) -> String {
    blake3::hash(format!("{CUT_VERSION} {}", options.detector_key).as_bytes()).to_hex().to_string()
}

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
fn make_anew(directory: &Path, rebuilt: Option<&Rebuilt>) -> Result<(), FileError> {
    let _commit = hold_commit(directory)?;
    let old = directory.join(OLD_VECTORS_DIRECTORY);
    files::remove_directory(&old)?;
    if matches!(rebuilt, Some(Rebuilt::OtherCut | Rebuilt::Compacted)) {
        files::rename(&directory.join(VECTORS_DIRECTORY), &old)?;
    }
    wipe(directory)?;
    Ok(files::make_directory(&directory.join(WORDS_DIRECTORY))?)
}

/// Removes deleted and changed documents from the catalogue; returns those to be read.
fn compare<'a>(
    catalogue: &mut Catalogue,
    view: &'a View,
    gone: &mut Vec<u64>,
    report: &mut UpdateReport,
) -> Vec<&'a DocEntry> {
    let mut todo = Vec::new();
    let mut kept = BTreeMap::new();
    for document in view.documents() {
        let is_current = catalogue.current(document).is_some();
        match catalogue.documents.remove(&document.name) {
            Some(record) if is_current => {
                report.unchanged += 1;
                kept.insert(document.name.clone(), record);
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
    let removed = std::mem::replace(&mut catalogue.documents, kept);
    report.removed = removed.len() as u64;
    gone.extend(removed.into_values().map(|record| record.id));
    todo
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum OldVectors {
    Kept,
    Dropped,
}

struct Writing<'a> {
    update: Update<'a>,
    words: WordsWriter,
    vectors: Option<Appender>,
    first_id: u64,
    partial: BTreeSet<usize>,
    n_passages: HashMap<usize, u64>,
    bytes_uncommitted: u64,
    progress: IndexProgress,
    embed_error: Option<EmbedError>,
}

impl Writing<'_> {
    fn load_known(&self) -> Result<VectorCache, FileError> {
        let (Some(vectors), false) = (&self.vectors, self.update.todo.is_empty()) else {
            return Ok(VectorCache::default());
        };
        let old = self.update.directory.join(OLD_VECTORS_DIRECTORY);
        Ok(VectorCache::load(&vectors.rows, &old)?)
    }

    fn write_all(
        &mut self,
        n_threads: usize,
        known: &VectorCache,
        progress: &mut dyn FnMut(IndexProgress) -> ControlFlow<()>,
    ) -> Result<(), FileError> {
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
    ) -> Result<(), FileError> {
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

    fn add(
        &mut self,
        idx: usize,
        passages: Vec<PreparedPassage>,
        known: &VectorCache,
    ) -> Result<(), FileError> {
        self.partial.insert(idx);
        *self.n_passages.entry(idx).or_default() += passages.len() as u64;
        self.progress.passages += passages.len() as u64;
        for PreparedPassage { location, text, scope, fingerprint, vector } in passages {
            self.bytes_uncommitted += text.len() as u64;
            let row = self.row_of(vector, known)?;
            let path = self.update.todo.get(idx).map(|document| document.name.clone()).unwrap_or_default();
            let document = self.first_id + idx as u64;
            let stored = StoredPassage { document, location, fingerprint, row };
            let passage = NewPassage { stored, text, path, scope };
            self.words.add(passage)?;
        }
        Ok(())
    }

    fn row_of(&mut self, vector: Vector, known: &VectorCache) -> Result<Option<u32>, FileError> {
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
        let row = vectors.add(&key, &vector)?;
        if let Some(row) = row {
            known.insert(key, row);
        }
        Ok(row)
    }

    fn close(&mut self, idx: usize, outcome: Result<Option<Detected>, SourceError>) -> Result<(), FileError> {
        let Some(document) = self.update.todo.get(idx).copied() else { return Ok(()) };
        self.progress.documents_done += 1;
        self.progress.bytes_done += document.bytes;
        match outcome {
            Ok(detected) => {
                self.partial.remove(&idx);
                let n_passages = self.n_passages.remove(&idx).unwrap_or(0);
                let record =
                    DocumentRecord::of(self.first_id + idx as u64, document, n_passages, detected.as_ref());
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

    /// Commits vectors, then words, then the catalogue that covers both. Old vectors stay as long as needed.
    fn commit(&mut self, old_vectors: OldVectors) -> Result<(), FileError> {
        let directory = self.update.directory.clone();
        let _commit = hold_commit(&directory)?;
        let catalogue = &mut self.update.catalogue;
        let mut names = Vec::new();
        if let (Some(appender), Some(vectors)) = (&mut self.vectors, &mut catalogue.vectors) {
            appender.sync()?;
            vectors.n_rows = appender.rows.len;
            names.extend(appender.rows.file_names().map(|name| format!("{VECTORS_DIRECTORY}/{name}")));
        }
        if old_vectors == OldVectors::Kept {
            let old = files::names(&directory.join(OLD_VECTORS_DIRECTORY))?;
            names.extend(old.into_iter().map(|name| format!("{OLD_VECTORS_DIRECTORY}/{name}")));
        }
        self.words.commit(&self.update.words)?;
        let held = files::names(&directory.join(WORDS_DIRECTORY))?;
        for name in &held {
            files::make_private(&directory.join(WORDS_DIRECTORY).join(name))?;
        }
        let held = self.update.words.file_names(held)?;
        names.extend(held.into_iter().map(|name| format!("{WORDS_DIRECTORY}/{name}")));
        catalogue.partial = self.partial.iter().map(|&idx| self.first_id + idx as u64).collect();
        self.bytes_uncommitted = 0;
        Ok(write_catalogue(&directory, catalogue, names.into_iter())?)
    }

    fn finish(mut self) -> Result<UpdateReport, FileError> {
        // Removes documents that were only partly written.
        for idx in std::mem::take(&mut self.partial) {
            self.words.remove_document(self.first_id + idx as u64);
        }
        let is_done = !self.update.report.interrupted && self.embed_error.is_none();
        self.commit(if is_done { OldVectors::Dropped } else { OldVectors::Kept })?;
        let Self { update, words, embed_error, .. } = self;
        words.finish()?;
        if is_done {
            let old = update.directory.join(OLD_VECTORS_DIRECTORY);
            files::remove_directory(&old)?;
        }
        match embed_error {
            Some(error) => Err(error.into()),
            None => Ok(update.report),
        }
    }
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
