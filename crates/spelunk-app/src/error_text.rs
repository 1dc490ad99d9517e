//! Errors as the user sees them: on the terminal, as JSON, and as the exit code. The only place that formats errors.

use std::error::Error;

use serde_json::json;
use spelunk_types::{Blame, ErrorCode, Explain};

const CAUSES_MAX: usize = 16;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    Plain,
    Colored,
}

impl Paint {
    /// The text in a terminal style: `1;31` is bold red.
    pub fn apply(self, style: &str, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Colored => format!("\u{1b}[{style}m{text}\u{1b}[0m"),
        }
    }
}

/// The error for a terminal: what could not be done, its causes, and the next step. Ends with a newline.
pub fn error_text(error: &dyn Explain, paint: Paint) -> String {
    let mut text = format!("{} {}\n", paint.apply("1;31", "error:"), message(error));
    for cause in causes(error) {
        text += &format!("  caused by: {cause}\n");
    }
    if let Some(hint) = error.hint() {
        text += &format!("\n{} {}\n", paint.apply("1;36", "hint:"), one_line(&hint));
    }
    text
}

/// The error as JSON: `{"code", "message", "causes", "hint"}`; the hint is null if there is none.
pub fn error_json(error: &dyn Explain) -> serde_json::Value {
    json!({
        "code": error.code().name(),
        "message": error.to_string(),
        "causes": causes(error),
        "hint": error.hint(),
    })
}

/// The exit code for this error: 2 for wrong usage or settings, 3 for a limit, 130 for a run the user stopped, 1 for
/// everything else.
pub fn exit_code(code: ErrorCode) -> u8 {
    let is_usage = [
        ErrorCode::UsageWrong,
        ErrorCode::SettingUnknown,
        ErrorCode::SettingInvalid,
        ErrorCode::ModelNotConfigured,
        ErrorCode::PriceUnknown,
        ErrorCode::WorkspaceUntrusted,
    ];
    if is_usage.contains(&code) {
        2
    } else if code == ErrorCode::Cancelled {
        130
    } else if code.blame() == Blame::Limit {
        3
    } else {
        1
    }
}

/// The causes, outermost first. A cause that only repeats the previous line is skipped.
fn causes(error: &dyn Explain) -> Vec<String> {
    let mut causes: Vec<String> = Vec::new();
    let mut before = one_line(&error.to_string());
    let mut next = error.source();
    while let Some(cause) = next.filter(|_| causes.len() < CAUSES_MAX) {
        let text = one_line(&cause.to_string());
        if text != before {
            causes.push(text.clone());
        }
        before = text;
        next = Error::source(cause);
    }
    causes
}

/// A message about user input may point into it with a caret and then has several lines.
fn message(error: &dyn Explain) -> String {
    let message = error.to_string();
    if error.code() == ErrorCode::UsageWrong {
        message.lines().map(one_line).collect::<Vec<_>>().join("\n")
    } else {
        one_line(&message)
    }
}

/// Text from providers and documents may contain escape sequences, which must not reach the terminal.
fn one_line(text: &str) -> String {
    text.trim_end().chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests;
