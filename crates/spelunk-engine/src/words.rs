//! The words of a question as they are asked: without secrets, unless these are allowed. A question is repeated in the
//! journal, in every report and export and in the files beside them, so what must not be there must not be in it.

use spelunk_context::{ScanOptions, redact};
use spelunk_types::{EventKind, FrameId};

/// What is asked, and what is said about it.
pub(crate) struct Words {
    pub(crate) text: String,
    pub(crate) warning: Option<(FrameId, EventKind)>,
}

impl Words {
    pub(crate) fn of(question: &str, scan: &ScanOptions) -> Self {
        if scan.allow_secrets {
            return Self { text: question.to_owned(), warning: None };
        }
        let (text, redactions) = redact(question);
        let warning = (!redactions.is_empty()).then(|| {
            let message = "the question holds what looks like a secret; it is blacked out".to_owned();
            let hint = "ask without it, or with `--allow-secrets`".to_owned();
            (FrameId::root(), EventKind::WarningRaised { message, hint })
        });
        Self { text: text.into_owned(), warning }
    }
}
