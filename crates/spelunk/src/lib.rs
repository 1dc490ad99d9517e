//! Spelunk answers questions about text that is too large for any model. This is the library of the `spelunk` program:
//! it lets a Rust program ask questions, ask follow-ups, resume runs and watch them, with the same settings, models and
//! workspace as the command line.
//!
//! ```
//! # use spelunk_testkit::{ModelServer, when};
//! # let scripted = [when(|prompt| !prompt.is_empty()).reply("It is 42.\n\n```evidence\na.md:1: The magic number is 42.\n```")];
//! # let server = ModelServer::start_blocking(scripted);
//! # let base_url = server.base_url();
//! # let folder = tempfile::tempdir().unwrap();
//! # let notes = folder.path().join("a.md");
//! # std::fs::write(&notes, "The magic number is 42.\n").unwrap();
//! # let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
//! # runtime.block_on(async {
//! use spelunk::{Question, Spelunk, Strategy};
//!
//! let spelunk = Spelunk::builder()
//!     .isolated() // no settings files, no environment: only what is said here
//!     .directory(folder.path())
//!     .model("openai/scripted")
//!     .base_url(&base_url)
//!     .build()?;
//! let question = Question::new("What is the magic number?").path("a.md").strategy(Strategy::Direct);
//! let answer = spelunk.ask(question).await?;
//! assert!(answer.success);
//! assert_eq!(answer.answer.as_deref(), Some("It is 42."));
//! assert_eq!((answer.citations[0].document.as_str(), answer.citations[0].line), ("a.md", 1));
//! assert_eq!(answer.metrics.calls, 1);
//! # Ok::<(), spelunk::Error>(())
//! # }).unwrap();
//! ```
//!
//! # Where model code runs
//!
//! The strategies `repl` and `agent` run code that a model wrote, always in a separate worker process. The `spelunk`
//! program starts itself for that. Another program has two options:
//!
//! - call [`serve_worker`] at the start of `main`, so that it can be started again as a worker;
//! - or name a `spelunk` program of the same version with [`Builder::worker`].
//!
//! Without either, such a run is rejected before anything is sent or recorded, while the other strategies work. PDF and
//! DOCX files are read in worker processes too; without workers they are skipped and reported as `no-worker` by the scan.

#[cfg(feature = "cli")]
mod cli;

pub use spelunk_app::{
    Answer, Budget, Builder, Citation, EffectClass, Error, ErrorCode, Event, EventKind, Evidence, Focus,
    Found, Grounding, LimitedAllocator, Message, Metrics, Question, RunError, RunId, RunOutcome, Running,
    Spelunk, Strategy, ToolError, Usage, contexts, serve_worker, session,
};

/// Runs the command line with these arguments (the first is the program's name) and with the
/// environment and streams of this process.
#[cfg(feature = "cli")]
pub fn main(arguments: Vec<std::ffi::OsString>) -> std::process::ExitCode {
    cli::main(arguments)
}
