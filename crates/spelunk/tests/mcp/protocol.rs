//! The protocol itself: both eras, the capabilities, and shutdown.

use expect_test::{expect, expect_file};
use serde_json::{Value, json};

use super::client::{Client, LEGACY, MODERN};
use crate::scene::{NOTE, Scene};

#[test]
fn a_handshake_names_the_server_and_what_it_offers() {
    let scene = Scene::new(&[]);
    let mut client = Client::silent(&scene, &[], None);
    let answer = client.request(
        "initialize",
        json!({ "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } }),
    );
    expect![[r#"
        {
          "capabilities": {
            "prompts": {},
            "resources": {},
            "tools": {}
          },
          "instructions": "Spelunk keeps text that is too large for your window outside of it. Find passages with search, register text with context_add and read it with context_read and context_grep, run code over it with rlm_repl, and start a whole run with rlm_ask only when the user asks for one.",
          "protocolVersion": "2025-11-25",
          "serverInfo": {
            "name": "spelunk",
            "version": "0.1.0"
          }
        }"#]]
    .assert_eq(&format!("{:#}", answer["result"]));
    assert_eq!(client.close(), (0, String::new()));
}

/// The official TypeScript client validates every structured response against the schema, including errors.
#[test]
fn a_refusal_has_the_form_that_was_promised() {
    let scene = Scene::new(&[]);
    let mut client = Client::modern(&scene, &["--tools", "all"], None, &json!({}));
    let tools = client.request("tools/list", json!({}))["result"]["tools"].clone();
    for tool in tools.as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let refused = client.call(name, &json!({ "nonsense": 1 }));
        assert_eq!(refused["isError"], true, "{name}: {refused}");
        assert!(refused["structuredContent"]["error"]["message"].is_string(), "{name}: {refused}");
        let form = &tool["outputSchema"];
        assert_eq!(form["properties"]["error"]["type"], json!(["object", "null"]), "{name}: {form}");
        let allows_errors =
            form["anyOf"].as_array().is_none_or(|forms| forms.contains(&json!({ "required": ["error"] })));
        assert!(allows_errors && form.get("required").is_none(), "{name}: {form}");
    }
}

#[test]
fn every_older_revision_is_spoken() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18"] {
        let scene = Scene::new(&[]);
        let mut client = Client::silent(&scene, &[], None);
        let params = json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        assert_eq!(client.request("initialize", params)["result"]["protocolVersion"], version);
    }
}

#[test]
fn the_newest_revision_needs_no_handshake() {
    let scene = Scene::new(&NOTE);
    let mut client = Client::modern(&scene, &[], None, &json!({}));
    let found = client.request("server/discover", json!({}))["result"].clone();
    assert_eq!(
        found["supportedVersions"].as_array().unwrap().iter().filter(|one| **one == MODERN).count(),
        1,
        "{found}"
    );
    let listed = client.data("context_list", &json!({}));
    assert_eq!(listed, json!({ "contexts": [], "total": 0, "next_offset": null }));
    assert_eq!(client.close(), (0, String::new()));
}

fn tools(args: &[&str]) -> Vec<Value> {
    let scene = Scene::new(&[]);
    let mut client = Client::legacy(&scene, args, None, &json!({}));
    client.request("tools/list", json!({}))["result"]["tools"].as_array().unwrap().clone()
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn the_tools_are_as_recorded() {
    let all = tools(&["--tools", "all"]);
    expect_file!["golden/tools.json"].assert_eq(&format!("{:#}\n", json!(all)));
}

#[test]
fn a_client_is_shown_few_tools_unless_it_asks_for_more() {
    let essential = tools(&[]);
    assert_eq!(
        names(&essential),
        [
            "search",
            "context_list",
            "context_read",
            "context_grep",
            "context_add",
            "rlm_repl",
            "rlm_ask",
            "rlm_run",
            "notes"
        ]
    );
    let with_tasks = tools(&["--tools", "tasks"]);
    assert_eq!(names(&with_tasks)[..9], names(&essential)[..]);
    assert_eq!(names(&with_tasks)[9..], ["rlm_tasks", "task_list", "task_claim", "task_get", "task_submit"]);
    assert_eq!(tools(&["--tools", "all"]).len(), 40);
    let scene = Scene::new(&[]);
    scene.spelunk(["mcp", "--tools", "al"]).run().check(&expect![[r#"
        --- stderr
        error: there is no set of tools `al`

        hint: did you mean `all`? choose one of essential, tasks, all
        --- exit 2
    "#]]);
}

/// The whole list, schemas of arguments and of answers included, is in the window of every conversation. A token of such a
/// list is about four bytes.
#[test]
fn the_list_of_tools_takes_less_than_2500_tokens() {
    let n_bytes = json!({ "tools": tools(&[]) }).to_string().len();
    assert!(n_bytes / 4 < 2_500, "{} tokens", n_bytes / 4);
}

#[test]
fn looking_leaves_no_workspace_behind() {
    let scene = Scene::new(&NOTE);
    let mut client = Client::plain(&scene);
    client.call("context_list", &json!({}));
    client.call("rlm_status", &json!({}));
    assert_eq!(client.close(), (0, String::new()));
    assert!(!scene.exists(".spelunk"));
}

#[test]
fn prompts_are_filled_in() {
    let scene = Scene::new(&[]);
    let mut client = Client::plain(&scene);
    let listed = client.request("prompts/list", json!({}))["result"]["prompts"].clone();
    let names: Vec<&str> =
        listed.as_array().unwrap().iter().map(|prompt| prompt["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["rlm-session", "review-directory"]);
    let params = json!({ "name": "rlm-session", "arguments": { "question": "How many?", "paths": "src" } });
    let prompt = client.request("prompts/get", params)["result"]["messages"][0]["content"]["text"].clone();
    assert!(prompt.as_str().unwrap().ends_with("Where: src\n\nQuestion: How many?"), "{prompt}");
    let refused = client.request("prompts/get", json!({ "name": "rlm-session" }));
    assert_eq!(refused["error"]["message"], "the argument `question` is missing");
}

#[test]
fn contexts_and_variables_have_addresses() {
    let scene = Scene::new(&NOTE);
    let mut client = Client::plain(&scene);
    client.call("context_register", &json!({ "path": "notes/a.md" }));
    client.call("state_set", &json!({ "key": "so far", "value": "42" }));
    let listed = client.request("resources/list", json!({}))["result"]["resources"].clone();
    assert_eq!(listed[0]["uri"], "spelunk://context/a");
    let read = |client: &mut Client, uri: &str| {
        let answer = client.request("resources/read", json!({ "uri": uri }));
        match answer["result"]["contents"][0]["text"].as_str() {
            Some(text) => text.to_owned(),
            None => format!("{}", answer["error"]["message"]),
        }
    };
    assert_eq!(read(&mut client, "spelunk://context/a"), NOTE[0].1);
    assert_eq!(read(&mut client, "rlm://vars/so%20far"), "42");
    assert_eq!(
        read(&mut client, "spelunk://context/b"),
        r#""`spelunk://context/b`: there is no context `b`""#
    );
    assert_eq!(
        read(&mut client, "file:///etc/passwd"),
        r#""`file:///etc/passwd`: it is not a URI of this server""#
    );
}
