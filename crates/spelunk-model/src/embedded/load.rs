//! Loads weights from a file. The file is memory-mapped: pages are read on demand and shared by all
//! processes that use it.

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::LazyLock;

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::params::LlamaContextParams;
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::model::params::LlamaModelParams;

use super::Work;
use crate::ModelError;
use crate::loading::LoadingMark;

/// Calls processed concurrently. More would compete for the same cores.
pub(super) const SEQUENCES: u32 = 4;
/// Tokens per step. A step cannot be interrupted, so this bounds how long a cancelled call continues.
pub(super) const STEP_TOKENS: u32 = 256;

/// The library is initialised once per process, with logging off.
static BACKEND: LazyLock<Result<LlamaBackend, String>> = LazyLock::new(|| {
    let mut backend = LlamaBackend::init().map_err(|error| error.to_string())?;
    backend.void_logs();
    Ok(backend)
});

pub(super) fn weights(work: &Work) -> Result<LlamaModel, ModelError> {
    let path: &Path = &work.path;
    if !path.is_file() {
        return Err(refused(work, "its file does not exist; `spelunk model pull` downloads it again"));
    }
    // What llama.cpp is compiled for; without it, the first instruction would end the process.
    #[cfg(target_arch = "x86_64")]
    if !(is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("f16c"))
    {
        return Err(refused(work, "this processor has no AVX2; serve the model with another program"));
    }
    let mark = LoadingMark::begin(&work.name);
    let params = LlamaModelParams::default().with_progress_callback(move |share| {
        mark.set(share);
        true
    });
    let loaded = LlamaModel::load_from_file(backend(work)?, path, &params);
    loaded.map_err(|error| {
        let of = &work.architecture;
        refused(work, &format!("llama.cpp cannot load its file, whose architecture is `{of}` ({error})"))
    })
}

/// The working memory: cells for the context window, and one slot per sequence.
pub(super) fn memory<'a>(work: &Work, model: &'a LlamaModel) -> Result<LlamaContext<'a>, ModelError> {
    let window = u32::try_from(work.window_tokens).ok().and_then(NonZeroU32::new);
    let params = LlamaContextParams::default()
        .with_n_ctx(window)
        .with_n_batch(STEP_TOKENS)
        .with_n_ubatch(STEP_TOKENS)
        .with_n_seq_max(SEQUENCES)
        .with_kv_unified(true)
        .with_swa_full(true)
        .with_n_threads(work.n_threads)
        .with_n_threads_batch(work.n_threads)
        .with_no_perf(true);
    model.new_context(backend(work)?, params).map_err(|error| {
        refused(work, &format!("there is not enough memory for its context window ({error})"))
    })
}

fn backend(work: &Work) -> Result<&'static LlamaBackend, ModelError> {
    BACKEND.as_ref().map_err(|error| refused(work, error))
}

/// Not transient: the same file would fail again.
fn refused(work: &Work, why: &str) -> ModelError {
    ModelError::LocalFailed { name: work.name.clone(), detail: why.to_owned() }
}
