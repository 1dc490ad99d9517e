//! Which commands a script may call. Those that wait, throw dice, read clocks or reach for a host are not there; what is
//! left gives the same output for the same desk.

use bashkit::hooks::{HookAction, ToolEvent};

/// Commands that are taken away, each with what to do instead.
const REFUSED: &[(&str, &str)] = &[
    ("sleep", "nothing happens while you wait"),
    ("timeout", "scripts have a limit of their own"),
    ("watch", "nothing happens while you wait"),
    ("retry", "a command that fails will fail again"),
    ("times", "there is no clock"),
    ("uptime", "there is no clock"),
    ("shuf", "chance would make the run differ each time; use awk with srand(1)"),
    ("uuidgen", "chance would make the run differ each time"),
    ("openssl", "chance would make the run differ each time; use sha256sum for a hash"),
    ("mktemp", "chance would make the run differ each time; name a file under /tmp"),
    ("dd", "use head -c and tail -c"),
    ("mkfifo", "use a file under /tmp"),
    ("curl", "there is no network"),
    ("wget", "there is no network"),
    ("http", "there is no network"),
    ("parallel", "use xargs"),
    ("ln", "there are no links; use cp"),
    ("link", "there are no links; use cp"),
    ("history", "there is none"),
    ("fc", "there is none"),
    ("sudo", "there is only one user"),
    ("python", "use RunScript"),
    ("python3", "use RunScript"),
];

/// What to say about a command that is not there on purpose.
pub(super) fn refusal(name: &str) -> Option<&'static str> {
    REFUSED.iter().find(|(refused, _)| *refused == name).map(|(_, why)| *why)
}

/// The names that get a command of our own which only says why.
pub(super) fn refused_names() -> impl Iterator<Item = &'static str> {
    REFUSED.iter().map(|(name, _)| *name)
}

/// Whether a command of the interpreter is kept.
pub(super) fn is_kept(name: &str) -> bool {
    refusal(name).is_none()
}

/// Stops commands whose arguments ask for chance.
pub(super) fn guard(event: ToolEvent) -> HookAction<ToolEvent> {
    let is_random = |argument: &String| match argument.strip_prefix("--") {
        Some(long) => long.starts_with("random") || long == "sort=random",
        None => argument.starts_with('-') && argument.contains('R'),
    };
    if event.name == "sort" && event.args.iter().any(is_random) {
        return HookAction::Cancel("sort: random order would make the run differ each time\n".to_owned());
    }
    HookAction::Continue(event)
}
