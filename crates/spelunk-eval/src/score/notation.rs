//! Numbers as people write them: `1,200` and `1_200`; `35.001.272`, `4 094` and `5,85` if the
//! question's language writes them so; versions, dates, times and addresses as one value.

use std::sync::LazyLock;

use regex::Regex;

use super::read::{is_cjk, ungrouped};
use crate::pattern;

static NUMBER: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"-?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?|-?[0-9]+(?:\.[0-9]+)?"));
static LOCAL_NUMBER: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"-?[0-9]{1,3}(?:[ \u{a0}\u{202f}][0-9]{3})+\b(?:,[0-9]+)?|-?[0-9]+(?:[.,][0-9]+)*")
});
/// Digits with the separators that may occur within one value.
static RUN: LazyLock<Regex> = LazyLock::new(|| pattern(r"[0-9]+(?:[.,:/\-][0-9]+)*"));
static LOCAL_RUN: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"[0-9]{1,3}(?:[ \u{a0}\u{202f}][0-9]{3})+\b|[0-9]+(?:[.,:/\-][0-9]+)*"));
/// A position in a file is no answer: "line 12", `notes.md:12`.
static PLACE: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"(?i)\b(line|page|section|chapter|step|row|zeile|seite|abschnitt|kapitel|ligne|chapitre|línea|página|capítulo)",
        r"[sn]? [0-9]+(?:[.\-–][0-9]+)*|\.[a-z]{1,5}:[0-9]+(?:[:\-][0-9]+)*",
    ))
});
/// Units that may follow a number without a space.
const UNITS: [&str; 6] = ["s", "ms", "sec", "min", "h", "px"];
const SPACES: [char; 3] = [' ', '\u{a0}', '\u{202f}'];

/// The text without positions in files, unless the question asks for one.
pub(super) fn without_places(text: &str, question: &str) -> String {
    let question = question.to_lowercase();
    let kept = |found: &regex::Captures<'_>| {
        let is_asked = found.get(1).is_some_and(|word| question.contains(&word.as_str().to_lowercase()));
        if is_asked { found.get(0).map_or("", |all| all.as_str()).to_owned() } else { " ".to_owned() }
    };
    PLACE.replace_all(text, kept).into_owned()
}

/// Numbers, each with its possible readings: in German, `1.234` may be either.
pub(super) fn numbers(text: &str, language: &str) -> Vec<Vec<f64>> {
    let text = ungrouped(text);
    if has_decimal_comma(language) {
        let all = LOCAL_NUMBER.find_iter(&text).map(|found| readings(found.as_str()));
        return all.filter(|readings| !readings.is_empty()).collect();
    }
    let all = NUMBER.find_iter(&text).filter_map(|found| found.as_str().replace(',', "").parse().ok());
    all.map(|number| vec![number]).collect()
}

/// A value made of digits, and its position.
pub(super) struct Run<'a> {
    pub(super) start: usize,
    pub(super) text: &'a str,
}

/// Values made of digits that are not part of a word.
pub(super) fn runs<'a>(text: &'a str, language: &str) -> Vec<Run<'a>> {
    let is_letter = |c: &char| c.is_alphabetic() && !is_cjk(*c);
    let pattern = if has_decimal_comma(language) { &LOCAL_RUN } else { &RUN };
    let all = pattern.find_iter(text).filter(|found| {
        let mut before = text.get(..found.start()).unwrap_or_default().chars().rev();
        let is_version = |c: char| c.eq_ignore_ascii_case(&'v');
        let begins = match before.next().filter(is_letter) {
            Some(c) => is_version(c) && !before.next().is_some_and(char::is_alphanumeric),
            None => true,
        };
        let after = text.get(found.end()..).unwrap_or_default();
        let unit: String = after.chars().take_while(is_letter).collect();
        begins && (unit.is_empty() || UNITS.contains(&unit.as_str()))
    });
    all.map(|found| Run { start: found.start(), text: found.as_str() }).collect()
}

/// Whether a value consists only of digits and separators.
pub(super) fn is_run(text: &str) -> bool {
    RUN.find(text).is_some_and(|found| found.len() == text.len())
}

/// The digits of a whole number without group separators.
pub(super) fn whole(run: &str, language: &str) -> Option<String> {
    let Some(separator) = run.chars().find(|c| !c.is_ascii_digit()) else { return Some(run.to_owned()) };
    let may_group = separator == ','
        || (has_decimal_comma(language) && (separator == '.' || SPACES.contains(&separator)));
    (may_group && is_grouped(run, separator)).then(|| run.replace(separator, ""))
}

fn has_decimal_comma(language: &str) -> bool {
    ["de", "fr", "es"].contains(&language)
}

fn is_grouped(run: &str, separator: char) -> bool {
    let mut groups = run.split(separator);
    let is_digits = |group: &str| group.chars().all(|c| c.is_ascii_digit());
    groups.next().is_some_and(|first| (1..=3).contains(&first.len()) && is_digits(first))
        && groups.all(|group| group.len() == 3 && is_digits(group))
}

fn readings(run: &str) -> Vec<f64> {
    let run = run.replace(SPACES, "");
    let Some((before, part)) = run.rsplit_once(['.', ',']) else { return run.parse().into_iter().collect() };
    let separator = if run.ends_with(&format!(",{part}")) { ',' } else { '.' };
    let grouped = is_grouped(run.trim_start_matches('-'), separator).then(|| run.replace(separator, ""));
    let decimal = (!before.contains(separator)).then(|| format!("{}.{part}", before.replace(['.', ','], "")));
    [grouped, decimal].into_iter().flatten().filter_map(|text| text.parse().ok()).collect()
}
