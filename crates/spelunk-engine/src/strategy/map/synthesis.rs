//! Synthesis: turns findings into text. One frame per content type, then one across them. If the
//! findings exceed one prompt, groups of them are summarised first and the summaries merged. Sums
//! and locations are given to the model; it refers to findings and never counts.

use std::sync::Arc;

use futures_util::future::join_all;
use spelunk_model::{Prompt, estimate_tokens};

use crate::plain_answer::{self, CodeAlone};
use crate::task::{Kind, Synthesis};
use crate::{Answer, Frame, Result, Task};

const TYPE: &str = include_str!("../../prompts/synthesis-type.md");
const MERGE: &str = include_str!("../../prompts/synthesis-merge.md");
const CROSS: &str = include_str!("../../prompts/synthesis-cross.md");
pub(crate) const PROMPTS: [&str; 3] = [TYPE, MERGE, CROSS];

/// The most rounds of merging summaries; each reduces them several times.
pub(crate) const ROUNDS_MAX: usize = 8;
/// The longest system prompt, including the name of a type.
pub(crate) const SYSTEM_BYTES_MAX: u64 = 4_000;

pub(crate) async fn solve(frame: &Frame, task: &Task, synthesis: &Arc<Synthesis>) -> Result<Answer> {
    let tokens_max = frame.limits().synthesis_tokens_max;
    let (mut system, mut groups) = (system(synthesis), grouped(&synthesis.lines, tokens_max));
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
    Ok(Answer::new(reply.text.trim().to_owned(), Vec::new()))
}

fn system(synthesis: &Synthesis) -> String {
    match &synthesis.kind {
        Kind::Type(content_type) => TYPE.replace("{content_type}", content_type),
        Kind::Cross => CROSS.to_owned(),
    }
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

#[cfg(test)]
mod tests;
