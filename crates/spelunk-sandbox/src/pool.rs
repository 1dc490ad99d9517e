//! Idle workers. Starting a process takes milliseconds, so one is started ahead as soon as the first is used, and a
//! worker whose session ended cleanly is reused if no state can leak between sessions.

mod host;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use self::host::{Worker, WorkerInterpreter};
use crate::cpython;
use crate::worker::{Process, spawn_later};
use crate::{Interpreter, InterpreterError, Python, Setup, WorkerCommand};

/// The maximum number of idle workers. Sessions run in parallel only if a tree of frames does.
const IDLE_MAX: usize = 4;

#[derive(Debug)]
pub(crate) enum WorkerKind {
    Monty(WorkerCommand),
    Cpython(cpython::Launch),
}

impl WorkerKind {
    pub(crate) fn cpython(worker: WorkerCommand, python: Python) -> Self {
        Self::Cpython(cpython::Launch::new(worker, python))
    }

    fn start(&self, memory_bytes_max: u64) -> Result<Worker, InterpreterError> {
        match self {
            Self::Monty(command) => Ok(Worker::new(Process::start(command)?, None)),
            Self::Cpython(launch) => Ok(Worker::new(launch.start(memory_bytes_max)?, Some(memory_bytes_max))),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Pool {
    kind: WorkerKind,
    idle: Mutex<Vec<Worker>>,
    is_starting: AtomicBool,
    /// The memory limit of the last session: `CPython` needs it before it starts.
    memory_bytes_max: AtomicU64,
}

impl Pool {
    pub(crate) fn new(kind: WorkerKind) -> Arc<Self> {
        Arc::new(Self {
            kind,
            idle: Mutex::default(),
            is_starting: AtomicBool::new(false),
            memory_bytes_max: AtomicU64::new(0),
        })
    }

    pub(crate) fn backend(&self) -> &'static str {
        match self.kind {
            WorkerKind::Monty(_) => "monty",
            WorkerKind::Cpython(_) => "cpython",
        }
    }

    pub(crate) fn open(self: &Arc<Self>, setup: &Setup) -> Result<Box<dyn Interpreter>, InterpreterError> {
        let memory_bytes_max = setup.limits.memory_bytes_max;
        self.memory_bytes_max.store(memory_bytes_max, Ordering::Relaxed);
        let worker = match self.take(memory_bytes_max) {
            Some(worker) => worker,
            None => self.kind.start(memory_bytes_max)?,
        };
        self.start_ahead();
        // In `CPython`, code can modify the interpreter itself: such a worker serves one session.
        let home = match self.kind {
            WorkerKind::Monty(_) => Arc::downgrade(self),
            WorkerKind::Cpython(_) => Weak::new(),
        };
        Ok(Box::new(WorkerInterpreter::open(worker, setup, self.backend(), home)?))
    }

    pub(crate) fn put_back(&self, worker: Worker) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE_MAX {
            idle.push(worker);
        }
    }

    fn take(&self, memory_bytes_max: u64) -> Option<Worker> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        // A worker that died while idle, or was started with other limits, is skipped without an error.
        let is_fit = |worker: &mut Worker| worker.is_for(memory_bytes_max) && worker.process.is_alive();
        std::iter::from_fn(|| idle.pop()).find_map(|mut worker| is_fit(&mut worker).then_some(worker))
    }

    fn start_ahead(self: &Arc<Self>) {
        let n_idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).len();
        if n_idle > 0 || self.is_starting.swap(true, Ordering::Relaxed) {
            return;
        }
        let home = Arc::downgrade(self);
        if spawn_later(move || Self::add(&home)).is_err() {
            self.is_starting.store(false, Ordering::Relaxed);
        }
    }

    fn add(home: &Weak<Self>) {
        let Some(home) = home.upgrade() else { return };
        // On failure, the next session starts a worker itself and reports the error.
        if let Ok(worker) = home.kind.start(home.memory_bytes_max.load(Ordering::Relaxed)) {
            home.put_back(worker);
        }
        home.is_starting.store(false, Ordering::Relaxed);
    }
}
