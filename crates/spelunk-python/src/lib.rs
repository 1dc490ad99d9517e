//! The native module of the Python package `spelunk`: the library API with Python types. It converts arguments,
//! releases the interpreter lock while the engine works, and returns results as JSON; everything that users see is in
//! `python/spelunk`. Only functions that a user registers as tools are called from other threads.
#![cfg(feature = "module")]

mod engine;
#[cfg(target_os = "linux")]
mod program;
mod running;
mod session;
mod tool;
mod waiting;

use pyo3::prelude::*;
use serde_json::Value;

// Workers run this module too, and there it counts the allocations of a cell.
#[global_allocator]
static ALLOCATOR: spelunk::LimitedAllocator = spelunk::LimitedAllocator;

/// The native module.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::engine::Engine;
    #[pymodule_export]
    use super::running::Running;
    #[pymodule_export]
    use super::session::Session;
}

fn told<T>(result: Result<T, spelunk::Error>, json: impl FnOnce(T) -> Value) -> PyResult<String> {
    result.map(|value| json(value).to_string()).map_err(|error| raised(&error))
}

/// An error of the library as the exception that the Python layer defines.
fn raised(error: &spelunk::Error) -> PyErr {
    let mut message = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        message += &format!(": {error}");
        cause = error.source();
    }
    let arguments = (message, error.code().name(), error.hint());
    Python::attach(|py| {
        let exception = py.import("spelunk._errors").and_then(|module| module.getattr("SpelunkError"));
        match exception.and_then(|exception| exception.call1(arguments)) {
            Ok(instance) => PyErr::from_value(instance),
            Err(error) => error,
        }
    })
}
