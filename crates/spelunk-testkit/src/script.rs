//! Scripts: which request gets which reply. A rule matches the call's id or the prompt, never the order of arrival, so
//! that parallel runs are deterministic.

use std::fmt;

use spelunk_types::{StopReason, Usage};

use crate::fault::Fault;
use crate::gate::Gate;

/// One rule of a script: what it replies, and how. The first matching rule applies.
#[derive(Debug)]
#[must_use]
pub struct Rule {
    matcher: Matcher,
    faults: Vec<Fault>,
    /// The reply to every attempt after the faults.
    reply: Option<String>,
    /// The fault of every attempt after them.
    always: Option<Fault>,
    pub(crate) manner: Manner,
}

/// A rule for calls by id: `0.3#2`, where `*` matches any one number (`0.*#0`, `0#*`). `models` matches requests for
/// the list of models, `embed` embedding requests.
pub fn on(call_pattern: &str) -> Rule {
    Rule::new(Matcher::Call(call_pattern.to_owned()))
}

/// A rule for prompts: `predicate` sees the system text and every message, joined by newlines.
pub fn when(predicate: impl Fn(&str) -> bool + Send + Sync + 'static) -> Rule {
    Rule::new(Matcher::Prompt(Box::new(predicate)))
}

impl Rule {
    fn new(matcher: Matcher) -> Self {
        Self { matcher, faults: Vec::new(), reply: None, always: None, manner: Manner::plain() }
    }

    /// The next attempt of a call fails with this fault. Each call uses up the faults in order.
    pub fn fault(mut self, fault: impl Into<Fault>) -> Self {
        self.faults.push(fault.into());
        self
    }

    /// The reply to every attempt after the faults.
    pub fn reply(mut self, text: impl Into<String>) -> Self {
        self.reply = Some(text.into());
        self
    }

    /// Every attempt after the faults fails with this fault.
    pub fn always(mut self, fault: impl Into<Fault>) -> Self {
        self.always = Some(fault.into());
        self
    }

    /// The usage to report; defaults to a token per four bytes of prompt and of reply, rounded up.
    pub fn usage(mut self, input_tokens: u64, output_tokens: u64) -> Self {
        self.manner.usage = Some(Usage { input_tokens, output_tokens, ..Usage::default() });
        self
    }

    /// How many of the input tokens are reported as read from the provider's cache.
    pub fn cached(mut self, cached_tokens: u64) -> Self {
        self.manner.cached_tokens = cached_tokens;
        self
    }

    /// How many of the input tokens are reported as written to the provider's cache, if it reports that.
    pub fn cache_written(mut self, cache_written_tokens: u64) -> Self {
        self.manner.cache_written_tokens = cache_written_tokens;
        self
    }

    /// A tool call after the text; the first has the id `call_0`, the next `call_1`. The stop reason becomes tool use.
    pub fn tool_call(mut self, name: &str, arguments: &str) -> Self {
        let id = format!("call_{}", self.manner.tool_calls.len());
        self.manner.tool_calls.push(ScriptedToolCall {
            id,
            name: name.to_owned(),
            arguments: arguments.to_owned(),
        });
        self.manner.stop = StopReason::ToolUse;
        self
    }

    /// The stop reason to report; defaults to finished.
    pub fn stop(mut self, stop: StopReason) -> Self {
        self.manner.stop = stop;
        self
    }

    /// Reasoning sent before the text.
    pub fn reasoning(mut self, text: impl Into<String>) -> Self {
        self.manner.reasoning = Some(text.into());
        self
    }

    /// The probability of the least likely token, if the request asks for probabilities. Only OpenAI's format has them.
    pub fn certainty(mut self, probability: f64) -> Self {
        self.manner.certainty = Some(probability);
        self
    }

    /// In how many pieces the text is streamed; defaults to 3.
    pub fn chunks(mut self, n_chunks: usize) -> Self {
        self.manner.n_chunks = n_chunks.max(1);
        self
    }

    /// A delay before the headers.
    pub fn delay_ms(mut self, delay_ms: u64) -> Self {
        self.manner.delay_ms = delay_ms;
        self
    }

    /// A delay between two pieces.
    pub fn pace_ms(mut self, pace_ms: u64) -> Self {
        self.manner.pace_ms = pace_ms;
        self
    }

    /// Sends the whole stream in one write, so that a bench does not measure how often the server wakes the client.
    pub fn at_once(mut self) -> Self {
        self.manner.is_at_once = true;
        self
    }

    /// Holds the stream after its first piece until the gate opens.
    pub fn gate(mut self, gate: &Gate) -> Self {
        self.manner.gate = Some(gate.clone());
        self
    }

    pub(crate) fn matches(&self, call: Option<&str>, prompt: &str) -> bool {
        match &self.matcher {
            Matcher::Call(pattern) => call.is_some_and(|call| call_matches(pattern, call)),
            Matcher::Prompt(predicate) => predicate(prompt),
        }
    }

    /// The fault of the attempt with this index (from 0), if it fails, and the text of its reply; `None` if the script
    /// does not say.
    pub(crate) fn answer(&self, attempt_idx: usize) -> Option<(Option<Fault>, String)> {
        let fault = self.faults.get(attempt_idx).or(self.always.as_ref()).cloned();
        let text = self.reply.clone().unwrap_or_else(|| "scripted text".to_owned());
        (fault.is_some() || self.reply.is_some()).then_some((fault, text))
    }
}

/// How a reply is sent.
#[derive(Debug, Clone)]
pub(crate) struct Manner {
    pub(crate) usage: Option<Usage>,
    pub(crate) cached_tokens: u64,
    pub(crate) cache_written_tokens: u64,
    pub(crate) tool_calls: Vec<ScriptedToolCall>,
    pub(crate) stop: StopReason,
    pub(crate) reasoning: Option<String>,
    pub(crate) certainty: Option<f64>,
    pub(crate) n_chunks: usize,
    pub(crate) delay_ms: u64,
    pub(crate) pace_ms: u64,
    pub(crate) is_at_once: bool,
    pub(crate) gate: Option<Gate>,
}

/// A tool call, independent of the provider.
#[derive(Debug, Clone)]
pub(crate) struct ScriptedToolCall {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: String,
}

impl Manner {
    fn plain() -> Self {
        Self {
            usage: None,
            cached_tokens: 0,
            cache_written_tokens: 0,
            tool_calls: Vec::new(),
            stop: StopReason::Finished,
            reasoning: None,
            certainty: None,
            n_chunks: 3,
            delay_ms: 0,
            pace_ms: 0,
            is_at_once: false,
            gate: None,
        }
    }

    pub(crate) fn usage_of(&self, prompt: &str, text: &str) -> Usage {
        let counted = Usage {
            input_tokens: prompt.len().div_ceil(4) as u64,
            output_tokens: text.len().div_ceil(4) as u64,
            ..Usage::default()
        };
        Usage {
            cached_tokens: self.cached_tokens,
            cache_written_tokens: self.cache_written_tokens,
            ..self.usage.unwrap_or(counted)
        }
    }
}

enum Matcher {
    Call(String),
    Prompt(Box<dyn Fn(&str) -> bool + Send + Sync>),
}

impl fmt::Debug for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Call(pattern) => write!(f, "Call({pattern})"),
            Self::Prompt(_) => f.write_str("Prompt"),
        }
    }
}

/// Compares component by component; `*` matches any one.
fn call_matches(pattern: &str, call: &str) -> bool {
    let mut pattern_parts = pattern.split(['.', '#']);
    let mut call_parts = call.split(['.', '#']);
    loop {
        match (pattern_parts.next(), call_parts.next()) {
            (None, None) => return true,
            (Some(expected), Some(found)) if expected == "*" || expected == found => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests;
