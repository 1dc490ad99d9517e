//! Clients that send invalid or malicious input: the server responds, stays up, and reveals nothing.

use serde_json::{Value, json};

use super::client::Client;
use crate::scene::{NOTE, Scene};

fn is_alive(client: &mut Client) {
    assert_eq!(client.data("context_list", &json!({}))["total"], 0);
}

#[test]
fn paths_outside_of_the_roots_are_refused_alike_whether_or_not_they_exist() {
    let scene = Scene::new(&NOTE);
    std::fs::write(scene.root().join("outside.txt"), "secret of the neighbour\n").unwrap();
    let mut client = Client::plain(&scene);
    let outside = scene.root().join("outside.txt").display().to_string();
    for path in
        ["../outside.txt", "notes/../../outside.txt", "/etc/passwd", "/nowhere/at/all", "..", "/", &outside]
    {
        for (tool, arguments) in [
            ("context_register", json!({ "path": path })),
            ("rlm_query", json!({ "question": "what?", "paths": [path] })),
            ("rlm_plan", json!({ "paths": [path] })),
            ("rlm_repl", json!({ "code": "print(context)", "paths": [path] })),
        ] {
            let said = client.text(tool, &arguments);
            assert!(said.contains("outside the directories that may be read"), "{tool} {path}: {said}");
        }
    }
    is_alive(&mut client);
}

#[test]
fn no_client_names_a_database_or_a_bucket() {
    let scene = Scene::new(&NOTE);
    let mut client = Client::plain(&scene);
    for url in
        ["postgres://ann:hunter2@127.0.0.1:1/shop", "postgresql:///shop?host=/tmp", "s3://shelf/hunter2"]
    {
        for (tool, arguments) in [
            ("context_register", json!({ "path": url })),
            ("rlm_query", json!({ "question": "what?", "paths": [url] })),
            ("rlm_plan", json!({ "paths": [url] })),
        ] {
            let said = client.text(tool, &arguments);
            assert!(said.contains("a client cannot name a database or a bucket"), "{tool} {url}: {said}");
            assert!(!said.contains("hunter2"), "{said}");
        }
    }
    is_alive(&mut client);
}

#[cfg(unix)]
#[test]
fn links_that_lead_out_are_refused() {
    let scene = Scene::new(&NOTE);
    std::fs::write(scene.root().join("outside.txt"), "secret of the neighbour\n").unwrap();
    std::os::unix::fs::symlink(scene.root().join("outside.txt"), scene.path("link.txt")).unwrap();
    std::os::unix::fs::symlink(scene.root(), scene.path("up")).unwrap();
    std::os::unix::fs::symlink(scene.path("notes/a.md"), scene.path("inside.md")).unwrap();
    let mut client = Client::plain(&scene);
    for path in ["link.txt", "up/outside.txt", "up"] {
        let said = client.text("context_register", &json!({ "path": path }));
        assert!(said.contains("outside the directories"), "{path}: {said}");
    }
    // Links in a directory are not followed.
    let said = client
        .call("rlm_query", &json!({ "question": "what is the secret of the neighbour?", "paths": ["."] }));
    assert!(!said.to_string().contains("secret of the neighbour\\n"), "{said}");
    assert!(client.text("context_register", &json!({ "path": "inside.md" })).starts_with("registered"));
}

#[test]
fn roots_can_be_named() {
    let scene = Scene::new(&[("a/x.txt", "x\n"), ("b/y.txt", "y\n"), ("c/z.txt", "z\n")]);
    let mut client = Client::legacy(&scene, &["--root", "a", "--root", "b"], None, &json!({}));
    assert!(client.text("context_register", &json!({ "path": "a/x.txt" })).starts_with("registered"));
    assert!(client.text("context_register", &json!({ "path": "b/y.txt" })).starts_with("registered"));
    assert!(client.text("context_register", &json!({ "path": "c/z.txt" })).starts_with("FAILED"));
    let ran = scene.spelunk(["mcp", "--root", "nowhere"]).run();
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""));
}

#[test]
fn lines_that_are_no_messages_are_survived() {
    let scene = Scene::new(&NOTE);
    let mut client = Client::plain(&scene);
    for line in [
        "",
        "not json",
        "{",
        "[]",
        "null",
        "42",
        "\u{0}",
        "{\"jsonrpc\":\"2.0\"}",
        "{\"id\":1}",
        "[[[[[[",
        "\"x\"",
    ] {
        client.send_line(line);
    }
    client.send_line(&format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000)));
    client.send(&json!({ "jsonrpc": "2.0", "id": null, "method": "tools/list" }));
    client.send(&json!({ "jsonrpc": "2.0", "id": 7, "result": {} }));
    client.send(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 99 } }),
    );
    is_alive(&mut client);
    assert_eq!(client.close(), (0, String::new()));
}

#[test]
fn messages_show_paths_as_the_client_wrote_them() {
    let scene = Scene::new(&[(".env", "A=1\n")]);
    let mut client = Client::plain(&scene);
    for (tool, arguments) in
        [("context_add", json!({ "path": ".env" })), ("rlm_plan", json!({ "paths": [".env"] }))]
    {
        let said = client.call(tool, &arguments).to_string();
        assert!(said.contains("`.env`") && !said.contains("--allow-secrets"), "{said}");
        assert!(!said.contains(scene.root().to_str().unwrap()), "{said}");
    }
}

#[test]
fn a_long_request_is_answered() {
    let scene = Scene::new(&NOTE);
    let mut client = Client::plain(&scene);
    let text = "x".repeat(17 << 20);
    let said = client.text("context_add", &json!({ "id": "a", "text": text }));
    assert!(
        said.starts_with("FAILED error: the argument `text` has more than 10000000 characters"),
        "{said}"
    );
    assert!(client.request("tools/list", json!({ "cursor": text }))["result"]["tools"].is_array());
    is_alive(&mut client);
}

#[test]
fn unknown_methods_and_tools_are_protocol_errors() {
    let scene = Scene::new(&NOTE);
    let mut client = Client::plain(&scene);
    assert_eq!(client.request("no/such", json!({}))["error"]["code"], -32601);
    let answer = client.request("tools/call", json!({ "name": "context_lst", "arguments": {} }));
    assert_eq!(answer["error"]["code"], -32602);
    assert_eq!(answer["error"]["message"], "there is no tool `context_lst`; did you mean `context_list`?");
    assert_eq!(
        client.request("tools/call", json!({ "arguments": {} }))["error"]["code"]
            .as_i64()
            .map(|code| code < 0),
        Some(true)
    );
    is_alive(&mut client);
}

/// Calls every tool with every kind of wrong argument.
#[test]
fn no_argument_breaks_a_tool() {
    let scene = Scene::new(&NOTE);
    let mut client = Client::plain(&scene);
    let tools = client.request("tools/list", json!({}))["result"]["tools"].clone();
    let values = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1e300),
        json!(u64::MAX),
        json!(""),
        json!("\u{0}\u{1b}[31m"),
        json!([]),
        json!([[[{}]]]),
        json!({ "a": {} }),
        json!("x".repeat(5000)),
    ];
    for tool in tools.as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let properties: Vec<&String> =
            tool["inputSchema"]["properties"].as_object().unwrap().keys().collect();
        for value in &values {
            let arguments: serde_json::Map<String, Value> =
                properties.iter().map(|property| ((*property).clone(), value.clone())).collect();
            let result = client.call(name, &json!(arguments));
            let said = result["content"][0]["text"].as_str().unwrap();
            assert!(!said.contains('\u{1b}'), "{name}: {said}");
        }
        let unknown = client.text(name, &json!({ "no_such_argument": 1 }));
        assert!(unknown.starts_with("FAILED"), "{name}: {unknown}");
    }
    // Some of those arguments may have been registered as names.
    assert!(client.data("context_list", &json!({}))["total"].is_u64());
    let (code, stderr) = client.close();
    assert_eq!(code, 0, "{stderr}");
    assert!(!stderr.contains("panicked"), "{stderr}");
}

#[test]
fn a_message_that_is_too_long_is_dropped_and_the_next_is_answered() {
    let scene = Scene::new(&NOTE);
    let mut client = Client::plain(&scene);
    let long = "x".repeat(17 * 1024 * 1024);
    client.begin("tools/call", json!({ "name": "state_set", "arguments": { "key": "k", "value": long } }));
    is_alive(&mut client);
}

#[test]
fn a_request_state_that_is_made_up_is_refused() {
    let scene = Scene::new(&NOTE);
    let mut client = Client::modern(&scene, &[], None, &json!({ "sampling": {} }));
    for state in ["", "0", "../../x", &"f".repeat(32)] {
        let params = json!({ "name": "rlm_query", "arguments": { "question": "q" }, "requestState": state, "inputResponses": {} });
        let answer = client.request("tools/call", params);
        let said = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(said.contains("the request state is not valid"), "{said}");
    }
    is_alive(&mut client);
}

#[test]
fn fifty_calls_at_once_are_all_answered() {
    let scene = Scene::new(&NOTE);
    let mut client = Client::plain(&scene);
    client.call("context_register", &json!({ "path": "notes/a.md", "context_id": "a" }));
    let ids: Vec<u64> = (0..50)
        .map(|_| {
            client.begin(
                "tools/call",
                json!({ "name": "context_grep", "arguments": { "context_id": "a", "pattern": "magic" } }),
            )
        })
        .collect();
    let mut open: std::collections::BTreeSet<u64> = ids.into_iter().collect();
    while !open.is_empty() {
        let line = client.next();
        assert_eq!(line["result"]["structuredContent"]["total_matches"], 1);
        assert!(open.remove(&line["id"].as_u64().unwrap()));
    }
}
