//! Spelunk answers questions of text that is too large for any model. This is the program's own library: what a Rust
//! program needs to ask, to ask more, to resume and to watch, with the settings, the models and the workspace that the
//! command line uses.
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
//! # Where the code of models runs
//!
//! The strategies `repl` and `agent` run code that a model wrote, always in a process of its own. The program `spelunk`
//! starts itself for that. Another program says how, in one of two ways:
//!
//! - it calls [`serve_worker`] first thing in `main`, and is then started again as a worker;
//! - or it names a `spelunk` program of the same version with [`Builder::worker`].
//!
//! Without either, such a run is refused before anything is sent or recorded, and the other strategies work. PDF and DOCX
//! are read in such processes as well, so without either they are left out, as `no-worker` in the report of the scan.

#[cfg(feature = "cli")]
mod cli;

pub use spelunk_app::{
    Answer, Budget, Builder, Citation, Error, ErrorCode, Event, EventKind, Evidence, Focus, Found, Grounding,
    LimitedAllocator, Message, Metrics, Question, RunError, RunId, RunOutcome, Running, Spelunk, Strategy,
    Usage, serve_worker,
};

/// The command line, with the arguments, the environment and the streams of this process.
#[cfg(feature = "cli")]
pub fn main() -> std::process::ExitCode {
    cli::main()
}
