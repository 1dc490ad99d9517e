//! Checks the route table against the API document.

use std::collections::BTreeSet;

use super::*;

#[test]
fn every_route_is_in_the_document_once_and_nothing_else_is() {
    let document = document();
    let described: BTreeSet<String> = document["paths"]
        .as_object()
        .into_iter()
        .flatten()
        .flat_map(|(path, methods)| {
            let methods = methods.as_object().into_iter().flat_map(|methods| methods.keys().cloned());
            methods.map(|method| format!("{} {path}", method.to_uppercase())).collect::<Vec<_>>()
        })
        .collect();
    let served: Vec<String> =
        routes().iter().map(|route| format!("{} {}", route.method, document_path(route.path))).collect();
    assert_eq!(served.iter().cloned().collect::<BTreeSet<_>>(), described);
    assert_eq!(served.len(), described.len());
}

#[test]
fn the_document_that_is_checked_in_is_the_one_that_is_served() {
    spelunk_testkit::check_page("openapi.json", &format!("{:#}\n", document()));
}

#[test]
fn every_operation_has_an_answer_and_a_name_of_its_own() {
    let mut ids = BTreeSet::new();
    for route in routes() {
        let operation = route.operation();
        let answers = operation["responses"].as_object().unwrap();
        assert!(answers.keys().any(|status| status.starts_with('2')), "{} {}", route.method, route.path);
        assert_eq!(operation["tags"].as_array().map(Vec::len), Some(1), "{operation}");
        assert!(ids.insert(operation["operationId"].as_str().unwrap().to_owned()), "{operation}");
    }
}

/// A generated client has a type for every list.
#[test]
fn every_list_of_the_document_says_what_it_holds() {
    let document = document();
    let mut left = vec![("", &document)];
    let mut bare = Vec::new();
    while let Some((name, value)) = left.pop() {
        let is_list = value["type"] == "array"
            || value["type"].as_array().is_some_and(|kinds| kinds.contains(&"array".into()));
        if is_list && value.get("items").is_none() {
            bare.push(format!("{name}: {value}"));
        }
        left.extend(value.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value)));
        left.extend(value.as_array().into_iter().flatten().map(|value| (name, value)));
    }
    assert_eq!(bare, Vec::<String>::new());
}

/// A client that knows one address knows the others.
#[test]
fn a_run_is_called_run_and_a_context_id_everywhere() {
    for route in routes() {
        let parts: Vec<&str> = route.path.split('/').collect();
        let named = |base: &str| {
            let at = parts.iter().position(|part| *part == base)?;
            parts.get(at + 1).copied().filter(|part| part.starts_with('{'))
        };
        assert!(matches!(named("runs"), None | Some("{run}")), "{}", route.path);
        assert!(matches!(named("context"), None | Some("{id}")), "{}", route.path);
    }
    let document = document().to_string();
    for other in ["\"run_id\"", "\"runId\"", "\"context_id\"", "\"contextId\""] {
        assert!(!document.contains(other), "{other}");
    }
}
