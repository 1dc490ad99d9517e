//! `rlm_plan`: how text would be split into tasks and what that would cost; nothing is spent.

use serde_json::{Value, json};
use spelunk_app::arguments::Arguments;
use spelunk_app::failure::Failure;
use spelunk_app::planning::{Planned, planned};
use spelunk_app::render::plan::{plan_text, plan_value};
use spelunk_context::Mode;

use super::answer::Said;
use super::material::Material;
use super::state::State;

const QUESTION_CHARS_MAX: usize = 100_000;
/// The maximum number of rows shown of the manifest and of the tasks.
const ROWS_MAX: usize = 200;

pub(super) fn plan(state: &State, mut arguments: Arguments) -> Result<Said, Failure> {
    let question = arguments.text("question", QUESTION_CHARS_MAX)?.unwrap_or_default();
    let material = Material::of(&mut arguments)?;
    let with_tasks = arguments.flag("tasks")?;
    arguments.finish()?;
    let planned = make(state, &material, &question)?;
    let mut data = plan_value(&planned);
    data["n_tasks"] = json!(planned.plan.tasks.len());
    if !with_tasks {
        data["tasks"] = Value::Array(Vec::new());
    }
    for name in ["manifest", "tasks"] {
        if let Some(rows) = data[name].as_array_mut() {
            rows.truncate(ROWS_MAX);
        }
    }
    Ok(Said::new(plan_text(&planned, with_tasks), data))
}

/// Reads all of the material and plans it. Blocking.
pub(crate) fn make(state: &State, material: &Material, question: &str) -> Result<Planned, Failure> {
    let settings = &state.app.settings;
    let (_, corpus) = material.scan(state, &material.scan_options(&settings.limits))?;
    Ok(planned(&state.app, corpus, question, settings.detector(), Mode::ByType))
}
