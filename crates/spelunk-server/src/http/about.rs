//! Information about the server for forms, and the plan of a run that has not been started.

use axum::extract::State;
use axum::{Extension, Json};
use serde_json::{Map, Value, json};
use spelunk_app::config::StrategyChoice;
use spelunk_app::render::plan::plan_value;
use spelunk_types::{Focus, Limits};

use super::contexts::work;
use super::runs::model;
use super::{Answer, Client, Fields, Params, Route, Scope, Shared, get, object_of, post};
use crate::mcp::{LIMITS, Material, make_plan, strategy};

const QUESTION_CHARS_MAX: usize = 100_000;
const ABOUT: [&str; 9] = [
    "version",
    "roots",
    "strategies",
    "limits_default",
    "has_model",
    "model_names",
    "auth",
    "scopes",
    "fleet",
];

pub(super) fn routes() -> Vec<Route> {
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    let named = json!({ "type": "array", "items": { "type": "string", "minLength": 1 }, "minItems": 1 });
    vec![
        post("/v1/plan", "How text would be split into tasks and what that would cost; nothing is spent", plan)
            .scope(Some(Scope::Read))
            .takes(json!({
                "type": "object",
                "additionalProperties": false,
                "properties": {
                    "question": { "type": "string" },
                    "paths": named, "contexts": named, "include": texts, "exclude": texts, "types": texts,
                    "strategy": { "enum": StrategyChoice::WORDS },
                },
                "anyOf": [{ "required": ["paths"] }, { "required": ["contexts"] }],
            }))
            .answers(200, "The output of `spelunk plan --json`", json!({ "type": "object" }))
            .problems(&[404]),
        get("/v1/server", "Capabilities of this server", about)
            .answers(200, "The capabilities, as the web form uses them", object_of(&ABOUT, &json!({
                "version": { "type": "string" },
                "roots": texts,
                "strategies": texts,
                "focuses": texts,
                "limits_default": { "type": "object", "additionalProperties": { "type": "integer" } },
                "limits_settable": texts,
                "has_model": { "type": "boolean" },
                "model_names": texts,
                "auth": { "type": "boolean" },
                "scopes": texts,
                "fleet": { "type": "boolean", "description": "Whether it shares runs with other machines" },
            }))),
        get("/v1/paths", "Complete a path below the roots", paths)
            .query("prefix", json!({ "type": "string" }), "The beginning of the path")
            .answers(200, "At most fifty paths; directories end with a slash", object_of(&["paths"], &json!({ "paths": texts }))),
    ]
}

async fn paths(State(server): State<Shared>, mut params: Params) -> Answer<Json<Value>> {
    let prefix = params.text("prefix").unwrap_or_default();
    params.finish()?;
    work(&server, move |state| Ok(Json(json!({ "paths": state.complete(&prefix) })))).await
}

pub(super) async fn plan(State(server): State<Shared>, Fields(mut arguments): Fields) -> Answer<Json<Value>> {
    let question = arguments.text("question", QUESTION_CHARS_MAX)?.unwrap_or_default();
    let material = Material::of(&mut arguments)?;
    // Every strategy reads the same text; the name is validated only to report a mistake early.
    strategy(&mut arguments)?;
    arguments.finish()?;
    work(&server, move |state| Ok(Json(plan_value(&make_plan(state, &material, &question)?)))).await
}

async fn about(
    State(server): State<Shared>,
    Extension(client): Extension<Client>,
    params: Params,
) -> Answer<Json<Value>> {
    params.finish()?;
    // A misconfigured provider counts as no model; a run with it reports why.
    let chosen = model(&server).await.ok();
    let names: Vec<String> = chosen
        .iter()
        .flat_map(|chosen| std::iter::once(&chosen.model).chain(&chosen.sub_model))
        .map(|model| model.reference().to_string())
        .collect();
    let limits = &server.app.settings.limits;
    let limits_default: Map<String, Value> = Limits::ALL
        .iter()
        .filter_map(|limit| Some((limit.name.to_owned(), json!(limits.get(limit.name)?))))
        .collect();
    Ok(Json(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "roots": server.mcp.root_names(),
        "strategies": StrategyChoice::WORDS,
        "focuses": Focus::ALL.map(Focus::name),
        "limits_default": limits_default,
        "limits_settable": LIMITS,
        "has_model": chosen.is_some(),
        "model_names": names,
        "auth": server.tokens.are_asked_for(),
        "scopes": client.scopes(),
        "fleet": server.runs.fleet.is_some(),
    })))
}
