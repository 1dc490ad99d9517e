//! Retrieval for the code of a frame.

use std::sync::{Arc, Mutex};

use spelunk_context::View;
use spelunk_index::{IndexError, Mode, Notice, Texts};

use crate::Frame;
use crate::retrieval::{FoundPassage, FoundPassages};
use crate::sync::lock;

/// Code cannot await, so notices are kept until they can be reported.
#[derive(Clone)]
pub(crate) struct FrameRetrieval {
    frame: Frame,
    untold: Arc<Mutex<Vec<Notice>>>,
}

impl FrameRetrieval {
    pub(crate) fn new(frame: &Frame) -> Self {
        Self { frame: frame.clone(), untold: Arc::default() }
    }

    pub(crate) fn find(
        &self,
        view: &View,
        text: &str,
        mode: Mode,
        hits_max: usize,
    ) -> Result<Vec<FoundPassage>, IndexError> {
        let mut show = self.frame.show_indexing();
        let FoundPassages { passages, notices } =
            self.frame.finder().find(view, text, mode, hits_max, &mut Texts::default(), &mut show)?;
        lock(&self.untold).extend(notices);
        Ok(passages)
    }

    /// Takes the pending notices, each reported once.
    pub(crate) fn take_untold(&self) -> Vec<Notice> {
        let mut notices = std::mem::take(&mut *lock(&self.untold));
        notices.dedup();
        notices
    }
}
