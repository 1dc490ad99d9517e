//! Workspace tasks. `cargo xtask tidy` checks what the compiler does not; `cargo xtask sizes`
//! prints how large the source is and how long packages take to build; `cargo xtask models` updates
//! the catalogue of hosted models; `cargo xtask coverage` writes `docs/coverage.md`;
//! `cargo xtask book` assembles the documentation; `cargo xtask wheel` builds the Python package.

mod book;
mod models;
mod sizes;
mod tidy;
mod wheel;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.first().map(String::as_str) {
        Some("tidy") if arguments.len() == 1 => tidy::run(),
        Some(task @ ("sizes" | "models" | "coverage" | "book")) if arguments.len() == 1 => {
            match tidy::repository() {
                Ok((root, _)) if task == "models" => models::run(&root),
                Ok((root, files)) if task == "coverage" => tidy::coverage::run(&root, &files),
                Ok((root, files)) if task == "book" => book::run(&root, &files),
                Ok((root, files)) => sizes::run(&root, &files),
                Err(message) => {
                    tidy::say(&message);
                    ExitCode::FAILURE
                }
            }
        }
        Some("wheel") => wheel::run(arguments.get(1..).unwrap_or_default()),
        _ => {
            tidy::say("usage: cargo xtask tidy|sizes|models|coverage|book|wheel [--dev] [--musl] [MATURIN]");
            ExitCode::from(2)
        }
    }
}
