//! Reading: line by line, with attention that decreases with the length of the prompt. Understands
//! documents as the engine shows them, plain text, and earlier notes.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "each kind of line matters to a few questions and to no other"
)]

use std::sync::LazyLock;

use regex::Regex;

use super::asked::Question;
use super::notes::{ADDED_UP, Notes};
use crate::generate::{TOPICS, topic_of};
use crate::pattern;
use crate::rng::Rng;

pub(super) struct Reader {
    pub(super) rng: Rng,
    pub(super) noticed_permille: u64,
    pub(super) mistake_permille: u64,
}

static NUMBERED: LazyLock<Regex> = LazyLock::new(|| pattern(r"^ *\d+\| ?"));
static DOCUMENT: LazyLock<Regex> = LazyLock::new(|| pattern(r#"^<document name="([^"]*)""#));
static COUNTED: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b([a-z]+)=(\d+)\b"));
static ADDED: LazyLock<Regex> = LazyLock::new(|| pattern(r"The counts of all parts add up to (\d+)"));
/// Facts in generated prose, and in notes.
static FACTS: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"The registration number of the [a-z ]+ at \w+ is \d{6}\.",
        r"|The [a-z ]+ at \w+ has been kept by \S+ \S+ since the war\.",
        r"|The expedition to \w+ of \d{4} was led by \S+ \S+, who wrote little about it\.",
        r"|\S+ \S+ was born in \w+, the youngest of four, and left it early\.",
        r"|In \w+ the bridge was opened in \d{4};",
        r"|user \d+ wrote about \w+",
        r"|customer \d+ bought it",
        r"|(?:in|by) the file [^\s;,]+",
        r"|\w+ has the value \d+",
        r"|\S+ first error: \w+",
        r"|\d+ dearest order: \d+",
        r"|request \w+ made by user \d+",
    ))
});

impl Reader {
    pub(super) fn read(&mut self, asked: &Question, text: &str) -> Notes {
        let mut notes = Notes::default();
        let mut document = "";
        let mut users: Vec<(String, String)> = Vec::new();
        for line in text.lines().filter(|line| !line.starts_with("Question: ")) {
            if let Some(name) = DOCUMENT.captures(line).and_then(|found| found.get(1)) {
                document = name.as_str();
                continue;
            }
            let line = NUMBERED.find(line).and_then(|number| line.get(number.end()..)).unwrap_or(line);
            self.read_line(asked, line, document, &mut users, &mut notes);
        }
        notes
    }

    fn notices(&mut self) -> bool {
        self.rng.happens(self.noticed_permille)
    }

    fn read_line(
        &mut self,
        asked: &Question,
        line: &str,
        document: &str,
        users: &mut Vec<(String, String)>,
        notes: &mut Notes,
    ) {
        let is_message = line.starts_with('#') && line.contains(" | user ");
        match asked {
            Question::Count { .. } | Question::Common | Question::Pairs { .. } if is_message => {
                self.message(asked, line, notes);
            }
            Question::FirstError | Question::Errors { .. } | Question::Declined { .. }
                if line.contains("Z ") =>
            {
                self.log_line(asked, line, users, notes);
            }
            Question::Returned { .. } | Question::Dearest { .. } | Question::Customers { .. }
                if line.contains(",2025-") =>
            {
                self.row(asked, line, notes);
            }
            Question::Definition { name } | Question::Callers { name } | Question::Constant { name }
                if line.contains(name.as_str()) =>
            {
                self.code_line(asked, name, line, document, notes);
            }
            _ => self.sentences(asked, line, notes),
        }
    }

    /// Prose, and earlier notes.
    fn sentences(&mut self, asked: &Question, line: &str, notes: &mut Notes) {
        for fact in FACTS.find_iter(line) {
            if is_about(asked, fact.as_str()) && self.notices() {
                notes.facts.insert(fact.as_str().to_owned());
            }
        }
        // A total that code computed replaces the notes of parts.
        let is_added = notes.counts.contains_key(ADDED_UP);
        if line.contains('=') && !is_added && !matches!(asked, Question::Bridge { .. }) {
            for found in COUNTED.captures_iter(line) {
                let (Some(name), Some(n)) = (found.get(1), found.get(2)) else { continue };
                notes.count(name.as_str(), n.as_str().parse().unwrap_or_default());
            }
        }
        if let Some(sum) = ADDED.captures(line).and_then(|found| found.get(1)) {
            notes.counts.clear();
            notes.count(ADDED_UP, sum.as_str().parse().unwrap_or_default());
        }
    }

    fn message(&mut self, asked: &Question, line: &str, notes: &mut Notes) {
        if !self.notices() {
            return;
        }
        let topic = if self.rng.happens(self.mistake_permille) {
            Some(self.rng.pick(&TOPICS))
        } else {
            topic_of(line)
        };
        let Some(topic) = topic.map(|topic| topic.name) else { return };
        match asked {
            Question::Count { topic: wanted } if wanted == topic => notes.count(topic, 1),
            Question::Common => notes.count(topic, 1),
            Question::Pairs { first, second } if first == topic || second == topic => {
                let user =
                    line.split(" | user ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap_or_default();
                notes.facts.insert(format!("user {user} wrote about {topic}"));
            }
            _ => {}
        }
    }

    fn log_line(
        &mut self,
        asked: &Question,
        line: &str,
        users: &mut Vec<(String, String)>,
        notes: &mut Notes,
    ) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let at = |idx: usize| words.get(idx).copied().unwrap_or_default();
        let value =
            |name: &str| words.iter().find_map(|word| word.strip_prefix(name)).unwrap_or_default().to_owned();
        let is_error = at(1) == "ERROR";
        match asked {
            Question::FirstError if is_error && notes.facts.is_empty() && self.notices() => {
                notes.facts.insert(format!("{} first error: {}", at(0), at(2)));
            }
            Question::Errors { service, from, until } if is_error && at(2) == service => {
                let hour: u64 = at(0).get(11..13).and_then(|hour| hour.parse().ok()).unwrap_or(24);
                if (*from..*until).contains(&hour) && self.notices() {
                    notes.count("errors", 1);
                }
            }
            Question::Declined { .. } if line.contains(" user=") => {
                users.push((value("req="), value("user=")));
            }
            Question::Declined { code } if line.ends_with(&format!("code {code}")) && self.notices() => {
                let request = value("req=");
                if let Some((_, user)) = users.iter().find(|(known, _)| *known == request) {
                    notes.facts.insert(format!("request {request} made by user {user}"));
                }
            }
            _ => {}
        }
    }

    fn row(&mut self, asked: &Question, line: &str, notes: &mut Notes) {
        let cells: Vec<&str> = line.trim().split(',').collect();
        let &[order, _, region, product, customer, units, price, state] = cells.as_slice() else { return };
        match asked {
            Question::Returned { region: wanted }
                if wanted == region && state == "returned" && self.notices() =>
            {
                notes.count("units", units.parse().unwrap_or_default());
            }
            Question::Dearest { region: wanted } if wanted == region && self.notices() => {
                notes.facts.insert(format!("{price:0>8} dearest order: {order}"));
                // Keeps only the most expensive order.
                while notes.facts.len() > 1 {
                    notes.facts.pop_first();
                }
            }
            Question::Customers { product: wanted } if wanted == product && self.notices() => {
                notes.facts.insert(format!("customer {customer} bought it"));
            }
            _ => {}
        }
    }

    fn code_line(&mut self, asked: &Question, name: &str, line: &str, document: &str, notes: &mut Notes) {
        let is_definition =
            ["fn ", "def ", "func ", "function "].iter().any(|word| line.contains(&format!("{word}{name}")));
        let is_called = line.contains(&format!("{name}(")) && !is_definition;
        let fact = match asked {
            Question::Definition { .. } if is_definition => format!("in the file {document}"),
            Question::Callers { .. } if is_called => format!("in the file {document}"),
            Question::Callers { .. } if is_definition => format!("by the file {document}"),
            Question::Constant { .. } => {
                let value = line
                    .split_once('=')
                    .map(|(_, value)| value.trim().trim_end_matches(';').replace('_', ""));
                match value.filter(|value| !value.is_empty() && value.chars().all(|c| c.is_ascii_digit())) {
                    Some(value) => format!("{name} has the value {value}"),
                    None => return self.sentences(asked, line, notes),
                }
            }
            _ => return self.sentences(asked, line, notes),
        };
        if self.notices() {
            notes.facts.insert(fact);
        }
    }
}

fn is_about(asked: &Question, fact: &str) -> bool {
    match asked {
        Question::Number { thing, place } => fact.contains(&format!("number of the {thing} at {place} ")),
        Question::Numbers { thing } => fact.contains(&format!("number of the {thing} at ")),
        Question::Keeper { thing, place } => fact.contains(&format!("The {thing} at {place} has been kept")),
        Question::Bridge { .. } => {
            ["was led by", "was born in", "the bridge was opened"].iter().any(|words| fact.contains(words))
        }
        Question::Pairs { .. } => fact.starts_with("user "),
        Question::Customers { .. } => fact.starts_with("customer "),
        Question::Definition { .. } | Question::Callers { .. } => fact.contains(" the file "),
        Question::Constant { name } => fact.starts_with(name.as_str()),
        Question::FirstError => fact.contains(" first error: "),
        Question::Dearest { .. } => fact.contains(" dearest order: "),
        Question::Declined { .. } => fact.contains(" made by user "),
        Question::Count { .. } | Question::Common | Question::Errors { .. } | Question::Returned { .. } => {
            false
        }
    }
}
