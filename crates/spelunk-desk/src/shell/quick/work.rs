//! Work: what a quick script may do, counted in steps. It has no clock, so that a script is left to the interpreter at the
//! same place each time; the interpreter has both.

/// Bytes that are gone over in one step.
const STEP_BYTES: u64 = 256;

/// The steps that are left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Work {
    steps_left: u64,
}

impl Work {
    pub(super) fn new(steps_max: u64) -> Self {
        Self { steps_left: steps_max }
    }

    /// Takes steps; nothing if there are not so many.
    pub(super) fn spend(&mut self, n_steps: u64) -> Option<()> {
        self.steps_left = self.steps_left.checked_sub(n_steps)?;
        Some(())
    }

    /// Takes what it needs to go over a text so many times.
    pub(super) fn spend_bytes(&mut self, n_bytes: usize, n_times: u64) -> Option<()> {
        self.spend((n_bytes as u64 / STEP_BYTES).saturating_mul(n_times))
    }
}
