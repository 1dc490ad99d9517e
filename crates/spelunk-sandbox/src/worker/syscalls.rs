//! The system calls that an interpreter needs, as a seccomp filter on top of Landlock. Everything not listed is
//! refused, including calls that later kernels add. The lists are what `CPython` 3.10 to 3.14 and the workers of this
//! crate use on glibc and musl.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    sock_filter,
};

/// The only descriptor that may be executed, once: it closes on exec, and the limit on open files keeps the number from
/// being assigned again.
pub(crate) const EXEC_FD: i32 = 200;

/// The first number of the calls added in Linux 5.1 and later; from here on all architectures use the same numbers. C
/// libraries try these and fall back if the kernel lacks them, so those that are refused fail as if absent.
const RECENT_FROM: u32 = 424;

/// The allowed calls, with the reason.
const ALLOWED: &[(&str, &[c_long])] = &[
    (
        "Descriptors that are open: pipes to the host and files it may read.",
        &[
            libc::SYS_read,
            libc::SYS_readv,
            libc::SYS_pread64,
            libc::SYS_preadv,
            libc::SYS_write,
            libc::SYS_writev,
            libc::SYS_pwrite64,
            libc::SYS_pwritev,
            libc::SYS_lseek,
            libc::SYS_close,
            libc::SYS_dup,
            libc::SYS_dup3,
            libc::SYS_pipe2,
        ],
    ),
    (
        "Looking at files. Landlock decides which may be opened, and none may be for writing.",
        &[
            libc::SYS_openat,
            libc::SYS_newfstatat,
            libc::SYS_fstat,
            libc::SYS_statx,
            libc::SYS_statfs,
            libc::SYS_fstatfs,
            libc::SYS_getdents64,
            libc::SYS_readlinkat,
            libc::SYS_faccessat,
            libc::SYS_getcwd,
            libc::SYS_chdir,
            libc::SYS_fchdir,
            libc::SYS_umask,
            libc::SYS_fadvise64,
        ],
    ),
    (
        "Memory of its own.",
        &[
            libc::SYS_brk,
            libc::SYS_mmap,
            libc::SYS_munmap,
            libc::SYS_mremap,
            libc::SYS_mprotect,
            libc::SYS_madvise,
            libc::SYS_membarrier,
        ],
    ),
    (
        "Threads, beside `clone`, and the end of the process.",
        &[
            libc::SYS_set_tid_address,
            libc::SYS_set_robust_list,
            libc::SYS_get_robust_list,
            libc::SYS_rseq,
            libc::SYS_futex,
            libc::SYS_sched_yield,
            libc::SYS_sched_getaffinity,
            libc::SYS_sched_getparam,
            libc::SYS_sched_getscheduler,
            libc::SYS_getcpu,
            libc::SYS_exit,
            libc::SYS_exit_group,
        ],
    ),
    (
        "Signals that arrive. None can be sent.",
        &[
            libc::SYS_rt_sigaction,
            libc::SYS_rt_sigprocmask,
            libc::SYS_rt_sigpending,
            libc::SYS_rt_sigsuspend,
            libc::SYS_rt_sigtimedwait,
            libc::SYS_rt_sigreturn,
            libc::SYS_sigaltstack,
            libc::SYS_restart_syscall,
        ],
    ),
    (
        "Waiting for descriptors.",
        &[
            libc::SYS_ppoll,
            libc::SYS_pselect6,
            libc::SYS_epoll_create1,
            libc::SYS_epoll_ctl,
            libc::SYS_epoll_pwait,
            libc::SYS_eventfd2,
        ],
    ),
    (
        "The time, and how much of it was used.",
        &[
            libc::SYS_clock_gettime,
            libc::SYS_clock_getres,
            libc::SYS_clock_nanosleep,
            libc::SYS_nanosleep,
            libc::SYS_gettimeofday,
            libc::SYS_times,
            libc::SYS_getrusage,
        ],
    ),
    (
        "Who and where it is, and random bytes.",
        &[
            libc::SYS_getpid,
            libc::SYS_getppid,
            libc::SYS_gettid,
            libc::SYS_getpgid,
            libc::SYS_getsid,
            libc::SYS_getuid,
            libc::SYS_geteuid,
            libc::SYS_getgid,
            libc::SYS_getegid,
            libc::SYS_getresuid,
            libc::SYS_getresgid,
            libc::SYS_getgroups,
            libc::SYS_uname,
            libc::SYS_sysinfo,
            libc::SYS_getrandom,
        ],
    ),
    ("Of the recent calls: closing many descriptors, and `access` with flags.", RECENT),
];

/// The allowed calls from [`RECENT_FROM`] on.
const RECENT: &[c_long] = &[libc::SYS_close_range, libc::SYS_faccessat2];

/// The same under names that only the older of the two architectures has, and its thread-local storage.
#[cfg(target_arch = "x86_64")]
const ALLOWED_HERE: &[c_long] = &[
    libc::SYS_open,
    libc::SYS_stat,
    libc::SYS_lstat,
    libc::SYS_access,
    libc::SYS_readlink,
    libc::SYS_getdents,
    libc::SYS_dup2,
    libc::SYS_pipe,
    libc::SYS_poll,
    libc::SYS_select,
    libc::SYS_epoll_create,
    libc::SYS_epoll_wait,
    libc::SYS_eventfd,
    libc::SYS_pause,
    libc::SYS_time,
    libc::SYS_getpgrp,
    libc::SYS_getrlimit,
    libc::SYS_arch_prctl,
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
    /// Nothing may be executed.
    Never,
}

/// Denies all other calls to this thread and whatever it starts. A process that makes calls of another architecture is
/// killed.
pub(crate) fn confine(exec: Exec) -> Result<(), String> {
    let mut program = absent();
    program.extend(allowed(exec).map_err(|error| format!("seccomp: {error}"))?);
    seccompiler::apply_filter(&program).map_err(|error| format!("seccomp: {error}"))
}

/// The list as a program that refuses everything else with "operation not permitted".
fn allowed(exec: Exec) -> Result<BpfProgram, seccompiler::BackendError> {
    let listed = ALLOWED.iter().flat_map(|(_, calls)| *calls).chain(ALLOWED_HERE);
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
