//! The commands of a plain script: words between `|`, `;`, `&&` and `||`, with their output sent to a file at most. Variables
//! that the script itself sets, and loops over words that stand there, are known before anything runs: they are put in
//! here, and what is left has nothing to expand. Whatever else a shell would look at twice (`$(`, `*`, `(`, `&`, …) is not
//! read.

mod tokens;

use std::collections::BTreeMap;

use self::tokens::{Part, Token, Word, is_name, is_plain};

/// When a pipeline runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joined {
    Always,
    /// The one before ended well.
    AfterSuccess,
    /// The one before did not.
    AfterFailure,
}

/// Where the output of a command goes instead of to the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    Replace(String),
    Append(String),
}

impl Target {
    /// The file as it was named.
    pub(super) fn name(&self) -> &String {
        let (Self::Replace(name) | Self::Append(name)) = self;
        name
    }
}

/// One command of a pipeline.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Stage {
    pub(super) words: Vec<String>,
    pub(super) from: Option<String>,
    pub(super) to: Option<Target>,
}

/// A pipeline and when it runs.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) joined: Joined,
    pub(super) stages: Vec<Stage>,
}

/// How deep loops may nest.
const DEPTH_MAX: usize = 3;
/// What a script may be once its variables are in it.
const EXPANDED_BYTES_MAX: usize = 256 * 1024;
/// Names without a small letter that are no shell's own; others may be.
const CAPITALS: [&str; 8] = ["DIR", "F", "FILE", "LOG", "N", "OUT", "PATTERN", "X"];
/// Names with small letters that are.
const OWN_NAMES: [&str; 2] = ["auto_resume", "histchars"];

/// The steps of a script, and no more than so many commands; nothing if it holds anything else.
pub(super) fn steps(script: &str, commands_max: usize) -> Option<Vec<Step>> {
    let tokens = tokens::all(script)?;
    let mut reading = Reading {
        tokens: &tokens,
        variables: BTreeMap::new(),
        steps: Vec::new(),
        n_commands: 0,
        commands_max,
        bytes_left: EXPANDED_BYTES_MAX,
    };
    let behind = reading.block(0, 0)?;
    (behind == tokens.len() && !reading.steps.is_empty()).then_some(reading.steps)
}

/// A script that is being read.
struct Reading<'a> {
    tokens: &'a [Token],
    variables: BTreeMap<&'a str, String>,
    steps: Vec<Step>,
    n_commands: usize,
    commands_max: usize,
    bytes_left: usize,
}

impl Reading<'_> {
    /// Reads commands up to the end of the script, or to the `done` of a loop; gives the place behind.
    fn block(&mut self, from: usize, depth: usize) -> Option<usize> {
        let tokens = self.tokens;
        let (mut at, mut joined) = (from, Joined::Always);
        loop {
            match tokens.get(at) {
                None => return (depth == 0 && joined == Joined::Always).then_some(at),
                Some(Token::Line) if joined == Joined::Always => {
                    at += 1;
                    continue;
                }
                Some(Token::Word(word)) if word.bare() == Some("done") => {
                    return (depth > 0 && joined == Joined::Always).then_some(at + 1);
                }
                // What may not run must not set anything.
                Some(Token::Word(word)) if word.bare() == Some("for") && joined == Joined::Always => {
                    at = self.each(at + 1, depth + 1)?;
                }
                Some(Token::Word(word)) if assignment(word).is_some() && joined == Joined::Always => {
                    at = self.assignments(at)?;
                }
                Some(_) => at = self.pipeline(at, joined)?,
            }
            joined = match tokens.get(at) {
                None | Some(Token::Line) => Joined::Always,
                Some(Token::Join(next)) => *next,
                Some(_) => return None,
            };
            at += usize::from(at < tokens.len());
        }
    }

    /// A loop behind its `for`: its commands once for each of its words.
    fn each(&mut self, at: usize, depth: usize) -> Option<usize> {
        let tokens = self.tokens;
        let bare = |at: usize| match tokens.get(at) {
            Some(Token::Word(word)) => word.bare(),
            _ => None,
        };
        let name = bare(at).filter(|name| is_free(name) && depth <= DEPTH_MAX)?;
        let mut at = (bare(at + 1)? == "in").then_some(at + 2)?;
        let mut values = Vec::new();
        while let Some(Token::Word(word)) = tokens.get(at) {
            values.push(self.expanded(word)?);
            at += 1;
        }
        if !matches!(tokens.get(at), Some(Token::Line | Token::Join(Joined::Always))) || values.is_empty() {
            return None;
        }
        at += 1;
        while matches!(tokens.get(at), Some(Token::Line)) {
            at += 1;
        }
        let body = (bare(at)? == "do").then_some(at + 1)?;
        let mut behind = body;
        for value in values {
            self.variables.insert(name, value);
            let n_before = self.steps.len();
            behind = self.block(body, depth)?;
            if self.steps.len() == n_before {
                return None;
            }
        }
        Some(behind)
    }

    /// `x=1 y=2`, with no command behind it.
    fn assignments(&mut self, at: usize) -> Option<usize> {
        let (tokens, mut at) = (self.tokens, at);
        while let Some(Token::Word(word)) = tokens.get(at) {
            let (name, first) = assignment(word)?;
            let mut value = first.to_owned();
            for part in word.parts.get(1..)? {
                // What is assigned is not split.
                value.push_str(match part {
                    Part::Bare(text) | Part::Quoted(text) => text,
                    Part::Variable { name, .. } => self.variables.get(name.as_str())?,
                });
            }
            self.spend(value.len())?;
            self.variables.insert(name, value);
            at += 1;
        }
        // It ends well, like the command that does nothing.
        let nothing = Stage { words: vec![":".to_owned()], ..Stage::default() };
        self.push(Joined::Always, vec![nothing])?;
        Some(at)
    }

    fn pipeline(&mut self, at: usize, joined: Joined) -> Option<usize> {
        let (tokens, mut at) = (self.tokens, at);
        let (mut stages, mut stage) = (Vec::new(), Stage::default());
        loop {
            let token = tokens.get(at);
            at += 1;
            match token {
                Some(Token::Word(word)) => {
                    let word = self.expanded(word)?;
                    stage.words.push(word);
                }
                Some(Token::Errors) => {}
                Some(Token::From) => put_once(&mut stage.from, self.target(&mut at)?)?,
                Some(Token::To) => put_once(&mut stage.to, Target::Replace(self.target(&mut at)?))?,
                Some(Token::AppendTo) => put_once(&mut stage.to, Target::Append(self.target(&mut at)?))?,
                Some(Token::Pipe) => stages.push(whole(&mut stage)?),
                Some(Token::Join(_) | Token::Line) | None => {
                    stages.push(whole(&mut stage)?);
                    self.push(joined, stages)?;
                    return Some(at - 1);
                }
            }
        }
    }

    /// The name of a file where one must be.
    fn target(&mut self, at: &mut usize) -> Option<String> {
        let tokens = self.tokens;
        let Some(Token::Word(word)) = tokens.get(*at) else { return None };
        *at += 1;
        self.expanded(word).filter(|name| !name.is_empty())
    }

    fn push(&mut self, joined: Joined, stages: Vec<Stage>) -> Option<()> {
        self.n_commands += stages.len();
        self.steps.push(Step { joined, stages });
        (self.n_commands <= self.commands_max).then_some(())
    }

    /// A word with its variables in it; nothing where a shell would make more or less than one word of it.
    fn expanded(&mut self, word: &Word) -> Option<String> {
        let mut text = String::new();
        for part in &word.parts {
            match part {
                Part::Bare(more) | Part::Quoted(more) => text.push_str(more),
                Part::Variable { name, is_quoted } => {
                    let value = self.variables.get(name.as_str())?;
                    let is_one = *is_quoted || (!value.is_empty() && value.chars().all(is_plain));
                    text.push_str(is_one.then_some(value)?);
                }
            }
        }
        self.spend(text.len())?;
        Some(text)
    }

    fn spend(&mut self, n_bytes: usize) -> Option<()> {
        self.bytes_left = self.bytes_left.checked_sub(n_bytes)?;
        Some(())
    }
}

/// The name that a word sets, and the first part of its value.
fn assignment(word: &Word) -> Option<(&str, &str)> {
    let Some(Part::Bare(first)) = word.parts.first() else { return None };
    first.split_once('=').filter(|(name, _)| is_free(name))
}

/// Whether a name is free to be set: a shell looks at some.
fn is_free(name: &str) -> bool {
    let is_plain = name.chars().any(|c| c.is_ascii_lowercase()) && !OWN_NAMES.contains(&name);
    is_name(name) && (is_plain || CAPITALS.contains(&name))
}

fn put_once<T>(place: &mut Option<T>, value: T) -> Option<()> {
    if place.is_some() {
        return None;
    }
    *place = Some(value);
    Some(())
}

fn whole(stage: &mut Stage) -> Option<Stage> {
    let stage = std::mem::take(stage);
    (!stage.words.is_empty()).then_some(stage)
}
