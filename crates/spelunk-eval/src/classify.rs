//! Classifies a trial that is not fully right: the first class that applies, from the most obvious to the vaguest.

use crate::wire::{Ran, Status};
use crate::{Failure, Form, Kind};

/// What the class is determined from.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// The kind of task.
    pub kind: Kind,
    /// Its variant.
    pub variant: &'a str,
    /// The strategy that was used in the end.
    pub strategy: &'a str,
    /// How it ended.
    pub status: Status,
    /// How the answer was given.
    pub form: Form,
    /// Calls of a model.
    pub calls: u64,
    /// What is known about its run.
    pub ran: Option<Ran>,
}

impl Failure {
    /// The class of a trial that was not fully right.
    pub fn classify(evidence: &Evidence<'_>) -> Self {
        match evidence.status {
            Status::Failed | Status::Outage => return Self::Error,
            Status::Partial => return Self::Budget,
            Status::Answered => {}
        }
        if evidence.form == Form::Missing {
            return Self::Parsing;
        }
        let Some(ran) = evidence.ran else { return Self::Wrong };
        let must_read =
            matches!(evidence.kind, Kind::Labels | Kind::Pairs) && evidence.variant.ends_with("read");
        match evidence.strategy {
            "repl" => {
                let n_turns = ran.cells + ran.cells_failed;
                if ran.cells == 0 || (must_read && evidence.calls <= n_turns) {
                    return Self::Decomposition;
                }
            }
            "map" if ran.tasks_failed > 0 => return Self::Coverage,
            "map" => {}
            _ if evidence.kind.needs_all() && ran.bytes_read < ran.bytes => return Self::Coverage,
            _ => {}
        }
        Self::Wrong
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_class_follows_from_what_is_known() {
        let ran = Ran { bytes_read: 10, bytes: 100, cells: 1, cells_failed: 0, tasks_failed: 0 };
        let of = |strategy: &'static str, variant: &'static str, status, form, calls, ran| {
            let evidence = Evidence { kind: Kind::Labels, variant, strategy, status, form, calls, ran };
            Failure::classify(&evidence).name()
        };
        let (done, asked) = (Status::Answered, Form::Asked);
        let all = [
            of("map", "count-read", Status::Failed, asked, 1, Some(ran)),
            of("map", "count-read", Status::Partial, asked, 1, Some(ran)),
            of("map", "count-read", done, Form::Missing, 1, Some(ran)),
            of("repl", "count-read", done, asked, 1, Some(ran)),
            of("repl", "count-read", done, asked, 9, Some(ran)),
            of("repl", "count-easy", done, asked, 1, Some(Ran { cells: 0, ..ran })),
            of("direct", "count-easy", done, asked, 1, Some(ran)),
            of("direct", "count-easy", done, asked, 1, Some(Ran { bytes_read: 100, ..ran })),
            of("map", "count-read", done, asked, 1, Some(Ran { tasks_failed: 1, ..ran })),
            of("rlms", "count-read", done, asked, 1, None),
        ];
        let expected = [
            "error",
            "budget",
            "parsing",
            "decomposition",
            "wrong-answer",
            "decomposition",
            "coverage",
            "wrong-answer",
            "coverage",
            "wrong-answer",
        ];
        assert_eq!(all, expected);
        assert!(Failure::ALL.iter().all(|failure| Failure::of(failure.name()) == Some(*failure)));
    }
}
