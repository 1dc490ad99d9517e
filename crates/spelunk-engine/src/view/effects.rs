//! Calls of external tools, as recorded by the events.

use spelunk_types::{EffectClass, EffectId, EffectOutcome, Event, EventKind, Text};

use super::RunView;

/// A call of an external tool.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct EffectView {
    /// The number of the event that started it, or asked about it.
    pub seq: u64,
    pub tool: String,
    pub class: EffectClass,
    /// A JSON object.
    pub arguments: Text,
    /// Whether it was called.
    pub is_sent: bool,
    /// The user's decision, if anybody was asked.
    pub consent: Option<ConsentView>,
    pub outcome: Option<EffectOutcome>,
    pub took_ms: u64,
}

/// The user's decision about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum ConsentView {
    Asked { at_ms: u64 },
    Decided { is_allowed: bool },
}

impl RunView {
    /// Calls that wait for the user while a process works on the run, with the time of the question.
    pub fn pending_effects(&self) -> impl Iterator<Item = (&EffectId, &EffectView, u64)> {
        self.effects.iter().filter_map(|(effect, call)| match call.consent {
            Some(ConsentView::Asked { at_ms }) => Some((effect, call, at_ms)),
            Some(ConsentView::Decided { .. }) | None => None,
        })
    }

    /// Drops open questions: another process has to ask again.
    pub(super) fn forget_asked(&mut self) {
        self.effects.retain(|_, call| !matches!(call.consent, Some(ConsentView::Asked { .. })));
    }

    /// At-most-once calls whose outcome is unknown.
    pub fn unknown_effects(&self) -> impl Iterator<Item = (&EffectId, &EffectView)> {
        let is_unknown =
            |call: &EffectView| call.is_sent && call.class == EffectClass::Once && call.outcome.is_none();
        self.effects.iter().filter(move |(_, call)| is_unknown(call))
    }

    pub(super) fn act(&mut self, event: &Event) {
        let (seq, outcome, took_ms) = (event.seq, None, 0);
        if let EventKind::EffectAsked { effect, tool, class, arguments } = &event.kind {
            let (tool, class, arguments) = (tool.clone(), *class, arguments.clone());
            let consent = Some(ConsentView::Asked { at_ms: event.at_ms });
            let asked = EffectView { seq, tool, class, arguments, is_sent: false, consent, outcome, took_ms };
            self.effects.insert(effect.clone(), asked);
        } else if let EventKind::EffectDecided { effect, allowed } = &event.kind {
            if let Some(effect) = self.effects.get_mut(effect) {
                effect.consent = Some(ConsentView::Decided { is_allowed: *allowed });
            }
        } else if let EventKind::EffectStarted { effect, tool, class, arguments, sent } = &event.kind {
            let (tool, class, arguments) = (tool.clone(), *class, arguments.clone());
            let consent = self.effects.get(effect).and_then(|asked| asked.consent);
            let started =
                EffectView { seq, tool, class, arguments, is_sent: *sent, consent, outcome, took_ms };
            self.effects.insert(effect.clone(), started);
        } else if let EventKind::EffectSettled { effect, outcome, took_ms } = &event.kind
            && let Some(effect) = self.effects.get_mut(effect)
        {
            (effect.outcome, effect.took_ms) = (Some(outcome.clone()), *took_ms);
        }
    }
}
