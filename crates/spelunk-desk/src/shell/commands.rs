//! Which commands a script may call. Those that wait, use randomness, read clocks or need a host are removed.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use bashkit::hooks::{HookAction, ToolEvent};

/// Removed commands, each with what to do instead.
pub(super) const REFUSED: &[(&str, &str)] = &[
    ("sleep", "waiting has no effect here"),
    ("timeout", "scripts already have a time limit"),
    ("watch", "waiting has no effect here"),
    ("retry", "a command that fails will fail again"),
    ("times", "time is not available"),
    ("uptime", "time is not available"),
    ("shuf", "randomness would make runs irreproducible; use awk with srand(1)"),
    ("uuidgen", "randomness would make runs irreproducible"),
    ("openssl", "randomness would make runs irreproducible; use sha256sum for a hash"),
    ("dd", "use head -c and tail -c"),
    ("mkfifo", "use a file under /tmp"),
    ("curl", "there is no network"),
    ("wget", "there is no network"),
    ("http", "there is no network"),
    ("parallel", "use xargs"),
    ("ln", "links are not supported; use cp"),
    ("link", "links are not supported; use cp"),
    ("history", "there is no history"),
    ("fc", "there is no history"),
    ("sudo", "there is only one user"),
    ("jq", "use RunScript with `import json`"),
    ("python", "use RunScript"),
    ("python3", "use RunScript"),
];

/// Commands that pad to a given width or length before any limit applies.
const FILLING: [&str; 12] =
    ["expand", "unexpand", "pr", "nl", "numfmt", "fmt", "fold", "column", "od", "xxd", "hexdump", "paste"];
/// The maximum digits of a number passed to such a command.
const FILLING_DIGITS_MAX: usize = 4;

pub(super) fn is_kept(name: &str) -> bool {
    !REFUSED.iter().any(|(refused, _)| *refused == name)
}

/// Checks every command before it runs, on the same thread.
#[derive(Debug)]
pub(super) struct Guard {
    /// Where that thread's stack begins.
    stack_start: usize,
    stack_bytes_max: usize,
    script_bytes_max: usize,
    /// Why commands were stopped, each reason once: the interpreter does not report reasons.
    reasons: Mutex<BTreeSet<&'static str>>,
}

impl Guard {
    /// A guard for the calling thread, from the current stack position on.
    pub(super) fn here(stack_bytes_max: usize, script_bytes_max: usize) -> Self {
        Self { stack_start: stack_now(), stack_bytes_max, script_bytes_max, reasons: Mutex::default() }
    }

    pub(super) fn check(&self, event: ToolEvent) -> HookAction<ToolEvent> {
        match self.objection(&event) {
            None => HookAction::Continue(with_escapes(event)),
            Some(reason) => {
                self.reasons.lock().unwrap_or_else(PoisonError::into_inner).insert(reason);
                HookAction::Cancel(reason.to_owned())
            }
        }
    }

    pub(super) fn reasons(&self) -> Vec<&'static str> {
        self.reasons.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect()
    }

    fn objection(&self, event: &ToolEvent) -> Option<&'static str> {
        // Some nesting is not counted: `eval eval …` could overflow the stack, which kills the process.
        if self.stack_start.abs_diff(stack_now()) > self.stack_bytes_max {
            return Some("the commands are nested too deeply");
        }
        let arguments_bytes: usize = event.args.iter().map(String::len).sum();
        if event.name == "trap" && arguments_bytes > self.script_bytes_max {
            return Some("trap: the command is too long");
        }
        if FILLING.contains(&event.name.as_str())
            && event.args.iter().any(|argument| has_large_number(argument))
        {
            return Some("a width or length has more than four digits");
        }
        let is_random = |argument: &String| match argument.strip_prefix("--") {
            Some(long) => long.starts_with("random") || long == "sort=random",
            None => argument.starts_with('-') && argument.contains('R'),
        };
        let is_chance = event.name == "sort" && event.args.iter().any(is_random);
        is_chance.then_some("sort: randomness would make runs irreproducible")
    }
}

/// Whether an option or a bare number is too large; file names may contain any digits.
fn has_large_number(argument: &str) -> bool {
    let is_option = argument.starts_with(['-', '+']);
    let is_number = argument.starts_with(|c: char| c.is_ascii_digit())
        && argument.chars().all(|c| c.is_ascii_alphanumeric() || c == ',');
    (is_option || is_number)
        && argument.split(|c: char| !c.is_ascii_digit()).any(|digits| digits.len() > FILLING_DIGITS_MAX)
}

/// Expands the escapes in the text of sed's `a`, `i` and `c`. The interpreter would drop their backslashes, and
/// `sed -i '7c\    if x:\n        y'` would put an `n` into someone's program.
fn with_escapes(mut event: ToolEvent) -> ToolEvent {
    if event.name == "sed" {
        for argument in &mut event.args {
            if let Some(written) = written_out(argument) {
                *argument = written;
            }
        }
    }
    event
}

/// Expands the escapes of a one-line script that is one such command; `None` for anything else.
fn written_out(script: &str) -> Option<String> {
    if script.contains('\n') {
        return None;
    }
    let mut rest = script;
    // Addresses: numbers, `$` and patterns between slashes.
    while let Some(pattern) =
        rest.trim_start_matches(|c: char| "0123456789$,~+! ".contains(c)).strip_prefix('/')
    {
        let end = pattern
            .match_indices('/')
            .find(|(at, _)| !pattern.get(..*at).is_some_and(|s| s.ends_with('\\')))?;
        rest = pattern.get(end.0 + 1..)?;
    }
    let command =
        rest.trim_start_matches(|c: char| "0123456789$,~+!I ".contains(c)).strip_prefix(['a', 'i', 'c'])?;
    let text = command.trim_start();
    // This backslash only preserves the blanks after it.
    let text = text.strip_prefix('\\').unwrap_or(text);
    let mut written = script.strip_suffix(text)?.to_owned();
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match (letter, if letter == '\\' { letters.next() } else { None }) {
            ('\\', Some('n')) => written.push_str("\\\n"),
            ('\\', Some('t')) => written.push('\t'),
            (letter, next) => {
                written.push(letter);
                written.extend(next);
            }
        }
    }
    Some(written)
}

/// The approximate stack pointer of this thread.
#[inline(never)]
fn stack_now() -> usize {
    let here = 0_u8;
    std::ptr::from_ref(std::hint::black_box(&here)).addr()
}
