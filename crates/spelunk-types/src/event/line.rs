//! An event as one readable line, without its time: `call.settled     0#0 replied live tokens=812+64`. `spelunk tail`
//! prints it, and tests compare runs by it.

use std::borrow::Cow;
use std::fmt;

use crate::{CallOutcome, CellOutcome, Event, EventKind, FrameOutcome, Grounding, RunOutcome, Text};

/// The longest value shown in a line; of longer ones, only the size is shown.
const VALUE_BYTES_MAX: usize = 200;

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let frame = &self.frame;
        write!(f, "{:<16} ", self.kind.name())?;
        match &self.kind {
            EventKind::RunStarted { strategy, model, .. } => write!(f, "{strategy} {model}"),
            EventKind::RunResumed { bytes_dropped, again_from, .. } => {
                write!(f, "bytes_dropped={bytes_dropped}")?;
                again_from.map_or(Ok(()), |seq| write!(f, " again_from={seq}"))
            }
            EventKind::RunFinished { outcome } => write!(f, "{outcome}"),
            EventKind::SourceScanned { documents, bytes, skipped, redacted, .. } => {
                write!(f, "documents={documents} bytes={bytes}")?;
                skipped.iter().try_for_each(|(reason, n)| write!(f, " {reason}={n}"))?;
                redacted.iter().try_for_each(|(rule, n)| write!(f, " redacted:{rule}={n}"))
            }
            EventKind::FrameOpened { strategy, .. } => write!(f, "{frame} {strategy}"),
            EventKind::FrameClosed { outcome } => write!(f, "{frame} {outcome}"),
            EventKind::StrategyChosen { strategy, why } => write!(f, "{frame} {strategy}: {why}"),
            EventKind::PassagesChosen { documents, bytes, of_bytes } => {
                write!(f, "{frame} documents={documents} bytes={bytes} of={of_bytes}")
            }
            EventKind::CallStarted { call, .. } => write!(f, "{call}"),
            EventKind::CallRetried { call, attempt, code, .. } => {
                write!(f, "{call} attempt={attempt} {code}")
            }
            EventKind::CallWasted { call, usage } => {
                write!(f, "{call} tokens={}+{}", usage.input_tokens, usage.output_tokens)
            }
            EventKind::CallSettled { call, outcome: CallOutcome::Replied { usage, .. }, served } => {
                write!(f, "{call} replied {served} tokens={}+{}", usage.input_tokens, usage.output_tokens)
            }
            EventKind::CallSettled { call, outcome: CallOutcome::Failed { code, .. }, .. } => {
                write!(f, "{call} failed {code}")
            }
            EventKind::CellRan { cell, outcome, calls, .. } => {
                write!(f, "{frame} cell={cell} {outcome} calls={calls}")
            }
            EventKind::DeskLaid { files, .. } => write!(f, "{frame} files={}", files.len()),
            EventKind::ToolRan { tool, name, failed, files, .. } => {
                let how = if *failed { "refused" } else { "done" };
                write!(f, "{frame} tool={tool} {name} {how}")?;
                files.iter().try_for_each(|file| write!(f, " {file}"))
            }
            EventKind::EffectAsked { effect, tool, .. } => write!(f, "{effect} {tool}"),
            EventKind::EffectDecided { effect, allowed } => {
                write!(f, "{effect} {}", if *allowed { "allowed" } else { "denied" })
            }
            EventKind::EffectStarted { effect, tool, class, .. } => write!(f, "{effect} {tool} {class}"),
            EventKind::EffectSettled { effect, outcome, .. } => write!(f, "{effect} {outcome}"),
            EventKind::QuestionAdded { .. } => write!(f, "{frame}"),
            EventKind::ValueObserved { what, value, .. } => write!(f, "{frame} {what} {}", shown(value)),
            EventKind::TasksPlanned { tasks, documents, by_type } => {
                write!(f, "{frame} tasks={tasks} documents={documents}")?;
                by_type.iter().try_for_each(|(name, n)| write!(f, " {name}={n}"))
            }
            EventKind::FindingsRecalled { units, .. } => write!(f, "{frame} units={units}"),
            EventKind::TaskReported { task, of, label, relevant, findings, confidence } => {
                let relevant = if *relevant { "relevant" } else { "not relevant" };
                write!(f, "{frame} {task}/{of} {relevant} {label:?}")?;
                findings.iter().try_for_each(|(severity, n)| write!(f, " {severity}={n}"))?;
                confidence.map_or(Ok(()), |confidence| write!(f, " confidence={:.2}", confidence.mean))
            }
            EventKind::CitationChecked { citation, found } => {
                write!(f, "{frame} {found} {}", citation.place())
            }
            EventKind::LimitReached { limit, value } => write!(f, "{limit}={value}"),
            EventKind::WarningRaised { message, .. } => write!(f, "{frame} {message:?}"),
            EventKind::CallStreamed { call, text } => write!(f, "{call} bytes={}", text.len()),
            EventKind::ProgressTicked { what, done, total, .. } => write!(f, "{what} {done} of {total}"),
        }
    }
}

/// A value, or its size if it is long.
fn shown(value: &Text) -> Cow<'_, str> {
    match value {
        Text::Inline { text } if text.len() <= VALUE_BYTES_MAX => Cow::Borrowed(text),
        Text::Inline { text } => Cow::Owned(format!("bytes={}", text.len())),
        Text::Blob { bytes, .. } => Cow::Owned(format!("bytes={bytes}")),
    }
}

impl fmt::Display for CellOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Printed => f.write_str("printed"),
            Self::Raised { kind, .. } => write!(f, "raised {kind}"),
            Self::Limited { kind, .. } => write!(f, "stopped {kind}"),
            Self::Answered => f.write_str("answered"),
        }
    }
}

impl fmt::Display for FrameOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered { grounding: Grounding::Cited, citations, .. } => {
                write!(f, "answered cited={}", citations.len())
            }
            Self::Answered { grounding: grounding @ (Grounding::Computed | Grounding::Uncited), .. } => {
                write!(f, "answered {}", grounding.name())
            }
            Self::Answered { grounding: Grounding::Partial { stopped_by }, .. } => {
                write!(f, "answered partial {stopped_by}")
            }
            Self::Failed { code, .. } => write!(f, "failed {code}"),
        }
    }
}

impl fmt::Display for RunOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered => f.write_str("answered"),
            Self::Partial { stopped_by } => write!(f, "partial {stopped_by}"),
            Self::Failed { code, .. } => write!(f, "failed {code}"),
            Self::Cancelled => f.write_str("cancelled"),
        }
    }
}
