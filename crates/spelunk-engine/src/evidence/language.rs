//! The language of a text, judged by its script and its common words, and "The documents do not say." in that language.

struct Language {
    name: &'static str,
    words: &'static [&'static str],
    not_said: &'static str,
}

const JAPANESE: Language =
    Language { name: "Japanese", words: &[], not_said: "文書には書かれていません。" };
const CHINESE: Language = Language { name: "Chinese", words: &[], not_said: "文档中没有说明。" };
const ENGLISH: Language = Language {
    name: "English",
    words: &["the", "is", "what", "which", "how", "who", "when", "where", "of", "does", "and", "to", "a"],
    not_said: "The documents do not say.",
};
const OTHERS: [Language; 3] = [
    Language {
        name: "German",
        words: &[
            "der", "die", "das", "ist", "wie", "welche", "welcher", "welches", "wer", "wann", "wo", "und",
            "nicht", "viele",
        ],
        not_said: "Die Dokumente sagen es nicht.",
    },
    Language {
        name: "French",
        words: &[
            "le", "la", "les", "est", "quel", "quelle", "quels", "qui", "combien", "du", "des", "pas", "où",
            "une",
        ],
        not_said: "Les documents ne le disent pas.",
    },
    Language {
        name: "Spanish",
        words: &[
            "el", "los", "las", "es", "qué", "cuál", "quién", "cuántos", "cuántas", "cuándo", "dónde", "del",
            "por", "una",
        ],
        not_said: "Los documentos no lo dicen.",
    },
];

/// The sentence in the language of a question; English if nothing else is likely.
pub(crate) fn not_said(question: &str) -> &'static str {
    detect(question).unwrap_or(&ENGLISH).not_said
}

/// The name of the language of a text; `None` if it cannot be determined.
pub(crate) fn language_of(text: &str) -> Option<&'static str> {
    detect(text).map(|language| language.name)
}

fn detect(text: &str) -> Option<&'static Language> {
    if text.chars().any(|c| ('ぁ'..='ヿ').contains(&c)) {
        return Some(&JAPANESE);
    }
    if text.chars().any(|c| ('一'..='鿿').contains(&c)) {
        return Some(&CHINESE);
    }
    let words: Vec<String> = text
        .split(|c: char| !c.is_alphabetic())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let n_words =
        |language: &Language| words.iter().filter(|word| language.words.contains(&word.as_str())).count();
    let other = OTHERS
        .iter()
        .max_by_key(|language| n_words(language))
        .filter(|other| n_words(other) > n_words(&ENGLISH));
    other.or_else(|| (n_words(&ENGLISH) > 0).then_some(&ENGLISH))
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

    #[test]
    fn small_words_tell_the_language() {
        assert_eq!(language_of("The pump was replaced by Ada after the flood."), Some("English"));
        assert_eq!(language_of("Die Pumpe wurde nach der Flut ersetzt."), Some("German"));
        assert_eq!(language_of("x = 1\ny = 2"), None);
    }
}
