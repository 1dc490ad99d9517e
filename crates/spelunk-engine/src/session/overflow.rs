//! Halves a conversation that exceeds its model's window and retries, once per question. The failure is recorded, so
//! that a resumed run halves in the same places.

use spelunk_types::{ErrorCode, Explain};

use crate::transcript::Transcript;
use crate::{Frame, FrameError};

/// Whether the call failed because the prompt was too long, and the conversation was shortened.
pub(crate) async fn halved(
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

/// Like [`halved`], for a summary: also halves if the summary is empty, since the conversation is too long without
/// one.
pub(crate) async fn halved_unsummed(
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
