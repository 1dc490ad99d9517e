//! Searches an index: candidates by words and by meaning are fused, read back through the view, deduplicated, and
//! highlighted. Nothing outside the view is ever seen.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use spelunk_context::{DocEntry, View};
use tantivy::{DocAddress, Searcher};

use crate::IndexError;
use crate::catalogue::Catalogue;
use crate::fuse::{Ranking, fuse, words_weight};
use crate::highlight::Mark;
use crate::index::notice::Notice;
use crate::index::results::ResultBuilder;
use crate::index::{Index, Snapshot, embed_checked, embedder_for};
use crate::lookup::words_query;
use crate::query::{Mode, Parsed, Query};
use crate::rerank::{Reranked, refine};
use crate::texts::Texts;
use crate::vector_store::{NearRow, Quantised};
use crate::words_index::{BitSet, EmbeddedPassage, StoredPassage, passages};

/// Candidates of each kind, initially and at most. More are considered if many are duplicates.
const CANDIDATES_MIN: usize = 200;
const CANDIDATES_MAX: usize = 5000;

/// The result of a search.
#[derive(Debug, Default)]
pub struct SearchResults {
    /// The best first.
    pub hits: Vec<Hit>,
    /// How they were found: `Hybrid` becomes `Words` if there are no vectors.
    pub mode: Mode,
    /// How many documents passed the filters.
    pub documents: u64,
    /// Documents of the view that are not indexed in their current version; an update adds them.
    pub documents_missing: u64,
    /// What the user should know.
    pub notices: Vec<Notice>,
}

/// A passage that is relevant to a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The document's name in the corpus.
    pub document: String,
    /// The document's position in the corpus of the view.
    pub doc_idx: u32,
    /// The first line, from 1.
    pub line_start: u64,
    /// The last line, from 1.
    pub line_end: u64,
    /// Byte range in the document's text. In a document of more than 16 MiB it may be off by what was redacted in the
    /// same quarter of a MiB; lines are exact.
    pub span: Range<usize>,
    /// The heading or definition it is in.
    pub scope: Option<String>,
    /// The text itself, including line endings.
    pub text: String,
    /// Higher is better; comparable only within one search.
    pub score: f32,
    /// The semantic similarity, from -1 to 1. `None` if only words were searched.
    pub similarity: Option<f32>,
    /// The words of the query that it contains, in the order of the query.
    pub matched: Vec<String>,
    /// Its best line, and where the words occur in it.
    pub mark: Mark,
    /// How many other passages have nearly the same text and are not listed.
    pub twins: u64,
}

impl SearchResults {
    pub(crate) fn nothing(query: &Query, view: &View) -> Self {
        let documents_missing = view.documents().len() as u64;
        Self { mode: query.mode, documents_missing, ..Self::default() }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) at: DocAddress,
    pub(crate) score: f32,
    pub(crate) passage: StoredPassage,
    pub(crate) similarity: Option<f32>,
}

pub(crate) struct SearchScope<'v> {
    view: &'v View,
    indexed: Arc<IndexedDocuments>,
    /// `None` if every passage of the index is wanted.
    wanted: Option<Arc<BitSet>>,
}

/// The documents of a view that are indexed in their current version.
#[derive(Debug, Default)]
pub(crate) struct IndexedDocuments {
    /// Their numbers in the corpus, by id.
    idxs: HashMap<u64, u32>,
    n_missing: u64,
    /// Whether they are all that the index holds.
    is_all: bool,
}

pub(crate) fn search(
    index: &Index,
    snapshot: &Snapshot,
    view: &View,
    query: &Query,
    texts: &mut Texts,
) -> Result<SearchResults, IndexError> {
    let held = &snapshot.catalogue.documents;
    let parsed = Parsed::of(query, &|kind| held.values().any(|record| record.is_kind(kind)));
    let scope = SearchScope::of(snapshot, view, &parsed);
    let mut found = SearchResults {
        mode: query.mode,
        documents: scope.indexed.idxs.len() as u64,
        documents_missing: scope.indexed.n_missing,
        ..SearchResults::default()
    };
    if parsed.is_cut {
        found.notices.push(Notice::QueryCut);
    }
    if parsed.terms.is_empty() {
        found.notices.push(Notice::NothingAsked);
        return Ok(found);
    }
    let mut search = Search { index, snapshot, parsed: &parsed, scope: &scope, vector: None };
    if query.mode != Mode::Words {
        match search.embed() {
            Ok(vector) => {
                if vector.numbers.iter().all(|&number| number == 0) {
                    found.notices.push(Notice::UnknownWords);
                }
                search.vector = Some(vector);
            }
            Err(error) if query.mode == Mode::Meaning => return Err(error),
            Err(error) => {
                found.mode = Mode::Words;
                found.notices.push(Notice::words_only(&error));
            }
        }
    }
    let hits_max = query.hits_max.clamp(1, Query::HITS_MAX);
    let mut n_candidates = CANDIDATES_MIN.max(hits_max * 4);
    loop {
        let candidates = search.candidates(found.mode, n_candidates)?;
        let n_found = candidates.len();
        let mut presenter = ResultBuilder::new(view, &parsed, &scope, hits_max, texts);
        presenter.take(candidates, |candidate| search.describe(candidate))?;
        let is_short = presenter.hits.len() < hits_max && presenter.n_folded > 0 && n_found >= n_candidates;
        if !is_short || n_candidates >= CANDIDATES_MAX {
            found.hits = presenter.hits;
            found.notices.extend(presenter.unreadable.into_iter().map(Notice::Unreadable));
            return Ok(found);
        }
        n_candidates = CANDIDATES_MAX;
    }
}

impl<'v> SearchScope<'v> {
    fn of(snapshot: &Snapshot, view: &'v View, parsed: &Parsed) -> Self {
        let indexed = match view.whole().filter(|_| parsed.filters.is_empty()) {
            Some(corpus) => snapshot.indexed(corpus, || IndexedDocuments::of(snapshot, view, parsed)),
            None => Arc::new(IndexedDocuments::of(snapshot, view, parsed)),
        };
        let wanted = (!indexed.is_all).then(|| Arc::new(indexed.idxs.keys().copied().collect()));
        Self { view, indexed, wanted }
    }

    pub(crate) fn document(&self, id: u64) -> Option<&'v DocEntry> {
        self.view.document(*self.indexed.idxs.get(&id)?)
    }

    fn wants(&self, document: u64) -> bool {
        self.wanted.as_ref().is_none_or(|bits| bits.contains(document))
    }
}

impl IndexedDocuments {
    fn of(snapshot: &Snapshot, view: &View, parsed: &Parsed) -> Self {
        let mut indexed = Self::default();
        let mut n_current = 0;
        for (document, record) in snapshot.catalogue.all_current(view.documents()) {
            let Some(record) = record else {
                indexed.n_missing += 1;
                continue;
            };
            n_current += 1;
            if parsed.filters.wants(&document.name, record) {
                indexed.idxs.insert(record.id, document.idx);
            }
        }
        let Catalogue { documents: held, partial, .. } = &snapshot.catalogue;
        indexed.is_all = n_current == held.len() && parsed.filters.is_empty() && partial.is_empty();
        indexed
    }
}

struct Search<'a> {
    index: &'a Index,
    snapshot: &'a Snapshot,
    parsed: &'a Parsed,
    scope: &'a SearchScope<'a>,
    vector: Option<Quantised>,
}

type Scored = Vec<(f32, DocAddress)>;

impl Search<'_> {
    fn embed(&self) -> Result<Quantised, IndexError> {
        let embedder = embedder_for(self.index, self.snapshot)?;
        let vectors = embed_checked(embedder, &[&self.parsed.asked])?;
        Ok(Quantised::of(vectors.first().map(Vec::as_slice).unwrap_or_default()))
    }

    /// The best candidates, in an order that depends only on the corpus.
    fn candidates(&self, mode: Mode, n_max: usize) -> Result<Vec<Candidate>, IndexError> {
        let searcher = self.snapshot.words.searcher();
        let Reranked { scored: words, covered } =
            if mode == Mode::Meaning { Reranked::default() } else { self.by_words(&searcher, n_max)? };
        let meaning = if mode == Mode::Words { Scored::new() } else { self.by_meaning(n_max)? };
        let by_address = |scored: &Scored| scored.iter().map(|&(score, at)| (at, score)).collect();
        let similarities: HashMap<DocAddress, f32> = by_address(&meaning);
        let scores = match mode {
            Mode::Words => by_address(&words),
            Mode::Meaning => similarities.clone(),
            Mode::Hybrid => fuse(&[
                Ranking { scored: &words, weight: words_weight(covered) },
                Ranking { scored: &meaning, weight: 1.0 },
            ]),
        };
        self.locate(&searcher, &scores, &similarities)
    }

    fn by_words(&self, searcher: &Searcher, n_max: usize) -> Result<Reranked, IndexError> {
        let words = &self.snapshot.words;
        let query = words_query(self.parsed, words.fields);
        words
            .top(query.as_ref(), self.scope.wanted.clone(), n_max)
            .and_then(|ranked| refine(self.parsed, searcher, words.fields.text, ranked))
            .map_err(|error| self.error(error))
    }

    fn by_meaning(&self, n_max: usize) -> Result<Scored, IndexError> {
        let (Some(rows), Some(vector)) = (&self.snapshot.rows, &self.vector) else { return Ok(Vec::new()) };
        let (passages, rows_held) = self.snapshot.embedded_passages().map_err(|error| self.error(error))?;
        let of_scope = |passage: &&EmbeddedPassage| self.scope.wants(passage.document);
        let wanted = self.scope.wanted.as_ref().map(|_| -> BitSet {
            passages.iter().filter(of_scope).map(|passage| u64::from(passage.row)).collect()
        });
        let wanted = wanted.as_ref().unwrap_or(rows_held);
        let near = rows.scan(vector, &|row| wanted.contains(u64::from(row)), n_max);
        let near = near.map_err(|error| self.vectors_error(&error))?;
        let mut scored = Scored::new();
        for NearRow { row, similarity } in near.into_iter().filter(|near| near.similarity > 0.0) {
            let first = passages.partition_point(|passage| passage.row < row);
            let of_row = passages.iter().skip(first).take_while(|passage| passage.row == row);
            scored.extend(of_row.filter(of_scope).map(|passage| (similarity, passage.at)));
        }
        scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        Ok(scored)
    }

    /// Looks up the locations of candidates and sorts them: by score, then by name and location.
    fn locate(
        &self,
        searcher: &Searcher,
        scores: &HashMap<DocAddress, f32>,
        similarities: &HashMap<DocAddress, f32>,
    ) -> Result<Vec<Candidate>, IndexError> {
        let mut placed = Vec::with_capacity(scores.len());
        let addresses: Vec<DocAddress> = scores.keys().copied().collect();
        let passages = passages(searcher, &addresses).map_err(|error| self.error(error))?;
        for (at, passage) in passages {
            if let Some(document) = self.scope.document(passage.document) {
                let candidate =
                    Candidate { at, score: scores[&at], passage, similarity: similarities.get(&at).copied() };
                placed.push((document.name.as_str(), candidate));
            }
        }
        placed.sort_by(|(a_name, a), (b_name, b)| {
            let location =
                |candidate: &Candidate| (candidate.passage.location.window, candidate.passage.location.start);
            b.score
                .total_cmp(&a.score)
                .then_with(|| a_name.cmp(b_name))
                .then_with(|| location(a).cmp(&location(b)))
        });
        Ok(placed.into_iter().map(|(_, candidate)| candidate).collect())
    }

    /// The heading of a hit, and its similarity even if it was found by words alone.
    fn describe(&self, candidate: &Candidate) -> Result<(Option<String>, Option<f32>), IndexError> {
        let Snapshot { words, rows, .. } = self.snapshot;
        let scope = words.scope(&words.searcher(), candidate.at).map_err(|error| self.error(error))?;
        let mut similarity = candidate.similarity;
        if let (None, Some(vector), Some(rows), Some(row)) =
            (similarity, &self.vector, rows, candidate.passage.row)
        {
            let read = rows.read(row).map_err(|error| self.vectors_error(&error))?;
            similarity = read.map(|row| row.similarity(vector));
        }
        Ok((scope, similarity))
    }

    fn error(&self, error: tantivy::TantivyError) -> IndexError {
        IndexError::of(&self.index.directory, error)
    }

    fn vectors_error(&self, error: &std::io::Error) -> IndexError {
        self.index.damaged(format!("its vectors cannot be read: {error}"))
    }
}
