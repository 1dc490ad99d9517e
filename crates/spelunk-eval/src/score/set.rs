//! A list of items in an answer: separated by commas, on lines of their own, or with "and" before the last one.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

use super::Form;
use super::read::{ExtractedAnswer, words};
use super::value::{QUOTED, Shape, is_file};
use crate::{Task, pattern};

static BULLET: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?m)^[ \t]*(?:[-*•]|[0-9]{1,3}[.)])[ \t]+(\S.*)$"));
static BETWEEN: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)[,;、，；\n]\s*(?:(?:and|und|et|y) )?| (?:and|und|et|y) |[和と]"));
/// The words before the list in a sentence.
static LEAD: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)^.*(?:: | (?:is|are|was|were|ist|sind|lauten|est|sont|es|son) )"));
/// What may follow an item on its line.
static REMARK: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?: \(|: | [-–—] |, ).*$"));

/// The items of an answer, each as its words. An item that is the last part of exactly one right
/// item counts as that item.
pub(super) fn items(given: &ExtractedAnswer, task: &Task) -> BTreeSet<String> {
    let is_code = task.answer.iter().all(|item| !item.contains(' ') && Shape::of(item) == Shape::Code);
    let bullets: Vec<&str> =
        BULLET.captures_iter(&given.rest).filter_map(|line| line.get(1)).map(|item| item.as_str()).collect();
    let pieces: Vec<String> = match given.form {
        _ if !bullets.is_empty() => {
            bullets.iter().map(|item| REMARK.replace(item, "").into_owned()).collect()
        }
        Form::Asked => split(&given.line),
        Form::Prose | Form::Missing if is_code => split(&given.rest),
        Form::Prose | Form::Missing => split(&LEAD.replace(&given.line, "")),
    };
    let asked = words(&task.question);
    let pieces =
        pieces.iter().flat_map(|piece| if is_code { names(piece, &asked) } else { vec![piece.clone()] });
    let meant = |piece: String| {
        let last = |item: &str| words(item.rsplit('.').next().unwrap_or_default());
        let mut same =
            task.answer.iter().filter(|item| is_code && !piece.contains('.') && last(item) == words(&piece));
        match (same.next(), same.next()) {
            (Some(one), None) => words(one).join(" "),
            _ => words(&piece).join(" "),
        }
    };
    pieces.map(meant).filter(|item| !item.is_empty()).collect()
}

fn split(text: &str) -> Vec<String> {
    BETWEEN.split(text).map(|piece| piece.trim().to_owned()).filter(|piece| !piece.is_empty()).collect()
}

/// The names in a piece: all of it if it is one word, otherwise the identifiers that the question does not contain.
fn names(piece: &str, asked: &[String]) -> Vec<String> {
    let trim = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_').to_owned();
    let is_new = |word: &String| !words(word).iter().all(|part| asked.contains(part));
    if !piece.trim().contains(char::is_whitespace) {
        return vec![trim(piece)];
    }
    let quoted: Vec<String> = QUOTED
        .captures_iter(piece)
        .filter_map(|found| found.get(1))
        .map(|name| trim(name.as_str()))
        .collect();
    let found = if quoted.is_empty() {
        piece.split_whitespace().map(trim).filter(|word| Shape::of(word) == Shape::Code).collect()
    } else {
        quoted
    };
    found.into_iter().filter(|word| is_new(word) && !is_file(word)).collect()
}
