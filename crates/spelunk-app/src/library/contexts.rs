//! The contexts of a workspace for Rust programs: the types of the store, and functions for personal contexts.

use std::path::Path;

use serde_json::Value;
pub use spelunk_context::{
    AccessEntry, Action, Context, ContextId, ContextKind, ContextSource, ContextStore, Factory, LoadPolicy,
    Loader, MemoryReport, Navigator, NewContext, NewSource, StoreError, Suggestion,
};

use super::Error;
pub use crate::personal::PersonalReport;

/// Registers `foundation/`, `projects/`, `temporal/` and the memory graph of a directory.
pub fn register_personal(store: &ContextStore, directory: &Path) -> Result<PersonalReport, Error> {
    Ok(crate::personal::register(store, directory)?)
}

/// The user, a project and the contexts in use as one object.
pub fn combined(store: &ContextStore, project: Option<&str>, working: &[String]) -> Result<Value, Error> {
    Ok(crate::personal::combined(store, project, working)?)
}
