//! Searches on several threads. Documents are divided into units, which threads take in order and whose tallies are
//! merged in order: results do not depend on the number or speed of threads.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::merge::{Merge, SearchResult};
use super::scan::{ScanRequest, Scanner, Tally};
use super::{Extent, GrepQuery, Pattern};
use crate::reader::threads_for;
use crate::{DocEntry, ReadError, Reader, View};

/// How text is divided for searching. Only tests use other values than the default.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    /// The first unit of a document: a common pattern fills the report from it.
    pub(super) first_bytes: u64,
    /// Every other unit. Fits in an L2 cache.
    pub(super) unit_bytes: u64,
    /// How much is read at a time to find the end of a unit's last line.
    pub(super) step_bytes: u64,
    pub(super) line_bytes_max: u64,
    pub(super) overlap_bytes: u64,
    /// The number of threads; `None` to choose it by the amount of text.
    pub(super) threads: Option<NonZeroUsize>,
}

impl Sizes {
    pub(super) const DEFAULT: Self = Self {
        first_bytes: 128 * 1024,
        unit_bytes: 1024 * 1024,
        step_bytes: 16 * 1024,
        line_bytes_max: 4 * 1024 * 1024,
        overlap_bytes: 64 * 1024,
        threads: None,
    };
}

pub(super) enum Target<'a> {
    Open(&'a Reader),
    Closed { view: &'a View, document: &'a DocEntry },
}

pub(super) fn search(
    targets: &[Target<'_>],
    pattern: &Pattern,
    query: &GrepQuery,
    cancel: &AtomicBool,
    sizes: Sizes,
) -> Result<SearchResult, ReadError> {
    let search = Search {
        targets,
        pattern,
        query,
        sizes,
        cancel,
        feed: Mutex::new(Feed::default()),
        merge: Mutex::new(Merge::new(query)),
        is_over: AtomicBool::new(false),
        needs_lines: AtomicBool::new(query.matches_max > 0),
    };
    let threads = sizes.threads.unwrap_or_else(|| threads_for_targets(targets));
    if threads.get() == 1 {
        search.work();
    } else {
        std::thread::scope(|scope| {
            for _ in 0..threads.get() {
                scope.spawn(|| search.work());
            }
        });
    }
    if cancel.load(Ordering::Relaxed) {
        return Err(ReadError::Cancelled);
    }
    Ok(search.merge.into_inner().unwrap_or_else(PoisonError::into_inner).found)
}

fn threads_for_targets(targets: &[Target<'_>]) -> NonZeroUsize {
    // Opening a file costs about as much as searching this much of it.
    const OPENING_BYTES: u64 = 64 * 1024;
    let bytes = targets.iter().map(|target| match target {
        Target::Open(reader) => reader.bytes(),
        Target::Closed { document, .. } => document.bytes + OPENING_BYTES,
    });
    threads_for(bytes.sum())
}

struct Search<'a> {
    targets: &'a [Target<'a>],
    pattern: &'a Pattern,
    query: &'a GrepQuery,
    sizes: Sizes,
    cancel: &'a AtomicBool,
    feed: Mutex<Feed<'a>>,
    merge: Mutex<Merge<'a>>,
    /// Set when enough was found: no thread takes another unit.
    is_over: AtomicBool,
    needs_lines: AtomicBool,
}

#[derive(Default)]
struct Feed<'a> {
    n_units: usize,
    next_target_idx: usize,
    /// The document being handed out in parts, and the offset of the next part.
    open: Option<(SharedReader<'a>, u64)>,
}

#[derive(Clone)]
enum SharedReader<'a> {
    Lent(&'a Reader),
    Shared(Arc<Reader>),
}

impl SharedReader<'_> {
    fn get(&self) -> &Reader {
        match self {
            Self::Lent(reader) => reader,
            Self::Shared(reader) => reader,
        }
    }
}

struct Unit<'a> {
    idx: usize,
    target_idx: usize,
    text: UnitText<'a>,
}

enum UnitText<'a> {
    /// A whole small document, which the thread opens itself.
    Whole {
        view: &'a View,
        document: &'a DocEntry,
    },
    Part {
        reader: SharedReader<'a>,
        range: Range<u64>,
    },
    Unreadable(ReadError),
}

impl<'a> Search<'a> {
    fn work(&self) {
        // A compiled pattern has one cache for one thread; a clone per thread avoids contention.
        let pattern = self.pattern.clone();
        let mut scanner = Scanner { pattern: &pattern, sizes: self.sizes, buffer: Vec::new() };
        while !self.is_over.load(Ordering::Relaxed) && !self.cancel.load(Ordering::Relaxed) {
            let Some(unit) = self.next_unit() else { return };
            let outcome = match unit.text {
                UnitText::Whole { view, document } => self.scan_whole(&mut scanner, view, document),
                UnitText::Part { reader, range } => self.scan_part(&mut scanner, reader.get(), range),
                UnitText::Unreadable(error) => Err(error),
            };
            let mut merge = locked(&self.merge);
            merge.put(unit.idx, unit.target_idx, outcome);
            self.needs_lines.store(merge.takes_more_places(), Ordering::Relaxed);
            if merge.is_over() {
                self.is_over.store(true, Ordering::Relaxed);
            }
        }
    }

    fn next_unit(&self) -> Option<Unit<'a>> {
        let mut feed = locked(&self.feed);
        let feed = &mut *feed;
        if feed.open.is_none() {
            let target = self.targets.get(feed.next_target_idx)?;
            feed.next_target_idx += 1;
            match target {
                Target::Open(reader) => feed.open = Some((SharedReader::Lent(reader), 0)),
                Target::Closed { view, document } if document.bytes <= self.sizes.unit_bytes => {
                    return Some(feed.unit(UnitText::Whole { view, document }));
                }
                Target::Closed { view, document } => match Reader::of_document(view, document) {
                    Ok(reader) => feed.open = Some((SharedReader::Shared(Arc::new(reader)), 0)),
                    Err(error) => return Some(feed.unit(UnitText::Unreadable(error))),
                },
            }
        }
        let (reader, start) = feed.open.take()?;
        let range = self.sizes.unit_at(start, reader.get().bytes());
        if range.end < reader.get().bytes() {
            feed.open = Some((reader.clone(), range.end));
        }
        Some(feed.unit(UnitText::Part { reader, range }))
    }

    /// A small document on disk may be long once it is decoded, so it is divided, too.
    fn scan_whole(
        &self,
        scanner: &mut Scanner<'_>,
        view: &View,
        document: &DocEntry,
    ) -> Result<Tally, ReadError> {
        let reader = Reader::of_document(view, document)?;
        let mut tally = Tally::default();
        let mut range = self.sizes.unit_at(0, reader.bytes());
        loop {
            let part = self.scan_part(scanner, &reader, range.clone())?;
            tally.append(part);
            if range.end >= reader.bytes() || tally.n_matches >= self.want().matches_max {
                return Ok(tally);
            }
            range = self.sizes.unit_at(range.end, reader.bytes());
        }
    }

    fn scan_part(
        &self,
        scanner: &mut Scanner<'_>,
        reader: &Reader,
        range: Range<u64>,
    ) -> Result<Tally, ReadError> {
        reader.fresh(scanner.scan(reader, range, self.want())?)
    }

    fn want(&self) -> ScanRequest {
        let line_ends = self.needs_lines.load(Ordering::Relaxed);
        let shown_max = usize::try_from(self.query.matches_max).unwrap_or(usize::MAX);
        ScanRequest {
            places_max: if line_ends { shown_max } else { 0 },
            matches_max: match self.query.extent {
                Extent::Whole => u64::MAX,
                Extent::FirstMatches => self.query.matches_max + 1,
            },
            line_ends,
        }
    }
}

impl Sizes {
    fn unit_at(self, start: u64, bytes: u64) -> Range<u64> {
        let n_bytes = if start == 0 { self.first_bytes } else { self.unit_bytes };
        start..start.saturating_add(n_bytes).min(bytes)
    }
}

impl<'a> Feed<'a> {
    fn unit(&mut self, text: UnitText<'a>) -> Unit<'a> {
        self.n_units += 1;
        Unit { idx: self.n_units - 1, target_idx: self.next_target_idx - 1, text }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
