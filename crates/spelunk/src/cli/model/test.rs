//! `spelunk model test`: sends one short question with a schema and reports the result. If the
//! provider rejects schemas, the question is sent again without one.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use serde_json::{Value, json};
use spelunk_app::provider::{self, ProviderError};
use spelunk_app::render::progress::{Progress, loading_status};
use spelunk_app::units::{dollars, head, time};
use spelunk_model::{Feature, Model, ModelDelta, ModelError, Prompt, estimate_tokens, models_loading};
use spelunk_types::{CallId, Explain, FrameId, Usage};

use crate::cli::{App, CliResult, Failure, print, print_line};

const TIME_MAX: Duration = Duration::from_mins(1);
/// Enough for a reasoning model.
const OUTPUT_TOKENS_MAX: u64 = 1000;
const REPLY_BYTES_MAX: usize = 10_000;

struct Target {
    name: String,
    model: Result<Arc<dyn Model>, ProviderError>,
}

struct Tested {
    first_ms: u64,
    total_ms: u64,
    pieces: u64,
    usage: Option<Usage>,
    cost_microusd: Option<u64>,
    schema: SchemaSupport,
    said: String,
}

enum SchemaSupport {
    /// The answer matches the schema.
    Kept,
    /// The schema was accepted, but the answer does not match it.
    Ignored,
    /// The provider rejects schemas.
    Refused { detail: String },
}

pub(super) async fn test(app: &App, name: Option<&str>) -> CliResult {
    let targets = targets(app, name).await?;
    let (mut is_sound, mut is_usable) = (true, true);
    let mut shown = Vec::new();
    for target in targets {
        is_usable &= target.model.is_ok();
        let (reference, tested): (_, Result<Tested, Box<dyn Explain + Send + Sync>>) = match target.model {
            Ok(model) => {
                let reference = model.reference().to_string();
                let tested = ask(model.as_ref(), &mut Progress::new(app.quiet)).await;
                (reference, tested.map_err(|error| Box::new(error) as _))
            }
            Err(error) => (String::new(), Err(Box::new(error))),
        };
        is_sound &= tested.is_ok();
        if app.json {
            shown.push(tested_json(&target.name, &reference, tested.as_ref().map_err(AsRef::as_ref)));
        } else {
            print(&tested_text(&target.name, &reference, tested.as_ref().map_err(AsRef::as_ref)));
        }
    }
    if app.json {
        print_line(Value::from(shown));
    }
    Ok(match (is_usable, is_sound) {
        (false, _) => ExitCode::from(2),
        (true, false) => ExitCode::FAILURE,
        (true, true) => ExitCode::SUCCESS,
    })
}

/// The named model, or the models of all roles without duplicates.
async fn targets(app: &App, name: Option<&str>) -> Result<Vec<Target>, Failure> {
    let (settings, environment) = (&app.settings, &app.environment);
    if let Some(name) = name {
        let found = provider::find_by_name(settings, environment, name)?;
        return Ok(vec![Target { name: name.to_owned(), model: Ok(found.model) }]);
    }
    let Some(root) = provider::find_root(settings, environment).await? else {
        return Err(ProviderError::Nobody { section: "model".to_owned() }.into());
    };
    let mut targets = Vec::new();
    let sub = provider::find_sub(settings, environment, &root);
    let synthesis = provider::find_role(settings, environment, &settings.roles.synthesis, &root);
    for (role, found) in [("sub", sub), ("synthesis", synthesis)] {
        match found {
            Ok(None) => {}
            Ok(Some(found)) => targets.push(Target { name: role.to_owned(), model: Ok(found.model) }),
            Err(error) => targets.push(Target { name: role.to_owned(), model: Err(error) }),
        }
    }
    targets.insert(0, Target { name: "root".to_owned(), model: Ok(root.model) });
    let mut unique: Vec<Target> = Vec::new();
    for target in targets {
        let reference = |target: &Target| target.model.as_ref().ok().map(|model| model.reference().clone());
        let same = unique
            .iter_mut()
            .find(|other| reference(other).is_some() && reference(other) == reference(&target));
        match same {
            Some(same) => same.name += &format!(", {}", target.name),
            None => unique.push(target),
        }
    }
    Ok(unique)
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {"ready": {"type": "boolean"}},
        "required": ["ready"],
        "additionalProperties": false,
    })
}

async fn ask(model: &dyn Model, progress: &mut Progress) -> Result<Tested, ModelError> {
    let mut prompt = Prompt::single(
        "Reply with nothing but this JSON: {\"ready\": true}",
        "Are you ready?",
        OUTPUT_TOKENS_MAX,
    );
    prompt.schema = Some(Arc::new(schema()));
    match ask_once(model, &prompt, progress).await {
        Err(ModelError::FeatureRefused { feature: Feature::Schema, detail }) => {
            prompt.schema = None;
            let tested = ask_once(model, &prompt, progress).await?;
            Ok(Tested { schema: SchemaSupport::Refused { detail }, ..tested })
        }
        asked => asked,
    }
}

/// No timeout for an embedded model, as in a run.
async fn ask_once(model: &dyn Model, prompt: &Prompt, progress: &mut Progress) -> Result<Tested, ModelError> {
    let heard = hear(model, prompt, progress);
    if model.facts().computes_here {
        return heard.await;
    }
    let after_ms = u64::try_from(TIME_MAX.as_millis()).unwrap_or(u64::MAX);
    match tokio::time::timeout(TIME_MAX, heard).await {
        Ok(tested) => tested,
        Err(_) => Err(ModelError::TimedOut { after_ms }),
    }
}

async fn hear(model: &dyn Model, prompt: &Prompt, progress: &mut Progress) -> Result<Tested, ModelError> {
    let call = CallId { frame: FrameId::root(), ordinal: 0 };
    let began = Instant::now();
    let elapsed_ms = || u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let mut stream = model.stream(prompt, &call);
    let (mut said, mut first_ms, mut pieces) = (String::new(), None, 0);
    while let Some(delta) = stream.next().await {
        match delta? {
            ModelDelta::Text(piece) => {
                first_ms.get_or_insert_with(elapsed_ms);
                pieces += 1;
                if said.len() + piece.len() > REPLY_BYTES_MAX {
                    return Err(ModelError::ReplyTooLong { bytes_max: REPLY_BYTES_MAX as u64 });
                }
                said += &piece;
            }
            // An empty piece means that a model is loading or computing; it is not output.
            ModelDelta::Reasoning(piece) if piece.is_empty() => {
                let waiting = || format!("testing {} · {}", model.reference(), time(elapsed_ms()));
                progress.draw(|| loading_status(&models_loading()).unwrap_or_else(waiting));
            }
            ModelDelta::Reasoning(_) => {
                first_ms.get_or_insert_with(elapsed_ms);
            }
            ModelDelta::ToolCall(_) | ModelDelta::Certainty(_) => {}
            ModelDelta::Done { stop, usage } if said.trim().is_empty() => {
                return Err(ModelError::ReplyEmpty { stop, usage });
            }
            ModelDelta::Done { usage, .. } => {
                let total_ms = elapsed_ms();
                let spent = usage.unwrap_or_else(|| Usage {
                    input_tokens: estimate_tokens(&prompt.system),
                    output_tokens: estimate_tokens(&said),
                    ..Usage::default()
                });
                let is_kept = serde_json::from_str::<Value>(said.trim())
                    .is_ok_and(|value| value.get("ready").is_some_and(Value::is_boolean));
                let schema = if is_kept { SchemaSupport::Kept } else { SchemaSupport::Ignored };
                let cost_microusd = model.facts().price.map(|price| price.cost_microusd(&spent));
                let first_ms = first_ms.unwrap_or(total_ms);
                return Ok(Tested { first_ms, total_ms, pieces, usage, cost_microusd, schema, said });
            }
        }
    }
    Err(ModelError::StreamCut)
}

fn tested_text(name: &str, reference: &str, tested: Result<&Tested, &(dyn Explain + Send + Sync)>) -> String {
    let tested = match tested {
        Ok(tested) => tested,
        Err(error) => {
            let hint = error.hint().map(|hint| format!("\n      hint: {hint}")).unwrap_or_default();
            return format!("{name}  {reference}\nbad   {}{hint}\n", head(&error.to_string(), 300));
        }
    };
    let usage = match tested.usage {
        Some(usage) => format!("ok    usage: {} → {} tokens", usage.input_tokens, usage.output_tokens),
        None => "note  usage not reported: tokens are estimated".to_owned(),
    };
    let cost = match tested.cost_microusd {
        Some(cost) => format!("ok    cost {}", dollars(cost)),
        None => "note  no known price: the cost is not counted".to_owned(),
    };
    let schema = match &tested.schema {
        SchemaSupport::Kept => "ok    follows a JSON Schema".to_owned(),
        SchemaSupport::Ignored => {
            format!("note  the reply does not match the schema: {}", head(&tested.said, 60))
        }
        SchemaSupport::Refused { detail } => format!("note  no JSON Schema support: {}", head(detail, 120)),
    };
    let streaming = if tested.pieces > 1 { "ok    streams" } else { "note  the reply was not streamed" };
    format!(
        "{name}  {reference}\nok    replied in {}, first text after {}\n{streaming}\n{usage}\n{cost}\n{schema}\n",
        time(tested.total_ms),
        time(tested.first_ms),
    )
}

fn tested_json(name: &str, reference: &str, tested: Result<&Tested, &(dyn Explain + Send + Sync)>) -> Value {
    match tested {
        Ok(tested) => json!({
            "name": name,
            "model": reference,
            "ok": true,
            "latency_ms": tested.total_ms,
            "first_word_ms": tested.first_ms,
            "streams": tested.pieces > 1,
            "usage": tested.usage.map(|usage| json!({
                "input_tokens": usage.input_tokens,
                "output_tokens": usage.output_tokens,
            })),
            "cost_microusd": tested.cost_microusd,
            "schema": match tested.schema {
                SchemaSupport::Kept => "kept",
                SchemaSupport::Ignored => "ignored",
                SchemaSupport::Refused { .. } => "refused",
            },
        }),
        Err(error) => json!({
            "name": name,
            "model": reference,
            "ok": false,
            "error": spelunk_app::error_text::error_json(error),
        }),
    }
}
