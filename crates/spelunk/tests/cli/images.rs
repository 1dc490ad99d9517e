//! Questions about images: a model that sees gets them, another one is refused with the next step.

use expect_test::expect;
use serde_json::{Value, json};
use spelunk_testkit::{ModelServer, pdf};

use crate::http::client::Server;
use crate::mcp::client::Client;
use crate::scene::{NOTE, QUESTION, Scene, answering};

/// The header of a PNG of 2 × 3 pixels, in bytes and in base64.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x02\0\0\0\x03\x08\x02\0\0\0";
const PNG_BASE64: &str = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA=";

fn scene(base_url: &str, vision: &str) -> Scene {
    let scene = Scene::new(&NOTE);
    scene.write("chart.png", PNG);
    let toml = format!(
        "roles.root = 'mine'\n[models.mine]\nprovider = 'openai'\nname = 'm'\nbase_url = '{base_url}'\n{vision}\n"
    );
    scene.write("../home/.config/spelunk/config.toml", toml.as_bytes());
    scene
}

#[test]
fn a_model_that_sees_is_shown_the_image() {
    let server = answering("It shows a cat.");
    let scene = scene(&server.base_url(), "vision = true");
    let ran = scene.spelunk(["ask", "What does it show?", "chart.png"]).run();
    assert_eq!((ran.code, ran.stdout.trim()), (0, "It shows a cat."), "{}", ran.stderr);
    let ran = scene.spelunk(["ask", QUESTION, "notes", "chart.png"]).run();
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert_eq!(images_sent(&server), [image_part(), image_part()]);
}

fn image_part() -> Value {
    json!({ "type": "image_url", "image_url": { "url": format!("data:image/png;base64,{PNG_BASE64}") } })
}

/// The first part of the message of each request.
fn images_sent(server: &ModelServer) -> Vec<Value> {
    server.requests().iter().map(|request| request.json()["messages"][1]["content"][0].clone()).collect()
}

#[test]
fn a_client_asks_about_an_image_over_http_and_mcp() {
    let model = answering("It shows a cat.");
    let scene = scene(&model.base_url(), "vision = true");
    let server = Server::start(&scene, &["--root", "."], None);
    let run = server.ask_with(&json!({ "question": "What does it show?", "paths": ["chart.png"] }));
    server.finish(&run);
    let result = server.get(&format!("/v1/runs/{run}/result")).json();
    assert_eq!(result["answer"], "It shows a cat.", "{result}");
    let mut client = Client::plain(&scene);
    let asked = json!({ "question": "What does it really show?", "paths": ["chart.png"] });
    assert_eq!(client.data("rlm_query", &asked)["answer"], "It shows a cat.");
    assert_eq!(images_sent(&model), [image_part(), image_part()]);
}

#[test]
fn a_client_whose_model_does_not_see_is_refused_over_http_and_mcp() {
    let model = answering("never");
    let scene = scene(&model.base_url(), "");
    let refused = "`openai/m` cannot see the image `chart.png`";
    let server = Server::start(&scene, &["--root", "."], None);
    let asked = json!({ "question": "What does it show?", "paths": ["chart.png"] });
    let answer = server.post("/v1/runs", &asked);
    let run = answer.json()["id"].as_str().map(str::to_owned);
    let said = match run {
        Some(run) => {
            server.finish(&run);
            server.get(&format!("/v1/runs/{run}")).body
        }
        None => answer.body,
    };
    assert!(said.contains(refused), "{said}");
    let said = Client::plain(&scene).text("rlm_query", &asked);
    assert!(said.contains(refused), "{said}");
    assert_eq!(model.requests().len(), 0);
}

#[test]
fn without_sight_an_image_is_refused_with_the_next_step() {
    let server = answering("never");
    let scene = scene(&server.base_url(), "");
    scene.spelunk(["ask", "What does it show?", "chart.png"]).run().check(&expect![[r#"
        --- stderr
        error: `openai/m` cannot see the image `chart.png`

        hint: choose a model that can: `spelunk model show NAME` lists `vision` among its abilities; if this one can, set `vision = true` in its `[models.NAME]`
        --- exit 2
    "#]]);
    scene.spelunk(["ask", "--strategy", "map", QUESTION, "notes", "chart.png"]).run().check(&expect![[r#"
        --- stderr
        error: the strategy `map` reads text, and `chart.png` is an image

        hint: leave the strategy out
        --- exit 2
    "#]]);
    let text = expect![[r#"
        --- stderr
        error: `chart.png` is an image, not text

        hint: ask about it with `spelunk ask` and a model that can see images
        --- exit 1
    "#]];
    scene.spelunk(["ask", "--model", "none", "What does it show?", "chart.png"]).run().check(&text);
    scene.spelunk(["search", "cat", "chart.png"]).run().check(&text);
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn a_scan_without_text_is_shown_by_pages_to_a_model_that_reads_pdf() {
    let server = answering("It is an invoice.");
    let scene = scene(&server.base_url(), "pdf = true");
    scene.write("scan.pdf", &pdf(&["q Q", "q Q"]));
    let ran = scene.spelunk(["ask", "What is it?", "scan.pdf"]).run();
    assert_eq!((ran.code, ran.stdout.trim()), (0, "It is an invoice."), "{}", ran.stderr);
    assert_eq!(images_sent(&server)[0]["file"]["filename"], "pages.pdf");
}

#[test]
fn a_scan_without_text_is_refused_by_other_models() {
    let server = answering("never");
    let scene = scene(&server.base_url(), "vision = true");
    scene.write("scan.pdf", &pdf(&["q Q"]));
    scene.spelunk(["ask", "What is it?", "scan.pdf"]).run().check(&expect![[r#"
        --- stderr
        error: `scan.pdf` contains no text, and `openai/m` cannot read its pages

        hint: run text recognition (OCR) over it first, or choose a model that can: `spelunk model show NAME` lists `pdf` among its abilities; if this one can, set `pdf = true` in its `[models.NAME]`
        --- exit 2
    "#]]);
    scene.spelunk(["ask", "--strategy", "map", "What is it?", "scan.pdf"]).run().check(&expect![[r#"
        --- stderr
        error: the strategy `map` needs a text to read

        hint: pass one, or leave out the strategy
        --- exit 2
    "#]]);
    scene.spelunk(["search", "cat", "scan.pdf"]).run().check(&expect![[r#"
        --- stderr
        error: could not extract text from `scan.pdf`
          caused by: it contains no text

        hint: run text recognition (OCR) over it first, or ask a model that reads PDF about it: `spelunk model show NAME` lists `pdf`
        --- exit 1
    "#]]);
    assert_eq!(server.requests().len(), 0);
}
