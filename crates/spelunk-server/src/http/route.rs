//! Routes: the one table from which both the router and the API document are built, so that every
//! served route is documented.

use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{MethodFilter, MethodRouter, on};
use serde_json::{Map, Value, json};

use super::Shared;
use super::auth::Scope;

/// One path and method, with its parameters and responses.
pub(crate) struct Route {
    pub(crate) method: Method,
    /// In axum's syntax: `/v1/runs/{run}`.
    pub(crate) path: &'static str,
    /// The scope a token must have; `None` for public routes.
    pub(crate) scope: Option<Scope>,
    pub(crate) handler: MethodRouter<Shared>,
    summary: String,
    parameters: Vec<Value>,
    body: Option<Value>,
    responses: Map<String, Value>,
}

pub(crate) fn get<H, T>(path: &'static str, summary: &str, handler: H) -> Route
where
    H: Handler<T, Shared>,
    T: 'static,
{
    Route::new(Method::GET, path, summary, on(MethodFilter::GET, handler))
}

pub(crate) fn post<H, T>(path: &'static str, summary: &str, handler: H) -> Route
where
    H: Handler<T, Shared>,
    T: 'static,
{
    Route::new(Method::POST, path, summary, on(MethodFilter::POST, handler))
}

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
        let part = |name: &str| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } });
        Self {
            scope: Some(Scope::of_method(&method)),
            method,
            path,
            handler,
            summary: summary.to_owned(),
            parameters: path_parameters(path).into_iter().map(part).collect(),
            body: None,
            responses: Map::new(),
        }
    }

    /// Sets another scope; `None` makes the route public.
    #[must_use]
    pub(crate) fn scope(mut self, scope: Option<Scope>) -> Self {
        self.scope = scope;
        self
    }

    /// Sets the schema of a path parameter; the default is any text.
    #[must_use]
    pub(crate) fn part(mut self, name: &str, schema: Value) -> Self {
        if let Some(part) = self.parameters.iter_mut().find(|part| part["name"] == name) {
            part["schema"] = schema;
        }
        self
    }

    #[must_use]
    pub(crate) fn query(self, name: &str, schema: Value, about: &str) -> Self {
        self.parameter(json!({ "name": name, "in": "query" }), schema, about)
    }

    #[must_use]
    pub(crate) fn query_needed(self, name: &str, schema: Value, about: &str) -> Self {
        self.parameter(json!({ "name": name, "in": "query", "required": true }), schema, about)
    }

    #[must_use]
    pub(crate) fn header(self, name: &str, schema: Value, about: &str) -> Self {
        self.parameter(json!({ "name": name, "in": "header" }), schema, about)
    }

    fn parameter(mut self, mut parameter: Value, schema: Value, about: &str) -> Self {
        parameter["description"] = json!(about);
        parameter["schema"] = schema;
        self.parameters.push(parameter);
        self
    }

    #[must_use]
    pub(crate) fn takes(self, schema: Value) -> Self {
        self.takes_as("application/json", schema)
    }

    #[must_use]
    pub(crate) fn takes_optionally(self, schema: Value) -> Self {
        let mut route = self.takes(schema);
        route.body = route.body.map(|mut body| {
            body["required"] = json!(false);
            body
        });
        route
    }

    /// A body of any media type; may be called several times.
    #[must_use]
    pub(crate) fn takes_as(mut self, kind: &str, schema: Value) -> Self {
        let body = self.body.get_or_insert_with(|| json!({ "required": true, "content": {} }));
        body["content"][kind]["schema"] = schema;
        self
    }

    #[must_use]
    pub(crate) fn answers(self, status: u16, about: &str, schema: Value) -> Self {
        self.answers_as(status, about, "application/json", schema)
    }

    /// A response of any media type; one status may have several.
    #[must_use]
    pub(crate) fn answers_as(mut self, status: u16, about: &str, kind: &str, schema: Value) -> Self {
        let answer = self.responses.entry(status.to_string()).or_insert_with(|| json!({}));
        answer["description"] = json!(about);
        answer["content"][kind]["schema"] = schema;
        self
    }

    #[must_use]
    pub(crate) fn answers_nothing(mut self, status: u16, about: &str) -> Self {
        self.responses.insert(status.to_string(), json!({ "description": about }));
        self
    }

    /// Problems this route can return, besides those of every route.
    #[must_use]
    pub(crate) fn problems(mut self, statuses: &[u16]) -> Self {
        self.responses.extend(statuses.iter().map(|status| (status.to_string(), problem())));
        self
    }

    pub(crate) fn operation(&self) -> Value {
        let mut statuses = vec![400, 403, 421, 500];
        statuses.extend(self.scope.map(|_| 401));
        if self.body.is_some() {
            statuses.extend([408, 413, 415, 422]);
        }
        let mut responses = self.responses.clone();
        for status in statuses {
            responses.entry(status.to_string()).or_insert_with(problem);
        }
        let named = super::openapi::named(&self.method, self.path);
        let mut operation = json!({
            "summary": self.summary,
            "operationId": named.id,
            "tags": [named.tag],
            "parameters": self.parameters,
            "responses": responses,
            "security": match self.scope {
                Some(scope) => json!([{ "token": [scope.name()] }, {}]),
                None => json!([]),
            },
        });
        if let Some(body) = &self.body {
            operation["requestBody"] = body.clone();
        }
        operation
    }
}

/// The schema of an integer between bounds.
pub(crate) fn whole_schema(min: u64, max: u64) -> Value {
    json!({ "type": "integer", "minimum": min, "maximum": max })
}

fn problem() -> Value {
    json!({ "$ref": "#/components/responses/Problem" })
}

/// The names in braces. A wildcard (`{*path}`) is one name.
fn path_parameters(path: &str) -> Vec<&str> {
    let parts = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    parts.map(|name| name.trim_start_matches('*')).collect()
}

/// The path in the syntax of the API document.
pub(crate) fn document_path(path: &str) -> String {
    path.replace("{*", "{")
}
