//! Samples the next token: the likeliest or at random, constrained by a grammar if the reply has one.

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::model::LlamaModel;
use llama_cpp_2::sampling::LlamaSampler;
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::token::data::LlamaTokenData;
use llama_cpp_2::token::data_array::LlamaTokenDataArray;

use super::{Job, Work, form};
use crate::ModelError;

/// Top-k: sample among this many of the likeliest tokens.
const LIKELIEST: i32 = 40;
/// Top-p: and among those that together have this probability.
const SHARE: f32 = 0.95;

pub(super) struct Chooser {
    choice: LlamaSampler,
    grammar: Option<LlamaSampler>,
}

impl Chooser {
    pub(super) fn new(work: &Work, model: &LlamaModel, job: &Job) -> Result<Self, ModelError> {
        let grammar = match job.schema.as_deref() {
            Some(schema) => {
                let rules = form::grammar(schema)?;
                let sampler = LlamaSampler::grammar(model, &rules, "root");
                Some(sampler.map_err(|_| form::refused("its grammar was rejected"))?)
            }
            None => None,
        };
        let temperature = job.temperature.unwrap_or(work.temperature);
        let choice = if temperature > 0.0 {
            let steps = [
                LlamaSampler::top_k(LIKELIEST),
                LlamaSampler::top_p(SHARE, 1),
                LlamaSampler::temp(temperature),
                LlamaSampler::dist(work.seed),
            ];
            LlamaSampler::chain(steps, true)
        } else {
            LlamaSampler::greedy()
        };
        Ok(Self { choice, grammar })
    }

    pub(super) fn next(&mut self, memory: &LlamaContext<'_>, idx: i32) -> Result<LlamaToken, ModelError> {
        let free = self.choice.sample(memory, idx);
        let Some(grammar) = &mut self.grammar else { return Ok(free) };
        // Checking a single token is cheap and usually enough; checking the whole vocabulary is not.
        let mut alone = LlamaTokenDataArray::new(vec![LlamaTokenData::new(free, 1.0, 0.0)], false);
        grammar.apply(&mut alone);
        let is_allowed = alone.data.first().is_some_and(|data| data.logit().is_finite());
        let token = if is_allowed {
            free
        } else {
            let mut all = memory.token_data_array_ith(idx);
            grammar.apply(&mut all);
            all.data.retain(|data| data.logit().is_finite());
            self.choose(all)?
        };
        let grammar = self.grammar.as_mut().ok_or_else(nothing_left)?;
        grammar.try_accept(token).map_err(|_| nothing_left())?;
        Ok(token)
    }

    fn choose(&mut self, mut candidates: LlamaTokenDataArray) -> Result<LlamaToken, ModelError> {
        if candidates.data.is_empty() {
            return Err(nothing_left());
        }
        self.choice.apply(&mut candidates);
        candidates.selected_token().ok_or_else(nothing_left)
    }
}

fn nothing_left() -> ModelError {
    form::refused("its grammar allows no continuation")
}
