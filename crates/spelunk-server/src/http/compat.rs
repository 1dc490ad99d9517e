//! Compatible endpoints: a client of OpenAI's or Anthropic's API gets a model with an unlimited context window. Long
//! texts of a conversation become documents that a run reads, and its answer is returned in the format of that API. A
//! stream reports progress while the run is in progress, and a client that disconnects stops it.

mod chat;
mod conversation;
mod draft;
mod embeddings;
mod messages;
mod question_input;
mod reply;
mod responses;
mod tools;
mod wrong;

use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Response};
use axum::routing::MethodRouter;
use axum::{Extension, Json};
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use spelunk_engine::{Clock as _, SystemClock};

use super::runs::{AwaitedRun, WaitOutcome, event_stream};
use super::{Client, PathPart, Problem, Route, Shared, get, list_of, object_of, post, read_json};
use conversation::{MarkedDocument, Message, MessagePart, Question, Speaker, ToolConversation};
use draft::Draft;
use question_input::{
    BodyFields, CommonFields, CompatRequest, Progress, models, parts, require_model, schema, tokens_max,
};
use reply::{Finish, Reply, ReplyHead, Streamed, comment, data, event};
use tools::{OfferedTools, ToolChoice, choice_of_openai, name_results};
use wrong::{ApiError, ApiResult, reshape};

/// How often a waiting client gets a progress update.
const STEP: Duration = Duration::from_secs(2);
const RUN_HEADER: HeaderName = HeaderName::from_static("x-spelunk-run");
/// The headers in which the clients of each API look for a request id.
const REQUEST_HEADERS: [HeaderName; 2] =
    [HeaderName::from_static("x-request-id"), HeaderName::from_static("request-id")];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dialect {
    Chat,
    Responses,
    Messages,
}

pub(super) fn routes() -> Vec<Route> {
    let list = object_of(&["data"], &json!({ "data": list_of(&model_schema()) }));
    vec![
        answers(
            Dialect::Chat,
            "/v1/chat/completions",
            "Chat with a model that reads text of any length (OpenAI's API)",
        )
        .takes(request_schema("messages", &[])),
        answers(Dialect::Responses, "/v1/responses", "The same with OpenAI's Responses API, stateless")
            .takes(request_schema("input", &[])),
        answers(Dialect::Messages, "/v1/messages", "The same with Anthropic's API")
            .takes(request_schema("messages", &["max_tokens"])),
        embeddings::route(),
        count_tokens(),
        get("/v1/models", "The models of the compatible APIs: one per strategy", list_models).answers(
            200,
            "The models",
            list,
        ),
        get("/v1/models/{model}", "One of these models", show_model)
            .answers(200, "The model", model_schema())
            .answers(404, "There is no such model", error_schema()),
    ]
}

fn count_tokens() -> Route {
    let handler = async |State(server): State<Shared>, request: Request| -> ApiResult<Json<Value>> {
        let body = read_json(request, &server, server.app.settings.server.upload_bytes_max).await?;
        Ok(Json(messages::count_tokens(body)?))
    };
    let counted = object_of(&["input_tokens"], &json!({ "input_tokens": { "type": "integer" } }));
    let body = object_of(
        &["model", "messages"],
        &json!({
            "model": { "enum": models() },
            "messages": { "type": "array", "minItems": 1, "items": { "$ref": "#/components/schemas/Message" } },
        }),
    );
    errors(post("/v1/messages/count_tokens", "Estimate the tokens of a conversation", handler))
        .takes(body)
        .answers(200, "The number of tokens", counted)
}

/// The fields each API requires. Other fields are accepted and ignored, so that existing clients work unchanged.
fn request_schema(conversation: &str, needed: &[&str]) -> Value {
    let messages = json!({
        "type": "array", "minItems": 1,
        "items": { "$ref": "#/components/schemas/Message" },
        "description": "The conversation; the last user message is the question",
    });
    let said = match conversation {
        "input" => json!({ "anyOf": [{ "type": "string", "minLength": 1 }, messages] }),
        _ => messages,
    };
    let needed: Vec<&str> = ["model", conversation].into_iter().chain(needed.iter().copied()).collect();
    object_of(
        &needed,
        &json!({
            "model": { "enum": models() },
            conversation: said,
            "max_tokens": { "type": "integer", "minimum": 1 },
            "stream": { "type": "boolean" },
            "tools": { "type": "array", "items": { "type": "object" }, "maxItems": tools::TOOLS_MAX, "description": "The \
                client's tools, as the API defines them; the client runs them" },
            "tool_choice": { "type": ["string", "object"], "description": "Which tools may or must be called" },
            "spelunk": { "type": "object", "description": "paths, contexts, include, exclude, focus and \
                limits as in `POST /v1/runs`; `progress`: reasoning or comments" },
        }),
    )
}

pub(super) fn message_schema() -> Value {
    let text = json!({ "type": "string", "minLength": 1 });
    let part = json!({ "type": "object", "required": ["type"], "anyOf": [
        { "required": ["text"],
          "properties": { "type": { "enum": ["text", "input_text", "output_text"] }, "text": text } },
        { "required": ["refusal"], "properties": { "type": { "const": "refusal" }, "refusal": text } },
        { "required": ["source"], "properties": { "type": { "const": "document" }, "source": {
            "type": "object",
            "required": ["type", "data"],
            "properties": { "type": { "const": "text" }, "data": text },
        } } },
        { "properties": { "type": { "enum": ["thinking", "redacted_thinking", "reasoning"] } } },
        { "required": ["id", "name"], "properties": { "type": { "const": "tool_use" }, "id": text, "name": text } },
        { "required": ["tool_use_id"],
          "properties": { "type": { "const": "tool_result" }, "tool_use_id": { "type": "string" } } },
    ] });
    let function = object_of(&["name"], &json!({ "name": text }));
    object_of(
        &["role", "content"],
        &json!({
            "type": { "const": "message" },
            "role": { "enum": ["system", "developer", "user", "assistant", "tool"] },
            "content": { "anyOf": [text, { "type": "array", "minItems": 1, "items": part }] },
            "tool_calls": list_of(&object_of(&["id", "function"], &json!({ "id": text, "function": function }))),
            "function_call": { "type": "null" },
        }),
    )
}

fn model_schema() -> Value {
    let text = json!({ "type": "string" });
    object_of(
        &["id"],
        &json!({
            "id": text, "object": text, "owned_by": text, "created": { "type": "integer" },
            "display_name": text, "created_at": text,
        }),
    )
}

fn error_schema() -> Value {
    object_of(&["error"], &json!({ "error": { "type": "object" } }))
}

fn answers(dialect: Dialect, path: &'static str, summary: &str) -> Route {
    let handler = move |State(server): State<Shared>,
                        Extension(client): Extension<Client>,
                        request: Request| { answer(server, client, request, dialect) };
    let events = json!({ "description": "Events in the format of that API" });
    errors(post(path, summary, handler)).answers(200, "The answer", json!({ "type": "object" })).answers_as(
        200,
        "The answer",
        "text/event-stream",
        events,
    )
}

fn errors(mut route: Route) -> Route {
    for status in [400, 401, 403, 404, 408, 409, 413, 415, 422, 500, 502, 503] {
        route = route.answers(status, "The error, in the format of that API", error_schema());
    }
    route
}

pub(super) fn shaped(path: &str, handler: MethodRouter<Shared>) -> MethodRouter<Shared> {
    let dialect = match path {
        "/v1/chat/completions" | "/v1/embeddings" | "/v1/models" | "/v1/models/{model}" => Dialect::Chat,
        "/v1/responses" => Dialect::Responses,
        "/v1/messages" | "/v1/messages/count_tokens" => Dialect::Messages,
        _ => return handler,
    };
    handler.layer(from_fn(move |request: Request, next: Next| reshape(dialect, request, next)))
}

async fn list_models() -> Json<Value> {
    let ids = all_models();
    let data: Vec<Value> = ids.iter().map(|id| model_json(id)).collect();
    Json(json!({
        "object": "list", "data": data, "has_more": false, "first_id": ids.first(), "last_id": ids.last(),
    }))
}

async fn show_model(PathPart(model): PathPart<String>) -> ApiResult<Json<Value>> {
    let known = all_models();
    if known.contains(&model) {
        Ok(Json(model_json(&model)))
    } else {
        Err(ApiError::no_model(&model, &known))
    }
}

fn all_models() -> Vec<String> {
    models().into_iter().chain([embeddings::MODEL.to_owned()]).collect()
}

fn model_json(id: &str) -> Value {
    json!({
        "id": id, "object": "model", "created": 0, "owned_by": "spelunk",
        "type": "model", "display_name": id, "created_at": "1970-01-01T00:00:00Z",
    })
}

/// A conversation counts as an upload and has the same size limit.
async fn answer(server: Shared, client: Client, request: Request, dialect: Dialect) -> ApiResult<Response> {
    let settings = &server.app.settings.server;
    let body = read_json(request, &server, settings.upload_bytes_max).await?;
    let long_chars = usize::try_from(settings.long_message_chars).unwrap_or(usize::MAX);
    let mut asked = dialect.read(body, long_chars)?;
    let documents = std::mem::take(&mut asked.documents);
    let whole = AwaitedRun::begin(&server, client, asked.request.take(), documents).await?;
    let created_s = SystemClock.now_ms() / 1000;
    let head = ReplyHead { run: whole.run.clone(), model: asked.model.clone(), created_s };
    let (draft, streamed) = (Draft::of(&asked), Streamed::default());
    let waiting = WaitingClient { dialect, asked, head: head.clone(), whole, draft, streamed };
    let mut response = if waiting.asked.streams {
        waiting.into_stream()
    } else {
        Json(waiting.finish().await?).into_response()
    };
    if let Ok(run) = HeaderValue::from_str(head.run.as_str()) {
        for name in REQUEST_HEADERS {
            response.headers_mut().insert(name, run.clone());
        }
        response.headers_mut().insert(RUN_HEADER, run);
    }
    Ok(response)
}

impl Dialect {
    fn read(self, body: Value, long_chars: usize) -> ApiResult<CompatRequest> {
        match self {
            Self::Chat => chat::read(body, long_chars),
            Self::Responses => responses::read(body, long_chars),
            Self::Messages => messages::read(body, long_chars),
        }
    }

    fn whole(self, reply: &Reply) -> Value {
        match self {
            Self::Chat => chat::whole(reply),
            Self::Responses => responses::whole(reply),
            Self::Messages => messages::whole(reply),
        }
    }

    fn opening(self, head: &ReplyHead, streamed: &mut Streamed) -> String {
        match self {
            Self::Chat => chat::opening(head),
            Self::Responses => responses::opening(head, streamed),
            Self::Messages => messages::opening(head),
        }
    }

    fn piece(self, head: &ReplyHead, streamed: &mut Streamed, text: &str) -> String {
        let said = match self {
            Self::Chat => chat::piece(head, text),
            Self::Responses => responses::piece(head, streamed, text),
            Self::Messages => {
                let said = messages::piece(streamed, text);
                streamed.n_events += 1;
                said
            }
        };
        streamed.text += text;
        said
    }

    fn alive(self, head: &ReplyHead, status: &str, progress: Progress) -> String {
        match self {
            Self::Chat => chat::alive(head, status, progress),
            Self::Responses => comment(status),
            Self::Messages => comment(status) + &messages::alive(),
        }
    }

    fn closing(self, reply: &Reply, streamed: &mut Streamed, includes_usage: bool) -> String {
        match self {
            Self::Chat => chat::closing(reply, streamed, includes_usage),
            Self::Responses => responses::closing(reply, streamed),
            Self::Messages => messages::closing(reply, streamed),
        }
    }

    fn broken(self, head: &ReplyHead, streamed: &mut Streamed, wrong: &ApiError) -> String {
        match self {
            Self::Chat => data(&wrong.json(self)),
            Self::Responses => responses::broken(head, streamed, &wrong.problem.detail),
            Self::Messages => event("error", &wrong.json(self)),
        }
    }
}

struct WaitingClient {
    dialect: Dialect,
    asked: CompatRequest,
    head: ReplyHead,
    whole: AwaitedRun,
    draft: Draft,
    streamed: Streamed,
}

impl WaitingClient {
    async fn finish(mut self) -> ApiResult<Value> {
        loop {
            match self.whole.wait(STEP).await {
                WaitOutcome::Status(_) | WaitOutcome::Said(_) => {}
                WaitOutcome::End => break,
                WaitOutcome::Closing => return Err(closing()),
            }
        }
        let ended = self.whole.end().await?;
        Ok(self.dialect.whole(&Reply::of(self.head, &self.asked, &ended)?))
    }

    fn into_stream(mut self) -> Response {
        let opening = self.dialect.opening(&self.head, &mut self.streamed);
        let opening = comment(&format!("run {}", self.head.run)) + &opening;
        let rest = stream::unfold(Some(self), |waiting| async move { Some(waiting?.next().await) });
        event_stream(stream::iter([opening]).chain(rest).map(Bytes::from))
    }

    async fn next(mut self) -> (String, Option<Self>) {
        let text = loop {
            match self.whole.wait(STEP).await {
                WaitOutcome::Status(status) => {
                    return (self.dialect.alive(&self.head, &status, self.asked.progress), Some(self));
                }
                WaitOutcome::Said(piece) => {
                    let text = self.draft.take(piece);
                    if !text.is_empty() {
                        return (self.dialect.piece(&self.head, &mut self.streamed, &text), Some(self));
                    }
                }
                WaitOutcome::End => {
                    let ended = self.whole.end().await.map_err(ApiError::from);
                    let reply = ended.and_then(|ended| Reply::of(self.head.clone(), &self.asked, &ended));
                    break match reply {
                        Ok(reply) => {
                            self.dialect.closing(&reply, &mut self.streamed, self.asked.includes_usage)
                        }
                        Err(wrong) => self.dialect.broken(&self.head, &mut self.streamed, &wrong),
                    };
                }
                WaitOutcome::Closing => {
                    break self.dialect.broken(&self.head, &mut self.streamed, &closing());
                }
            }
        };
        (text, None)
    }
}

fn closing() -> ApiError {
    let detail = "the server is shutting down; the run continues after a restart";
    Problem::new(StatusCode::SERVICE_UNAVAILABLE, "server-stopping", "The server is stopping.", detail).into()
}
