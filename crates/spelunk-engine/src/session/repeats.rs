//! Detects repetition: turns that repeat earlier actions with the same results. A model in such a loop gets a
//! message; if that does not help, it is stuck. A turn with a new action or result resets the count.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;
use spelunk_types::BlobId;

/// The consecutive turns without anything new after which a model is stuck.
const REPEATS_MAX: u32 = 3;

static CALL_ID: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b[0-9]+(\.[0-9]+)*#[0-9]+").expect("a literal"));

pub(crate) const NUDGE: &str =
    "This repeats an earlier step, with the same result. Try something else, or answer with what you have.";

#[derive(Debug, Default)]
pub(crate) struct Repeats {
    seen: HashSet<BlobId>,
    n_in_a_row: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Novelty {
    New,
    Again,
    Stuck,
}

impl Repeats {
    pub(crate) fn judge(&mut self, done: &[String], came_to: &[String]) -> Novelty {
        let came_to: Vec<String> = came_to.iter().map(|text| unnumbered(text)).collect();
        let turn = format!("{}\0\0{}", done.join("\0"), came_to.join("\0"));
        if self.seen.insert(spelunk_journal::digest(turn.as_bytes())) {
            self.n_in_a_row = 0;
            return Novelty::New;
        }
        self.n_in_a_row += 1;
        if self.n_in_a_row >= REPEATS_MAX { Novelty::Stuck } else { Novelty::Again }
    }
}

/// Removes counters that change with each turn: cell numbers in tracebacks, ids of calls, and the number of scripts left.
fn unnumbered(text: &str) -> String {
    let text = &CALL_ID.replace_all(text, "#");
    let mut pieces = text.split("<cell ");
    let mut bare = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        bare += "<cell ";
        bare += piece.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    let is_count = |line: &&str| line.starts_with('[') && line.ends_with(" scripts left]");
    bare.lines().filter(|line| !is_count(line)).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(turns: &[(&str, &str)]) -> Vec<Novelty> {
        let mut repeats = Repeats::default();
        turns.iter().map(|(done, came_to)| repeats.judge(&[(*done).into()], &[(*came_to).into()])).collect()
    }

    #[test]
    fn a_circle_of_any_length_ends() {
        use Novelty::{Again, New, Stuck};
        let (a, b) = (("a", "1"), ("b", "2"));
        assert_eq!(judged(&[a, a, a, a]), [New, Again, Again, Stuck]);
        assert_eq!(judged(&[a, b, a, b, a]), [New, New, Again, Again, Stuck]);
        assert_eq!(judged(&[a, a, a, b, a, a, a]), [New, Again, Again, New, Again, Again, Stuck]);
    }

    #[test]
    fn what_comes_to_something_else_is_new() {
        assert_eq!(
            judged(&[("next()", "1"), ("next()", "2"), ("next()", "3"), ("next()", "4")]),
            [Novelty::New; 4]
        );
        assert_eq!(judged(&[("a", "b"), ("ab", "")]), [Novelty::New; 2]);
    }

    #[test]
    fn what_only_counts_turns_is_not_new() {
        let broke = |n: u32| format!("  File \"<cell {n}>\", line 1\nNameError: x");
        let ran = |n: u32| format!("Output:\n4\n[0 sub-model calls; {n} scripts left]");
        let failed = |n: u32| format!("model-request-refused: call `0.1#{n}` failed");
        for said in [&broke as &dyn Fn(u32) -> String, &ran, &failed] {
            let mut repeats = Repeats::default();
            let turns: Vec<Novelty> = (1..=4).map(|n| repeats.judge(&["x".into()], &[said(n)])).collect();
            assert_eq!(turns.last(), Some(&Novelty::Stuck), "{}", said(1));
        }
    }
}
