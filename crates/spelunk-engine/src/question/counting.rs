//! Recognises questions that ask for a count.

/// Whether a question asks for a number or a list over everything, by its English words.
pub(crate) fn is_counting(question: &str) -> bool {
    let text = question.to_lowercase();
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let padded = format!(" {} ", words.join(" "));
    COUNTING.iter().any(|phrase| padded.contains(&format!(" {phrase} ")))
}

const COUNTING: &[&str] = &[
    "how many",
    "how often",
    "how much",
    "count",
    // With the article, because the "phone number of" somebody is a single fact.
    "the number of",
    "total number of",
    "total",
    "sum of",
    "average",
    "median",
    "distribution",
    "histogram",
    "most common",
    "most frequent",
    "least common",
    "top 3",
    "top 5",
    "top 10",
    "top ten",
    "percentage",
    "percent",
    "share of",
    "per day",
    "per hour",
    "per month",
    "frequency",
    "list all",
    "list every",
    "all the",
    "every",
    "group by",
    "rank",
];

#[cfg(test)]
mod tests {
    use super::is_counting;

    #[test]
    fn whole_words_tell_whether_a_question_counts() {
        for question in ["How many requests failed?", "List all endpoints", "the share of timeouts"] {
            assert!(is_counting(question), "{question}");
        }
        for question in
            ["the accountant's recount", "Who wrote the budget chapter?", "its phone number of 2019", ""]
        {
            assert!(!is_counting(question), "{question}");
        }
    }
}
