//! Solving a frame: its opening, its strategy and its answer.

use std::sync::Arc;

use futures_util::future::FutureExt;
use spelunk_journal::Blobs;
use spelunk_types::{Durability, EventKind, FrameOutcome};

use super::Frame;
use super::failure::durable;
use crate::{Answer, FrameError, JournalResult, Result, Stop, Task};

impl Frame {
    /// Opens this frame, runs its strategy and closes it with the answer. If the journal has it
    /// closed, returns the recorded outcome.
    pub(crate) async fn solve(self, task: Task) -> Result<Answer> {
        let replay = &self.run().replay;
        let was_opened = replay.was_opened(self.id(), &task);
        if was_opened == Some(false) {
            let what = format!("the task of frame `{}` differs", self.id());
            return Err(Stop::Diverged { what }.into());
        }
        match replay.closed.get(self.id()).filter(|_| was_opened.is_some()) {
            Some(FrameOutcome::Answered { answer, citations, grounding }) => {
                let text = self.run().blobs.text(answer).map_err(Arc::new)?;
                return Ok(Answer { text, citations: citations.clone(), grounding: *grounding });
            }
            Some(FrameOutcome::Failed { code, message }) => {
                let (frame, code, message) = (self.id().clone(), *code, message.clone());
                return Err(FrameError::Child { frame, code, message });
            }
            None => {}
        }
        if was_opened.is_none() {
            self.record_opened(&task).await?;
        }
        let solving = std::panic::AssertUnwindSafe((self.run().solve)(self.clone(), task)).catch_unwind();
        let answer = solving.await.unwrap_or_else(|panic| {
            let message = panic_text(panic.as_ref());
            Err(Stop::Bug { frame: self.id().clone(), message }.into())
        })?;
        durable(self.move_past_failures()).await?;
        self.record_answer(&answer).await?;
        Ok(answer)
    }

    async fn record_opened(&self, task: &Task) -> JournalResult {
        let (question, strategy, view) = (task.question.clone(), task.strategy, task.view.digest());
        let note = task.note.clone();
        let draft = move |blobs: &Blobs| {
            let note = note.map(|note| blobs.keep(&note)).transpose()?;
            Ok(EventKind::FrameOpened { strategy, question: blobs.keep(&question)?, view, note })
        };
        self.record_texts(draft).await
    }

    async fn record_answer(&self, answer: &Answer) -> JournalResult {
        let answer = answer.clone();
        let draft = move |blobs: &Blobs| {
            let Answer { text, citations, grounding } = answer;
            let outcome = FrameOutcome::Answered { answer: blobs.keep_said(&text)?, citations, grounding };
            Ok(EventKind::FrameClosed { outcome })
        };
        self.run().writer.record_draft(self.id(), Durability::Synced, Box::new(draft)).await
    }
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".into())
}
