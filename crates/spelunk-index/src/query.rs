//! Queries and their syntax: words, "phrases", `path:glob`, `type:rust`, `-word`. Anything else is words; nothing a
//! person types is an error. The length of a query is bounded, and ignored parts are reported.

use std::collections::HashMap;

use globset::{GlobBuilder, GlobMatcher};
use spelunk_context::{ContentType, Needles};

use crate::catalogue::DocumentRecord;
use crate::question::{Question, STOP_WORDS};
use crate::terms::terms;
use crate::words::Form;

/// The longest part of a query that is parsed.
const QUERY_BYTES_MAX: usize = 16 * 1024;

/// How many terms are looked up; later ones are ignored.
const TERMS_MAX: usize = 64;

/// The maximum number of filters and phrases of each kind.
const CLAUSES_MAX: usize = 16;

/// How passages are found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// By their words.
    Words,
    /// By their meaning.
    Meaning,
    /// By both.
    #[default]
    Hybrid,
}

spelunk_types::named! { Mode { Words = "words", Meaning = "meaning", Hybrid = "hybrid" } }

/// What to search for.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// The query as typed.
    pub text: String,
    /// How passages are found.
    pub mode: Mode,
    /// How many hits to return.
    pub hits_max: usize,
}

impl Query {
    /// The most hits of one query.
    pub const HITS_MAX: usize = 200;

    /// Ten hits, by words and meaning.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), mode: Mode::default(), hits_max: 10 }
    }

    /// What a scan looks for to answer by reading: see [`Corpus::scan_for`](spelunk_context::Corpus::scan_for).
    pub fn needles(&self) -> Option<Needles> {
        Question::of(&Parsed::of(self, &|_| true).asked).needles
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QueryTerm {
    pub(crate) text: String,
    pub(crate) form: Form,
    pub(crate) position: usize,
}

pub(crate) type Phrase = Vec<(usize, String)>;

#[derive(Debug, Default)]
pub(crate) struct Parsed {
    pub(crate) terms: Vec<QueryTerm>,
    pub(crate) phrases: Vec<Phrase>,
    pub(crate) excluded: Vec<Phrase>,
    /// Only the words and phrases: the actual question.
    pub(crate) asked: String,
    pub(crate) filters: Filters,
    /// Whether a part of the query was ignored.
    pub(crate) is_cut: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Filters {
    paths: Vec<GlobMatcher>,
    paths_excluded: Vec<GlobMatcher>,
    kinds: Vec<String>,
}

impl Filters {
    pub(crate) fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.paths_excluded.is_empty() && self.kinds.is_empty()
    }

    pub(crate) fn wants(&self, name: &str, record: &DocumentRecord) -> bool {
        let is_any = |globs: &[GlobMatcher]| globs.iter().any(|glob| glob.is_match(name));
        (self.paths.is_empty() || is_any(&self.paths))
            && !is_any(&self.paths_excluded)
            && (self.kinds.is_empty() || self.kinds.iter().any(|kind| record.is_kind(kind)))
    }
}

impl Parsed {
    /// Parses a query. `knows_kind` returns whether any document has that kind.
    pub(crate) fn of(query: &Query, knows_kind: &dyn Fn(&str) -> bool) -> Self {
        let mut parsed = Self::default();
        let text = query.text.get(..query.text.floor_char_boundary(QUERY_BYTES_MAX)).unwrap_or_default();
        parsed.is_cut = text.len() < query.text.len();
        for clause in clauses(text) {
            parsed.take(clause, knows_kind);
        }
        parsed.find_terms();
        parsed
    }

    /// Whether a text contains every phrase and nothing that is excluded.
    pub(crate) fn allows(&self, text: &str) -> bool {
        if self.phrases.is_empty() && self.excluded.is_empty() {
            return true;
        }
        let mut positions: HashMap<String, Vec<usize>> = HashMap::new();
        terms(text, &mut |term| {
            if term.form != Form::Joined {
                positions.entry(term.text.to_owned()).or_default().push(term.position);
            }
        });
        self.phrases.iter().all(|phrase| holds(&positions, phrase))
            && !self.excluded.iter().any(|phrase| holds(&positions, phrase))
    }

    fn take(&mut self, clause: Clause<'_>, knows_kind: &dyn Fn(&str) -> bool) {
        match clause {
            Clause::Word(word) => {
                if let Some(glob) = word.strip_prefix("path:").filter(|glob| !glob.is_empty())
                    && self.add_path(glob, false)
                {
                    return;
                }
                let kind = word.strip_prefix("type:").or_else(|| word.strip_prefix("kind:")).map(kind_name);
                match kind.filter(|kind| ContentType::from_name(kind).is_some() || knows_kind(kind)) {
                    Some(kind) if self.filters.kinds.len() < CLAUSES_MAX => self.filters.kinds.push(kind),
                    Some(_) => self.is_cut = true,
                    None => self.ask(word),
                }
            }
            Clause::Phrase(phrase) => {
                self.ask(phrase);
                let phrase = phrase_of(phrase);
                self.is_cut |= !phrase.is_empty() && !push_bounded(&mut self.phrases, phrase);
            }
            Clause::Without(word) => match word.strip_prefix("path:").filter(|glob| !glob.is_empty()) {
                Some(glob) if self.add_path(glob, true) => {}
                Some(_) | None => {
                    let phrase = phrase_of(word);
                    self.is_cut |= !phrase.is_empty() && !push_bounded(&mut self.excluded, phrase);
                }
            },
        }
    }

    fn ask(&mut self, words: &str) {
        if !self.asked.is_empty() {
            self.asked.push(' ');
        }
        self.asked.push_str(words);
    }

    /// Adds a path filter. Returns false if it is not a valid glob.
    fn add_path(&mut self, pattern: &str, is_excluded: bool) -> bool {
        let plain = pattern.trim_start_matches("./").trim_end_matches('/');
        let anywhere = if plain.contains('/') { plain.to_owned() } else { format!("**/{plain}") };
        // A directory matches everything in it.
        let built: Vec<_> = [anywhere.clone(), format!("{anywhere}/**")]
            .iter()
            .filter_map(|glob| GlobBuilder::new(glob).literal_separator(true).build().ok())
            .map(|glob| glob.compile_matcher())
            .collect();
        let globs = if is_excluded { &mut self.filters.paths_excluded } else { &mut self.filters.paths };
        if globs.len() >= 2 * CLAUSES_MAX {
            self.is_cut = true;
            return true;
        }
        let is_glob = built.len() == 2;
        globs.extend(built);
        is_glob
    }

    fn find_terms(&mut self) {
        let mut common = Vec::new();
        let (mut found, mut is_cut) = (Vec::<QueryTerm>::new(), self.is_cut);
        let asked = std::mem::take(&mut self.asked);
        terms(&asked, &mut |term| {
            if term.form == Form::Single {
                return;
            }
            let list = if is_common(asked.get(term.at.clone()).unwrap_or_default()) {
                &mut common
            } else {
                &mut found
            };
            let is_new = list.iter().all(|known| known.text != term.text);
            if is_new && list.len() < TERMS_MAX {
                list.push(QueryTerm { text: term.text.to_owned(), form: term.form, position: term.position });
            } else {
                is_cut |= is_new;
            }
        });
        self.is_cut = is_cut;
        self.asked = asked;
        self.terms = if found.is_empty() { common } else { found };
    }
}

fn is_common(word: &str) -> bool {
    word.len() <= 6 && STOP_WORDS.contains(&word.to_ascii_lowercase().as_str())
}

/// Short names for the most common types.
fn kind_name(kind: &str) -> String {
    let kind = kind.to_lowercase();
    match kind.as_str() {
        "code" => "source_code".to_owned(),
        "table" | "csv" => "structured_data".to_owned(),
        "docs" | "text" => "prose".to_owned(),
        "c++" => "cpp".to_owned(),
        "c#" => "c_sharp".to_owned(),
        _ => kind,
    }
}

fn push_bounded(list: &mut Vec<Phrase>, phrase: Phrase) -> bool {
    let has_room = list.len() < CLAUSES_MAX;
    if has_room {
        list.push(phrase);
    }
    has_room
}

/// The terms of a phrase with their positions; for a name, its parts.
fn phrase_of(text: &str) -> Phrase {
    let mut phrase = Phrase::new();
    terms(text, &mut |term| {
        let is_alone = phrase.iter().all(|(position, _)| *position != term.position);
        if term.form == Form::Plain && is_alone && phrase.len() < TERMS_MAX {
            phrase.push((term.position, term.text.to_owned()));
        }
    });
    phrase
}

/// Whether the terms of a phrase are as far apart as in the phrase.
fn holds(positions: &HashMap<String, Vec<usize>>, phrase: &Phrase) -> bool {
    let Some((first_position, first)) = phrase.first() else { return true };
    let starts = positions.get(first).map(Vec::as_slice).unwrap_or_default();
    starts.iter().any(|start| {
        phrase.iter().all(|(position, term)| {
            let wanted = start + (position - first_position);
            positions.get(term).is_some_and(|positions| positions.contains(&wanted))
        })
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Clause<'t> {
    Word(&'t str),
    Phrase(&'t str),
    Without(&'t str),
}

/// Splits a query at whitespace outside of quotation marks. An unmatched mark is ignored.
fn clauses(text: &str) -> Vec<Clause<'_>> {
    let mut clauses = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let (is_without, body) = match rest.strip_prefix('-') {
            Some(body) if body.starts_with(|c: char| c.is_alphanumeric() || c == '"' || c == '_') => {
                (true, body)
            }
            Some(_) | None => (false, rest),
        };
        let quoted = body.strip_prefix('"').and_then(|inside| inside.split_once('"'));
        let (inside, behind, is_quoted) = match quoted {
            Some((inside, behind)) => (inside, behind, true),
            None => {
                let end = body.find(char::is_whitespace).unwrap_or(body.len());
                let (word, behind) = body.split_at(end);
                (word, behind, false)
            }
        };
        clauses.push(match (is_without, is_quoted) {
            (true, _) => Clause::Without(inside),
            (false, true) => Clause::Phrase(inside),
            (false, false) => Clause::Word(inside),
        });
        rest = behind.trim_start();
    }
    clauses
}

#[cfg(test)]
mod tests;
