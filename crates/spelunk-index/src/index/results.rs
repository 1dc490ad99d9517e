//! Builds results from candidates: each is read back through the view, checked against the query, merged into a hit
//! with nearly the same text, or shown with its best line.

use std::collections::HashMap;

use spelunk_context::{DocEntry, View};

use crate::IndexError;
use crate::cut::window_start;
use crate::highlight::mark_text;
use crate::index::search::{Candidate, Hit, SearchScope};
use crate::near_duplicates::Gist;
use crate::query::Parsed;
use crate::question::Question;
use crate::tally::WordSet;
use crate::texts::{Texts, Unreadable};

const UNREADABLE_MAX: usize = 16;

pub(crate) struct ResultBuilder<'a> {
    view: &'a View,
    parsed: &'a Parsed,
    scope: &'a SearchScope<'a>,
    hits_max: usize,
    question: Question,
    texts: &'a mut Texts,
    gists: Vec<Gist>,
    by_fingerprint: HashMap<u64, usize>,
    pub(crate) hits: Vec<Hit>,
    pub(crate) n_folded: u64,
    pub(crate) unreadable: Vec<String>,
}

impl<'a> ResultBuilder<'a> {
    pub(crate) fn new(
        view: &'a View,
        parsed: &'a Parsed,
        scope: &'a SearchScope<'a>,
        hits_max: usize,
        texts: &'a mut Texts,
    ) -> Self {
        Self {
            view,
            parsed,
            scope,
            hits_max,
            question: Question::of(&parsed.asked),
            texts,
            gists: Vec::new(),
            by_fingerprint: HashMap::new(),
            hits: Vec::new(),
            n_folded: 0,
            unreadable: Vec::new(),
        }
    }

    /// Takes candidates, best first. Those after the last hit are only checked for exact duplicates. `describe` looks up
    /// the scope and the similarity of a hit.
    pub(crate) fn take(
        &mut self,
        candidates: Vec<Candidate>,
        describe: impl Fn(&Candidate) -> Result<(Option<String>, Option<f32>), IndexError>,
    ) -> Result<(), IndexError> {
        self.texts.expect(candidates.iter().filter_map(|candidate| {
            let document = self.scope.document(candidate.passage.document)?;
            Some((document.idx, candidate.passage.location))
        }));
        for candidate in candidates {
            if let Some(&idx) = self.by_fingerprint.get(&candidate.passage.fingerprint) {
                self.fold_into(idx);
                continue;
            }
            if self.hits.len() >= self.hits_max {
                continue;
            }
            let Some(document) = self.scope.document(candidate.passage.document) else {
                continue;
            };
            let Some(text) = self.text_of(document, &candidate) else { continue };
            // The words index has checked this, the vectors have not.
            if !self.parsed.allows(&text) {
                continue;
            }
            let gist = Gist::of(&text);
            if let Some(idx) = self.gists.iter().position(|known| known.is_near(&gist)) {
                self.by_fingerprint.insert(candidate.passage.fingerprint, idx);
                self.fold_into(idx);
                continue;
            }
            self.by_fingerprint.insert(candidate.passage.fingerprint, self.hits.len());
            self.gists.push(gist);
            let (scope, similarity) = describe(&candidate)?;
            self.hits.push(Hit { scope, similarity, ..self.hit(document, &candidate, text) });
        }
        Ok(())
    }

    fn fold_into(&mut self, idx: usize) {
        self.n_folded += 1;
        if let Some(hit) = self.hits.get_mut(idx) {
            hit.twins += 1;
        }
    }

    fn text_of(&mut self, document: &DocEntry, candidate: &Candidate) -> Option<String> {
        match self.texts.get(self.view, document, candidate.passage.location) {
            Ok(text) => text,
            Err(Unreadable) => {
                if self.unreadable.len() < UNREADABLE_MAX && !self.unreadable.contains(&document.name) {
                    self.unreadable.push(document.name.clone());
                }
                None
            }
        }
    }

    fn hit(&self, document: &DocEntry, candidate: &Candidate, text: String) -> Hit {
        let location = candidate.passage.location;
        let mut words = WordSet::default();
        self.question.find(&text, |hit| words.insert(hit.word_idx));
        let base = window_start(location.window);
        let to_usize = |at: u64| base.saturating_add(usize::try_from(at).unwrap_or(usize::MAX));
        Hit {
            document: document.name.clone(),
            doc_idx: document.idx,
            line_start: location.line_start,
            line_end: location.line_end,
            span: to_usize(location.start)..to_usize(location.end),
            scope: None,
            score: candidate.score,
            similarity: None,
            matched: words.iter().map(|word_idx| self.question.shown(word_idx).to_owned()).collect(),
            mark: mark_text(&text, location.line_start, &self.question),
            text,
            twins: 0,
        }
    }
}
