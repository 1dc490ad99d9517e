//! Halves a conversation that exceeds its model's window and retries, once per question. The
//! failure is recorded, so that a resumed run halves at the same points.

use spelunk_model::{Prompt, Reply};
use spelunk_types::{ErrorCode, Explain};

use crate::transcript::Transcript;
use crate::{Frame, FrameError, Result};

/// Calls the model; if the prompt is too long, calls it again with half of the conversation.
pub(crate) async fn ask(
    frame: &Frame,
    transcript: &mut Transcript,
    prompt: impl Fn(&Transcript) -> Prompt,
) -> Result<Reply> {
    match frame.ask(prompt(transcript)).await {
        Err(error) if halved(frame, transcript, &error).await? => frame.ask(prompt(transcript)).await,
        asked => asked,
    }
}

/// Replaces older turns by the summary that this prompt requests. If there is no reply or the
/// prompt is too long, drops the older half.
pub(crate) async fn compact(frame: &Frame, transcript: &mut Transcript, asking: Prompt) -> Result<()> {
    let error = match frame.ask(asking).await {
        Ok(summary) => {
            transcript.compact(&summary.text);
            return Ok(());
        }
        Err(error) => error,
    };
    let is_shorter = if has_failed_by(&error, ErrorCode::ModelReplyEmpty) {
        let message = "the model gave no summary of the conversation, so its older half was dropped";
        let hint = "raise `limits.root_output_tokens_max`, or choose another model with `--model`";
        halve(frame, transcript, message, hint).await?
    } else {
        halved(frame, transcript, &error).await?
    };
    if is_shorter { Ok(()) } else { Err(error) }
}

/// Whether the call failed because the prompt was too long, and the conversation was shortened.
pub(crate) async fn halved(frame: &Frame, transcript: &mut Transcript, error: &FrameError) -> Result<bool> {
    if !has_failed_by(error, ErrorCode::ModelPromptTooLong) {
        return Ok(false);
    }
    let message = "the conversation exceeded the model's context window, so its older half was dropped";
    let hint = "set `context_tokens` of the model, or lower `limits.transcript_tokens_max`";
    halve(frame, transcript, message, hint).await
}

async fn halve(frame: &Frame, transcript: &mut Transcript, message: &str, hint: &str) -> Result<bool> {
    let is_shorter = transcript.halve();
    if is_shorter {
        frame.warn(message.to_owned(), hint.to_owned()).await?;
    }
    Ok(is_shorter)
}

fn has_failed_by(error: &FrameError, code: ErrorCode) -> bool {
    matches!(error, FrameError::Call { .. }) && error.code() == code
}
