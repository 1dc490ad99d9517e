//! Workspace tasks. `cargo xtask tidy` checks what the compiler does not.

mod tidy;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments == ["tidy"] {
        return tidy::run();
    }
    tidy::say("usage: cargo xtask tidy");
    ExitCode::from(2)
}
