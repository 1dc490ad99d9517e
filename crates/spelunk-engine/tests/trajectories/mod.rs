//! Golden trajectories: the stories next to this file, run against the HTTP server. `SPELUNK_UPDATE=1` rewrites their
//! expectations; review the diff.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use spelunk_engine::RunResult;
use spelunk_testkit::{FaultDisk, Trajectory, facts, with_expectations};
use spelunk_types::Explain;

use crate::stage::{Stage, engine_on, events};

#[tokio::test]
async fn every_story_comes_out_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/trajectories");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.sort();
    assert!(paths.len() >= 6, "the stories are gone");
    let update = std::env::var_os("SPELUNK_UPDATE").is_some();
    for path in paths {
        let markdown = std::fs::read_to_string(&path).unwrap();
        let (events, answer, shown) = tell(&markdown).await;
        let now = with_expectations(&markdown, &events, &answer, &shown);
        if update {
            std::fs::write(&path, now).unwrap();
        } else {
            assert_eq!(now, markdown, "{}", path.display());
        }
    }
}

async fn tell(markdown: &str) -> (String, String, BTreeMap<String, String>) {
    let story = Trajectory::parse(markdown);
    let files: Vec<(&str, &str)> =
        story.files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let mut stage = Stage::new(&files, story.rules());
    stage.schema.clone_from(&story.schema);
    for (name, value) in &story.settings {
        if name == "order" {
            continue;
        }
        if name == "strategy" {
            stage.strategy = value.parse().unwrap();
            continue;
        }
        if name == "focus" {
            stage.focus = value.parse().unwrap();
            continue;
        }
        assert!(stage.limits.set(name, value.parse().unwrap()), "{name} is not a limit");
    }
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = stage.ask(&engine, &story.question).await;
    assert_eq!(stage.server.unexpected().len(), 0, "{:?}", stage.server.unexpected());
    let mut lines = facts(&events(&engine, &result.run));
    if story.settings.contains_key("order") {
        // Concurrent events are recorded in order of arrival.
        lines.sort();
    }
    // The server's port is chosen by the system.
    let answer = show(&result).replace(&stage.server.base_url(), "http://SERVER/v1");
    let shown = story.shown.keys().map(|call| (call.clone(), last_message(&stage, call))).collect();
    (lines.join("\n") + "\n", answer, shown)
}

fn last_message(stage: &Stage, call: &str) -> String {
    let requests = stage.server.requests();
    let request = requests.iter().find(|request| request.call.as_deref() == Some(call));
    let body = &request.unwrap_or_else(|| panic!("call {call} was not made")).body;
    let body: serde_json::Value = serde_json::from_str(body).unwrap();
    let messages = body["messages"].as_array().unwrap();
    format!("{}\n", messages.last().unwrap()["content"].as_str().unwrap())
}

fn show(result: &RunResult) -> String {
    let mut shown = String::new();
    if let Some(answer) = &result.answer {
        shown += &format!("{}\n", answer.text);
        for citation in &answer.citations {
            shown += &format!("  {}:{}  {}\n", citation.document, citation.line, citation.quote);
        }
    }
    if let Some(error) = &result.error {
        shown += &format!("error: {error}\n");
        shown += &error.hint().map(|hint| format!("hint: {hint}\n")).unwrap_or_default();
    }
    shown
}
