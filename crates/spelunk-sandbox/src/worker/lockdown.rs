//! Confines a worker before it runs cells. The monty worker locks itself down as far as the kernel allows; the
//! `CPython` worker starts only if all of it is enforced.

use std::os::fd::AsFd as _;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Address space beyond a session's memory: the program, its stacks, and frames in transit.
const ADDRESS_SLACK_BYTES: u64 = 3 << 30;

/// CPU time beyond the host's limit before the kernel kills the process, which gives no reason.
const CPU_SLACK_S: u64 = 5;

/// Asks the kernel to kill this process when its parent ends, even if the parent is killed.
pub(crate) fn follow_parent() {
    // If this is unavailable, `end_with_input` takes its place.
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL)).ok();
}

/// Whether this process is still a child of `parent`, which may have ended before `follow_parent`.
pub(crate) fn is_child_of(parent: u32) -> bool {
    let found = rustix::process::getppid().map(|pid| pid.as_raw_nonzero().get().unsigned_abs());
    found == Some(parent)
}

/// Ends the process when the host closes its end of the pipe, even while a cell runs.
pub(crate) fn end_with_input() {
    let watch = || {
        let input = std::io::stdin();
        loop {
            let mut ends = [PollFd::from_borrowed_fd(input.as_fd(), PollFlags::empty())];
            let is_closed = match poll(&mut ends, None) {
                Ok(_) => ends.iter().any(|end| end.revents().intersects(PollFlags::HUP | PollFlags::ERR)),
                Err(error) => error != rustix::io::Errno::INTR,
            };
            if is_closed {
                #[expect(clippy::exit, reason = "a cell may be computing; nobody waits for it")]
                std::process::exit(0);
            }
        }
    };
    // Without the thread, a worker whose host is gone ends with its cell.
    drop(std::thread::Builder::new().name("watch".into()).stack_size(64 << 10).spawn(watch));
}

/// A hard limit in addition to the counting allocator, and no core dumps: they would contain documents.
pub(crate) fn limit_memory(memory_bytes_max: u64) {
    let soft = memory_bytes_max.saturating_mul(3).saturating_add(ADDRESS_SLACK_BYTES);
    let maximum = getrlimit(Resource::As).maximum;
    let current = Some(maximum.map_or(soft, |maximum| soft.min(maximum)));
    setrlimit(Resource::As, Rlimit { current, maximum }).ok();
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) }).ok();
}

/// Permanent limits of a task, in addition to those of the allocator and the host: address space
/// and CPU time.
pub(crate) fn limit_work(memory_bytes_max: u64, cpu_ms_max: u64) {
    let limits = [
        (Resource::As, memory_bytes_max.saturating_add(ADDRESS_SLACK_BYTES)),
        (Resource::Cpu, cpu_ms_max / 1000 + CPU_SLACK_S),
        (Resource::Core, 0),
        (Resource::Fsize, 0),
    ];
    for (resource, most) in limits {
        let most = getrlimit(resource).maximum.map_or(most, |maximum| most.min(maximum));
        setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) }).ok();
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn lock_down() {}

#[cfg(not(target_os = "linux"))]
pub(crate) fn exec(_bounds: &crate::wire::Confine) -> String {
    "confinement is only available on Linux; use the default sandbox".to_owned()
}

#[cfg(target_os = "linux")]
pub(crate) use linux::{exec, lock_down};

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::{CString, OsStr};
    use std::os::fd::AsRawFd as _;
    use std::os::unix::ffi::OsStrExt as _;
    use std::path::Path;

    use landlock::{
        ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, PathBeneath, PathFd,
        Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetStatus, Scope,
    };
    use rustix::process::{Resource, Rlimit, setrlimit};

    use super::is_child_of;
    use crate::wire::Confine;
    use crate::worker::syscalls::{self, EXEC_FD, Exec};

    /// Older kernels let a confined process truncate any file.
    const ABI_MIN: ABI = ABI::V3;
    /// Descriptors a confined interpreter may have; less than [`EXEC_FD`].
    const FILES_MAX: u64 = 64;

    /// Drops every right that the kernel lets us drop. For an interpreter that needs none.
    pub(crate) fn lock_down() {
        rustix::thread::set_no_new_privs(true).ok();
        drop(restrict(CompatLevel::BestEffort, &[]));
        drop(syscalls::confine(Exec::Never));
    }

    /// Confines this process and executes the interpreter. Returns only on failure, with the reason.
    pub(crate) fn exec(bounds: &Confine) -> String {
        match try_exec(bounds) {
            Ok(never) => match never {},
            Err(why) => why,
        }
    }

    fn try_exec(bounds: &Confine) -> Result<std::convert::Infallible, String> {
        if !is_child_of(bounds.parent) {
            return Err("the parent process has ended".to_owned());
        }
        let shown = bounds.program.display();
        let program = PathFd::new(&bounds.program).map_err(|error| format!("`{shown}`: {error}"))?;
        let program = rustix::io::fcntl_dupfd_cloexec(&program, EXEC_FD)
            .map_err(|error| format!("`{shown}`: {error}"))?;
        if program.as_raw_fd() != EXEC_FD {
            return Err(format!("descriptor {EXEC_FD} is taken"));
        }
        let arguments = strings(&bounds.arguments)?;
        let environment = strings(&bounds.environment)?;
        leave_namespaces();
        steady_addresses();
        limit(bounds.memory_bytes_max)?;
        rustix::process::chdir("/").map_err(|error| format!("`/`: {error}"))?;
        rustix::thread::set_no_new_privs(true).map_err(|error| format!("no_new_privs: {error}"))?;
        restrict(CompatLevel::HardRequirement, &bounds.readable)?;
        syscalls::confine(Exec::Once)?;
        Err(format!("`{shown}`: {}", execute(&arguments, &environment)))
    }

    fn strings(texts: &[String]) -> Result<Vec<CString>, String> {
        texts.iter().map(|text| CString::new(text.as_str()).map_err(|error| error.to_string())).collect()
    }

    /// Leaves the network and other shared resources. Not every machine allows it; nothing depends on it.
    fn leave_namespaces() {
        use rustix::thread::{UnshareFlags, unshare_unsafe};
        let flags = UnshareFlags::NEWUSER | UnshareFlags::NEWNET | UnshareFlags::NEWIPC;
        #[expect(unsafe_code, reason = "leaving a name space is unsafe where threads share what it changes")]
        // SAFETY: No descriptor table is unshared, and this process has one thread.
        unsafe { unshare_unsafe(flags) }.ok();
    }

    /// Disables address randomisation: the `repr` of many objects shows their address, and replay compares output.
    fn steady_addresses() {
        #[expect(unsafe_code, reason = "the call has no safe wrapper")]
        // SAFETY: It changes a flag of this process that takes effect when it executes a program.
        unsafe {
            libc::personality(libc::c_ulong::from(libc::ADDR_NO_RANDOMIZE.unsigned_abs()));
        }
    }

    fn limit(memory_bytes_max: u64) -> Result<(), String> {
        let limits = [
            (Resource::As, memory_bytes_max),
            (Resource::Core, 0),
            (Resource::Fsize, 0),
            (Resource::Nofile, FILES_MAX),
        ];
        for (resource, most) in limits {
            setrlimit(resource, Rlimit { current: Some(most), maximum: Some(most) })
                .map_err(|error| format!("a limit of {most} for {resource:?}: {error}"))?;
        }
        Ok(())
    }

    fn restrict(level: CompatLevel, readable: &[std::path::PathBuf]) -> Result<(), String> {
        let why = |error: &dyn std::fmt::Display| format!("landlock: {error}");
        let rules = Ruleset::default()
            .set_compatibility(level)
            .handle_access(AccessFs::from_all(ABI_MIN))
            .map_err(|error| why(&error))?
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(ABI::V6))
            .and_then(|rules| rules.handle_access(AccessNet::from_all(ABI::V6)))
            .and_then(|rules| rules.scope(Scope::from_all(ABI::V6)))
            .and_then(Ruleset::create)
            .map_err(|error| why(&error))?;
        let rules =
            readable.iter().try_fold(rules, |rules, path| allow(rules, path)).map_err(|error| why(&error))?;
        let status = rules.restrict_self().map_err(|error| why(&error))?;
        match status.ruleset {
            RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
            RulesetStatus::NotEnforced => Err("landlock: the kernel does not enforce it".to_owned()),
        }
    }

    /// Allows reading a directory or file. A path that ends in a slash may be listed, but nothing in it read.
    fn allow(rules: RulesetCreated, path: &Path) -> Result<RulesetCreated, landlock::RulesetError> {
        // A missing path needs no right.
        let Ok(place) = PathFd::new(path) else { return Ok(rules) };
        let read: BitFlags<AccessFs> = AccessFs::ReadFile | AccessFs::Execute;
        let rights = if OsStr::as_bytes(path.as_os_str()).ends_with(b"/") {
            AccessFs::ReadDir.into()
        } else if path.is_dir() {
            read | AccessFs::ReadDir
        } else {
            read
        };
        rules.add_rule(PathBeneath::new(place, rights))
    }

    fn execute(arguments: &[CString], environment: &[CString]) -> std::io::Error {
        let pointers = |texts: &[CString]| -> Vec<*const libc::c_char> {
            texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect()
        };
        let (arguments, environment) = (pointers(arguments), pointers(environment));
        #[expect(unsafe_code, reason = "the call has no safe wrapper")]
        // SAFETY: Both lists end with a null pointer, and the strings they point to outlive the call.
        unsafe {
            libc::syscall(
                libc::SYS_execveat,
                EXEC_FD,
                c"".as_ptr(),
                arguments.as_ptr(),
                environment.as_ptr(),
                libc::AT_EMPTY_PATH,
            );
        }
        std::io::Error::last_os_error()
    }
}
