//! The details of a result besides its answer: evidence, metrics and errors. The same for every strategy.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use spelunk_engine::{CallState, ReportError, RunView};
use spelunk_journal::{Blobs, JournalError};
use spelunk_types::{Citation, Found, Usage};

/// The maximum number of evidence rows, and of errors, in a result; the run's files contain all of them.
const ROWS_MAX: usize = 1_000;

/// One piece of evidence for an answer.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Evidence {
    /// A quote that was checked against the sources.
    Citation {
        /// The location it claims.
        citation: Citation,
        /// The result of the check.
        found: Found,
    },
    /// A fact that an agent recorded while it worked.
    Fact {
        /// Its topic, in a word.
        tag: String,
        /// The fact.
        content: String,
        /// The source the agent gave: `input/contexts/a.md:3`.
        source: Option<String>,
        /// Anything else the agent added.
        metadata: Value,
    },
}

impl Evidence {
    /// The evidence of a run: citations in the order they were checked, then facts.
    pub fn of(view: &RunView, cited: &[Citation], blobs: &Blobs) -> Result<Vec<Self>, JournalError> {
        let looked_up = view.citations.iter().map(|(citation, found)| (citation, *found));
        // Code has already checked the analysts' citations against the text they were given.
        let is_new = |citation: &&Citation| !view.citations.iter().any(|(known, _)| known == *citation);
        let by_code = cited.iter().filter(is_new).map(|citation| (citation, Found::Exact));
        let citations = looked_up
            .chain(by_code)
            .map(|(citation, found)| Self::Citation { citation: citation.clone(), found });
        let mut told: Vec<Self> = citations.take(ROWS_MAX).collect();
        for piece in &view.facts {
            if told.len() >= ROWS_MAX {
                break;
            }
            let text = blobs.text(piece)?;
            told.extend(text.lines().filter_map(fact));
        }
        told.truncate(ROWS_MAX);
        Ok(told)
    }

    pub fn json(&self) -> Value {
        match self {
            Self::Citation { citation, found } => json!({
                "is": "citation",
                "document": citation.document,
                "line": citation.line,
                "quote": citation.quote,
                "found": found,
            }),
            Self::Fact { tag, content, source, metadata } => json!({
                "is": "fact", "tag": tag, "content": content, "source": source, "metadata": metadata,
            }),
        }
    }
}

/// Parses a line of a desk's evidence log. Other lines that a script wrote there are ignored.
fn fact(line: &str) -> Option<Evidence> {
    let mut line: Value = serde_json::from_str(line).ok()?;
    let text = |value: &Value| value.as_str().map(str::to_owned);
    Some(Evidence::Fact {
        tag: text(&line["tag"])?,
        content: text(&line["content"])?,
        source: text(&line["source"]),
        metadata: line["metadata"].take(),
    })
}

/// The counters of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// Calls that were sent and completed.
    pub calls: u64,
    /// Calls answered by the cache.
    pub calls_cached: u64,
    /// Calls that got no reply.
    pub calls_failed: u64,
    /// Retried attempts.
    pub retries: u64,
    /// Tokens and cost.
    pub usage: Usage,
    /// Time during which a process was working on the run.
    pub active_ms: u64,
    /// How often it was resumed.
    pub resumed: u64,
    /// Documents of the corpus.
    pub documents: u64,
    /// Their bytes.
    pub corpus_bytes: u64,
    /// Bytes that were shown to a model.
    pub bytes_read: u64,
    /// Frames of the tree.
    pub frames: u64,
    /// Code cells that ran.
    pub cells: u64,
    /// Tool calls of an agent, by tool name.
    pub tools: BTreeMap<String, u64>,
}

impl Metrics {
    pub(crate) fn of(view: &RunView) -> Self {
        let is_failed = |state: &CallState| matches!(state, CallState::Failed { .. });
        Self {
            calls: view.n_paid_calls(),
            calls_cached: view.n_cached_calls(),
            calls_failed: view.calls.values().filter(|call| is_failed(&call.state)).count() as u64,
            retries: view.calls.values().map(|call| call.retries.len() as u64).sum(),
            usage: view.spent,
            active_ms: view.active_ms(),
            resumed: view.n_resumed,
            documents: view.n_documents,
            corpus_bytes: view.corpus_bytes,
            bytes_read: view.bytes_read,
            frames: view.frames.len() as u64,
            cells: view.cells.values().map(|cells| cells.len() as u64).sum(),
            tools: view.tools.iter().map(|(name, (n_calls, _))| (name.clone(), *n_calls)).collect(),
        }
    }

    /// The counters that appear nowhere else in the JSON of a result.
    pub(crate) fn json(&self) -> Value {
        json!({
            "calls": self.calls,
            "calls_cached": self.calls_cached,
            "calls_failed": self.calls_failed,
            "retries": self.retries,
            "tokens": self.usage.tokens(),
            "cost_microusd": self.usage.cost_microusd,
            "active_ms": self.active_ms,
            "resumed": self.resumed,
            "frames": self.frames,
            "cells": self.cells,
            "tools": self.tools,
        })
    }
}

pub(crate) fn errors(view: &RunView) -> Vec<ReportError> {
    view.errors.iter().take(ROWS_MAX).cloned().collect()
}

pub(crate) fn error_json(error: &ReportError) -> Value {
    json!({ "seq": error.seq, "frame": error.frame, "call": error.call, "code": error.code, "message": error.message })
}

#[cfg(test)]
mod tests {
    use spelunk_journal::Workspace;
    use spelunk_types::Text;

    use super::*;

    #[test]
    fn facts_are_read_line_by_line_and_nonsense_is_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let blobs = Workspace::open(dir.path()).unwrap().blobs();
        let line = r#"{"sequence":1,"tag":"n","content":"It is 42.","metadata":{"x":1},"source":"a.md:3"}"#;
        let pieces = [format!("{line}\nnot JSON\n{{}}\n[]\n"), String::new(), "{\"tag\":7}\n".to_owned()];
        let mut view = RunView::default();
        view.facts.extend(pieces.into_iter().map(|text| Text::Inline { text }));
        let told = Evidence::of(&view, &[], &blobs).unwrap();
        let told: Vec<String> = told.iter().map(|row| row.json().to_string()).collect();
        assert_eq!(
            told,
            [r#"{"content":"It is 42.","is":"fact","metadata":{"x":1},"source":"a.md:3","tag":"n"}"#]
        );
    }

    #[test]
    fn rows_are_bounded() {
        let dir = tempfile::tempdir().unwrap();
        let blobs = Workspace::open(dir.path()).unwrap().blobs();
        let cited = |line| Citation { document: "a".into(), line, quote: "q".into() };
        let cited: Vec<Citation> = (0..2_000).map(cited).collect();
        assert_eq!(Evidence::of(&RunView::default(), &cited, &blobs).unwrap().len(), ROWS_MAX);
    }
}
