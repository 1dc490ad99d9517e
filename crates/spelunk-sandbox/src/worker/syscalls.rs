//! System calls that no interpreter needs, as a filter of the kernel. A list of what is forbidden, on top of Landlock:
//! what an interpreter and its C library need differs between versions, what would be a way out does not.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    sock_filter,
};

/// The one descriptor that may be executed, once: it closes on that, and the limit of open files keeps the number from
/// ever being given again.
pub(crate) const EXEC_FD: i32 = 200;

/// Refused with "operation not permitted".
const DENIED: &[libc::c_long] = &[
    // The network, and sockets to other processes.
    libc::SYS_socket,
    libc::SYS_socketpair,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    // Other programs and processes.
    libc::SYS_execve,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pidfd_send_signal,
    libc::SYS_kcmp,
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_setpgid,
    libc::SYS_setsid,
    libc::SYS_setpriority,
    libc::SYS_sched_setscheduler,
    libc::SYS_personality,
    // What Landlock does not look at: owners, rights, times and attributes of files.
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_inotify_init1,
    libc::SYS_fanotify_init,
    // Name spaces and mounts.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_mount_setattr,
    // The limits that we set.
    libc::SYS_setrlimit,
    libc::SYS_seccomp,
    // Memory that outlives the process, and queues.
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_msgget,
    libc::SYS_semget,
    libc::SYS_mq_open,
    libc::SYS_mlock,
    libc::SYS_mlock2,
    libc::SYS_mlockall,
    // The kernel itself.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_userfaultfd,
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
    libc::SYS_syslog,
    libc::SYS_vhangup,
];

/// Calls that only the older of the two architectures has.
#[cfg(target_arch = "x86_64")]
const DENIED_HERE: &[libc::c_long] = &[
    libc::SYS_fork,
    libc::SYS_vfork,
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
    libc::SYS_inotify_init,
    libc::SYS_iopl,
    libc::SYS_ioperm,
    libc::SYS_modify_ldt,
    libc::SYS_kexec_file_load,
];
#[cfg(not(target_arch = "x86_64"))]
const DENIED_HERE: &[libc::c_long] = &[];

/// Whether the process may still start its interpreter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exec {
    /// [`EXEC_FD`] may be executed.
    Once,
    /// Nothing may be.
    Never,
}

/// Forbids the calls to this thread and to what it starts.
pub(crate) fn forbid(exec: Exec) -> Result<(), String> {
    let why = |error: seccompiler::Error| format!("seccomp: {error}");
    let program = denied(exec).map_err(|error| format!("seccomp: {error}"))?;
    seccompiler::apply_filter(&absent()).map_err(why)?;
    seccompiler::apply_filter(&program).map_err(why)
}

fn denied(exec: Exec) -> Result<BpfProgram, seccompiler::BackendError> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        DENIED.iter().chain(DENIED_HERE).map(|call| (*call, Vec::new())).collect();
    let when = |argument, length, operation, value| {
        SeccompRule::new(vec![SeccompCondition::new(argument, length, operation, value)?])
    };
    // Threads yes, processes no.
    let thread = u64::from(libc::CLONE_THREAD.unsigned_abs());
    rules.insert(libc::SYS_clone, vec![when(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(thread), 0)?]);
    // Limits may be read.
    rules.insert(libc::SYS_prlimit64, vec![when(2, SeccompCmpArgLen::Qword, SeccompCmpOp::Ne, 0)?]);
    let exec_rules = match exec {
        Exec::Once => {
            vec![when(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, u64::from(EXEC_FD.unsigned_abs()))?]
        }
        Exec::Never => Vec::new(),
    };
    rules.insert(libc::SYS_execveat, exec_rules);
    let refusal = SeccompAction::Errno(libc::EPERM.unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, refusal, std::env::consts::ARCH.try_into()?)?.try_into()
}

/// Calls that are answered as if the kernel had none of the kind. `clone3` has its flags where no filter can see them, and
/// the C library falls back to `clone`. The numbers above the bit are the same calls again under another name.
fn absent() -> BpfProgram {
    const OTHER_ABI_BIT: u32 = 0x4000_0000;
    let number_at = 0;
    let load = code(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS);
    let is_equal = code(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K);
    let is_at_least = code(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K);
    let end = code(libc::BPF_RET | libc::BPF_K);
    let clone3 = u32::try_from(libc::SYS_clone3).unwrap_or(u32::MAX);
    let step = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    vec![
        step(load, 0, 0, number_at),
        step(is_equal, 2, 0, clone3),
        step(is_at_least, 1, 0, OTHER_ABI_BIT),
        step(end, 0, 0, libc::SECCOMP_RET_ALLOW),
        step(end, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs()),
    ]
}

fn code(bits: u32) -> u16 {
    u16::try_from(bits).expect("codes of the filter language have 16 bits")
}
