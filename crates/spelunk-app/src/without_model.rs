//! What can be said about a question without a model: a computed count where the question can be read as one, and the
//! passages that match best, each with the sentence that is closest to the question.

mod computed;
mod nearness;
mod sentences;

use std::ops::Range;

use spelunk_context::{ContentType, View};
use spelunk_engine::index_folder;
use spelunk_fs::PrivateDir;
use spelunk_index::{Embedder, Hit, IndexProgress, Notice, Query};
use spelunk_journal::{JournalError, Workspace};

pub use self::computed::Computed;
use self::nearness::Asked;
use self::sentences::{Line, lines, sentences};
use crate::app::App;
use crate::config::RoleModel;
use crate::context_search::{Indexed, Level};
use crate::failure::Failure;

/// Passages shown.
const PASSAGES_MAX: usize = 3;
/// Passages considered.
const HITS_MAX: usize = 40;
/// What is printed at most, in characters: of it the first line, and of a passage its file and its headings.
const PRINTED_CHARS_MAX: usize = 1_500;
const TITLE_CHARS_MAX: usize = 110;
pub(crate) const NAME_CHARS_MAX: usize = 60;
pub(crate) const HEADINGS_CHARS_MAX: usize = 60;
/// A line number, the count of passages alike and what is between them.
const PLACE_CHARS_MAX: usize = 56;
/// Around a line of text: its indentation, and the marks of the best sentence.
const INDENT_CHARS: usize = 4;
const MARK_CHARS: usize = 4;
/// What a sentence and its passage count beside the sentence with its neighbours; chosen on the questions about Flask in
/// `eval/passages`.
const SENTENCE_WEIGHT: f32 = 1.0;
const PASSAGE_WEIGHT: f32 = 0.5;
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
    let mut indexed = Indexed { app, folder: &folder, level: Level::Always, in_background: false, progress };
    // Vectors of another model may cost money: they are kept, and no sentences are sent to it.
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

/// The best windows, without tables of contents and without repetitions.
fn passages(
    app: &App,
    view: &View,
    question: &str,
    hits: &[Hit],
    embedder: Option<&dyn Embedder>,
) -> Vec<FoundPassage> {
    // Without a word in common, anything is similar to anything.
    if hits.iter().all(|hit| hit.matched.is_empty()) {
        return Vec::new();
    }
    let is_near = |hit: &&Hit| {
        !hit.matched.is_empty() || hit.similarity.is_some_and(|similarity| similarity >= SIMILARITY_MIN)
    };
    let near: Vec<&Hit> = hits.iter().filter(is_near).collect();
    let texts: Vec<&str> = near.iter().map(|hit| hit.text.as_str()).collect();
    let mut asked = Asked::of(question, &texts, embedder);
    let choose = |hit| best_sentence(app, hit, &mut asked).map(|chosen| (hit, chosen));
    let mut ranked: Vec<(&Hit, Chosen)> = near.into_iter().filter_map(choose).collect();
    // The sort is stable: on a tie, the order of the hits decides.
    ranked.sort_by(|(_, a), (_, b)| b.score.total_cmp(&a.score));
    let mut shown: Vec<(&Hit, Chosen, u64)> = Vec::new();
    for (hit, chosen) in ranked {
        let said =
            |hit: &Hit, chosen: &Chosen| normal(hit.text.get(chosen.sentence.clone()).unwrap_or_default());
        let own = said(hit, &chosen);
        if let Some((_, _, n_alike)) = shown.iter_mut().find(|(hit, chosen, _)| said(hit, chosen) == own) {
            *n_alike += 1 + hit.twins;
        } else if shown.len() < PASSAGES_MAX {
            shown.push((hit, chosen, hit.twins));
        }
    }
    let n_shown = shown.len().max(1);
    let built = shown.into_iter().map(|(hit, chosen, n_alike)| {
        let line_of =
            |at: usize| hit.line_start + hit.text.get(..at).unwrap_or_default().matches('\n').count() as u64;
        let line = line_of(chosen.sentence.start);
        let mut passage = FoundPassage {
            document: hit.document.clone(),
            line,
            line_start: line,
            line_end: line,
            headings: headings(view, hit, line),
            text: String::new(),
            sentence: 0..0,
            score: chosen.score,
            n_alike,
        };
        let chars_max = (PRINTED_CHARS_MAX - TITLE_CHARS_MAX) / n_shown;
        let window = chosen.window(&hit.text, chars_max.saturating_sub(passage.head_chars()));
        hit.text.get(window.clone()).unwrap_or_default().clone_into(&mut passage.text);
        passage.line_start = line_of(window.start);
        passage.line_end = line_of(window.start + passage.text.trim_end().len());
        passage.sentence =
            chosen.sentence.start - window.start..chosen.sentence.end.min(window.end) - window.start;
        passage
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
    score: f32,
}

/// The sentence that, with its neighbours and its passage, is closest to the question; `None` if the text has only links
/// and headings.
fn best_sentence(app: &App, hit: &Hit, asked: &mut Asked<'_>) -> Option<Chosen> {
    let kind = app.settings.detector().detect(&hit.document, &hit.text).content_type;
    let is_prose = matches!(kind, ContentType::Prose | ContentType::Markup | ContentType::Unknown);
    let lines = lines(&hit.text);
    let ranges: Vec<Range<usize>> = sentences(&hit.text, &lines, is_prose);
    let head = hit.scope.as_deref().unwrap_or_default();
    let of_passage = PASSAGE_WEIGHT * asked.nearness(&format!("{head}\n{}", hit.text));
    let mut best: Option<(f32, Range<usize>)> = None;
    for (idx, own) in ranges.iter().enumerate() {
        let (before, after) =
            (ranges.get(idx.wrapping_sub(1)).unwrap_or(own), ranges.get(idx + 1).unwrap_or(own));
        let around = hit.text.get(before.start..after.end).unwrap_or_default();
        let alone = hit.text.get(own.clone()).unwrap_or_default();
        let score = asked.nearness(&format!("{head}\n{around}"))
            + SENTENCE_WEIGHT * asked.nearness(alone)
            + of_passage;
        if best.as_ref().is_none_or(|(most, _)| score > *most) {
            best = Some((score, own.clone()));
        }
    }
    best.map(|(score, sentence)| Chosen { sentence, lines, score })
}

impl Chosen {
    /// As many whole lines around the sentence as fit when they are printed, more of them after it than before.
    fn window(&self, text: &str, chars_max: usize) -> Range<usize> {
        let holds = |line: &Line| line.at.start < self.sentence.end && self.sentence.start < line.at.end;
        let first = self.lines.iter().position(holds).unwrap_or_default();
        let last = self.lines.iter().rposition(holds).unwrap_or_default();
        let chars_max = chars_max.saturating_sub((last + 1 - first) * MARK_CHARS);
        let chars = |range: Range<usize>| text.get(range).map_or(usize::MAX, printed_chars);
        let span = |from: usize, to: usize| self.lines[from].at.start..self.lines[to].at.end;
        if self.lines.is_empty() || chars(span(first, last)) > chars_max {
            // A long line: the sentence, or as much of it as fits.
            let from = self.sentence.start;
            let said = text.get(self.sentence.clone()).unwrap_or_default();
            let fits = |at: &usize| said.get(..*at).is_some_and(|said| printed_chars(said) <= chars_max);
            let to = said.char_indices().map(|(at, _)| at).chain([said.len()]).take_while(fits).last();
            return from..from + to.unwrap_or_default();
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

/// The length of a text when each of its lines is indented and blank ones are left out.
fn printed_chars(text: &str) -> usize {
    let lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
    lines.map(|line| line.chars().count() + INDENT_CHARS + 1).sum()
}

impl FoundPassage {
    /// The most that is printed of a passage besides its text.
    fn head_chars(&self) -> usize {
        let headings: usize = self.headings.iter().map(|heading| heading.chars().count() + 3).sum();
        self.document.chars().count().min(NAME_CHARS_MAX) + headings.min(HEADINGS_CHARS_MAX) + PLACE_CHARS_MAX
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
