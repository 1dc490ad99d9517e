//! Resources: contexts, runs and variables by URI, for clients that attach text instead of calling tools.

use rmcp::ErrorData;
use rmcp::model::{ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate};
use spelunk_app::units::head;
use spelunk_types::{percent_decoded, percent_encoded};

use super::{Failure, State, cut, run_tools};

const CONTEXT: &str = "spelunk://context/";
const RUN: &str = "spelunk://run/";
const VARIABLE: &str = "rlm://vars/";
/// Resources per page of the list.
const PAGE_MAX: usize = 100;
const URI_BYTES_MAX: usize = 2000;

#[derive(Debug, PartialEq, Eq)]
enum ResourceUri {
    Context(String),
    Run(String),
    Variable(String),
}

pub(super) fn templates() -> Vec<ResourceTemplate> {
    vec![
        ResourceTemplate::new(format!("{CONTEXT}{{id}}"), "context")
            .with_title("A registered context")
            .with_description("Its text from the beginning, up to the server's limit")
            .with_mime_type("text/plain"),
        ResourceTemplate::new(format!("{RUN}{{id}}"), "run")
            .with_title("A run")
            .with_description("Its question, state and answer")
            .with_mime_type("application/json"),
        ResourceTemplate::new(format!("{VARIABLE}{{name}}"), "variable")
            .with_title("A variable")
            .with_description("The value that state_set stored under this name")
            .with_mime_type("text/plain"),
    ]
}

/// A page of the contexts and, after the last of them, the newest runs.
pub(super) fn list(state: &State, cursor: Option<&str>) -> Result<ListResourcesResult, ErrorData> {
    let bad_cursor = || ErrorData::invalid_params("the cursor is not valid", None);
    let from: usize = cursor.map_or(Ok(0), str::parse).map_err(|_| bad_cursor())?;
    let contexts = state.store().list();
    let mut resources: Vec<Resource> = contexts
        .iter()
        .skip(from)
        .take(PAGE_MAX)
        .map(|context| {
            let uri = format!("{CONTEXT}{}", encoded(context.id.as_str()));
            let resource = Resource::new(uri, context.id.as_str())
                .with_title(context.name.clone())
                .with_description(format!("a context of the type {}", context.kind.name()))
                .with_mime_type("text/plain");
            match &context.revision {
                Some(revision) => resource.with_size(revision.size_bytes),
                None => resource,
            }
        })
        .collect();
    let next = from.saturating_add(resources.len());
    let has_more = next < contexts.len();
    if !has_more && from <= contexts.len() {
        let runs = state.app.existing_workspace().ok().flatten().and_then(|workspace| workspace.runs().ok());
        for run in runs.unwrap_or_default().into_iter().rev().take(PAGE_MAX) {
            let resource =
                Resource::new(format!("{RUN}{run}"), run.as_str()).with_mime_type("application/json");
            resources.push(resource.with_description("a run"));
        }
    }
    let mut result = ListResourcesResult::with_all_items(resources);
    result.next_cursor = has_more.then(|| next.to_string());
    Ok(result)
}

/// The content of a resource. Blocking.
pub(super) fn read(state: &State, uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let shown = head(uri, 200);
    let not_found = |why: String| ErrorData::resource_not_found(format!("`{shown}`: {why}"), None);
    let of_failure = |failure: Failure| not_found(failure.0.to_string());
    let meant = parse(uri).ok_or_else(|| not_found("it is not a URI of this server".to_owned()))?;
    let (text, mime) = match meant {
        ResourceUri::Context(id) => {
            let loaded = state.navigator.load(&id).map_err(|error| of_failure(error.into()))?;
            (cut(&loaded.text, state.output_chars_max).0, "text/plain")
        }
        ResourceUri::Run(run) => (run_tools::summary(state, &run).map_err(of_failure)?, "application/json"),
        ResourceUri::Variable(name) => {
            let notes = state.notes();
            let value = notes.var(&name).ok_or_else(|| not_found("there is no such variable".to_owned()))?;
            (cut(value, state.output_chars_max).0, "text/plain")
        }
    };
    let contents = ResourceContents::text(text, uri).with_mime_type(mime);
    Ok(ReadResourceResult::new(vec![contents]))
}

fn parse(uri: &str) -> Option<ResourceUri> {
    if uri.len() > URI_BYTES_MAX {
        return None;
    }
    if let Some(id) = uri.strip_prefix(CONTEXT) {
        return decoded(id).map(ResourceUri::Context);
    }
    if let Some(run) = uri.strip_prefix(RUN) {
        return decoded(run).map(ResourceUri::Run);
    }
    decoded(uri.strip_prefix(VARIABLE)?).map(ResourceUri::Variable)
}

/// Percent-encodes everything but letters, digits and `-._~/`.
fn encoded(name: &str) -> String {
    percent_encoded(name, |c| c.is_ascii_alphanumeric() || "-._~/".contains(c))
}

fn decoded(name: &str) -> Option<String> {
    percent_decoded(name).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn addresses_that_are_none_are_refused() {
        for uri in [
            "",
            "spelunk://",
            "spelunk://context/",
            "spelunk://run/%",
            "spelunk://run/%+1",
            "file:///etc/passwd",
            "rlm://vars/%ff",
        ] {
            assert_eq!(parse(uri), None, "{uri}");
        }
        assert_eq!(parse("rlm://vars/a%20b"), Some(ResourceUri::Variable("a b".into())));
    }

    proptest! {
        #[test]
        fn any_name_survives_its_address(name in "\\PC{1,80}") {
            prop_assert_eq!(decoded(&encoded(&name)), Some(name));
        }

        #[test]
        fn no_address_breaks_the_parser(uri in "(spelunk://(context|run)/)?.{0,60}") {
            parse(&uri);
        }
    }
}
