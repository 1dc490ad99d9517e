//! One call: the text shown to the model, its prompt, and the answer with its evidence. `direct` and `search` differ
//! only in the text that they show.

use std::collections::{BTreeSet, HashMap};
use std::future::Future;
use std::sync::Arc;

use spelunk_context::{DocEntry, Shown, View};
use spelunk_model::{Message, Part, Prompt, Reply};
use spelunk_types::{Citation, ErrorCode, EventKind, Grounding, StopReason};

use crate::evidence::{self, Excerpt};
use crate::plain_answer::{self, CodeAlone};
use crate::question::names_in;
use crate::{Answer, Frame, Result, Task, certainty};

const SYSTEM: &str = include_str!("../prompts/direct-system.md");
const USER: &str = include_str!("../prompts/direct-user.md");
/// For small models, which lose track of longer instructions and do not quote. Examples show them when to give up.
const BRIEF: &str = include_str!("../prompts/brief-system.md");
const BRIEF_EXAMPLES: &str = include_str!("../prompts/brief-examples.md");
const PLAIN: &str = include_str!("../prompts/plain-system.md");
pub(super) const PROMPTS: [&str; 5] = [SYSTEM, USER, BRIEF, BRIEF_EXAMPLES, PLAIN];

/// Beyond this length, small models repeat themselves.
const BRIEF_TOKENS_MAX: u64 = 400;
/// A small model is not believed if it considered a token of its answer less likely than this. On the
/// development half of `eval/real`, this keeps 34 of 35 right answers and drops 11 of 17 wrong ones.
pub(super) const CERTAINTY_PERMILLE_MIN: u16 = 333;
/// If it is less certain than this, the passages that seem to support its answer are related ones, not citations. On
/// the development half of `eval/real`, 19 of 29 right answers keep their citations, and none of 4 wrong ones.
const CITED_PERMILLE_MIN: u16 = 600;
const BYTES_PER_TOKEN: u64 = 4;

/// A prompt that begins with examples: requests and replies, separated by `=>` and `---`.
pub(super) fn with_examples(system: &str, examples: &str, user: String, tokens_max: u64) -> Prompt {
    let mut prompt = Prompt::single(system, user, tokens_max);
    let pairs = examples.split("\n---\n").filter_map(|example| example.split_once("\n=>\n"));
    let turns =
        pairs.flat_map(|(user, reply)| [Message::user(user.trim()), Message::assistant(reply.trim())]);
    let turns: Vec<Message> = turns.collect();
    prompt.messages.splice(0..0, turns);
    prompt
}

pub(super) fn bytes_max(frame: &Frame) -> u64 {
    let tokens_max = frame.reader().span(frame.limits().direct_tokens_max);
    tokens_max.min(frame.room_tokens()).saturating_mul(BYTES_PER_TOKEN)
}

/// An answer, and whether the shown text settles it.
pub(super) struct Answered {
    pub(super) answer: Answer,
    pub(super) is_settled: bool,
}

/// The beginning of a reply that says that the documents do not contain the answer.
const NOT_FOUND: &str = "NOT FOUND";

/// Calls the model once with this material. An answer less certain than `certainty_min` is not given.
pub(super) async fn answer_from(
    frame: &Frame,
    task: &Task,
    material: &Material,
    certainty_min: u16,
) -> Result<Answered> {
    frame.note(material.chosen()).await?;
    let (question, tokens_max) = (task.question_shown(), frame.limits().root_output_tokens_max);
    let reply = if frame.reader().is_small() {
        let user = material.render_brief(question);
        let prompt = with_examples(BRIEF, BRIEF_EXAMPLES, user, tokens_max.min(BRIEF_TOKENS_MAX));
        let prompt = with_images(frame, task, prompt).await?;
        reply_to(frame, task, prompt, |prompt| certainty::ask(frame, prompt)).await?
    } else {
        let prompt = Prompt::single(SYSTEM, material.render(question), tokens_max);
        let prompt = with_images(frame, task, prompt).await?;
        reply_to(frame, task, prompt, |prompt| frame.ask(prompt)).await?
    };
    if let Some(rest) = reply.text.trim_start().strip_prefix(NOT_FOUND) {
        let said = rest.trim_start_matches([':', '.', ' ', '*']).trim();
        return Ok(material.not_said(question, said));
    }
    if certainty::is_doubtful(&reply, certainty_min) {
        return Ok(material.not_said(question, ""));
    }
    let answer = evidence::check_shown(frame, &material.shown, &reply.text).await?;
    let mut answered = supported(frame, task, material, answer);
    if certainty::is_doubtful(&reply, CITED_PERMILLE_MIN) {
        relate(frame, &mut answered.answer).await?;
    }
    Ok(answered)
}

/// Names the cited passages of an answer as related instead of citing them.
async fn relate(frame: &Frame, answer: &mut Answer) -> Result<()> {
    let citations = std::mem::take(&mut answer.citations);
    if citations.is_empty() {
        return Ok(());
    }
    answer.grounding = Grounding::Uncited;
    let related = citations.iter().map(Citation::place).collect::<Vec<_>>().join(", ");
    frame
        .warn("the model is not certain of this answer".to_owned(), format!("check it; related: {related}"))
        .await
}

/// Answers a request without documents.
pub(super) async fn answer_plainly(frame: &Frame, task: &Task) -> Result<Answer> {
    let prompt = Prompt::single(PLAIN, task.question_shown(), frame.limits().root_output_tokens_max);
    let prompt = with_images(frame, task, prompt).await?;
    let reply = reply_to(frame, task, prompt, |prompt| frame.ask(prompt)).await?;
    Ok(Answer::new(reply.text.trim().to_owned(), Vec::new()))
}

/// The same prompt with the images that the user named as sources.
async fn with_images(frame: &Frame, task: &Task, mut prompt: Prompt) -> Result<Prompt> {
    let sources = task.view.images().iter().filter(|image| image.is_named);
    let names: Vec<String> = sources.map(|image| image.name.clone()).collect();
    if names.is_empty() {
        return Ok(prompt);
    }
    let shown = frame.show_images(&task.view, names, Some(Arc::clone(frame.model()))).await?;
    let images = shown.map_err(|(_, message)| frame.refusal(ErrorCode::SourceUnreadable, message))?;
    if let Some(asked) = prompt.messages.last_mut() {
        asked.parts.extend(images.into_iter().map(Part::Image));
    }
    Ok(prompt)
}

async fn reply_to<F>(frame: &Frame, task: &Task, prompt: Prompt, send: impl Fn(Prompt) -> F) -> Result<Reply>
where
    F: Future<Output = Result<Reply>>,
{
    let code = CodeAlone::for_question(&task.question);
    let reply = plain_answer::ask(frame, prompt, code, send).await?;
    match reply.stop {
        StopReason::Length => {
            let hint = "raise `limits.root_output_tokens_max`".to_owned();
            frame.warn("the model reached its output limit; the answer is cut".to_owned(), hint).await?;
        }
        StopReason::Filtered => {
            let hint = "rephrase the question, or ask another model".to_owned();
            frame.warn("the provider withheld a part of the answer".to_owned(), hint).await?;
        }
        StopReason::Finished | StopReason::ToolUse | StopReason::Other => {}
    }
    Ok(reply)
}

/// Adds the sentences that support an answer, if the model cited none.
fn supported(frame: &Frame, task: &Task, material: &Material, mut answer: Answer) -> Answered {
    let question = task.question_shown();
    let support = evidence::support(question, &answer.text, &material.excerpts);
    // A small model that gives a value which it was not shown has made it up: of 19 such answers, three were right.
    if frame.reader().is_small() && !support.unknown_values.is_empty() {
        return material.not_said(question, "");
    }
    if answer.citations.is_empty() && support.unknown_values.is_empty() && !support.citations.is_empty() {
        answer.citations = support.citations;
        answer.grounding = Grounding::Cited;
    }
    let is_settled = !answer.citations.is_empty();
    Answered { answer, is_settled }
}

pub(super) struct Material {
    pub(super) text: String,
    /// The same without markup, to check quotes.
    shown: Shown,
    /// The same, to find sentences that support an answer.
    excerpts: Vec<Excerpt>,
    pub(super) documents: u64,
    pub(super) bytes: u64,
    of_documents: u64,
    pub(super) of_bytes: u64,
}

const PLACES_MAX: usize = 8;
const NEAR_MAX: usize = 4;

/// Lines of a document that were found for a question.
pub(super) struct Passage {
    pub(super) doc_idx: u32,
    pub(super) line_start: u64,
    pub(super) text: String,
}

/// Orders passages, given best first, for display: most in document order, so that neighbours are adjacent, then the
/// best few, with the very best next to the question. Models overlook what is in the middle of a long text.
fn best_last(passages: &mut [&Passage]) {
    let n_near = passages.len().min(NEAR_MAX);
    passages.rotate_left(n_near);
    let (rest, near) = passages.split_at_mut(passages.len() - n_near);
    rest.sort_by_key(|passage| (passage.doc_idx, passage.line_start));
    near.reverse();
}

impl Material {
    /// The best passages that fit, the very best last.
    pub(super) fn of_passages(view: &View, passages: &[Passage], bytes_max: u64) -> Self {
        let (mut chosen, mut bytes) = (Vec::new(), 0);
        for passage in passages {
            bytes += passage.text.len() as u64;
            if bytes > bytes_max && !chosen.is_empty() {
                break;
            }
            chosen.push(passage);
        }
        best_last(&mut chosen);
        let documents: HashMap<u32, &DocEntry> =
            view.documents().map(|document| (document.idx, document)).collect();
        let (mut material, mut seen) = (Self::empty(view), BTreeSet::new());
        for passage in chosen {
            let Some(document) = documents.get(&passage.doc_idx) else { continue };
            material.push(document, passage.line_start, &passage.text);
            material.documents += u64::from(seen.insert(passage.doc_idx));
        }
        material
    }

    pub(super) fn empty(view: &View) -> Self {
        let of_documents = view.documents().len() as u64;
        let (text, shown, of_bytes) = (String::new(), Shown::default(), view.bytes());
        Self { text, shown, excerpts: Vec::new(), documents: 0, bytes: 0, of_documents, of_bytes }
    }

    /// Every line begins with its number, so that no document text can be mistaken for our own markup.
    pub(super) fn push(&mut self, document: &DocEntry, line_start: u64, text: &str) {
        use std::fmt::Write as _;
        let name = document.name.replace(['"', '\n', '<', '>'], "?");
        writeln!(self.text, "<document name=\"{name}\">").expect("writing to a String cannot fail");
        for (idx, line) in text.lines().enumerate() {
            writeln!(self.text, "{}| {line}", line_start + idx as u64)
                .expect("writing to a String cannot fail");
        }
        self.text.push_str("</document>\n");
        self.shown.add(&document.name, line_start, text);
        let (document, text) = (document.name.clone(), text.to_owned());
        self.bytes += text.len() as u64;
        self.excerpts.push(Excerpt { document, line_start, text });
    }

    /// Where the names of the question occur in the text. A model that knows where to look overlooks less, and
    /// invents less if there is nothing to find.
    fn places_of_names(&self, question: &str) -> String {
        use std::fmt::Write as _;
        let mut said = String::new();
        for name in names_in(question) {
            let places = self.places_of(name);
            let shown = places.iter().take(PLACES_MAX).cloned().collect::<Vec<_>>().join(", ");
            let written = match places.len() {
                0 => write!(said, "\nThey do not contain `{name}`."),
                n if n > PLACES_MAX => {
                    write!(said, "\n`{name}` is in {shown} and {} more.", n - PLACES_MAX)
                }
                _ => write!(said, "\n`{name}` is in {shown}."),
            };
            written.expect("writing to a String cannot fail");
        }
        said
    }

    fn places_of(&self, name: &str) -> Vec<String> {
        let (mut places, mut document) = (Vec::new(), "");
        for line in self.text.lines() {
            match line.split_once("| ") {
                Some((number, text)) if !line.starts_with('<') => {
                    if text.contains(name) {
                        places.push(format!("{document}:{number}"));
                    }
                }
                Some(_) | None => {
                    let named =
                        line.strip_prefix("<document name=\"").and_then(|rest| rest.strip_suffix("\">"));
                    document = named.unwrap_or(document);
                }
            }
        }
        places
    }

    /// The passages without line numbers, under their names.
    fn render_brief(&self, question: &str) -> String {
        let passages = self.excerpts.iter().map(|excerpt| {
            let name = excerpt.document.replace(['\n', '\r', '[', ']'], "?");
            format!("[{name}]\n{}\n\n", excerpt.text.trim())
        });
        format!("{}Question: {question}", passages.collect::<String>())
    }

    /// The answer that the documents do not contain what was asked, with the location of the best passage.
    fn not_said(&self, question: &str, said: &str) -> Answered {
        let said = if said.is_empty() { evidence::not_said(question) } else { said };
        // The best passage is next to the question.
        let nearest = self.excerpts.last().filter(|_| self.bytes < self.of_bytes);
        let nearest = nearest.map(|excerpt| format!(" ({}:{})", excerpt.document, excerpt.line_start));
        let text = format!("{said}{}", nearest.unwrap_or_default());
        let answer = Answer::new(text, Vec::new());
        Answered { answer, is_settled: false }
    }

    fn chosen(&self) -> EventKind {
        EventKind::PassagesChosen { documents: self.documents, bytes: self.bytes, of_bytes: self.of_bytes }
    }

    fn render(&self, question: &str) -> String {
        let coverage = if self.bytes >= self.of_bytes {
            match self.of_documents {
                1 => "This is the whole document.".to_owned(),
                n => format!("These are all {n} documents."),
            }
        } else {
            format!(
                "These passages hold {} of {} bytes, from {} of {} documents. They were selected for the question; the best matches come last. The rest was not read.",
                self.bytes, self.of_bytes, self.documents, self.of_documents
            )
        };
        let places = self.places_of_names(question);
        // The documents are inserted last, so that nothing in them is expanded as a placeholder.
        let frame = USER
            .replace("{coverage}", &format!("{coverage}{places}"))
            .replace("{question}", &question.replace("{documents}", "(documents)"));
        frame.replace("{documents}", self.text.trim_end())
    }
}
