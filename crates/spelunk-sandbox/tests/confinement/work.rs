//! Tasks that are not cells: each way to lose a worker has a name, and none costs more than the worker.

use spelunk_sandbox::{WorkerCommand, start_work};
use spelunk_types::{WorkBounds, WorkError};

use crate::scene::worker;

const BOUNDS: WorkBounds = WorkBounds { memory_bytes_max: 64 << 20, cpu_ms_max: 200 };

/// The first message of a task, or how its worker is lost.
fn outcome(task: &str) -> Result<String, WorkError> {
    let mut line = start_work(&worker(), task, BOUNDS)?;
    line.receive().map(|message| String::from_utf8(message).unwrap())
}

#[test]
fn messages_come_whole_in_both_directions() {
    let mut line = start_work(&worker(), "echo", BOUNDS).unwrap();
    for message in [Vec::new(), b"a".to_vec(), vec![7; 10 << 20]] {
        line.send(&message).unwrap();
        assert!(line.receive().unwrap() == message, "{} bytes", message.len());
    }
}

#[test]
fn a_worker_is_stopped_at_each_of_its_bounds() {
    assert_eq!(outcome("hold"), Err(WorkError::Memory { bytes_max: 64 << 20 }));
    assert_eq!(outcome("compute"), Err(WorkError::Time { ms_max: 200 }));
}

#[test]
fn a_worker_that_fails_says_how() {
    let Err(WorkError::Crashed { how }) = outcome("panic") else { panic!("it did not crash") };
    assert!(how.starts_with("exit code 101: ") && how.contains("over this"), "{how}");
    let overflow = outcome("overflow");
    let Err(WorkError::Crashed { how }) = overflow else { panic!("it did not crash: {overflow:?}") };
    assert!(how.starts_with("killed by signal ") && how.contains("overflowed its stack"), "{how}");
    assert_eq!(outcome("no such task"), Err(WorkError::Crashed { how: "exit code 70".to_owned() }));
    let none = WorkerCommand { program: "/no/such/worker".into(), arguments: vec![] };
    let why = "could not start the sandbox `/no/such/worker`".to_owned();
    assert_eq!(start_work(&none, "echo", BOUNDS).err(), Some(WorkError::NoWorker { why }));
}

#[cfg(target_os = "linux")]
#[test]
fn work_reaches_no_file_no_network_and_no_program() {
    assert_eq!(outcome("reach").unwrap(), "PermissionDenied, PermissionDenied, PermissionDenied");
}
