//! The context tools: what they return and what they reject.

use expect_test::expect;
use serde_json::json;

use super::client::{Client, text_of};
use crate::scene::{NOTE, Scene};

const LOG: &str = "start\nerror: disk full\nretry\nerror: disk full again\nstop\n";

fn with_log() -> (Scene, Client) {
    let scene = Scene::new(&[("log.txt", LOG), ("notes/a.md", NOTE[0].1)]);
    let mut client = Client::plain(&scene);
    client.call("context_register", &json!({ "path": "log.txt", "context_id": "log" }));
    (scene, client)
}

#[test]
fn a_file_is_registered_and_explored() {
    let (_scene, mut client) = with_log();
    expect![[r#"
        start
        error: disk full
        [3 more lines]
        [hint: grep `log` for a keyword]"#]]
    .assert_eq(&client.text("context_peek", &json!({ "context_id": "log", "lines": 2 })));
    expect![[r"
        1-start
        2:error: disk full
        3-retry
        --
        3-retry
        4:error: disk full again
        5-stop
        [hint: 2 lines match: load `log` if you need the rest]"]]
    .assert_eq(
        &client.text("context_grep", &json!({ "context_id": "log", "pattern": "ERROR", "context_lines": 1 })),
    );
    expect![[r#"{"chunk":1,"content":"retry\nerror: disk full again\n","context":"log","lines":"3-4 of 5","navigation":{"next":2,"prev":0},"total_chunks":3}"#]]
        .assert_eq(&client.data("context_chunk", &json!({ "context_id": "log", "chunk_index": 1, "chunk_size": 2 })).to_string());
}

#[test]
fn a_load_is_capped_and_says_so() {
    let (_scene, mut client) = with_log();
    let whole = client.data("context_load", &json!({ "context_id": "log" }));
    assert_eq!((whole["content"].as_str(), whole["truncated"].as_bool()), (Some(LOG), Some(false)));
    expect![[r#"{"content":"start… [cut]","context":"log","size_chars":57,"size_tokens_approx":14,"truncated":true,"warning":"returned only the first 5 of 57 characters: grep it or read it in chunks"}"#]]
        .assert_eq(&client.data("context_load", &json!({ "context_id": "log", "chars_max": 5 })).to_string());
}

#[test]
fn a_long_answer_is_bounded_by_the_server() {
    let long = "0123456789\n".repeat(1000);
    let scene = Scene::new(&[("long.txt", &long)]);
    let mut client = Client::legacy(&scene, &["--output-chars-max", "1000"], None, &json!({}));
    client.call("context_register", &json!({ "path": "long.txt" }));
    let result = client.call("context_load", &json!({ "context_id": "long", "chars_max": 1_000_000 }));
    let n_chars = result["structuredContent"]["content"].as_str().unwrap().chars().count();
    assert!(n_chars <= 1000 && text_of(&result).chars().count() <= 1010, "{n_chars}");
    let page = client.data("context_chunk", &json!({ "context_id": "long", "chunk_size": 200 }));
    assert_eq!(page["cut"], true);
}

#[test]
fn passages_of_all_contexts_are_ranked() {
    let (_scene, mut client) = with_log();
    client.call("context_register", &json!({ "path": "notes/a.md" }));
    client.call("context_register", &json!({ "text": "nothing here\n", "context_id": "empty" }));
    let found = client.data("context_search", &json!({ "query": "which magic number?" }));
    let documents: Vec<&str> =
        found["results"].as_array().unwrap().iter().map(|one| one["document"].as_str().unwrap()).collect();
    assert_eq!(documents, ["a"]);
    let matched = client.data("context_search", &json!({ "query": "disk|magic", "mode": "pattern" }));
    let ids: Vec<&str> = matched["results"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["context_id"].as_str().unwrap())
        .collect();
    assert_eq!(ids, ["log", "a"]);
}

#[test]
fn passages_are_found_by_meaning() {
    let (_scene, mut client) = with_log();
    client.call(
        "context_register",
        &json!({ "context_id": "pets", "text": "The kitten sleeps on the sofa.\n" }),
    );
    expect![[r#"
        pets:1  similarity 0.48
            The kitten sleeps on the sofa.
        log:1  similarity 0.18
            start
        [2 passages in 2 contexts by meaning]"#]]
    .assert_eq(
        &client.text("context_search", &json!({ "query": "where does the cat rest", "mode": "meaning" })),
    );
    let found = client
        .data("context_search", &json!({ "query": "no space left", "mode": "meaning", "contexts": ["log"] }));
    assert_eq!((&found["mode"], &found["results"][0]["context_id"]), (&json!("meaning"), &json!("log")));
    let found =
        client.data("context_search", &json!({ "query": "kitten", "mode": "hybrid", "results_max": 1 }));
    assert_eq!(found["results"][0]["context_id"], "pets");
    expect![[r#"
        FAILED error: the argument `mode` must be `words`, `meaning`, `hybrid` or `pattern`

        hint: see the schema of the tool"#]]
    .assert_eq(&client.text("context_search", &json!({ "query": "x", "mode": "magic" })));
    expect![[r#"
        FAILED error: there is no context `nope`

        hint: list the contexts to see their ids"#]]
    .assert_eq(
        &client.text("context_search", &json!({ "query": "x", "mode": "meaning", "contexts": ["nope"] })),
    );
}

#[test]
fn a_batch_answers_each_query_and_one_failure_stops_none() {
    let (_scene, mut client) = with_log();
    let queries = json!([{ "context_id": "log", "pattern": "retry" }, { "context_id": "lag", "pattern": "x" }, { "pattern": "x" }, 7]);
    expect![[r#"
        {
          "failed": 3,
          "results": [
            {
              "context_id": "log",
              "matches": [
                {
                  "line": 3,
                  "text": "retry"
                }
              ],
              "pattern": "retry",
              "total_matches": 1
            },
            {
              "error": {
                "causes": [],
                "code": "context-not-found",
                "hint": "did you mean `log`?",
                "message": "there is no context `lag`"
              }
            },
            {
              "error": {
                "causes": [],
                "code": "usage-wrong",
                "hint": "see the schema of the tool",
                "message": "the argument `context_id` is missing"
              }
            },
            {
              "error": {
                "causes": [],
                "code": "usage-wrong",
                "hint": "see the schema of the tool",
                "message": "the argument `context_id` is missing"
              }
            }
          ]
        }"#]]
    .assert_eq(&format!("{:#}", client.data("context_batch_grep", &json!({ "queries": queries }))));
    let peeked =
        client.data("context_batch_peek", &json!({ "queries": [{ "context_id": "log", "lines": 1 }] }));
    assert_eq!(peeked["results"][0]["preview"], "start");
}

#[test]
fn a_directory_is_registered_without_its_secrets() {
    let scene =
        Scene::new(&[("d/a.md", "one\n"), ("d/b.md", "two\n"), ("d/.env", "KEY=1\n"), ("d/id_rsa", "k\n")]);
    let mut client = Client::plain(&scene);
    let added = client.data("context_register", &json!({ "path": "d", "prefix": "d/" }));
    let ids: Vec<&str> =
        added["added"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["d/a", "d/b"]);
    assert_eq!(added["skipped"], json!({ "secret": 1 }));
    expect![[r#"
        FAILED error: could not read the context `.env`
          caused by: `d/.env` may contain secrets and was not read"#]]
    .assert_eq(&client.text("context_register", &json!({ "path": "d/.env" })));
}

#[test]
fn what_another_process_registers_is_seen() {
    let (scene, mut client) = with_log();
    assert_eq!(scene.spelunk(["context", "add", "notes/a.md"]).run().code, 0);
    assert_eq!(client.data("context_list", &json!({}))["total"], 2);
    let elsewhere = Scene::new(&[("x.txt", "x\n")]);
    let path = elsewhere.path("x.txt");
    assert_eq!(scene.spelunk(["context", "add", path.to_str().unwrap()]).run().code, 0);
    assert_eq!(client.data("context_list", &json!({}))["total"], 3);
    // It is listed, but a file outside the roots cannot be read.
    assert!(client.text("context_peek", &json!({ "context_id": "x" })).starts_with("FAILED"));
}

#[test]
fn s4_19_personal_contexts_are_combined_counted_and_evicted_over_mcp() {
    let scene = Scene::new(&[
        ("me/foundation/profile.yaml", "name: Ada\n"),
        ("me/projects/house/contacts.yaml", "mason:\n  phone: 12\n"),
        ("me/temporal/upcoming_events.json", "[]"),
    ]);
    let mut client = Client::plain(&scene);
    client.call("context_add", &json!({ "path": "me", "personal": true }));
    let asked = json!({ "project": "house", "working": ["temporal:upcoming_events"] });
    assert_eq!(
        client.data("context_combined", &asked),
        json!({
            "user": { "profile": { "name": "Ada" } },
            "project": { "contacts": { "mason": { "phone": 12 } } },
            "working": { "temporal:upcoming_events": [] },
        })
    );
    client.call("context_load", &json!({ "context_id": "identity:profile" }));
    let stats = client.data("context_stats", &json!({}));
    assert_eq!(stats["store"]["total_contexts"], 3, "{stats}");
    assert_eq!(stats["access_patterns"]["full_loads"], 4, "{stats}");
    let accesses = stats["accesses"].as_array().unwrap();
    assert_eq!(accesses.last().unwrap()["context_id"], "identity:profile", "{stats}");
    let evicted = client.data("context_evict", &json!({}));
    assert_eq!((&evicted["memory"]["cache_bytes"], &evicted["expired"]), (&json!(0), &json!(0)), "{evicted}");
    assert!(evicted["evicted"].as_u64() > Some(0), "{evicted}");
    let wrong = client.text("context_combined", &json!({ "working": ["temporal:upcoming_event"] }));
    assert!(wrong.starts_with("FAILED") && wrong.contains("temporal:upcoming_events"), "{wrong}");
}
