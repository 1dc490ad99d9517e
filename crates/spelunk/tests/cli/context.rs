//! `spelunk context add`, `list`, `rm` and `stats`: what is registered, under which id, and how it is replaced or
//! removed.

use expect_test::expect;
use serde_json::Value;

use crate::scene::Scene;

pub(super) const FILES: [(&str, &str); 4] = [
    ("docs/guide.md", "# Guide\n\nInstall it.\n\n## Use\n\nRun it.\n"),
    ("docs/guide.txt", "The guide as plain text.\n"),
    ("docs/sub/deep.md", "Deep words.\n"),
    ("docs/.env", "KEY=1\n"),
];

/// A scene with the guide registered.
pub(super) fn with_guide() -> Scene {
    let scene = Scene::new(&FILES);
    assert_eq!(scene.spelunk(["context", "add", "docs/guide.md"]).run().stdout, "guide\n");
    scene
}

/// The registered ids, in order.
pub(super) fn ids(scene: &Scene) -> Vec<String> {
    let ran = scene.spelunk(["context", "list", "--json"]).run();
    let contexts: Vec<Value> = serde_json::from_str(&ran.stdout).unwrap();
    let mut ids: Vec<String> =
        contexts.iter().map(|context| context["id"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    ids
}

#[test]
fn looking_before_anything_is_added_leaves_nothing_behind() {
    let scene = Scene::new(&FILES);
    scene.spelunk(["context", "list"]).run().check(&expect![[r#"
        --- stderr
        no contexts; add one with `spelunk context add PATH`
        --- exit 0
    "#]]);
    scene.spelunk(["context", "stats"]).run().check(&expect![[r#"
        0 contexts
        0 peeks, 0 greps, 0 pages, 0 loads · memory for texts up to 50.0 MB
        --- stderr
        --- exit 0
    "#]]);
    assert!(!scene.exists(".spelunk"));
}

#[test]
fn a_file_is_added_under_its_name_and_only_once() {
    let scene = with_guide();
    scene.spelunk(["context", "add", "docs/guide.md"]).run().check(&expect![[r#"
        guide
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(["context", "add", "./docs/guide.txt"]).run().check(&expect![[r#"
        guide.txt
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(["context", "list"]).run().check(&expect![[r#"
        guide      document    lazy    file   prose                38 B, never read
        guide.txt  document    lazy    file   prose                25 B, never read
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn a_file_is_added_under_an_id_of_ones_own() {
    let scene = Scene::new(&FILES);
    let add = ["context", "add", "docs/guide.md", "--id", "project:guide", "--kind", "project", "--json"];
    let ran = scene.spelunk(add).run();
    expect![[r#"
        {
          "added": [
            {
              "access_stats": {
                "full_loads": 0,
                "greps": 0,
                "pages": 0,
                "peeks": 0
              },
              "content_type": "prose",
              "id": "project:guide",
              "last_accessed_ms": null,
              "last_modified_ms": 0,
              "name": "guide.md",
              "policy": "lazy",
              "size_bytes": 38,
              "source": "file",
              "type": "project"
            }
          ],
          "already": [],
          "skipped": {}
        }
    "#]]
    .assert_eq(&format!("{:#}\n", scene.normalise_json(&ran.stdout)));
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
}

#[test]
fn the_files_of_a_directory_are_added_by_a_pattern() {
    let scene = Scene::new(&FILES);
    let add = ["context", "add", "docs", "--pattern", "**/*.md", "--prefix", "docs:"];
    scene.spelunk(add).run().check(&expect![[r#"
        docs:guide
        docs:deep
        --- stderr
        2 registered, 0 already known
        --- exit 0
    "#]]);
    scene.spelunk(add).run().check(&expect![[r#"
        --- stderr
        0 registered, 2 already known
        --- exit 0
    "#]]);
    let ran = scene.spelunk(["context", "add", "docs", "--json"]).run();
    expect![[r#"{"added":[{"access_stats":{"full_loads":0,"greps":0,"pages":0,"peeks":0},"content_type":"prose","id":"guide","last_accessed_ms":null,"last_modified_ms":0,"name":"guide.txt","policy":"lazy","size_bytes":25,"source":"file","type":"document"}],"already":["docs:guide"],"skipped":{}}"#]].assert_eq(&scene.normalise_json(&ran.stdout).to_string());
    assert_eq!(ran.stderr, "1 registered, 1 already known\n");
    assert_eq!(ids(&scene), ["docs:deep", "docs:guide", "guide"]);
}

#[test]
fn standard_input_is_kept_as_text() {
    let scene = Scene::new(&[]);
    let add = scene.spelunk(["context", "add", "-", "--id", "log"]).stdin("one\ntwo\n");
    add.run().check(&expect![[r#"
        log
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(["context", "load", "log"]).run().check(&expect![[r#"
        one
        two
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn a_kind_of_ones_own_is_kept() {
    let scene = Scene::new(&FILES);
    scene.spelunk(["context", "add", "docs/guide.md", "--kind", "recipe"]).run().check(&expect![[r#"
        guide
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(["context", "list", "--kind", "recipe"]).run().check(&expect![[r#"
        guide  recipe      lazy    file   prose                38 B, never read
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(["context", "list", "--kind", "memory"]).run().check(&expect![[r#"
        --- stderr
        no contexts of the kind memory
        --- exit 0
    "#]]);
    scene.spelunk(["context", "list", "--kind", "recipes"]).run().check(&expect![[r#"
        --- stderr
        error: there is no kind `recipes`

        hint: the kinds are `identity`, `project`, `temporal`, `document`, `memory`, `tool_result`, `web`, `recipe`
        --- exit 2
    "#]]);
}

#[test]
fn a_duplicate_id_is_refused_unless_it_is_replaced() {
    let scene = with_guide();
    let add = ["context", "add", "docs/guide.txt", "--id", "guide"];
    scene.spelunk(add).run().check(&expect![[r#"
        --- stderr
        error: the context `guide` already exists

        hint: use another id, or pass `--replace` to replace the context
        --- exit 1
    "#]]);
    scene.spelunk(["context", "peek", "guide", "-n", "1", "-q"]).run().check(&expect![[r#"
        # Guide
        [6 more lines]
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(add).arg("--replace").run().check(&expect![[r#"
        guide
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(["context", "peek", "guide", "-q"]).run().check(&expect![[r#"
        The guide as plain text.
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn a_file_changes_its_kind_only_where_that_is_asked_for() {
    let scene = with_guide();
    let add = ["context", "add", "docs/guide.md", "--kind", "project"];
    scene.spelunk(add).run().check(&expect![[r#"
        --- stderr
        error: the context `guide` already exists

        hint: use another id, or pass `--replace` to replace the context
        --- exit 1
    "#]]);
    scene.spelunk(add).arg("--replace").run().check(&expect![[r#"
        guide
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(["context", "list"]).run().check(&expect![[r#"
        guide  project     lazy    file   prose                38 B, never read
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn what_is_removed_is_gone_from_the_registry_and_its_file_stays() {
    let scene = with_guide();
    scene.spelunk(["context", "rm", "guide"]).run().check(&expect![[r#"
        removed guide
        --- stderr
        --- exit 0
    "#]]);
    assert_eq!(ids(&scene), [""; 0]);
    assert!(scene.exists("docs/guide.md"));
    scene.spelunk(["context", "add", "docs/guide.md"]).run();
    let ran = scene.spelunk(["context", "rm", "guide", "--json"]).run();
    expect![[r#"{"removed":{"access_stats":{"full_loads":0,"greps":0,"pages":0,"peeks":0},"content_type":"prose","id":"guide","last_accessed_ms":null,"last_modified_ms":0,"name":"guide.md","policy":"lazy","size_bytes":38,"source":"file","type":"document"}}"#]].assert_eq(&scene.normalise_json(&ran.stdout).to_string());
}

#[test]
fn the_list_as_json_is_complete() {
    let scene = with_guide();
    scene.spelunk(["context", "add", "-", "--id", "in"]).stdin("x\n").run();
    let ran = scene.spelunk(["context", "list", "--json"]).run();
    expect![[r#"
        [
          {
            "access_stats": {
              "full_loads": 0,
              "greps": 0,
              "pages": 0,
              "peeks": 0
            },
            "content_type": "prose",
            "id": "guide",
            "last_accessed_ms": null,
            "last_modified_ms": 0,
            "name": "guide.md",
            "policy": "lazy",
            "size_bytes": 38,
            "source": "file",
            "type": "document"
          },
          {
            "access_stats": {
              "full_loads": 0,
              "greps": 0,
              "pages": 0,
              "peeks": 0
            },
            "content_type": null,
            "id": "in",
            "last_accessed_ms": null,
            "last_modified_ms": null,
            "name": "in",
            "policy": "lazy",
            "size_bytes": 2,
            "source": "inline",
            "type": "document"
          }
        ]
    "#]]
    .assert_eq(&format!("{:#}\n", scene.normalise_json(&ran.stdout)));
}

#[test]
fn looks_are_counted_from_one_process_to_the_next() {
    let scene = with_guide();
    scene.spelunk(["context", "peek", "guide"]).run();
    scene.spelunk(["context", "grep", "guide", "it"]).run();
    scene.spelunk(["context", "grep", "guide", "use"]).run();
    scene.spelunk(["context", "chunk", "guide"]).run();
    scene.spelunk(["context", "load", "guide"]).run();
    scene.spelunk(["context", "list"]).run().check(&expect![[r#"
        guide  document    lazy    file   prose                38 B, read 5 times, last DATE
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(["context", "stats"]).run().check(&expect![[r#"
        1 context
          document    1
        1 peek, 2 greps, 1 page, 1 load · memory for texts up to 50.0 MB
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(["context", "stats", "--json"]).run().check(&expect![[r#"
        {"access_patterns":{"full_loads":1,"greps":2,"load_to_peek_ratio":1.0,"pages":1,"peeks":1,"total_accesses":5},"memory":{"cache_bytes":0,"cache_bytes_max":50000000,"contexts_loaded":0,"held_bytes":0,"utilization":0.0},"store":{"by_type":{"document":1,"identity":0,"memory":0,"project":0,"temporal":0,"tool_result":0,"web":0},"max_cache_bytes":50000000,"total_contexts":1}}
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn processes_that_add_at_once_lose_nothing() {
    let scene = Scene::new(&[]);
    let names: Vec<String> = (0..6).map(|n| format!("n{n}.md")).collect();
    for name in &names {
        scene.write(name, b"text\n");
    }
    let started: Vec<_> = names.iter().map(|name| scene.spelunk(["context", "add", name]).start()).collect();
    let codes: Vec<_> =
        started.into_iter().map(|adding| adding.wait_with_output().unwrap().status.code()).collect();
    assert_eq!(codes, [Some(0); 6]);
    assert_eq!(ids(&scene), ["n0", "n1", "n2", "n3", "n4", "n5"]);
}

#[test]
fn a_secret_is_added_and_read_only_where_that_is_said() {
    let scene = Scene::new(&FILES);
    scene.spelunk(["context", "add", "docs/.env"]).run().check(&expect![[r#"
        --- stderr
        error: could not read the context `.env`
          caused by: `DIR/work/docs/.env` may contain secrets and was not read

        hint: exclude it, or pass `--allow-secrets` if it must be read
        --- exit 1
    "#]]);
    scene.spelunk(["context", "add", "docs/.env", "--allow-secrets"]).run().check(&expect![[r#"
        .env
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(["context", "load", ".env"]).run().check(&expect![[r#"
        --- stderr
        error: could not read the context `.env`
          caused by: `DIR/work/docs/.env` may contain secrets and was not read

        hint: exclude it, or pass `--allow-secrets` if it must be read
        --- exit 1
    "#]]);
    scene.spelunk(["context", "load", ".env", "--allow-secrets"]).run().check(&expect![[r#"
        KEY=1
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn s4_02_a_context_of_every_kind_outlives_its_command_and_shows_its_policy() {
    let scene = Scene::new(&FILES);
    let kinds = ["identity", "project", "temporal", "document", "memory", "tool_result", "web"];
    for kind in kinds {
        let add = ["context", "add", "-", "--id", kind, "--kind", kind];
        assert_eq!(scene.spelunk(add).stdin("Words.\n").run().code, 0, "{kind}");
        let loaded = scene.spelunk(["context", "load", kind]).run();
        assert_eq!((loaded.stdout.as_str(), loaded.code), ("Words.\n", 0), "{kind}");
    }
    scene.spelunk(["context", "add", "docs/guide.md", "--kind", "web", "--policy", "ttl:60"]).run();
    let ran = scene.spelunk(["context", "list", "--json"]).run();
    let contexts: Vec<Value> = serde_json::from_str(&ran.stdout).unwrap();
    let policies: Vec<String> =
        contexts.iter().map(|context| format!("{} {}", context["id"], context["policy"])).collect();
    expect![[r#"
        "identity" "hot"
        "project" "lazy"
        "temporal" "refresh"
        "document" "lazy"
        "memory" "query"
        "tool_result" "ttl"
        "web" "lazy"
        "guide" "ttl""#]]
    .assert_eq(&policies.join("\n"));
    scene.spelunk(["context", "add", "-", "--id", "x", "--policy", "session"]).stdin("x").run().check(
        &expect![[r#"
        --- stderr
        error: this command does not support the policy `session`

        hint: the policies are `hot`, `lazy`, `refresh`, `query` and `ttl:SECONDS`
        --- exit 2
    "#]],
    );
}

#[test]
fn s4_15_a_directory_of_personal_contexts_comes_to_life() {
    let graph = r#"{"nodes": [{"id": "a", "label": "Ada", "domain": "people"}], "edges": [{"source": "a", "target": "a"}, {"source": "a", "target": "gone"}]}"#;
    let scene = Scene::new(&[
        ("me/foundation/profile.yaml", "name: Ada\nlanguages: [en, fr]\n"),
        ("me/projects/house/contacts.yaml", "mason:\n  phone: 12\n"),
        ("me/temporal/upcoming_events.json", "[{\"day\": \"Monday\"}]\n"),
        ("me/memory/graph.json", graph),
        ("me/collection.yaml", "notes: notes.md\ngone: gone.md\n"),
        ("me/notes.md", "# Plan\nBuild it.\n"),
    ]);
    scene.spelunk(["context", "personal", "me"]).run().check(&expect![[r#"
        identity:profile
        project:house:contacts
        temporal:upcoming_events
        memory:graph_overview
        memory:domain:people
        notes
        --- stderr
        6 registered, 0 already known, skipped: 1 missing
        --- exit 0
    "#]]);
    let combined =
        ["context", "combined", "house", "--working", "notes", "--working", "temporal:upcoming_events"];
    scene.spelunk(combined).run().check(&expect![[r#"
        {"project":{"contacts":{"mason":{"phone":12}}},"user":{"profile":{"languages":["en","fr"],"name":"Ada"}},"working":{"notes":{"Plan":"Build it."},"temporal:upcoming_events":[{"day":"Monday"}]}}
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(["context", "load", "memory:graph_overview"]).run().check(&expect![[r#"
        Memory graph
        Nodes: 1
        Edges: 2
        Edges to missing nodes: 1

        Domains:
          - people (1)

        Most used nodes (1 of 1):
          - Ada (node)
        --- stderr
        --- exit 0
    "#]]);
    assert!(
        scene
            .spelunk(["context", "personal", "me"])
            .run()
            .stderr
            .starts_with("0 registered, 4 already known")
    );
}

#[test]
fn s4_10_a_registry_of_another_program_is_taken_over() {
    let scene = with_guide();
    let guide = scene.path("docs/guide.md").display().to_string();
    let registry = format!(
        r#"{{"version": 1, "updated_at": "2026-01-01T00:00:00", "contexts": [
            {{"id": "identity:guide", "name": "Guide", "type": "identity", "source_path": "{guide}", "metadata": {{"size_bytes": 38}}}},
            {{"id": "web:page", "name": "Page", "type": "web", "source_path": "https://example.org/x", "metadata": {{}}}}]}}"#
    );
    scene.write(".spelunk/registry.json", registry.as_bytes());
    scene.spelunk(["context", "list"]).run().check(&expect![[r#"
        identity:guide  identity    hot     file   -                       -, never read
        web:page        web         lazy    uri    -                       -, never read
        --- stderr
        --- exit 0
    "#]]);
    assert!(scene.spelunk(["context", "load", "identity:guide"]).run().stdout.starts_with("# Guide"));
}

#[test]
fn s4_26_a_context_that_is_usually_loaded_is_suggested_to_be_loaded() {
    let scene = with_guide();
    let peek = || scene.spelunk(["context", "peek", "guide"]).run().stderr;
    assert_eq!(peek(), "hint: grep `guide` for a keyword\n");
    for _ in 0..3 {
        scene.spelunk(["context", "load", "guide"]).run();
    }
    assert_eq!(
        peek(),
        "hint: load `guide`, as was done after most reads of it (3 times), or grep `guide` for a keyword\n"
    );
}

#[test]
fn s4_12_the_log_tells_what_was_looked_at_by_every_process() {
    let scene = with_guide();
    scene.spelunk(["context", "peek", "guide"]).run();
    scene.spelunk(["context", "grep", "guide", "install"]).run();
    let ran = scene.spelunk(["context", "log"]).run();
    let without_time: Vec<&str> = ran.stdout.lines().map(|line| line.split_once(' ').unwrap().1).collect();
    assert_eq!(without_time, ["peek   guide 10", "grep   guide install"], "{}", ran.stdout);
    let log: Value = serde_json::from_str(&scene.spelunk(["context", "log", "--json"]).run().stdout).unwrap();
    let last = &log["accesses"][1];
    assert_eq!((&last["action"], &last["context_id"]), (&"grep".into(), &"guide".into()));
    assert_eq!((&last["params"], last["timestamp"].is_string()), (&"install".into(), true));
    let stats: Value =
        serde_json::from_str(&scene.spelunk(["context", "stats", "--json"]).run().stdout).unwrap();
    let patterns = &stats["access_patterns"];
    assert_eq!((&patterns["total_accesses"], &patterns["load_to_peek_ratio"]), (&2.into(), &0.0.into()));
}

#[test]
fn s4_24_texts_past_their_time_are_evicted() {
    let scene = with_guide();
    scene.spelunk(["context", "add", "-", "--id", "new", "--policy", "ttl:600"]).stdin("x").run();
    scene.spelunk(["context", "add", "-", "--id", "old", "--policy", "ttl:0"]).stdin("x").run();
    scene.spelunk(["context", "evict"]).run().check(&expect![[r#"
        removed 1 expired
        --- stderr
        --- exit 0
    "#]]);
    let left: Vec<Value> =
        serde_json::from_str(&scene.spelunk(["context", "list", "--json"]).run().stdout).unwrap();
    let left: Vec<&str> = left.iter().map(|context| context["id"].as_str().unwrap()).collect();
    assert_eq!(left, ["guide", "new"]);
}
