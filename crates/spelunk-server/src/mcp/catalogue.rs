//! The catalogue of tools: their names, descriptions, schemas and effects. Both the list a client sees and the dispatch
//! are built from it.

mod contexts;
mod notes;
mod runs;
mod tasks;

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use spelunk_app::arguments::Arguments;
use spelunk_app::failure::Failure;

use super::answer::Said;
use super::state::State;

/// A tool.
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) doc: &'static str,
    pub(super) effect: Effect,
    pub(super) input: JsonObject,
    pub(super) output: JsonObject,
    pub(super) action: Action,
}

/// What a tool may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// Nothing.
    Look,
    /// It adds; repeating the call adds nothing.
    Set,
    /// It adds on every call.
    Add,
    /// It removes.
    Remove,
    /// It calls a model, which is an external service.
    Ask,
}

/// How a call is handled.
#[derive(Clone, Copy)]
pub(super) enum Action {
    /// A function that reads, on a blocking thread.
    Local(fn(&State, Arguments) -> Result<Said, Failure>),
    /// An operation that waits.
    Waiting(Waiting),
}

/// The tools that wait for a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waiting {
    Query,
    Resume,
    Result,
    Cancel,
    Repl,
    Tasks,
    Submit,
}

/// Every tool, in the order in which an agent should consider them.
pub(super) fn entries() -> Vec<Entry> {
    let mut entries = contexts::entries();
    entries.extend(runs::entries());
    entries.extend(tasks::entries());
    entries.extend(notes::entries());
    entries
}

impl Entry {
    /// The tool as the protocol describes it.
    pub(super) fn tool(&self) -> Tool {
        let (read_only, destructive, idempotent, open_world) = match self.effect {
            Effect::Look => (true, false, true, false),
            Effect::Set => (false, false, true, false),
            Effect::Add => (false, false, false, false),
            Effect::Remove => (false, true, true, false),
            Effect::Ask => (false, false, false, true),
        };
        let annotations = ToolAnnotations::with_title(self.title)
            .read_only(read_only)
            .destructive(destructive)
            .idempotent(idempotent)
            .open_world(open_world);
        Tool::new(self.name, self.doc, Arc::new(self.input.clone()))
            .with_title(self.title)
            .with_raw_output_schema(Arc::new(self.output.clone()))
            .with_annotations(annotations)
    }
}
