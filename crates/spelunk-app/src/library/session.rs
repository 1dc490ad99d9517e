//! Code sessions without a run: Python cells in a worker process; the program itself answers their host calls.

use spelunk_engine::{Clock as _, SystemClock};
pub use spelunk_sandbox::{
    CellEnd, HostCall, HostFunction, HostReply, Interpreter, InterpreterError, Output, Raised, Step, Value,
    last_value_to,
};
use spelunk_sandbox::{Sandbox, SandboxLimits, Setup};
use spelunk_types::Limits;

/// Opens sessions. Cheap to clone; clones share idle workers.
#[derive(Debug, Clone)]
pub struct Sessions {
    sandbox: Sandbox,
    limits: SandboxLimits,
}

impl Sessions {
    pub(super) fn new(sandbox: Sandbox, limits: &Limits) -> Self {
        let limits = SandboxLimits {
            cell_ms_max: limits.cell_ms_max,
            memory_bytes_max: limits.cell_memory_bytes_max,
            recursion_max: limits.cell_recursion_max,
            output_chars_max: limits.stdout_chars_max,
            cell_calls_max: limits.cell_calls_max,
        };
        Self { sandbox, limits }
    }

    /// A session with these functions. Blocking, like everything that a session does.
    pub fn open(&self, functions: Vec<HostFunction>) -> Result<Box<dyn Interpreter>, InterpreterError> {
        let clock_ms = SystemClock.now_ms();
        self.sandbox.open(&Setup { functions, clock_ms, limits: self.limits, ..Setup::empty() })
    }
}
