//! The thread of a model: takes calls in order of arrival, works on a few concurrently, and streams their tokens as
//! they are sampled. Every step computes one token of each reply and is filled up with prompts, oldest first.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Receiver;

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::token::LlamaToken;
use spelunk_types::{StopReason, Usage};

use super::cells::{Sequence, place};
use super::load::{self, SEQUENCES, STEP_TOKENS};
use super::sample::Chooser;
use super::utf8::Utf8Joiner;
use super::{Job, Work};
use crate::chat::ChatPiece;
use crate::reasoning_tags::ReasoningTags;
use crate::{ModelDelta, ModelError};

/// A prompt must leave room for at least this many tokens, or for the call's output limit if that is lower.
const REPLY_TOKENS_MIN: usize = 256;
/// A text with more bytes per token of the window than any tokenizer merges is rejected without tokenizing it.
const BYTES_PER_TOKEN_MAX: usize = 64;

/// Answers calls until all senders are gone. If the file cannot be loaded, waiting calls fail.
pub(super) fn run(work: &Work, jobs: &Receiver<Job>) {
    let Ok(first) = jobs.recv() else { return };
    // A panic is a bug of ours; it ends this thread and its calls, not the program.
    let ended = catch_unwind(AssertUnwindSafe(|| {
        let model = match load::weights(work) {
            Ok(model) => model,
            Err(error) => return fail_all(first, jobs, &error),
        };
        match load::memory(work, &model) {
            Ok(memory) => Loop::new(work, &model, memory).run(first, jobs),
            Err(error) => fail_all(first, jobs, &error),
        }
    }));
    drop(ended);
}

fn fail_all(first: Job, jobs: &Receiver<Job>, error: &ModelError) {
    for job in std::iter::once(first).chain(jobs.try_iter()) {
        drop(job.reply.send(Err(error.clone())));
    }
}

/// A call without a sequence yet.
struct Waiting {
    job: Job,
    prompt: Vec<i32>,
    n_reply: usize,
    chooser: Chooser,
}

struct Active {
    job: Job,
    prompt: Vec<i32>,
    /// Prompt tokens reused from another call.
    n_cached: usize,
    n_reply_max: usize,
    n_reply: usize,
    /// The last sampled token, not computed yet.
    pending: Option<i32>,
    /// Its index in the current step, if its logits are needed.
    asked_at: Option<i32>,
    chooser: Chooser,
    joiner: Utf8Joiner,
    think: ReasoningTags,
}

struct Loop<'a> {
    work: &'a Work,
    model: &'a LlamaModel,
    memory: LlamaContext<'a>,
    batch: LlamaBatch<'static>,
    sequences: Vec<Sequence>,
    active: Vec<Option<Active>>,
    waiting: VecDeque<Waiting>,
    n_cells: usize,
    /// Whether cells can be kept by position; not for models with a recurrent state.
    can_share: bool,
    n_calls: u64,
}

impl<'a> Loop<'a> {
    fn new(work: &'a Work, model: &'a LlamaModel, memory: LlamaContext<'a>) -> Self {
        Self {
            work,
            model,
            n_cells: memory.n_ctx() as usize,
            memory,
            batch: LlamaBatch::new(STEP_TOKENS as usize, 1),
            sequences: vec![Sequence::default(); SEQUENCES as usize],
            active: (0..SEQUENCES).map(|_| None).collect(),
            waiting: VecDeque::new(),
            can_share: !model.is_recurrent() && !model.is_hybrid(),
            n_calls: 0,
        }
    }

    fn run(mut self, first: Job, jobs: &Receiver<Job>) {
        self.take(first);
        loop {
            let is_idle = self.waiting.is_empty() && self.active.iter().all(Option::is_none);
            if is_idle {
                match jobs.recv() {
                    Ok(job) => self.take(job),
                    Err(_) => return,
                }
            }
            while let Ok(job) = jobs.try_recv() {
                self.take(job);
            }
            self.drop_cancelled();
            self.admit();
            if self.active.iter().any(Option::is_some) {
                self.step();
            }
        }
    }

    fn take(&mut self, job: Job) {
        match self.prepare(&job) {
            Ok((prompt, n_reply, chooser)) => {
                self.waiting.push_back(Waiting { job, prompt, n_reply, chooser });
            }
            Err(error) => drop(job.reply.send(Err(error))),
        }
    }

    fn prepare(&self, job: &Job) -> Result<(Vec<i32>, usize, Chooser), ModelError> {
        let prompt = self.tokens(&job.pieces)?;
        let wanted = usize::try_from(job.output_tokens_max).unwrap_or(usize::MAX).max(1);
        let room = self.work.window_tokens.saturating_sub(prompt.len());
        if room < wanted.min(REPLY_TOKENS_MIN) {
            return Err(self.too_long(&prompt.len().to_string()));
        }
        let chooser = Chooser::new(self.work, self.model, job)?;
        Ok((prompt, wanted.min(room), chooser))
    }

    /// Marks become the tokens they name; everything else is text, whatever it contains.
    fn tokens(&self, pieces: &[ChatPiece]) -> Result<Vec<i32>, ModelError> {
        let n_bytes: usize = pieces
            .iter()
            .map(|piece| match piece {
                ChatPiece::Mark(_) => 0,
                ChatPiece::Text(text) => text.len(),
            })
            .sum();
        if n_bytes / BYTES_PER_TOKEN_MAX > self.work.window_tokens {
            return Err(self.too_long(&format!("more than {}", n_bytes / BYTES_PER_TOKEN_MAX)));
        }
        let vocabulary = self.model.vocab();
        let mut tokens = Vec::new();
        for piece in pieces {
            let of_piece = match piece {
                ChatPiece::Mark(mark) => vocabulary.tokenize(mark.as_bytes(), false, true),
                ChatPiece::Text(text) => vocabulary.tokenize(text.as_bytes(), false, false),
            };
            tokens.extend(of_piece.into_iter().map(|token| token.0));
        }
        Ok(tokens)
    }

    fn too_long(&self, n_tokens: &str) -> ModelError {
        let window = self.work.window_tokens;
        let detail =
            format!("{n_tokens} tokens and a reply exceed the window of {window} of `{}`", self.work.name);
        ModelError::PromptTooLong { detail }
    }

    /// Removes calls whose receiver is gone.
    fn drop_cancelled(&mut self) {
        self.waiting.retain(|waiting| !waiting.job.reply.is_closed());
        for idx in 0..self.active.len() {
            if self.active[idx].as_ref().is_some_and(|active| active.job.reply.is_closed()) {
                self.release(idx);
            }
        }
    }

    /// Assigns sequences to calls in order of arrival. A call that finds no room blocks later ones,
    /// so that a long prompt is not overtaken forever.
    fn admit(&mut self) {
        while let Some(waiting) = self.waiting.front() {
            let Some(start) = place(&self.sequences, &waiting.prompt, waiting.n_reply, self.n_cells) else {
                break;
            };
            let Some(waiting) = self.waiting.pop_front() else { break };
            let n_common = self.begin(start.own, start.from, start.n_common);
            for idx in (0..self.sequences.len()).filter(|idx| start.forgotten >> idx & 1 == 1) {
                self.keep(idx, 0);
            }
            self.n_calls += 1;
            let reserved = Some(waiting.prompt.len() + waiting.n_reply);
            let tokens = waiting.prompt[..n_common].to_vec();
            self.sequences[start.own] = Sequence { tokens, reserved, used: self.n_calls };
            self.active[start.own] = Some(Active {
                job: waiting.job,
                prompt: waiting.prompt,
                n_cached: n_common,
                n_reply_max: waiting.n_reply,
                n_reply: 0,
                pending: None,
                asked_at: None,
                chooser: waiting.chooser,
                joiner: Utf8Joiner::default(),
                think: ReasoningTags::default(),
            });
        }
    }

    /// Copies the shared prefix into a sequence; returns how many tokens it has now.
    fn begin(&mut self, own: usize, from: usize, n_common: usize) -> usize {
        let n_common = if self.can_share { n_common } else { 0 };
        if own == from {
            return self.keep(own, n_common);
        }
        self.keep(own, 0);
        let (Ok(source), Ok(target), Ok(end)) =
            (i32::try_from(from), i32::try_from(own), u32::try_from(n_common))
        else {
            return 0;
        };
        let copied =
            n_common > 0 && self.memory.copy_kv_cache_seq(source, target, Some(0), Some(end)).is_ok();
        if copied { n_common } else { 0 }
    }

    /// Truncates a sequence after its first tokens; returns how many are left.
    fn keep(&mut self, idx: usize, n_tokens: usize) -> usize {
        let (sequence, end) = (u32::try_from(idx).ok(), u32::try_from(n_tokens).ok());
        let is_cut = n_tokens > 0 && self.memory.clear_kv_cache_seq(sequence, end, None).unwrap_or_default();
        let left = if is_cut { n_tokens } else { 0 };
        if !is_cut {
            // Removing a whole sequence always succeeds.
            drop(self.memory.clear_kv_cache_seq(sequence, None, None));
        }
        self.sequences[idx].tokens.truncate(left);
        left
    }

    /// Ends a call; its cells are kept for the next call with the same prefix.
    fn release(&mut self, idx: usize) {
        self.active[idx] = None;
        self.sequences[idx].reserved = None;
        let is_kept = self.can_share;
        if !is_kept {
            self.keep(idx, 0);
        }
    }

    fn step(&mut self) {
        self.fill();
        if self.batch.n_tokens() == 0 {
            return;
        }
        if let Err(error) = self.memory.decode(&mut self.batch) {
            return self.fail(&error.to_string());
        }
        for idx in 0..self.active.len() {
            let Some(active) = &mut self.active[idx] else { continue };
            let Some(at) = active.asked_at.take() else { continue };
            let chosen = active.chooser.next(&self.memory, at);
            let is_done = match chosen {
                Ok(token) => said(active, token, self.model),
                Err(error) => {
                    drop(active.job.reply.send(Err(error)));
                    true
                }
            };
            if is_done {
                self.release(idx);
            }
        }
    }

    /// Assembles the next step: one token of each reply, then prompts, oldest first.
    fn fill(&mut self) {
        self.batch.clear();
        let mut order: Vec<usize> =
            (0..self.active.len()).filter(|idx| self.active[*idx].is_some()).collect();
        order.sort_by_key(|idx| self.sequences[*idx].used);
        for &idx in &order {
            if let Some(token) = self.active[idx].as_mut().and_then(|active| active.pending.take()) {
                self.add(idx, token, Wanted::Yes);
            }
        }
        for &idx in &order {
            while let Some(active) = &self.active[idx] {
                let n_done = self.sequences[idx].tokens.len();
                let Some(&token) = active.prompt.get(n_done) else { break };
                let is_last = n_done + 1 == active.prompt.len();
                if !self.add(idx, token, if is_last { Wanted::Yes } else { Wanted::No }) {
                    return;
                }
            }
        }
    }

    /// Adds a token to the step; false if the step is full.
    fn add(&mut self, idx: usize, token: i32, wanted: Wanted) -> bool {
        let at = self.batch.n_tokens();
        let (Ok(position), Ok(sequence)) =
            (i32::try_from(self.sequences[idx].tokens.len()), i32::try_from(idx))
        else {
            return false;
        };
        let is_wanted = wanted == Wanted::Yes;
        if self.batch.add(LlamaToken(token), position, &[sequence], is_wanted).is_err() {
            return false;
        }
        self.sequences[idx].tokens.push(token);
        if let Some(active) = self.active[idx].as_mut().filter(|_| is_wanted) {
            active.asked_at = Some(at);
        }
        true
    }

    /// Handles a failed step: no cached cell can be trusted.
    fn fail(&mut self, why: &str) {
        let (name, detail) = (&self.work.name, format!("it could not continue ({why})"));
        for active in self.active.iter_mut().filter_map(Option::take) {
            let error = ModelError::LocalFailed { name: name.clone(), detail: detail.clone() };
            drop(active.job.reply.send(Err(error)));
        }
        self.memory.clear_kv_cache();
        self.sequences.fill(Sequence::default());
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Yes,
    No,
}

/// Sends a token to the caller; true if the reply has ended.
fn said(active: &mut Active, token: LlamaToken, model: &LlamaModel) -> bool {
    active.n_reply += 1;
    let vocabulary = model.vocab();
    let stop = if vocabulary.is_eog(token) {
        Some(StopReason::Finished)
    } else {
        let text = active.joiner.push(&vocabulary.token_to_piece(token, false, None));
        send(active, |think| think.push(text));
        active.pending = Some(token.0);
        (active.n_reply >= active.n_reply_max).then_some(StopReason::Length)
    };
    let Some(stop) = stop else { return false };
    let rest = active.joiner.finish();
    send(active, |think| {
        let mut deltas = think.push(rest);
        deltas.extend(think.finish());
        deltas
    });
    let usage = Usage {
        input_tokens: active.prompt.len() as u64,
        cached_tokens: active.n_cached as u64,
        output_tokens: active.n_reply as u64,
        ..Usage::default()
    };
    drop(active.job.reply.send(Ok(ModelDelta::Done { stop, usage: Some(usage) })));
    true
}

fn send(active: &mut Active, deltas: impl FnOnce(&mut ReasoningTags) -> Vec<ModelDelta>) {
    for delta in deltas(&mut active.think) {
        drop(active.job.reply.send(Ok(delta)));
    }
}
