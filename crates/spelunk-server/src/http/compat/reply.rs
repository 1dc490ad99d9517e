//! The reply: the result of a run, as far as the other API can express it.

use axum::http::StatusCode;
use serde_json::{Value, json};
use spelunk_app::error_text::Paint;
use spelunk_app::render::answer::answer_text;
use spelunk_app::units::safe;
use spelunk_model::ToolCall;
use spelunk_types::{Blame, Citation, ErrorCode, Explain, RunId, RunOutcome, Usage};

use super::super::Problem;
use super::super::runs::EndedRun;
use super::{ApiError, ApiResult, CompatRequest, MarkedDocument};
use crate::mcp::Ended;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ReplyHead {
    pub(super) run: RunId,
    pub(super) model: String,
    /// Unix time.
    pub(super) created_s: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Finish {
    Stop,
    /// A limit of the client or of the run was reached.
    Length,
    /// The client has to run the called tools.
    Tools,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reply {
    pub(super) head: ReplyHead,
    pub(super) text: String,
    pub(super) finish: Finish,
    pub(super) usage: Usage,
    pub(super) calls: Vec<ToolCall>,
    pub(super) cited: Vec<Value>,
    pub(super) own: Value,
}

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
    pub(super) fn of(head: ReplyHead, asked: &CompatRequest, ended: &EndedRun) -> ApiResult<Self> {
        let EndedRun { ended: Ended { result, view }, said, calls } = ended;
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
        let has_cited = asked.marked.iter().any(|document| document.cited.is_some());
        let mut text = if !calls.is_empty() {
            said.clone()
        } else if asked.is_typed || asked.tools.is_some() {
            answer.text.clone()
        } else if has_cited {
            safe(&answer.text)
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
        let one_call = asked.tools.as_ref().is_some_and(|tools| tools.one_call);
        let calls: Vec<ToolCall> =
            calls.iter().take(if one_call { 1 } else { usize::MAX }).cloned().collect();
        if !calls.is_empty() {
            finish = Finish::Tools;
        }
        let cited =
            answer.citations.iter().filter_map(|citation| char_location(citation, &asked.marked)).collect();
        Ok(Self { head, text, finish, usage: view.spent, calls, cited, own })
    }

    /// Whether there is a text block: always, unless the reply consists of calls only.
    pub(super) fn has_text(&self) -> bool {
        self.calls.is_empty() || !self.text.is_empty()
    }
}

/// The location of a citation in a document that the client sent, in Anthropic's format. If the
/// quote is not found literally (its spaces may differ), the whole line is cited.
fn char_location(citation: &Citation, marked: &[MarkedDocument]) -> Option<Value> {
    let idx = marked.iter().position(|document| document.name == citation.document)?;
    let document = marked.get(idx)?;
    let text = document.cited.as_deref()?;
    let line_idx = usize::try_from(citation.line).ok()?.checked_sub(1)?;
    let line = text.split_inclusive('\n').nth(line_idx)?;
    let line_at: usize = text.split_inclusive('\n').take(line_idx).map(str::len).sum();
    let cited = if line.contains(&citation.quote) { citation.quote.as_str() } else { line.trim() };
    let at = line_at + line.find(cited)?;
    let start = text.get(..at)?.chars().count();
    Some(json!({
        "type": "char_location",
        "cited_text": cited,
        "document_index": idx,
        "document_title": document.title,
        "start_char_index": start,
        "end_char_index": start + cited.chars().count(),
        "file_id": null,
    }))
}

#[derive(Debug, Default)]
pub(super) struct Streamed {
    pub(super) text: String,
    pub(super) n_events: u64,
}

impl Streamed {
    /// The rest of a text to be sent, in pieces. If the text does not continue what was sent, it is sent whole.
    pub(super) fn rest(&self, text: &str) -> Vec<String> {
        const PIECE_CHARS: usize = 1_000;
        let rest = match text.strip_prefix(self.text.as_str()) {
            Some(rest) => rest.to_owned(),
            None => format!("{ANEW}{text}"),
        };
        let chars: Vec<char> = rest.chars().collect();
        chars.chunks(PIECE_CHARS).map(|piece| piece.iter().collect()).collect()
    }
}

/// Sent if the streamed text is not the answer, because the model had to start over.
const ANEW: &str = "\n\n[The model started over. The answer is:]\n\n";

pub(super) fn event(kind: &str, data: &Value) -> String {
    format!("event: {kind}\ndata: {data}\n\n")
}

pub(super) fn data(data: &Value) -> String {
    format!("data: {data}\n\n")
}

pub(super) fn comment(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!(": {text}\n\n")
}
