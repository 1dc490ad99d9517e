//! The corpus: an immutable snapshot of all documents of a run, identified by a digest. It holds names, sizes and
//! hashes; the text stays at its source and is checked against its hash when it is read. Unpacked or extracted text is
//! kept in a scratch directory that is removed with the corpus.

mod order;
mod outline;

use std::collections::{BTreeMap, HashSet};
use std::num::NonZeroUsize;

use spelunk_types::{BlobId, ScanOptions};

pub use self::order::compare_files;
pub use self::outline::{ExtensionShare, Outline};
use crate::document::{Database, DocEntry, Origin, Pins, SourceInput};
use crate::extract::ExtractKind;
use crate::image::{ImageEntry, ImageKind};
use crate::needles::Needles;
use crate::scan_read::{ReadCandidate, Reading, Report, ScanProgress, digest_of, read_through};
use crate::scratch::Scratch;
use crate::secrets::Sought;
use crate::source::{BucketObject, Candidate, Filter, NamedBy, ScanContext, Source, extract_kind};
use crate::{ExtractError, ObjectEntry, ObjectError, ScanReport, SkipReason, SourceError, name};

const TICK_FILES: u64 = 256;

/// Objects of buckets that are fetched before they are read.
const AT_ONCE: usize = 1024;

/// All documents of a run.
#[derive(Debug)]
pub struct Corpus {
    documents: Vec<DocEntry>,
    reports: Vec<ScanReport>,
    images: Vec<ImageEntry>,
    bytes: u64,
    digest: BlobId,
    /// The words that the scan looked for; see [`View::may_hold`](crate::View::may_hold).
    pub(crate) sought: Option<Needles>,
    /// Removes the directory when the corpus is dropped.
    _scratch: Scratch,
}

impl PartialEq for Corpus {
    fn eq(&self, other: &Self) -> bool {
        self.digest == other.digest && self.documents == other.documents && self.reports == other.reports
    }
}

impl Eq for Corpus {}

impl Corpus {
    /// An outline of the documents, without reading any text.
    pub fn outline(&self) -> Outline {
        Outline::of(self.documents().iter())
    }

    /// Scans all sources for text. Fails if a named source cannot be read, or if none of them has a readable document.
    /// Without sources there are no documents.
    pub fn scan(
        sources: &[SourceInput],
        options: &ScanOptions,
        progress: &mut dyn FnMut(ScanProgress),
    ) -> Result<Self, SourceError> {
        Self::scan_for(None, sources, options, progress)?.as_text()
    }

    /// The same corpus for a model without vision. Fails if the user named an image.
    pub fn as_text(self) -> Result<Self, SourceError> {
        match self.images.iter().find(|image| image.is_named) {
            Some(ImageEntry { name, kind: ImageKind::Pdf, .. }) => {
                Err(SourceError::Extract { name: name.clone(), source: ExtractError::NoText })
            }
            Some(image) => Err(SourceError::Image { name: image.name.clone() }),
            None => Ok(self),
        }
    }

    /// Like `scan_for`, for a second scan: files that have grown are read up to their old size.
    pub fn scan_pinned(
        sources: &[SourceInput],
        options: &ScanOptions,
        pins: &Pins,
        progress: &mut dyn FnMut(ScanProgress),
    ) -> Result<Self, SourceError> {
        Self::scan_with(threads(), sources, options, (pins, None), progress)
    }

    /// Like [`Self::scan`], for a model with vision: a source may be an image, and there may be no documents. Notes
    /// documents without these words, which a search need not read.
    pub fn scan_for(
        needles: Option<Needles>,
        sources: &[SourceInput],
        options: &ScanOptions,
        progress: &mut dyn FnMut(ScanProgress),
    ) -> Result<Self, SourceError> {
        Self::scan_with(threads(), sources, options, (&Pins::new(), needles), progress)
    }

    pub(crate) fn scan_with(
        threads: NonZeroUsize,
        sources: &[SourceInput],
        options: &ScanOptions,
        (pins, needles): (&Pins, Option<Needles>),
        progress: &mut dyn FnMut(ScanProgress),
    ) -> Result<Self, SourceError> {
        let filter = Filter::compile(options)?;
        let scratch = Scratch::default();
        let mut so_far = ScanProgress::default();
        let room = ScanContext { filter: &filter, scratch: &scratch };
        let mut images = Vec::new();
        let sought = needles.map(Sought::new);
        // With a limit on files, reading begins when all are listed; objects are fetched first.
        let files_max = usize::try_from(options.files_max).unwrap_or(usize::MAX);
        let mut waiting = Vec::new();
        let sought = sought.as_ref();
        let (reports, read) =
            read_through(&scratch, sought, threads, (&mut so_far, progress), |read, so_far, progress| {
                list(sources, (room, pins), &mut images, (so_far, progress), &mut |candidate| {
                    let waits = files_max > 0 || candidate.object.is_some();
                    if waits { waiting.push(candidate) } else { read(candidate) }
                })
            });
        let (mut reports, mut documents) = (reports?, Vec::new());
        admit_all(read, &mut documents, &mut images, &mut reports)?;
        let documents_max = if files_max == 0 { usize::MAX } else { files_max };
        let mut rest = in_order(waiting, options).into_iter();
        loop {
            // Fill the remaining room; files that turn out not to be text make room for more.
            let at_once = (documents_max - documents.len()).min(AT_ONCE);
            let mut batch: Vec<_> = rest.by_ref().take(at_once).collect();
            if batch.is_empty() {
                break;
            }
            fetch(&mut batch)?;
            let ((), read) =
                read_through(&scratch, sought, threads, (&mut so_far, progress), |read, _, _| {
                    batch.into_iter().for_each(read);
                });
            admit_all(read, &mut documents, &mut images, &mut reports)?;
        }
        for candidate in rest {
            so_far.files_total -= 1;
            so_far.bytes_total -= candidate.bytes;
            reports[candidate.source_idx].leave_out(&candidate.name);
        }
        progress(so_far);
        let is_named = images.iter().any(|image: &ImageEntry| image.is_named);
        if documents.is_empty() && !sources.is_empty() && !is_named {
            return Err(nothing_readable(&reports));
        }
        images.sort_by(|a, b| a.name.cmp(&b.name));
        images.dedup_by(|a, b| a.name == b.name);
        let sought = sought.map(|sought| sought.needles.clone());
        Ok(Self { images, sought, ..Self::sorted(documents, reports, scratch) })
    }

    /// Every document, sorted by name.
    pub fn documents(&self) -> &[DocEntry] {
        &self.documents
    }

    /// Every image, sorted by name. They are not part of the digest.
    pub fn images(&self) -> &[ImageEntry] {
        &self.images
    }

    /// One report per source, in the order in which the sources were named.
    pub fn reports(&self) -> &[ScanReport] {
        &self.reports
    }

    /// The total size of all documents on disk.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The hash over names and digests: the same texts under the same names have the same digest.
    pub fn digest(&self) -> &BlobId {
        &self.digest
    }

    fn sorted(mut documents: Vec<DocEntry>, reports: Vec<ScanReport>, scratch: Scratch) -> Self {
        documents.sort_by(|a, b| a.name.cmp(&b.name));
        make_names_unique(&mut documents);
        for (idx, document) in documents.iter_mut().enumerate() {
            document.idx = u32::try_from(idx).unwrap_or(u32::MAX);
        }
        let bytes = documents.iter().map(|document| document.bytes).sum();
        let digest = digest_of(documents.iter().map(|document| (document.name.as_str(), &document.digest)));
        Self { documents, reports, images: Vec::new(), bytes, digest, sought: None, _scratch: scratch }
    }
}

fn threads() -> NonZeroUsize {
    let n_cores = std::thread::available_parallelism().map_or(2, NonZeroUsize::get);
    NonZeroUsize::new(n_cores.clamp(2, 8)).expect("at least two")
}

fn fetch(batch: &mut [Candidate]) -> Result<(), SourceError> {
    for candidates in batch.chunk_by_mut(|a, b| a.source_idx == b.source_idx) {
        let objects: Vec<&BucketObject> = candidates.iter().filter_map(|of| of.object.as_ref()).collect();
        let Some(bucket) = objects.first().map(|object| object.bucket.clone()) else { continue };
        let entries: Vec<&ObjectEntry> = objects.into_iter().map(|object| &object.entry).collect();
        let copies = bucket.fetch(&entries).map_err(|error| bucket.failed(error))?;
        for (candidate, copy) in candidates.iter_mut().filter(|of| of.object.is_some()).zip(copies) {
            if copy.is_none() && candidate.named_by == NamedBy::User {
                let why = "it is gone, or may not be read".to_owned();
                let hint = "check what the credentials may read: `s3:GetObject`";
                return Err(bucket.failed(ObjectError { why, hint }));
            }
            // No file has an empty path: what is missing is found unreadable.
            candidate.origin = Origin::File(copy.unwrap_or_default());
        }
    }
    Ok(())
}

/// Sorts the candidates so that those to keep come first when `files_max` does not admit all.
fn in_order(mut candidates: Vec<Candidate>, options: &ScanOptions) -> Vec<Candidate> {
    if options.files_max > 0 && candidates.len() as u64 > options.files_max {
        candidates.sort_by(|a, b| compare_files(options.order, (&a.name, a.bytes), (&b.name, b.bytes)));
    }
    candidates
}

/// Lists the candidates of all sources; returns a report for each that counts the files left out so far. Images that are
/// no candidates go to `images`.
fn list(
    sources: &[SourceInput],
    (room, pins): (ScanContext<'_>, &Pins),
    images: &mut Vec<ImageEntry>,
    (so_far, progress): (&mut ScanProgress, Report<'_>),
    take: &mut dyn FnMut(Candidate),
) -> Result<Vec<ScanReport>, SourceError> {
    let opened =
        sources.iter().map(|input| Source::open(input, room.filter)).collect::<Result<Vec<_>, _>>()?;
    let names = source_names(&opened);
    let is_alone = opened.len() == 1;
    let mut reports = Vec::new();
    let mut seen = HashSet::new();
    for (source_idx, (source, name)) in opened.into_iter().zip(names).enumerate() {
        let prefix = if is_alone { String::new() } else { name.clone() };
        let mut report = ScanReport { source: name, ..ScanReport::default() };
        if let Source::Archive { path, .. } = &source
            && !seen.insert(path.clone())
        {
            let name = report.source.clone();
            report.skip(SkipReason::Duplicate, &name);
            reports.push(report);
            continue;
        }
        let mut duplicates = Vec::new();
        source.list(&prefix, room, &mut report, &mut |mut found| {
            let Candidate { origin, name, bytes, .. } = &found;
            if found.is_image {
                images.extend(image(origin, name, *bytes, found.named_by));
                return;
            }
            if let Origin::File(path) = origin
                && !is_alone
                && !seen.insert(path.clone())
            {
                duplicates.push(found.name);
                return;
            }
            let extract = match origin {
                _ if found.server.is_some() => None,
                Origin::File(_) => ExtractKind::of(name, room.filter.options),
                Origin::Text(bytes) => extract_kind(name, bytes, room.filter.options),
            };
            let is_plain = extract.is_none() && matches!(origin, Origin::File(_));
            let pin = pins.get(name).filter(|pin| is_plain && pin.bytes < *bytes).copied();
            found.bytes = pin.map_or(*bytes, |pin| pin.bytes);
            so_far.files_total += 1;
            so_far.bytes_total += found.bytes;
            if so_far.files_total.is_multiple_of(TICK_FILES) {
                progress(*so_far);
            }
            (found.source_idx, found.extract, found.pin) = (source_idx, extract, pin);
            take(found);
        })?;
        for name in duplicates {
            report.skip(SkipReason::Duplicate, &name);
        }
        reports.push(report);
    }
    progress(*so_far);
    Ok(reports)
}

/// A name for each source: as many trailing parts of its path as are needed to tell them apart.
fn source_names(sources: &[Source]) -> Vec<String> {
    const PARTS_MAX: usize = 6;
    let mut names: Vec<String> = sources.iter().map(Source::name).collect();
    for n_parts in 2..=PARTS_MAX {
        let mut n_of: BTreeMap<String, usize> = BTreeMap::new();
        for name in &names {
            *n_of.entry(name.clone()).or_default() += 1;
        }
        for (name, source) in names.iter_mut().zip(sources) {
            if let Some(path) = source.path()
                && n_of[name.as_str()] > 1
            {
                *name = name::tail(path, n_parts);
            }
        }
    }
    names
}

fn image(origin: &Origin, name: &str, bytes: u64, named_by: NamedBy) -> Option<ImageEntry> {
    let (Origin::File(path), Some(kind)) = (origin, ImageKind::of(name)) else { return None };
    let is_named = named_by == NamedBy::User;
    Some(ImageEntry { name: name.to_owned(), kind, bytes, is_named, path: path.clone() })
}

fn admit_all(
    read: Vec<ReadCandidate>,
    documents: &mut Vec<DocEntry>,
    images: &mut Vec<ImageEntry>,
    reports: &mut [ScanReport],
) -> Result<(), SourceError> {
    documents.reserve(read.len());
    for (_, candidate, reading) in read {
        let report = &mut reports[candidate.source_idx];
        if candidate.extract == Some(ExtractKind::Pdf) && matches!(reading, Reading::Text { .. }) {
            images.extend(image(&candidate.origin, &candidate.name, candidate.bytes, NamedBy::Walk));
        }
        admit(candidate, reading, report, documents, images)?;
    }
    Ok(())
}

fn admit(
    candidate: Candidate,
    reading: Reading,
    report: &mut ScanReport,
    documents: &mut Vec<DocEntry>,
    images: &mut Vec<ImageEntry>,
) -> Result<(), SourceError> {
    let Candidate { name, origin, named_by, redacts, bytes, server, extract, .. } = candidate;
    let is_named = named_by == NamedBy::User;
    match reading {
        Reading::Text { bytes, lines, digest, modified, moved_to, database, secrets } => {
            report.documents += 1;
            report.bytes += bytes;
            report.redact(&name, &secrets);
            let database = server.map(Database::Server).or(database);
            let has_secrets = secrets.is_unknown || !secrets.counts.is_empty();
            let extracted = moved_to.is_some();
            let origin = moved_to.map_or(origin, Origin::File);
            documents.push(DocEntry {
                idx: 0,
                name,
                bytes,
                lines,
                modified,
                digest,
                origin,
                extracted,
                database,
                redacts,
                has_secrets,
                lacks_sought: secrets.lacks_sought,
            });
        }
        Reading::Empty => report.skip(SkipReason::Empty, &name),
        Reading::NotText(why) => {
            let image = image(&origin, &name, bytes, named_by);
            if image.is_none() && is_named {
                return Err(SourceError::NotText { name, why });
            }
            report.skip(why.into(), &name);
            images.extend(image);
        }
        Reading::NotExtracted(why @ ExtractError::NoText)
            if extract == Some(ExtractKind::Pdf) && matches!(origin, Origin::File(_)) =>
        {
            report.skip(why.reason(), &name);
            images.extend(image(&origin, &name, bytes, named_by));
        }
        Reading::NotExtracted(source) if is_named => return Err(SourceError::Extract { name, source }),
        Reading::NotExtracted(why) => report.skip(why.reason(), &name),
        Reading::NoScratch(source) => return Err(SourceError::Scratch { source }),
        Reading::Unreadable(_) if !is_named => report.skip(SkipReason::Unreadable, &name),
        Reading::Unreadable(error) => {
            let path = match origin {
                Origin::File(path) => path,
                Origin::Text(_) => name.into(),
            };
            return Err(SourceError::from_io(&path, error));
        }
    }
    Ok(())
}

fn nothing_readable(reports: &[ScanReport]) -> SourceError {
    let mut skipped = BTreeMap::new();
    for (reason, count) in reports.iter().flat_map(|report| &report.skipped) {
        *skipped.entry(reason.clone()).or_default() += count;
    }
    SourceError::Empty { sources: reports.iter().map(|report| report.source.clone()).collect(), skipped }
}

/// Appends a number to names that print alike, such as two texts called `stdin` or two names that are not UTF-8.
fn make_names_unique(documents: &mut [DocEntry]) {
    let has_twins = documents.windows(2).any(|pair| pair[0].name == pair[1].name);
    if !has_twins {
        return;
    }
    let mut taken: HashSet<String> = documents.iter().map(|document| document.name.clone()).collect();
    let (mut twin_of, mut number) = (String::new(), 1_u64);
    for document in documents.iter_mut() {
        if document.name != twin_of {
            twin_of.clone_from(&document.name);
            number = 1;
            continue;
        }
        while taken.contains(&document.name) {
            number += 1;
            document.name = format!("{twin_of}~{number}");
        }
        taken.insert(document.name.clone());
    }
    documents.sort_by(|a, b| a.name.cmp(&b.name));
}

#[cfg(test)]
mod tests;
