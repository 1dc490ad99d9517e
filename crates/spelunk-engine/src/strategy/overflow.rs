//! A conversation that turned out longer than its model's window is halved and asked again, once for each question. The
//! failure is on record, so that a resumed run halves in the same places.

use spelunk_types::{ErrorCode, Explain};

use crate::transcript::Transcript;
use crate::{Frame, FrameError};

/// Whether the question failed because it was too long, and the conversation is shorter now.
pub(super) async fn halved(
    frame: &Frame,
    transcript: &mut Transcript,
    error: &FrameError,
) -> Result<bool, FrameError> {
    if !has_failed_by(error, ErrorCode::ModelPromptTooLong) || !transcript.halve() {
        return Ok(false);
    }
    let message = "the conversation was longer than the model's window: its older half was left out";
    let hint = "set `context_tokens` of the model, or lower `limits.transcript_tokens_max`";
    frame.warn(message.to_owned(), hint.to_owned()).await?;
    Ok(true)
}

/// The same for a summary that was asked for: an empty one stands in for nothing, and the conversation is too long without.
pub(super) async fn halved_unsummed(
    frame: &Frame,
    transcript: &mut Transcript,
    error: &FrameError,
) -> Result<bool, FrameError> {
    if !has_failed_by(error, ErrorCode::ModelReplyEmpty) {
        return halved(frame, transcript, error).await;
    }
    if !transcript.halve() {
        return Ok(false);
    }
    let message = "the model gave no summary of the conversation: its older half was left out";
    let hint = "raise `limits.root_output_tokens_max`, or name another model with `--model`";
    frame.warn(message.to_owned(), hint.to_owned()).await?;
    Ok(true)
}

fn has_failed_by(error: &FrameError, code: ErrorCode) -> bool {
    matches!(error, FrameError::Call { .. }) && error.code() == code
}
