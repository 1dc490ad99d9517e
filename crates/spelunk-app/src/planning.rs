//! Planning: what an analyst run would read and do for a question, and what it may cost, before
//! anything is spent. The command, the HTTP server and the MCP server all use it; files are read
//! under the same limits as in `ask`, and the tasks are those of the run.

use std::sync::Arc;

use spelunk_context::{BadOverride, Corpus, Detector, Mode, Plan, PlanOptions, View};
use spelunk_engine::{Forecast, ModelCapacity, forecast, plan_analysis};
use spelunk_model::Price;
use spelunk_types::{Limits, ModelRef};

use crate::app::App;
use crate::config::nearest;
use crate::failure::{Result, Usage};
use crate::provider;
use crate::sources::{LeftOut, left_out};

pub struct Planned {
    pub plan: Plan,
    pub(crate) forecast: Forecast,
    pub left_out: LeftOut,
    /// The model that would read the parts, as far as it is known without contacting anything.
    pub(crate) reader: Option<PlanModel>,
    pub(crate) synthesis: Option<PlanModel>,
}

#[derive(Clone)]
pub(crate) struct PlanModel {
    pub(crate) reference: ModelRef,
    pub(crate) price: Option<Price>,
}

/// Plans the scanned corpus. Reads every document once.
pub fn planned(app: &App, corpus: Corpus, question: &str, detector: Detector, mode: Mode) -> Planned {
    let limits = &app.settings.limits;
    let files_left_out = corpus.reports().iter().map(|report| report.left_out_total).sum();
    let left_out = left_out(&corpus);
    let view = View::of(Arc::new(corpus));
    let [root, reader, synthesis] = models(app);
    let options = PlanOptions { limits: limits.clone(), detector, mode, files_left_out };
    let plan = plan_analysis(&view, question, reader_of(root.as_ref(), limits), options);
    let forecast = forecast(&plan, &view, question, reader_of(reader.as_ref(), limits), limits);
    Planned { plan, forecast, left_out, reader, synthesis }
}

/// The configured detector with additional types as users write them: `*.inc=source_code`.
pub fn detector_with(app: &App, types: &[String]) -> Result<Detector> {
    let detector = app.settings.detector();
    detector.clone().with_overrides(types).map_err(|error| {
        let known = format!("the types are {}", detector.type_names().join(", "));
        let hint = match &error {
            BadOverride::Form { .. } => format!("write it as `*.inc=source_code`; {known}"),
            BadOverride::Pattern { .. } => "correct the pattern".to_owned(),
            BadOverride::UnknownType { name } => match nearest(name, detector.type_names()) {
                Some(meant) => format!("did you mean `{meant}`? {known}"),
                None => known,
            },
        };
        Usage { message: error.to_string(), hint }.into()
    })
}

/// The root model, the model for parts, and the synthesis model.
fn models(app: &App) -> [Option<PlanModel>; 3] {
    let listed = provider::configured_models(&app.settings, &app.environment);
    ["root", "sub", "synthesis"].map(|role| {
        let model = listed.iter().find(|model| model.roles.contains(&role))?;
        Some(PlanModel { reference: model.reference.clone()?, price: model.price })
    })
}

fn reader_of(model: Option<&PlanModel>, limits: &Limits) -> ModelCapacity {
    model.map_or(ModelCapacity::LARGE, |model| ModelCapacity::of(&model.reference, limits))
}
