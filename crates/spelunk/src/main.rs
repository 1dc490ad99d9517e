//! The `spelunk` program: everything it does is in the library beside it.

use std::process::ExitCode;

// As a worker this program counts what a cell allocates. As everything else it pays two additions per allocation.
#[global_allocator]
static ALLOCATOR: spelunk::LimitedAllocator = spelunk::LimitedAllocator;

fn main() -> ExitCode {
    spelunk::main()
}
