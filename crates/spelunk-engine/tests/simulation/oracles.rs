//! Oracles: what must hold for every journal, every crash and every end.

use std::collections::{BTreeMap, BTreeSet};

use spelunk_testkit::{ModelServer, facts};
use spelunk_types::{CallId, CallOutcome, Event, EventKind, FrameId, FrameOutcome, RunOutcome, Text, Usage};

use super::plan::Plan;
use crate::stage::view;

/// How often each call was received that must not be sent again: those settled on a disk that survived, and those of
/// frames that are closed there.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    n_asked: BTreeMap<CallId, u64>,
}

impl Ledger {
    /// Checks what was durable after an earlier crash against the server, and adds what is durable now.
    pub(super) fn check(&mut self, server: &ModelServer, survivors: &[Event]) {
        check_journal(survivors);
        let (settled, closed) = (settled(survivors), closed(survivors));
        for call in view(survivors).calls.keys() {
            if settled.contains(call) || closed.contains_key(&call.frame) {
                let n_asked = server.times_received(&call.to_string());
                let before = *self.n_asked.entry(call.clone()).or_insert(n_asked);
                assert_eq!(n_asked, before, "{call} was asked again after it was durable");
            }
        }
    }
}

/// The journal is complete, matches the one without crashes, and its spending is what the server served.
pub(super) fn check_end(
    plan: &Plan,
    server: &ModelServer,
    ended: &[Event],
    expected: &[Event],
    n_crashes: usize,
) {
    check_journal(ended);
    check_ended(ended);
    assert_eq!(lasting_facts(ended), lasting_facts(expected));
    assert_eq!(answer(ended), answer(expected));
    assert_eq!(server.unexpected(), []);

    let sum = |usages: Vec<Usage>| usages.into_iter().fold(Usage::default(), Usage::plus);
    let spent = sum(replied(ended).into_values().collect());
    assert_eq!(view(ended).spent, spent.plus(sum(wasted(ended))));
    let mut repeats = Usage::default();
    let mut n_repeats = 0;
    for call in &plan.calls {
        for _ in 1..server.times_served(&call.call) {
            n_repeats += 1;
            let (input_tokens, output_tokens) = (call.input_tokens, call.output_tokens);
            repeats = repeats.plus(Usage { input_tokens, output_tokens, ..Usage::default() });
        }
    }
    let sold = server.served_usage();
    assert_eq!(spent.input_tokens, sold.input_tokens - repeats.input_tokens);
    assert_eq!(spent.output_tokens, sold.output_tokens - repeats.output_tokens);
    let is_bounded = n_repeats <= plan.n_parallel * n_crashes as u64 || plan.loses_replies();
    assert!(is_bounded, "{n_repeats} repeats after {n_crashes} crashes");
}

/// Holds for every prefix: sequence numbers are contiguous, and everything starts before it ends and ends once.
fn check_journal(events: &[Event]) {
    let seqs: Vec<u64> = events.iter().map(|event| event.seq).collect();
    assert_eq!(seqs, (1..=events.len() as u64).collect::<Vec<_>>());
    let (mut started, mut started_here, mut settled) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let (mut opened, mut closed) = (BTreeSet::new(), BTreeSet::new());
    for Event { seq, frame, kind, .. } in events {
        match kind {
            EventKind::RunStarted { .. } => assert_eq!(*seq, 1),
            EventKind::CallStarted { call, .. } => {
                assert!(opened.contains(&call.frame), "{call} in a frame that is not open");
                assert!(!settled.contains(call), "{call} started after its end");
                assert!(started_here.insert(call.clone()), "{call} started twice by one process");
                started.insert(call.clone());
            }
            EventKind::CallSettled { call, .. } => {
                assert!(started.contains(call), "{call} settled before it started");
                assert!(settled.insert(call.clone()), "{call} settled twice");
            }
            EventKind::FrameOpened { .. } => assert!(opened.insert(frame.clone()), "{frame} opened twice"),
            EventKind::FrameClosed { .. } => {
                assert!(opened.contains(frame), "{frame} closed before it opened");
                assert!(closed.insert(frame.clone()), "{frame} closed twice");
            }
            EventKind::RunFinished { .. } => {
                let next = events.get(usize::try_from(*seq).unwrap()).map(|event| event.kind.name());
                assert!(matches!(next, None | Some("run.resumed")), "{next:?} after the end");
            }
            EventKind::RunResumed { from_seq, .. } => {
                assert_eq!(*from_seq, seq - 1);
                started_here.clear();
            }
            EventKind::SourceScanned { .. }
            | EventKind::StrategyChosen { .. }
            | EventKind::PassagesChosen { .. }
            | EventKind::CallRetried { .. }
            | EventKind::CallWasted { .. }
            | EventKind::CellRan { .. }
            | EventKind::DeskLaid { .. }
            | EventKind::ToolRan { .. }
            | EventKind::EffectStarted { .. }
            | EventKind::EffectSettled { .. }
            | EventKind::EffectAsked { .. }
            | EventKind::EffectDecided { .. }
            | EventKind::QuestionAdded { .. }
            | EventKind::TasksPlanned { .. }
            | EventKind::FindingsRecalled { .. }
            | EventKind::TaskReported { .. }
            | EventKind::ValueObserved { .. }
            | EventKind::CitationChecked { .. }
            | EventKind::LimitReached { .. }
            | EventKind::WarningRaised { .. } => {}
            EventKind::CallStreamed { .. } | EventKind::ProgressTicked { .. } => {
                panic!("{} is never written", kind.name())
            }
        }
    }
}

/// Holds at the end: the last event says so, and nothing is left open below an answer.
fn check_ended(events: &[Event]) {
    let last = events.last().map(|event| &event.kind);
    let Some(EventKind::RunFinished { outcome }) = last else { panic!("the last event is {last:?}") };
    let closed = closed(events);
    let is_answered = *outcome == RunOutcome::Answered;
    let root = closed.get(&FrameId::root());
    assert_eq!(matches!(root, Some(FrameOutcome::Answered { .. })), is_answered, "{outcome:?}");
    let seen = view(events);
    for frame in seen.frames.keys().filter(|_| is_answered) {
        assert!(closed.contains_key(frame), "{frame} is open below an answer");
    }
    let settled = settled(events);
    // A failed frame reports the failure that ended it; every other call has its own end.
    for call in seen.calls.keys() {
        let is_told_by_frame = !matches!(closed.get(&call.frame), Some(FrameOutcome::Answered { .. }));
        assert!(settled.contains(call) || is_told_by_frame, "{call} is open in an answered frame");
    }
}

fn settled(events: &[Event]) -> BTreeSet<CallId> {
    let of_event = |event: &Event| {
        let EventKind::CallSettled { call, .. } = &event.kind else { return None };
        Some(call.clone())
    };
    events.iter().filter_map(of_event).collect()
}

fn closed(events: &[Event]) -> BTreeMap<FrameId, FrameOutcome> {
    let of_event = |event: &Event| {
        let EventKind::FrameClosed { outcome } = &event.kind else { return None };
        Some((event.frame.clone(), outcome.clone()))
    };
    events.iter().filter_map(of_event).collect()
}

fn replied(events: &[Event]) -> BTreeMap<CallId, Usage> {
    let of_event = |event: &Event| {
        let EventKind::CallSettled { call, outcome, .. } = &event.kind else { return None };
        let CallOutcome::Replied { usage, .. } = outcome else { return None };
        Some((call.clone(), *usage))
    };
    events.iter().filter_map(of_event).collect()
}

/// The charges for attempts without a reply.
fn wasted(events: &[Event]) -> Vec<Usage> {
    let of_event = |event: &Event| {
        let EventKind::CallWasted { usage, .. } = &event.kind else { return None };
        Some(*usage)
    };
    events.iter().filter_map(of_event).collect()
}

fn answer(events: &[Event]) -> Option<Text> {
    view(events).answer().map(|(text, ..)| text.clone())
}

/// Events that must not depend on crashes: attempts, resumptions and reports about them do, and the order of parallel
/// events is arbitrary.
fn lasting_facts(events: &[Event]) -> BTreeSet<String> {
    let is_lasting = |event: &&Event| {
        !matches!(
            event.kind,
            EventKind::RunResumed { .. }
                | EventKind::CallRetried { .. }
                | EventKind::CallWasted { .. }
                | EventKind::WarningRaised { .. }
        )
    };
    facts(events.iter().filter(is_lasting)).into_iter().collect()
}
