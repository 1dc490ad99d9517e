//! The agent strategy: a model works with tools on a desk of files until it has written its answer to one of them.
//! The desk is a pure function of the journal: every tool call is recorded, and a resumed run repeats the calls on
//! the same files.

mod ask;
mod conclude;
mod finish;
mod first;
mod protocol;
mod script;
mod tools;
mod work;

use spelunk_model::{Message, Prompt, Reply, Speaker};
use spelunk_types::{ErrorCode, Explain};

pub use self::finish::written_answer;
pub use self::first::{GUIDE, SKILL};
use self::protocol::Protocol;
use self::work::{Told, Turn, Work};
use crate::plain_answer::{self, CodeAlone, NoAnswer, empty_reply};
use crate::session::overflow;
use crate::session::repeats::{self, Novelty, Repeats};
use crate::transcript::{Transcript, TranscriptLimits, prompt_tokens};
use crate::{Answer, Frame, FrameError, Task};

const MORE: &str = include_str!("../prompts/agent-more.md");
const SUMMARY: &str = include_str!("../prompts/agent-summary.md");
pub(super) const PROMPTS: [&str; 13] = [
    first::SYSTEM,
    first::SMALL,
    first::LARGE,
    first::README,
    GUIDE,
    SKILL,
    MORE,
    SUMMARY,
    protocol::TEXT,
    finish::VERIFY,
    conclude::PROMPT,
    script::LLM_CLIENT,
    script::CHUNKING,
];

/// Consecutive replies without a tool call before giving up.
const SILENT_MAX: u64 = 3;

/// Answers by working on files. A run that was asked more continues where it was: earlier answers are replayed.
pub(crate) async fn solve(frame: &Frame, task: &Task) -> Result<Answer, FrameError> {
    let mut job = Job::begin(frame, task).await?;
    let mut answer = job.answer().await?;
    for question in frame.more_questions()? {
        job.ask_more(&question);
        answer = job.answer().await?;
    }
    Ok(answer)
}

/// A conversation and what it works on.
struct Job<'a> {
    frame: &'a Frame,
    task: &'a Task,
    work: Work<'a>,
    protocol: Protocol,
    transcript: Transcript,
    repeats: Repeats,
}

impl<'a> Job<'a> {
    async fn begin(frame: &'a Frame, task: &'a Task) -> Result<Self, FrameError> {
        let first = first::prepare(frame, task).await?;
        let work = Work::begin(frame, task, &first).await?;
        let protocol = Protocol::native();
        let transcript = transcript(frame, protocol, &first.message);
        Ok(Self { frame, task, work, protocol, transcript, repeats: Repeats::default() })
    }

    /// Takes turns until the answer is accepted or a limit is reached.
    async fn answer(&mut self) -> Result<Answer, FrameError> {
        let (turns_max, mut n_silent) = (self.frame.limits().agent_turns_max, 0);
        for turn in 1..=turns_max {
            if self.transcript.needs_compaction() {
                self.compact().await?;
            }
            if let Some(code) = self.frame.must_conclude(&self.prompt()).await? {
                return self.conclude(code).await;
            }
            let reply = empty_reply::said(self.ask().await)?;
            let (calls, reply) = reply.map(protocol::read).unwrap_or_default();
            self.protocol.push_reply(&mut self.transcript, &reply, &calls);
            n_silent = if calls.is_empty() { n_silent + 1 } else { 0 };
            if n_silent >= SILENT_MAX {
                return self.conclude(ErrorCode::ModelStuck).await;
            }
            let turns_left = turns_max - turn;
            match self.work.take_turn(&calls, turns_left).await? {
                Turn::Answered(given) => {
                    let answer = work::settle(self.frame, self.task, given).await?;
                    protocol::push_end(&mut self.transcript, &calls);
                    return Ok(answer);
                }
                Turn::Told(mut told) => {
                    let novelty = self.novelty(&told);
                    if novelty == Novelty::Again
                        && let Some(last) = told.last_mut()
                    {
                        last.text += &format!("\n\n{}", repeats::NUDGE);
                    }
                    protocol::push_told(&mut self.transcript, told, turns_left);
                    if novelty == Novelty::Stuck {
                        return self.conclude(ErrorCode::ModelStuck).await;
                    }
                }
            }
        }
        self.conclude(ErrorCode::TurnsExhausted).await
    }

    /// Whether these calls returned these results before.
    fn novelty(&mut self, told: &[Told]) -> Novelty {
        if told.is_empty() {
            // Turns without a call are counted separately.
            return Novelty::New;
        }
        let calls: Vec<String> =
            told.iter().map(|told| format!("{} {}", told.call.name, told.call.arguments)).collect();
        let results: Vec<String> = told.iter().map(|told| told.text.clone()).collect();
        self.repeats.judge(&calls, &results)
    }

    /// Replaces older turns by a summary.
    async fn compact(&mut self) -> Result<(), FrameError> {
        match self.frame.ask(self.asking(SUMMARY)).await {
            Ok(summary) => self.transcript.compact(&summary.text),
            Err(error) if overflow::halved_unsummed(self.frame, &mut self.transcript, &error).await? => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Asks for the next step; if the prompt is too long, once more with half of the conversation.
    async fn ask(&mut self) -> Result<Reply, FrameError> {
        match self.ask_once().await {
            Err(error) if overflow::halved(self.frame, &mut self.transcript, &error).await? => {
                self.ask_once().await
            }
            asked => asked,
        }
    }

    /// If the provider does not support tools, they are described in the prompt from then on.
    async fn ask_once(&mut self) -> Result<Reply, FrameError> {
        match self.frame.ask(self.prompt()).await {
            Err(error @ FrameError::Call { .. }) if self.protocol.is_refused_by(&error) => {
                debug_assert_eq!(error.code(), ErrorCode::ModelRequestRefused);
                self.protocol = Protocol::text();
                self.transcript.set_system(first::system(self.frame, self.protocol));
                self.frame.ask(self.prompt()).await
            }
            asked => asked,
        }
    }

    fn ask_more(&mut self, question: &str) {
        self.work.begin_anew(question);
        self.repeats = Repeats::default();
        self.transcript.push_user(MORE.replace("{question}", question));
    }

    /// The next request.
    fn prompt(&self) -> Prompt {
        let mut prompt = self.transcript.prompt(self.frame.limits().root_output_tokens_max);
        prompt.tools = self.protocol.tools();
        prompt
    }

    /// The next request with one more message, which does not become part of the conversation.
    fn asking(&self, said: &str) -> Prompt {
        let mut prompt = self.prompt();
        match prompt.messages.last_mut() {
            Some(last) if last.speaker == Speaker::User => {
                let gap = if last.text.is_empty() { "" } else { "\n\n" };
                last.text += &format!("{gap}{said}");
            }
            Some(_) | None => prompt.messages.push(Message::user(said)),
        }
        prompt
    }

    fn concluding(&self, said: &str) -> Prompt {
        Prompt { schema: self.task.schema.as_ref().and_then(|schema| schema.json()), ..self.asking(said) }
    }

    async fn conclude(&mut self, stopped_by: ErrorCode) -> Result<Answer, FrameError> {
        let said = conclude::said(self.task, stopped_by);
        let answer = match self.work.answer_so_far() {
            Some(given) => work::settle(self.frame, self.task, given).await?,
            None => {
                let mut reply = self.ask_to_conclude(said).await?;
                if let Some(fault) = self.fault_of(&reply) {
                    reply = self.ask_to_conclude(fault.nudge()).await?;
                }
                if let Some(fault) = self.fault_of(&reply) {
                    return Err(fault.error(self.frame));
                }
                conclude::answer(self.frame, self.task, &reply.text).await?
            }
        };
        Ok(conclude::partial(answer, stopped_by))
    }

    /// Why a reply does not conclude the work. A typed one is validated against its schema instead.
    fn fault_of(&self, reply: &Reply) -> Option<NoAnswer> {
        plain_answer::fault_of(reply, CodeAlone::IsNone).filter(|_| self.task.schema.is_none())
    }

    async fn ask_to_conclude(&mut self, said: String) -> Result<Reply, FrameError> {
        let reply = match self.frame.ask(self.concluding(&said)).await {
            Err(error) if overflow::halved(self.frame, &mut self.transcript, &error).await? => {
                self.frame.ask(self.concluding(&said)).await?
            }
            asked => asked?,
        };
        self.transcript.push_user(said);
        self.transcript.push_reply(&reply.text);
        Ok(reply)
    }
}

fn transcript(frame: &Frame, protocol: Protocol, first: &str) -> Transcript {
    // The tools are sent with every request.
    let n_tools = prompt_tokens(&Prompt { tools: protocol.tools(), ..Prompt::default() });
    let room_tokens = frame.room_tokens().saturating_sub(n_tools);
    let bounds = TranscriptLimits::within(frame.limits(), room_tokens);
    Transcript::new(first::system(frame, protocol), first.to_owned(), bounds)
}
