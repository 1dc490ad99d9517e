//! The simulated reader: a model that really reads its prompt, with the weaknesses of models: it overlooks
//! more in longer prompts, sometimes misreads lines, and sometimes gets the form wrong. It knows the
//! questions of this crate, but no answers. Its replies depend only on the prompt and the seed, so that runs
//! are repeatable. It measures decomposition and aggregation, thousands of times, without a network.

mod asked;
mod notes;
mod program;
mod reader;
mod speech;

use futures_util::stream;
use spelunk_model::{Model, ModelDelta, ModelError, ModelFacts, ModelStream, Price, Prompt, estimate_tokens};
use spelunk_types::{CallId, ModelRef, StopReason, Usage};

use crate::rng::Rng;
use asked::Question;
use reader::Reader;

/// How well it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimSettings {
    /// Each seed is a different reader.
    pub seed: u64,
    /// Of a thousand relevant lines, how many it notices in a short prompt.
    pub recall_permille: u64,
    /// The prompt length at which recall is halved.
    pub half_tokens: u64,
    /// Of a thousand noticed lines, how many it misreads.
    pub mistake_permille: u64,
    /// Of a thousand replies, how many do not have the requested form.
    pub slip_permille: u64,
    /// The longest prompt it accepts.
    pub window_tokens: u64,
}

impl Default for SimSettings {
    fn default() -> Self {
        Self {
            seed: 1,
            recall_permille: 998,
            half_tokens: 60_000,
            mistake_permille: 4,
            slip_permille: 20,
            window_tokens: 128_000,
        }
    }
}

/// Longer prompts count as this long.
const LENGTH_MAX: u64 = 1 << 40;

impl SimSettings {
    /// Of a thousand relevant lines, how many it notices in a prompt of this length. Decreases with the square of the
    /// length: short prompts are safe, and there is no cliff.
    fn noticed_permille(&self, tokens: u64) -> u64 {
        let square = |number: u64| u128::from(number.clamp(1, LENGTH_MAX)).pow(2);
        let (half, length) = (square(self.half_tokens), square(tokens));
        let all = half + length;
        u64::try_from((u128::from(self.recall_permille) * half + all / 2) / all).unwrap_or_default()
    }
}

/// The simulated reader.
#[derive(Debug, Clone)]
pub struct SimModel {
    reference: ModelRef,
    settings: SimSettings,
}

impl SimModel {
    /// A reader with these settings.
    pub fn new(settings: SimSettings) -> Self {
        let (provider, name) = ("simulated".to_owned(), "sim".to_owned());
        Self { reference: ModelRef { provider, name, base_url: "inside the program".to_owned() }, settings }
    }

    fn reply(&self, prompt: &Prompt, tokens: u64) -> String {
        let mut parts = vec!["sim".to_owned(), self.settings.seed.to_string(), prompt.system.clone()];
        parts.extend(prompt.messages.iter().map(|message| message.text.clone()));
        let mut rng = Rng::of(&parts.iter().map(String::as_str).collect::<Vec<_>>());
        let slips = rng.happens(self.settings.slip_permille);
        let noticed_permille = self.settings.noticed_permille(tokens);
        let mistake_permille = self.settings.mistake_permille;
        let reader = Reader { rng, noticed_permille, mistake_permille };
        let first = prompt.messages.first().map(|message| message.text.as_str()).unwrap_or_default();
        let last = prompt.messages.last().map(|message| message.text.as_str()).unwrap_or_default();
        let role = Role::of(&prompt.system);
        // In a searcher's prompt, the messages before the last one are examples.
        let asked_in = if role == Role::Searcher { last } else { first };
        let Some(asked) = Question::of(question_in(asked_in)) else {
            return "I do not understand the question.".to_owned();
        };
        match role {
            Role::Searcher => speech::searches(&asked),
            Role::Analyst => speech::analysis(&asked, reader, first, slips && prompt.messages.len() == 1),
            Role::Synthesis => speech::synthesis(&asked, reader, first),
            Role::Explorer if last.contains("No more code will run") => {
                speech::conclusion(&asked, reader, last)
            }
            Role::Explorer if slips => "I would look at the text first and then count.".to_owned(),
            Role::Explorer => program::program(&asked, question_in(first)),
            Role::Part => speech::part(&asked, reader, first, slips),
            Role::Answerer => speech::answer(&asked, reader, first, slips),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Answers from the documents in the prompt.
    Answerer,
    /// Lists what to search for.
    Searcher,
    /// Reports on a part, as JSON.
    Analyst,
    /// Merges reports.
    Synthesis,
    /// Writes code.
    Explorer,
    /// Answers the calls of that code.
    Part,
}

impl Role {
    fn of(system: &str) -> Self {
        let says = |words: &str| system.contains(words);
        if system.trim().is_empty() {
            Self::Part
        } else if says("too long to read at once") {
            Self::Explorer
        } else if says("that you cannot see") {
            Self::Searcher
        } else if says("one JSON object") && says("analyst") {
            Self::Analyst
        } else if says("You combine") || says("the final part of a report") {
            Self::Synthesis
        } else {
            Self::Answerer
        }
    }
}

/// The question in a prompt: what follows the last `Question:`, up to a blank line.
fn question_in(text: &str) -> &str {
    let after = text.rsplit_once("Question: ").map_or(text, |(_, after)| after);
    after.split("\n\n").next().unwrap_or_default().trim()
}

impl Model for SimModel {
    fn reference(&self) -> &ModelRef {
        &self.reference
    }

    /// A fictitious price, that of a small model, so that costs can be compared.
    fn facts(&self) -> ModelFacts {
        let price = Some(Price::of([250_000, 2_000_000, 25_000, 250_000], None));
        ModelFacts { price, ..ModelFacts::default() }
    }

    fn stream(&self, prompt: &Prompt, _call: &CallId) -> ModelStream {
        let said: u64 = prompt.messages.iter().map(|message| estimate_tokens(&message.text)).sum();
        let tokens = estimate_tokens(&prompt.system) + said;
        if tokens > self.settings.window_tokens {
            let detail = format!("{tokens} tokens of {}", self.settings.window_tokens);
            return Box::pin(stream::iter([Err(ModelError::PromptTooLong { detail })]));
        }
        let text = self.reply(prompt, tokens);
        let usage = Usage { input_tokens: tokens, output_tokens: estimate_tokens(&text), ..Usage::default() };
        let done = ModelDelta::Done { stop: StopReason::Finished, usage: Some(usage) };
        Box::pin(stream::iter([Ok(ModelDelta::Text(text)), Ok(done)]))
    }
}

#[cfg(test)]
mod tests;
