//! The limits of scripts, which are sent to workers.

use serde::{Deserialize, Serialize};

/// The limits of one script. Counters apply before the clock: a script that is too long stops at the same place each time,
/// and the timeout only catches what no counter sees. Those on script, commands and variables may only be lowered: they bound nesting.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
pub struct ShellLimits {
    /// The longest script, including scripts that a script writes and runs.
    pub script_bytes_max: u64,
    pub commands_max: u64,
    /// Iterations of all its loops together, including those of awk.
    pub loop_rounds_max: u64,
    /// How deep functions, sourced files and traps may nest; the interpreter caps it at 16.
    pub recursion_max: u64,
    /// How deep its syntax may nest.
    pub nesting_max: u64,
    /// Parser steps, about one per word. This also bounds nesting that no counter sees.
    pub syntax_steps_max: u64,
    /// Units of work, each about a kilobyte or a step.
    pub work_max: u64,
    /// Bytes that its commands may read in total.
    pub input_bytes_max: u64,
    /// Bytes held between its commands.
    pub held_bytes_max: u64,
    pub output_bytes_max: u64,
    pub variable_bytes_max: u64,
    pub timeout_ms: u64,
    /// The date it sees, in seconds since 1970.
    pub date_s: i64,
}

impl Default for ShellLimits {
    fn default() -> Self {
        Self {
            script_bytes_max: 64 * 1024,
            commands_max: 10_000,
            loop_rounds_max: 2_000_000,
            recursion_max: 16,
            nesting_max: 60,
            syntax_steps_max: 10_000,
            work_max: 200_000_000,
            input_bytes_max: 512 * 1024 * 1024,
            held_bytes_max: 192 * 1024 * 1024,
            output_bytes_max: 1024 * 1024,
            variable_bytes_max: 256 * 1024,
            timeout_ms: 20_000,
            date_s: 1_767_225_600,
        }
    }
}
