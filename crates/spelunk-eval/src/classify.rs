//! Classifies a trial that is not fully right: the first class that applies, from the most obvious to the vaguest.

use crate::wire::{Failure, Status, Trial};
use crate::{Form, Kind};

impl Failure {
    /// The class of a trial that was not fully right. `form` is how its answer was given.
    pub fn classify(kind: Kind, variant: &str, form: Form, trial: &Trial) -> Self {
        match trial.status {
            Status::Failed | Status::Outage => return Self::Error,
            Status::Partial => return Self::Budget,
            Status::Answered => {}
        }
        if form == Form::Missing {
            return Self::Parsing;
        }
        let Some(ran) = trial.ran else { return Self::Wrong };
        let must_read = matches!(kind, Kind::Labels | Kind::Pairs) && variant.ends_with("read");
        match trial.chose.as_deref().unwrap_or(&trial.strategy) {
            "repl" => {
                let n_turns = ran.cells + ran.cells_failed;
                if ran.cells == 0 || (must_read && trial.calls <= n_turns) {
                    return Self::Decomposition;
                }
            }
            "map" if ran.tasks_failed > 0 => return Self::Coverage,
            "map" => {}
            _ if kind.needs_all() && ran.bytes_read < ran.bytes => return Self::Coverage,
            _ => {}
        }
        Self::Wrong
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::RunFacts;

    #[test]
    fn the_class_follows_from_what_is_known() {
        let ran = RunFacts { bytes_read: 10, bytes: 100, cells: 1, cells_failed: 0, tasks_failed: 0 };
        let of = |strategy: &'static str, variant: &'static str, status, form, calls, ran| {
            let trial = Trial { strategy: strategy.to_owned(), status, calls, ran, ..Trial::default() };
            Failure::classify(Kind::Labels, variant, form, &trial).name()
        };
        let (done, asked) = (Status::Answered, Form::Asked);
        let all = [
            of("map", "count-read", Status::Failed, asked, 1, Some(ran)),
            of("map", "count-read", Status::Partial, asked, 1, Some(ran)),
            of("map", "count-read", done, Form::Missing, 1, Some(ran)),
            of("repl", "count-read", done, asked, 1, Some(ran)),
            of("repl", "count-read", done, asked, 9, Some(ran)),
            of("repl", "count-easy", done, asked, 1, Some(RunFacts { cells: 0, ..ran })),
            of("direct", "count-easy", done, asked, 1, Some(ran)),
            of("direct", "count-easy", done, asked, 1, Some(RunFacts { bytes_read: 100, ..ran })),
            of("map", "count-read", done, asked, 1, Some(RunFacts { tasks_failed: 1, ..ran })),
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
        for failure in Failure::ALL {
            assert_eq!(serde_json::from_value::<Failure>(failure.name().into()).unwrap(), *failure);
        }
        assert_eq!(serde_json::from_value::<Failure>("newer".into()).unwrap(), Failure::Wrong);
    }
}
