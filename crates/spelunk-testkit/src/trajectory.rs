//! Golden trajectories: one Markdown file per scenario. Fenced blocks contain its files, its question, the model's
//! replies and faults by call, and the expected facts and answer; the prose between them is for people.

use std::collections::BTreeMap;

use spelunk_types::{Durability, Event};

use crate::{Fault, Rule, on, status};

/// A parsed scenario.
#[derive(Debug, Default)]
pub struct Trajectory {
    /// Files to answer from, by name.
    pub files: BTreeMap<String, String>,
    /// The question.
    pub question: String,
    /// Settings: `name = value` lines of `settings` blocks.
    pub settings: BTreeMap<String, String>,
    /// Replies by call.
    pub replies: BTreeMap<String, String>,
    /// The tools that replies call, by call: one per line, name and arguments.
    pub tools: BTreeMap<String, Vec<String>>,
    /// Faults by call, before the reply.
    pub faults: BTreeMap<String, Vec<String>>,
    /// The JSON Schema of the answer, if any.
    pub schema: Option<String>,
    /// The content of the last message that a call was sent, by call.
    pub shown: BTreeMap<String, String>,
    /// The expected facts.
    pub events: String,
    /// The expected answer and its citations, or the error.
    pub answer: String,
}

impl Trajectory {
    /// Parses a scenario; panics with the reason if it is invalid.
    pub fn parse(markdown: &str) -> Self {
        let mut story = Self::default();
        for (head, body) in blocks(markdown) {
            let (kind, argument) = head.split_once(' ').unwrap_or((head, ""));
            match (kind, argument.split_once('=')) {
                (_, Some(("file", name))) => drop(story.files.insert(name.to_owned(), body)),
                ("fault", Some(("call", call))) => {
                    story.faults.insert(call.to_owned(), body.lines().map(str::to_owned).collect());
                }
                ("tools", Some(("call", call))) => {
                    story.tools.insert(call.to_owned(), body.lines().map(str::to_owned).collect());
                }
                ("shown", Some(("call", call))) => drop(story.shown.insert(call.to_owned(), body)),
                (_, Some(("call", call))) => drop(story.replies.insert(call.to_owned(), body)),
                ("question", _) => body.trim().clone_into(&mut story.question),
                ("settings", _) => {
                    let pairs = body.lines().filter_map(|line| line.split_once(" = "));
                    story.settings.extend(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())));
                }
                ("schema", _) => story.schema = Some(body),
                ("events", _) => story.events = body,
                ("answer", _) => story.answer = body,
                _ => panic!("a trajectory has no block `{head}`"),
            }
        }
        story
    }

    /// The script of the model server.
    pub fn rules(&self) -> Vec<Rule> {
        let mut calls: Vec<&String> =
            self.replies.keys().chain(self.faults.keys()).chain(self.tools.keys()).collect();
        calls.sort();
        calls.dedup();
        calls.into_iter().map(|call| self.rule(call)).collect()
    }

    fn rule(&self, call: &str) -> Rule {
        let mut rule = on(call);
        for line in self.faults.get(call).into_iter().flatten() {
            rule = match line.strip_prefix("always ") {
                Some(line) => rule.always(fault(line)),
                None => rule.fault(fault(line)),
            };
        }
        let tools = self.tools.get(call);
        rule = match (self.replies.get(call), tools) {
            (Some(reply), _) => rule.reply(reply.trim_end()),
            (None, Some(_)) => rule.reply(""),
            (None, None) => rule,
        };
        for line in tools.into_iter().flatten() {
            let (name, arguments) = line.split_once(' ').unwrap_or((line, "{}"));
            rule = rule.tool_call(name, arguments);
        }
        rule
    }
}

/// The durable events of a run, one line for each, without times.
pub fn facts<'a>(events: impl IntoIterator<Item = &'a Event>) -> Vec<String> {
    let kept = |event: &&Event| event.kind.durability() != Durability::Ephemeral;
    events.into_iter().filter(kept).map(Event::to_string).collect()
}

/// The scenario with updated expectations, for `SPELUNK_UPDATE=1`. `shown` maps calls to their last messages.
pub fn with_expectations(
    markdown: &str,
    events: &str,
    answer: &str,
    shown: &BTreeMap<String, String>,
) -> String {
    let mut updated = replace_block(markdown, "events", events);
    updated = replace_block(&updated, "answer", answer);
    for (call, text) in shown {
        updated = replace_block(&updated, &format!("shown call={call}"), text);
    }
    updated
}

fn replace_block(markdown: &str, head: &str, body: &str) -> String {
    let open = format!("````{head}\n");
    let (before, rest) = markdown.split_once(&open).unwrap_or_else(|| panic!("no block `{head}`"));
    let (_, after) = rest.split_once("````").unwrap_or_else(|| panic!("block `{head}` has no end"));
    format!("{before}{open}{body}````{after}")
}

fn fault(line: &str) -> Fault {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        ["status", code] => status(number(code)).into(),
        ["status", code, "retry-after-ms", wait] => {
            status(number(code)).retry_after_ms(u64::from(number(wait))).into()
        }
        ["cut-stream"] => Fault::CutStream,
        ["malformed-json"] => Fault::MalformedJson,
        ["hang-up"] => Fault::HangUp,
        _ => panic!("a trajectory has no fault `{line}`"),
    }
}

fn number(word: &str) -> u16 {
    word.parse().unwrap_or_else(|_| panic!("`{word}` is not a number"))
}

/// The blocks fenced with four backticks: head and body. Replies may contain fences of three.
fn blocks(markdown: &str) -> Vec<(&str, String)> {
    let mut found = Vec::new();
    let mut open: Option<(&str, String)> = None;
    for line in markdown.split_inclusive('\n') {
        match (line.trim_end().strip_prefix("````"), open.take()) {
            (Some(""), Some(block)) => found.push(block),
            (Some(head), None) => open = Some((head, String::new())),
            (_, Some((head, body))) => open = Some((head, body + line)),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "the last block has no end");
    found
}
