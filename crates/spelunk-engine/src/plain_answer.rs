//! Plain answers: whether a text is an answer at all. Every strategy checks this before it returns. An empty text, a
//! block of code and a tool call are steps that a model wanted to take, never an answer.
//!
//! Code alone is an answer in one case: the question asks for code, and the text is given as the answer, that is, as a
//! reply of a strategy that runs no code (`direct`, `search`), the value of `FINAL`, or an agent's answer file. In the
//! concluding turn of a session or an agent it never is, because the model may just be continuing its work.

use std::future::Future;

use serde_json::{Deserializer, Value};
use spelunk_model::{Message, Prompt, Reply};
use spelunk_sandbox::find_cells;
use spelunk_types::ErrorCode;

use crate::question::sentences;
use crate::transcript::worded;
use crate::{Frame, FrameError, Result};

const REPLY_CHARS_MAX: usize = 2_000;

/// Whether code without any explanation may be the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CodeAlone {
    /// The question asks for code.
    IsAnswer,
    /// Code is an intermediate step.
    IsNone,
}

/// Verbs that ask for something to be written, and nouns for code.
const MAKING: &str = "write show give generate implement create print fix rewrite refactor convert translate complete provide \
    quote produce";
const CODE: &str = "code command commands script program function snippet query sql regex regexp expression oneliner \
    dockerfile makefile patch diff definition implementation signature test tests method class struct macro";
const HOW: &[&str] =
    &["how do i ", "how to ", "how can i ", "which command ", "what command ", "what is the command "];

impl CodeAlone {
    pub(crate) fn for_question(question: &str) -> Self {
        let lower = question.to_lowercase().replace("one-liner", "oneliner");
        let words: Vec<&str> =
            lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
        let has = |list: &str| words.iter().any(|word| is_among(list, word));
        let text = format!("{} ", words.join(" "));
        let asks = (has(MAKING) && has(CODE)) || HOW.iter().any(|how| text.contains(how));
        if asks { Self::IsAnswer } else { Self::IsNone }
    }
}

fn is_among(list: &str, word: &str) -> bool {
    list.split(' ').any(|listed| listed == word)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    Empty,
    Code,
    Call,
}

impl NoAnswer {
    /// A description that follows "the reply is" or "the answer is".
    pub(crate) fn what(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Code => "only a code block",
            Self::Call => "a tool call",
        }
    }

    /// The follow-up request to the model.
    pub(crate) fn nudge(self) -> String {
        let nothing_runs = if self == Self::Empty { "" } else { ", which is not executed" };
        format!("Your reply is {}{nothing_runs}. Write the answer itself, in words.", self.what())
    }

    pub(crate) fn error(self, frame: &Frame) -> FrameError {
        let code = match self {
            Self::Empty => ErrorCode::ModelReplyEmpty,
            Self::Code | Self::Call => ErrorCode::ModelStuck,
        };
        frame.failure(code, format!("the reply is {}, even after a retry", self.what()))
    }
}

/// Asks for an answer in words. A reply that is not one is sent back with the reason, once.
pub(crate) async fn ask<F>(
    frame: &Frame,
    prompt: Prompt,
    code: CodeAlone,
    send: impl Fn(Prompt) -> F,
) -> Result<Reply>
where
    F: Future<Output = Result<Reply>>,
{
    let reply = send(prompt.clone()).await?;
    ask_again(frame, prompt, reply, code, send).await
}

/// Like [`ask`], with the first reply given. Replies to several prompts are handled one by one in
/// prompt order, so that call ids follow the program and not the network.
pub(crate) async fn ask_again<F>(
    frame: &Frame,
    mut prompt: Prompt,
    reply: Reply,
    code: CodeAlone,
    send: impl Fn(Prompt) -> F,
) -> Result<Reply>
where
    F: Future<Output = Result<Reply>>,
{
    let Some(fault) = fault_of(&reply, code) else { return Ok(reply) };
    let shown: String = reply.text.chars().take(REPLY_CHARS_MAX).collect();
    prompt.messages.extend([Message::assistant(worded(shown)), Message::user(fault.nudge())]);
    let reply = send(prompt).await?;
    match fault_of(&reply, code) {
        None => Ok(reply),
        Some(fault) => Err(fault.error(frame)),
    }
}

/// The reply of an intermediate step; `None` if it was empty, which is skipped there. The failure is recorded, so that a
/// resumed run takes the same path.
pub(crate) fn unless_empty(asked: Result<Reply>) -> Result<Option<Reply>> {
    match asked {
        Ok(reply) => Ok(Some(reply).filter(|reply| !reply.is_empty())),
        Err(FrameError::Call { code: ErrorCode::ModelReplyEmpty, .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Why a reply is not an answer; `None` if it is one.
pub(crate) fn fault_of(reply: &Reply, code: CodeAlone) -> Option<NoAnswer> {
    let fault = fault(&reply.text, code)?;
    Some(if reply.tool_calls.is_empty() { fault } else { NoAnswer::Call })
}

/// Why a text is not an answer; `None` if it is one.
pub(crate) fn fault(text: &str, code: CodeAlone) -> Option<NoAnswer> {
    let visible: String = text.chars().filter(|c| !is_invisible(*c)).collect();
    let parts = Parts::of(&visible);
    if parts.ends_with_call || (parts.has_call && !parts.says_something()) {
        return Some(NoAnswer::Call);
    }
    if parts.says_something() {
        return None;
    }
    match (parts.has_code, code) {
        (false, _) => Some(NoAnswer::Empty),
        (true, CodeAlone::IsNone) => Some(NoAnswer::Code),
        (true, CodeAlone::IsAnswer) => is_for_session(&visible).then_some(NoAnswer::Code),
    }
}

/// Zero-width characters: a text of nothing else is empty.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
        || (c.is_control() && !c.is_whitespace())
}

const SESSION: [&str; 8] =
    ["```repl", "<repl>", "<tool_call>", "FINAL(", "FINAL_VAR(", "llm_query", "rlm_query", "SHOW_VARS("];

fn is_for_session(text: &str) -> bool {
    SESSION.iter().any(|word| text.contains(word)) || text.trim_start().starts_with('{')
}

/// Fence labels of calls and of languages other than Python.
const CODE_LABELS: &str = "bash sh shell zsh fish console powershell ps1 cmd bat js javascript jsx ts typescript tsx rust rs go java \
    kotlin scala c cpp c++ cs csharp ruby rb perl php lua r julia swift sql awk sed haskell ipython jupyter \
    code";
const CALL_LABELS: &str = "tool tools tool_call tool_calls tool_code tool_use function function_call";
const CALL_TAGS: &[&str] = &[
    "<tool_call",
    "<tool_use",
    "<tool_code",
    "<tool>",
    "<function=",
    "<function_call",
    "<invoke ",
    "<|tool",
    "<|python_tag|>",
    "[TOOL_CALLS]",
    "[TOOL_REQUEST]",
];
/// Openings of sentences that only introduce the code or call after them.
const LEADING: &str = "let me|let's|let us|i will|i'll|i need|i should|i am going|i'm going|i want|i can|i have to|i'd|we need|\
    we can|we will|we'll|we should|first, i|first i|first, let|first, we|now i|now, i|now let|now, let|next i|\
    next, i|then i|to answer|to find|to determine|to check|to get|to see|to look|to do|here is|here's|here are|\
    the following|this code|this script|this block|this will|below is|run this|run the following|okay|ok|sure|\
    certainly|of course|alright";
/// The most words of an introduction before a colon, such as `Searching:`.
const LEAD_WORDS_MAX: usize = 3;

#[derive(Debug, Default)]
struct Parts {
    words: String,
    has_code: bool,
    has_call: bool,
    /// Whether the text ends with the call: the model is waiting for its result.
    ends_with_call: bool,
    /// Tags without a closing tag in the rest of the text, remembered so that it is not searched again.
    unclosed: Vec<&'static str>,
}

impl Parts {
    fn of(text: &str) -> Self {
        let found = find_cells(text);
        let mut parts = Self {
            has_code: !found.cells.is_empty() || found.final_text.is_some() || is_bare_program(text),
            ..Self::default()
        };
        if !is_bare_program(text) {
            parts.read(&found.prose);
        }
        parts
    }

    fn read(&mut self, prose: &str) {
        let mut rest = prose;
        while !rest.is_empty() {
            let line = rest.split_inclusive('\n').next().unwrap_or_default();
            let n_read = self.take(line, rest).max(line.len());
            rest = rest.get(n_read..).unwrap_or_default();
        }
    }

    fn take(&mut self, line: &str, rest: &str) -> usize {
        let text = line.trim();
        if text.starts_with("```") || text.starts_with("~~~") {
            return self.take_fence(line, rest);
        }
        if text.starts_with(['{', '['])
            && let Some(n_read) = call_at(rest)
        {
            self.call();
            return n_read;
        }
        if let Some((before, n_read)) = self.tag_in(line, rest) {
            self.say(before);
            self.call();
            return n_read;
        }
        if text.starts_with("FINAL(") || text.starts_with("FINAL_VAR(") {
            self.has_code = true;
        } else {
            self.say(line);
        }
        line.len()
    }

    fn take_fence(&mut self, line: &str, rest: &str) -> usize {
        let text = line.trim();
        let mark = if text.starts_with('~') { '~' } else { '`' };
        let label = text.trim_start_matches(mark).trim();
        // An inline span may begin with three backticks too.
        if label.contains('`') {
            self.say(line);
            return line.len();
        }
        let fence: String = text.chars().take_while(|c| *c == mark).collect();
        let is_end = |line: &str| line.trim().starts_with(&fence) && line.trim().chars().all(|c| c == mark);
        let (mut n_read, mut body) = (line.len(), String::new());
        for line in rest.get(line.len()..).unwrap_or_default().split_inclusive('\n') {
            n_read += line.len();
            if is_end(line) {
                break;
            }
            body.push_str(line);
        }
        let label =
            label.split_whitespace().next().unwrap_or_default().trim_matches(['{', '}', '.']).to_lowercase();
        if is_among(CALL_LABELS, &label) || call_at(&body).is_some() {
            self.call();
        } else if is_among(CODE_LABELS, &label) {
            self.has_code = true;
        } else if label != "evidence" {
            self.say(&body);
        }
        n_read
    }

    /// A tagged call that begins on this line: the words before it, and where it ends.
    fn tag_in<'a>(&mut self, line: &'a str, rest: &str) -> Option<(&'a str, usize)> {
        let tags = CALL_TAGS.iter().filter_map(|tag| Some((line.find(tag)?, *tag)));
        let (at, tag) = tags.min_by_key(|(at, _)| *at)?;
        let before = line.get(..at)?;
        // A tag in quotes is only mentioned.
        if before.ends_with(['`', '"', '\'']) {
            return None;
        }
        let start = at + tag.len();
        let after = rest.get(start..)?;
        let closing = format!("</{}", tag.trim_matches(['<', '>', '=', ' ']));
        let end = if self.unclosed.contains(&tag) { None } else { after.find(&closing) };
        let Some(end) = end else {
            self.unclosed.push(tag);
            return before.trim().is_empty().then_some((before, rest.len()));
        };
        let tail = after.get(end..)?;
        Some((before, start + end + tail.find('>').map_or(tail.len(), |close| close + 1)))
    }

    fn call(&mut self) {
        (self.has_call, self.ends_with_call) = (true, true);
    }

    fn say(&mut self, text: &str) {
        if text.contains(char::is_alphanumeric) {
            self.ends_with_call = false;
        }
        self.words.push_str(text);
        self.words.push('\n');
    }

    /// Whether there are words besides an introduction to code or a call.
    fn says_something(&self) -> bool {
        let is_bare = !self.has_code && !self.has_call;
        let mut said = self.words.lines().flat_map(sentences).filter(|sentence| has_sign(sentence));
        said.any(|sentence| is_bare || !is_lead(sentence))
    }
}

/// Whether there is anything visible: letters, digits, or symbols such as ✓.
fn has_sign(text: &str) -> bool {
    text.chars().any(|c| !c.is_whitespace() && !"`~*_#>|-=.:<>/".contains(c))
}

fn is_lead(sentence: &str) -> bool {
    let lower = sentence.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase().replace('’', "'");
    let n_words = lower.split_whitespace().count();
    LEADING
        .split('|')
        .any(|begin| lower.strip_prefix(begin).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric)))
        || (lower.ends_with(':') && n_words <= LEAD_WORDS_MAX)
}

/// Whether the whole text is unfenced session code.
fn is_bare_program(text: &str) -> bool {
    (is_for_session(text) || text.contains("print("))
        && !text.contains("```")
        && !find_cells(&format!("```\n{}\n```", text.trim())).cells.is_empty()
}

/// The length of a JSON tool call at the beginning of a text, including the rest of its line.
fn call_at(text: &str) -> Option<usize> {
    let mut values = Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    if !is_call(&value) {
        return None;
    }
    Some(values.byte_offset())
}

fn is_call(value: &Value) -> bool {
    let Value::Object(object) = value else {
        return value.as_array().is_some_and(|items| !items.is_empty() && items.iter().all(is_call));
    };
    if object.get("tool_calls").is_some_and(Value::is_array) || object.get("function").is_some_and(is_call) {
        return true;
    }
    let has =
        |names: &[&str], is: fn(&Value) -> bool| names.iter().any(|name| object.get(*name).is_some_and(is));
    let is_named = has(&["name", "tool", "tool_name", "function", "recipient_name"], Value::is_string);
    let takes = has(&["arguments", "parameters"], |value| value.is_object() || value.is_string())
        || has(&["input", "args", "tool_input"], Value::is_object);
    is_named && takes
}

#[cfg(test)]
mod tests;
