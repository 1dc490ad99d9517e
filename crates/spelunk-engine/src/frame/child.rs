//! Child frames: opening one within the limits on depth, number and time.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::BoxFuture;
use spelunk_types::{ErrorCode, EventKind, Explain, FrameId, FrameOutcome};

use super::Frame;
use super::failure::durable;
use crate::{Answer, FrameError, Result, Task};

/// Whether opening a child counts against the depth and child limits.
#[derive(Debug, Clone, Copy)]
enum Door {
    /// Depth, number and time are limited, because code may ask for anything.
    Counted,
    /// The plan determines the number of children.
    Planned,
}

impl Frame {
    /// Solves a sub-task in a child frame.
    pub fn descend(&self, task: Task) -> BoxFuture<'static, Result<Answer>> {
        self.open_child(task, Door::Counted)
    }

    /// Runs planned work in a child frame, exempt from the limits on depth, number of children and time.
    pub(crate) fn delegate(&self, task: Task) -> BoxFuture<'static, Result<Answer>> {
        self.open_child(task, Door::Planned)
    }

    fn open_child(&self, task: Task, door: Door) -> BoxFuture<'static, Result<Answer>> {
        let idx = self.shared.counters.children.fetch_add(1, Ordering::Relaxed);
        let child = self.id().child(idx);
        let past = self.move_past_failures();
        let frame = self.clone();
        Box::pin(async move {
            durable(past).await?;
            let run = Arc::clone(&frame.shared.run);
            let solving = Self::asking(run, child.clone(), task.model.clone()).solve(task);
            let answer = match door {
                Door::Planned => solving.await,
                Door::Counted => {
                    frame.check_may_open(idx)?;
                    frame.bound_child(&child, solving).await
                }
            };
            answer.map_err(|error| frame.remember_child(child, error))
        })
    }

    /// A child that takes longer than `frame_ms_max` fails; its parent may continue.
    async fn bound_child(
        &self,
        child: &FrameId,
        solving: impl Future<Output = Result<Answer>>,
    ) -> Result<Answer> {
        let frame_ms_max = self.limits().frame_ms_max;
        match tokio::time::timeout(Duration::from_millis(frame_ms_max), solving).await {
            Ok(answer) => answer,
            Err(_) => {
                let message = format!("`limits.frame_ms_max` is {frame_ms_max}");
                Err(FrameError::Child { frame: child.clone(), code: ErrorCode::TimeExhausted, message })
            }
        }
    }

    fn check_may_open(&self, idx: u32) -> Result<()> {
        let (depth, limits) = (self.id().depth(), self.limits());
        let children_max = match depth {
            0 => limits.children_depth0_max,
            1 => limits.children_depth1_max,
            2 => limits.children_depth2_max,
            _ => 1,
        };
        let (code, message) = if u64::from(depth) >= limits.depth_max {
            (ErrorCode::DepthExceeded, format!("`limits.depth_max` is {}", limits.depth_max))
        } else if u64::from(idx) >= children_max {
            // Below the depths with their own limit, a frame may have one child.
            let limit = if depth > 2 {
                "the limit".to_owned()
            } else {
                format!("`limits.children_depth{depth}_max`")
            };
            (ErrorCode::ChildrenExceeded, format!("{limit} is {children_max}"))
        } else {
            return Ok(());
        };
        Err(self.refusal(code, message))
    }

    /// Propagates errors that stop the run and failures that are already recorded; any other error
    /// of a child becomes the child's failure.
    fn remember_child(&self, frame: FrameId, error: FrameError) -> FrameError {
        let is_on_record = matches!(self.run().replay.closed.get(&frame), Some(FrameOutcome::Failed { .. }));
        if matches!(error, FrameError::Stopped(_)) || is_on_record {
            return error;
        }
        let code = error.code();
        let message = match &error {
            // Timed out: the message is already about the child.
            FrameError::Child { frame: of, message, .. } if *of == frame => message.clone(),
            FrameError::Call { .. }
            | FrameError::Child { .. }
            | FrameError::Refused { .. }
            | FrameError::Stopped(_) => error.to_string(),
        };
        let outcome = FrameOutcome::Failed { code, message: message.clone() };
        self.remember(frame.clone(), EventKind::FrameClosed { outcome });
        FrameError::Child { frame, code, message }
    }
}
