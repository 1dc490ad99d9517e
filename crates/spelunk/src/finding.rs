//! Finding in contexts: the passages of registered texts that fit a query, by words or by meaning. One index in the
//! workspace holds all contexts; a text is read into it again only when it has changed. The command line, agents and
//! the HTTP server all search here.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use spelunk_context::{
    Context, ContextSource, ContextStore, Corpus, ScanOptions, SourceError, SourceInput, View,
};
use spelunk_index::{
    Hit, Index, IndexError, IndexOptions, Mode, Notice, Query, StaticEmbedder, UpdateOptions,
};
use spelunk_journal::digest;

use crate::cli::{App, Failure, Usage};

/// Where the index of all contexts is, in the workspace.
const FOLDER: &str = "index-v1/contexts";
/// Contexts that could not be read and are named.
const UNREAD_MAX: usize = 20;

/// What is looked for.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) query: String,
    pub(crate) mode: Mode,
    /// Only these; all unless named.
    pub(crate) ids: Vec<String>,
    /// Passages of one context at most.
    pub(crate) per_context_max: usize,
    pub(crate) hits_max: usize,
}

impl Wanted {
    /// The best passages of one context.
    pub(crate) const ONE_MAX: usize = 5;
    /// The best passages of each, where all are searched, and of all together.
    pub(crate) const EACH_MAX: usize = 3;
    pub(crate) const ALL_MAX: usize = 10;

    pub(crate) fn in_one(id: &str, query: String, mode: Mode) -> Self {
        Self {
            query,
            mode,
            ids: vec![id.to_owned()],
            per_context_max: Self::ONE_MAX,
            hits_max: Self::ONE_MAX,
        }
    }

    pub(crate) fn in_all(query: String, mode: Mode) -> Self {
        Self { query, mode, ids: Vec::new(), per_context_max: Self::EACH_MAX, hits_max: Self::ALL_MAX }
    }
}

/// A passage of a context.
#[derive(Debug)]
pub(crate) struct ContextHit {
    pub(crate) context: Arc<Context>,
    pub(crate) hit: Hit,
}

/// What was found.
#[derive(Debug)]
pub(crate) struct FoundInContexts {
    /// The best first.
    pub(crate) hits: Vec<ContextHit>,
    pub(crate) mode: Mode,
    pub(crate) n_searched: u64,
    /// Contexts that could not be read, with the reason.
    pub(crate) unread: Vec<(String, String)>,
    pub(crate) notices: Vec<Notice>,
}

/// Who searches which store.
pub(crate) struct Finder<'a> {
    pub(crate) app: &'a App,
    pub(crate) store: &'a ContextStore,
    /// Whether a file may still be read: roots can have become narrower since it was registered.
    pub(crate) admit: &'a dyn Fn(&Path) -> Result<PathBuf, Failure>,
}

/// One writer of the index in this process; another process is told to wait by the index itself.
static LEVELLING: Mutex<()> = Mutex::new(());

impl Finder<'_> {
    /// The best passages. Blocking.
    pub(crate) fn find(&self, wanted: &Wanted) -> Result<FoundInContexts, Failure> {
        if wanted.query.trim().is_empty() {
            let message = "the query is empty".to_owned();
            return Err(Usage { message, hint: "say what to look for".into() }.into());
        }
        let contexts = self.contexts(&wanted.ids)?;
        let asked_for_one = wanted.ids.len() == 1;
        let (texts, unread) = Texts::read(self, contexts, asked_for_one)?;
        let Some(texts) = texts else {
            return Ok(FoundInContexts::nothing(wanted, unread));
        };
        let query = Query { mode: wanted.mode, hits_max: Query::HITS_MAX, ..Query::new(&*wanted.query) };
        let mut index = self.open()?;
        let found = match index.search(&texts.view, &query) {
            Ok(found) if found.documents_missing == 0 => found,
            Ok(_) | Err(IndexError::Damaged { .. }) => {
                self.level(&mut index, &texts, wanted)?;
                index.search(&texts.view, &query)?
            }
            Err(error) => return Err(error.into()),
        };
        let n_searched = texts.n_contexts;
        let mut hits: Vec<ContextHit> = Vec::new();
        for hit in found.hits {
            let Some(context) = texts.context_of(&hit.document) else { continue };
            let n_before = hits.iter().filter(|other| other.context.id == context.id).count();
            if n_before < wanted.per_context_max && hits.len() < wanted.hits_max {
                hits.push(ContextHit { context, hit });
            }
        }
        Ok(FoundInContexts { hits, mode: found.mode, n_searched, unread, notices: found.notices })
    }

    fn contexts(&self, ids: &[String]) -> Result<Vec<Arc<Context>>, Failure> {
        if ids.is_empty() {
            return Ok(self.store.list());
        }
        ids.iter().map(|id| Ok(self.store.get(id)?)).collect()
    }

    fn open(&self) -> Result<Index, Failure> {
        let workspace = self.app.workspace()?;
        let root = workspace.root().map_or_else(|| self.app.workspace_root(), Path::to_path_buf);
        Ok(Index::open(&root.join(FOLDER), IndexOptions { embedder: Some(embedder()?) })?)
    }

    /// Brings the index level with all contexts, whichever are searched: it holds what it is shown and nothing else.
    fn level(&self, index: &mut Index, texts: &Texts, wanted: &Wanted) -> Result<(), Failure> {
        let _one_at_a_time = LEVELLING.lock().unwrap_or_else(PoisonError::into_inner);
        let options = UpdateOptions {
            detector: self.app.settings.detector(),
            detector_key: self.app.detector_key(),
            ..UpdateOptions::default()
        };
        let all = if wanted.ids.is_empty() { None } else { Texts::read(self, self.store.list(), false)?.0 };
        let view = all.as_ref().map_or(&texts.view, |all| &all.view);
        index.update(view, &options, &mut |_| ControlFlow::Continue(()))?;
        Ok(())
    }

    /// A context as a source: a file is read where it is, any other text is taken as it is now.
    fn source(&self, context: &Context) -> Result<SourceInput, Failure> {
        let key = key_of(context);
        if let ContextSource::File { path } = &context.source {
            let path = (self.admit)(path)?;
            // The last part of the name tells what kind of text it is.
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            return Ok(SourceInput::Typed { path, typed: Path::new(&key).join(name) });
        }
        let text = self.store.load(context.id.as_str())?;
        Ok(SourceInput::Text { name: format!("{key}/text"), bytes: text.as_bytes().to_vec() })
    }
}

/// The model that knows what words mean, read once.
fn embedder() -> Result<Arc<StaticEmbedder>, Failure> {
    static EMBEDDER: OnceLock<Arc<StaticEmbedder>> = OnceLock::new();
    if let Some(embedder) = EMBEDDER.get() {
        return Ok(Arc::clone(embedder));
    }
    let made = Arc::new(StaticEmbedder::embedded().map_err(IndexError::from)?);
    Ok(Arc::clone(EMBEDDER.get_or_init(|| made)))
}

/// A name for a directory: an id may hold anything. A file has one, however many contexts are made of it, because a
/// corpus holds it once.
fn key_of(context: &Context) -> String {
    let named = match &context.source {
        ContextSource::File { path } => format!("file {}", path.display()),
        ContextSource::Inline { .. } | ContextSource::Loader { .. } | ContextSource::Uri { .. } => {
            format!("id {}", context.id)
        }
    };
    digest(named.as_bytes()).as_str().chars().take(20).collect()
}

/// The texts that are searched, and which context each belongs to.
struct Texts {
    view: View,
    by_key: HashMap<String, Arc<Context>>,
    n_contexts: u64,
}

type Unread = Vec<(String, String)>;

impl Texts {
    /// Reads contexts. One that cannot be read is left out and named; `must_read` makes that an error instead.
    fn read(
        finder: &Finder<'_>,
        contexts: Vec<Arc<Context>>,
        must_read: bool,
    ) -> Result<(Option<Self>, Unread), Failure> {
        let (mut sources, mut unread) = (Vec::new(), Unread::new());
        for context in contexts {
            match finder.source(&context) {
                Ok(source) => sources.push((context, source)),
                Err(failure) if must_read => return Err(failure),
                Err(failure) => note(&mut unread, &context, &failure.0),
            }
        }
        let mut scanned = scan(&sources);
        if scanned.is_err() && !must_read {
            // One that cannot be read fails them all: each is tried alone to find out which.
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
        let n_contexts = sources.len() as u64;
        let mut by_key = HashMap::new();
        for (context, _) in sources {
            by_key.entry(key_of(&context)).or_insert(context);
        }
        Ok((Some(Self { view: View::of(Arc::new(corpus)), by_key, n_contexts }), unread))
    }

    fn context_of(&self, document: &str) -> Option<Arc<Context>> {
        let (key, _) = document.split_once('/')?;
        self.by_key.get(key).cloned()
    }
}

type Sources = [(Arc<Context>, SourceInput)];

/// Nothing where there is no text at all.
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
    fn nothing(wanted: &Wanted, unread: Unread) -> Self {
        Self { hits: Vec::new(), mode: wanted.mode, n_searched: 0, unread, notices: Vec::new() }
    }
}
