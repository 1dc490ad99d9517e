//! Splits a question into sentences that ask and sentences that explain. Instructions about the form of the reply are
//! for the model and not interpreted here.

use super::sentences::sentences;

/// The sentences that ask; all of them if none has a question mark.
pub(crate) fn questions(question: &str) -> String {
    let all: Vec<&str> = question.lines().flat_map(sentences).collect();
    let asking: Vec<&str> = all.iter().copied().filter(|sentence| sentence.ends_with('?')).collect();
    if asking.is_empty() { all.join(" ") } else { asking.join(" ") }
}

/// The sentences that explain the question.
pub(crate) fn told(question: &str) -> String {
    let all = question.lines().flat_map(sentences);
    all.filter(|sentence| !sentence.ends_with('?')).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_asks_is_told_from_what_tells() {
        let question = "Each is good (or fair) or bad. How many are bad?\nAnd why? Be brief.";
        assert_eq!(
            (questions(question), told(question)),
            ("How many are bad? And why?".into(), "Each is good (or fair) or bad. Be brief.".into())
        );
        assert_eq!((questions("Count them."), told("Count them?")), ("Count them.".into(), String::new()));
        assert_eq!((questions(""), told("")), (String::new(), String::new()));
    }
}
