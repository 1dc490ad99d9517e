//! The inverted index: which terms occur in which passages, stored by tantivy. Only this file knows its fields.

use std::path::Path;

use tantivy::collector::{FilterCollector, TopDocs};
use tantivy::columnar::Column;
use tantivy::directory::MmapDirectory;
use tantivy::index::{SegmentId, SegmentMeta};
use tantivy::indexer::NoMergePolicy;
use tantivy::query::Query as TantivyQuery;
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, NumericOptions, STORED, Schema, TextFieldIndexing, TextOptions,
    Value as _,
};
use tantivy::tokenizer::{TextAnalyzer, TokenizerManager};
use tantivy::{DocAddress, IndexReader, IndexWriter, ReloadPolicy, Searcher, TantivyDocument, Term};

use crate::terms::TermTokenizer;

pub(crate) const WORDS_DIRECTORY: &str = "words";
const TOKENIZER: &str = "terms";
const WRITER_BYTES: usize = 64 << 20;

/// More segments than this are merged: each adds to the cost of every query.
const SEGMENTS_MAX: usize = 16;

/// A segment with a larger share of deleted passages is rewritten.
const GONE_PERCENT_MAX: u64 = 30;

/// The numbers stored for a passage, in the order of [`StoredPassage::numbers`].
const NUMBERS: [&str; 7] = [DOCUMENT, "window", "start", "end", "line_start", "line_end", "fingerprint"];
const DOCUMENT: &str = "document";
const ROW: &str = "row";

#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields {
    pub(crate) text: Field,
    pub(crate) path: Field,
    pub(crate) scope: Field,
    numbers: [Field; NUMBERS.len()],
    row: Field,
}

#[derive(Debug)]
pub(crate) struct NewPassage {
    pub(crate) stored: StoredPassage,
    pub(crate) text: String,
    pub(crate) path: String,
    pub(crate) scope: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PassageLocation {
    /// The index of the window in its document, from 0.
    pub(crate) window: u64,
    /// Byte offsets in the text of the window.
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// From 1.
    pub(crate) line_start: u64,
    pub(crate) line_end: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StoredPassage {
    pub(crate) document: u64,
    pub(crate) location: PassageLocation,
    pub(crate) fingerprint: u64,
    pub(crate) row: Option<u32>,
}

impl StoredPassage {
    fn numbers(&self) -> [u64; NUMBERS.len()] {
        let PassageLocation { window, start, end, line_start, line_end } = self.location;
        [self.document, window, start, end, line_start, line_end, self.fingerprint]
    }

    fn of(numbers: [u64; NUMBERS.len()], row: Option<u32>) -> Self {
        let [document, window, start, end, line_start, line_end, fingerprint] = numbers;
        let location = PassageLocation { window, start, end, line_start, line_end };
        Self { document, location, fingerprint, row }
    }
}

pub(crate) struct WordsIndex {
    index: tantivy::Index,
    reader: IndexReader,
    pub(crate) fields: Fields,
}

impl std::fmt::Debug for WordsIndex {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WordsIndex").finish_non_exhaustive()
    }
}

impl WordsIndex {
    pub(crate) fn open(directory: &Path) -> tantivy::Result<Self> {
        let index = tantivy::Index::open(MmapDirectory::open(directory)?)?;
        let (schema, fields) = schema();
        if index.schema() != schema {
            return Err(tantivy::TantivyError::SchemaError("its fields differ".to_owned()));
        }
        Self::of(index, fields)
    }

    /// Creates an empty one; the directory exists.
    pub(crate) fn create(directory: &Path) -> tantivy::Result<Self> {
        let (schema, fields) = schema();
        let directory = MmapDirectory::open(directory)?;
        Self::of(tantivy::Index::create(directory, schema, tantivy::IndexSettings::default())?, fields)
    }

    fn of(mut index: tantivy::Index, fields: Fields) -> tantivy::Result<Self> {
        index.set_tokenizers(tokenizers());
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        Ok(Self { index, reader, fields })
    }

    pub(crate) fn searcher(&self) -> Searcher {
        self.reader.searcher()
    }

    /// The best passages of the wanted documents, with their scores.
    pub(crate) fn top(
        &self,
        query: &dyn TantivyQuery,
        wanted: Option<std::sync::Arc<BitSet>>,
        n_max: usize,
    ) -> tantivy::Result<Vec<(f32, DocAddress)>> {
        let top = TopDocs::with_limit(n_max.max(1)).order_by_score();
        match wanted {
            None => self.searcher().search(query, &top),
            Some(bits) => {
                let is_wanted = move |document: u64| bits.contains(document);
                let filtered = FilterCollector::new(DOCUMENT.to_owned(), is_wanted, top);
                self.searcher().search(query, &filtered)
            }
        }
    }

    /// The heading or definition that contains a passage.
    pub(crate) fn scope(&self, searcher: &Searcher, at: DocAddress) -> tantivy::Result<Option<String>> {
        let stored: TantivyDocument = searcher.doc(at)?;
        Ok(stored.get_first(self.fields.scope).and_then(|value| value.as_str()).map(str::to_owned))
    }

    pub(crate) fn writer(&self, n_threads: usize) -> tantivy::Result<WordsWriter> {
        let n_threads = n_threads.max(1);
        let writer: IndexWriter = self.index.writer_with_num_threads(n_threads, n_threads * WRITER_BYTES)?;
        writer.set_merge_policy(Box::new(NoMergePolicy));
        Ok(WordsWriter { writer, fields: self.fields })
    }

    /// The names of the files of the last commit.
    pub(crate) fn file_names(&self, directory_names: Vec<String>) -> tantivy::Result<Vec<String>> {
        let ids = self.index.searchable_segment_ids()?;
        let ids: Vec<String> = ids.iter().map(SegmentId::uuid_string).collect();
        let is_ours =
            |name: &String| name == "meta.json" || ids.iter().any(|id| name.starts_with(id.as_str()));
        Ok(directory_names.into_iter().filter(is_ours).collect())
    }

    /// The segments of the last commit, smallest first, and whether too much of each is deleted.
    /// Returns ids, not metadata, which would keep the files of a segment alive.
    fn segments(&self) -> tantivy::Result<Vec<(SegmentId, bool)>> {
        let mut metas = self.index.searchable_segment_metas()?;
        metas.sort_by_key(|meta| (meta.num_docs(), meta.id().uuid_string()));
        let is_worn = |meta: &SegmentMeta| {
            u64::from(meta.num_deleted_docs()) * 100 > u64::from(meta.max_doc()) * GONE_PERCENT_MAX
        };
        Ok(metas.iter().map(|meta| (meta.id(), is_worn(meta))).collect())
    }
}

pub(crate) fn passages(
    searcher: &Searcher,
    addresses: &[DocAddress],
) -> tantivy::Result<Vec<(DocAddress, StoredPassage)>> {
    let mut passages = Vec::with_capacity(addresses.len());
    for (segment_ord, segment) in (0..).zip(searcher.segment_readers()) {
        let mut here = addresses.iter().filter(|at| at.segment_ord == segment_ord).peekable();
        if here.peek().is_none() {
            continue;
        }
        let columns = segment.fast_fields();
        let numbers: Vec<Column<u64>> =
            NUMBERS.iter().map(|name| columns.u64(name)).collect::<Result<_, _>>()?;
        let rows: Option<Column<u64>> = columns.column_opt(ROW)?;
        for &at in here {
            let number =
                |idx: usize| numbers.get(idx).and_then(|column| column.first(at.doc_id)).unwrap_or(0);
            let row = rows.as_ref().and_then(|rows| rows.first(at.doc_id));
            let row = row.and_then(|row| u32::try_from(row).ok());
            passages.push((at, StoredPassage::of(std::array::from_fn(number), row)));
        }
    }
    Ok(passages)
}

/// A live passage: its document, its row and its location.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EmbeddedPassage {
    pub(crate) document: u64,
    pub(crate) row: u32,
    pub(crate) at: DocAddress,
}

/// Every live passage that has a row, sorted by row.
pub(crate) fn embedded_passages(searcher: &Searcher) -> tantivy::Result<Vec<EmbeddedPassage>> {
    let mut passages = Vec::new();
    for (segment_ord, segment) in (0..).zip(searcher.segment_readers()) {
        let documents = segment.fast_fields().u64(DOCUMENT)?;
        let Some(rows) = segment.fast_fields().column_opt::<u64>(ROW)? else { continue };
        for doc_id in segment.doc_ids_alive() {
            let row = rows.first(doc_id).and_then(|row| u32::try_from(row).ok());
            if let (Some(document), Some(row)) = (documents.first(doc_id), row) {
                passages.push(EmbeddedPassage { document, row, at: DocAddress { segment_ord, doc_id } });
            }
        }
    }
    passages.shrink_to_fit();
    passages.sort_unstable_by_key(|passage| (passage.row, passage.at));
    Ok(passages)
}

pub(crate) struct WordsWriter {
    writer: IndexWriter,
    fields: Fields,
}

impl WordsWriter {
    pub(crate) fn add(&self, passage: NewPassage) -> tantivy::Result<()> {
        let mut record = TantivyDocument::default();
        record.add_text(self.fields.text, passage.text);
        record.add_text(self.fields.path, passage.path);
        if let Some(title) = passage.scope {
            record.add_text(self.fields.scope, title);
        }
        for (field, number) in self.fields.numbers.into_iter().zip(passage.stored.numbers()) {
            record.add_u64(field, number);
        }
        if let Some(row) = passage.stored.row {
            record.add_u64(self.fields.row, u64::from(row));
        }
        self.writer.add_document(record).map(drop)
    }

    pub(crate) fn remove_document(&self, id: u64) {
        self.writer.delete_term(Term::from_field_u64(self.fields.numbers[0], id));
    }

    /// Commits, then merges segments that are too many or mostly deleted.
    pub(crate) fn commit(&mut self, words: &WordsIndex) -> tantivy::Result<()> {
        self.writer.commit()?;
        for (id, _) in words.segments()?.iter().filter(|(_, is_worn)| *is_worn) {
            self.writer.merge(&[*id]).wait()?;
        }
        let segments = words.segments()?;
        if segments.len() > SEGMENTS_MAX {
            let n_smallest = SEGMENTS_MAX / 2 + segments.len() - SEGMENTS_MAX;
            let smallest: Vec<_> = segments.iter().take(n_smallest).map(|(id, _)| *id).collect();
            self.writer.merge(&smallest).wait()?;
        }
        self.writer.garbage_collect_files().wait()?;
        Ok(())
    }

    pub(crate) fn finish(self) -> tantivy::Result<()> {
        self.writer.wait_merging_threads()
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct BitSet(Vec<u64>);

impl BitSet {
    pub(crate) fn insert(&mut self, number: u64) {
        let Ok(idx) = usize::try_from(number / 64) else { return };
        if idx >= self.0.len() {
            self.0.resize(idx + 1, 0);
        }
        self.0[idx] |= 1 << (number % 64);
    }

    pub(crate) fn contains(&self, number: u64) -> bool {
        let word = usize::try_from(number / 64).ok().and_then(|idx| self.0.get(idx));
        word.is_some_and(|word| word >> (number % 64) & 1 == 1)
    }
}

impl FromIterator<u64> for BitSet {
    fn from_iter<I: IntoIterator<Item = u64>>(numbers: I) -> Self {
        let mut bits = Self::default();
        numbers.into_iter().for_each(|number| bits.insert(number));
        bits
    }
}

fn tokenizers() -> TokenizerManager {
    let tokenizers = TokenizerManager::default();
    tokenizers.register(TOKENIZER, TextAnalyzer::from(TermTokenizer::default()));
    tokenizers
}

fn schema() -> (Schema, Fields) {
    let mut builder = Schema::builder();
    let indexing = |record| TextFieldIndexing::default().set_tokenizer(TOKENIZER).set_index_option(record);
    let with_positions = indexing(IndexRecordOption::WithFreqsAndPositions);
    let text = TextOptions::default().set_indexing_options(with_positions);
    let short = TextOptions::default().set_indexing_options(indexing(IndexRecordOption::WithFreqs));
    let fields = Fields {
        text: builder.add_text_field("text", text),
        path: builder.add_text_field("path", short.clone()),
        scope: builder.add_text_field("scope", short | STORED),
        numbers: NUMBERS.map(|name| {
            let options: NumericOptions =
                if name == DOCUMENT { (INDEXED | FAST).into() } else { FAST.into() };
            builder.add_u64_field(name, options)
        }),
        row: builder.add_u64_field(ROW, FAST),
    };
    (builder.build(), fields)
}
