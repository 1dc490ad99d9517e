//! The guarantees of the journal, on the faulty in-memory disk and on the real one.
#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests fail by panicking and play with files"
)]

mod disk;
mod journal;
mod pack;
mod workspace;

use spelunk_types::{
    EventKind, FrameId, JOURNAL_FORMAT, Limits, ModelRef, RunId, RunOutcome, Strategy, Text,
};

fn run() -> RunId {
    RunId::new(1_787_400_000_000, 0x3f9a_2b1c)
}

fn inline(text: &str) -> Text {
    Text::Inline { text: text.into() }
}

fn started() -> EventKind {
    EventKind::RunStarted {
        format: JOURNAL_FORMAT,
        engine: "0.1.0".into(),
        interpreter: 0,
        question: inline("why?"),
        strategy: Strategy::Direct,
        sources: Vec::new(),
        scan: Box::default(),
        model: ModelRef {
            provider: "openai".into(),
            name: "m".into(),
            base_url: "http://127.0.0.1:1/v1".into(),
        },
        sub_model: None,
        other_models: None,
        schema: None,
        turn: None,
        tools: None,
        focus: spelunk_types::Focus::General,
        corpus_digest: spelunk_journal::digest(b"corpus"),
        corpus: None,
        settings_digest: spelunk_journal::digest(b"settings"),
        limits: Box::new(Limits::default()),
    }
}

fn warned(message: &str) -> EventKind {
    EventKind::WarningRaised { message: message.into(), hint: String::new() }
}

fn finished() -> EventKind {
    EventKind::RunFinished { outcome: RunOutcome::Answered }
}

fn at_root(kind: EventKind) -> (FrameId, EventKind) {
    (FrameId::root(), kind)
}
