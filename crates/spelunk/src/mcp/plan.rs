//! `rlm_plan`: how text would be cut into tasks and what that would cost; nothing is spent.

use std::sync::Arc;

use serde_json::{Value, json};
use spelunk_context::{Mode, Plan, PlanOptions, View, plan as make_plan};

use super::answer::Said;
use super::arguments::Arguments;
use super::material::Material;
use super::state::State;
use crate::cli::{Failure, left_out, reader};
use crate::render::plan::{LeftOut, plan_text, plan_value};

const QUESTION_CHARS_MAX: usize = 100_000;
/// Rows of the manifest and of the tasks that are shown.
const ROWS_MAX: usize = 200;

pub(super) fn plan(state: &State, mut arguments: Arguments) -> Result<Said, Failure> {
    let question = arguments.text("question", QUESTION_CHARS_MAX)?.unwrap_or_default();
    let material = Material::of(&mut arguments)?;
    let with_tasks = arguments.flag("tasks")?;
    arguments.finish()?;
    let limits = &state.app.settings.limits;
    let (plan, left_out) = make(state, &material)?;
    let mut data = plan_value(&plan, &question, limits, &left_out, reader(&state.app).as_ref());
    data["n_tasks"] = json!(plan.tasks.len());
    if !with_tasks {
        data["tasks"] = Value::Array(Vec::new());
    }
    for name in ["manifest", "tasks"] {
        if let Some(rows) = data[name].as_array_mut() {
            rows.truncate(ROWS_MAX);
        }
    }
    Ok(Said::new(plan_text(&plan, &question, limits, with_tasks, None), data))
}

/// Reads everything through and plans it. Blocking.
pub(crate) fn make(state: &State, material: &Material) -> Result<(Plan, LeftOut), Failure> {
    let limits = &state.app.settings.limits;
    let (_, corpus) = material.scan(state, &material.scan_options(limits.files_max))?;
    let files_left_out = corpus.reports().iter().map(|report| report.left_out_total).sum();
    let corpus = Arc::new(corpus);
    let view = View::of(Arc::clone(&corpus));
    let detector = state.app.settings.detector();
    let options = PlanOptions { limits: limits.clone(), detector, mode: Mode::ByType, files_left_out };
    Ok((make_plan(&view, &options), left_out(&corpus)))
}
