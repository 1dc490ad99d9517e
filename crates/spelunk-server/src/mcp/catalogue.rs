//! The catalogue of tools: their names, descriptions, schemas and effects. Both the list a client sees and the dispatch
//! are built from it.

mod tools;

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::Value;
use spelunk_app::arguments::Arguments;
use spelunk_app::failure::Failure;

use super::answer::ToolAnswer;
use super::schema::Properties;
use super::state::State;

pub(super) use tools::entries;

/// A tool.
pub(super) struct Entry {
    pub(super) name: &'static str,
    title: &'static str,
    doc: &'static str,
    effect: Effect,
    input: Properties,
    output: Properties,
    pub(super) action: Action,
}

/// What a tool may change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
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
    Local(fn(&State, Arguments) -> Result<ToolAnswer, Failure>),
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

impl Entry {
    fn new(effect: Effect, name: &'static str, title: &'static str, action: Action) -> Self {
        let (input, output) = (Properties::default(), Properties::default());
        Self { name, title, doc: "", effect, input, output, action }
    }

    fn doc(mut self, doc: &'static str) -> Self {
        self.doc = doc;
        self
    }

    /// A required argument.
    fn needs(mut self, name: &'static str, schema: Value) -> Self {
        self.input.require(name, schema);
        self
    }

    /// An optional argument.
    fn takes(mut self, name: &'static str, schema: Value) -> Self {
        self.input.add(name, schema);
        self
    }

    /// A field of every answer.
    fn gives(mut self, name: &'static str, schema: Value) -> Self {
        self.output.require(name, schema);
        self
    }

    /// A field of some answers.
    fn may_give(mut self, name: &'static str, schema: Value) -> Self {
        self.output.add(name, schema);
        self
    }

    /// Fields that several tools share.
    fn with(self, shared: impl FnOnce(Self) -> Self) -> Self {
        shared(self)
    }

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
        Tool::new(self.name, self.doc, Arc::new(self.input.input()))
            .with_title(self.title)
            .with_raw_output_schema(Arc::new(self.output.output()))
            .with_annotations(annotations)
    }
}
