//! The server's records: the script, the requests and what was served.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde_json::Value;
use spelunk_types::Usage;

use crate::dialect::prompt_of;
use crate::fault::Fault;
use crate::script::{Manner, Rule};

/// A request as it arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The `x-spelunk-call` header.
    pub call: Option<String>,
    /// `GET` or `POST`.
    pub method: String,
    /// `/v1/chat/completions`.
    pub path: String,
    /// The body, as text.
    pub body: String,
    /// All headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// When it arrived.
    pub at: Instant,
}

impl Recorded {
    /// The first header of this name, given in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON; null if it is invalid.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or(Value::Null)
    }

    /// The system text and every message, joined by newlines: what `when` rules see.
    pub fn prompt(&self) -> String {
        prompt_of(&self.json())
    }
}

/// The script and its results.
#[derive(Debug)]
pub(super) struct ServerState {
    rules: Vec<Rule>,
    pages: Mutex<RequestLog>,
}

#[derive(Debug, Default)]
pub(super) struct RequestLog {
    pub(super) requests: Vec<Recorded>,
    pub(super) unexpected: Vec<Recorded>,
    pub(super) n_received: HashMap<String, u64>,
    pub(super) n_served: HashMap<String, u64>,
    pub(super) served_usage: Usage,
    pub(super) n_connections: u64,
    /// Attempts by rule and call; by rule and prompt if a request names no call.
    n_attempts: HashMap<(usize, String), usize>,
}

impl ServerState {
    pub(super) fn new(rules: Vec<Rule>) -> Self {
        Self { rules, pages: Mutex::new(RequestLog::default()) }
    }

    pub(super) fn read<T>(&self, look: impl FnOnce(&RequestLog) -> T) -> T {
        look(&self.pages.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn write<T>(&self, change: impl FnOnce(&mut RequestLog) -> T) -> T {
        change(&mut self.pages.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Records the request and finds its answer: a fault or none, a text, and how it is sent. `call` is the name that
    /// rules match.
    pub(super) fn receive(
        &self,
        request: &Recorded,
        call: Option<&str>,
        prompt: &str,
    ) -> Option<(Option<Fault>, String, Manner)> {
        let rule = self.rules.iter().enumerate().find(|(_, rule)| rule.matches(call, prompt));
        self.write(|pages| {
            pages.requests.push(request.clone());
            if let Some(call) = call {
                *pages.n_received.entry(call.to_owned()).or_default() += 1;
            }
            let (rule_idx, rule) = rule?;
            let attempts = pages.n_attempts.entry((rule_idx, call.unwrap_or(prompt).to_owned())).or_default();
            *attempts += 1;
            let (fault, text) = rule.answer(*attempts - 1)?;
            Some((fault, text, rule.manner.clone()))
        })
    }

    pub(super) fn refuse(&self, request: Recorded) {
        self.write(|pages| pages.unexpected.push(request));
    }

    pub(super) fn serve(&self, call: Option<&str>, usage: Usage) {
        self.write(|pages| {
            if let Some(call) = call {
                *pages.n_served.entry(call.to_owned()).or_default() += 1;
            }
            pages.served_usage = pages.served_usage.plus(usage);
        });
    }
}
