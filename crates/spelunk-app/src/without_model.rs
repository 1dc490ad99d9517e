//! What can be said about a question without a model: a computed count if the question asks for
//! one, and the best matching passages, each with the sentence closest to the question.

mod computed;
mod layout;
mod line_counts;
mod nearness;
mod sentences;

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use spelunk_context::{ContentType, Heading, View, headings};
use spelunk_engine::index_folder;
use spelunk_fs::PrivateDir;
use spelunk_index::{Embedder, Hit, IndexProgress, Notice, Query};
use spelunk_journal::{JournalError, Workspace};

pub use self::computed::Computed;
use self::layout::laid_out;
use self::nearness::{Asked, words};
use self::sentences::{Line, lines, sentences};
use crate::app::App;
use crate::config::RoleModel;
use crate::context_search::{Indexed, Level};
use crate::failure::Result;

const HITS_MAX: usize = Query::HITS_MAX;
/// The most characters printed for the file and the headings of a passage.
pub(crate) const NAME_CHARS_MAX: usize = 60;
pub(crate) const HEADINGS_CHARS_MAX: usize = 60;
/// Lines are printed whole up to this length.
const LINES_CHARS_MAX: usize = 200;
/// The overhead per line of text: its indentation and the marks of the best sentence.
const INDENT_CHARS: usize = 4;
const MARK_CHARS: usize = 4;
/// The weights of a sentence's passage, headings, last heading and document relative to the sentence itself. These weights
/// and those in `nearness` were chosen with the questions about pytest and about Flask, Starlette and attrs.
const PASSAGE_WEIGHT: f32 = 0.5;
const HEADINGS_WEIGHT: f32 = 0.25;
const HEADING_WEIGHT: f32 = 0.5;
const DOCUMENT_WEIGHT: f32 = 0.5;
/// Sentences with fewer words seldom answer a question, and neither do lines of code in prose.
const WORDS_MIN: usize = 4;
const SHORT_COST: f32 = 0.4;
const CODE_COST: f32 = 0.2;
/// The largest document whose headings are read.
const HEADINGS_BYTES_MAX: u64 = 1_000_000;
const HEADINGS_MAX: usize = 6;
/// The minimum similarity of a passage that shares no word with the question.
const SIMILARITY_MIN: f32 = 0.2;

pub struct Found {
    pub computed: Computed,
    /// Best first.
    pub passages: Vec<FoundPassage>,
    pub documents: u64,
    pub bytes: u64,
    pub notices: Vec<Notice>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct FoundPassage {
    pub document: String,
    /// The line of the best sentence, from 1.
    pub line: u64,
    pub line_start: u64,
    pub line_end: u64,
    /// The headings above it, outermost first.
    pub headings: Vec<String>,
    pub text: String,
    /// The best sentence, as a range of the text.
    pub sentence: Range<usize>,
    pub score: f32,
    /// The number of unlisted passages with nearly the same text.
    pub n_alike: u64,
    /// What is printed on one line in place of the text: the sentence, perhaps shortened.
    pub line_text: Option<String>,
}

pub fn find(
    app: &App,
    view: &View,
    question: &str,
    progress: &mut dyn FnMut(IndexProgress),
) -> Result<Found> {
    let computed = Computed::of(view, question);
    let query = Query { hits_max: HITS_MAX, ..Query::new(question) };
    let folder = index_folder(view);
    let mut indexed = Indexed { app, folder: &folder, level: Level::Always, in_background: false, progress };
    // Vectors of another model may cost money: they are stored, and no sentences are sent to it.
    let is_built_in = app.settings.roles.embedding == RoleModel::Unset;
    let is_kept = !is_built_in || Workspace::exists(&app.workspace_root());
    let found = if is_kept && app.workspace().is_ok() {
        indexed.search(view, &query, || Ok(None))?
    } else {
        let unusable = |source| JournalError::Workspace { path: "temporary directory".into(), source };
        let unkept = tempfile::tempdir().map_err(unusable)?;
        indexed.search_in(Some(&PrivateDir::new(unkept.path())), view, &query, || Ok(None))?
    };
    let embedder = app.embedder().ok().filter(|_| is_built_in);
    let passages = passages(app, view, question, &found.hits, embedder.as_deref());
    let (documents, bytes) = (found.documents, view.bytes());
    Ok(Found { computed, passages, documents, bytes, notices: found.notices })
}

/// The best sentences, with the lines around them; without tables of contents and repetitions.
fn passages(
    app: &App,
    view: &View,
    question: &str,
    hits: &[Hit],
    embedder: Option<&dyn Embedder>,
) -> Vec<FoundPassage> {
    // If no passage shares a word with the question, similarity means nothing.
    if hits.iter().all(|hit| hit.matched.is_empty()) {
        return Vec::new();
    }
    let is_near = |hit: &&Hit| {
        !hit.matched.is_empty() || hit.similarity.is_some_and(|similarity| similarity >= SIMILARITY_MIN)
    };
    let near: Vec<&Hit> = hits.iter().filter(is_near).collect();
    let texts: Vec<&str> = near.iter().map(|hit| hit.text.as_str()).collect();
    let mut asked = Asked::of(question, &texts, embedder);
    let mut outlines = Outlines::default();
    let mut ranked: Vec<Chosen<'_>> = Vec::new();
    for hit in near {
        ranked.extend(sentences_of(app, view, hit, &mut asked, &mut outlines));
    }
    // The sort is stable: on a tie, the order of the hits decides.
    ranked.sort_by(|a, b| b.is_entry.cmp(&a.is_entry).then(b.score.total_cmp(&a.score)));
    laid_out(ranked, &mut asked)
}

struct Chosen<'a> {
    hit: &'a Hit,
    sentence: Range<usize>,
    lines: Rc<[Line]>,
    headings: Vec<String>,
    score: f32,
    /// Whether it is about exactly what is asked, as in a glossary or a list of options.
    is_entry: bool,
    n_alike: u64,
}

/// The sentences of a hit, and how near each one, with its neighbours, passage, headings and
/// document, is to the question. Empty if the text has only links and headings.
fn sentences_of<'a>(
    app: &App,
    view: &View,
    hit: &'a Hit,
    asked: &mut Asked<'_>,
    outlines: &mut Outlines<'a>,
) -> Vec<Chosen<'a>> {
    let kind = app.settings.detector().detect(&hit.document, &hit.text).content_type;
    let is_prose = matches!(kind, ContentType::Prose | ContentType::Markup | ContentType::Unknown);
    let lines: Rc<[Line]> = lines(&hit.text).into();
    let ranges: Vec<Range<usize>> = sentences(&hit.text, &lines, is_prose);
    let mut above: Option<(Vec<String>, String, f32)> = None;
    let mut chosen = Vec::with_capacity(ranges.len());
    for (idx, own) in ranges.iter().enumerate() {
        let headings = outlines.above(view, hit, line_of(hit, own.start), kind);
        let (_, head, of_section) = match above.take() {
            Some(known) if known.0 == headings => above.insert(known),
            Some(_) | None => {
                let head = headings.join(" ");
                let title = headings.first().map_or("", String::as_str);
                let of_section = PASSAGE_WEIGHT * asked.nearness(&format!("{head}\n{}", hit.text))
                    + HEADINGS_WEIGHT * asked.nearness(&head)
                    + HEADING_WEIGHT * asked.similarity(headings.last().map_or("", String::as_str))
                    + DOCUMENT_WEIGHT * asked.similarity(&format!("{} {title}", stem(&hit.document)));
                above.insert((headings.clone(), head, of_section))
            }
        };
        let (before, after) =
            (ranges.get(idx.wrapping_sub(1)).unwrap_or(own), ranges.get(idx + 1).unwrap_or(own));
        let around = hit.text.get(before.start..after.end).unwrap_or_default();
        let alone = hit.text.get(own.clone()).unwrap_or_default();
        let is_code = is_prose && lines.iter().any(|line| line.is_code() && line.at.contains(&own.start));
        let cost = if words(alone).len() < WORDS_MIN {
            SHORT_COST
        } else if is_code {
            CODE_COST
        } else {
            0.0
        };
        let score = asked.nearness(&format!("{head}\n{around}")) + asked.nearness(alone) + *of_section - cost;
        let (sentence, lines, is_entry) = (own.clone(), Rc::clone(&lines), asked.is_entry(alone));
        chosen.push(Chosen { hit, sentence, lines, headings, score, is_entry, n_alike: hit.twins });
    }
    chosen
}

/// The score of a sentence that has all words of the question and its meaning, as do its headings and document.
fn score_max(asked: &Asked<'_>) -> f32 {
    (2.0 + PASSAGE_WEIGHT + HEADINGS_WEIGHT) * asked.nearness_max()
        + (HEADING_WEIGHT + DOCUMENT_WEIGHT) * (asked.nearness_max() - 1.0)
}

/// A document's name without its extension.
fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

fn line_of(hit: &Hit, at: usize) -> u64 {
    hit.line_start + hit.text.get(..at).unwrap_or_default().matches('\n').count() as u64
}

impl Chosen<'_> {
    fn said(&self) -> &str {
        self.hit.text.get(self.sentence.clone()).unwrap_or_default()
    }

    fn line(&self) -> u64 {
        line_of(self.hit, self.sentence.start)
    }

    /// Without headings, each passage is a section.
    fn is_of_section(&self, other: &Chosen<'_>) -> bool {
        let is_same = self.hit.document == other.hit.document && self.headings == other.headings;
        is_same && (!self.headings.is_empty() || self.is_of_passage(other))
    }

    fn is_in(&self, passages: &[FoundPassage]) -> bool {
        let holds = |passage: &FoundPassage| {
            passage.document == self.hit.document && passage.text.contains(self.said())
        };
        passages.iter().any(holds)
    }

    fn is_of_passage(&self, other: &Chosen<'_>) -> bool {
        std::ptr::eq(self.hit, other.hit) && self.headings == other.headings
    }

    fn line_passage(&self, text: String) -> FoundPassage {
        FoundPassage { line_text: Some(text), ..self.passage_of(self.sentence.clone()) }
    }

    fn passage(&self, chars_max: usize) -> FoundPassage {
        self.passage_of(self.window(chars_max))
    }

    fn passage_of(&self, window: Range<usize>) -> FoundPassage {
        let text = self.hit.text.get(window.clone()).unwrap_or_default().to_owned();
        FoundPassage {
            document: self.hit.document.clone(),
            line: self.line(),
            line_start: line_of(self.hit, window.start),
            line_end: line_of(self.hit, window.start + text.trim_end().len()),
            headings: self.headings.clone(),
            sentence: self.sentence.start - window.start..self.sentence.end.min(window.end) - window.start,
            text,
            score: self.score,
            n_alike: self.n_alike,
            line_text: None,
        }
    }

    /// The characters printed besides its text: its file and line, its headings, and the blank line before it.
    fn head_chars(&self) -> usize {
        let headings: usize = self.headings.iter().map(|heading| heading.chars().count() + 3).sum();
        let rest = format!("\n:{}    ({} similar)\n", line_of(self.hit, self.sentence.end), self.n_alike);
        self.hit.document.chars().count().min(NAME_CHARS_MAX) + headings.min(HEADINGS_CHARS_MAX) + rest.len()
    }

    /// The first and last line of the sentence.
    fn on_lines(&self) -> (usize, usize) {
        let holds = |line: &Line| line.at.start < self.sentence.end && self.sentence.start < line.at.end;
        let first = self.lines.iter().position(holds).unwrap_or_default();
        (first, self.lines.iter().rposition(holds).unwrap_or_default())
    }

    fn span(&self, from: usize, to: usize) -> Range<usize> {
        self.lines[from].at.start..self.lines[to].at.end
    }

    fn chars(&self, range: Range<usize>) -> usize {
        self.hit.text.get(range).map_or(usize::MAX, printed_chars)
    }

    fn mark_chars(&self) -> usize {
        let (first, last) = self.on_lines();
        (last + 1 - first) * MARK_CHARS
    }

    /// The characters that the sentence takes when printed, including the rest of its lines if that is short.
    fn least_chars(&self) -> usize {
        let (first, last) = self.on_lines();
        let of_lines = self.chars(self.span(first, last));
        let chars = if of_lines <= LINES_CHARS_MAX { of_lines } else { printed_chars(self.said()) };
        chars + self.mark_chars()
    }

    fn chars_of(&self, passage: &FoundPassage) -> usize {
        printed_chars(&passage.text) + self.mark_chars()
    }

    /// As many whole lines around the sentence as fit when printed, more after it than before.
    fn window(&self, chars_max: usize) -> Range<usize> {
        let (first, last) = self.on_lines();
        let chars_max = chars_max.saturating_sub(self.mark_chars());
        if self.chars(self.span(first, last)) > chars_max {
            // A long line: the sentence, or as much of it as fits.
            let (from, said) = (self.sentence.start, self.said());
            let fits = |at: &usize| said.get(..*at).is_some_and(|said| printed_chars(said) <= chars_max);
            let to = said.char_indices().map(|(at, _)| at).chain([said.len()]).take_while(fits).last();
            return from..from + to.unwrap_or_default();
        }
        let (mut from, mut to) = (first, last);
        loop {
            let more_after = self.lines.get(to + 1).is_some_and(|line| !line.is_heading())
                && self.chars(self.span(from, to + 1)) <= chars_max;
            let is_due = (to - last) <= 2 * (first - from);
            let more_before = from > 0
                && !self.lines[from - 1].is_heading()
                && self.chars(self.span(from - 1, to)) <= chars_max;
            if more_after && (is_due || !more_before) {
                to += 1;
            } else if more_before {
                from -= 1;
            } else {
                return self.span(from, to);
            }
        }
    }
}

/// The printed length of a text: each line is indented, and blank lines are left out.
fn printed_chars(text: &str) -> usize {
    let lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
    lines.map(|line| line.chars().count() + INDENT_CHARS + 1).sum()
}

#[derive(Default)]
struct Outlines<'a> {
    known: HashMap<&'a str, Option<Vec<Heading>>>,
}

impl<'a> Outlines<'a> {
    /// The headings above a line, outermost first: in prose all of them, elsewhere the one in the index.
    fn above(&mut self, view: &View, hit: &'a Hit, line: u64, kind: ContentType) -> Vec<String> {
        let outline = self.known.entry(&hit.document).or_insert_with(|| {
            let document = view.find(&hit.document).filter(|document| document.bytes <= HEADINGS_BYTES_MAX);
            let document = document.filter(|_| matches!(kind, ContentType::Prose | ContentType::Markup));
            document.and_then(|document| view.read(document).ok()).map(|text| headings(&text))
        });
        let Some(outline) = outline else { return hit.scope.iter().cloned().collect() };
        let mut path: Vec<&Heading> = Vec::new();
        for heading in outline.iter().take_while(|heading| heading.line <= line) {
            path.retain(|above| above.level < heading.level);
            path.push(heading);
        }
        path.into_iter().map(|heading| heading.title.clone()).take(HEADINGS_MAX).collect()
    }
}

#[cfg(test)]
mod tests;
