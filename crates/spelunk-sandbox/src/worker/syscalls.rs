//! The system calls that an interpreter needs, as a seccomp filter on top of Landlock. Everything not listed is
//! refused, including calls that later kernels add. The lists are what `CPython` 3.10 to 3.14 and the workers of this
//! crate use on glibc and musl.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    sock_filter,
};

/// The only descriptor that may be executed, once: it closes on exec, and the file limit keeps it unassigned.
pub(crate) const EXEC_FD: i32 = 200;

/// The first number of the calls added in Linux 5.1 and later; from here on all architectures use the same numbers. C
/// libraries try these and fall back if the kernel lacks them, so those that are refused fail as if absent.
const RECENT_FROM: u32 = 424;

/// System calls by their names.
macro_rules! calls {
    ($($name:ident)*) => {
        &[$(libc::$name),*]
    };
}

/// The allowed calls, with the reason.
const ALLOWED: &[c_long] = calls![
    // Descriptors that are open: pipes to the host and files it may read.
    SYS_read SYS_readv SYS_pread64 SYS_preadv SYS_write SYS_writev SYS_pwrite64 SYS_pwritev SYS_lseek
    SYS_close SYS_dup SYS_dup3 SYS_pipe2
    // Looking at files. Landlock decides which may be opened, and none may be for writing.
    SYS_openat SYS_newfstatat SYS_fstat SYS_statx SYS_statfs SYS_fstatfs SYS_getdents64 SYS_readlinkat
    SYS_faccessat SYS_getcwd SYS_chdir SYS_fchdir SYS_umask SYS_fadvise64
    // Memory of its own.
    SYS_brk SYS_mmap SYS_munmap SYS_mremap SYS_mprotect SYS_madvise SYS_membarrier
    // Threads, beside `clone`, and the end of the process.
    SYS_set_tid_address SYS_set_robust_list SYS_get_robust_list SYS_rseq SYS_futex SYS_sched_yield
    SYS_sched_getaffinity SYS_sched_getparam SYS_sched_getscheduler SYS_getcpu SYS_exit SYS_exit_group
    // Signals that arrive. None can be sent.
    SYS_rt_sigaction SYS_rt_sigprocmask SYS_rt_sigpending SYS_rt_sigsuspend SYS_rt_sigtimedwait
    SYS_rt_sigreturn SYS_sigaltstack SYS_restart_syscall
    // Waiting for descriptors.
    SYS_ppoll SYS_pselect6 SYS_epoll_create1 SYS_epoll_ctl SYS_epoll_pwait SYS_eventfd2
    // The time, and how much of it was used.
    SYS_clock_gettime SYS_clock_getres SYS_clock_nanosleep SYS_nanosleep SYS_gettimeofday SYS_times
    SYS_getrusage
    // Who and where it is, and random bytes.
    SYS_getpid SYS_getppid SYS_gettid SYS_getpgid SYS_getsid SYS_getuid SYS_geteuid SYS_getgid
    SYS_getegid SYS_getresuid SYS_getresgid SYS_getgroups SYS_uname SYS_sysinfo SYS_getrandom
];

/// The allowed calls from [`RECENT_FROM`] on: closing many descriptors, and `access` with flags.
const RECENT: &[c_long] = calls![SYS_close_range SYS_faccessat2];

/// The allowed calls that only `x86_64` has: older names, and thread-local storage.
#[cfg(target_arch = "x86_64")]
const ALLOWED_HERE: &[c_long] = calls![
    SYS_open SYS_stat SYS_lstat SYS_access SYS_readlink SYS_getdents SYS_dup2 SYS_pipe SYS_poll
    SYS_select SYS_epoll_create SYS_epoll_wait SYS_eventfd SYS_pause SYS_time SYS_getpgrp SYS_getrlimit
    SYS_arch_prctl
];
#[cfg(not(target_arch = "x86_64"))]
const ALLOWED_HERE: &[c_long] = &[];

/// Allowed requests to a terminal or a pipe. Others would change file attributes.
const IOCTLS: &[u64] = &[
    0x5401,      // TCGETS, for `isatty`.
    0x802c_542a, // TCGETS2, the same for newer C libraries.
    0x5413,      // TIOCGWINSZ
    0x541b,      // FIONREAD
    0x5421,      // FIONBIO
    0x5450,      // FIONCLEX
    0x5451,      // FIOCLEX
];
/// Copies and flags of descriptors. Others would send signals, take leases or lock files.
const FCNTLS: &[i32] = &[
    libc::F_DUPFD,
    libc::F_DUPFD_CLOEXEC,
    libc::F_GETFD,
    libc::F_SETFD,
    libc::F_GETFL,
    libc::F_SETFL,
    libc::F_GETPIPE_SZ,
];
/// Names of threads and memory regions. Others would let it outlive its host.
const PRCTLS: &[i32] = &[libc::PR_SET_NAME, libc::PR_GET_NAME, libc::PR_SET_VMA];
/// What `clone` must not do: create a namespace, or a process that traces it.
const CLONE_REFUSED: i32 = libc::CLONE_NEWNS
    | libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_PTRACE;

/// Whether the process may still start its interpreter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exec {
    /// [`EXEC_FD`] may be executed.
    Once,
    Never,
}

/// Denies all other calls to this thread and its children. Calls of another architecture kill the process.
pub(crate) fn confine(exec: Exec) -> Result<(), String> {
    let mut program = absent();
    program.extend(allowed(exec).map_err(|error| format!("seccomp: {error}"))?);
    seccompiler::apply_filter(&program).map_err(|error| format!("seccomp: {error}"))
}

/// The list as a program that refuses everything else with "operation not permitted".
fn allowed(exec: Exec) -> Result<BpfProgram, seccompiler::BackendError> {
    let listed = ALLOWED.iter().chain(RECENT).chain(ALLOWED_HERE);
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> = listed.map(|call| (*call, Vec::new())).collect();
    // Threads are allowed, processes are not.
    let thread = u64::from(libc::CLONE_THREAD.unsigned_abs());
    let looked_at = SeccompCmpOp::MaskedEq(thread | u64::from(CLONE_REFUSED.unsigned_abs()));
    rules.insert(libc::SYS_clone, vec![when(0, SeccompCmpArgLen::Qword, looked_at, thread)?]);
    // It may read its own limits.
    let own = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, 0)?;
    let unchanged = SeccompCondition::new(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Eq, 0)?;
    rules.insert(libc::SYS_prlimit64, vec![SeccompRule::new(vec![own, unchanged])?]);
    rules.insert(libc::SYS_ioctl, any_of(1, IOCTLS.iter().copied())?);
    rules.insert(libc::SYS_fcntl, any_of(1, FCNTLS.iter().map(|command| u64::from(command.unsigned_abs())))?);
    rules.insert(libc::SYS_prctl, any_of(0, PRCTLS.iter().map(|option| u64::from(option.unsigned_abs())))?);
    if exec == Exec::Once {
        rules.insert(libc::SYS_execveat, any_of(0, [u64::from(EXEC_FD.unsigned_abs())])?);
    }
    let refusal = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    SeccompFilter::new(rules, refusal, SeccompAction::Allow, std::env::consts::ARCH.try_into()?)?.try_into()
}

fn when(
    argument: u8,
    length: SeccompCmpArgLen,
    operation: SeccompCmpOp,
    value: u64,
) -> Result<SeccompRule, seccompiler::BackendError> {
    SeccompRule::new(vec![SeccompCondition::new(argument, length, operation, value)?])
}

/// The argument is one of these. The kernel compares only its lower half.
fn any_of(
    argument: u8,
    values: impl IntoIterator<Item = u64>,
) -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let is = |value| when(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value);
    values.into_iter().map(is).collect()
}

/// The beginning of the program: recent calls fail as if the kernel did not have them. Among them is `clone3`, whose
/// flags no filter can see. On `x86_64`, the highest numbers are all calls again in another ABI. Anything else
/// continues to the list.
fn absent() -> BpfProgram {
    let number_at = 0;
    let load = code(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS);
    let is_equal = code(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K);
    let is_at_least = code(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K);
    let end = code(libc::BPF_RET | libc::BPF_K);
    let step = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    let mut program = vec![step(load, 0, 0, number_at)];
    for (n_behind, call) in RECENT.iter().rev().enumerate().rev() {
        // Jumps over the other calls of the list, the comparison below and its result.
        let to_list = u8::try_from(n_behind + 2).expect("the list is short");
        program.push(step(is_equal, to_list, 0, u32::try_from(*call).unwrap_or(u32::MAX)));
    }
    program.push(step(is_at_least, 0, 1, RECENT_FROM));
    program.push(step(end, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs()));
    program
}

fn code(bits: u32) -> u16 {
    u16::try_from(bits).expect("codes of the filter language have 16 bits")
}
