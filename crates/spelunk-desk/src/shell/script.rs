//! One script in one interpreter on a thread with a large stack. A panic in it ends only the script.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bashkit::{
    Bash, Builtin, BuiltinContext, ExecOptions, ExecResult, ExecutionLimits, ExecutionProfile,
    ExecutionProfileName, FileSystem, MemoryLimits, OutputCallback, async_trait,
};
use spelunk_types::shorten;

use super::commands::{self, Guard};
use super::list::List;
use super::temporary::Temporary;
use super::wire::ScriptEnd;
use crate::{DeskError, ShellLimits};

/// The stack of a script. Nearly all nesting is counted; the rest is bounded by the parser's steps (`time time …`) or
/// by the guard (`eval eval …`), and this is room for both. Memory is committed only when used.
const STACK_BYTES: usize = 1024 * 1024 * 1024;
/// The stack use at which the guard stops a script.
const GUARDED_BYTES: usize = 32 * 1024 * 1024;

/// Pipeline stages open at once; `&` runs its command synchronously.
const JOBS_MAX: usize = 64;

pub(super) fn run(
    files: Arc<dyn FileSystem>,
    script: &str,
    stdin: Option<&str>,
    limits: &ShellLimits,
) -> Result<ScriptEnd, DeskError> {
    if script.contains("SRANDOM") {
        return Ok(refused("$SRANDOM is random, which would make runs irreproducible"));
    }
    let work = || on_thread(files, script, stdin, limits);
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("shell".to_owned()).stack_size(STACK_BYTES);
        let running = thread
            .spawn_scoped(scope, work)
            .map_err(|error| DeskError::Shell { why: format!("could not start a thread: {error}") })?;
        // A panic of the interpreter ends the script, not this process.
        running
            .join()
            .unwrap_or_else(|_| Ok(refused("the interpreter failed on this script; write it differently")))
    })
}

pub(super) fn refused(why: &str) -> ScriptEnd {
    ScriptEnd { exit_code: 1, stopped: Some(why.to_owned()), ..ScriptEnd::default() }
}

fn on_thread(
    files: Arc<dyn FileSystem>,
    script: &str,
    stdin: Option<&str>,
    limits: &ShellLimits,
) -> Result<ScriptEnd, DeskError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .thread_stack_size(STACK_BYTES)
        .build()
        .map_err(|error| DeskError::Shell { why: format!("could not start its runtime: {error}") })?;
    let guard =
        Arc::new(Guard::here(GUARDED_BYTES, usize::try_from(limits.script_bytes_max).unwrap_or(usize::MAX)));
    let mut bash = interpreter(files, limits, &guard);
    // Output printed before a limit is hit is worth showing.
    let printed = Arc::new(Mutex::new([Vec::new(), Vec::new()]));
    let mut options = ExecOptions::new().streaming(watch(&printed, limits.output_bytes_max));
    if let Some(stdin) = stdin {
        options = options.stdin(stdin);
    }
    let ended = runtime.block_on(async {
        // Seeds `$RANDOM`, which would otherwise start anywhere.
        bash.exec("RANDOM=1").await?;
        bash.exec_with_options(script, options).await
    });
    let mut ended = match ended {
        Ok(result) => of_result(&result),
        Err(error) => {
            let printed = printed.lock().unwrap_or_else(PoisonError::into_inner);
            of_error(&error, &printed)
        }
    };
    for reason in guard.reasons() {
        ended.stderr.push_str(&format!("[refused: {reason}]\n"));
    }
    Ok(ended)
}

fn of_result(result: &ExecResult) -> ScriptEnd {
    let cut = |what: &str| format!("{what} exceeds the limit; only its beginning is shown");
    let stopped = match (result.stdout_truncated, result.stderr_truncated) {
        (true, _) => Some(cut("the output")),
        (false, true) => Some(cut("the error output")),
        (false, false) => None,
    };
    ScriptEnd {
        stdout: result.stdout.to_string(),
        stderr: result.stderr.to_string(),
        exit_code: result.exit_code,
        stopped,
    }
}

fn of_error(error: &bashkit::Error, [stdout, stderr]: &Printed) -> ScriptEnd {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let ended = refused(&shorten(&error.to_string(), 500));
    ScriptEnd { stdout: text(stdout), stderr: text(stderr), ..ended }
}

/// The output and the error output of a script so far, each up to a limit.
type Printed = [Vec<u8>; 2];

fn watch(printed: &Arc<Mutex<Printed>>, bytes_max: u64) -> OutputCallback {
    let printed = Arc::clone(printed);
    let bytes_max = usize::try_from(bytes_max).unwrap_or(usize::MAX);
    Box::new(move |stdout, stderr| {
        let mut printed = printed.lock().unwrap_or_else(PoisonError::into_inner);
        for (kept, more) in printed.iter_mut().zip([stdout.as_bytes(), stderr.as_bytes()]) {
            let room = bytes_max.saturating_sub(kept.len());
            kept.extend_from_slice(more.get(..room).unwrap_or(more));
        }
    })
}

fn interpreter(files: Arc<dyn FileSystem>, limits: &ShellLimits, guard: &Arc<Guard>) -> Bash {
    let guard = Arc::clone(guard);
    let count = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
    let timeout = Duration::from_millis(limits.timeout_ms);
    // The stack is sized for these three: lower is fine, higher is not.
    let defaults = ShellLimits::default();
    let variable_bytes_max = limits.variable_bytes_max.min(defaults.variable_bytes_max);
    let execution = ExecutionLimits::new()
        .max_work_units(limits.work_max)
        .max_aggregate_input_bytes(limits.input_bytes_max)
        .max_live_intermediate_bytes(limits.held_bytes_max)
        .max_commands(count(limits.commands_max.min(defaults.commands_max)))
        .max_loop_iterations(count(limits.loop_rounds_max))
        .max_total_loop_iterations(count(limits.loop_rounds_max))
        .max_function_depth(count(limits.recursion_max))
        .timeout(timeout)
        .parser_timeout(timeout)
        .max_input_bytes(count(limits.script_bytes_max.min(defaults.script_bytes_max)))
        .max_ast_depth(count(limits.nesting_max))
        .max_parser_operations(count(limits.syntax_steps_max))
        .max_stdout_bytes(count(limits.output_bytes_max))
        .max_stderr_bytes(count(limits.output_bytes_max))
        .max_background_jobs(JOBS_MAX);
    // The hardened profile rounds the output of `time`.
    let mut builder = Bash::builder()
        .profile(ExecutionProfile::named(ExecutionProfileName::Hardened))
        .fs(files)
        .rootfs(false)
        .follow_symlinks(false)
        .concurrent_jobs(false)
        .cwd("/")
        .env("HOME", "/")
        .env("TMPDIR", "/tmp")
        .env("TZ", "UTC")
        .env("LC_ALL", "C.UTF-8")
        .username("model")
        .hostname("desk")
        .fixed_epoch(limits.date_s)
        .limits(execution)
        .memory_limits(
            MemoryLimits::new()
                .max_total_variable_bytes(count(variable_bytes_max))
                .max_function_body_bytes(count(variable_bytes_max)),
        )
        .builtin_filter(commands::is_kept)
        .before_tool(Box::new(move |event| guard.check(event)));
    for &(name, why) in commands::REFUSED {
        builder = builder.builtin(name, Box::new(Refused { name, why }));
    }
    builder = builder.builtin("ls", Box::new(List)).builtin("mktemp", Box::new(Temporary));
    builder.build()
}

struct Refused {
    name: &'static str,
    why: &'static str,
}

#[async_trait]
impl Builtin for Refused {
    async fn execute(&self, _: BuiltinContext<'_>) -> bashkit::Result<ExecResult> {
        let Self { name, why } = self;
        Ok(ExecResult::err(format!("{name}: not available: {why}\n"), 127))
    }
}
