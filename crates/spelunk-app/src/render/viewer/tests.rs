#![expect(clippy::disallowed_methods, reason = "the files of the viewer are read from the repository")]

use std::collections::BTreeMap;
use std::path::Path;

use expect_test::expect_file;
use regex::Regex;
use serde_json::{Value, json};
use spelunk_engine::{CallState, RunView};
use spelunk_types::{Blame, ErrorCode, Event, FrameOutcome};

use super::*;

#[test]
fn every_module_of_the_folder_is_part_of_the_script() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("viewer");
    let mut there: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| Path::new(name).extension().is_some_and(|extension| extension == "js"))
        .collect();
    there.sort();
    let mut joined: Vec<&str> = SCRIPTS.iter().map(|(name, _)| *name).collect();
    joined.sort_unstable();
    assert_eq!(there, joined);
}

#[test]
fn a_module_comes_after_all_that_it_imports_and_says_what_it_is() {
    let mut exports: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, text) in SCRIPTS {
        assert!(text.starts_with("// ") && text.lines().count() < 500, "{name}");
        for line in text.lines().filter(|line| line.starts_with("import ")) {
            let (words, from) = import(line).unwrap_or_else(|| panic!("{name}: {line}"));
            let known = exports.get(from).unwrap_or_else(|| panic!("{name} imports {from}"));
            for word in words.split(", ") {
                assert!(known.contains(&word), "{name}: {word} of {from}");
            }
        }
        let exported = text.lines().filter_map(|line| line.strip_prefix("export "));
        let declared = exported.map(|line| declared(line).unwrap_or_else(|| panic!("{name}: {line}")));
        exports.insert(name, declared.collect());
    }
}

#[test]
fn the_script_makes_no_markup_of_text_and_runs_none() {
    let script = script();
    let forbidden = [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "new Function",
        "</script",
        "<!--",
    ];
    for word in forbidden {
        assert!(!script.contains(word), "{word}");
    }
    assert!(!script.lines().any(|line| line.starts_with("import ") || line.starts_with("export ")));
    let addresses = Regex::new("https?://[^'\"` ]+").unwrap();
    let outside: Vec<&str> = addresses.find_iter(&script).map(|found| found.as_str()).collect();
    assert_eq!(outside, ["http://www.w3.org/2000/svg"], "a name, not an address");
}

#[test]
fn the_page_names_its_files_by_their_digest() {
    for asset in ASSETS.iter() {
        assert!(page().contains(&format!("/assets/{}?v={}", asset.name, asset.digest)), "{}", asset.name);
        assert_eq!(super::asset(asset.name), Some(asset));
    }
    assert_eq!(asset("../viewer.js"), None);
    assert!(!page().contains(HEAD_MARK) && !page().contains("onclick") && !page().contains("<style"));
}

#[test]
fn the_page_counts_the_calls_that_the_purse_refused_as_the_engine_does() {
    let fold = SCRIPTS.iter().find(|(name, _)| *name == "fold.js").unwrap().1;
    let (_, rest) = fold.split_once("LIMIT_CODES = [").unwrap();
    let (list, _) = rest.split_once("];").unwrap();
    let mut listed: Vec<&str> = list.split('\'').skip(1).step_by(2).collect();
    listed.sort_unstable();
    let of_limits = ErrorCode::ALL.iter().filter(|code| code.blame() == Blame::Limit);
    let mut known: Vec<&str> = of_limits.map(|code| code.name()).collect();
    known.sort_unstable();
    assert_eq!(listed, known);
}

/// `viewer-tests/unit/fold.test.js` checks the page's own fold against the same files.
#[test]
fn the_engine_and_the_page_fold_journals_to_the_same_totals() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in ["../../tests/compat/journals/v1", "viewer-tests/journals"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let text = std::fs::read_to_string(&path).unwrap();
            let events: Vec<Event> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
            let golden = root.join("viewer-tests/golden").join(format!("{name}.json"));
            expect_file![golden].assert_eq(&format!("{:#}\n", totals(&RunView::of(&events))));
        }
    }
}

fn totals(view: &RunView) -> Value {
    let calls = view.calls.iter().map(|(id, call)| {
        let state = match &call.state {
            CallState::Open => "open".to_owned(),
            CallState::Replied { served, .. } => format!("replied {}", json!(served)).replace('"', ""),
            CallState::Failed { code } => format!("failed {code}"),
        };
        (id.to_string(), json!({ "state": state, "retries": call.retries, "seq": call.seq }))
    });
    let frames = view.frames.iter().map(|(id, frame)| {
        let state = match &frame.outcome {
            None => "open",
            Some(FrameOutcome::Answered { .. }) => "answered",
            Some(FrameOutcome::Failed { .. }) => "failed",
        };
        (id.to_string(), json!({ "state": state, "strategy": frame.strategy, "seq": frame.seq }))
    });
    let tasks = view.tasks.as_ref().map(|tasks| {
        json!({
            "planned": tasks.planned, "documents": tasks.documents, "recalled": tasks.recalled, "done": tasks.done,
            "failed": tasks.failed, "findings": tasks.findings,
        })
    });
    json!({
        "seq_last": view.seq_last,
        "outcome": view.outcome,
        "documents": view.n_documents,
        "corpus_bytes": view.corpus_bytes,
        "bytes_read": view.bytes_read,
        "documents_read": view.documents_read,
        "skipped": view.skipped,
        "spent": {
            "input_tokens": view.spent.input_tokens, "cached_tokens": view.spent.cached_tokens,
            "cache_written_tokens": view.spent.cache_written_tokens, "output_tokens": view.spent.output_tokens,
            "cost_microusd": view.spent.cost_microusd,
        },
        "active_ms": view.active_ms(),
        "paid_calls": view.n_paid_calls(),
        "cached_calls": view.n_cached_calls(),
        "resumed": view.n_resumed,
        "warnings": view.warnings.len(),
        "citations": view.citations.len(),
        "limits_reached": view.limits_reached.len(),
        "cells": view.cells.values().map(Vec::len).sum::<usize>(),
        "answer_citations": view.answer().map(|(_, citations, _)| citations.len()),
        "tasks": tasks,
        "calls": calls.collect::<serde_json::Map<_, _>>(),
        "frames": frames.collect::<serde_json::Map<_, _>>(),
    })
}
