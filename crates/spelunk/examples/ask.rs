//! A program that asks a question: `cargo run --example ask -- "QUESTION" PATH...`. It serves as its own worker,
//! follows the run, and prints the answer with its evidence and cost.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "this program talks to a person")]

use std::process::ExitCode;

use spelunk::{Answer, Budget, Error, EventKind, Question, Spelunk};

// In a worker this counts the allocations of a cell.
#[global_allocator]
static ALLOCATOR: spelunk::LimitedAllocator = spelunk::LimitedAllocator;

fn main() -> ExitCode {
    // Must come first: the strategies `repl` and `agent` run code in another process of this program.
    if let Some(code) = spelunk::serve_worker() {
        return code;
    }
    let mut arguments = std::env::args().skip(1);
    let Some(question) = arguments.next() else {
        eprintln!("usage: ask QUESTION [PATH...]");
        return ExitCode::from(2);
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("error: could not start: {error}");
            return ExitCode::FAILURE;
        }
    };
    match runtime.block_on(ask(&question, arguments.collect())) {
        Ok(answer) => show(&answer),
        Err(error) => {
            eprintln!("error: {error}");
            if let Some(hint) = error.hint() {
                eprintln!("hint: {hint}");
            }
            ExitCode::FAILURE
        }
    }
}

async fn ask(question: &str, paths: Vec<String>) -> Result<Answer, Error> {
    let spelunk = Spelunk::builder().build()?;
    let mut question = Question::new(question).budget(Budget { calls_max: Some(100), ..Budget::default() });
    for path in if paths.is_empty() { vec![".".to_owned()] } else { paths } {
        question = question.path(path);
    }
    let mut running = spelunk.start(question).await?;
    while let Some(event) = running.next().await {
        if let EventKind::CallStarted { call, model, .. } = event?.kind {
            eprintln!("asking {model} ({call})");
        }
    }
    running.answer().await
}

fn show(answer: &Answer) -> ExitCode {
    println!("{}", answer.answer.as_deref().unwrap_or("There is no answer."));
    for citation in &answer.citations {
        println!("  {}:{}  {}", citation.document, citation.line, citation.quote);
    }
    for error in &answer.errors {
        eprintln!("{}: {}", error.code, error.message);
    }
    eprintln!(
        "{} calls, {} tokens, run {}",
        answer.metrics.calls,
        answer.metrics.usage.tokens(),
        answer.run.short()
    );
    if answer.success { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
