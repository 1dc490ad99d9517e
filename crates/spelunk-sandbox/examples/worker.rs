//! A standalone worker program: the tests of this crate start it, and it is an example for programs that embed the
//! sandbox.

use std::process::ExitCode;

use spelunk_sandbox::{LimitedAllocator, Task};

#[global_allocator]
static ALLOCATOR: LimitedAllocator = LimitedAllocator;

/// The tasks that tests need: an echo, and each way to lose a worker.
const TASKS: &[Task] = &[
    Task {
        name: "echo",
        run: |mut line| {
            loop {
                let message = line.receive()?;
                line.send(&message)?;
            }
        },
    },
    Task {
        name: "hold",
        run: |mut line| {
            let mut held = Vec::new();
            loop {
                held.push(vec![1_u8; 1 << 20]);
                if held.len() > 10_000 {
                    return line.send(b"held");
                }
            }
        },
    },
    Task {
        name: "compute",
        run: |_| {
            let mut n = 0_u64;
            loop {
                n = std::hint::black_box(n.wrapping_add(1));
            }
        },
    },
    Task { name: "overflow", run: |mut line| line.send(&dig(1).to_le_bytes()) },
    Task { name: "panic", run: |_| panic!("over this") },
    Task {
        name: "reach",
        run: |mut line| {
            #[expect(clippy::disallowed_methods, reason = "the attempt")]
            let file = std::fs::File::open("/etc/passwd");
            let network = std::net::TcpStream::connect("127.0.0.1:9");
            let child = std::process::Command::new("/bin/true").spawn();
            let said = [file.err(), network.err(), child.err()].map(|error| {
                error.map_or_else(|| "reached".to_owned(), |error| format!("{:?}", error.kind()))
            });
            line.send(said.join(", ").as_bytes())
        },
    },
];

/// Unbounded recursion.
fn dig(depth: u64) -> u64 {
    let room = std::hint::black_box([depth; 512]);
    if depth == u64::MAX { 0 } else { dig(depth + 1) + room[0] }
}

fn main() -> ExitCode {
    spelunk_sandbox::serve_stdio(TASKS)
}
