//! Documents and scripts that are made to take more than there is: they cost themselves and nothing else.

use expect_test::expect;
use spelunk_testkit::{ModelServer, when};

use crate::scene::{NOTE, QUESTION, Scene, answering};

/// A PDF with one page of this content.
fn pdf(content: &str) -> Vec<u8> {
    let objects = [
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        "<</Type/Pages/Kids[3 0 R]/Count 1>>".to_owned(),
        "<</Type/Page/Parent 2 0 R/Contents 4 0 R/MediaBox[0 0 9 9]/Resources<<>>>>".to_owned(),
        format!("<</Length {}>>stream\n{content}\nendstream", content.len()),
    ];
    let (mut pdf, mut table) = ("%PDF-1.4\n".to_owned(), "0000000000 65535 f \n".to_owned());
    for (idx, object) in objects.iter().enumerate() {
        table += &format!("{:010} 00000 n \n", pdf.len());
        pdf += &format!("{} 0 obj\n{object}\nendobj\n", idx + 1);
    }
    let start = pdf.len();
    pdf += &format!("xref\n0 5\n{table}trailer<</Size 5/Root 1 0 R>>\nstartxref\n{start}\n%%EOF");
    pdf.into_bytes()
}

/// Every operator becomes an object of some hundred bytes: six megabytes become a gigabyte.
fn bomb() -> Vec<u8> {
    pdf(&"q\n".repeat(3_000_000))
}

#[test]
fn a_pdf_that_takes_gigabytes_is_left_out_and_the_other_files_are_answered() {
    let reply = "42.\n\n```evidence\ngood.pdf:1: The magic number is 42.\n```";
    let (scene, server) = (Scene::new(&[]), answering(reply));
    scene.write("notes/bomb.pdf", &bomb());
    scene.write("notes/good.pdf", &pdf("BT (The magic number is 42.) Tj ET"));
    scene.spelunk(["ask", QUESTION, "notes", "--include", "*.pdf"]).server(&server).run().check(&expect![[
        r#"
            42.
              good.pdf:1  The magic number is 42.
            --- stderr
            openai/scripted (OPENAI_BASE_URL is set)
            skipped: 1 too-costly
            1 file · 25 B read · 1 call · 120 tokens · $0.00 · TIME · run SHORT
            --- exit 0
        "#
    ]]);
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
    scene.spelunk(["ask", QUESTION, "notes", "--strategy", "agent"]).server(&server).run().check(&expect![[
        r#"
            It counted.
            --- stderr
            openai/scripted (OPENAI_BASE_URL is set)
            1 file · 35 B worked on in 2 tool calls · 2 calls · 240 tokens · $0.00 · TIME · run SHORT
            --- exit 0
        "#
    ]]);
    let run = scene.only_run();
    assert_eq!(scene.read(&format!(".spelunk/runs/{run}/scratch/n")), "2\n3\n4\n5\n");
}
