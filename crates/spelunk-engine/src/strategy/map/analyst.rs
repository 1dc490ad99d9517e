//! Analysts: calls that each read one part of the text and report findings. Each is a fresh call that sees only its
//! part, so that parts do not influence each other.

mod material;
mod reply;
mod reply_schema;

use std::sync::Arc;

use spelunk_context::{Analyst, SourceError};
use spelunk_model::{Message, Prompt};
use spelunk_types::{AnalystReport, ErrorCode, EventKind, Explain, Focus, Limits, StopReason, sum};

use self::material::{Material, read};
use self::reply::{Reading, parse};
use crate::task::Analysis;
use crate::{Answer, Frame, FrameError, ModelCapacity, Result, Task, transcript};

const CODE: &str = include_str!("../../prompts/analyst-code.md");
const DATA: &str = include_str!("../../prompts/analyst-data.md");
const JSON: &str = include_str!("../../prompts/analyst-json.md");
const GENERAL: &str = include_str!("../../prompts/analyst-general.md");
const RULES: &str = include_str!("../../prompts/analyst-rules.md");
const REPAIR: &str = include_str!("../../prompts/analyst-repair.md");
const FOCUS: &str = include_str!("../../prompts/analyst-focus.md");
const MORE: &str = include_str!("../../prompts/analyst-more.md");
pub(crate) const PROMPTS: [&str; 8] = [CODE, DATA, JSON, GENERAL, RULES, REPAIR, FOCUS, MORE];

/// Reads one part: calls the model, parses the reply, checks its quotes against the text, and
/// requests one correction.
pub(crate) async fn solve(frame: &Frame, task: &Task, analysis: &Arc<Analysis>) -> Result<Answer> {
    let (material, prompt) = read_material(frame, task, analysis).await?;
    let (bytes, of_bytes) = (analysis.bytes(), task.view.bytes());
    frame.note(EventKind::PassagesChosen { documents: analysis.n_begun(), bytes, of_bytes }).await?;
    let report = match ask(frame, analysis, &material, prompt).await {
        Err(error) if smaller_helps(error.code()) => {
            ask_in_halves(frame, task, analysis, material, error).await?
        }
        report => report?,
    };
    let label = analysis.label();
    frame.note(reported(analysis, label, &report)).await?;
    // The findings whose quotes were found in the text.
    let citations = report.findings.iter().filter_map(crate::report::citation).collect();
    let text = serde_json::to_string(&report).expect("texts and numbers always serialise");
    Ok(Answer::new(text, citations))
}

/// Limits for a small model, which otherwise repeats the same finding until it is truncated.
const SMALL_FINDINGS_MAX: u64 = 3;
const SMALL_OUTPUT_TOKENS_MAX: u64 = 600;

pub(crate) fn findings_max(limits: &Limits, reader: ModelCapacity) -> u64 {
    if reader.is_small() { limits.findings_max.min(SMALL_FINDINGS_MAX) } else { limits.findings_max }
}

/// Everything besides text and question that determines a report: findings with the same hash can
/// be reused. A small model is asked for findings only.
pub(crate) fn system_prompt(analysis: &Analysis, limits: &Limits, reader: ModelCapacity) -> String {
    let (role, extra) = match analysis.analyst {
        Analyst::Code => (CODE, r#", "scope": "…", "severity": "high""#),
        Analyst::Data => (DATA, r#", "column": "…", "distribution": {"value": 3}, "total": 9"#),
        Analyst::Json => (JSON, r#", "path": "$.…", "distribution": {"value": 3}, "total": 9"#),
        Analyst::General => (GENERAL, r#", "severity": "high""#),
    };
    let role =
        role.replace("{what}", &analysis.what()).replace("{types}", &types(analysis.analyst).join(", "));
    let (more, more_form, sure) = if reader.is_small() {
        (String::new(), String::new(), "")
    } else {
        let (metadata, form) = metadata_asked(analysis.analyst);
        let form =
            format!(r#", "confidence": 0.8, "raised_by": null, "metadata": {{"key_topics": ["…"]{form}}}"#);
        (MORE.replace("{metadata}", metadata), form, r#", "confidence": 0.9"#)
    };
    let rules = RULES
        .replace("{evidence_chars_max}", &limits.evidence_chars_max.to_string())
        .replace("{findings_max}", &findings_max(limits, reader).to_string())
        .replace("{extra}", &format!("{extra}{sure}"))
        .replace("{more}", &more)
        .replace("{more_form}", &more_form);
    let parts =
        [Some(role.as_str()), focus_text(analysis.focus), analysis.custom_prompt(), Some(rules.as_str())];
    parts.into_iter().flatten().map(str::trim_end).collect::<Vec<_>>().join("\n\n") + "\n"
}

fn metadata_asked(analyst: Analyst) -> (&'static str, &'static str) {
    match analyst {
        Analyst::Code => (
            "`key_topics`, `structures` (the functions, classes and modules it defines) and `imports`",
            r#", "structures": ["…"], "imports": ["…"]"#,
        ),
        Analyst::Data => (
            "`key_topics`, `columns` and `row_count` (the rows without the header)",
            r#", "columns": ["…"], "row_count": 9"#,
        ),
        Analyst::Json => (
            "`key_topics`, `schema_fields` (the names of all fields) and `object_count`",
            r#", "schema_fields": ["…"], "object_count": 9"#,
        ),
        Analyst::General => ("`key_topics`", ""),
    }
}

fn focus_text(focus: Focus) -> Option<&'static str> {
    let (_, rest) = FOCUS.split_once(&format!("## {focus}\n"))?;
    Some(rest.split("\n## ").next().unwrap_or(rest))
}

fn types(analyst: Analyst) -> Vec<&'static str> {
    let words = match analyst {
        Analyst::Code => {
            "vulnerability bug complexity dependency dead_code api_surface pattern antipattern performance"
        }
        Analyst::Data => "distribution outlier missing_data correlation pattern anomaly summary_stat",
        Analyst::Json => {
            "schema_variation field_distribution type_inconsistency null_frequency nesting outlier pattern anomaly"
        }
        Analyst::General => "error pattern definition reference data insight",
    };
    words.split(' ').collect()
}

async fn read_material(frame: &Frame, task: &Task, analysis: &Arc<Analysis>) -> Result<(Material, Prompt)> {
    let (texts, view, analysis) = (Arc::clone(&frame.run().texts), task.view.clone(), Arc::clone(analysis));
    let (limits, question, reader) =
        (frame.limits().clone(), task.question_shown().to_owned(), frame.reader());
    let reading = move || {
        let material = read(&texts, &view, &analysis)?;
        let prompt = worded(&material, &analysis, &question, &limits, reader);
        Ok::<_, SourceError>((material, prompt))
    };
    // A file that can no longer be read fails one task, not the run.
    frame
        .run()
        .texts
        .readers
        .have(reading)
        .await
        .map_err(|error| frame.failure(error.code(), error.to_string()))
}

fn worded(
    material: &Material,
    analysis: &Analysis,
    question: &str,
    limits: &Limits,
    reader: ModelCapacity,
) -> Prompt {
    let AnalystPrompt { system, schema, output_tokens_max } = AnalystPrompt::of(analysis, limits, reader);
    let user = material.render(&analysis.assignment(), question);
    let mut prompt = Prompt::single(system, user, output_tokens_max);
    prompt.schema = Some(schema);
    prompt
}

pub(crate) struct AnalystPrompt {
    pub(crate) system: String,
    pub(crate) schema: Arc<serde_json::Value>,
    pub(crate) output_tokens_max: u64,
}

impl AnalystPrompt {
    pub(crate) fn of(analysis: &Analysis, limits: &Limits, reader: ModelCapacity) -> Self {
        let findings_max = findings_max(limits, reader);
        let system = system_prompt(analysis, limits, reader);
        let (tokens_max, schema) = if reader.is_small() {
            (SMALL_OUTPUT_TOKENS_MAX, reply_schema::schema_of_few(analysis.analyst, findings_max))
        } else {
            (u64::MAX, reply_schema::schema(analysis.analyst))
        };
        Self { system, schema, output_tokens_max: limits.analyst_output_tokens_max.min(tokens_max) }
    }
}

async fn ask(
    frame: &Frame,
    analysis: &Analysis,
    material: &Material,
    prompt: Prompt,
) -> Result<AnalystReport> {
    let (limits, shown) = (frame.limits(), material.shown());
    frame.require_time(&prompt).await?;
    let prompt = Arc::new(prompt);
    let reply = frame.ask_sub(Arc::clone(&prompt)).await?;
    let faults = match parse(&reply.text, analysis, &shown, limits, Reading::First) {
        Ok(report) => return Ok(report),
        Err(faults) if reply.stop == StopReason::Length => {
            let cut = "it was truncated because it is too long: report fewer findings, in fewer words";
            [vec![cut.to_owned()], faults].concat()
        }
        Err(faults) => faults,
    };
    let mut prompt = Arc::unwrap_or_clone(prompt);
    prompt.messages.push(Message::assistant(transcript::worded(reply.text)));
    let list: Vec<String> = faults.iter().map(|fault| format!("- {fault}")).collect();
    let text = REPAIR.replace("{faults}", &list.join("\n"));
    prompt.messages.push(Message::user(text));
    let reply = frame.ask_sub(prompt).await?;
    let is_cut = reply.stop == StopReason::Length;
    parse(&reply.text, analysis, &shown, limits, Reading::Last).map_err(|faults| {
        let code = if is_cut { ErrorCode::ModelReplyTooLong } else { ErrorCode::ReportInvalid };
        frame.failure(code, format!("the analyst's report cannot be used: {}", faults.join("; ")))
    })
}

/// Whether half of the text may succeed where all of it failed: it did not fit, its report was too long, or the
/// model thought for too long.
fn smaller_helps(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::ModelPromptTooLong
            | ErrorCode::ModelTimedOut
            | ErrorCode::ModelReplyEmpty
            | ErrorCode::ModelReplyTooLong
    )
}

/// For a part that failed because of its size: asks about each half, once.
async fn ask_in_halves(
    frame: &Frame,
    task: &Task,
    analysis: &Analysis,
    material: Material,
    error: FrameError,
) -> Result<AnalystReport> {
    let Some((first, second)) = material.halves() else { return Err(error) };
    let prompt =
        |half: &Material| worded(half, analysis, task.question_shown(), frame.limits(), frame.reader());
    let mut report = ask(frame, analysis, &first, prompt(&first)).await?;
    let second = ask(frame, analysis, &second, prompt(&second)).await?;
    report.relevant |= second.relevant;
    report.summary = format!("{} {}", report.summary, second.summary);
    report.answer = match (report.answer, second.answer) {
        (Some(first), Some(second)) => Some(format!("{first} {second}")),
        (first, second) => first.or(second),
    };
    report.count = sum(report.count, second.count);
    report.confidence = [report.confidence, second.confidence].into_iter().flatten().reduce(f64::midpoint);
    report.raised_by = report.raised_by.or(second.raised_by);
    report.metadata.add(second.metadata);
    report.findings.extend(second.findings);
    report.rejected += second.rejected;
    Ok(report)
}

fn reported(analysis: &Analysis, label: String, report: &AnalystReport) -> EventKind {
    let mut findings = std::collections::BTreeMap::new();
    for finding in &report.findings {
        let severity = finding.severity.map_or("unrated", |severity| severity.name());
        *findings.entry(severity.to_owned()).or_default() += 1;
    }
    let (task, of, relevant) = (analysis.number, analysis.of, report.relevant);
    EventKind::TaskReported { task, of, label, relevant, findings, confidence: report.confidence() }
}

#[cfg(test)]
mod tests;
