//! The thread that starts workers: the kernel kills a worker when the *thread* that started it ends.

use std::io;
use std::process::{Child, Command};
use std::sync::mpsc::{Sender, channel};
use std::sync::{LazyLock, Mutex, PoisonError};

type Job = Box<dyn FnOnce() + Send>;

static JOBS: LazyLock<Mutex<Option<Sender<Job>>>> = LazyLock::new(|| Mutex::new(start()));

fn start() -> Option<Sender<Job>> {
    let (sender, jobs) = channel::<Job>();
    let work = move || jobs.into_iter().for_each(|job| job());
    std::thread::Builder::new().name("worker-spawner".into()).spawn(work).ok().map(|_| sender)
}

/// Runs a job on the thread, later. The job must not wait for the thread itself.
pub(crate) fn later(job: impl FnOnce() + Send + 'static) -> io::Result<()> {
    let jobs = JOBS.lock().unwrap_or_else(PoisonError::into_inner);
    let sent = jobs.as_ref().is_some_and(|sender| sender.send(Box::new(job)).is_ok());
    if sent { Ok(()) } else { Err(io::Error::other("could not start a thread")) }
}

/// Starts a process from the thread, and waits until it has started.
pub(crate) fn spawn(mut command: Command) -> io::Result<Child> {
    if std::thread::current().name() == Some("worker-spawner") {
        return command.spawn();
    }
    let (sender, receiver) = channel();
    // The receiver below waits for exactly this message.
    later(move || drop(sender.send(command.spawn())))?;
    receiver.recv().map_err(|_| io::Error::other("the thread that starts processes has ended"))?
}
