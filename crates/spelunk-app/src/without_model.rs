//! What can be said about a question without a model: a computed count if the question asks for
//! one, and the best matching passages, each with the sentence closest to the question.

mod computed;
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
use self::nearness::{Asked, words};
use self::sentences::{Line, lines, sentences};
use crate::app::App;
use crate::config::RoleModel;
use crate::context_search::{Indexed, Level};
use crate::failure::Failure;

/// The number of passages shown: in total, of one section, and with more than their sentence.
const PASSAGES_MAX: usize = 5;
const SECTION_PASSAGES_MAX: usize = 2;
const WIDE_PASSAGES_MAX: usize = 2;
/// The number of passages considered.
const HITS_MAX: usize = Query::HITS_MAX;
/// The most characters printed: in total, for the first line, and for the file and headings of a passage.
const PRINTED_CHARS_MAX: usize = 1_500;
const TITLE_CHARS_MAX: usize = 80;
pub(crate) const NAME_CHARS_MAX: usize = 60;
pub(crate) const HEADINGS_CHARS_MAX: usize = 60;
/// The divisor of the total that the first sentence may take.
const FIRST_SHARE: usize = 3;
/// Lines are printed whole up to this length.
const LINES_CHARS_MAX: usize = 200;
/// The overhead per line of text: its indentation and the marks of the best sentence.
const INDENT_CHARS: usize = 4;
const MARK_CHARS: usize = 4;
/// The weights of a sentence's passage, headings and document relative to the sentence itself. These weights
/// and those in `nearness` were chosen with the questions about pytest and about Flask, Starlette and attrs.
const PASSAGE_WEIGHT: f32 = 0.5;
const HEADINGS_WEIGHT: f32 = 0.25;
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
    /// At most five, best first.
    pub passages: Vec<FoundPassage>,
    pub documents: u64,
    pub bytes: u64,
    pub notices: Vec<Notice>,
}

/// A passage, and its best sentence.
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
}

/// Searches by words and by meaning, and computes what can be computed.
pub fn find(
    app: &App,
    view: &View,
    question: &str,
    progress: &mut dyn FnMut(IndexProgress),
) -> Result<Found, Failure> {
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
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
    printed(different(ranked))
}

/// The best sentences of different passages, with few from one section. Sentences with the same
/// content as a better one are only counted there.
fn different(ranked: Vec<Chosen<'_>>) -> Vec<Chosen<'_>> {
    let mut shown: Vec<Chosen<'_>> = Vec::new();
    for chosen in ranked {
        let own = normal(chosen.said());
        if let Some(same) = shown.iter_mut().find(|shown| normal(shown.said()) == own) {
            same.n_alike += 1 + chosen.hit.twins;
        } else if shown.len() < PASSAGES_MAX {
            let is_beside = |shown: &&Chosen<'_>| {
                shown.hit.document == chosen.hit.document && shown.headings == chosen.headings
            };
            let n_beside = shown.iter().filter(is_beside).count();
            let is_new = shown.iter().all(|shown| !std::ptr::eq(shown.hit, chosen.hit) || !is_beside(&shown));
            if is_new && n_beside < SECTION_PASSAGES_MAX {
                shown.push(chosen);
            }
        }
    }
    shown
}

/// As many passages as fit; the first one gets the remaining room for the lines around it.
fn printed(shown: Vec<Chosen<'_>>) -> Vec<FoundPassage> {
    let mut chars_left = PRINTED_CHARS_MAX - TITLE_CHARS_MAX;
    let chars_max = chars_left / FIRST_SHARE;
    let n_shown = shown.len();
    let mut sized: Vec<(Chosen<'_>, usize)> = Vec::new();
    for (idx, chosen) in shown.into_iter().enumerate() {
        let head_chars = chosen.head_chars();
        let room = if idx == 0 { chars_max } else { chars_left / (n_shown - idx) };
        let chars = chosen.least_chars().min(room.saturating_sub(head_chars));
        chars_left -= head_chars + chars;
        sized.push((chosen, chars));
    }
    let n_wide = n_shown.min(WIDE_PASSAGES_MAX);
    let built = sized.into_iter().enumerate().map(|(idx, (chosen, chars))| {
        let more = if idx < n_wide { chars_left / (n_wide - idx) } else { 0 };
        let passage = chosen.passage(chars + more);
        chars_left -= chosen.chars_of(&passage).saturating_sub(chars).min(chars_left);
        passage
    });
    built.collect()
}

/// The words of a text, to compare its content with another's.
fn normal(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

struct Chosen<'a> {
    hit: &'a Hit,
    sentence: Range<usize>,
    lines: Rc<[Line]>,
    headings: Vec<String>,
    score: f32,
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
        let (sentence, lines) = (own.clone(), Rc::clone(&lines));
        chosen.push(Chosen { hit, sentence, lines, headings, score, n_alike: hit.twins });
    }
    chosen
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

    fn passage(&self, chars_max: usize) -> FoundPassage {
        let window = self.window(chars_max);
        let text = self.hit.text.get(window.clone()).unwrap_or_default().to_owned();
        FoundPassage {
            document: self.hit.document.clone(),
            line: line_of(self.hit, self.sentence.start),
            line_start: line_of(self.hit, window.start),
            line_end: line_of(self.hit, window.start + text.trim_end().len()),
            headings: self.headings.clone(),
            sentence: self.sentence.start - window.start..self.sentence.end.min(window.end) - window.start,
            text,
            score: self.score,
            n_alike: self.n_alike,
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

/// The headings of documents, cached.
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
