//! Synthesis: turns findings into text. One frame per content type, then one across them. If the findings exceed one
//! prompt, groups of them are summarised first and the summaries merged. Sums and locations are given to the model;
//! it refers to findings and never counts.

use std::sync::Arc;

use futures_util::future::join_all;
use spelunk_model::{Prompt, estimate_tokens};
use spelunk_types::{Found, Grounding};

use crate::plain_answer::{self, CodeAlone};
use crate::report::{Gathered, Item, one_line, shown};
use crate::{Answer, Frame, FrameError, Task};

const TYPE: &str = include_str!("prompts/synthesis-type.md");
const MERGE: &str = include_str!("prompts/synthesis-merge.md");
const CROSS: &str = include_str!("prompts/synthesis-cross.md");
pub(crate) const PROMPTS: [&str; 3] = [TYPE, MERGE, CROSS];

/// Locations listed per finding.
const PLACES_MAX: usize = 5;
/// Rounds of merging summaries; each reduces them several times.
pub(crate) const ROUNDS_MAX: usize = 8;
/// The longest system prompt, including the name of a type.
pub(crate) const SYSTEM_BYTES_MAX: u64 = 4_000;

/// What is merged, line by line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Synthesis {
    kind: Kind,
    lines: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// The findings of one content type.
    Type(String),
    /// The summaries of all types.
    Cross,
}

impl Synthesis {
    /// For the findings of one content type. `numbers` are the numbers of the items, from 1.
    pub(crate) fn of_type(content_type: &str, gathered: &Gathered, numbers: &[usize]) -> Self {
        let items = gathered.items.iter().zip(numbers);
        let mut lines: Vec<String> = items.map(|(item, number)| item_line(item, *number)).collect();
        lines.extend(counts(gathered));
        let remark = |(place, said): &(String, String)| format!("About {place}: {}", one_line(said));
        lines.extend(gathered.remarks.iter().map(remark));
        Self { kind: Kind::Type(content_type.to_owned()), lines }
    }

    /// Across types and directories: their summaries, the most severe findings, and the counts.
    pub(crate) fn across(summaries: &[(String, String)], gathered: &Gathered, counted: Vec<String>) -> Self {
        let mut lines: Vec<String> = summaries
            .iter()
            .map(|(kind, text)| format!("<summary of=\"{kind}\">\n{text}\n</summary>"))
            .collect();
        let items = gathered.items.iter().enumerate().take(50);
        lines.extend(items.map(|(idx, item)| item_line(item, idx + 1)));
        lines.extend(counts(gathered));
        lines.extend(counted);
        Self { kind: Kind::Cross, lines }
    }

    /// Identifies a synthesis in the journal.
    pub(crate) fn note(&self) -> String {
        let digest = spelunk_journal::digest(self.lines.join("\n").as_bytes());
        let what = match &self.kind {
            Kind::Type(content_type) => content_type,
            Kind::Cross => "all types",
        };
        format!("synthesis of {what}: {} lines, {digest}", self.lines.len())
    }

    fn system(&self) -> String {
        match &self.kind {
            Kind::Type(content_type) => TYPE.replace("{content_type}", content_type),
            Kind::Cross => CROSS.to_owned(),
        }
    }
}

/// Writes the text.
pub(crate) async fn solve(
    frame: &Frame,
    task: &Task,
    synthesis: &Arc<Synthesis>,
) -> Result<Answer, FrameError> {
    let tokens_max = frame.limits().synthesis_tokens_max;
    let (mut system, mut groups) = (synthesis.system(), grouped(&synthesis.lines, tokens_max));
    for _ in 0..ROUNDS_MAX {
        if groups.len() <= 1 {
            break;
        }
        let prompts: Vec<Prompt> =
            groups.iter().map(|group| prompt(frame, &system, group, task.question_shown())).collect();
        let asking: Vec<_> = prompts.iter().map(|prompt| frame.ask_synthesis(prompt.clone())).collect();
        let mut summaries = Vec::new();
        for (prompt, reply) in prompts.into_iter().zip(join_all(asking).await) {
            let send = |prompt| frame.ask_synthesis(prompt);
            let reply = plain_answer::ask_again(frame, prompt, reply?, CodeAlone::IsNone, send).await?;
            summaries.push(format!("<summary>\n{}\n</summary>", reply.text.trim()));
        }
        // The last call uses the prompt of a single one, except that it works on summaries.
        system = if synthesis.kind == Kind::Cross { CROSS.to_owned() } else { MERGE.to_owned() };
        groups = grouped(&summaries, tokens_max);
    }
    let last = groups.into_iter().next().unwrap_or_default();
    let last = prompt(frame, &system, &last, task.question_shown());
    // Code alone is never a summary.
    let send = |prompt| frame.ask_synthesis(prompt);
    let reply = plain_answer::ask(frame, last, CodeAlone::IsNone, send).await?;
    let text = reply.text.trim().to_owned();
    Ok(Answer { text, citations: Vec::new(), grounding: Grounding::Uncited })
}

fn prompt(frame: &Frame, system: &str, lines: &[String], question: &str) -> Prompt {
    let user = format!("{}\n\nQuestion: {question}\n", lines.join("\n"));
    Prompt::single(system, user, frame.limits().root_output_tokens_max)
}

/// Groups lines into at most `tokens_max` tokens; a longer line is a group of its own.
fn grouped(lines: &[String], tokens_max: u64) -> Vec<Vec<String>> {
    let (mut groups, mut tokens) = (vec![Vec::new()], 0);
    for line in lines {
        let own = estimate_tokens(line);
        let is_full =
            groups.last().is_some_and(|group: &Vec<String>| !group.is_empty() && tokens + own > tokens_max);
        if is_full {
            groups.push(Vec::new());
            tokens = 0;
        }
        tokens += own;
        if let Some(group) = groups.last_mut() {
            group.push(line.clone());
        }
    }
    groups
}

/// `[F3] high vulnerability at src/a.py:42 (function:login): … | “…” | seen 3 times in 2 files: …`
fn item_line(item: &Item, number: usize) -> String {
    let finding = &item.finding;
    let severity = finding.severity.map(|severity| format!("{severity} ")).unwrap_or_default();
    let location = &finding.location;
    let mut line = format!("[F{number}] {severity}{} at {location}", finding.kind);
    for place in [&location.scope, &location.column, &location.json_path].into_iter().flatten() {
        line += &format!(" ({})", one_line(place));
    }
    line += &format!(": {}", one_line(&finding.summary));
    if let Some(value) = &finding.value {
        line += &format!(" = {}", one_line(value));
    }
    if !finding.evidence.is_empty() {
        line += &format!(" | “{}”", one_line(&finding.evidence));
    }
    if finding.quote == Some(Found::Missing) {
        line += " | these words are not in the text that was shown";
    }
    if item.places.len() > 1 {
        let others = item.places.iter().skip(1).take(PLACES_MAX);
        let places: Vec<String> = others.map(ToString::to_string).collect();
        line += &format!(
            " | seen {} times in {} files, also at {}",
            item.places.len(),
            item.n_files(),
            places.join(", ")
        );
    }
    line
}

fn counts(gathered: &Gathered) -> Vec<String> {
    let sums = gathered.distributions.iter().map(|sum| format!("Counted over all parts: {}", shown(sum)));
    let count = gathered.count.map(|count| format!("The counts of all parts add up to {count}."));
    sums.chain(count).collect()
}

#[cfg(test)]
mod tests;
