//! Consent over HTTP: a run waits before a tool changes something, until a request decides; over a crash, a cancel and
//! with tokens.

use serde_json::{Value, json};
use spelunk_testkit::ModelServer;

use super::client::Server;
use crate::scene::{QUESTION, Scene, short, wait_for};
use crate::tools::{BOOK, BOOKING, booked, scene, writing};

const ON: &str = "[ask]\ntools = \"book\"\n";
const SECRET: &str = "ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z5A";

fn serving(model: &ModelServer) -> (Scene, Server) {
    let scene = scene(&format!("{ON}{BOOK}"));
    let server = Server::start(&scene, &[], Some(model));
    (scene, server)
}

/// A run that waits, and what it waits for.
fn waiting(server: &Server) -> (String, Value) {
    let run = server.ask();
    let shown = wait_for("a call that waits", || {
        let shown = server.get(&format!("/v1/runs/{run}")).json();
        (shown["status"] == "waiting").then_some(shown)
    });
    (run, shown)
}

fn decide(server: &Server, run: &str, call: &str, decision: &str) -> super::client::Answer {
    server.post(&format!("/v1/runs/{run}/tools/{call}"), &json!({ "decision": decision }))
}

fn answer(server: &Server, run: &str) -> String {
    server.finish(run);
    server.get(&format!("/v1/runs/{run}/result")).json()["answer"].as_str().unwrap().to_owned()
}

/// The events about calls of tools.
fn told(scene: &Scene, run: &str) -> Vec<String> {
    let journal = scene.journal(run);
    let kind = |event: &Value| event["type"].as_str().unwrap().to_owned();
    journal.iter().map(kind).filter(|kind| kind.starts_with("effect.")).collect()
}

#[test]
fn a_run_waits_until_a_request_allows_or_denies_the_call() {
    let outcomes = [("allow", "seat 1", 1), ("deny", "the user does not allow this call of `book`", 0)];
    for (decision, said, n_booked) in outcomes {
        let model = writing(&[BOOKING]);
        let (scene, server) = serving(&model);
        let (run, shown) = waiting(&server);
        let mut pending = shown["pending"].clone();
        assert!(pending[0]["asked_at_ms"].take().as_u64().is_some_and(|at_ms| at_ms > 1_700_000_000_000));
        let arguments = json!({ "seat": "7A" });
        let call = json!({ "call": "0!0", "tool": "book", "arguments": arguments, "effect": "once", "asked_at_ms": null });
        assert_eq!(pending, json!([call]));
        let listed = server.get("/v1/runs?state=waiting").json();
        assert_eq!(
            (&listed["runs"][0]["run"], &listed["runs"][0]["status"]),
            (&json!(run), &json!("waiting"))
        );
        let tree = scene.spelunk(["show"]).run().stdout;
        assert!(tree.contains(r#"0!0  book  waits for consent  {"seat":"7A"}"#), "{tree}");
        assert_eq!(booked(&scene), "");
        let decided = decide(&server, &run, "0!0", decision);
        assert_eq!((decided.status, &decided.json()["run"]), (202, &json!(run)), "{}", decided.body);
        assert_eq!(answer(&server, &run), said);
        assert_eq!(booked(&scene).lines().count(), n_booked);
        let events = ["effect.asked", "effect.decided", "effect.started", "effect.settled"];
        assert_eq!(told(&scene, &run), events);
        let tail = scene.spelunk(["tail", short(&run)]).run().stdout;
        let word = if n_booked == 1 { "allowed" } else { "denied" };
        assert!(tail.contains(&format!("effect.decided   0!0 {word}")), "{tail}");
        let shown = server.get(&format!("/v1/runs/{run}")).json();
        assert_eq!((&shown["status"], &shown["pending"]), (&json!("answered"), &json!([])));
        assert_eq!(decide(&server, &run, "0!0", decision).problem(), (409, "call-decided".into()));
    }
}

#[test]
fn a_decision_about_something_else_is_refused_and_the_call_still_waits() {
    let model = writing(&[BOOKING]);
    let (scene, server) = serving(&model);
    let (run, _) = waiting(&server);
    for call in ["0!1", "0", "..", "0!0!0"] {
        assert_eq!(decide(&server, &run, call, "allow").problem(), (404, "not-found".into()), "{call}");
    }
    assert_eq!(decide(&server, "ffffffff", "0!0", "allow").problem(), (404, "run-not-found".into()));
    for body in [json!({}), json!({ "decision": "yes" }), json!({ "decision": "allow", "always": true })] {
        let refused = server.post(&format!("/v1/runs/{run}/tools/0!0"), &body);
        assert_eq!(refused.status, 422, "{body}: {}", refused.body);
    }
    assert_eq!(
        (server.get(&format!("/v1/runs/{run}")).json()["status"].clone(), booked(&scene)),
        (json!("waiting"), String::new())
    );
}

#[test]
fn secrets_in_arguments_are_not_shown() {
    let code = format!("try:\n    book('{SECRET}')\nexcept ToolError as error:\n    FINAL(str(error))");
    let model = writing(&[&code]);
    let (_scene, server) = serving(&model);
    let (_, shown) = waiting(&server);
    assert_eq!(shown["pending"][0]["arguments"], json!({ "seat": "[secret:github-token]" }));
}

#[test]
fn a_run_that_waits_can_be_cancelled_and_asks_again_when_it_is_resumed() {
    let model = writing(&[BOOKING]);
    let (scene, server) = serving(&model);
    let (run, _) = waiting(&server);
    assert_eq!(server.post(&format!("/v1/runs/{run}/cancel"), &json!({})).status, 202);
    server.finish(&run);
    let shown = server.get(&format!("/v1/runs/{run}")).json();
    assert_eq!((&shown["status"], &shown["pending"]), (&json!("cancelled"), &json!([])));
    assert_eq!(decide(&server, &run, "0!0", "allow").problem(), (409, "run-not-at-work".into()));
    assert_eq!(server.post(&format!("/v1/runs/{run}/resume"), &json!({})).status, 202);
    let decided = wait_for("the call again", || {
        Some(decide(&server, &run, "0!0", "allow")).filter(|decided| decided.status == 202)
    });
    assert_eq!(decided.json()["run"], json!(run));
    assert_eq!((answer(&server, &run), booked(&scene).lines().count()), ("seat 1".to_owned(), 1));
}

#[test]
fn the_time_in_which_a_run_waits_counts() {
    let model = writing(&[BOOKING]);
    let (scene, server) = serving(&model);
    let limits = json!({ "run_ms_max": 1_500 });
    let run = server.ask_with(&json!({ "question": QUESTION, "paths": ["notes"], "limits": limits }));
    server.finish(&run);
    let shown = server.get(&format!("/v1/runs/{run}")).json();
    assert_eq!((&shown["status"], &shown["pending"]), (&json!("limited"), &json!([])), "{shown}");
    assert_eq!(booked(&scene), "");
}

#[test]
fn a_server_that_is_killed_while_a_run_waits_asks_again() {
    let model = writing(&[BOOKING]);
    let (scene, server) = serving(&model);
    let (run, _) = waiting(&server);
    server.kill();
    let interrupted = scene.spelunk(["show", short(&run), "--json"]).run().stdout;
    let interrupted: Value = serde_json::from_str(&interrupted).unwrap();
    assert_eq!((&interrupted["status"], &interrupted["pending"]), (&json!("interrupted"), &json!([])));
    // The next server asks again.
    let server = Server::start(&scene, &[], Some(&model));
    wait_for("the second question", || {
        (told(&scene, &run) == ["effect.asked", "effect.asked"]).then_some(())
    });
    assert_eq!(booked(&scene), "");
    wait_for("the call again", || (decide(&server, &run, "0!0", "allow").status == 202).then_some(()));
    assert_eq!((answer(&server, &run), booked(&scene).lines().count()), ("seat 1".to_owned(), 1));
    let events = ["effect.asked", "effect.asked", "effect.decided", "effect.started", "effect.settled"];
    assert_eq!(told(&scene, &run), events);
}

#[test]
fn a_request_uses_some_of_the_tools_of_the_server_and_no_others() {
    let other = "[tools.other]\nkind = \"program\"\ncommand = [\"true\"]\n";
    let look = "[tools.look]\nkind = \"program\"\ncommand = [\"echo\", \"seen\"]\neffect = \"read\"\n";
    let scene = scene(&format!("[ask]\ntools = \"book, look\"\n{BOOK}{look}{other}"));
    let model = writing(&["FINAL(' '.join(name for name in ['book', 'look', 'other'] if name in dir()))"]);
    let server = Server::start(&scene, &[], Some(&model));
    let request = |tools: Value| json!({ "question": QUESTION, "paths": ["notes"], "strategy": "repl", "tools": tools });
    for (tools, there) in
        [(json!(["look"]), "look"), (json!(null), "book look"), (json!(["look", "book"]), "book look")]
    {
        let run = server.ask_with(&request(tools.clone()));
        server.finish(&run);
        let told = scene.journal(&run)[0]["tools"].to_string();
        for name in ["book", "look", "other"] {
            let is_told = told.contains(&format!(r#"\"name\":\"{name}\""#));
            assert_eq!(is_told, there.contains(name), "{tools} {name}: {told}");
        }
    }
    let none = server.ask_with(&request(json!([])));
    server.finish(&none);
    assert_eq!(scene.journal(&none)[0]["tools"], Value::Null);
    for tools in [json!(["other"]), json!(["nobody"]), json!([{ "command": ["true"] }]), json!("look")] {
        let refused = server.post("/v1/runs", &request(tools.clone()));
        assert_eq!(refused.status, 422, "{tools}: {}", refused.body);
    }
    let allowing = json!({ "question": QUESTION, "paths": ["notes"], "allow_tool": "book" });
    assert_eq!(server.post("/v1/runs", &allowing).status, 422);
}
