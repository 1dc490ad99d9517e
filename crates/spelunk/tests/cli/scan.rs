//! Which files a question is answered from; a resumed run reads the same ones.

use expect_test::expect;
use spelunk_testkit::{ModelServer, status};

use crate::scene::{QUESTION, Scene, answering, n_calls, to_all};

const FILES: [(&str, &str); 4] = [
    ("notes/a.md", "The magic number is 42.\n"),
    ("notes/b.txt", "The magic number is 43.\n"),
    ("notes/c.md", "The magic number is 44.\n"),
    ("notes/old/d.md", "The magic number is 45.\n"),
];
const REPLY: &str = "42.\n\n```evidence\na.md:1: The magic number is 42.\n```";
const ASK: [&str; 7] = ["ask", QUESTION, "notes", "--include", "*.md", "--exclude", "old"];

/// The numbers sent with the last call.
fn numbers_sent(server: &ModelServer) -> Vec<&'static str> {
    let requests = server.requests();
    let prompt = requests.last().unwrap().prompt();
    ["is 42", "is 43", "is 44", "is 45"].into_iter().filter(|number| prompt.contains(number)).collect()
}

#[test]
fn only_what_is_included_and_not_excluded_is_sent() {
    let (scene, server) = (Scene::new(&FILES), answering(REPLY));
    scene.spelunk(ASK).server(&server).run().check(&expect![[r#"
        42.
          a.md:1  The magic number is 42.
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        Skipped: 2 filtered
        2 files · 48 B read · 1 call · 120 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
    assert_eq!(numbers_sent(&server), ["is 42", "is 44"]);
}

#[test]
fn a_resumed_run_reads_the_files_it_was_started_with() {
    let server = ModelServer::start_blocking([to_all().fault(status(400)).reply(REPLY).usage(100, 20)]);
    let scene = Scene::new(&FILES);
    assert_eq!(scene.spelunk(ASK).server(&server).run().code, 1);
    let started = &scene.journal(&scene.only_run())[0];
    expect![[r#"
        {
          "allow_secret_globs": [],
          "allow_secrets": false,
          "exclude": [
            "old"
          ],
          "extract_html": false,
          "files_max": 0,
          "gitignore": true,
          "include": [
            "*.md"
          ],
          "order": "size",
          "recursive": true
        }"#]]
    .assert_eq(&format!("{:#}", started["scan"]));
    scene.spelunk(["resume"]).run().check(&expect![[r#"
        42.
          a.md:1  The magic number is 42.
        --- stderr
        resuming run SHORT after event 6: no completed calls to reuse
        Skipped: 2 filtered
        2 files · 48 B read · 2 calls · 120 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
    assert_eq!(n_calls(&server), 2);
    assert_eq!(numbers_sent(&server), ["is 42", "is 44"]);
}

#[test]
fn a_file_that_was_left_out_may_change_before_the_resume() {
    let server = ModelServer::start_blocking([to_all().fault(status(400)).reply(REPLY).usage(100, 20)]);
    let scene = Scene::new(&FILES);
    assert_eq!(scene.spelunk(ASK).server(&server).run().code, 1);
    scene.write("notes/b.txt", b"Something else.\n");
    scene.write("notes/new.txt", b"New.\n");
    assert_eq!(scene.spelunk(["resume"]).run().code, 0);
}

#[test]
fn a_cap_keeps_the_first_files_in_order() {
    let (scene, server) = (Scene::new(&FILES), answering(REPLY));
    let ask = ["ask", QUESTION, "notes", "--files-max", "2", "--order", "path"];
    scene.spelunk(ask).server(&server).run().check(&expect![[r#"
        42.
          a.md:1  The magic number is 42.
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        Skipped: 2 beyond the maximum number of files
        2 files · 48 B read · 1 call · 120 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
    assert_eq!(numbers_sent(&server), ["is 42", "is 43"]);
}

#[test]
fn without_a_model_the_same_files_are_searched() {
    let scene = Scene::new(&FILES);
    let ask = ["ask", "43 44 45", "notes", "--no-recursive", "--exclude", "*.txt"];
    scene.spelunk(ask).run().check(&expect![[r#"
        No model is configured. Best-matching passages:

        c.md:1
            **The magic number is 44.**

        Also:
        a.md:1  The magic number is 42.
        --- stderr

        Skipped: 2 filtered
        2 files · 48 B searched
        For an answer, set ANTHROPIC_API_KEY or OPENAI_API_KEY, start a local server such as Ollama, or run `spelunk doctor`.
        --- exit 4
    "#]]);
}
