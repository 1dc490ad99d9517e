//! The environment: what the code of a frame can see and touch. It serves the host calls that look
//! at text; the strategy serves those that call models. Everything here is a pure function of the
//! task, so a replayed cell sees the same.

pub(crate) mod arguments;
mod describe;
mod json;
mod objects;
mod tables;
mod text_functions;

use std::sync::{Arc, Mutex};

use spelunk_context::{DocEntry, QueryWatch, SourceError, View};
use spelunk_index::{Hit, IndexError, Mode, Notice};
use spelunk_sandbox::{HostCall, HostFunction, SandboxLimits, Setup, Value};
use spelunk_types::Limits;

pub(crate) use self::arguments::{Arguments, Refusal};
pub(crate) use self::describe::{Preview, listed_names, shown_name};
pub(crate) use self::json::{dict, int, json_of_value, text_of_value, value_of_json};
use self::objects::Objects;
use crate::rows::{LazyTables, query_ms_max};
use crate::sync::lock;
use crate::{Frame, Task};

pub(crate) const PRELUDE: &str = include_str!("environment/prelude.py");

/// The prelude of a session with these additional names, to distinguish them from the user's variables.
fn prelude<'a>(given: impl Iterator<Item = &'a str>) -> String {
    let mut prelude = format!("{PRELUDE}_given = [");
    for name in given.chain(bound_in_prelude()) {
        prelude.push_str(&format!("\"{name}\", "));
    }
    prelude + "]\n"
}

fn bound_in_prelude<'a>() -> impl Iterator<Item = &'a str> {
    PRELUDE.lines().filter_map(|line| match line.strip_prefix("def ") {
        Some(function) => function.split('(').next(),
        None => line.split_once(" = ").map(|(name, _)| name).filter(|name| !name.starts_with(' ')),
    })
}

/// Exceptions that host calls raise besides Python's own.
const EXCEPTIONS: [&str; 4] = ["ModelError", "BudgetError", "NotFound", "ToolError"];

/// The most host calls per cell: looking is cheap, and model calls have their own limit.
const HOST_CALLS_MAX: u64 = 200_000;

#[derive(Clone)]
pub(crate) struct Environment {
    view: View,
    note: Option<Arc<str>>,
    shape: Shape,
    limits: Limits,
    objects: Arc<Objects>,
    tables: Arc<LazyTables>,
    watch: QueryWatch,
    retrieval: Option<FrameRetrieval>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Text written by the parent.
    Note,
    Text,
    Json,
    /// One JSON Lines document, as a list of records.
    Records,
    /// A dictionary from name to text.
    Documents,
}

pub(crate) struct OpenEnvironment {
    pub(crate) environment: Environment,
    pub(crate) variables: Vec<(String, Value)>,
    pub(crate) description: String,
    /// The part of the text that the description shows.
    pub(crate) preview: Preview,
}

impl Environment {
    pub(crate) fn open(
        task: &Task,
        limits: &Limits,
        retrieval: Option<FrameRetrieval>,
    ) -> Result<OpenEnvironment, SourceError> {
        let mut environment = Self {
            view: task.view.clone(),
            note: task.note.clone(),
            shape: Shape::Documents,
            limits: limits.clone(),
            objects: Arc::new(Objects::new(task.view.clone(), limits.clone())),
            tables: Arc::default(),
            watch: QueryWatch::of_ms(query_ms_max(&task.view, limits)),
            retrieval,
        };
        let (shape, variables) = environment.bind()?;
        environment.shape = shape;
        let (description, preview) = describe::describe(&environment, &variables);
        Ok(OpenEnvironment { environment, variables, description, preview })
    }

    pub(crate) fn take_untold(&self) -> Vec<Notice> {
        self.retrieval.as_ref().map(FrameRetrieval::take_untold).unwrap_or_default()
    }

    fn bind(&self) -> Result<(Shape, Vec<(String, Value)>), SourceError> {
        let context = |value| vec![("context".to_owned(), value)];
        if let Some(note) = &self.note {
            return Ok((Shape::Note, context(Value::from(note.as_ref()))));
        }
        if self.view.bytes() > self.limits.cell_context_bytes_max {
            return Ok(self.bind_large());
        }
        let mut documents = self.view.documents();
        let (Some(only), None) = (documents.next(), documents.next()) else {
            let texts = self.view.documents().map(|document| {
                let text = self.view.read_owned(document)?;
                Ok((Value::from(document.name.as_str()), Value::Str(text)))
            });
            return Ok((Shape::Documents, context(Value::Dict(texts.collect::<Result<_, SourceError>>()?))));
        };
        let text = self.view.read_owned(only)?;
        let Some((shape, value)) = json::parsed(&only.name, &text) else {
            return Ok((Shape::Text, context(Value::Str(text))));
        };
        let mut variables = context(value);
        variables.push(("context_text".to_owned(), Value::Str(text)));
        Ok((shape, variables))
    }

    /// Binds host objects: nothing is read until code accesses it.
    fn bind_large(&self) -> (Shape, Vec<(String, Value)>) {
        let mut documents = self.view.documents();
        let (Some(only), None) = (documents.next(), documents.next()) else {
            return (Shape::Documents, vec![("context".to_owned(), Objects::documents())]);
        };
        if [".jsonl", ".ndjson"].iter().any(|extension| only.name.ends_with(extension)) {
            let text = ("context_text".to_owned(), Objects::text(only.idx));
            return (Shape::Records, vec![("context".to_owned(), Objects::list(only.idx)), text]);
        }
        (Shape::Text, vec![("context".to_owned(), Objects::text(only.idx))])
    }

    pub(crate) fn setup(
        &self,
        variables: Vec<(String, Value)>,
        functions: Vec<HostFunction>,
        clock_ms: u64,
    ) -> Setup {
        let limits = &self.limits;
        let functions: Vec<HostFunction> = functions.into_iter().chain(text_functions::functions()).collect();
        let names = variables.iter().map(|(name, _)| name.as_str());
        let names = names.chain(functions.iter().map(|function| function.name.as_str()));
        let prelude = prelude(names.chain(EXCEPTIONS));
        Setup {
            functions,
            variables,
            exceptions: EXCEPTIONS.map(str::to_owned).to_vec(),
            prelude,
            files: Vec::new(),
            clock_ms,
            seed: 0,
            limits: SandboxLimits {
                cell_ms_max: limits.cell_ms_max,
                memory_bytes_max: limits.cell_memory_bytes_max,
                recursion_max: limits.cell_recursion_max,
                output_chars_max: limits.stdout_chars_max,
                cell_calls_max: HOST_CALLS_MAX,
            },
        }
    }

    #[cfg(test)]
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        let functions = text_functions::FUNCTIONS.iter().map(|(name, _)| *name);
        functions.chain(["context", "context_text"]).chain(EXCEPTIONS).chain(bound_in_prelude())
    }

    /// Whether a host call looks at text and [`Self::serve`] answers it.
    pub(crate) fn serves(call: &HostCall) -> bool {
        call.receiver.is_some() || text_functions::FUNCTIONS.iter().any(|(name, _)| *name == call.name)
    }

    /// Whether the result of a host call depends on more than the text: a search depends on the progress of
    /// the index and on the embedding model, a query on the current content of a database.
    pub(crate) fn asks_outside(&self, call: &HostCall) -> bool {
        let asks_index = || self.retrieval.is_some() && text_functions::asks_index(call);
        let asks_database =
            || matches!(call.name.as_str(), "tables" | "query_rows") && self.view.has_databases();
        call.receiver.is_none() && (asks_index() || asks_database())
    }

    pub(crate) fn watched(self, watch: &QueryWatch) -> Self {
        Self { watch: watch.clone(), ..self }
    }

    pub(crate) fn query_ms_max(&self) -> u64 {
        query_ms_max(&self.view, &self.limits)
    }

    /// See [`LazyTables::take_lost`].
    pub(crate) fn take_lost(&self) -> Option<SourceError> {
        self.tables.take_lost()
    }

    pub(crate) fn serve(&self, mut call: HostCall) -> Result<Value, Refusal> {
        if call.receiver.is_some() {
            return self.objects.serve(&mut call);
        }
        text_functions::serve(self, &mut call)
    }

    /// The part of the view that a child gets: one document, or several by name. Other text becomes a note.
    pub(crate) fn part(&self, context: Option<Value>) -> Result<(View, Option<Arc<str>>), Refusal> {
        let one = |idx: u32| (self.view.narrow(|document| document.idx == idx), None);
        let noted = |text: String| (self.view.clone(), Some(Arc::from(text)));
        match context {
            None => Ok((self.view.clone(), self.note.clone())),
            Some(Value::Str(text)) => Ok(match self.view.find(&text) {
                Some(document) => one(document.idx),
                None => noted(text),
            }),
            Some(Value::Handle(handle)) => Ok(match self.objects.document_of(&handle) {
                Some(idx) => one(idx),
                None => {
                    let text = self.objects.read(&handle, self.limits.cell_context_bytes_max);
                    text.map_or_else(|| (self.view.clone(), None), noted)
                }
            }),
            Some(Value::List(items) | Value::Tuple(items) | Value::Set(items)) => {
                let mut names = Vec::new();
                for item in &items {
                    let name = item.as_str().ok_or_else(|| {
                        Refusal::of_type(format!(
                            "a list of contexts contains document names, not {}",
                            item.type_name()
                        ))
                    })?;
                    names.push(self.document(Some(name))?.name.clone());
                }
                Ok((self.view.narrow(|document| names.contains(&document.name)), None))
            }
            Some(other) => text_of_value(&other).map(noted).ok_or_else(|| {
                Refusal::of_type(format!(
                    "a context is a name, a list of names or a text, not {}",
                    other.type_name()
                ))
            }),
        }
    }

    /// The text of a host object, if it has one that fits into a prompt.
    pub(crate) fn text_of(&self, handle: &spelunk_sandbox::Handle) -> Option<String> {
        self.objects.read(handle, self.limits.query_chars_max.saturating_mul(4))
    }

    /// Where code can find the text of a file that it tried to open.
    pub(crate) fn place_of_file(&self, path: &str) -> String {
        let file_name = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        let document = self.view.find(path.trim_start_matches(['.', '/'])).or_else(|| {
            let mut named = self.view.documents().filter(|one| file_name(&one.name) == file_name(path));
            named.next().filter(|_| named.next().is_none())
        });
        let place = match (self.shape, document) {
            (Shape::Documents, Some(document)) => {
                return format!("the text of that file is `context['{}']`", shown_name(&document.name));
            }
            (Shape::Json | Shape::Records, _) => "`context_text`",
            (Shape::Documents | Shape::Text | Shape::Note, _) => "`context`",
        };
        format!("there are no files: the text is in {place}")
    }

    pub(crate) fn document(&self, name: Option<&str>) -> Result<&DocEntry, Refusal> {
        if let Some(name) = name {
            let missing =
                || Refusal::new("NotFound", format!("there is no document '{name}'; {}", self.some_names()));
            return self.view.find(name).ok_or_else(missing);
        }
        let mut documents = self.view.documents();
        match (documents.next(), documents.next()) {
            (Some(only), None) => Ok(only),
            _ => Err(Refusal::value(format!("give a document with doc=…; {}", self.some_names()))),
        }
    }

    fn some_names(&self) -> String {
        const NAMES_MAX: usize = 8;
        let names: Vec<_> =
            self.view.documents().take(NAMES_MAX).map(|document| format!("'{}'", document.name)).collect();
        let n_more = self.view.documents().len() - names.len();
        match (names.len(), n_more) {
            (0, _) => "there are no documents".to_owned(),
            (_, 0) => format!("the documents are {}", names.join(", ")),
            (_, n_more) => format!("the documents are {} and {n_more} more", names.join(", ")),
        }
    }
}

/// Retrieval for the code of a frame. Code cannot await, so notices are kept until they can be reported.
#[derive(Clone)]
pub(crate) struct FrameRetrieval {
    frame: Frame,
    untold: Arc<Mutex<Vec<Notice>>>,
}

impl FrameRetrieval {
    pub(crate) fn new(frame: &Frame) -> Self {
        Self { frame: frame.clone(), untold: Arc::default() }
    }

    fn find(&self, view: &View, text: &str, mode: Mode, hits_max: usize) -> Result<Vec<Hit>, IndexError> {
        let mut show = self.frame.show_indexing();
        let (passages, notices) = self.frame.run().retrieval.find(view, text, mode, hits_max, &mut show)?;
        lock(&self.untold).extend(notices);
        Ok(passages)
    }

    /// Takes the pending notices, each reported once.
    fn take_untold(&self) -> Vec<Notice> {
        let mut notices = std::mem::take(&mut *lock(&self.untold));
        notices.dedup();
        notices
    }
}

#[cfg(test)]
mod tests;
