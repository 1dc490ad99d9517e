//! The role `embedding`: vectors from an OpenAI-compatible server or from a word table in the
//! user's model folder, instead of the built-in table. The index calls from its own threads and
//! blocks; a single thread here does the network I/O.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use spelunk_index::{EmbedError, Embedder, StaticEmbedder};
use spelunk_model::{EmbeddingClient, ModelError, ModelOptions, embedding_batches};

use super::keys::{Endpoint, required_endpoint};
use super::list::usual;
use super::{ProviderError, Result, of_alias};
use crate::config::{ModelSettings, ProviderChoice, RoleModel, Settings};
use crate::env::Environment;
use crate::local::{ModelFolder, is_name};

const TRIES_MAX: u32 = 4;
const WAIT_MAX: Duration = Duration::from_secs(30);

/// The extension of a single-file table, in the format written by the index's `data/convert.py`.
const TABLE_EXTENSION: &str = ".bin";

/// The embedder, opened at its first use and shared by the whole process. If opening fails, the next use retries.
#[derive(Clone, Default)]
pub struct SharedEmbedder(Arc<Mutex<Option<Arc<dyn Embedder>>>>);

impl SharedEmbedder {
    /// The model of the role or else the built-in table. A server is queried once for the length of its vectors.
    pub fn open(
        &self,
        settings: &Settings,
        environment: &Environment,
    ) -> Result<Arc<dyn Embedder>, EmbedError> {
        let mut opened = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(embedder) = opened.as_ref() {
            return Ok(Arc::clone(embedder));
        }
        let embedder = open(settings, environment)?;
        Ok(Arc::clone(opened.insert(embedder)))
    }
}

fn open(settings: &Settings, environment: &Environment) -> Result<Arc<dyn Embedder>, EmbedError> {
    if let Some(table) = table(settings, environment) {
        return Ok(Arc::new(table?));
    }
    match client(settings, environment) {
        Ok(None) => Ok(Arc::new(StaticEmbedder::embedded()?)),
        Ok(Some(client)) => Ok(Arc::new(RemoteEmbedder::open(client)?)),
        Err(error) => Err(remote("roles.embedding", &error.to_string())),
    }
}

/// The word table that the role names in the model folder; `None` if it names something else.
pub fn table(settings: &Settings, environment: &Environment) -> Option<Result<StaticEmbedder, EmbedError>> {
    let name = match &settings.roles.embedding {
        RoleModel::AtProvider { provider: ProviderChoice::Local, name, .. } => name,
        RoleModel::Unset
        | RoleModel::SameProvider { .. }
        | RoleModel::Named { .. }
        | RoleModel::AtProvider { .. } => return None,
    };
    let folder = ModelFolder::of(&settings.local, environment);
    let folder = folder.map(|folder| folder.path().to_path_buf()).unwrap_or_default();
    if !is_name(name) {
        return Some(Err(EmbedError::Missing { path: folder.join("local:").join(name) }));
    }
    let (directory, file) = (folder.join(name), folder.join(format!("{name}{TABLE_EXTENSION}")));
    Some(table_at(&directory, &file))
}

fn table_at(directory: &Path, file: &Path) -> Result<StaticEmbedder, EmbedError> {
    match StaticEmbedder::from_file(file) {
        Err(EmbedError::Missing { .. }) if directory.is_dir() => StaticEmbedder::from_dir(directory),
        Err(EmbedError::Missing { .. }) => Err(EmbedError::Missing { path: directory.to_owned() }),
        opened => opened,
    }
}

pub fn client(settings: &Settings, environment: &Environment) -> Result<Option<EmbeddingClient>> {
    let model = match &settings.roles.embedding {
        RoleModel::Unset | RoleModel::SameProvider { .. } => return Ok(None),
        RoleModel::Named { alias, .. } => of_alias(settings, alias)?.settings.clone(),
        RoleModel::AtProvider { provider, name, .. } => usual(&settings.model, *provider, name),
    };
    let endpoint = required_endpoint(&model, environment)?;
    let timeout = Duration::from_millis(settings.limits.call_ms_max);
    Ok(Some(EmbeddingClient::openai(options(&endpoint, &model)?, timeout)?))
}

fn options(endpoint: &Endpoint, settings: &ModelSettings) -> Result<ModelOptions> {
    if endpoint.provider != "openai" {
        return Err(ProviderError::NoEmbeddings { provider: endpoint.provider });
    }
    if endpoint.name.is_none() {
        return Err(ProviderError::NameMissing { provider: format!("`{}`", settings.section) });
    }
    Ok(endpoint.options(settings.price))
}

struct RemoteEmbedder {
    /// The model and its URL.
    id: String,
    dimensions: usize,
    requests: Sender<EmbedRequest>,
}

struct EmbedRequest {
    texts: Vec<String>,
    reply: SyncSender<Result<Vec<Vec<f32>>, ModelError>>,
}

impl RemoteEmbedder {
    fn open(client: EmbeddingClient) -> Result<Self, EmbedError> {
        let reference = client.reference();
        let id = format!("{reference} {}", reference.base_url);
        let (requests, received) = channel();
        let started =
            std::thread::Builder::new().name("spelunk-embed".into()).spawn(move || talk(&client, &received));
        started.map_err(|error| remote(&id, &error.to_string()))?;
        let probe = Self { id, dimensions: 0, requests };
        let dimensions = probe.embed(&["How long is a vector?"])?.first().map_or(0, Vec::len);
        Ok(Self { dimensions, ..probe })
    }
}

impl Embedder for RemoteEmbedder {
    fn id(&self) -> &str {
        &self.id
    }

    fn dimensions(&self) -> usize {
        self.dimensions
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let (reply, answer) = sync_channel(1);
        let ask = EmbedRequest { texts: texts.iter().map(|text| (*text).to_owned()).collect(), reply };
        let gone = || remote(&self.id, "its thread has stopped");
        self.requests.send(ask).map_err(|_| gone())?;
        let vectors = answer.recv().map_err(|_| gone())?;
        vectors.map_err(|error| remote(&self.id, &error.to_string()))
    }
}

/// There is no silent fallback: an index with other vectors would have to be rebuilt.
fn remote(model: &str, why: &str) -> EmbedError {
    let why = format!("{why}; unset `roles.embedding` to search without it");
    EmbedError::Remote { model: model.to_owned(), why, source: None }
}

/// Serves requests until every sender is dropped.
fn talk(client: &EmbeddingClient, received: &Receiver<EmbedRequest>) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    while let Ok(EmbedRequest { texts, reply }) = received.recv() {
        // The caller may have given up.
        drop(reply.send(runtime.block_on(embed_all(client, &texts))));
    }
}

async fn embed_all(client: &EmbeddingClient, texts: &[String]) -> Result<Vec<Vec<f32>>, ModelError> {
    let mut vectors = Vec::with_capacity(texts.len());
    for batch in embedding_batches(texts) {
        vectors.extend(embed_batch(client, texts.get(batch).unwrap_or_default()).await?);
    }
    Ok(vectors)
}

/// Retries here, because an index is built outside of runs. A server that timed out is not retried:
/// the user has waited long enough.
async fn embed_batch(client: &EmbeddingClient, texts: &[String]) -> Result<Vec<Vec<f32>>, ModelError> {
    let mut n_failed = 0;
    loop {
        match client.embed(texts).await {
            Ok(embedded) => return Ok(embedded.vectors),
            Err(error) if may_retry(&error) && n_failed + 1 < TRIES_MAX => {
                let wait = error.retry_after().unwrap_or_else(|| Duration::from_millis(250 << n_failed));
                tokio::time::sleep(wait.min(WAIT_MAX)).await;
                n_failed += 1;
            }
            Err(error) => return Err(error),
        }
    }
}

fn may_retry(error: &ModelError) -> bool {
    error.is_transient() && !matches!(error, ModelError::TimedOut { .. })
}
