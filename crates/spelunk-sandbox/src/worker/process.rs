//! A worker process as the host sees it: frames with deadlines, how it ended, and termination on drop.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};

use super::spawner;
use crate::wire::{self, RESPONSE_BYTES_MAX, Request, Response};
use crate::{InterpreterError, WorkerCommand};

/// How long a process that closed its output may take to exit.
const EXIT_MS_MAX: u64 = 1_000;
/// How long the rest of a frame may take.
const FRAME_MS_MAX: u64 = 30_000;
/// How much of its standard error is reported.
const STDERR_CHARS_MAX: usize = 300;
const READ_BYTES: usize = 64 << 10;

/// A running worker. Dropping it kills it.
#[derive(Debug)]
pub(crate) struct Process {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    errors: ChildStderr,
    /// The memory limit of its session, for the message about its death.
    pub(crate) memory_bytes_max: u64,
    /// Whether it died because it exceeded the limit.
    pub(crate) is_out_of_memory: bool,
}

impl Process {
    /// Starts one: no environment, and its own process group, so that Ctrl-C at the terminal is ours to handle.
    pub(crate) fn start(command: &WorkerCommand) -> Result<Self, InterpreterError> {
        let failed =
            |source| InterpreterError::Spawn { program: command.program.display().to_string(), source };
        let mut process = Command::new(&command.program);
        process.args(&command.arguments).env_clear().process_group(0);
        process.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = spawner::spawn(process).map_err(failed)?;
        let (Some(input), Some(output), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(failed(io::Error::other("its pipes are missing")));
        };
        let process = Self { child, input, output, errors, memory_bytes_max: 0, is_out_of_memory: false };
        for end in [process.input.as_fd(), process.output.as_fd(), process.errors.as_fd()] {
            let flags = fcntl_getfl(end).map_err(|error| failed(error.into()))?;
            fcntl_setfl(end, flags | OFlags::NONBLOCK).map_err(|error| failed(error.into()))?;
        }
        Ok(process)
    }

    pub(crate) fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    pub(crate) fn ask(
        &mut self,
        request: &Request<'_>,
        deadline: &Deadline,
    ) -> Result<Response<'static>, InterpreterError> {
        self.send(request, deadline)?;
        self.receive(deadline)
    }

    /// A deadline in CPU time of this process, and in wall-clock time at the latest.
    pub(crate) fn deadline_in_cpu_ms(&self, cpu_ms_max: u64, ms_max: u64) -> Deadline {
        let pid = self.child.id();
        let until = |used: Duration| used.saturating_add(Duration::from_millis(cpu_ms_max));
        let cpu = cpu_time(pid).map(|used| CpuDeadline { pid, until: until(used), ms_max: cpu_ms_max });
        // If the CPU time of another process is unavailable, wall-clock time is used.
        let ms_max = if cpu.is_some() { ms_max } else { cpu_ms_max };
        Deadline { cpu, ..Deadline::in_ms(ms_max) }
    }

    pub(crate) fn send(
        &mut self,
        request: &Request<'_>,
        deadline: &Deadline,
    ) -> Result<(), InterpreterError> {
        let frame = wire::encode(request, wire::REQUEST_BYTES_MAX).map_err(|error| too_long(&error))?;
        self.write(&frame, deadline)
    }

    pub(crate) fn send_bytes(&mut self, bytes: &[u8], deadline: &Deadline) -> Result<(), InterpreterError> {
        let head = wire::head(bytes.len(), wire::REQUEST_BYTES_MAX).map_err(|error| too_long(&error))?;
        self.write(&head, deadline)?;
        self.write(bytes, deadline)
    }

    fn write(&mut self, mut rest: &[u8], deadline: &Deadline) -> Result<(), InterpreterError> {
        while !rest.is_empty() {
            match self.input.write(rest) {
                Ok(n_bytes) => rest = rest.get(n_bytes..).unwrap_or_default(),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if !deadline.wait(self.input.as_fd(), PollFlags::OUT)? {
                        return Err(self.unresponsive(deadline));
                    }
                }
                // It may have reported a reason before it died.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => return Err(self.last_words()),
                Err(error) => return Err(broken(&error)),
            }
        }
        Ok(())
    }

    pub(crate) fn receive(&mut self, deadline: &Deadline) -> Result<Response<'static>, InterpreterError> {
        let body = self.receive_bytes(deadline)?;
        wire::decode(&body).map_err(|error| protocol(&error))
    }

    pub(crate) fn receive_bytes(&mut self, deadline: &Deadline) -> Result<Vec<u8>, InterpreterError> {
        let mut head = [0; 4];
        self.fill(&mut head, deadline)?;
        let n_bytes = wire::announced(head, RESPONSE_BYTES_MAX).map_err(|error| protocol(&error))?;
        // The announced length is only a claim: memory grows with the bytes that actually arrive.
        let mut body = Vec::new();
        // A frame that has begun gets its own deadline: the cell is over, and a large frame takes a while.
        let deadline = &Deadline::in_ms(FRAME_MS_MAX);
        while body.len() < n_bytes {
            let start = body.len();
            body.resize(n_bytes.min(start + READ_BYTES.max(start)), 0);
            self.fill(body.get_mut(start..).unwrap_or_default(), deadline)?;
        }
        Ok(body)
    }

    fn fill(&mut self, mut buffer: &mut [u8], deadline: &Deadline) -> Result<(), InterpreterError> {
        while !buffer.is_empty() {
            match self.output.read(buffer) {
                Ok(0) => return Err(self.died()),
                Ok(n_bytes) => buffer = buffer.get_mut(n_bytes..).unwrap_or_default(),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if !deadline.wait(self.output.as_fd(), PollFlags::IN)? {
                        return Err(self.unresponsive(deadline));
                    }
                }
                Err(error) => return Err(broken(&error)),
            }
        }
        Ok(())
    }

    /// The last message of a process that stopped listening: that it cannot be confined, or none.
    fn last_words(&mut self) -> InterpreterError {
        match self.receive(&Deadline::in_ms(EXIT_MS_MAX)) {
            Ok(Response::Unconfined { why }) => InterpreterError::Unconfined { backend: "cpython", why },
            Ok(Response::Broken { what }) => InterpreterError::Broken { what },
            Ok(
                Response::Opened
                | Response::Step(_)
                | Response::Variable(_)
                | Response::NoVariable
                | Response::Closed,
            ) => self.died(),
            Err(error) => error,
        }
    }

    fn unresponsive(&mut self, deadline: &Deadline) -> InterpreterError {
        let ms = deadline.passed_ms();
        self.kill();
        InterpreterError::Unresponsive { ms }
    }

    fn died(&mut self) -> InterpreterError {
        let deadline = Deadline::in_ms(EXIT_MS_MAX);
        let status = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break Some(status),
                Ok(None) if !deadline.is_over() => std::thread::sleep(Duration::from_millis(1)),
                Ok(None) | Err(_) => break None,
            }
        };
        self.kill();
        let how = match status {
            Some(status) => self.describe(status),
            None => "it closed its output".to_owned(),
        };
        InterpreterError::Died { how }
    }

    fn describe(&mut self, status: ExitStatus) -> String {
        let said = self.said();
        // Without our allocator, the message of the standard one identifies it.
        self.is_out_of_memory =
            status.code() == Some(monty_types::OOM_EXIT_CODE) || said.starts_with("memory allocation of ");
        if self.is_out_of_memory {
            return format!("out of memory (limit {} MB)", self.memory_bytes_max >> 20);
        }
        let end = match (status.code(), status.signal()) {
            (Some(code), _) => format!("exit code {code}"),
            (None, Some(signal)) => format!("killed by signal {signal}"),
            (None, None) => "for an unknown reason".to_owned(),
        };
        if said.is_empty() { end } else { format!("{end}: {said}") }
    }

    /// The end of its standard error. The capacity of the pipe bounds how much there can be.
    fn said(&mut self) -> String {
        let mut bytes = vec![0; READ_BYTES];
        let n_bytes = self.errors.read(&mut bytes).unwrap_or(0);
        bytes.truncate(n_bytes);
        let text = String::from_utf8_lossy(&bytes);
        let text: Vec<char> = text.trim().chars().filter(|c| *c == '\n' || !c.is_control()).collect();
        text.get(text.len().saturating_sub(STDERR_CHARS_MAX)..).unwrap_or_default().iter().collect()
    }

    fn kill(&mut self) {
        // Both fail only if it is already gone.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// When a response must have arrived.
#[derive(Debug)]
pub(crate) struct Deadline {
    end: Instant,
    ms_max: u64,
    cpu: Option<CpuDeadline>,
}

#[derive(Debug, Clone, Copy)]
struct CpuDeadline {
    pid: u32,
    until: Duration,
    ms_max: u64,
}

impl CpuDeadline {
    fn rest(self) -> Option<Duration> {
        Some(self.until.saturating_sub(cpu_time(self.pid)?))
    }
}

impl Deadline {
    pub(crate) fn in_ms(ms_max: u64) -> Self {
        let ms = Duration::from_millis(ms_max);
        let now = Instant::now();
        let end = now.checked_add(ms).unwrap_or(now + Duration::from_hours(24 * 365));
        Self { end, ms_max, cpu: None }
    }

    fn is_over(&self) -> bool {
        self.rest().is_zero()
    }

    fn passed_ms(&self) -> u64 {
        let cpu = self.cpu.filter(|cpu| cpu.rest() == Some(Duration::ZERO));
        cpu.map_or(self.ms_max, |cpu| cpu.ms_max)
    }

    fn rest(&self) -> Duration {
        let rest = self.end.saturating_duration_since(Instant::now());
        self.cpu.and_then(CpuDeadline::rest).map_or(rest, |of_cpu| rest.min(of_cpu))
    }

    /// Waits until one end of a pipe is ready or closed. `false` after the deadline.
    fn wait(&self, end: BorrowedFd<'_>, flags: PollFlags) -> Result<bool, InterpreterError> {
        loop {
            let rest = Timespec::try_from(self.rest()).map_err(|error| broken(&io::Error::other(error)))?;
            match poll(&mut [PollFd::new(&end, flags)], Some(&rest)) {
                Ok(0) | Err(rustix::io::Errno::INTR) if self.is_over() => return Ok(false),
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return Ok(true),
                Err(error) => return Err(broken(&error.into())),
            }
        }
    }
}

/// The CPU time of a child process so far.
#[cfg(target_os = "linux")]
fn cpu_time(pid: u32) -> Option<Duration> {
    let pid = libc::pid_t::try_from(pid).ok()?;
    let mut clock = 0;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    #[expect(unsafe_code, reason = "the calls have no safe wrapper")]
    // SAFETY: Both write to variables of this function and keep no pointers.
    let is_read = unsafe {
        libc::clock_getcpuclockid(pid, &raw mut clock) == 0 && libc::clock_gettime(clock, &raw mut time) == 0
    };
    is_read.then_some(Duration::new(u64::try_from(time.tv_sec).ok()?, u32::try_from(time.tv_nsec).ok()?))
}

#[cfg(not(target_os = "linux"))]
fn cpu_time(_pid: u32) -> Option<Duration> {
    None
}

fn too_long(error: &wire::WireError) -> InterpreterError {
    InterpreterError::Broken { what: format!("the message to it is too large: {error}") }
}

fn broken(error: &io::Error) -> InterpreterError {
    InterpreterError::Broken { what: error.to_string() }
}

fn protocol(error: &wire::WireError) -> InterpreterError {
    InterpreterError::Protocol { what: error.to_string() }
}
