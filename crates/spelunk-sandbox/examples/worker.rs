//! A worker as a program of its own: what the tests of this crate start, and a model for programs that embed it.

use std::process::ExitCode;

use spelunk_sandbox::LimitedAllocator;

#[global_allocator]
static ALLOCATOR: LimitedAllocator = LimitedAllocator;

fn main() -> ExitCode {
    spelunk_sandbox::serve_stdio()
}
