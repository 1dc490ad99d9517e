//! Finishing: the checks between `output/answer.md` and the user. An answer is returned to the model with the
//! reason if it is missing, empty, a placeholder, only code or a tool call, violates its schema, or was
//! written before anything was read. The first acceptable answer is verified once by the model itself.

use std::sync::Arc;

use serde_json::Value;
use spelunk_desk::Desk;
use spelunk_types::Citation;

use super::tools::text;
use super::work::{ToolOutcome, Work};
use crate::plain_answer::{self, CodeAlone};
use crate::session::{GivenAnswer, file, path, read_typed};
use crate::{Schema, evidence};

pub(super) const VERIFY: &str = include_str!("../../prompts/agent-verify.md");

pub(super) const ANSWER_FILE: &str = "output/answer.md";
const PROMPT: &str = "input/prompt.md";
const EVIDENCE: &str = "state/evidence.jsonl";
/// Mount points of the run's documents, which are prefixes of their names on the desk.
const MOUNTS: [(&str, &str); 2] = [("input/contexts/", ""), ("input/attachments/", "attachments/")];
const CLAIMS_MAX: usize = 50;

/// The empty text is one of them.
const PLACEHOLDERS: &str = "|...|…|todo|tbd|tba|n/a|answer|your answer|the answer|final answer|answer here|placeholder|\
    insert answer here|fill in|lorem ipsum";

#[derive(Debug)]
pub(super) struct AnswerFileCheck {
    schema: Option<Arc<Schema>>,
    code: CodeAlone,
    /// Whether the model was shown everything at once: there is nothing to look up and little to verify.
    is_inlined: bool,
    pub(super) has_looked: bool,
    pub(super) may_verify: bool,
    /// Reasons for which answers were sent back. Each is used only once: the model may know better.
    told: Vec<SentBack>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SentBack {
    Unseen,
    Gap,
    Unverified,
}

impl AnswerFileCheck {
    pub(super) fn new(schema: Option<Arc<Schema>>, code: CodeAlone, is_inlined: bool) -> Self {
        Self { schema, code, is_inlined, has_looked: is_inlined, may_verify: true, told: Vec::new() }
    }

    /// Starts another question: what was read still counts.
    pub(super) fn begin_anew(&mut self, question: &str) {
        self.told.clear();
        self.code = CodeAlone::for_question(question);
    }

    /// The content of the answer file, if it could be an answer.
    pub(super) fn so_far(&self, desk: &Desk) -> Option<GivenAnswer> {
        let text = self.answer_text(desk).ok()?;
        let text = match &self.schema {
            Some(schema) => read_typed(schema, &text).ok()?,
            None => text,
        };
        Some(GivenAnswer { text, claims: Vec::new() })
    }

    /// The text of the answer. If there is a schema, it is validated against that instead.
    fn answer_text(&self, desk: &Desk) -> Result<String, String> {
        answer_text(desk, self.schema.is_none().then_some(self.code))
    }

    fn is_new(&mut self, back: SentBack) -> bool {
        let is_new = !self.told.contains(&back);
        if is_new {
            self.told.push(back);
        }
        is_new
    }

    /// Accepts an answer, or returns the reason for refusing it.
    fn admit(&mut self, desk: &Desk, claims: Vec<Citation>) -> Result<GivenAnswer, String> {
        let text = self.answer_text(desk)?;
        if !self.has_looked && self.is_new(SentBack::Unseen) {
            return Err("you have not looked at the input yet: look first, then answer".to_owned());
        }
        if let Some(line) = gap(&text).filter(|_| self.is_new(SentBack::Gap)) {
            return Err(format!(
                "`{ANSWER_FILE}` still contains a placeholder: `{line}`. Fill it in, or call Finish again if it is intended"
            ));
        }
        let text = match &self.schema {
            Some(schema) => read_typed(schema, &text)
                .map_err(|fault| format!("`{ANSWER_FILE}` does not match the answer schema: {fault}"))?,
            None => text,
        };
        if !self.is_inlined && self.may_verify && self.is_new(SentBack::Unverified) {
            return Err(VERIFY.to_owned());
        }
        let claims =
            if claims.is_empty() && !text.contains("```evidence") { kept_claims(desk) } else { claims };
        Ok(GivenAnswer { text, claims })
    }
}

pub(super) fn finish(work: &mut Work<'_>, arguments: &Value) -> ToolOutcome {
    if let Some(answer) = text(arguments, "answer") {
        let text = format!("{}\n", answer.trim_end());
        if let Err(error) = work.agent.desk.write(&path(ANSWER_FILE), text.into_bytes()) {
            return ToolOutcome::refused(error);
        }
    }
    let claims = match arguments.get("evidence") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(items)) => items.iter().filter_map(claim).collect(),
        Some(one) => claim(one).into_iter().collect(),
    };
    match work.check.admit(&work.agent.desk, claims) {
        Ok(given) => ToolOutcome { text: "Accepted.".to_owned(), failed: false, given: Some(given) },
        Err(why) => ToolOutcome { text: why.clone(), failed: why != VERIFY, given: None },
    }
}

/// The content of `output/answer.md`, or why it is not an answer. For agents that work outside of a run.
pub fn written_answer(desk: &Desk) -> Result<String, String> {
    let question = file(desk, &path(PROMPT)).unwrap_or_default();
    let code = CodeAlone::for_question(&String::from_utf8_lossy(&question));
    let text = answer_text(desk, Some(code))?;
    match gap(&text) {
        Some(line) => Err(format!("`{ANSWER_FILE}` still contains a placeholder: `{line}`")),
        None => Ok(text),
    }
}

/// `code` is `None` for an answer with a schema, which may be anything that the schema allows.
fn answer_text(desk: &Desk, code: Option<CodeAlone>) -> Result<String, String> {
    let Some(bytes) = file(desk, &path(ANSWER_FILE)) else {
        return Err(format!("`{ANSWER_FILE}` does not exist: write the answer there, then call Finish"));
    };
    let Ok(text) = std::str::from_utf8(&bytes) else { return Err(format!("`{ANSWER_FILE}` is not text")) };
    let own = text.split("```evidence").next().unwrap_or(text);
    if is_placeholder(own) {
        return Err(format!(
            "`{ANSWER_FILE}` is empty or a placeholder: write the answer itself, then call Finish"
        ));
    }
    if let Some(fault) = code.and_then(|code| plain_answer::fault(text, code)) {
        let what = fault.what();
        return Err(format!("`{ANSWER_FILE}` is {what}: write the answer itself, then call Finish"));
    }
    Ok(unmounted(text.trim()))
}

fn is_placeholder(text: &str) -> bool {
    let bare = text.trim().trim_start_matches('#').trim();
    let bare =
        bare.trim_matches(['<', '>', '[', ']', '{', '}', '(', ')', '"', '\'', '*', '_', '`', '.', '…', ':']);
    let bare = bare.trim().to_lowercase();
    PLACEHOLDERS.split('|').any(|placeholder| placeholder == bare)
}

fn gap(text: &str) -> Option<&str> {
    let is_gap = |line: &&str| {
        let line = line.trim();
        let is_marked = ["TODO", "TBD", "FIXME"].iter().any(|mark| line.starts_with(mark));
        is_marked
            || (!line.is_empty() && line.len() < 40 && line.contains(['[', '<']) && is_placeholder(line))
    };
    text.lines().find(is_gap)
}

fn claim(value: &Value) -> Option<Citation> {
    if let Some(text) = value.as_str() {
        return evidence::claim(text).map(own_name);
    }
    let field = |names: &[&str]| names.iter().find_map(|name| value.get(name));
    let document = field(&["document", "path", "doc", "source"])?.as_str()?.to_owned();
    let line = field(&["line"])?.as_u64()?;
    let quote = field(&["quote", "text", "words", "content"])?.as_str()?.trim().to_owned();
    Some(own_name(Citation { document, line, quote }))
}

/// The citation with the document's own name instead of its path on the desk.
fn own_name(citation: Citation) -> Citation {
    let document = citation.document.trim_start_matches("./");
    let named =
        MOUNTS.iter().find_map(|(mount, own)| Some(format!("{own}{}", document.strip_prefix(mount)?)));
    let document = named.unwrap_or_else(|| document.to_owned());
    Citation { document, ..citation }
}

/// The lines of an evidence block with the documents' own names.
fn unmounted(text: &str) -> String {
    let Some((before, block)) = text.rsplit_once("```evidence") else { return text.to_owned() };
    let mut own = block.to_owned();
    for (mount, name) in MOUNTS {
        own = own.replace(mount, name);
    }
    format!("{before}```evidence{own}")
}

/// Saved evidence with a location: `source` is `path:line`, the content is the quote.
fn kept_claims(desk: &Desk) -> Vec<Citation> {
    let Some(bytes) = file(desk, &path(EVIDENCE)) else { return Vec::new() };
    let text = String::from_utf8_lossy(&bytes);
    let kept = text.lines().filter_map(|line| {
        let entry: Value = serde_json::from_str(line).ok()?;
        let (source, content) = (entry.get("source")?.as_str()?, entry.get("content")?.as_str()?);
        let first = content.lines().find(|line| !line.trim().is_empty())?;
        evidence::claim(&format!("{source}: {first}")).map(own_name)
    });
    kept.take(CLAIMS_MAX).collect()
}

#[cfg(test)]
mod tests;
