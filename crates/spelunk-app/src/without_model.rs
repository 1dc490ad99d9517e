//! What can be said about a question without a model: a computed count where the question can be read as one, and the
//! passages that match best, each with the sentence that is closest to the question.

mod computed;
mod sentences;

use std::ops::Range;

use spelunk_context::{ContentType, View};
use spelunk_engine::index_folder;
use spelunk_fs::PrivateDir;
use spelunk_index::{Embedder, Hit, IndexProgress, Notice, Query};
use spelunk_journal::{JournalError, Workspace};

pub use self::computed::Computed;
use self::sentences::{Line, lines, plainness, sentences, words_shared};
use crate::app::App;
use crate::config::RoleModel;
use crate::context_search::{Indexed, Level};
use crate::failure::Failure;

/// Passages shown.
const PASSAGES_MAX: usize = 3;
/// Passages considered.
const HITS_MAX: usize = 12;
/// The text of all passages shown. With names and headings, less than 1,500 characters are printed.
const TEXT_CHARS_MAX: usize = 1_080;
/// Without a workspace, the index of a larger text is kept in a new one: building it takes a while.
const UNKEPT_BYTES_MAX: u64 = 20_000_000;
/// The largest document whose headings are read.
const HEADINGS_BYTES_MAX: u64 = 4_000_000;
const HEADINGS_MAX: usize = 6;
/// The least similarity of a passage that shares no word with the question.
const SIMILARITY_MIN: f32 = 0.3;

/// What was found.
pub struct Found {
    pub computed: Computed,
    /// At most three, best first.
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
    /// Passages with nearly the same text, which are not listed.
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
    let mut indexed = Indexed { app, folder: &folder, level: Level::Always, progress };
    // Vectors of another model may cost money: they are kept, and no sentences are sent to it.
    let is_built_in = app.settings.roles.embedding == RoleModel::Unset;
    let is_large = view.bytes() > UNKEPT_BYTES_MAX;
    let is_kept = is_large || !is_built_in || Workspace::exists(&app.workspace_root());
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

/// The best window of each hit, without tables of contents and without repetitions.
fn passages(
    app: &App,
    view: &View,
    question: &str,
    hits: &[Hit],
    embedder: Option<&dyn Embedder>,
) -> Vec<FoundPassage> {
    let mut shown: Vec<(Hit, Chosen)> = Vec::new();
    let mut n_alike: Vec<u64> = Vec::new();
    let mut seen: Vec<String> = Vec::new();
    // Without a word in common, anything is similar to anything.
    if hits.iter().all(|hit| hit.matched.is_empty()) {
        return Vec::new();
    }
    let is_near = |hit: &&Hit| {
        !hit.matched.is_empty() || hit.similarity.is_some_and(|similarity| similarity >= SIMILARITY_MIN)
    };
    for hit in hits.iter().filter(is_near) {
        let Some(chosen) = best_sentence(app, hit, question, embedder) else { continue };
        let said = normal(hit.text.get(chosen.sentence.clone()).unwrap_or_default());
        if let Some(same) = seen.iter().position(|other| *other == said) {
            n_alike[same] += 1 + hit.twins;
            continue;
        }
        if shown.len() < PASSAGES_MAX {
            seen.push(said);
            n_alike.push(hit.twins);
            shown.push((hit.clone(), chosen));
        }
    }
    let chars_max = TEXT_CHARS_MAX / shown.len().max(1);
    let built = shown.into_iter().zip(n_alike).map(|((hit, chosen), n_alike)| {
        let window = chosen.window(&hit.text, chars_max);
        let line_of =
            |at: usize| hit.line_start + hit.text.get(..at).unwrap_or_default().matches('\n').count() as u64;
        let text = hit.text.get(window.clone()).unwrap_or_default();
        let line = line_of(chosen.sentence.start);
        FoundPassage {
            document: hit.document.clone(),
            line,
            line_start: line_of(window.start),
            line_end: line_of(window.start + text.trim_end().len()),
            headings: headings(view, &hit, line),
            text: text.to_owned(),
            sentence: chosen.sentence.start - window.start
                ..chosen.sentence.end.min(window.end) - window.start,
            score: hit.score,
            n_alike,
        }
    });
    built.collect()
}

/// The words of a text, to tell whether two say the same.
fn normal(text: &str) -> String {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join(" ")
}

/// The best sentence of a hit.
struct Chosen {
    sentence: Range<usize>,
    lines: Vec<Line>,
}

/// The sentence that is closest to the question in words and in meaning; `None` if the text has only links and headings.
fn best_sentence(app: &App, hit: &Hit, question: &str, embedder: Option<&dyn Embedder>) -> Option<Chosen> {
    let kind = app.settings.detector().detect(&hit.document, &hit.text).content_type;
    let is_prose = matches!(kind, ContentType::Prose | ContentType::Markup | ContentType::Unknown);
    let lines = lines(&hit.text);
    let ranges: Vec<Range<usize>> = sentences(&hit.text, &lines, is_prose);
    let texts: Vec<&str> = ranges.iter().filter_map(|range| hit.text.get(range.clone())).collect();
    let asked: Vec<&str> = std::iter::once(question).chain(texts.iter().copied()).collect();
    let vectors = embedder.and_then(|embedder| embedder.embed(&asked).ok()).unwrap_or_default();
    let similarity = |idx: usize| match (vectors.first(), vectors.get(idx + 1)) {
        (Some(asked), Some(vector)) => crate::context_search::cosine(asked, vector),
        _ => 0.0,
    };
    let score = |idx: usize| (similarity(idx) + words_shared(question, texts[idx])) * plainness(texts[idx]);
    let best = (0..texts.len()).max_by(|&a, &b| score(a).total_cmp(&score(b)).then(b.cmp(&a)))?;
    Some(Chosen { sentence: ranges[best].clone(), lines })
}

impl Chosen {
    /// As many whole lines around the sentence as fit, more of them after it than before.
    fn window(&self, text: &str, chars_max: usize) -> Range<usize> {
        let holds = |line: &Line| line.at.start < self.sentence.end && self.sentence.start < line.at.end;
        let first = self.lines.iter().position(holds).unwrap_or_default();
        let last = self.lines.iter().rposition(holds).unwrap_or_default();
        let chars = |range: Range<usize>| text.get(range).map_or(usize::MAX, |text| text.chars().count());
        let span = |from: usize, to: usize| self.lines[from].at.start..self.lines[to].at.end;
        if self.lines.is_empty() || chars(span(first, last)) > chars_max {
            // A long line: the sentence, or its beginning.
            let from = self.sentence.start;
            let cut = text.get(self.sentence.clone()).unwrap_or_default().char_indices().nth(chars_max);
            return from..cut.map_or(self.sentence.end, |(at, _)| from + at);
        }
        let (mut from, mut to) = (first, last);
        loop {
            let more_after = to + 1 < self.lines.len() && chars(span(from, to + 1)) <= chars_max;
            let is_due = (to - last) <= 2 * (first - from);
            let more_before = from > 0 && chars(span(from - 1, to)) <= chars_max;
            if more_after && (is_due || !more_before) {
                to += 1;
            } else if more_before {
                from -= 1;
            } else {
                return span(from, to);
            }
        }
    }
}

/// The headings above a line: in Markdown all of them, elsewhere the one that the index knows.
fn headings(view: &View, hit: &Hit, line: u64) -> Vec<String> {
    let document = view.find(&hit.document).filter(|document| document.bytes <= HEADINGS_BYTES_MAX);
    let is_markdown =
        hit.document.rsplit('.').next().is_some_and(|ending| ["md", "markdown"].contains(&ending));
    let text = document.filter(|_| is_markdown).and_then(|document| view.read(document).ok());
    let Some(text) = text else { return hit.scope.iter().cloned().collect() };
    let mut path: Vec<(usize, String)> = Vec::new();
    let mut is_code = false;
    for line in text.lines().take(usize::try_from(line).unwrap_or(usize::MAX)) {
        is_code ^= line.trim_start().starts_with("```");
        let title = line.trim_start_matches('#');
        let level = line.len() - title.len();
        if !is_code && (1..=6).contains(&level) && title.starts_with(' ') {
            path.retain(|(above, _)| *above < level);
            path.push((level, title.trim().trim_end_matches('#').trim().to_owned()));
        }
    }
    path.into_iter().map(|(_, title)| title).take(HEADINGS_MAX).collect()
}

#[cfg(test)]
mod tests;
