//! The embedded model: a GGUF file that runs inside this process, without a server or a key. One
//! thread per file owns the weights and works on several calls concurrently; a prefix shared with
//! an earlier conversation is not computed again. The runtime is llama.cpp.

mod cells;
mod form;
mod load;
mod runner;
mod sample;
mod utf8;

use std::collections::HashMap;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};
use std::time::Duration;

use futures_util::stream;
use serde_json::Value;
use spelunk_types::{CallId, ModelRef};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;

use crate::chat::{ChatForm, ChatPiece};
use crate::gguf::GgufHeader;
use crate::{Model, ModelDelta, ModelError, ModelFacts, ModelStream, Price, Prompt};

/// The most calls that may wait or run at once; further ones are rejected for the moment.
const CALLS_MAX: usize = 1_024;
/// The default limit of the context window. Its cells take memory from the start, so a longer one must be requested.
const WINDOW_TOKENS_USUAL: u64 = 32_768;
const WINDOW_TOKENS_MAX: u64 = 1 << 20;

const SIZE_BYTES_MAX: usize = 16;

/// More threads than llama.cpp can use.
const THREADS_MAX: usize = 512;

/// How often a waiting caller gets a sign of life. Loading a file from a slow disk, or one step of
/// a large model, may take longer than the silence timeout.
const SIGN_EVERY: Duration = Duration::from_secs(1);

/// Which file to run, and how.
#[derive(Debug, Clone)]
pub struct EmbeddedOptions {
    /// The name of the model.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// The size of the file: another file of the same name is another model.
    pub bytes: u64,
    /// Its metadata.
    pub header: GgufHeader,
    /// The context window, which is never longer than the file's; defaults to 32,768 tokens.
    pub context_tokens: Option<u64>,
    /// The sampling temperature: 0 always takes the likeliest token.
    pub temperature: f32,
    /// The random seed, if the temperature is above 0.
    pub seed: u32,
    /// Compute threads; defaults to the number of cores. They busy-wait for each other, so fewer are faster on cores
    /// that have other work.
    pub threads: Option<NonZero<usize>>,
}

/// A model that runs inside this process.
#[derive(Debug, Clone)]
pub struct EmbeddedModel {
    reference: ModelRef,
    form: ChatForm,
    work: Work,
}

/// The configuration of a thread; calls with equal configurations share one.
#[derive(Debug, Clone, PartialEq)]
struct Work {
    name: String,
    /// For error messages about a file that cannot be loaded.
    architecture: String,
    path: PathBuf,
    window_tokens: usize,
    temperature: f32,
    seed: u32,
    n_threads: i32,
}

struct Job {
    pieces: Vec<ChatPiece>,
    schema: Option<Arc<Value>>,
    output_tokens_max: u64,
    temperature: Option<f32>,
    reply: UnboundedSender<Result<ModelDelta, ModelError>>,
    /// Counts as waiting or running until dropped.
    _ticket: Ticket,
}

impl EmbeddedModel {
    /// Loads nothing: the first call does.
    pub fn new(options: EmbeddedOptions) -> Result<Self, ModelError> {
        let form = options.header.chat_template.as_deref().and_then(ChatForm::of_template);
        let form = form.ok_or_else(|| ModelError::LocalFailed {
            name: options.name.clone(),
            detail: "its chat template is neither ChatML nor that of Llama 3; serve the file with llama.cpp and set `--base-url`".to_owned(),
        })?;
        let of_file = options.header.context_tokens.unwrap_or(WINDOW_TOKENS_USUAL);
        let wanted = options.context_tokens.unwrap_or(WINDOW_TOKENS_USUAL);
        let window_tokens = of_file.min(wanted).clamp(64, WINDOW_TOKENS_MAX);
        let mut base_url = format!("local:{}#{}", options.name, options.bytes);
        // The name is chosen by the user and may lack the model's size, but small models are prompted differently.
        if let Some(size) = options.header.size_label.as_deref().filter(|size| is_size(size)) {
            base_url += &format!("-{size}");
        }
        if options.temperature > 0.0 {
            base_url += &format!("?temperature={}&seed={}", options.temperature, options.seed);
        }
        Ok(Self {
            reference: ModelRef { provider: "local".to_owned(), name: options.name.clone(), base_url },
            form,
            work: Work {
                name: options.name,
                architecture: options.header.architecture,
                path: options.path,
                window_tokens: usize::try_from(window_tokens).unwrap_or(usize::MAX),
                temperature: options.temperature.max(0.0),
                seed: options.seed,
                n_threads: n_threads(options.threads),
            },
        })
    }

    fn begin(&self, prompt: &Prompt) -> Result<Replies, ModelError> {
        let pieces = self.form.write(prompt)?;
        let runner = Runner::of(&self.work)?;
        let ticket = runner.ticket()?;
        let (reply, deltas) = unbounded_channel();
        let job = Job {
            pieces,
            schema: prompt.schema.clone(),
            output_tokens_max: prompt.output_tokens_max,
            #[expect(clippy::cast_possible_truncation, reason = "thousandths fit")]
            temperature: prompt.temperature().map(|temperature| temperature as f32),
            reply,
            _ticket: ticket,
        };
        runner.jobs.send(job).map_err(|_| stopped(&self.work.name))?;
        Ok(Replies { deltas, _runner: runner })
    }
}

impl Model for EmbeddedModel {
    fn reference(&self) -> &ModelRef {
        &self.reference
    }

    fn facts(&self) -> ModelFacts {
        let window_tokens = Some(self.work.window_tokens as u64);
        ModelFacts { price: Some(Price::FREE), computes_here: true, window_tokens, ..ModelFacts::default() }
    }

    fn stream(&self, prompt: &Prompt, _call: &CallId) -> ModelStream {
        match self.begin(prompt) {
            Ok(replies) => replies.into_stream(),
            Err(error) => Box::pin(stream::once(std::future::ready(Err(error)))),
        }
    }
}

/// The deltas of one call. Dropping it cancels the call.
struct Replies {
    deltas: UnboundedReceiver<Result<ModelDelta, ModelError>>,
    /// Keeps the thread alive.
    _runner: Arc<Runner>,
}

impl Replies {
    /// The deltas as they arrive, and an empty reasoning delta for each second without one.
    fn into_stream(self) -> ModelStream {
        Box::pin(stream::unfold(self, |mut replies| async move {
            match timeout(SIGN_EVERY, replies.deltas.recv()).await {
                Ok(delta) => delta.map(|delta| (delta, replies)),
                // The thread is alive, or the channel would be closed.
                Err(_) => Some((Ok(ModelDelta::Reasoning(String::new())), replies)),
            }
        }))
    }
}

/// A thread that answers calls. Once nobody holds it, it ends after the current computation.
struct Runner {
    jobs: Sender<Job>,
    n_calls: Arc<AtomicUsize>,
}

/// The threads of this process, by configuration. An idle thread is kept, so that the next call
/// finds the weights loaded.
static RUNNERS: LazyLock<Mutex<HashMap<String, KeptRunner>>> = LazyLock::new(Mutex::default);

/// How many idle threads are kept; the least recently used is dropped first.
const RUNNERS_KEPT_MAX: usize = 4;

struct KeptRunner {
    runner: Arc<Runner>,
    used: u64,
}

impl Runner {
    /// The thread for this configuration, started if there is none.
    fn of(work: &Work) -> Result<Arc<Self>, ModelError> {
        let key = format!("{work:?}");
        let mut runners = RUNNERS.lock().unwrap_or_else(PoisonError::into_inner);
        let used = 1 + runners.values().map(|kept| kept.used).max().unwrap_or_default();
        if let Some(kept) = runners.get_mut(&key) {
            kept.used = used;
            return Ok(Arc::clone(&kept.runner));
        }
        let (jobs, waiting) = channel();
        let runner = Arc::new(Self { jobs, n_calls: Arc::default() });
        let (work, own_key, own) = (work.clone(), key.clone(), Arc::downgrade(&runner));
        let thread = std::thread::Builder::new().name("embedded-model".to_owned());
        let name = work.name.clone();
        let begun = thread.spawn(move || {
            runner::run(&work, &waiting);
            forget(&own_key, &own);
        });
        begun.map_err(|error| ModelError::LocalFailed {
            name,
            detail: format!("could not start a thread: {error}"),
        })?;
        if runners.len() >= RUNNERS_KEPT_MAX {
            let oldest = runners.iter().min_by_key(|(_, kept)| kept.used).map(|(key, _)| key.clone());
            oldest.and_then(|oldest| runners.remove(&oldest));
        }
        runners.insert(key, KeptRunner { runner: Arc::clone(&runner), used });
        Ok(runner)
    }

    fn ticket(&self) -> Result<Ticket, ModelError> {
        let ticket = Ticket { n_calls: Arc::clone(&self.n_calls) };
        if ticket.n_calls.fetch_add(1, Ordering::Relaxed) >= CALLS_MAX {
            return Err(ModelError::Overloaded { retry_after: None });
        }
        Ok(ticket)
    }
}

/// Removes a thread that ended because it crashed or could not load its file: the next call tries again.
fn forget(key: &str, own: &Weak<Runner>) {
    let mut runners = RUNNERS.lock().unwrap_or_else(PoisonError::into_inner);
    if runners.get(key).is_some_and(|kept| Weak::ptr_eq(&Arc::downgrade(&kept.runner), own)) {
        runners.remove(key);
    }
}

struct Ticket {
    n_calls: Arc<AtomicUsize>,
}

impl Drop for Ticket {
    fn drop(&mut self) {
        self.n_calls.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Whether a size label is plain: `1.5B`, `8x7B`.
fn is_size(label: &str) -> bool {
    label.len() <= SIZE_BYTES_MAX && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '.')
}

fn n_threads(wanted: Option<NonZero<usize>>) -> i32 {
    let all = || std::thread::available_parallelism().map_or(1, NonZero::get);
    let n_threads = wanted.map_or_else(all, NonZero::get).min(THREADS_MAX);
    i32::try_from(n_threads).unwrap_or(1)
}

fn stopped(name: &str) -> ModelError {
    ModelError::LocalFailed { name: name.to_owned(), detail: "its thread has stopped".to_owned() }
}

#[cfg(test)]
mod tests;
