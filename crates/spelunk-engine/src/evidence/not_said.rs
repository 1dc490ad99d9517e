//! "The documents do not say.", in the language of the question as far as its script and its small words tell.

/// A language: words that its questions often contain, and the sentence.
const LANGUAGES: [(&[&str], &str); 4] = [
    (
        &[
            "der", "die", "das", "ist", "wie", "welche", "welcher", "welches", "wer", "wann", "wo", "und",
            "nicht", "viele",
        ],
        "Die Dokumente sagen es nicht.",
    ),
    (
        &[
            "le", "la", "les", "est", "quel", "quelle", "quels", "qui", "combien", "du", "des", "pas", "où",
            "une",
        ],
        "Les documents ne le disent pas.",
    ),
    (
        &[
            "el", "los", "las", "es", "qué", "cuál", "quién", "cuántos", "cuántas", "cuándo", "dónde", "del",
            "por", "una",
        ],
        "Los documentos no lo dicen.",
    ),
    (
        &["the", "is", "what", "which", "how", "who", "when", "where", "of", "does", "and"],
        "The documents do not say.",
    ),
];

/// The sentence in the language of a question; English if nothing else is likely.
pub(crate) fn not_said(question: &str) -> &'static str {
    let has = |ranges: &[std::ops::RangeInclusive<char>]| {
        question.chars().any(|c| ranges.iter().any(|range| range.contains(&c)))
    };
    if has(&['ぁ'..='ヿ']) {
        return "文書には書かれていません。";
    }
    if has(&['一'..='鿿']) {
        return "文档中没有说明。";
    }
    let words: Vec<String> = question
        .split(|c: char| !c.is_alphabetic())
        .map(str::to_lowercase)
        .filter(|word| !word.is_empty())
        .collect();
    let n_words =
        |(own, _): &(&[&str], &str)| words.iter().filter(|word| own.contains(&word.as_str())).count();
    let [.., english] = LANGUAGES;
    let most = LANGUAGES.iter().max_by_key(|language| n_words(language)).unwrap_or(&english);
    if n_words(most) > n_words(&english) { most.1 } else { english.1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sentence_is_in_the_language_of_the_question() {
        let cases = [
            ("What is the port?", "The documents do not say."),
            ("Wie lautet der Port?", "Die Dokumente sagen es nicht."),
            ("Quel est le port ?", "Les documents ne le disent pas."),
            ("¿Cuál es el puerto?", "Los documentos no lo dicen."),
            ("端口是多少？", "文档中没有说明。"),
            ("ポートは何番ですか。", "文書には書かれていません。"),
            ("port?", "The documents do not say."),
            ("", "The documents do not say."),
        ];
        for (question, expected) in cases {
            assert_eq!(not_said(question), expected, "{question}");
        }
    }
}
