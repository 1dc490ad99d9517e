//! What one script may use. Counts come before the clock: a script that is too long is stopped at the same place each
//! time, and the clock only catches what no count sees.

/// The limits of one script. The script, its commands and its variables may have less than the default, not more: they
/// bound how deep it nests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellLimits {
    /// The longest script, also of those that a script writes and runs.
    pub script_bytes_max: u64,
    /// Commands it may run.
    pub commands_max: u64,
    /// Rounds of all its loops together, those of awk included.
    pub loop_rounds_max: u64,
    /// How deep functions, sources and traps may nest; the interpreter keeps it at 16 at most.
    pub recursion_max: u64,
    /// How deep its syntax may nest.
    pub nesting_max: u64,
    /// Steps that reading it may take, about one for each word. It also bounds the nesting that nobody counts.
    pub syntax_steps_max: u64,
    /// Units of work, of about a kilobyte or a step each.
    pub work_max: u64,
    /// Bytes that its commands may read, all together.
    pub input_bytes_max: u64,
    /// Bytes held between its commands.
    pub held_bytes_max: u64,
    /// Bytes kept of its output.
    pub output_bytes_max: u64,
    /// Bytes of its variables.
    pub variable_bytes_max: u64,
    /// How long it may take.
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
