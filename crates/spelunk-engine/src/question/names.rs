//! Names in a question: words that can be searched for literally, because they have only one spelling. Small models
//! copy the first example that they see, so an example with the names of their own question helps them.

use std::path::Path;

use spelunk_context::{DocEntry, View};

/// The most names per search.
const NAMES_MAX: usize = 4;
const NAME_CHARS_MAX: usize = 60;

/// Words of a question that look like names, in order: capitalised within a sentence, containing a digit or an
/// underscore, or in backticks.
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

/// A first block of code for a question; the default one if it contains no names.
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
