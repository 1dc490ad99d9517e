//! The question with secrets masked, unless they are allowed. A question is repeated in the journal, in every report
//! and export and in the files next to them, so it must not contain secrets.

use spelunk_context::{ScanOptions, redact};
use spelunk_types::{EventKind, FrameId};

/// The masked question, and a warning if anything was masked.
pub(crate) struct MaskedQuestion {
    pub(crate) text: String,
    pub(crate) warning: Option<(FrameId, EventKind)>,
}

impl MaskedQuestion {
    pub(crate) fn of(question: &str, scan: &ScanOptions) -> Self {
        if scan.allow_secrets {
            return Self { text: question.to_owned(), warning: None };
        }
        let (text, redactions) = redact(question);
        let warning = (!redactions.is_empty()).then(|| {
            let message = "the question contains a possible secret, which was redacted".to_owned();
            let hint = "ask without it, or with `--allow-secrets`".to_owned();
            (FrameId::root(), EventKind::WarningRaised { message, hint })
        });
        Self { text: text.into_owned(), warning }
    }
}
