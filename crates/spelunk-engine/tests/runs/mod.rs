//! Runs, one behaviour each: how they are resumed, what they may spend, how they end, and what they leave on disk.

mod again;
mod agent;
mod agent_scripts;
mod auto;
mod budget;
mod cache;
mod certainty;
mod chains;
mod coverage;
mod disk;
mod ending;
mod examples;
mod growing;
mod hostile_loop;
pub(crate) mod images;
mod map;
mod models;
mod no_answer;
mod projection;
mod refusals;
mod resume;
mod rows;
mod secrets;
mod silence;
mod time;
pub(crate) mod tools;
mod tree;
mod turn;
mod weak_model;
mod workspace;

use std::future::Future;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use spelunk_engine::{Answer, Engine, EngineError, Frame, FrameError, Program, Task};
use spelunk_model::Prompt;
use spelunk_testkit::{Gate, facts};
use spelunk_types::{Citation, Explain, Grounding, RunId};
use tokio::time::timeout;

use crate::stage::{PATIENCE, events};

/// One document, for runs in which the documents do not matter.
pub(crate) const NOTE: [(&str, &str); 1] = [("a.md", "The magic number is 42.\n")];

/// A program from an async function.
pub(crate) fn program<F>(solve: impl Fn(Frame, Task) -> F + Send + Sync + 'static) -> Program
where
    F: Future<Output = Result<Answer, FrameError>> + Send + 'static,
{
    Arc::new(move |frame, task| -> BoxFuture<'static, _> { Box::pin(solve(frame, task)) })
}

/// A program that sends these words one after the other and answers with all replies.
pub(crate) fn ask_in_turn(words: &'static [&'static str]) -> Program {
    program(move |frame, _| async move {
        let mut replies = Vec::new();
        for word in words {
            replies.push(frame.ask(prompt(word)).await?.text);
        }
        Ok(answer(replies.join(" ")))
    })
}

/// A program that sends `n_calls` prompts at once and answers with the number of replies.
pub(crate) fn ask_at_once(n_calls: usize) -> Program {
    program(move |frame, _| async move {
        let prompts = (0..n_calls).map(|idx| prompt(&format!("call {idx:02}"))).collect();
        let replies = frame.ask_all(prompts).await.into_iter().collect::<Result<Vec<_>, _>>()?;
        Ok(answer(format!("{} replies", replies.len())))
    })
}

/// Two tokens of instruction, a token per four letters of the word, fifty tokens of reply.
pub(crate) fn prompt(word: &str) -> Prompt {
    Prompt::single("Say it.", word, 50)
}

pub(crate) fn answer(text: impl Into<String>) -> Answer {
    Answer { text: text.into(), citations: Vec::new(), grounding: Grounding::Uncited }
}

/// An answer with the number of the usual note, cited by code.
pub(crate) fn cited(text: &str, document: &str) -> Answer {
    let quote = "The magic number is 42.".to_owned();
    let citations = vec![Citation { document: document.to_owned(), line: 1, quote }];
    Answer { text: text.to_owned(), citations, grounding: Grounding::Cited }
}

/// Waits until this many replies are held at the gate.
pub(crate) async fn at_gate(gate: &Gate, n_replies: u64) {
    timeout(PATIENCE, gate.reached(n_replies)).await.expect("the replies come to the gate");
}

/// The events of a run, one per line.
pub(crate) fn told(engine: &Engine, run: &RunId) -> String {
    facts(&events(engine, run)).join("\n")
}

/// Like [`told`], without wasted attempts, and the number of those: how much of a reply arrived before it was
/// abandoned may vary.
pub(crate) fn told_without_waste(engine: &Engine, run: &RunId) -> (String, usize) {
    let (wasted, rest): (Vec<_>, Vec<_>) =
        facts(&events(engine, run)).into_iter().partition(|line| line.starts_with("call.wasted"));
    (rest.join("\n"), wasted.len())
}

/// An error as a user sees it: code, message, causes, hint. The run's id is replaced because it is random.
pub(crate) fn shown(error: &dyn Explain, run: &RunId) -> String {
    let mut lines = vec![format!("{}: {error}", error.code())];
    let mut cause = error.source();
    while let Some(source) = cause {
        lines.push(format!("caused by: {source}"));
        cause = source.source();
    }
    lines.extend(error.hint().map(|hint| format!("hint: {hint}")));
    lines.join("\n").replace(run.as_str(), "RUN").replace(run.short(), "RUN")
}

/// The refusal of a start or a resume.
pub(crate) fn refusal<T>(outcome: Result<T, EngineError>) -> EngineError {
    outcome.err().expect("this is refused")
}
