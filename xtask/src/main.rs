//! Workspace tasks. `cargo xtask tidy` checks what the compiler does not; `cargo xtask sizes` prints how large the source
//! is; `cargo xtask models` updates the catalogue of hosted models; `cargo xtask book` assembles the documentation;
//! `cargo xtask wheel` builds the Python package.

mod book;
mod models;
mod sizes;
mod tidy;
mod wheel;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["tidy"] => tidy::run(),
        ["sizes"] => tidy::repository().and_then(|(root, files)| sizes::run(&root, &files)),
        ["models"] => tidy::repository().and_then(|(root, _)| models::run(&root)),
        ["book"] => tidy::repository().and_then(|(root, files)| book::run(&root, &files)),
        ["wheel", arguments @ ..] => wheel::run(arguments),
        _ => {
            tidy::say("usage: cargo xtask tidy|sizes|models|book|wheel [--dev] [--musl] [MATURIN]");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            tidy::say(&format!("error: {reason}"));
            ExitCode::FAILURE
        }
    }
}
