//! The agent strategy: a model works with tools on a desk of files until it has written its answer
//! to one of them. The desk is a pure function of the journal: every tool call is recorded, and a
//! resumed run repeats the calls on the same files.

mod ask;
mod finish;
mod first;
mod protocol;
mod script;
mod tools;
mod work;

use spelunk_model::{Prompt, Reply};
use spelunk_types::{ErrorCode, Explain};

pub use self::finish::written_answer;
pub use self::first::{GUIDE, SKILL};
use self::protocol::Protocol;
use self::work::{ToolAnswer, Turn, Work};
use crate::plain_answer::unless_empty;
use crate::session::repeats::{self, Novelty, Repeats};
use crate::session::{self, conclude, overflow};
use crate::transcript::{Transcript, TranscriptLimits, tool_tokens, with_message};
use crate::{Answer, Frame, FrameError, Result, Task};

const MORE: &str = include_str!("../prompts/agent-more.md");
const SUMMARY: &str = include_str!("../prompts/agent-summary.md");
const CONCLUDE: &str = include_str!("../prompts/agent-conclude.md");
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
    CONCLUDE,
    script::LLM_CLIENT,
    script::CHUNKING,
];

/// Consecutive replies without a tool call before giving up.
const SILENT_MAX: u64 = 3;

/// Answers by working on files. A run with a follow-up question continues: earlier answers are replayed.
pub(crate) async fn solve(frame: &Frame, task: &Task) -> Result<Answer> {
    let mut job = Job::begin(frame, task).await?;
    let mut answer = job.answer().await?;
    for question in frame.more_questions()? {
        job.ask_more(&question);
        answer = job.answer().await?;
    }
    Ok(answer)
}

struct Job<'a> {
    frame: &'a Frame,
    task: &'a Task,
    work: Work<'a>,
    protocol: Protocol,
    transcript: Transcript,
    repeats: Repeats,
}

impl<'a> Job<'a> {
    async fn begin(frame: &'a Frame, task: &'a Task) -> Result<Self> {
        let first = first::prepare(frame, task).await?;
        let work = Work::begin(frame, task, &first).await?;
        let protocol = Protocol::Native;
        let transcript = transcript(frame, protocol, &first.message);
        Ok(Self { frame, task, work, protocol, transcript, repeats: Repeats::default() })
    }

    /// Takes turns until the answer is accepted or a limit is reached.
    async fn answer(&mut self) -> Result<Answer> {
        let (turns_max, mut n_silent) = (self.frame.limits().agent_turns_max, 0);
        for turn in 1..=turns_max {
            if self.transcript.needs_compaction() {
                let asking = with_message(self.prompt(), SUMMARY);
                overflow::compact(self.frame, &mut self.transcript, asking).await?;
            }
            if let Some(code) = self.frame.must_conclude(&self.prompt()).await? {
                return self.conclude(code).await;
            }
            let reply = unless_empty(self.ask().await)?;
            let (calls, reply) = reply.map(protocol::read).unwrap_or_default();
            self.protocol.push_reply(&mut self.transcript, &reply, &calls);
            n_silent = if calls.is_empty() { n_silent + 1 } else { 0 };
            if n_silent >= SILENT_MAX {
                return self.conclude(ErrorCode::ModelStuck).await;
            }
            let turns_left = turns_max - turn;
            match self.work.take_turn(&calls, turns_left).await? {
                Turn::Answered(given) => {
                    let answer = session::settle(self.frame, self.task, given).await?;
                    protocol::push_end(&mut self.transcript, &calls);
                    return Ok(answer);
                }
                Turn::Results(mut told) => {
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

    fn novelty(&mut self, told: &[ToolAnswer]) -> Novelty {
        if told.is_empty() {
            // Turns without a call are counted separately.
            return Novelty::New;
        }
        let calls: Vec<String> =
            told.iter().map(|told| format!("{} {}", told.call.name, told.call.arguments)).collect();
        let results: Vec<String> = told.iter().map(|told| told.text.clone()).collect();
        self.repeats.judge(&calls, &results)
    }

    /// Asks for the next step; if the prompt is too long, asks again with half of the conversation.
    async fn ask(&mut self) -> Result<Reply> {
        match self.ask_once().await {
            Err(error) if overflow::halved(self.frame, &mut self.transcript, &error).await? => {
                self.ask_once().await
            }
            asked => asked,
        }
    }

    /// If the provider does not support tools, the prompt describes them from then on.
    async fn ask_once(&mut self) -> Result<Reply> {
        match self.frame.ask(self.prompt()).await {
            Err(error @ FrameError::Call { .. }) if self.protocol.is_refused_by(&error) => {
                debug_assert_eq!(error.code(), ErrorCode::ModelRequestRefused);
                self.protocol = Protocol::Text;
                self.transcript.set_system(first::system(self.frame, self.protocol));
                self.frame.ask(self.prompt()).await
            }
            asked => asked,
        }
    }

    fn ask_more(&mut self, question: &str) {
        self.work.check.begin_anew(question);
        self.repeats = Repeats::default();
        self.transcript.push_user(MORE.replace("{question}", question));
    }

    fn prompt(&self) -> Prompt {
        prompt(self.frame, self.protocol, &self.transcript)
    }

    /// Takes the answer from its file, or asks for one.
    async fn conclude(&mut self, stopped_by: ErrorCode) -> Result<Answer> {
        let (frame, task, protocol) = (self.frame, self.task, self.protocol);
        if let Some(given) = self.work.check.so_far(&self.work.agent.desk) {
            return Ok(conclude::partial(session::settle(frame, task, given).await?, stopped_by));
        }
        let next = |transcript: &Transcript| prompt(frame, protocol, transcript);
        conclude::conclude(frame, task, &mut self.transcript, (CONCLUDE, stopped_by), next).await
    }
}

fn prompt(frame: &Frame, protocol: Protocol, transcript: &Transcript) -> Prompt {
    let prompt = transcript.prompt(frame.limits().root_output_tokens_max);
    Prompt { tools: protocol.tools(frame), ..prompt }
}

fn transcript(frame: &Frame, protocol: Protocol, first: &str) -> Transcript {
    // The tools are sent with every request.
    let room_tokens = frame.room_tokens().saturating_sub(tool_tokens(&protocol.tools(frame)));
    let bounds = TranscriptLimits::within(frame.limits(), room_tokens);
    Transcript::new(first::system(frame, protocol), first.to_owned(), bounds)
}
