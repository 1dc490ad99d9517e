//! Contexts over HTTP: every operation, its lower and upper bounds, all kinds of ids, and what may not be registered.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::client::{Answer, Server};
use crate::scene::{Scene, json_without_times};

const FILES: [(&str, &str); 4] = [
    ("docs/guide.md", "# Guide\n\nInstall it.\n\n## Use\n\nRun it with care.\n"),
    (
        "docs/cats.md",
        "# Cats\n\nThe kitten sleeps on the sofa.\n\n# Money\n\nThe invoice is due on Friday.\n",
    ),
    ("docs/keys.md", "token = ghp_Zk3vQ9xT7bLmW2rY8nHc5JdPf4SgA1uEoK6i\nplain text\n"),
    ("secret/id_rsa", "-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----\n"),
];

fn serving() -> (Scene, Server) {
    let scene = Scene::new(&FILES);
    let server = Server::start(&scene, &["--root", "docs"], None);
    (scene, server)
}

fn registered(server: &Server, id: &str, path: &str) {
    let answer = server.post("/api/context/register", &json!({ "id": id, "source_path": path }));
    assert_eq!(answer.status, 201, "{}", answer.body);
}

fn shown(answer: &Answer) -> String {
    let value = json_without_times(serde_json::from_str(&answer.body).unwrap());
    format!("{} {value}\n", answer.status)
}

#[track_caller]
fn check(answer: &Answer, expected: &Expect) {
    expected.assert_eq(&shown(answer));
}

#[test]
fn a_context_is_registered_listed_and_looked_at() {
    let (_scene, server) = serving();
    let new = json!({
        "id": "guide", "name": "The guide", "type": "project", "source_path": "docs/guide.md",
        "metadata": { "owner": "me", "pages": 3 },
    });
    check(
        &server.post("/api/context/register", &new),
        &expect![[r#"
            201 {"registered":{"access_stats":{"full_loads":0,"greps":0,"pages":0,"peeks":0},"content_type":"prose","id":"guide","last_accessed_ms":null,"last_modified_ms":0,"name":"The guide","policy":"lazy","size_bytes":48,"source":"file","type":"project"}}
        "#]],
    );
    check(
        &server.get("/api/context/guide/peek?lines=3"),
        &expect![[r##"
            200 {"context":{"access_stats":{"full_loads":0,"greps":0,"pages":0,"peeks":1},"content_type":"prose","id":"guide","last_accessed_ms":0,"last_modified_ms":0,"name":"The guide","policy":"lazy","size_bytes":48,"source":"file","type":"project"},"lines_shown":3,"metadata":{"owner":"me","pages":"3"},"preview":"# Guide\n\nInstall it.","suggestions":["grep `guide` for a keyword"],"truncated":false}
        "##]],
    );
    check(
        &server.get("/api/context/guide/grep?pattern=it&context_lines=0"),
        &expect![[r#"
        200 {"context":"guide","matches":[{"after":[],"before":[],"line":3,"text":"Install it."},{"after":[],"before":[],"line":7,"text":"Run it with care."}],"suggestions":["2 lines match: load `guide` if you need the rest"],"total_matches":2,"truncated":false}
    "#]],
    );
    check(
        &server.get("/api/context/guide/chunk/1?chunk_size=3"),
        &expect![[r#"
        200 {"chunk":1,"content":"\n## Use\n\n","context":"guide","lines":"4-6 of 7","navigation":{"next":2,"prev":0},"total_chunks":3}
    "#]],
    );
    check(
        &server.get("/api/context/guide"),
        &expect![[r##"
        200 {"content":"# Guide\n\nInstall it.\n\n## Use\n\nRun it with care.\n","context":"guide","size_chars":48,"size_tokens_approx":12,"warning":null}
    "##]],
    );
    check(
        &server.get("/api/context/search/all?q=install%7Czebra"),
        &expect![[r#"
        200 {"mode":"pattern","results":[{"context_id":"guide","match_count":1,"matches":[{"after":[],"before":[],"line":3,"text":"Install it."}],"name":"The guide","type":"project"}],"searched":1,"unread":[]}
    "#]],
    );
    check(
        &server.get("/api/context/stats"),
        &expect![[r#"
            200 {"access_patterns":{"full_loads":1,"greps":2,"load_to_peek_ratio":1.0,"pages":1,"peeks":1,"since_start":{"by_action":{"grep":1,"load":1,"page":1,"peek":1,"search":1},"load_to_peek_ratio":1.0,"total_accesses":5},"total_accesses":5},"memory":{"cache_bytes":48,"cache_bytes_max":50000000,"contexts_loaded":1,"held_bytes":0,"utilization":9.6e-7},"store":{"by_type":{"document":0,"identity":0,"memory":0,"project":1,"temporal":0,"tool_result":0,"web":0},"cache_bytes":48,"loaded_in_memory":1,"max_cache_bytes":50000000,"total_contexts":1}}
        "#]],
    );
    let ids = |answer: &Answer| -> Vec<Value> {
        assert_eq!(answer.status, 200);
        let contexts = answer.json()["contexts"].as_array().unwrap().clone();
        contexts.into_iter().map(|context| context["id"].clone()).collect()
    };
    assert_eq!(ids(&server.get("/api/context/")), ["guide"]);
    assert_eq!(ids(&server.get("/api/context")), ["guide"]);
    assert_eq!(ids(&server.get("/api/context/?type=project")), ["guide"]);
    assert!(ids(&server.get("/api/context/?type=web")).is_empty());
    assert_eq!(server.delete("/api/context/guide").json()["removed"]["id"], "guide");
    assert_eq!(server.get("/api/context/guide/peek").problem(), (404, "context-not-found".into()));
}

#[test]
fn numbers_are_bounded_on_both_sides() {
    let (_scene, server) = serving();
    registered(&server, "guide", "docs/guide.md");
    for path in [
        "peek?lines=0",
        "peek?lines=-3",
        "peek?lines=51",
        "peek?lines=ten",
        "peek?lines=",
        "peek?lines=1.5",
        "grep",
        "grep?pattern=",
        "grep?pattern=a&context_lines=11",
        "grep?pattern=a&context_lines=-1",
        "grep?pattern=%28",
        "chunk/0?chunk_size=0",
        "chunk/0?chunk_size=201",
        "chunk/-1",
        "chunk/99",
        "chunk/x",
        "search",
        "search?q=%20",
        "search?q=a&top_k=0",
        "search?q=a&top_k=51",
        "search?q=a&mode=magic",
    ] {
        let answer = server.get(&format!("/api/context/guide/{path}"));
        assert_eq!(answer.problem().0, 422, "{path}: {}", answer.body);
    }
    for path in ["peek?lines=1", "peek?lines=50", "grep?pattern=a&context_lines=10", "chunk/0?chunk_size=200"]
    {
        assert_eq!(server.get(&format!("/api/context/guide/{path}")).status, 200, "{path}");
    }
    for path in ["guide/peek?line=3", "guide/peek?lines=1&lines=2", "stats?x=1", "?type=nope"] {
        let answer = server.get(&format!("/api/context/{path}"));
        assert_eq!(answer.problem().0, 400, "{path}: {}", answer.body);
    }
}

#[test]
fn an_id_may_be_anything_and_words_of_the_address_are_reserved() {
    let (_scene, server) = serving();
    let ids =
        ["a/b", "a/b/c.md", "a/peek", "search/all", "..", "../../etc", "ü ñ/☃", "x?y=1", "100%", "a//b"];
    for id in ids {
        let new = json!({ "id": id, "text": format!("the text of {id}") });
        assert_eq!(server.post("/api/context/register", &new).status, 201, "{id}");
    }
    let encoded = |id: &str| -> String {
        id.bytes()
            .map(|byte| {
                if byte.is_ascii_alphanumeric() {
                    char::from(byte).to_string()
                } else {
                    format!("%{byte:02X}")
                }
            })
            .collect()
    };
    for id in ids {
        let path = format!("/api/context/{}", encoded(id));
        assert_eq!(server.get(&path).json()["content"], format!("the text of {id}"), "{path}");
        assert_eq!(server.get(&format!("{path}/peek")).json()["context"]["id"], id);
        assert_eq!(server.get(&format!("{path}/chunk/0")).json()["context"], id);
    }
    for (path, id) in [
        ("a/b", "a/b"),
        ("a/b/c.md", "a/b/c.md"),
        ("a/peek/peek", "a/peek"),
        ("a//b", "a//b"),
        ("../../etc", "../../etc"),
        ("search/all/grep", "search/all"),
    ] {
        let path = if path.ends_with("grep") { format!("{path}?pattern=text") } else { path.to_owned() };
        let answer = server.get(&format!("/api/context/{path}"));
        assert!(answer.status == 200 && answer.body.contains(id), "{path}: {}", answer.body);
    }
    for reserved in ["stats", "search", "register"] {
        let answer = server.post("/api/context/register", &json!({ "id": reserved, "text": "x" }));
        assert_eq!(answer.problem(), (422, "usage-wrong".into()), "{reserved}");
    }
    for id in ["", " a", "a\nb", &"x".repeat(201)] {
        let answer = server.post("/api/context/register", &json!({ "id": id, "text": "x" }));
        assert_eq!(answer.problem().0, 422, "{id:?}");
    }
    assert_eq!(server.get("/api/context/%FF%FE").problem(), (404, "not-found".into()));
}

#[test]
fn only_files_below_the_roots_are_registered() {
    let (scene, server) = serving();
    scene.write("outside.md", b"outside");
    std::os::unix::fs::symlink(scene.path("outside.md"), scene.path("docs/link.md")).unwrap();
    std::os::unix::fs::symlink(scene.path("docs/guide.md"), scene.path("docs/inside.md")).unwrap();
    let register =
        |path: &str| server.post("/api/context/register", &json!({ "id": "x", "source_path": path }));
    for path in [
        "outside.md",
        "docs/../outside.md",
        "docs/link.md",
        "/etc/passwd",
        "/etc/nope",
        "secret/id_rsa",
        "..",
    ] {
        let answer = register(path);
        assert_eq!(answer.problem().0, 403, "{path}: {}", answer.body);
    }
    for path in ["", "docs/nope.md", "docs", "docs/a\u{0}b"] {
        assert_eq!(register(path).problem().0, 422, "{path:?}");
    }
    assert_eq!(register("docs/inside.md").json()["registered"]["id"], "x");
    assert_eq!(register("docs/guide.md").problem(), (409, "context-exists".into()));
    let again = json!({ "id": "x", "source_path": "docs/guide.md", "replace": true });
    assert_eq!(server.post("/api/context/register", &again).status, 201);
    let bad: [(Value, u16); 8] = [
        (json!({ "id": "y", "text": "t", "type": "documnet" }), 400),
        (json!({ "id": "y", "text": "t", "type": "NO!" }), 400),
        (json!({ "id": "y" }), 422),
        (json!({ "text": "t" }), 422),
        (json!({ "id": "y", "text": "t", "source_path": "docs/guide.md" }), 422),
        (json!({ "id": "y", "text": "t", "colour": 1 }), 422),
        (json!({ "id": 7, "text": "t" }), 422),
        (json!({ "id": "y", "text": "t", "metadata": { "k": "v".repeat(3000) } }), 422),
    ];
    for (body, status) in bad {
        let answer = server.post("/api/context/register", &body);
        assert_eq!(answer.problem().0, status, "{body}: {}", answer.body);
    }
    assert_eq!(server.post("/api/context/register", &json!([1])).problem().0, 422);
}

#[test]
fn secrets_are_blacked_out_in_every_look() {
    let (_scene, server) = serving();
    registered(&server, "keys", "docs/keys.md");
    for path in [
        "keys",
        "keys/peek",
        "keys/grep?pattern=token",
        "keys/chunk/0",
        "keys/search?q=plain+token",
        "keys/search?q=token&mode=words",
        "search/all?q=token",
        "search/all?q=token&mode=hybrid",
    ] {
        let answer = server.get(&format!("/api/context/{path}"));
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        assert!(!answer.body.contains("ghp_Zk3"), "{path}: {}", answer.body);
        assert!(answer.body.contains("[secret:"), "{path}: {}", answer.body);
    }
}

#[test]
fn passages_are_found_by_meaning() {
    let (scene, server) = serving();
    registered(&server, "cats", "docs/cats.md");
    registered(&server, "cats-again", "docs/cats.md");
    registered(&server, "guide", "docs/guide.md");
    let best = |path: &str| {
        let answer = server.get(path);
        assert_eq!(answer.status, 200, "{}", answer.body);
        let best = &answer.json()["results"][0];
        format!("{} {} {}", best["context_id"].as_str().unwrap_or("none"), best["line_start"], best["chunk"])
    };
    let shown = [
        best("/api/context/cats/search?q=where+does+the+cat+rest"),
        best("/api/context/cats/search?q=payment+deadline&mode=meaning"),
        best("/api/context/cats-again/search?q=a+pet+on+the+couch&top_k=1"),
        best("/api/context/search/all?q=how+to+set+it+up&mode=meaning"),
        best("/api/context/search/all?q=invoice&mode=words"),
    ];
    expect![[r##"
        cats 1 "# Cats\n\nThe kitten sleeps on the sofa.\n"
        cats 5 "# Money\n\nThe invoice is due on Friday.\n"
        cats-again 1 "# Cats\n\nThe kitten sleeps on the sofa.\n"
        guide 1 "# Guide\n\nInstall it.\n"
        cats 1 "# Cats\n\nThe kitten sleeps on the sofa.\n\n# Money\n\nThe invoice is due on Friday.\n"
    "##]]
    .assert_eq(&(shown.join("\n") + "\n"));
    check(
        &server.get("/api/context/cats/search?q=payment&top_k=1"),
        &expect![[r##"
        200 {"mode":"meaning","notices":[],"results":[{"chunk":"# Money\n\nThe invoice is due on Friday.\n","context_id":"cats","full_length":39,"line":7,"line_end":7,"line_start":5,"name":"cats.md","position":40,"score":0.4075,"similarity":0.4075,"type":"document"}],"searched":1,"unread":[]}
    "##]],
    );
    // Changed files are read again, and missing ones are reported.
    scene.write("docs/cats.md", b"# Boats\n\nThe ship sails at dawn.\n");
    std::fs::remove_file(scene.path("docs/guide.md")).unwrap();
    let all = server.get("/api/context/search/all?q=vessel+leaves+in+the+morning&mode=meaning").json();
    assert_eq!(all["results"][0]["chunk"], "# Boats\n\nThe ship sails at dawn.\n");
    assert_eq!(all["unread"][0]["id"], "guide");
    assert_eq!(server.get("/api/context/guide/search?q=use").problem().0, 422);
    assert_eq!(server.get("/api/context/nope/search?q=use").problem(), (404, "context-not-found".into()));
    assert_eq!(server.get("/api/context/search/all").problem().0, 422);
}

#[test]
fn what_another_process_registers_is_there_at_once() {
    let (scene, server) = serving();
    assert_eq!(server.get("/api/context/guide/peek").problem().0, 404);
    assert_eq!(scene.spelunk(["context", "add", "docs/guide.md"]).run().code, 0);
    assert_eq!(server.get("/api/context/guide/peek").status, 200);
    // A file that the server may not read stays inaccessible, whoever registered it.
    scene.write("outside.md", b"outside");
    assert_eq!(scene.spelunk(["context", "add", "outside.md"]).run().code, 0);
    for path in ["outside/peek", "outside", "outside/search?q=outside"] {
        let answer = server.get(&format!("/api/context/{path}"));
        assert!(answer.status == 403 && !answer.body.contains("\"content\""), "{path}: {}", answer.body);
    }
}

#[test]
fn a_context_that_is_too_large_to_load_is_not_loaded() {
    let (scene, server) = serving();
    scene.write("docs/large.txt", "a line of text\n".repeat(1_000_000).as_bytes());
    registered(&server, "large", "docs/large.txt");
    assert_eq!(server.get("/api/context/large").problem(), (413, "source-unreadable".into()));
    assert_eq!(server.get("/api/context/large/chunk/4999?chunk_size=200").status, 200);
    assert_eq!(server.get("/api/context/large/chunk/5000?chunk_size=200").problem().0, 422);
}

#[test]
fn s4_19_personal_contexts_are_registered_and_combined_over_http() {
    let scene = Scene::new(&[
        ("me/foundation/profile.yaml", "name: Ada\n"),
        ("me/projects/house/contacts.yaml", "mason:\n  phone: 12\n"),
    ]);
    let server = Server::start(&scene, &[], None);
    let registered = server.post("/api/context/register/personal", &json!({ "source_path": "me" }));
    assert_eq!(
        (registered.status, registered.json()["added"].as_array().map(Vec::len)),
        (201, Some(2)),
        "{}",
        registered.body
    );
    let combined = server.get("/api/context/search/combined?project=house&working=identity:profile").json();
    let expected = json!({
        "user": { "profile": { "name": "Ada" } },
        "project": { "contacts": { "mason": { "phone": 12 } } },
        "working": { "identity:profile": { "name": "Ada" } },
    });
    assert_eq!(combined, expected);
    assert_eq!(server.post("/api/context/register/personal", &json!({ "source_path": "/etc" })).status, 403);
}

#[test]
fn s4_12_the_log_and_the_memory_are_seen_and_texts_are_evicted_over_http() {
    let (_scene, server) = serving();
    registered(&server, "guide", "docs/guide.md");
    server.get("/api/context/guide/peek");
    server.get("/api/context/guide");
    let log = server.get("/api/context/stats/log").json();
    let actions: Vec<&Value> = log["accesses"].as_array().unwrap().iter().map(|one| &one["action"]).collect();
    assert_eq!(actions, ["peek", "load"]);
    assert_eq!(server.get("/api/context/stats").json()["memory"]["cache_bytes"], 48);
    let evicted = server.post("/api/context/stats/evict", &json!({ "target_bytes": 47 }));
    check(
        &evicted,
        &expect![[r#"
        200 {"evicted":1,"expired":0,"memory":{"cache_bytes":0,"cache_bytes_max":50000000,"contexts_loaded":0,"held_bytes":0,"utilization":0.0}}
    "#]],
    );
    assert_eq!(server.post("/api/context/stats/evict", &json!({ "target_bytes": -1 })).status, 422);
}
