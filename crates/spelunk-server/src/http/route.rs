//! Routes: the one table from which both the router and the API document are built, so that every
//! served route is documented.

use axum::handler::Handler;
use axum::http::Method;
use axum::routing::{self, MethodRouter};
use serde_json::{Map, Value, json};

use super::{Scope, Shared};

pub(crate) struct Route {
    pub(crate) method: Method,
    /// In axum's syntax: `/v1/runs/{run}`.
    pub(crate) path: &'static str,
    /// `None` for public routes.
    pub(crate) scope: Option<Scope>,
    pub(crate) handler: MethodRouter<Shared>,
    summary: String,
    parameters: Vec<Value>,
    body: Option<Value>,
    responses: Map<String, Value>,
}

pub(crate) fn get<T: 'static>(path: &'static str, summary: &str, handler: impl Handler<T, Shared>) -> Route {
    Route::new(Method::GET, path, summary, routing::get(handler))
}

pub(crate) fn post<T: 'static>(path: &'static str, summary: &str, handler: impl Handler<T, Shared>) -> Route {
    Route::new(Method::POST, path, summary, routing::post(handler))
}

pub(crate) fn delete<T: 'static>(
    path: &'static str,
    summary: &str,
    handler: impl Handler<T, Shared>,
) -> Route {
    Route::new(Method::DELETE, path, summary, routing::delete(handler))
}

impl Route {
    fn new(method: Method, path: &'static str, summary: &str, handler: MethodRouter<Shared>) -> Self {
        // The names in braces. A wildcard (`{*path}`) is one name.
        let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
        let names = names.map(|name| name.trim_start_matches('*'));
        let part = |name: &str| json!({ "name": name, "in": "path", "required": true, "schema": { "type": "string" } });
        Self {
            scope: Some(Scope::of_method(&method)),
            method,
            path,
            handler,
            summary: summary.to_owned(),
            parameters: names.map(part).collect(),
            body: None,
            responses: Map::new(),
        }
    }

    #[must_use]
    pub(crate) fn scope(mut self, scope: Option<Scope>) -> Self {
        self.scope = scope;
        self
    }

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
        if let Some(body) = &mut route.body {
            body["required"] = json!(false);
        }
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
        let (group, name) = super::openapi::group_and_name(&self.method, self.path);
        let mut operation = json!({
            "summary": self.summary,
            "operationId": name,
            "tags": [group],
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

pub(crate) fn object_of(required: &[&str], properties: &Value) -> Value {
    json!({ "type": "object", "required": required, "properties": properties })
}

pub(crate) fn list_of(items: &Value) -> Value {
    json!({ "type": "array", "items": items })
}

pub(crate) fn whole_schema(min: u64, max: u64) -> Value {
    json!({ "type": "integer", "minimum": min, "maximum": max })
}

fn problem() -> Value {
    json!({ "$ref": "#/components/responses/Problem" })
}

/// The path in the syntax of the API document.
pub(crate) fn document_path(path: &str) -> String {
    path.replace("{*", "{")
}
