//! `spelunk worker`: the worker process that runs cells and reads documents; only this program
//! starts it. It reads no settings and no environment, and takes its requests from standard input.

use std::ffi::OsString;
use std::process::ExitCode;

use spelunk_app::sandbox::OWN_WORD;

/// Whether the program was started as a worker.
pub(crate) fn is_meant(arguments: &[OsString]) -> bool {
    matches!(arguments, [_, word] if word == OWN_WORD)
}

pub(crate) fn worker() -> ExitCode {
    spelunk_sandbox::serve_stdio(spelunk_app::sandbox::TASKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_bare_word_makes_a_worker() {
        let is_meant = |words: &[&str]| is_meant(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert!(is_meant(&["spelunk", "worker"]));
        assert!(!is_meant(&["spelunk", "worker", "x"]));
        assert!(!is_meant(&["spelunk"]));
        assert!(!is_meant(&["spelunk", "ask", "worker"]));
    }
}
