//! Joins the fragments of tool calls.

use std::collections::BTreeMap;

use crate::reply::ReplyFault;
use crate::{ModelDelta, ToolCall};

const CALLS_MAX: usize = 128;

/// The maximum size of arguments, over all calls of a reply.
pub(crate) const ARGUMENT_BYTES_MAX: usize = 4_000_000;

/// Calls that are still arriving, by the index that the provider gives them and by how many began
/// at that index before: some servers (Ollama) give every call of a reply the same index.
#[derive(Debug, Default)]
pub(crate) struct Drafts {
    calls: BTreeMap<(u64, usize), ToolCall>,
    n_begun: usize,
    bytes: usize,
}

impl Drafts {
    /// Adds a fragment to the last call at this index: the first one has the name, later ones add arguments. A name
    /// with a different id starts another call.
    pub(crate) fn add(
        &mut self,
        index: u64,
        id: Option<String>,
        name: Option<String>,
        arguments: &str,
    ) -> Result<(), ReplyFault> {
        let named = id.as_ref().map_or(0, String::len) + name.as_ref().map_or(0, String::len);
        self.bytes = self.bytes.saturating_add(arguments.len()).saturating_add(named);
        if self.bytes > ARGUMENT_BYTES_MAX {
            return Err(ReplyFault::TooLong(ARGUMENT_BYTES_MAX));
        }
        let id = id.filter(|id| !id.is_empty());
        let name = name.filter(|name| !name.is_empty());
        // A server that sends no id gets a deterministic one.
        let unnamed = format!("call-{index}");
        let is_its_own = |call: &ToolCall| {
            name.is_none() || id.as_ref().is_none_or(|id| call.id == *id || call.id == unnamed)
        };
        let key = match self.last_at(index) {
            Some((key, call)) if is_its_own(call) => key,
            Some(((_, nth), _)) => (index, nth + 1),
            None => (index, 0),
        };
        if !self.calls.contains_key(&key) {
            self.n_begun += 1;
            if self.n_begun > CALLS_MAX {
                return Err(ReplyFault::Malformed(format!("it contains more than {CALLS_MAX} tool calls")));
            }
        }
        let call = self.calls.entry(key).or_insert_with(|| ToolCall {
            id: unnamed.clone(),
            name: String::new(),
            arguments: String::new(),
            signature: None,
        });
        if let Some(id) = id
            && call.id == unnamed
        {
            call.id = id;
        }
        if let Some(name) = name {
            call.name = name;
        }
        call.arguments.push_str(arguments);
        Ok(())
    }

    /// Adds arguments to a call that was started; others are ignored.
    pub(crate) fn go_on(&mut self, index: u64, arguments: &str) -> Result<(), ReplyFault> {
        if self.last_at(index).is_some() { self.add(index, None, None, arguments) } else { Ok(()) }
    }

    pub(crate) fn finish(&mut self, index: u64) -> Option<ModelDelta> {
        let (key, _) = self.last_at(index)?;
        self.calls.remove(&key).map(finished)
    }

    pub(crate) fn finish_all(&mut self) -> Vec<ModelDelta> {
        std::mem::take(&mut self.calls).into_values().map(finished).collect()
    }

    fn last_at(&self, index: u64) -> Option<((u64, usize), &ToolCall)> {
        self.calls.range((index, 0)..=(index, usize::MAX)).next_back().map(|(key, call)| (*key, call))
    }
}

fn finished(mut call: ToolCall) -> ModelDelta {
    if call.arguments.trim().is_empty() {
        "{}".clone_into(&mut call.arguments);
    }
    ModelDelta::ToolCall(call)
}

#[cfg(test)]
mod tests;
