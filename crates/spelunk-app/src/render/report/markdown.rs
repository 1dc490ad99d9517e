//! The report as Markdown: the question, the facts of the run, and the answer.

mod text;

use spelunk_engine::{ReportCoverage, RunReport};
use spelunk_types::{Strategy, iso_time};

use self::text::{line, name, prose};
use super::state_word;
use crate::render::answer::{bytes_read, files_read};
use crate::units::{bytes, count, dollars, head, safe, time, tokens};

const QUESTION_CHARS_MAX: usize = 200;
const RAISED_CHARS_MAX: usize = 120;
const ERRORS_MAX: usize = 50;

pub(crate) fn markdown(report: &RunReport) -> String {
    let view = &report.view;
    let mut text = format!("# {}\n\n", line(&head(&report.question, QUESTION_CHARS_MAX)));
    let model = view.model.as_ref().map(ToString::to_string).unwrap_or_default();
    let strategy = view.strategy.map_or("", Strategy::name);
    text += &format!("| | |\n|---|---|\n| run | {} ({}) |\n", report.run, state_word(report));
    text += &format!("| started | {} |\n", iso_time(view.started_at_ms));
    text += &format!("| asked | {} with `{strategy}` |\n", cell(&model));
    text += &format!("| over | {} · {} |\n", count(view.n_documents, "file"), bytes(view.corpus_bytes));
    if view.tasks.is_some() {
        let ReportCoverage { tasks_done, tasks, .. } = &report.coverage;
        let tasks = format!("{tasks_done} of {}", count(*tasks, "task"));
        text += &format!("| read | {} · {} · {tasks} |\n", files_read(view), bytes_read(view));
    }
    if let Some(confidence) = view.confidence() {
        text += &format!("| confidence | {confidence:.2}{} |\n", cell(&raised_by(report)));
    }
    let calls = format!("{} ({} from cache)", count(view.n_paid_calls(), "call"), view.n_cached_calls());
    let spent = format!("{} tokens · {}", tokens(view.spent.tokens()), dollars(view.spent.cost_microusd));
    text += &format!("| spent | {calls} · {spent} · {} |\n\n", time(view.active_ms()));
    match &report.answer {
        Some(answer) => {
            text += &format!("{}\n", prose(safe(&answer.text).trim_end()).trim_end());
            if !answer.citations.is_empty() {
                text += "\n## Evidence\n\n";
            }
            for citation in &answer.citations {
                let quote = head(&citation.quote, QUESTION_CHARS_MAX);
                text += &format!("- {}: {}\n", name(&head(&citation.place(), 400)), quoted(&quote));
            }
        }
        None => text += "There is no answer yet.\n",
    }
    if !report.errors.is_empty() {
        text += "\n## Errors\n\n";
        for error in report.errors.iter().take(ERRORS_MAX) {
            let place = error.call.as_ref().map_or_else(|| error.frame.to_string(), ToString::to_string);
            let message = line(&head(&error.message, QUESTION_CHARS_MAX));
            text += &format!("- {place}: {message} ({})\n", error.code);
        }
    }
    text
}

/// What would raise the confidence, according to the least confident analyst.
fn raised_by(report: &RunReport) -> String {
    let said = report.reports.iter().filter_map(|part| Some((part.confidence?, part.raised_by.as_ref()?)));
    let least = said.min_by(|(a, _), (b, _)| a.total_cmp(b));
    least.map_or_else(String::new, |(_, what)| format!("; to raise it: {}", head(what, RAISED_CHARS_MAX)))
}

fn cell(text: &str) -> String {
    line(&head(text, QUESTION_CHARS_MAX)).replace('|', "&#124;")
}

/// A quote as inline code, whatever backticks it contains.
fn quoted(quote: &str) -> String {
    if quote.contains('`') { format!("“{}”", line(quote)) } else { format!("`{quote}`") }
}
