//! The `spelunk` binary: a thin wrapper around the library.

use std::process::ExitCode;

// In a worker, counts the allocations of a cell. Elsewhere it costs two additions per allocation.
#[global_allocator]
static ALLOCATOR: spelunk::LimitedAllocator = spelunk::LimitedAllocator;

fn main() -> ExitCode {
    spelunk::main(std::env::args_os().collect())
}
