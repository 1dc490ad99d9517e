//! Multi-hop questions: finds the chain of sentences behind a nested question, each linked by a name in the one
//! before. "When was the library opened where the conductor of the concert was born?" is answered in the third: who
//! conducted it, where she was born, which library is there. The chain that covers most words of the question wins.

use std::collections::BTreeSet;

use spelunk_context::View;

use super::name_hops::{Sentence, VIEW_BYTES_MAX, holds, lines_with, names_on};
use super::sentence_qa::{asked_words, held};
use crate::question::names_in;

/// A name in more sentences than this is not distinctive.
const LINES_MAX: usize = 40;
/// Names that link one sentence to the next.
const STEPS_MAX: usize = 3;
/// Chains followed at a time.
const PATHS_MAX: usize = 12;
const NAMES_MAX: usize = 80;

/// Words that begin a question within a question.
const NESTING: &[&str] = &[" where ", " whose ", " who ", " whom ", " in which ", " of which ", " at which "];
/// Words at the beginning of a question, where they nest nothing.
const HEAD_WORDS: usize = 3;

#[derive(Debug, Clone)]
struct Path {
    sentences: Vec<Sentence>,
    /// The words of the question that they contain.
    covered: BTreeSet<usize>,
}

/// The sentences of the best chain, in order; `None` if the question is not nested, or if one sentence covers as
/// much.
pub(super) fn path(view: &View, question: &str) -> Option<Vec<Sentence>> {
    if view.bytes() > VIEW_BYTES_MAX || !is_nested(question) {
        return None;
    }
    let asked = asked_words(question);
    let given: Vec<String> = names_in(question).into_iter().map(str::to_owned).collect();
    let begin = |sentence: Sentence| {
        let covered = held(&asked, &sentence.text).into_iter().collect();
        Path { sentences: vec![sentence], covered }
    };
    let mut paths: Vec<Path> = lines_with(view, &given, LINES_MAX).into_iter().map(begin).collect();
    best_first(&mut paths);
    let alone = paths.first()?.covered.len();
    for _ in 0..STEPS_MAX {
        let longer = extended(view, &paths, &given, &asked);
        if longer.is_empty() {
            break;
        }
        paths.extend(longer);
        best_first(&mut paths);
    }
    let best = paths.into_iter().next()?;
    (best.covered.len() > alone && best.sentences.len() > 1).then_some(best.sentences)
}

fn is_nested(question: &str) -> bool {
    let words: Vec<&str> = question.split_whitespace().skip(HEAD_WORDS).collect();
    let text = format!(" {} ", words.join(" ").to_lowercase());
    NESTING.iter().any(|word| text.contains(word))
}

/// Sorts by words covered; ties go to the shorter, then to the earlier one.
fn best_first(paths: &mut Vec<Path>) {
    paths.sort_by_key(|path| (usize::MAX - path.covered.len(), path.sentences.len()));
    paths.truncate(PATHS_MAX);
}

/// Extends each chain by one sentence that contains a name of its last one and a missing word of the question.
fn extended(view: &View, paths: &[Path], given: &[String], asked: &[String]) -> Vec<Path> {
    let leads = |path: &Path| {
        let last = path.sentences.last().map_or("", |last| last.text.as_str());
        let is_new = |name: &String| !given.iter().any(|given| given.contains(name) || name.contains(given));
        names_on(last).into_iter().filter(is_new).collect::<Vec<_>>()
    };
    let mut names: Vec<String> = paths.iter().flat_map(leads).collect();
    names.sort_unstable();
    names.dedup();
    names.truncate(NAMES_MAX);
    let found = lines_with(view, &names, LINES_MAX);
    let mut longer = Vec::new();
    for path in paths {
        let names = leads(path);
        for sentence in &found {
            let is_led_to = names.iter().any(|name| holds(&sentence.text, name));
            if !is_led_to || path.sentences.contains(sentence) {
                continue;
            }
            let mut covered = path.covered.clone();
            covered.extend(held(asked, &sentence.text));
            let is_known = paths.iter().any(|other| {
                other.sentences.last() == Some(sentence) && other.sentences.starts_with(&path.sentences)
            });
            if covered.len() > path.covered.len() && !is_known {
                let sentences = [path.sentences.as_slice(), std::slice::from_ref(sentence)].concat();
                longer.push(Path { sentences, covered });
            }
        }
    }
    longer
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::small_model::name_hops::tests::view;

    const TRAVELS: &str = "The concert in Selewick of 1876 was conducted by Rosa Berg.\n\
        It rained. The concert in Selewick of 1882 was conducted by Simon Ravum. Nobody minded.\n\
        Simon Ravum wrote letters to Rosa Berg.\n\
        Simon Ravum was born in Elegate, by the sea.\n\
        Rosa Berg was born in Dalik.\n\
        In Dalik the library was opened in 1850; the station is older.\n\
        In Elegate the library was opened in 1821; the station is from 1871.\n";

    fn check(question: &str, expected: &Expect) {
        let found = path(&view(&[("travels.md", TRAVELS)]), question);
        let lines =
            found.into_iter().flatten().map(|sentence| format!("{}: {}\n", sentence.line, sentence.text));
        expected.assert_eq(&lines.collect::<String>());
    }

    #[test]
    fn a_nested_question_leads_from_name_to_name() {
        check(
            "In which year was the library opened in the town where the conductor of the concert in Selewick of 1882 was born? Reply with the year.",
            &expect![[r#"
                2: The concert in Selewick of 1882 was conducted by Simon Ravum.
                4: Simon Ravum was born in Elegate, by the sea.
                7: In Elegate the library was opened in 1821; the station is from 1871.
            "#]],
        );
    }

    #[test]
    fn what_one_sentence_says_needs_no_path() {
        check("Which is the concert in Selewick of 1882 whose conductor was Simon Ravum?", &expect![""]);
        check("The library at Elegate is old. When was that library opened?", &expect![""]);
        check("When was the concert in Selewick conducted by Simon Ravum?", &expect![""]);
        check("Is there a town where a zeppelin landed?", &expect![""]);
        check("", &expect![""]);
    }
}
