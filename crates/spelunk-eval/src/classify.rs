//! Classifies a trial: what its answer is worth and, if it is not fully right, why: the first class
//! that applies, from the most obvious to the vaguest.

use crate::wire::{Failure, Outcome, Status, Trial};
use crate::{Form, Kind, Scored};

impl Outcome {
    /// The outcome of a trial whose answer was scored.
    pub fn classify(scored: &Scored, trial: &Trial) -> Self {
        if !trial.is_right() && scored.is_denial {
            Self::HonestMiss
        } else {
            Self::of(trial, scored.form == Form::Missing)
        }
    }

    /// The recorded outcome. Older results have none and get the one that can be told without their tasks.
    pub fn recorded(trial: &Trial) -> Self {
        let is_missing = trial.answer.trim().is_empty()
            || matches!(trial.failure, Some(Failure::Error | Failure::Parsing));
        trial.outcome.unwrap_or_else(|| Self::of(trial, is_missing))
    }

    fn of(trial: &Trial, is_missing: bool) -> Self {
        match trial.cited {
            _ if trial.is_right() => Self::Right,
            _ if is_missing => Self::NoAnswer,
            Some(true) => Self::WrongCited,
            Some(false) | None => Self::Wrong,
        }
    }
}

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
    fn the_outcome_is_what_the_answer_is_worth() {
        let line = r#"{"id":"a","kind":"needle","seed":1,"tokens":8000,"question":"What size has it?","answer":"17","scoring":{"how":"exact"},"files":["a/b.txt"]}"#;
        let task = crate::read_tasks(line).unwrap().remove(0);
        let of = |answer: &str, cited| {
            let scored = crate::score(&task, answer);
            let trial = Trial { answer: answer.into(), score: Some(scored.score), cited, ..Trial::default() };
            Outcome::classify(&scored, &trial).name()
        };
        let all = [
            of("17", Some(true)),
            of("The documents do not say.", None),
            of("Die Dokumente sagen das nicht.", Some(true)),
            of("The documents do not say, but it is 18.", Some(false)),
            of("", None),
            of("Let me look at the file.", Some(true)),
            of("18", None),
            of("18", Some(false)),
            of("18", Some(true)),
        ];
        let expected = [
            "right",
            "honest miss",
            "honest miss",
            "wrong",
            "no answer",
            "no answer",
            "wrong",
            "wrong",
            "wrong with a citation",
        ];
        assert_eq!(all, expected);
        assert_eq!(serde_json::from_value::<Outcome>("newer".into()).unwrap(), Outcome::Wrong);
    }

    #[test]
    fn results_without_an_outcome_have_one_nevertheless() {
        let of = |answer: &str, score, failure| {
            let trial = Trial { answer: answer.into(), score: Some(score), failure, ..Trial::default() };
            Outcome::recorded(&trial)
        };
        assert_eq!(of("17", 1.0, None), Outcome::Right);
        assert_eq!(of("", 0.0, Some(Failure::Budget)), Outcome::NoAnswer);
        assert_eq!(of("Hm.", 0.0, Some(Failure::Parsing)), Outcome::NoAnswer);
        assert_eq!(of("18", 0.5, Some(Failure::Wrong)), Outcome::Wrong);
    }

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
            assert_eq!(serde_json::from_value::<Failure>(failure.name().into()).unwrap(), failure);
        }
        assert_eq!(serde_json::from_value::<Failure>("newer".into()).unwrap(), Failure::Wrong);
    }
}
