//! What all HTTP adapters share: a URL, credentials and a price. An adapter adds its format.

use reqwest::RequestBuilder;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use spelunk_types::{CallId, ModelRef};

use crate::error_mapping::RequestContext;
use crate::hosted::{Ability, HostedCatalogue, price_of};
use crate::http::{CALL_HEADER, Endpoint};
use crate::reply::{Decode, Prepared, stream_reply};
use crate::{ModelError, ModelFacts, ModelStream, Price, Prompt, Secret};

/// A provider's URL, credentials and model name.
#[derive(Debug, Clone)]
pub struct ModelOptions {
    /// The base URL: `https://api.openai.com/v1`, `http://127.0.0.1:11434/v1`. A trailing slash is ignored.
    pub base_url: String,
    /// The provider's name for the model.
    pub name: String,
    /// The key; local servers need none.
    pub key: Option<Secret>,
    /// What it costs, if not the list price.
    pub price: Option<Price>,
    /// Whether requests carry `x-spelunk-call`, which scripted servers use to choose the reply.
    pub label_calls: bool,
}

#[derive(Debug, Clone)]
pub(crate) struct Caller {
    pub(crate) endpoint: Endpoint,
    pub(crate) reference: ModelRef,
    /// As the catalogue lists it.
    pub(crate) facts: ModelFacts,
    headers: HeaderMap,
    context: RequestContext,
    label_calls: bool,
}

/// The header that most providers take a key in, and what is before the key.
pub(crate) const BEARER: (&str, &str) = ("authorization", "Bearer ");

impl Caller {
    /// Validates the URL and the key; sends nothing. `version_suffix` is an optional end of the URL that users may
    /// write or omit.
    pub(crate) fn open(
        provider: &str,
        options: ModelOptions,
        (header, prefix): (&'static str, &str),
        version_suffix: &str,
    ) -> Result<Self, ModelError> {
        let ModelOptions { base_url, name, key, price, label_calls } = options;
        let mut endpoint = Endpoint::open(&base_url)?;
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(value) = endpoint.key_header(key.as_ref(), prefix)? {
            headers.insert(HeaderName::from_static(header), value);
        }
        let base_url =
            endpoint.base_url.strip_suffix(version_suffix).unwrap_or(&endpoint.base_url).to_owned();
        endpoint.base_url.clone_from(&base_url);
        let reference =
            ModelRef { provider: provider.to_owned(), name: name.clone(), base_url: base_url.clone() };
        let context = RequestContext::new(base_url, name, key.into_iter().collect());
        let price = price_of(&reference, endpoint.is_local, price);
        let listed = HostedCatalogue::current().find_reference(&reference).filter(|_| !endpoint.is_local);
        let can = |ability| listed.as_ref().is_some_and(|model| model.can(ability));
        let (sees_images, reads_pdf) = (can(Ability::Vision), can(Ability::Pdf));
        let window_tokens = listed.and_then(|model| model.window_tokens);
        let facts = ModelFacts { price, window_tokens, sees_images, reads_pdf, ..ModelFacts::default() };
        Ok(Self { endpoint, reference, facts, headers, context, label_calls })
    }

    pub(crate) fn with_header(mut self, name: &'static str, value: &'static str) -> Self {
        self.headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        self
    }

    pub(crate) fn post(&self, path: &str, call: &CallId, body: Vec<u8>) -> RequestBuilder {
        let request = self.post_plain(path, body);
        if self.label_calls { request.header(CALL_HEADER, call.to_string()) } else { request }
    }

    /// The same for a request that is not a model call.
    pub(crate) fn post_plain(&self, path: &str, body: Vec<u8>) -> RequestBuilder {
        let request = self.endpoint.client.post(format!("{}{path}", self.endpoint.base_url));
        request.headers(self.headers.clone()).body(body)
    }

    pub(crate) fn context(&self, prompt: &Prompt) -> RequestContext {
        self.context.clone().with_features(prompt)
    }

    pub(crate) fn stream<D: Decode>(
        &self,
        path: &str,
        (prompt, call): (&Prompt, &CallId),
        body: Vec<u8>,
        decoder: D,
    ) -> ModelStream {
        let prepared = Prepared { request: self.post(path, call, body), secrets: Vec::new() };
        let unsent = Box::pin(std::future::ready(Ok(prepared)));
        stream_reply(unsent, self.context(prompt), self.facts.price, decoder)
    }
}

/// An object without the fields that are null.
pub(crate) fn present(mut object: Value) -> Value {
    if let Value::Object(fields) = &mut object {
        fields.retain(|_, value| !value.is_null());
    }
    object
}

/// A list, if there is anything in it.
pub(crate) fn unless_empty(items: impl Iterator<Item = Value>) -> Option<Vec<Value>> {
    Some(items.collect()).filter(|items: &Vec<Value>| !items.is_empty())
}

/// The body of a request with these fields, unless they are null, and the conversation under its name in the format. Keys
/// are in alphabetical order.
pub(crate) fn request_body(fields: Value, name: &str, conversation: impl Iterator<Item = Value>) -> Vec<u8> {
    let mut request = present(fields);
    // Moved, while `json!` would copy it.
    request[name] = Value::Array(conversation.collect());
    serde_json::to_vec(&request).expect("JSON can be written")
}
