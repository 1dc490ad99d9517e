//! Secrets in documents: they are not sent, stored or shown, unless the user allows it.

use expect_test::expect;
use spelunk_testkit::{ModelServer, status};

use crate::scene::{QUESTION, Scene, answering, to_all};

const TOKEN: &str = "ghp_Zk3vQ9xT7bLmW2rY8nHc5JdPf4SgA1uEoK6i";
const REPLY: &str = "bob.\n\n```evidence\na.txt:1: user = bob\n```";

fn scene() -> Scene {
    let text = format!("user = bob\ntoken = {TOKEN}\nThe magic number is 42.\n");
    Scene::new(&[("notes/a.txt", &text), ("notes/.env", "KEY=1\n")])
}

#[test]
fn a_token_in_a_file_is_not_sent_and_that_is_said() {
    let (scene, server) = (scene(), answering(REPLY));
    scene.ask(&server).run().check(&expect![[r#"
        bob.
          a.txt:1  user = bob
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        Skipped: 1 secret
        Redacted: 1 secret (keep it with `--allow-secrets`)
        1 file · 84 B read · 1 call · 120 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
    let bodies: Vec<String> = server.requests().into_iter().map(|request| request.body).collect();
    assert_eq!(bodies.iter().filter(|body| body.contains(TOKEN)).count(), 0);
    assert_eq!(bodies.iter().filter(|body| body.contains("magic number is 42")).count(), 1);
    let holding = super::files_below(&scene.path(".spelunk"));
    let holds = |path: &&std::path::PathBuf| {
        let bytes = std::fs::read(path).unwrap();
        bytes.windows(TOKEN.len()).any(|window| window == TOKEN.as_bytes())
    };
    assert_eq!(holding.iter().filter(holds).count(), 0);
}

#[test]
fn a_token_is_sent_where_a_person_says_so() {
    let (scene, server) = (scene(), answering(REPLY));
    scene.spelunk(["ask", QUESTION, "notes", "--allow-secrets"]).server(&server).run().check(&expect![[r#"
        bob.
          a.txt:1  user = bob
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        2 files · 90 B read · 1 call · 120 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
    let sent = server.requests().iter().filter(|request| request.body.contains(TOKEN)).count();
    assert_eq!(sent, 1);
}

#[test]
fn a_person_may_say_so_for_one_file() {
    let (scene, server) = (scene(), answering(REPLY));
    scene.write("notes/b.txt", format!("other = {TOKEN}\n").as_bytes());
    let ask = ["ask", QUESTION, "notes", "--allow-secret", "b.txt"];
    scene.spelunk(ask).server(&server).run().check(&expect![[r#"
        bob.
          a.txt:1  user = bob
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        Skipped: 1 secret
        Redacted: 1 secret (keep it with `--allow-secrets`)
        2 files · 133 B read · 1 call · 120 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
    let requests = server.requests();
    let prompt = requests.last().unwrap().prompt();
    let shown = [format!("token = {TOKEN}"), format!("other = {TOKEN}")].map(|line| prompt.contains(&line));
    assert_eq!(shown, [false, true]);
}

#[test]
fn a_resumed_run_keeps_the_word_it_was_given() {
    let server = ModelServer::start_blocking([to_all().fault(status(400)).reply(REPLY).usage(100, 20)]);
    let scene = scene();
    let ask = scene.spelunk(["ask", QUESTION, "notes", "--allow-secrets"]).server(&server);
    assert_eq!(ask.run().code, 1);
    assert_eq!(scene.spelunk(["resume"]).run().code, 0);
    let sent: Vec<bool> = server
        .requests()
        .iter()
        .filter(|request| request.method == "POST")
        .map(|request| request.body.contains(TOKEN))
        .collect();
    assert_eq!(sent, [true, true]);
}

#[test]
fn passages_without_a_model_are_without_tokens_too() {
    scene().spelunk(["ask", "bob token", "notes"]).run().check(&expect![[r#"
        No model is configured. Best-matching passages:

        a.txt:2
            user = bob
            **token = [secret:github-token]**
            The magic number is 42.
        --- stderr

        Skipped: 1 secret
        Redacted: 1 secret (keep it with `--allow-secrets`)
        1 file · 84 B searched
        For an answer, set ANTHROPIC_API_KEY or OPENAI_API_KEY, start a local server such as Ollama, or run `spelunk doctor`.
        --- exit 4
    "#]]);
}

#[test]
fn a_plan_says_what_was_taken_out() {
    let scene = scene();
    let ran = scene.spelunk(["plan", "notes", "--json"]).run();
    expect![[r#"
        Skipped: 1 secret
        Redacted: 1 secret (keep it with `--allow-secrets`)
    "#]]
    .assert_eq(&ran.stderr);
    assert_eq!(scene.normalise_json(&ran.stdout)["redacted"], serde_json::json!({ "github-token": 1 }));
}
