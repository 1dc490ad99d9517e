//! The cost range of an analysis. The minimum assumes that no part is relevant; the maximum, that
//! every analyst uses its whole output limit and one correction, and that everything is
//! synthesised. Failed attempts and cached findings of earlier runs are not considered.

use std::collections::BTreeMap;

use spelunk_context::{Plan, View};
use spelunk_types::{Focus, Limits, Usage};

use super::super::analyst::AnalystPrompt;
use super::super::synthesis;
use super::analyses;
use crate::ModelCapacity;
use crate::task::Analysis;

/// Bytes per token: the most in plain prose, the least in tables and other scripts, and the value for lists.
const TOKEN_BYTES_MAX: u64 = 6;
const TOKEN_BYTES_MIN: u64 = 2;
const TOKEN_BYTES: u64 = 4;
/// The shortest report: nothing found.
const REPORT_TOKENS_MIN: u64 = 2;
const FINDING_TOKENS_MIN: u64 = 10;
/// Markup around a finding or document besides its name.
const MARKS_BYTES: u64 = 80;
/// The text of a correction besides the report that it is about.
const CORRECTION_BYTES: u64 = 6_000;
/// The longest text that a focus adds.
const FOCUS_BYTES: u64 = 1_000;
/// The number of findings shown next to the summaries of types, and the maximum length of each.
const ACROSS_ITEMS: u64 = 50;
const ITEM_BYTES_MAX: u64 = 1_500;

/// A range from minimum to maximum.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Range<T> {
    /// Minimum.
    pub least: T,
    /// Maximum.
    pub most: T,
}

/// The cost range of a plan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub struct Forecast {
    pub calls: Range<u64>,
    pub reading: Range<Usage>,
    pub synthesis: Range<Usage>,
}

impl Forecast {
    /// Total usage.
    pub fn usage(&self) -> Range<Usage> {
        let Self { reading, synthesis, .. } = self;
        Range { least: reading.least.plus(synthesis.least), most: reading.most.plus(synthesis.most) }
    }
}

/// The forecast of a plan. `reader` is the capacity of the model that reads the parts.
pub fn forecast(
    plan: &Plan,
    view: &View,
    question: &str,
    reader: ModelCapacity,
    limits: &Limits,
) -> Forecast {
    let mut forecast = Forecast::default();
    let mut written: BTreeMap<String, u64> = BTreeMap::new();
    for analysis in analyses(plan, view, Focus::General) {
        let task = Task::of(&analysis, question, reader, limits);
        task.add_to(&mut forecast);
        let found = written.entry(analysis.content_type().to_owned()).or_default();
        *found = found.saturating_add(task.found_tokens(&analysis, limits));
    }
    let mut putting = SynthesisForecast { calls: 0, usage: Usage::default(), question, limits };
    for tokens in written.values() {
        putting.sum_up(*tokens);
    }
    if written.len() > 1 || !view.directories().is_empty() {
        let found = written.values().fold(0, |sum: u64, tokens| sum.saturating_add(*tokens));
        let items = found.min(ACROSS_ITEMS * ITEM_BYTES_MAX / TOKEN_BYTES);
        putting.sum_up(items + written.len() as u64 * listed(limits.root_output_tokens_max));
    }
    forecast.calls.most = forecast.calls.most.saturating_add(putting.calls);
    forecast.synthesis.most = putting.usage;
    forecast
}

struct Task {
    least: Usage,
    /// The first call; a correction begins with the same text.
    most: Usage,
}

impl Task {
    fn of(analysis: &Analysis, question: &str, reader: ModelCapacity, limits: &Limits) -> Self {
        let AnalystPrompt { system, schema, output_tokens_max: output_tokens } =
            AnalystPrompt::of(analysis, limits, reader);
        let said = system.len() as u64 + analysis.assignment().len() as u64 + question.len() as u64;
        let least = Usage {
            input_tokens: (said + analysis.bytes()).div_ceil(TOKEN_BYTES_MAX),
            output_tokens: REPORT_TOKENS_MIN,
            ..Usage::default()
        };
        let shown: u64 = analysis.parts.iter().map(|part| part.shown_bytes_max() + MARKS_BYTES).sum();
        let sent = said + schema.to_string().len() as u64 + shown + FOCUS_BYTES;
        let input_tokens = sent.div_ceil(TOKEN_BYTES_MIN);
        let most = Usage { input_tokens, output_tokens, ..Usage::default() };
        Self { least, most }
    }

    fn add_to(&self, forecast: &mut Forecast) {
        let Self { least, most } = self;
        let correction = Usage {
            input_tokens: most.input_tokens + most.output_tokens + CORRECTION_BYTES / TOKEN_BYTES_MIN,
            ..*most
        };
        forecast.calls.least += 1;
        forecast.calls.most += 2;
        forecast.reading.least = forecast.reading.least.plus(*least);
        forecast.reading.most = forecast.reading.most.plus(*most).plus(correction);
    }

    /// The maximum size of its findings in a list.
    fn found_tokens(&self, analysis: &Analysis, limits: &Limits) -> u64 {
        let output = self.most.output_tokens;
        let findings = limits.findings_max.min(output / FINDING_TOKENS_MIN);
        let name_bytes = analysis.parts.iter().map(|part| part.name.len() as u64).max().unwrap_or(0);
        listed(output) + findings.saturating_mul(name_bytes + MARKS_BYTES).div_ceil(TOKEN_BYTES)
    }
}

/// The maximum size of a reply with this many tokens in a list.
fn listed(output_tokens: u64) -> u64 {
    output_tokens.saturating_mul(TOKEN_BYTES_MAX).div_ceil(TOKEN_BYTES)
}

struct SynthesisForecast<'a> {
    calls: u64,
    usage: Usage,
    question: &'a str,
    limits: &'a Limits,
}

impl SynthesisForecast<'_> {
    /// Summarises this many tokens, in groups and rounds, until one text is left.
    fn sum_up(&mut self, mut tokens: u64) {
        let output = self.limits.root_output_tokens_max;
        for _ in 0..=synthesis::ROUNDS_MAX {
            // Two adjacent groups together exceed the limit of one.
            let full = self.limits.synthesis_tokens_max.max(1);
            let groups = if tokens <= full { 1 } else { (tokens.saturating_mul(2) / full).saturating_add(1) };
            self.calls = self.calls.saturating_add(groups);
            let words = synthesis::SYSTEM_BYTES_MAX + self.question.len() as u64 + MARKS_BYTES;
            let lines = tokens.saturating_mul(TOKEN_BYTES / TOKEN_BYTES_MIN);
            let input = groups.saturating_mul(words.div_ceil(TOKEN_BYTES_MIN)).saturating_add(lines);
            let used = Usage {
                input_tokens: input,
                output_tokens: groups.saturating_mul(output),
                ..Usage::default()
            };
            self.usage = self.usage.plus(used);
            if groups == 1 {
                return;
            }
            tokens = groups.saturating_mul(listed(output) + MARKS_BYTES);
        }
    }
}
