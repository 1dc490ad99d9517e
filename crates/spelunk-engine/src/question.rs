//! The text of a question: its sentences, those that explain it, whether it asks for a count, and the names in it.
//! Instructions about the form of the reply are for the model and are not interpreted here.

use std::path::Path;

use spelunk_context::{DocEntry, View};

/// The sentences of a line: split after `.`, `?` or `!` before a space and a capital letter.
pub(crate) fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let mut cuts = vec![0];
    for (idx, c) in line.char_indices() {
        if matches!(c, '.' | '?' | '!') && line.get(idx + 1..).is_some_and(begins_anew) {
            cuts.push(idx + 1);
        }
    }
    cuts.push(line.len());
    let texts: Vec<&str> = cuts.windows(2).filter_map(|pair| line.get(pair[0]..pair[1])).collect();
    texts.into_iter().map(str::trim).filter(|text| !text.is_empty())
}

fn begins_anew(rest: &str) -> bool {
    rest.strip_prefix(' ').is_some_and(|rest| rest.trim_start().starts_with(char::is_uppercase))
}

pub(crate) fn told(question: &str) -> String {
    let all = question.lines().flat_map(sentences);
    all.filter(|sentence| !sentence.ends_with('?')).collect::<Vec<_>>().join(" ")
}

/// Whether a question asks for a number or a list over everything, by its English words.
pub(crate) fn is_counting(question: &str) -> bool {
    let text = question.to_lowercase();
    let words: Vec<&str> =
        text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let padded = format!(" {} ", words.join(" "));
    COUNTING.split('|').any(|phrase| padded.contains(&format!(" {phrase} ")))
}

/// "Number of" only with the article, because the "phone number of" somebody is a single fact.
const COUNTING: &str = "how many|how often|how much|count|the number of|total number of|total|sum of|average|median|\
    distribution|histogram|most common|most frequent|least common|top 3|top 5|top 10|top ten|percentage|percent|\
    share of|per day|per hour|per month|frequency|list all|list every|all the|every|group by|rank";

const NAMES_MAX: usize = 4;
const NAME_CHARS_MAX: usize = 60;

/// Words of a question that can be searched for literally, in order: capitalised within a sentence, containing a digit
/// or an underscore, or in backticks.
pub(crate) fn names_in(question: &str) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    let mut begins_sentence = true;
    for word in question.split_whitespace() {
        let is_quoted = word.starts_with('`');
        let name = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_');
        let is_capital = name.chars().next().is_some_and(char::is_uppercase) && !begins_sentence;
        let has_sign = name.contains(|c: char| c == '_' || c.is_ascii_digit());
        let is_word = name.chars().count() > 2 && name.chars().count() <= NAME_CHARS_MAX;
        if is_word && (is_capital || has_sign || is_quoted) && !names.contains(&name) {
            names.push(name);
        }
        begins_sentence = word.ends_with(['.', '?', '!', ':']);
    }
    names.truncate(NAMES_MAX);
    names
}

/// A first block of code for a question; the default one if it contains no names. Small models copy the first example
/// that they see, so an example with the names of their own question helps them.
pub(crate) fn first_block(question: &str) -> String {
    let names: Vec<String> = names_in(question).into_iter().map(regex_syntax_free).collect();
    if names.is_empty() {
        return "print(context[:500])".to_owned();
    }
    format!("for hit in grep(r\"{}\", ignore_case=True):\n    print(hit)", names.join("|"))
}

/// A program that answers a different question about a view of this shape, as an example for models.
pub(crate) fn first_program(view: &View) -> &'static str {
    let is_table = |document: &DocEntry| {
        let extension = Path::new(&document.name).extension().unwrap_or_default();
        extension.eq_ignore_ascii_case("csv") || extension.eq_ignore_ascii_case("tsv")
    };
    let mut documents = view.documents();
    match (documents.next(), documents.next()) {
        (Some(only), None) if is_table(only) => TABLE_PROGRAM,
        (Some(_), None) => LINES_PROGRAM,
        _ => DOCUMENTS_PROGRAM,
    }
}

const TABLE_PROGRAM: &str = r#"import csv
rows = list(csv.DictReader(context.splitlines()))
chosen = [row for row in rows if row["column"] == "value"]
FINAL(len(chosen))"#;
const LINES_PROGRAM: &str = r#"chosen = []
for line in context.splitlines():
    words = line.split()
    if "value" in words:
        chosen.append(line)
FINAL(len(chosen))"#;
const DOCUMENTS_PROGRAM: &str = r#"chosen = []
for hit in grep(r"value", max=1000):
    chosen.append((hit["doc"], hit["line"], hit["text"]))
FINAL(len(chosen))"#;

/// The name as a literal pattern, safe within double quotes.
fn regex_syntax_free(name: &str) -> String {
    let mut pattern = String::new();
    for c in name.chars() {
        match c {
            _ if c.is_alphanumeric() || c == '_' || c == '-' => pattern.push(c),
            _ => pattern.push('.'),
        }
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_cut_into_sentences() {
        let cut: Vec<&str> = sentences("It is 3.5 m. So? Yes! e.g. this. Ärger. ").collect();
        assert_eq!(cut, ["It is 3.5 m.", "So?", "Yes! e.g. this.", "Ärger."]);
        assert_eq!(sentences("").count(), 0);
    }

    #[test]
    fn what_asks_is_told_from_what_tells() {
        let question = "Each is good (or fair) or bad. How many are bad?\nAnd why? Be brief.";
        assert_eq!(told(question), "Each is good (or fair) or bad. Be brief.");
        assert_eq!((told("Count them?"), told("")), (String::new(), String::new()));
    }

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

    #[test]
    fn names_are_what_stands_for_itself() {
        let cases = [
            ("What is the phone number of the office in Baranvik?", vec!["Baranvik"]),
            ("When was UNESCO founded?", vec!["UNESCO"]),
            ("Which files call the function `is_plain_value`?", vec!["is_plain_value"]),
            ("Who is Ada Lovelace? And Ada's mother?", vec!["Ada", "Lovelace", "Ada's"]),
            ("Which colour is the most common? Say it.", vec![]),
            ("Was ist Überschall in v2.1 bei Köln?", vec!["Überschall", "v2.1", "Köln"]),
            ("", vec![]),
        ];
        for (question, names) in cases {
            assert_eq!(names_in(question), names, "{question}");
        }
        let many = "x A1b B2c C3d D4e E5f F6g";
        assert_eq!(names_in(many).len(), NAMES_MAX);
        assert_eq!(names_in(&format!("see {}", "N".repeat(5000))), <[&str; 0]>::default());
    }

    #[test]
    fn a_first_block_cannot_be_broken_out_of() {
        assert_eq!(first_block("How many lines?"), "print(context[:500])");
        assert_eq!(
            first_block("Who runs Acme\"+import(os)+\" in Köln?"),
            "for hit in grep(r\"Acme..import.os|Köln\", ignore_case=True):\n    print(hit)"
        );
    }
}
