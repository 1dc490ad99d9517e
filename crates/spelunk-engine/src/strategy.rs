//! Strategies: how a frame answers. A closed set and one function each; this is the whole dispatch.

mod direct;
mod repl;

pub use repl::{ConsoleCell, console};
use spelunk_types::{BlobId, ErrorCode, Strategy};

use crate::{Answer, Frame, FrameError, Task};

/// Runs the task's strategy in this frame.
pub(crate) async fn solve(frame: Frame, task: Task) -> Result<Answer, FrameError> {
    match task.strategy {
        Strategy::Direct => direct::solve(&frame, &task).await,
        Strategy::Repl => repl::solve(&frame, &task).await,
        Strategy::Program => match frame.program() {
            Some(program) => program(frame.clone(), task).await,
            None => {
                let message = "this run has no program".to_owned();
                Err(FrameError::Refused { frame: frame.id().clone(), code: ErrorCode::Bug, message })
            }
        },
    }
}

/// The digest of all prompts: a run cannot go on under prompts it was not started with.
pub(crate) fn prompts_digest() -> BlobId {
    spelunk_journal::digest([direct::PROMPTS.concat(), repl::PROMPTS.concat()].concat().as_bytes())
}
