//! Questions about images: a model that sees gets them, another one is refused with the next step.

use expect_test::expect;
use serde_json::json;

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
    let requests = server.requests();
    assert_eq!(requests.len(), 2);
    for request in requests {
        let image = json!({ "type": "image_url",
            "image_url": { "url": format!("data:image/png;base64,{PNG_BASE64}") } });
        assert_eq!(request.json()["messages"][1]["content"][0], image);
    }
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
