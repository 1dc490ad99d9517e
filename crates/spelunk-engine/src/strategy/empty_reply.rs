//! Silence: a model that says nothing at all. Where its words would be the answer, that is an error; where they are a step on
//! the way, the way goes on without them. The failure is on record, so that a resumed run goes the same way.

use spelunk_model::Reply;
use spelunk_types::ErrorCode;

use crate::FrameError;

/// What the model said; none where it said nothing.
pub(super) fn said(asked: Result<Reply, FrameError>) -> Result<Option<Reply>, FrameError> {
    match asked {
        Ok(reply) => Ok(Some(reply).filter(|reply| !reply.is_empty())),
        Err(FrameError::Call { code: ErrorCode::ModelReplyEmpty, .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
