//! Ranking: reads every document of a view once, in parallel with one per thread, and returns the best passages for a
//! question. The result does not depend on the number of threads.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};

use spelunk_context::{DocEntry, SourceError, View};

use crate::choose::{RankOptions, choose};
use crate::index::search::Hit;
use crate::question::Question;
use crate::tally::Tally;

/// The progress of a ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RankProgress {
    /// Documents searched.
    pub documents_done: u64,
    /// Documents in the view.
    pub documents_total: u64,
    /// Bytes searched.
    pub bytes_done: u64,
    /// Bytes in the view.
    pub bytes_total: u64,
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// Best first. Empty if no word of the question occurs anywhere.
    pub passages: Vec<Hit>,
    /// Passages that contain a word of the question, selected or not.
    pub passages_matched: u64,
    /// Documents read.
    pub documents_searched: u64,
    /// Their size on disk.
    pub bytes_searched: u64,
    /// The words that were searched, in lower case and in the order of the question.
    pub words: Vec<String>,
}

/// The passages of a view that are most relevant to a question.
pub fn rank(
    view: &View,
    question: &str,
    options: &RankOptions,
    progress: &mut dyn FnMut(RankProgress),
) -> Result<Ranking, SourceError> {
    let threads = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
    rank_with(threads, view, question, options, progress)
}

pub(crate) fn rank_with(
    threads: NonZeroUsize,
    view: &View,
    question: &str,
    options: &RankOptions,
    progress: &mut dyn FnMut(RankProgress),
) -> Result<Ranking, SourceError> {
    let question = Question::of(question);
    let documents: Vec<&DocEntry> = view.documents().collect();
    let bytes_searched = view.bytes();
    let tallies = if question.n_words() == 0 {
        Vec::new()
    } else {
        let may_match = |document: &&DocEntry| {
            question.needles.as_ref().is_none_or(|needles| view.may_hold(document, needles))
                || question.is_in(&document.name)
        };
        let read: Vec<&DocEntry> = documents.iter().copied().filter(may_match).collect();
        tally_all(threads, view, &read, &question, options, progress)?
    };
    Ok(Ranking {
        passages: choose(view, &question, &tallies, options)?,
        passages_matched: tallies.iter().map(|(_, tally)| tally.matches.len() as u64).sum(),
        documents_searched: documents.len() as u64,
        bytes_searched,
        words: (0..question.n_words()).map(|word_idx| question.shown(word_idx).to_owned()).collect(),
    })
}

/// One tally per document that may match, in order. If there are several errors, that of the first document is returned.
fn tally_all<'a>(
    threads: NonZeroUsize,
    view: &View,
    documents: &[&'a DocEntry],
    question: &Question,
    options: &RankOptions,
    progress: &mut dyn FnMut(RankProgress),
) -> Result<Vec<(&'a DocEntry, Tally)>, SourceError> {
    // With few documents, idle threads help with the long ones.
    let threads_each = NonZeroUsize::new(threads.get() / documents.len().max(1)).unwrap_or(NonZeroUsize::MIN);
    let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    // Documents are taken in order, so when one fails, all before it have been taken and will be reported.
    let work = |sender: Sender<(usize, Result<Tally, SourceError>)>| {
        while !stopped.load(Ordering::Relaxed) {
            let idx = next.fetch_add(1, Ordering::Relaxed);
            let Some(document) = documents.get(idx) else { return };
            let tally = view
                .read_to_search(document)
                .map(|text| Tally::of(question, &document.name, &text, options.passage_lines, threads_each));
            if tally.is_err() {
                stopped.store(true, Ordering::Relaxed);
            }
            drop(sender.send((idx, tally)));
        }
    };
    let (sender, receiver) = mpsc::channel();
    let mut results = Vec::with_capacity(documents.len());
    let bytes: u64 = documents.iter().map(|document| document.bytes).sum();
    let (documents_total, bytes_total) = (view.documents().len() as u64, view.bytes());
    let mut so_far = RankProgress {
        documents_done: documents_total - documents.len() as u64,
        documents_total,
        bytes_done: bytes_total - bytes,
        bytes_total,
    };
    std::thread::scope(|scope| {
        for _ in 0..threads.get().min(documents.len()) {
            let (sender, work) = (sender.clone(), &work);
            scope.spawn(move || work(sender));
        }
        drop(sender);
        for (idx, result) in receiver {
            so_far.documents_done += 1;
            so_far.bytes_done += documents[idx].bytes;
            results.push((idx, result));
            progress(so_far);
        }
    });
    results.sort_unstable_by_key(|(idx, _)| *idx);
    results.into_iter().map(|(idx, tally)| Ok((documents[idx], tally?))).collect()
}

#[cfg(test)]
mod tests;
