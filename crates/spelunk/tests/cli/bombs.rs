//! Documents and scripts designed to exhaust resources: they fail alone and affect nothing else.

use expect_test::expect;
use spelunk_testkit::{ModelServer, pdf, when};

use crate::scene::{NOTE, QUESTION, Scene, answering};

/// Every operator becomes an object of some hundred bytes: six megabytes become a gigabyte.
fn bomb() -> Vec<u8> {
    pdf(&[&"q\n".repeat(3_000_000)])
}

#[test]
fn a_pdf_that_takes_gigabytes_is_left_out_and_the_other_files_are_answered() {
    let reply = "42.\n\n```evidence\ngood.pdf:1: The magic number is 42.\n```";
    let (scene, server) = (Scene::new(&[]), answering(reply));
    scene.write("notes/bomb.pdf", &bomb());
    scene.write("notes/good.pdf", &pdf(&["BT (The magic number is 42.) Tj ET"]));
    scene.spelunk(["ask", QUESTION, "notes", "--include", "*.pdf"]).server(&server).run().check(&expect![[
        r#"
            42.
              good.pdf:1  The magic number is 42.
            --- stderr
            openai/scripted (OPENAI_BASE_URL is set)
            Skipped: 1 too costly
            1 file · 25 B read · 1 call · 120 tokens · $0.00 · TIME · run SHORT
            --- exit 0
        "#
    ]]);
}

/// Read in a worker because of its length.
#[test]
fn a_long_web_page_is_read_as_text() {
    let (scene, server) = (Scene::new(&[]), answering("42."));
    let page = format!("<p>The magic number is 42.</p>{}", "<p><b>no</b></p>\n".repeat(80_000));
    scene.write("notes/page.html", page.as_bytes());
    let plan = scene.spelunk(["plan", "notes", "--extract-html", "--json"]).server(&server).run();
    let plan: serde_json::Value = serde_json::from_str(&plan.stdout).unwrap();
    assert_eq!(plan["manifest"][0]["file"], "page.html");
    assert_eq!(plan["manifest"][0]["bytes"], 320_024, "as Markdown");
}

#[test]
fn a_script_that_is_not_plain_runs_in_a_worker_over_the_desk_of_the_run() {
    let script = r#"{"command": "n=$(grep -c number input/contexts/a.md); while [ $n -lt 5 ]; do n=$((n + 1)); echo $n >> scratch/n; done; cat scratch/n"}"#;
    let server = ModelServer::start_blocking([
        when(|prompt| prompt.contains("2\n3\n4\n5\n"))
            .reply("")
            .tool_call("Finish", r#"{"answer": "It counted."}"#)
            .usage(100, 20),
        when(|_| true).reply("").tool_call("Shell", script).usage(100, 20),
    ]);
    let scene = Scene::new(&NOTE);
    scene.spelunk(["ask", QUESTION, "notes", "--strategy", "agent"]).server(&server).run().check(&expect![[r#"
        It counted.
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        1 file · 35 B worked on in 2 tool calls · 2 calls · 240 tokens · $0.00 · TIME · no citations · run SHORT
        --- exit 0
    "#]]);
    let run = scene.only_run();
    assert_eq!(scene.read(&format!(".spelunk/runs/{run}/scratch/n")), "2\n3\n4\n5\n");
}
