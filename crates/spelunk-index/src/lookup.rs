//! The query for the inverted index: any word, in text, heading or path; every phrase; nothing excluded.

use tantivy::Term;
use tantivy::query::{BooleanQuery, BoostQuery, Occur, PhraseQuery, Query as TantivyQuery, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};

use crate::query::{Parsed, Phrase};
use crate::words_index::Fields;

/// The weights of a word in a heading and in the path, relative to the text. All passages of a section share
/// these, so higher weights would hide their differences; measured in `benches/retrieval.rs`.
const SCOPE_BOOST: f32 = 0.2;
const PATH_BOOST: f32 = 0.05;

pub(crate) fn words_query(parsed: &Parsed, fields: Fields) -> Box<dyn TantivyQuery> {
    let mut clauses: Vec<(Occur, Box<dyn TantivyQuery>)> = Vec::new();
    for term in &parsed.terms {
        for (field, boost) in [(fields.text, 1.0), (fields.scope, SCOPE_BOOST), (fields.path, PATH_BOOST)] {
            let query = BoostQuery::new(term_query(field, &term.text), boost);
            clauses.push((Occur::Should, Box::new(query)));
        }
    }
    if parsed.phrases.is_empty() && parsed.excluded.is_empty() {
        return Box::new(BooleanQuery::new(clauses));
    }
    let mut demands: Vec<(Occur, Box<dyn TantivyQuery>)> =
        vec![(Occur::Must, Box::new(BooleanQuery::new(clauses)))];
    demands.extend(parsed.phrases.iter().map(|phrase| (Occur::Must, phrase_query(fields.text, phrase))));
    demands.extend(parsed.excluded.iter().map(|phrase| (Occur::MustNot, phrase_query(fields.text, phrase))));
    Box::new(BooleanQuery::new(demands))
}

fn term_query(field: Field, term: &str) -> Box<dyn TantivyQuery> {
    Box::new(TermQuery::new(Term::from_field_text(field, term), IndexRecordOption::WithFreqs))
}

fn phrase_query(field: Field, phrase: &Phrase) -> Box<dyn TantivyQuery> {
    match phrase.as_slice() {
        [(_, term)] => term_query(field, term),
        several => {
            let first = several.first().map_or(0, |(position, _)| *position);
            let terms = several
                .iter()
                .map(|(position, term)| (position - first, Term::from_field_text(field, term)))
                .collect();
            Box::new(PhraseQuery::new_with_offset(terms))
        }
    }
}
