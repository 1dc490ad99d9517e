//! Search in contexts: the passages of registered texts that match a query, by words or by meaning.
//! One index in the workspace covers all contexts; a text is reindexed only when it changes. The
//! command line, agents and the HTTP server all use it.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use spelunk_context::{
    Context, ContextSource, ContextStore, Corpus, ScanOptions, SourceError, SourceInput, View,
};
use spelunk_index::{Embedder, Hit, IndexError, IndexProgress, Mode, Notice, Query, mark};
use spelunk_journal::digest;

use crate::app::App;

use crate::failure::{Result, Usage};

mod indexed;

pub use indexed::{Indexed, Level};

const FOLDER: &str = "index-v1/contexts";
const UNREAD_MAX: usize = 20;
/// The maximum number of paragraphs compared with a query by meaning: a remote embedding model charges for each.
const PARAGRAPHS_MAX: usize = 256;

#[derive(Debug)]
pub struct ContextQuery {
    pub query: String,
    pub mode: Mode,
    /// All contexts if empty.
    pub ids: Vec<String>,
    pub per_context_max: usize,
    pub hits_max: usize,
}

impl ContextQuery {
    pub const ONE_MAX: usize = 5;
    /// The default number of passages per context, and in total, when all contexts are searched.
    pub const EACH_MAX: usize = 3;
    pub const ALL_MAX: usize = 10;

    pub fn in_one(id: &str, query: String, mode: Mode) -> Self {
        Self {
            query,
            mode,
            ids: vec![id.to_owned()],
            per_context_max: Self::ONE_MAX,
            hits_max: Self::ONE_MAX,
        }
    }

    pub fn in_all(query: String, mode: Mode) -> Self {
        Self { query, mode, ids: Vec::new(), per_context_max: Self::EACH_MAX, hits_max: Self::ALL_MAX }
    }
}

#[derive(Debug)]
pub struct ContextHit {
    pub(crate) context: Arc<Context>,
    pub(crate) hit: Hit,
}

#[derive(Debug)]
pub struct FoundInContexts {
    /// Best first.
    pub hits: Vec<ContextHit>,
    pub(crate) mode: Mode,
    pub(crate) n_searched: u64,
    pub(crate) unread: Vec<(String, String)>,
    pub(crate) notices: Vec<Notice>,
}

pub struct ContextSearch<'a> {
    pub app: &'a App,
    pub store: &'a ContextStore,
    /// Whether a file may still be read: the roots may have been narrowed since it was registered.
    pub admit: &'a dyn Fn(&Path) -> Result<PathBuf>,
    pub in_background: bool,
}

impl ContextSearch<'_> {
    /// The best passages. `progress` reports index updates. Blocking.
    pub fn find(
        &self,
        asked: &ContextQuery,
        progress: &mut dyn FnMut(IndexProgress),
    ) -> Result<FoundInContexts> {
        if asked.query.trim().is_empty() {
            let message = "the query is empty".to_owned();
            return Err(Usage { message, hint: "write what to search for".into() }.into());
        }
        let contexts = self.contexts(&asked.ids)?;
        let asked_for_one = asked.ids.len() == 1;
        let (texts, unread) = Texts::read(self, contexts, asked_for_one)?;
        let Some(texts) = texts else {
            return Ok(FoundInContexts::nothing(asked, unread));
        };
        let query = Query { mode: asked.mode, hits_max: Query::HITS_MAX, ..Query::new(&*asked.query) };
        let (folder, level) = (FOLDER, Level::WhereNeeded);
        let mut indexed =
            Indexed { app: self.app, folder, level, in_background: self.in_background, progress };
        // The index covers all contexts, even if only some are searched: an update removes all others.
        let all = || match asked.ids.as_slice() {
            [] => Ok(None),
            [..] => Ok(Texts::read(self, self.store.list(), false)?.0.map(|all| all.view)),
        };
        let found = indexed.search(&texts.view, &query, all)?;
        let ranked = match found.mode {
            Mode::Meaning => paragraphs(self.app.embedder()?.as_ref(), &asked.query, &found.hits)?,
            Mode::Words | Mode::Hybrid => found.hits,
        };
        let mut hits: Vec<ContextHit> = Vec::new();
        for hit in ranked {
            let Some(context) = texts.context_of(&hit.document) else { continue };
            let n_before = hits.iter().filter(|other| other.context.id == context.id).count();
            if n_before < asked.per_context_max && hits.len() < asked.hits_max {
                hits.push(ContextHit { context, hit });
            }
        }
        let n_searched = texts.n_contexts;
        Ok(FoundInContexts { hits, mode: found.mode, n_searched, unread, notices: found.notices })
    }

    fn contexts(&self, ids: &[String]) -> Result<Vec<Arc<Context>>> {
        if ids.is_empty() {
            return Ok(self.store.list());
        }
        ids.iter().map(|id| Ok(self.store.get(id)?)).collect()
    }

    /// A context as a source: a file is read in place, any other text is copied now.
    fn source(&self, context: &Context) -> Result<SourceInput> {
        let key = key_of(context);
        if let ContextSource::File(path) = &context.source {
            let path = (self.admit)(path)?;
            // The file name determines the content type.
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            return Ok(SourceInput::Typed { path, typed: Path::new(&key).join(name) });
        }
        let text = self.store.load(context.id.as_str())?;
        Ok(SourceInput::Text { name: format!("{key}/text"), bytes: text.as_bytes().to_vec() })
    }
}

/// Ranks the paragraphs of passages by meaning: a passage may be a page long and cover many topics.
fn paragraphs(embedder: &dyn Embedder, query: &str, passages: &[Hit]) -> Result<Vec<Hit>> {
    let parts: Vec<(&Hit, Paragraph<'_>)> = passages
        .iter()
        .flat_map(|passage| split(&passage.text).into_iter().map(move |part| (passage, part)))
        .take(PARAGRAPHS_MAX)
        .collect();
    let texts: Vec<&str> = std::iter::once(query).chain(parts.iter().map(|(_, part)| part.text)).collect();
    let vectors = embedder.embed(&texts).map_err(IndexError::from)?;
    let Some((asked, vectors)) = vectors.split_first() else { return Ok(Vec::new()) };
    let mut found: Vec<Hit> = Vec::new();
    for ((passage, part), vector) in parts.iter().zip(vectors) {
        let similarity = cosine(asked, vector);
        if similarity > 0.0 {
            found.push(part.of(passage, query, similarity));
        }
    }
    // The sort is stable: on a tie, the passage order decides.
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    Ok(found)
}

struct Paragraph<'t> {
    text: &'t str,
    /// Its offset from the start of the passage, in bytes and in lines.
    at: usize,
    line: u64,
}

impl Paragraph<'_> {
    fn of(&self, passage: &Hit, query: &str, similarity: f32) -> Hit {
        let from = passage.span.start + self.at;
        let line_start = passage.line_start + self.line;
        let n_lines = self.text.trim_end().lines().count() as u64;
        let mut hit = Hit {
            text: self.text.to_owned(),
            span: from..from + self.text.len(),
            line_start,
            line_end: line_start + n_lines.saturating_sub(1),
            score: similarity,
            similarity: Some(similarity),
            mark: mark(self.text, line_start, query),
            ..passage.clone()
        };
        // With no words in common, the first line that is not a heading is the most informative.
        if hit.mark.ranges.is_empty() {
            let is_said = |line: &str| !line.trim().is_empty() && !line.starts_with('#');
            if let Some((idx, line)) = self.text.lines().enumerate().find(|(_, line)| is_said(line)) {
                hit.mark.line = line_start + idx as u64;
                line.clone_into(&mut hit.mark.text);
            }
        }
        hit
    }
}

/// Splits at blank lines. A heading stays with the paragraph below it.
fn split(text: &str) -> Vec<Paragraph<'_>> {
    let mut parts: Vec<Paragraph<'_>> = Vec::new();
    let (mut from, mut first_line, mut at, mut line) = (0, 0, 0, 0);
    let mut has_text = false;
    for piece in text.split_inclusive('\n') {
        let is_blank = piece.trim().is_empty();
        if is_blank && has_text {
            push(&mut parts, text, from..at, first_line);
        }
        if is_blank {
            has_text = false;
        } else if !has_text {
            (from, first_line, has_text) = (at, line, true);
        }
        at += piece.len();
        line += 1;
    }
    if has_text {
        push(&mut parts, text, from..at, first_line);
    }
    parts
}

fn push<'t>(parts: &mut Vec<Paragraph<'t>>, text: &'t str, range: Range<usize>, line: u64) {
    if let Some(last) = parts.last_mut()
        && last.text.trim_end().lines().count() == 1
        && last.text.starts_with('#')
        && let Some(joined) = text.get(last.at..range.end)
    {
        last.text = joined;
        return;
    }
    if let Some(own) = text.get(range.clone()) {
        parts.push(Paragraph { text: own, at: range.start, line });
    }
}

pub(crate) fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
    let lengths = (dot(a, a) * dot(b, b)).sqrt();
    if lengths > 0.0 { dot(a, b) / lengths } else { 0.0 }
}

/// A directory name, because an id may contain any character. Contexts of the same file share a
/// key, because a corpus contains each file only once.
fn key_of(context: &Context) -> String {
    let named = match &context.source {
        ContextSource::File(path) => format!("file {}", path.display()),
        ContextSource::Inline { .. } | ContextSource::Loader(_) | ContextSource::Uri(_) => {
            format!("id {}", context.id)
        }
    };
    digest(named.as_bytes()).to_string().chars().take(20).collect()
}

struct Texts {
    view: View,
    by_key: HashMap<String, Arc<Context>>,
    n_contexts: u64,
}

type Unread = Vec<(String, String)>;

impl Texts {
    /// Reads contexts. An unreadable context is skipped and listed; with `must_read` it is an error instead.
    fn read(
        search: &ContextSearch<'_>,
        contexts: Vec<Arc<Context>>,
        must_read: bool,
    ) -> Result<(Option<Self>, Unread)> {
        let (mut sources, mut unread) = (Vec::new(), Unread::new());
        let (mut keys, mut n_contexts) = (HashSet::new(), 0);
        for context in contexts {
            // A file registered under two ids is read once and found under the first.
            if !keys.insert(key_of(&context)) {
                n_contexts += 1;
                continue;
            }
            match search.source(&context) {
                Ok(source) => sources.push((context, source)),
                Err(failure) if must_read => return Err(failure),
                Err(failure) => note(&mut unread, &context, &failure.0),
            }
        }
        let mut scanned = scan(&sources);
        if scanned.is_err() && !must_read {
            // One unreadable source fails the whole scan, so each is scanned alone to find out which it is.
            sources.retain(|(context, source)| match scan_all(std::slice::from_ref(source)) {
                Ok(_) | Err(SourceError::Empty { .. }) => true,
                Err(error) => {
                    note(&mut unread, context, &error);
                    false
                }
            });
            scanned = scan(&sources);
        }
        let corpus = match scanned {
            Ok(Some(corpus)) => corpus,
            Ok(None) => return Ok((None, unread)),
            Err(error) => return Err(error.into()),
        };
        n_contexts += sources.len() as u64;
        let by_key = sources.into_iter().map(|(context, _)| (key_of(&context), context)).collect();
        Ok((Some(Self { view: View::of(Arc::new(corpus)), by_key, n_contexts }), unread))
    }

    fn context_of(&self, document: &str) -> Option<Arc<Context>> {
        let (key, _) = document.split_once('/')?;
        self.by_key.get(key).cloned()
    }
}

type Sources = [(Arc<Context>, SourceInput)];

/// `None` if there is no text at all.
fn scan(sources: &Sources) -> Result<Option<Corpus>, SourceError> {
    if sources.is_empty() {
        return Ok(None);
    }
    let inputs: Vec<SourceInput> = sources.iter().map(|(_, source)| source.clone()).collect();
    match scan_all(&inputs) {
        Ok(corpus) => Ok(Some(corpus)),
        Err(SourceError::Empty { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn scan_all(inputs: &[SourceInput]) -> Result<Corpus, SourceError> {
    Corpus::scan(inputs, &ScanOptions::default(), &mut |_| {})
}

fn note(unread: &mut Unread, context: &Context, why: &dyn std::fmt::Display) {
    if unread.len() < UNREAD_MAX {
        unread.push((context.id.as_str().to_owned(), why.to_string()));
    }
}

impl FoundInContexts {
    fn nothing(asked: &ContextQuery, unread: Unread) -> Self {
        Self { hits: Vec::new(), mode: asked.mode, n_searched: 0, unread, notices: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_cut_at_blank_lines_and_headings_stay_with_what_they_head() {
        let text = "# One\n\nfirst\nline\n\n\n  \nsecond\n\n# Two\n## Three\n\nlast";
        let shown: Vec<(u64, &str)> = split(text).iter().map(|part| (part.line, part.text)).collect();
        assert_eq!(
            shown,
            [(0, "# One\n\nfirst\nline\n"), (7, "second\n"), (9, "# Two\n## Three\n"), (12, "last")]
        );
        for part in split(text) {
            assert_eq!(text.get(part.at..part.at + part.text.len()), Some(part.text));
        }
        assert!(split("").is_empty() && split("\n \n").is_empty());
    }

    #[test]
    fn what_means_nothing_is_like_nothing() {
        assert!((cosine(&[1.0, 0.0], &[2.0, 0.0]) - 1.0).abs() < 1e-6);
        assert!(cosine(&[1.0, 0.0], &[0.0, 3.0]).abs() < 1e-6);
        assert!(cosine(&[0.0], &[0.0]).abs() < 1e-6 && cosine(&[], &[]).abs() < 1e-6);
    }
}
