//! Calls of external tools, as the events tell them.

use spelunk_types::{EffectClass, EffectId, EffectOutcome, Event, EventKind, Text};

use super::RunView;

/// A call of an external tool.
#[derive(Debug, Clone, PartialEq)]
pub struct EffectView {
    /// The number of the event that started it.
    pub seq: u64,
    /// The tool.
    pub tool: String,
    /// Whether a call may be repeated.
    pub class: EffectClass,
    /// A JSON object.
    pub arguments: Text,
    /// Whether it was called.
    pub is_sent: bool,
    /// How it ended.
    pub outcome: Option<EffectOutcome>,
    /// How long it took.
    pub took_ms: u64,
}

impl RunView {
    /// At-most-once calls whose outcome is unknown.
    pub fn unknown_effects(&self) -> impl Iterator<Item = (&EffectId, &EffectView)> {
        let is_unknown =
            |call: &EffectView| call.is_sent && call.class == EffectClass::Once && call.outcome.is_none();
        self.effects.iter().filter(move |(_, call)| is_unknown(call))
    }

    /// Applies the start or the end of a call.
    pub(super) fn act(&mut self, event: &Event) {
        if let EventKind::EffectStarted { effect, tool, class, arguments, sent } = &event.kind {
            let (tool, class, arguments) = (tool.clone(), *class, arguments.clone());
            let (seq, outcome, took_ms) = (event.seq, None, 0);
            let started = EffectView { seq, tool, class, arguments, is_sent: *sent, outcome, took_ms };
            self.effects.insert(effect.clone(), started);
        } else if let EventKind::EffectSettled { effect, outcome, took_ms } = &event.kind
            && let Some(effect) = self.effects.get_mut(effect)
        {
            (effect.outcome, effect.took_ms) = (Some(outcome.clone()), *took_ms);
        }
    }
}
