//! Waits for the engine without the interpreter lock, and checks for signals meanwhile.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use tokio::runtime::{Builder, Runtime};

/// How long Ctrl-C may go unnoticed.
const SIGNALS_EVERY: Duration = Duration::from_millis(50);

/// The runtime of all runs and the id of its process: a forked child has none of its threads.
static RUNTIME: Mutex<Option<(u32, &'static Runtime)>> = Mutex::new(None);

/// Waits for a future, which is dropped if a signal handler raises (such as `KeyboardInterrupt`).
pub(crate) fn wait<T: Send>(py: Python<'_>, future: impl Future<Output = T> + Send) -> PyResult<T> {
    let runtime = runtime()?;
    let mut future = Box::pin(future);
    loop {
        let slice = async { tokio::time::timeout(SIGNALS_EVERY, &mut future).await.ok() };
        if let Some(done) = py.detach(|| runtime.block_on(slice)) {
            return Ok(done);
        }
        py.check_signals()?;
    }
}

fn runtime() -> PyResult<&'static Runtime> {
    let process = std::process::id();
    let mut shared = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((owner, runtime)) = *shared
        && owner == process
    {
        return Ok(runtime);
    }
    let runtime = Builder::new_multi_thread().enable_all().thread_name("spelunk").build();
    let runtime = runtime.map_err(|error| PyOSError::new_err(error.to_string()))?;
    let runtime: &'static Runtime = Box::leak(Box::new(runtime));
    *shared = Some((process, runtime));
    Ok(runtime)
}
