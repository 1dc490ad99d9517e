//! The reply: the result of a run, as far as another API can express it.

use axum::http::StatusCode;
use serde_json::{Value, json};
use spelunk_app::error_text::Paint;
use spelunk_app::render::answer::answer_text;
use spelunk_types::{Blame, ErrorCode, Explain, RunId, RunOutcome, Usage};

use super::super::problem::Problem;
use super::question_input::CompatRequest;
use super::wrong::{ApiError, ApiResult};
use crate::mcp::Ended;

/// What is known when a reply starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ReplyHead {
    pub(super) run: RunId,
    pub(super) model: String,
    /// Unix time in seconds.
    pub(super) created_s: u64,
}

/// Why a reply ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Finish {
    /// It is complete.
    Stop,
    /// At a limit, of the client or of the run.
    Length,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reply {
    pub(super) head: ReplyHead,
    pub(super) text: String,
    pub(super) finish: Finish,
    pub(super) usage: Usage,
    /// The run, its outcome and its citations.
    pub(super) own: Value,
}

/// A run that ended without an answer.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
struct NoAnswer {
    code: ErrorCode,
    message: String,
}

impl Explain for NoAnswer {
    fn code(&self) -> ErrorCode {
        self.code
    }
}

impl Reply {
    pub(super) fn of(head: ReplyHead, asked: &CompatRequest, ended: &Ended) -> ApiResult<Self> {
        let Ended { result, view } = ended;
        let Some(answer) = &result.answer else {
            let (code, message) = match &result.outcome {
                RunOutcome::Failed { code, message } => (*code, message.clone()),
                RunOutcome::Partial { stopped_by } => (*stopped_by, stopped_by.meaning().to_owned()),
                RunOutcome::Answered | RunOutcome::Cancelled => {
                    (ErrorCode::Cancelled, "the run was cancelled; it can be resumed".to_owned())
                }
            };
            let message = format!("run {}: {message}", head.run.short());
            let mut problem = Problem::of(&NoAnswer { code, message });
            // The client cannot fix the server's settings.
            if code.blame() == Blame::Settings {
                problem = problem.with_status(StatusCode::BAD_GATEWAY);
            }
            return Err(ApiError { is_final: true, ..ApiError::from(problem) });
        };
        let mut text = if asked.is_typed {
            answer.text.clone()
        } else {
            answer_text(&answer.text, &answer.citations, Paint::Plain).trim_end().to_owned()
        };
        let mut finish = match &result.outcome {
            RunOutcome::Partial { .. } => Finish::Length,
            RunOutcome::Answered | RunOutcome::Failed { .. } | RunOutcome::Cancelled => Finish::Stop,
        };
        let end = asked.answer_chars_max.and_then(|chars_max| text.char_indices().nth(chars_max));
        if let Some((end, _)) = end {
            text.truncate(end);
            finish = Finish::Length;
        }
        let own = json!({ "run": result.run, "outcome": result.outcome, "citations": answer.citations });
        Ok(Self { head, text, finish, usage: view.spent, own })
    }

    /// The text in pieces, for a stream.
    pub(super) fn pieces(&self) -> Vec<String> {
        const PIECE_CHARS: usize = 1_000;
        let chars: Vec<char> = self.text.chars().collect();
        chars.chunks(PIECE_CHARS).map(|piece| piece.iter().collect()).collect()
    }
}

/// An event of a stream with its type.
pub(super) fn event(kind: &str, data: &Value) -> String {
    format!("event: {kind}\ndata: {data}\n\n")
}

/// An event without a type.
pub(super) fn data(data: &Value) -> String {
    format!("data: {data}\n\n")
}

/// A comment line, which clients ignore.
pub(super) fn comment(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!(": {text}\n\n")
}
