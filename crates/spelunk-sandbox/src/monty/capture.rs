//! Captures a cell's output: its beginning and its end, in bounded memory.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use monty_types::{MontyException, PrintWriterCallback};

use crate::Output;

/// The output of the running cell. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Capture(Arc<Mutex<Printed>>);

impl Capture {
    pub(super) fn new(chars_max: u64) -> Self {
        Self(Arc::new(Mutex::new(Printed::new(chars_max))))
    }

    pub(super) fn reset(&self, chars_max: u64) {
        *self.printed() = Printed::new(chars_max);
    }

    pub(crate) fn finish(&self) -> Output {
        std::mem::take(&mut *self.printed()).finish()
    }

    fn printed(&self) -> MutexGuard<'_, Printed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Default)]
struct Printed {
    chars_max: u64,
    head: String,
    head_room: u64,
    tail: String,
    tail_chars: u64,
    n_chars: u64,
}

impl Printed {
    /// Keeps two thirds of `chars_max` from the beginning and the rest from the end.
    fn new(chars_max: u64) -> Self {
        Self { chars_max, head_room: chars_max - chars_max / 3, ..Self::default() }
    }

    fn finish(self) -> Output {
        let Self { chars_max, mut head, tail, tail_chars, n_chars, .. } = self;
        if n_chars <= chars_max {
            head.push_str(&tail);
            return Output { head, tail: String::new(), n_chars };
        }
        let kept = (chars_max / 3).max(1);
        let skipped = usize::try_from(tail_chars.saturating_sub(kept)).unwrap_or(usize::MAX);
        Output { head, tail: tail.chars().skip(skipped).collect(), n_chars }
    }

    fn push(&mut self, text: &str) {
        let n_text = text.chars().count() as u64;
        self.n_chars += n_text;
        if n_text <= self.head_room {
            self.head_room -= n_text;
            self.head.push_str(text);
            return;
        }
        let n_head = usize::try_from(self.head_room).unwrap_or(usize::MAX);
        let cut = text.char_indices().nth(n_head).map_or(text.len(), |(at, _)| at);
        let (head, rest) = text.split_at(cut);
        self.head.push_str(head);
        self.tail_chars += n_text - self.head_room;
        self.head_room = 0;
        self.tail.push_str(rest);
        // Trimmed only when it is twice too long, so that the cost per character stays constant.
        let kept = (self.chars_max / 3).max(1);
        if self.tail_chars > 2 * kept {
            let skipped = usize::try_from(self.tail_chars - kept).unwrap_or(usize::MAX);
            let start = self.tail.char_indices().nth(skipped).map_or(self.tail.len(), |(at, _)| at);
            self.tail.drain(..start);
            self.tail_chars = kept;
        }
    }
}

impl PrintWriterCallback for Capture {
    fn stdout_write(&mut self, output: Cow<'_, str>) -> Result<(), MontyException> {
        self.printed().push(&output);
        Ok(())
    }

    fn stdout_push(&mut self, end: char) -> Result<(), MontyException> {
        self.printed().push(end.encode_utf8(&mut [0; 4]));
        Ok(())
    }

    // As in CPython: both go to one terminal, but only stdout is the output of a cell.
    fn stderr_write(&mut self, _output: Cow<'_, str>) -> Result<(), MontyException> {
        Ok(())
    }

    fn stderr_push(&mut self, _end: char) -> Result<(), MontyException> {
        Ok(())
    }
}
