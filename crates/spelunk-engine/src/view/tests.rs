//! The fold: total over anything a journal may contain, the same at once or step by step, and exact about time and
//! money.

use proptest::prelude::*;
use proptest::strategy::Strategy as Generate;
use spelunk_types::{BlobId, CallOutcome, Durability, ErrorCode, RunId, StopReason, Strategy};

use super::*;

fn event(seq: u64, at_ms: u64, kind: EventKind) -> Event {
    Event { seq, at_ms, frame: FrameId::root(), kind }
}

fn started() -> EventKind {
    EventKind::RunStarted {
        format: 1,
        engine: "test".into(),
        interpreter: 0,
        question: text("Which number?"),
        strategy: Strategy::Direct,
        sources: Vec::new(),
        scan: Box::default(),
        model: ModelRef { provider: "openai".into(), name: "scripted".into(), base_url: "http://x".into() },
        sub_model: None,
        other_models: None,
        schema: None,
        turn: None,
        tools: None,
        focus: spelunk_types::Focus::General,
        corpus_digest: BlobId::from_hash([1; 32]),
        corpus: None,
        settings_digest: BlobId::from_hash([2; 32]),
        limits: Box::default(),
    }
}

fn text(text: &str) -> Text {
    Text::Inline { text: text.to_owned() }
}

/// As an older engine wrote it: without a reservation.
fn call_started(call: &str) -> EventKind {
    call_sent(call, None)
}

fn call_sent(call: &str, reserved: Option<Usage>) -> EventKind {
    let (call, prompt) = (call.parse().unwrap(), BlobId::from_hash([3; 32]));
    EventKind::CallStarted { call, model: "m".into(), prompt, text: text("{}"), reserved }
}

fn call_retried(call: &str) -> EventKind {
    let (call, code) = (call.parse().unwrap(), ErrorCode::ModelOverloaded);
    EventKind::CallRetried { call, attempt: 1, code, wait_ms: 1 }
}

fn in_a_row(kinds: impl IntoIterator<Item = EventKind>) -> Vec<Event> {
    (1..).zip(kinds).map(|(seq, kind)| event(seq, seq, kind)).collect()
}

fn replied(call: &str, usage: Usage, served: Served) -> EventKind {
    let outcome = CallOutcome::Replied {
        reply: text("yes"),
        stop: StopReason::Finished,
        usage,
        tool_calls: None,
        certainty_permille: None,
    };
    EventKind::CallSettled { call: call.parse().unwrap(), outcome, served }
}

fn fold(events: &[Event]) -> RunView {
    let mut view = RunView::default();
    for event in events {
        view.apply(event);
    }
    view
}

#[test]
fn time_between_two_processes_is_not_active() {
    let ended = |code| EventKind::RunFinished { outcome: RunOutcome::Partial { stopped_by: code } };
    let resumed = |from_seq| EventKind::RunResumed { from_seq, bytes_dropped: 0, again_from: None };
    let events = [
        event(1, 1_000, started()),
        event(2, 1_400, ended(ErrorCode::CallsExhausted)),
        // An hour's pause.
        event(3, 3_601_400, resumed(2)),
        event(4, 3_601_500, call_started("0#0")),
        // A crash, and another pause.
        event(5, 9_000_000, resumed(4)),
        event(6, 9_000_020, ended(ErrorCode::TimeExhausted)),
    ];
    let active: Vec<u64> = (1..=6).map(|n_events| fold(&events[..n_events]).active_ms()).collect();
    assert_eq!(active, [0, 400, 400, 500, 500, 520]);
    assert_eq!(fold(&events).n_resumed, 2);
    assert_eq!(fold(&events[..3]).outcome, None);
    assert_eq!(fold(&events).started_at_ms, 1_000);
}

#[test]
fn a_clock_that_went_back_takes_no_time_away() {
    let resumed = EventKind::RunResumed { from_seq: 2, bytes_dropped: 0, again_from: None };
    let events = [
        event(1, 1_000, started()),
        event(2, 1_300, call_started("0#0")),
        event(3, 50, resumed),
        event(4, 60, call_started("0#1")),
    ];
    assert_eq!(fold(&events).active_ms(), 310);
}

#[test]
fn a_call_is_paid_once_and_only_if_it_was_sent() {
    let usage = Usage {
        input_tokens: 10,
        cached_tokens: 0,
        cache_written_tokens: 0,
        output_tokens: 5,
        cost_microusd: 15,
    };
    let failed = CallOutcome::Failed { code: ErrorCode::ModelRequestRefused, message: "no".into() };
    let failed =
        EventKind::CallSettled { call: "0#2".parse().unwrap(), outcome: failed, served: Served::Live };
    let kinds = [
        started(),
        call_started("0#0"),
        call_started("0#1"),
        call_started("0#2"),
        call_started("0#3"),
        replied("0#0", usage, Served::Live),
        replied("0#0", usage, Served::Live),
        replied("0#1", Usage::default(), Served::Cache),
        failed,
        replied("0#9", usage, Served::Live),
    ];
    let view = fold(&in_a_row(kinds));
    assert_eq!((view.spent, view.n_paid_calls(), view.n_cached_calls()), (usage, 2, 1));
    assert_eq!(view.calls.values().filter(|call| call.state == CallState::Open).count(), 1);
}

#[test]
fn every_request_that_was_sent_counts_as_a_call() {
    let usage = Usage { input_tokens: 10, ..Usage::default() };
    let sent = |call| call_sent(call, Some(usage));
    let refused = CallOutcome::Failed { code: ErrorCode::CallsExhausted, message: "no".into() };
    let refused = |call: &str| EventKind::CallSettled {
        call: call.parse().unwrap(),
        outcome: refused.clone(),
        served: Served::Live,
    };
    let resumed = EventKind::RunResumed { from_seq: 1, bytes_dropped: 0, again_from: None };
    let n_of = |kinds: Vec<EventKind>| fold(&in_a_row(kinds)).n_paid_calls();
    assert_eq!(n_of(vec![sent("0#0")]), 1, "on its way");
    assert_eq!(n_of(vec![sent("0#0"), replied("0#0", usage, Served::Live)]), 1);
    assert_eq!(n_of(vec![sent("0#0"), call_retried("0#0"), replied("0#0", usage, Served::Live)]), 2);
    assert_eq!(n_of(vec![sent("0#0"), call_retried("0#0"), refused("0#0")]), 2, "no money for a third");
    assert_eq!(n_of(vec![call_started("0#0"), refused("0#0")]), 0, "no money for the first");
    assert_eq!(n_of(vec![call_started("0#0"), replied("0#0", usage, Served::Cache)]), 0);
    let cached_later = vec![sent("0#0"), resumed.clone(), replied("0#0", usage, Served::Cache)];
    assert_eq!(n_of(cached_later), 1, "the first one was lost");
    let sent_again = vec![sent("0#0"), resumed, sent("0#0"), replied("0#0", usage, Served::Live)];
    assert_eq!(n_of(sent_again), 2);
    // As older engines wrote it.
    let older = vec![call_started("0#0"), call_retried("0#0"), replied("0#0", usage, Served::Live)];
    assert_eq!(n_of(older), 1);
}

#[test]
fn a_request_without_an_end_is_unanswered_until_it_is_counted() {
    let usage = Usage { input_tokens: 10, ..Usage::default() };
    let wasted = |call: &str| EventKind::CallWasted { call: call.parse().unwrap(), usage };
    let unanswered = |kinds: Vec<EventKind>| {
        let view = fold(&in_a_row(kinds));
        view.unanswered().map(|(call, usage)| (call.to_string(), usage)).collect::<Vec<_>>()
    };
    let (sent, lost) = (call_sent("0#0", Some(usage)), vec![("0#0".to_owned(), usage)]);
    assert_eq!(unanswered(vec![sent.clone()]), lost);
    assert_eq!(unanswered(vec![sent.clone(), wasted("0#0")]), []);
    assert_eq!(unanswered(vec![sent.clone(), wasted("0#0"), call_retried("0#0")]), lost);
    assert_eq!(unanswered(vec![sent.clone(), wasted("0#0"), sent.clone()]), lost, "a second crash");
    assert_eq!(unanswered(vec![sent.clone(), replied("0#0", usage, Served::Live)]), []);
    let finished = EventKind::RunFinished { outcome: RunOutcome::Cancelled };
    assert_eq!(unanswered(vec![sent, finished]), [], "what was given up was counted then");
    assert_eq!(unanswered(vec![call_started("0#0")]), [], "older engines did not say what was set aside");
}

fn frame() -> impl Generate<Value = FrameId> {
    prop_oneof![Just("0"), Just("0.0"), Just("0.1"), Just("0.1.0")].prop_map(|frame| frame.parse().unwrap())
}

fn call() -> impl Generate<Value = CallId> {
    (frame(), 0..3u32).prop_map(|(frame, ordinal)| CallId { frame, ordinal })
}

/// Small numbers, and those at which sums overflow.
fn number() -> impl Generate<Value = u64> {
    prop_oneof![0..100u64, Just(u64::MAX - 1), Just(u64::MAX)]
}

fn usage() -> impl Generate<Value = Usage> {
    let fields = (number(), number(), number(), number());
    fields.prop_map(|(input_tokens, cached_tokens, output_tokens, cost_microusd)| Usage {
        input_tokens,
        cached_tokens,
        cache_written_tokens: 0,
        output_tokens,
        cost_microusd,
    })
}

fn call_kind() -> impl Generate<Value = EventKind> {
    let failed = |code| CallOutcome::Failed { code, message: "no".into() };
    prop_oneof![
        call().prop_map(|call| call_started(&call.to_string())),
        (call(), usage()).prop_map(|(call, usage)| call_sent(&call.to_string(), Some(usage))),
        (call(), any::<u32>(), number()).prop_map(|(call, attempt, wait_ms)| {
            EventKind::CallRetried { call, attempt, code: ErrorCode::ModelOverloaded, wait_ms }
        }),
        (call(), usage()).prop_map(|(call, usage)| EventKind::CallWasted { call, usage }),
        (call(), usage()).prop_map(|(call, usage)| replied(&call.to_string(), usage, Served::Live)),
        call().prop_map(|call| replied(&call.to_string(), Usage::default(), Served::Cache)),
        call().prop_map(move |call| {
            let outcome = failed(ErrorCode::ModelTimedOut);
            EventKind::CallSettled { call, outcome, served: Served::Live }
        }),
        call().prop_map(|call| EventKind::CallStreamed { call, text: "piece".into() }),
    ]
}

fn frame_kind() -> impl Generate<Value = EventKind> {
    let answered =
        |grounding| FrameOutcome::Answered { answer: text("42"), citations: Vec::new(), grounding };
    let citation = || Citation { document: "a.md".into(), line: 1, quote: "42".into() };
    let view = BlobId::from_hash([4; 32]);
    prop_oneof![
        Just(EventKind::FrameOpened {
            strategy: Strategy::Program,
            question: text("Why?"),
            view,
            note: None
        }),
        Just(EventKind::FrameClosed { outcome: answered(Grounding::Uncited) }),
        Just(EventKind::FrameClosed {
            outcome: FrameOutcome::Failed { code: ErrorCode::Bug, message: "broke".into() }
        }),
        (number(), number(), number()).prop_map(|(documents, bytes, of_bytes)| EventKind::PassagesChosen {
            documents,
            bytes,
            of_bytes
        }),
        Just(EventKind::CitationChecked { citation: citation(), found: Found::Moved }),
        Just(EventKind::WarningRaised { message: "careful".into(), hint: "look".into() }),
    ]
}

fn run_kind() -> impl Generate<Value = EventKind> {
    let skipped = |n| BTreeMap::from([("binary".to_owned(), n)]);
    prop_oneof![
        Just(started()),
        (number(), number(), proptest::option::of(number())).prop_map(
            |(from_seq, bytes_dropped, again_from)| EventKind::RunResumed {
                from_seq,
                bytes_dropped,
                again_from
            }
        ),
        Just(EventKind::RunFinished { outcome: RunOutcome::Answered }),
        Just(EventKind::RunFinished { outcome: RunOutcome::Cancelled }),
        (number(), number(), number()).prop_map(move |(documents, bytes, n)| EventKind::SourceScanned {
            source: RunId::new(0, 0).to_string(),
            documents,
            bytes,
            skipped: skipped(n),
            redacted: BTreeMap::from([("token".to_owned(), n)]),
        }),
        number().prop_map(|value| EventKind::LimitReached { limit: "calls_max".into(), value }),
        (number(), number()).prop_map(|(done, total)| EventKind::ProgressTicked {
            what: "scan".into(),
            done,
            total,
            documents_done: None,
            documents_total: None,
        }),
    ]
}

fn any_event() -> impl Generate<Value = Event> {
    let kind = prop_oneof![3 => call_kind(), 2 => frame_kind(), 2 => run_kind()];
    (number(), number(), frame(), kind).prop_map(|(seq, at_ms, frame, kind)| Event {
        seq,
        at_ms,
        frame,
        kind,
    })
}

/// The cost of settled calls, each counted once and only if it was started before; plus the cost of wasted attempts.
fn paid(events: &[Event]) -> Usage {
    let mut open: BTreeMap<&CallId, bool> = BTreeMap::new();
    let mut paid = Usage::default();
    for event in events {
        if let EventKind::CallStarted { call, .. } = &event.kind {
            open.entry(call).or_insert(true);
        }
        if let EventKind::CallWasted { usage, .. } = &event.kind {
            paid = paid.plus(*usage);
        }
        if let EventKind::CallSettled { call, outcome, .. } = &event.kind {
            let was_open = open.get_mut(call).is_some_and(std::mem::take);
            if let (true, CallOutcome::Replied { usage, .. }) = (was_open, outcome) {
                paid = paid.plus(*usage);
            }
        }
    }
    paid
}

/// The number of requests in the events.
fn n_requests(events: &[Event]) -> u64 {
    // Whether it is open, and whether its requests are recorded.
    let mut calls: BTreeMap<&CallId, (bool, bool)> = BTreeMap::new();
    let mut n_requests = 0;
    for event in events {
        if let EventKind::CallStarted { call, reserved, .. } = &event.kind {
            let (_, is_told) = calls.entry(call).or_insert((true, false));
            *is_told |= reserved.is_some();
            n_requests += u64::from(reserved.is_some());
        }
        if let EventKind::CallRetried { call, .. } = &event.kind {
            n_requests += u64::from(calls.get(call).is_some_and(|(_, is_told)| *is_told));
        }
        if let EventKind::CallSettled { call, served, .. } = &event.kind
            && let Some((is_open, is_told)) = calls.get_mut(call)
        {
            n_requests += u64::from(*is_open && !*is_told && *served == Served::Live);
            *is_open = false;
        }
    }
    n_requests
}

proptest! {
    /// No sequence of events is invalid: every prefix yields a view, and continuing from it is the same as starting
    /// over.
    #[test]
    fn any_events_fold_to_a_view_in_one_go_or_step_by_step(events in proptest::collection::vec(any_event(), 0..60)) {
        let mut step_by_step = RunView::default();
        for (n_events, event) in events.iter().enumerate() {
            prop_assert_eq!(&step_by_step, &fold(&events[..n_events]));
            step_by_step.apply(event);
        }
        let whole = fold(&events);
        prop_assert_eq!(&step_by_step, &whole);
        if events.iter().any(|event| matches!(event.kind, EventKind::RunResumed { again_from: Some(_), .. })) {
            // What replaces something set aside is counted on top.
            prop_assert!(whole.spent.tokens() >= paid(&events).tokens());
        } else {
            prop_assert_eq!((whole.spent, whole.n_paid_calls()), (paid(&events), n_requests(&events)));
        }
        prop_assert_eq!(whole.answer().is_some(), whole.frames.get(&FrameId::root()).is_some_and(|frame| {
            matches!(frame.outcome, Some(FrameOutcome::Answered { .. }))
        }));
        // Time is defined for any prefix, with or without an answer.
        prop_assert!(whole.active_ms() >= fold(&events[..events.len() / 2]).earlier_ms);
    }

    /// Ephemeral events change nothing but the time of the last event.
    #[test]
    fn ephemeral_events_leave_the_state_alone(events in proptest::collection::vec(any_event(), 0..60)) {
        let is_durable = |event: &&Event| event.kind.durability() != Durability::Ephemeral;
        let durable: Vec<Event> = events.iter().filter(is_durable).cloned().collect();
        let (with, without) = (fold(&events), fold(&durable));
        prop_assert_eq!(with.calls, without.calls);
        prop_assert_eq!(with.frames, without.frames);
        prop_assert_eq!(with.spent, without.spent);
        prop_assert_eq!(with.outcome, without.outcome);
    }
}
