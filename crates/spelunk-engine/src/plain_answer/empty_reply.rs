//! Empty replies. As the answer, an empty reply is an error; as an intermediate step, it is
//! skipped. The failure is recorded, so that a resumed run takes the same path.

use spelunk_model::Reply;
use spelunk_types::ErrorCode;

use crate::FrameError;

/// The reply; `None` if it was empty.
pub(crate) fn said(asked: Result<Reply, FrameError>) -> Result<Option<Reply>, FrameError> {
    match asked {
        Ok(reply) => Ok(Some(reply).filter(|reply| !reply.is_empty())),
        Err(FrameError::Call { code: ErrorCode::ModelReplyEmpty, .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
