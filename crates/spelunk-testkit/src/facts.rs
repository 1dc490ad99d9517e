//! Facts: events as one readable line each, without times and addresses, to compare runs and to write down in golden
//! trajectories.

use spelunk_types::{CallOutcome, Citation, Event, EventKind, Found, FrameOutcome, Grounding, RunOutcome, Served};

/// One line for an event; `None` for what is never written down.
pub fn fact(event: &Event) -> Option<String> {
    let frame = &event.frame;
    let name = event.kind.name();
    let rest = match &event.kind {
        EventKind::RunStarted { strategy, model, .. } => format!("{strategy} {model}"),
        EventKind::RunResumed { bytes_dropped, .. } => format!("bytes_dropped={bytes_dropped}"),
        EventKind::RunFinished { outcome } => run_outcome(outcome),
        EventKind::SourceScanned { documents, bytes, skipped, .. } => {
            let skipped: String = skipped.iter().map(|(reason, n)| format!(" {reason}={n}")).collect();
            format!("documents={documents} bytes={bytes}{skipped}")
        }
        EventKind::FrameOpened { strategy, .. } => format!("{frame} {strategy}"),
        EventKind::FrameClosed { outcome } => format!("{frame} {}", frame_outcome(outcome)),
        EventKind::PassagesChosen { documents, bytes, of_bytes } => {
            format!("{frame} documents={documents} bytes={bytes} of={of_bytes}")
        }
        EventKind::CallStarted { call, .. } => call.to_string(),
        EventKind::CallRetried { call, attempt, code, .. } => format!("{call} attempt={attempt} {code}"),
        EventKind::CallSettled { call, outcome, served } => format!("{call} {}", call_outcome(outcome, *served)),
        EventKind::CitationChecked { citation: Citation { document, line, .. }, found } => {
            let found = match found {
                Found::Exact => "exact",
                Found::Moved => "moved",
                Found::Missing => "missing",
            };
            format!("{frame} {found} {document}:{line}")
        }
        EventKind::LimitReached { limit, value } => format!("{limit}={value}"),
        EventKind::WarningRaised { message, .. } => format!("{frame} {message:?}"),
        EventKind::CallStreamed { .. } | EventKind::ProgressTicked { .. } => return None,
    };
    Some(format!("{name:<16} {rest}"))
}

/// All events, a line each.
pub fn facts<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<String> {
    events.into_iter().filter_map(fact).collect()
}

fn call_outcome(outcome: &CallOutcome, served: Served) -> String {
    match outcome {
        CallOutcome::Replied { usage, .. } => {
            let served = match served {
                Served::Live => "live",
                Served::Cache => "cache",
            };
            format!("replied {served} tokens={}+{}", usage.input_tokens, usage.output_tokens)
        }
        CallOutcome::Failed { code, .. } => format!("failed {code}"),
    }
}

fn frame_outcome(outcome: &FrameOutcome) -> String {
    match outcome {
        FrameOutcome::Answered { grounding: Grounding::Cited, citations, .. } => {
            format!("answered cited={}", citations.len())
        }
        FrameOutcome::Answered { grounding: Grounding::Uncited, .. } => "answered uncited".to_owned(),
        FrameOutcome::Answered { grounding: Grounding::Partial { stopped_by }, .. } => {
            format!("answered partial {stopped_by}")
        }
        FrameOutcome::Failed { code, .. } => format!("failed {code}"),
    }
}

fn run_outcome(outcome: &RunOutcome) -> String {
    match outcome {
        RunOutcome::Answered => "answered".to_owned(),
        RunOutcome::Partial { stopped_by } => format!("partial {stopped_by}"),
        RunOutcome::Failed { code, .. } => format!("failed {code}"),
        RunOutcome::Cancelled => "cancelled".to_owned(),
    }
}
