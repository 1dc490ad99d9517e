//! Failures of an interpreter. Errors in a cell's code are not among them.

/// Why an interpreter is gone. The session can be rebuilt in a new one by feeding the same cells again.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum InterpreterError {
    #[error("the sandbox process died: {how}")]
    Died { how: String },
    #[error("the sandbox process did not answer within {ms} ms and was killed")]
    Unresponsive { ms: u64 },
    #[error("could not start the sandbox `{program}`")]
    Spawn {
        program: String,
        #[source]
        source: std::io::Error,
    },
    #[error("the sandbox said something that is no message: {what}")]
    Protocol { what: String },
    #[error("the sandbox could not go on: {what}")]
    Broken { what: String },
    #[error("this machine cannot confine `{backend}`: {why}")]
    Unconfined { backend: &'static str, why: String },
}
