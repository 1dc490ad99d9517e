//! Notes: what was noticed in a text, in a form that can be written, parsed and merged: counts
//! (`name=number`) and facts (sentences).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

use super::asked::Question;
use crate::pattern;

/// The name of a total count.
pub(super) const ADDED_UP: &str = "all";

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Notes {
    pub(super) counts: BTreeMap<String, u64>,
    pub(super) facts: BTreeSet<String>,
}

static NUMBER: LazyLock<Regex> = LazyLock::new(|| pattern(r"is (\d{6})\.$"));
static KEEPER: LazyLock<Regex> = LazyLock::new(|| pattern(r"kept by ([^ ]+ [^ ]+) since"));

impl Notes {
    pub(super) fn count(&mut self, name: &str, n: u64) {
        *self.counts.entry(name.to_owned()).or_insert(0) += n;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.counts.is_empty() && self.facts.is_empty()
    }

    /// Drops facts that the answer does not depend on, if there is an answer.
    pub(super) fn bearing(self, asked: &Question) -> Self {
        let Question::Bridge { destination, year } = asked else { return self };
        let Some(facts) = self.chain(destination, year) else { return self };
        Self { facts: facts.into_iter().collect(), counts: self.counts }
    }

    pub(super) fn written(&self) -> String {
        let counts = self.counts.iter().map(|(name, n)| format!("{name}={n}"));
        counts.chain(self.facts.iter().cloned()).collect::<Vec<_>>().join("; ")
    }

    fn total(&self) -> u64 {
        self.counts.get(ADDED_UP).copied().unwrap_or_else(|| self.counts.values().sum())
    }

    /// The part of each fact that follows a word.
    fn after<'a>(&'a self, word: &str) -> impl Iterator<Item = &'a str> {
        self.facts.iter().filter_map(move |fact| fact.split_once(word).map(|(_, after)| after))
    }

    /// The answer; `None` if the notes do not contain it.
    pub(super) fn value(&self, asked: &Question) -> Option<String> {
        let captured = |pattern: &Regex| {
            self.facts
                .iter()
                .find_map(|fact| pattern.captures(fact)?.get(1).map(|found| found.as_str().to_owned()))
        };
        let listed = |items: Vec<String>| (!items.is_empty()).then(|| items.join(", "));
        match asked {
            Question::Count { .. } | Question::Errors { .. } | Question::Returned { .. } => {
                Some(self.total().to_string())
            }
            Question::Common => self.counts.iter().max_by_key(|(_, n)| **n).map(|(topic, _)| topic.clone()),
            Question::Customers { .. } => Some(self.facts.len().to_string()),
            Question::Pairs { first, second } => self.pairs(first, second),
            Question::Number { .. } => captured(&NUMBER),
            Question::Keeper { .. } => captured(&KEEPER),
            Question::Numbers { .. } => listed(
                self.facts
                    .iter()
                    .filter_map(|fact| Some(NUMBER.captures(fact)?.get(1)?.as_str().to_owned()))
                    .collect(),
            ),
            Question::Bridge { destination, year } => self.bridge(destination, year),
            Question::Definition { .. } => listed(self.after("in the file ").map(str::to_owned).collect()),
            Question::Callers { .. } => {
                let own: Vec<&str> = self.after("by the file ").collect();
                let others = self.after("in the file ").filter(|file| !own.contains(file));
                listed(others.map(str::to_owned).collect())
            }
            Question::Constant { .. } => self.after(" has the value ").next().map(str::to_owned),
            // Facts are sorted, and begin with the time or the price.
            Question::FirstError => self.after(" first error: ").next().map(str::to_owned),
            Question::Dearest { .. } => self.after(" dearest order: ").last().map(str::to_owned),
            Question::Declined { .. } => self.after(" made by user ").next().map(str::to_owned),
        }
    }

    fn pairs(&self, first: &str, second: &str) -> Option<String> {
        let users = |topic: &str| -> Vec<u64> {
            let of_topic = self.facts.iter().filter(|fact| fact.ends_with(&format!(" wrote about {topic}")));
            of_topic.filter_map(|fact| fact.split(' ').nth(1)?.parse().ok()).collect()
        };
        let (firsts, seconds) = (users(first), users(second));
        let pairs: BTreeSet<String> = firsts
            .iter()
            .flat_map(|a| seconds.iter().map(move |b| format!("({}, {})", a.min(b), a.max(b))))
            .collect();
        (!pairs.is_empty()).then(|| pairs.into_iter().collect::<Vec<_>>().join("; "))
    }

    fn bridge(&self, destination: &str, year: &str) -> Option<String> {
        let [_, _, opened] = self.chain(destination, year)?;
        let (_, year) = opened.split_once("was opened in ")?;
        Some(year.chars().take_while(char::is_ascii_digit).collect())
    }

    /// The three facts that lead from an expedition to a year.
    fn chain(&self, destination: &str, year: &str) -> Option<[String; 3]> {
        let find = |start: &str| {
            let fact = self.facts.iter().find(|fact| fact.starts_with(start))?;
            let rest = fact.strip_prefix(start)?.split(',').next()?;
            Some((fact.clone(), rest.to_owned()))
        };
        let (led, leader) = find(&format!("The expedition to {destination} of {year} was led by "))?;
        let (born, town) = find(&format!("{leader} was born in "))?;
        let (opened, _) = find(&format!("In {town} the bridge was opened in "))?;
        Some([led, born, opened])
    }
}
