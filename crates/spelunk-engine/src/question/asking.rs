//! Splits a question into sentences that ask and sentences that explain. Instructions about the
//! form of the reply are for the model and are not interpreted here.

use super::sentences::sentences;

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
        assert_eq!(told(question), "Each is good (or fair) or bad. Be brief.");
        assert_eq!((told("Count them?"), told("")), (String::new(), String::new()));
    }
}
