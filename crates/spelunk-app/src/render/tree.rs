//! The tree of a run: frames, their calls with the cost of each, and their tool calls.

use spelunk_engine::{CallState, CallView, CellView, ConsentView, EffectView, FrameView, RunView};
use spelunk_types::{CallId, EffectId, FrameId, FrameOutcome, Grounding, Served, Text};

use crate::units::{count, dollars, head, time, tokens};

pub fn tree(view: &RunView) -> String {
    let mut lines = Vec::new();
    if let Some(root) = view.frames.get(&FrameId::root()) {
        lines.push(frame_line(&FrameId::root(), root));
        branch(view, &FrameId::root(), "", &mut lines);
    }
    lines.join("\n") + "\n"
}

enum TreeNode<'a> {
    Frame(&'a FrameId, &'a FrameView),
    Call(&'a CallId, &'a CallView),
    Cell(&'a CellView),
    Effect(&'a EffectId, &'a EffectView),
}

/// `depth_max` of the run bounds the recursion.
fn branch(view: &RunView, frame: &FrameId, indent: &str, lines: &mut Vec<String>) {
    let children = view.frames.iter().filter(|(id, _)| id.parent().as_ref() == Some(frame));
    let calls = view.calls.iter().filter(|(id, _)| id.frame == *frame);
    let mut nodes: Vec<(u64, TreeNode<'_>)> =
        children.map(|(id, child)| (child.seq, TreeNode::Frame(id, child))).collect();
    nodes.extend(calls.map(|(id, call)| (call.seq, TreeNode::Call(id, call))));
    let ran = view.cells.get(frame).into_iter().flatten();
    nodes.extend(ran.map(|cell| (cell.seq, TreeNode::Cell(cell))));
    let effects = view.effects.iter().filter(|(id, _)| id.frame == *frame);
    nodes.extend(effects.map(|(id, effect)| (effect.seq, TreeNode::Effect(id, effect))));
    nodes.sort_by_key(|(seq, _)| *seq);
    let n_nodes = nodes.len();
    for (idx, (_, node)) in nodes.into_iter().enumerate() {
        let (fork, below) = if idx + 1 == n_nodes { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        match node {
            TreeNode::Frame(id, child) => {
                lines.push(format!("{indent}{fork}{}", frame_line(id, child)));
                branch(view, id, &format!("{indent}{below}"), lines);
            }
            TreeNode::Call(id, call) => lines.push(format!("{indent}{fork}{}", call_line(id, call))),
            TreeNode::Effect(id, effect) => lines.push(format!("{indent}{fork}{}", effect_line(id, effect))),
            TreeNode::Cell(cell) => lines.push(format!("{indent}{fork}{}", cell_line(cell))),
        }
    }
}

fn frame_line(id: &FrameId, frame: &FrameView) -> String {
    let state = match &frame.outcome {
        None => "unfinished".to_owned(),
        Some(FrameOutcome::Answered { grounding: Grounding::Partial { stopped_by }, .. }) => {
            format!("limited: {stopped_by}")
        }
        Some(FrameOutcome::Answered { citations, .. }) if citations.is_empty() => "answered".to_owned(),
        Some(FrameOutcome::Answered { citations, .. }) => {
            format!("answered, {}", count(citations.len() as u64, "citation"))
        }
        Some(FrameOutcome::Failed { code, .. }) => format!("failed: {code}"),
    };
    let took = frame.closed_at_ms.map(|at| format!("  {}", time(at.saturating_sub(frame.opened_at_ms))));
    format!("{id}  {}  {state}{}", frame.strategy, took.unwrap_or_default())
}

/// A cell, shown by its first line; `show --cell` prints all of it.
fn cell_line(cell: &CellView) -> String {
    let code = match &cell.code {
        Text::Inline { text } => head(text.lines().next().unwrap_or_default(), 60),
        Text::Blob { bytes, .. } => format!("{bytes} bytes of code"),
    };
    format!("cell {}  {}  {}  {code}", cell.cell, cell.outcome, time(cell.took_ms))
}

fn effect_line(id: &EffectId, effect: &EffectView) -> String {
    let arguments = match &effect.arguments {
        Text::Inline { text } => head(text, 60),
        Text::Blob { bytes, .. } => format!("{bytes} bytes of arguments"),
    };
    let state = match &effect.outcome {
        Some(outcome) => format!("{outcome}  {}", time(effect.took_ms)),
        None if matches!(effect.consent, Some(ConsentView::Asked { .. })) => "waits for consent".to_owned(),
        None => "no outcome yet".to_owned(),
    };
    format!("{id}  {}  {state}  {arguments}", effect.tool)
}

fn call_line(id: &CallId, call: &CallView) -> String {
    let state = match &call.state {
        CallState::Open => "no reply yet".to_owned(),
        CallState::Failed { code } => format!("failed: {code}"),
        CallState::Replied { served: Served::Cache, .. } => "from cache".to_owned(),
        CallState::Replied { usage, .. } => {
            let (sent, written) = (tokens(usage.input_tokens), tokens(usage.output_tokens));
            format!("{sent} → {written} tokens  {}", dollars(usage.cost_microusd))
        }
    };
    let took = call.settled_at_ms.map(|at| format!("  {}", time(at.saturating_sub(call.started_at_ms))));
    let retries = match call.retries.len() {
        0 => String::new(),
        1 => "  (1 retry)".to_owned(),
        n => format!("  ({n} retries)"),
    };
    format!("{id}  {state}{}{retries}", took.unwrap_or_default())
}
