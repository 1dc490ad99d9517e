//! Routes: the single table from which both the router and the API document are built, so that every served route
//! is documented.

use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{MethodFilter, MethodRouter, on};
use serde_json::{Map, Value, json};

use super::Shared;
use super::auth::Scope;

/// One path and method, with its parameters and responses.
pub(crate) struct Route {
    pub(crate) method: Method,
    /// In axum's syntax: `/v1/runs/{id}`.
    pub(crate) path: &'static str,
    /// The scope a token must have; `None` for public routes.
    pub(crate) scope: Option<Scope>,
    pub(crate) handler: MethodRouter<Shared>,
    doc: Map<String, Value>,
}

/// A route that reads something.
pub(crate) fn get<H, T>(path: &'static str, summary: &str, handler: H) -> Route
where
    H: Handler<T, Shared>,
    T: 'static,
{
    Route::new(Method::GET, path, summary, on(MethodFilter::GET, handler))
}

/// A route that does something.
pub(crate) fn post<H, T>(path: &'static str, summary: &str, handler: H) -> Route
where
    H: Handler<T, Shared>,
    T: 'static,
{
    Route::new(Method::POST, path, summary, on(MethodFilter::POST, handler))
}

/// A route that deletes something.
pub(crate) fn delete<H, T>(path: &'static str, summary: &str, handler: H) -> Route
where
    H: Handler<T, Shared>,
    T: 'static,
{
    Route::new(Method::DELETE, path, summary, on(MethodFilter::DELETE, handler))
}

impl Route {
    pub(crate) fn new(
        method: Method,
        path: &'static str,
        summary: &str,
        handler: MethodRouter<Shared>,
    ) -> Self {
        let scope = Some(Scope::of_method(&method));
        let mut doc = Map::new();
        doc.insert("summary".into(), json!(summary));
        doc.insert("operationId".into(), json!(operation_id(&method, path)));
        let parameters: Vec<Value> = path_parameters(path)
            .into_iter()
            .map(|name| {
                json!({
                    "name": name, "in": "path", "required": true, "schema": { "type": "string" },
                })
            })
            .collect();
        doc.insert("parameters".into(), json!(parameters));
        doc.insert("responses".into(), json!({}));
        Self { method, path, scope, handler, doc }
    }

    /// Sets another scope; `None` makes the route public.
    #[must_use]
    pub(crate) fn scope(mut self, scope: Option<Scope>) -> Self {
        self.scope = scope;
        self
    }

    /// The schema of a path parameter that is not arbitrary text.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "schemas are written where they are given")]
    pub(crate) fn part(mut self, name: &str, schema: Value) -> Self {
        let parameters = self.doc.get_mut("parameters").and_then(Value::as_array_mut);
        let mut parts = parameters.into_iter().flatten();
        if let Some(part) = parts.find(|part| part["name"] == name) {
            part["schema"] = schema.clone();
        }
        self
    }

    /// A query parameter.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "schemas are written where they are given")]
    pub(crate) fn query(mut self, name: &str, schema: Value, about: &str) -> Self {
        self.push_parameter(json!({ "name": name, "in": "query", "description": about, "schema": schema }));
        self
    }

    /// A required query parameter.
    #[must_use]
    pub(crate) fn query_needed(self, name: &str, schema: Value, about: &str) -> Self {
        let mut route = self.query(name, schema, about);
        let parameters = route.doc.get_mut("parameters").and_then(Value::as_array_mut);
        if let Some(last) = parameters.and_then(|parameters| parameters.last_mut()) {
            last["required"] = json!(true);
        }
        route
    }

    /// A request header.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "schemas are written where they are given")]
    pub(crate) fn header(mut self, name: &str, schema: Value, about: &str) -> Self {
        self.push_parameter(json!({ "name": name, "in": "header", "description": about, "schema": schema }));
        self
    }

    /// A JSON body.
    #[must_use]
    pub(crate) fn takes(self, schema: Value) -> Self {
        self.takes_as("application/json", schema)
    }

    /// An optional JSON body.
    #[must_use]
    pub(crate) fn takes_optionally(self, schema: Value) -> Self {
        let mut route = self.takes(schema);
        route.doc["requestBody"]["required"] = json!(false);
        route
    }

    /// A body of any media type; may be called several times.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "schemas are written where they are given")]
    pub(crate) fn takes_as(mut self, kind: &str, schema: Value) -> Self {
        let body =
            self.doc.entry("requestBody").or_insert_with(|| json!({ "required": true, "content": {} }));
        body["content"][kind] = json!({ "schema": schema });
        self
    }

    /// A JSON response.
    #[must_use]
    pub(crate) fn answers(self, status: u16, about: &str, schema: Value) -> Self {
        self.answers_as(status, about, "application/json", schema)
    }

    /// A response of any media type; one status may have several.
    #[must_use]
    #[expect(clippy::needless_pass_by_value, reason = "schemas are written where they are given")]
    pub(crate) fn answers_as(mut self, status: u16, about: &str, kind: &str, schema: Value) -> Self {
        let answer = &mut self.doc["responses"][status.to_string()];
        answer["description"] = json!(about);
        answer["content"][kind] = json!({ "schema": schema });
        self
    }

    /// A response without a body.
    #[must_use]
    pub(crate) fn answers_nothing(mut self, status: u16, about: &str) -> Self {
        self.doc["responses"][status.to_string()] = json!({ "description": about });
        self
    }

    /// Problems this route can return, besides those of every route.
    #[must_use]
    pub(crate) fn problems(mut self, statuses: &[u16]) -> Self {
        for status in statuses {
            self.doc["responses"][status.to_string()] = json!({ "$ref": "#/components/responses/Problem" });
        }
        self
    }

    /// The operation in the API document.
    pub(crate) fn operation(&self) -> Value {
        let mut doc = self.doc.clone();
        let everywhere: &[u16] = &[400, 403, 421, 500];
        let has_token: &[u16] = if self.scope.is_some() { &[401] } else { &[] };
        for status in everywhere.iter().chain(has_token) {
            let responses = &mut doc["responses"];
            if responses.get(status.to_string()).is_none() {
                responses[status.to_string()] = json!({ "$ref": "#/components/responses/Problem" });
            }
        }
        if doc.contains_key("requestBody") {
            for status in [408, 413, 415, 422] {
                let responses = &mut doc["responses"];
                if responses.get(status.to_string()).is_none() {
                    responses[status.to_string()] = json!({ "$ref": "#/components/responses/Problem" });
                }
            }
        }
        let security = match self.scope {
            Some(scope) => json!([{ "token": [scope.name()] }, {}]),
            None => json!([]),
        };
        doc.insert("security".into(), security);
        Value::Object(doc)
    }

    fn push_parameter(&mut self, parameter: Value) {
        if let Some(parameters) = self.doc.get_mut("parameters").and_then(Value::as_array_mut) {
            parameters.push(parameter);
        }
    }
}

/// The names in braces. A wildcard (`{*path}`) is one name.
fn path_parameters(path: &str) -> Vec<&str> {
    let parts = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    parts.map(|name| name.trim_start_matches('*')).collect()
}

/// The path as the API document writes it.
pub(crate) fn document_path(path: &str) -> String {
    path.replace("{*", "{")
}

fn operation_id(method: &Method, path: &str) -> String {
    let words = path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut id = method.as_str().to_ascii_lowercase();
    for word in words {
        id.push('_');
        id.push_str(word);
    }
    id
}
