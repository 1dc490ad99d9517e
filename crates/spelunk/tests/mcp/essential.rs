//! The tools that every client is shown.

use expect_test::expect;
use serde_json::{Value, json};
use spelunk_testkit::{Gate, ModelServer};

use super::client::Client;
use crate::scene::{NOTE, QUESTION, REPLY, Scene, to_all, wait_at};

const LOG: &str = "start\nerror: disk full\nretry\nerror: disk full again\nstop\n";

#[test]
fn a_lot_of_text_is_read_while_its_index_is_built() {
    let scene = Scene::new(&[("docs/animals.md", &crate::cli::search::large())]);
    let mut client = Client::plain(&scene);
    let asked = json!({ "query": "where is the okapi", "paths": ["docs"], "results_max": 1 });
    expect![[r#"
        animals.md:2102
            The okapi lives in the garden.
        [searched by words only: 21 MB are not indexed yet; the index is being built]
        [1 passage in 1 document by words]"#]]
    .assert_eq(&client.text("search", &asked));
    let mut last = String::new();
    for _ in 0..600 {
        last = client.text("search", &asked);
        if !last.contains("is being built") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    expect![[r#"
        animals.md:2102  similarity 0.74
            The okapi lives in the garden.
        [1 passage in 1 document by words and meaning]"#]]
    .assert_eq(&last);
}

fn with_contexts() -> (Scene, Client) {
    let scene = Scene::new(&[("log.txt", LOG), ("notes/a.md", NOTE[0].1)]);
    let mut client = Client::plain(&scene);
    client.call("context_add", &json!({ "path": "log.txt" }));
    client.call("context_add", &json!({ "text": "stop here\n", "id": "short" }));
    (scene, client)
}

#[test]
fn files_are_searched_without_registering_them() {
    let scene = Scene::new(&[
        ("docs/pets.md", "# Pets\n\nThe kitten sleeps on the sofa.\n"),
        ("docs/b.md", "Taxes are due.\n"),
    ]);
    let mut client = Client::plain(&scene);
    expect![[r#"
        pets.md:3
            The kitten sleeps on the sofa.
        [1 passage in 2 documents by words]"#]]
    .assert_eq(&client.text("search", &json!({ "query": "kitten", "paths": ["docs"], "mode": "words" })));
    let found = client.data("search", &json!({ "query": "where does the cat rest", "paths": ["docs"] }));
    assert_eq!(
        (&found["mode"], &found["results"][0]["document"]),
        (&json!("hybrid"), &json!("pets.md")),
        "{found}"
    );
    assert_eq!(client.data("context_list", &json!({}))["total"], 0);
    expect![[r#"
        FAILED error: the argument `paths` is missing, and no contexts are registered

        hint: see the schema of the tool"#]]
    .assert_eq(&client.text("search", &json!({ "query": "kitten" })));
    expect![[r#"
        FAILED error: the argument `mode` must be `hybrid`, `words` or `meaning`; use context_grep for patterns

        hint: see the schema of the tool"#]]
    .assert_eq(&client.text("search", &json!({ "query": "k", "paths": ["docs"], "mode": "pattern" })));
    assert!(
        client
            .text("search", &json!({ "query": "k", "paths": ["/etc"] }))
            .contains("outside the directories")
    );
}

#[test]
fn registered_texts_are_searched_if_no_path_is_named() {
    let (_scene, mut client) = with_contexts();
    let found = client.data("search", &json!({ "query": "disk full", "results_max": 1 }));
    let places: Vec<(&Value, &Value)> =
        found["results"].as_array().unwrap().iter().map(|hit| (&hit["context_id"], &hit["line"])).collect();
    assert_eq!(places, [(&json!("log"), &json!(2))]);
}

#[test]
fn lines_of_several_contexts_are_read_at_once() {
    let (_scene, mut client) = with_contexts();
    expect![[r#"
        start
        error: disk full
        [lines 1-2 of 5]"#]]
    .assert_eq(&client.text("context_read", &json!({ "ids": ["log"], "lines": 2 })));
    expect![[r#"
        error: disk full
        retry
        error: disk full again
        [lines 2-4 of 5]"#]]
    .assert_eq(&client.text("context_read", &json!({ "ids": ["log"], "line": 2, "lines": 3 })));
    expect![[r#"
        stop
        [end, line 5 of 5]"#]]
    .assert_eq(&client.text("context_read", &json!({ "ids": ["log"], "line": 5, "lines": 3 })));
    expect![[r#"
        == log
        error: disk full again
        stop
        [end, line 5 of 5]
        == lag
        error: there is no context `lag`

        hint: did you mean `log`?
        == short
        [end, line 1 of 1]"#]]
    .assert_eq(&client.text("context_read", &json!({ "ids": ["log", "lag", "short"], "line": 4 })));
    expect![[r#"{"failed":0,"results":[{"id":"log","line":2,"next_line":3,"text":"error: disk full\n","total_lines":5}]}"#]].assert_eq(
        &client.data("context_read", &json!({ "ids": ["log"], "line": 2, "lines": 1 })).to_string(),
    );
    expect![[r#"{"failed":1,"results":[{"chars":10,"id":"short","text":"stop here\n","truncated":false},{"error":{"causes":[],"code":"context-not-found","hint":"did you mean `log`?","message":"there is no context `lag`"},"id":"lag"}]}"#]].assert_eq(
        &client.data("context_read", &json!({ "ids": ["short", "lag"], "whole": true })).to_string(),
    );
    expect![[r#"
        FAILED error: there is no context `lag`

        hint: did you mean `log`?"#]]
    .assert_eq(&client.text("context_read", &json!({ "ids": ["lag"] })));
    expect![[r#"
        FAILED error: the argument `ids` is missing

        hint: see the schema of the tool"#]]
    .assert_eq(&client.text("context_read", &json!({})));
}

#[test]
fn every_line_is_read_wherever_the_reading_begins() {
    let (_scene, mut client) = with_contexts();
    let lines: Vec<&str> = LOG.split_inclusive('\n').collect();
    for line in 1..=6 {
        for n in 1..=6 {
            let read = client.data("context_read", &json!({ "ids": ["log"], "line": line, "lines": n }));
            let wanted: String = lines.iter().skip(line - 1).take(n).copied().collect();
            assert_eq!(read["results"][0]["text"], wanted, "{line} {n}");
            let next = (line - 1 + n < lines.len()).then_some(line + n);
            assert_eq!(read["results"][0]["next_line"], json!(next), "{line} {n}");
        }
    }
}

#[test]
fn several_contexts_are_grepped_at_once_or_all_of_them() {
    let (_scene, mut client) = with_contexts();
    expect![[r#"
        == log
        5:stop
        == short
        1:stop here
        == lag
        error: there is no context `lag`

        hint: did you mean `log`?"#]]
    .assert_eq(&client.text(
        "context_grep",
        &json!({ "ids": ["log", "short", "lag"], "pattern": "STOP", "context_lines": 0 }),
    ));
    expect![[r#"
        log  (1 line)
          5:stop
        short  (1 line)
          1:stop here
        [matches in 2 of 2 contexts]"#]]
    .assert_eq(&client.text("context_grep", &json!({ "pattern": "stop", "context_lines": 0 })));
    let found =
        client.data("context_grep", &json!({ "ids": ["log"], "pattern": "Error", "case_sensitive": true }));
    assert_eq!((&found["results"][0]["total_matches"], &found["failed"]), (&json!(0), &json!(0)));
}

#[test]
fn a_directory_is_added_with_what_is_below_it() {
    let scene = Scene::new(&[
        ("d/a.md", "one\n"),
        ("d/deep/er/b.md", "two\n"),
        ("d/deep/c.rs", "three\n"),
        ("d/deep/.env", "KEY=1\n"),
        ("d/deep/id_rsa", "k\n"),
        ("d/image.bin", "\u{0}\u{1}"),
    ]);
    let mut client = Client::plain(&scene);
    let ids = |added: &Value| -> Vec<String> {
        added["added"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
    };
    let added = client.data("context_add", &json!({ "path": "d", "id": "docs", "pattern": "*.md" }));
    assert_eq!(ids(&added), ["docs/a", "docs/b"]);
    expect![[r#"
        3 added, 0 already known; skipped: 1 binary, 1 secret (such as d/image.bin, deep/id_rsa)
        all/a
        all/c
        all/b"#]]
    .assert_eq(&client.text("context_add", &json!({ "path": "d", "id": "all" })));
    expect!["0 added, 3 already known; skipped: 1 binary, 1 secret (such as d/image.bin, deep/id_rsa)"]
        .assert_eq(&client.text("context_add", &json!({ "path": "d", "id": "all" })));
    assert_eq!(client.data("context_read", &json!({ "ids": ["all/b"] }))["results"][0]["text"], "two\n");
}

#[test]
fn an_answer_that_takes_long_is_fetched_later() {
    let (scene, gate) = (Scene::new(&NOTE), Gate::new());
    let server = ModelServer::start_blocking([to_all().gate(&gate).reply(REPLY).usage(100, 20)]);
    let mut client = Client::legacy(&scene, &[], Some(&server), &json!({}));
    let begun = client.data("rlm_ask", &json!({ "question": QUESTION, "paths": ["notes"], "wait_ms": 0 }));
    assert_eq!(begun["state"], "running");
    let run = begun["run"].clone();
    let run_tool =
        |client: &mut Client, action: &str| client.data("rlm_run", &json!({ "action": action, "run": run }));
    wait_at(&gate, &server);
    assert_eq!(run_tool(&mut client, "status")["state"], "running");
    assert_eq!(run_tool(&mut client, "cancel")["state"], "cancelled");
    gate.open();
    assert_eq!(run_tool(&mut client, "resume")["answer"], "The magic number is 42.");
    assert_eq!(run_tool(&mut client, "result")["answer"], "The magic number is 42.");
    assert_eq!(client.data("rlm_run", &json!({ "action": "status" }))["total"], 1);
    expect![[r#"
        FAILED error: the argument `action` must be one of result, status, cancel, resume

        hint: see the schema of the tool"#]]
    .assert_eq(&client.text("rlm_run", &json!({ "action": "stop" })));
}

/// Most clients give up after a minute, so the default is documented in the list of tools and in `docs/mcp.md`.
#[test]
fn a_call_waits_45_seconds_unless_it_says_otherwise() {
    let (scene, gate) = (Scene::new(&NOTE), Gate::new());
    let server = ModelServer::start_blocking([to_all().gate(&gate).reply(REPLY).usage(100, 20)]);
    let mut client = Client::legacy(&scene, &[], Some(&server), &json!({}));
    let start = std::time::Instant::now();
    let begun = client.data("rlm_ask", &json!({ "question": QUESTION, "paths": ["notes"] }));
    assert_eq!(begun["state"], "running", "{begun}");
    assert!(start.elapsed().as_secs() >= 45, "{:?}", start.elapsed());
    gate.open();
}

#[test]
fn notes_are_kept_under_one_name() {
    let scene = Scene::new(&[]);
    let mut client = Client::plain(&scene);
    let mut note = |arguments: Value| client.text("notes", &arguments);
    assert_eq!(note(json!({ "action": "set", "key": "sum", "value": { "a": 1 } })), "sum = 7 characters");
    assert_eq!(note(json!({ "action": "get", "key": "sum", "start": 1, "end": 4 })), "\"a\"");
    assert_eq!(note(json!({ "action": "append", "key": "draft", "value": "one" })), "draft has 1 entry");
    assert_eq!(note(json!({ "action": "append", "key": "draft", "value": "two" })), "draft has 2 entries");
    assert_eq!(note(json!({ "action": "read", "key": "draft" })), "one\ntwo");
    assert_eq!(note(json!({ "action": "pop", "key": "draft" })), "two");
    expect![[r#"
        sum (7 characters): {"a":1}
        buffer draft: 1 entries, 3 characters"#]]
    .assert_eq(&note(json!({ "action": "list" })));
    assert_eq!(note(json!({ "action": "clear", "key": "draft" })), "1 cleared");
    assert_eq!(note(json!({ "action": "clear" })), "1 cleared");
    assert_eq!(note(json!({ "action": "list" })), "no variables or buffers are set");
    expect![[r#"
        FAILED error: the argument `action` must be one of set, get, list, append, read, pop, clear

        hint: see the schema of the tool"#]]
    .assert_eq(&note(json!({ "action": "sett", "key": "a" })));
}
