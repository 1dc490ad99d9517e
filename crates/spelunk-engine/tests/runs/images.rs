//! Images in calls: what is sent, what is recorded, what is refused, and what they cost.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use expect_test::expect;
use serde_json::{Value, json};
use spelunk_testkit::{FaultDisk, Rule, on, pdf};
use spelunk_types::{ErrorCode, Explain, SourceSpec, Strategy};

use super::NOTE;
use super::agent::script;
use crate::stage::{Stage, engine_on, events, view};

/// A PNG of this size, as far as its header goes.
pub(crate) fn png(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR".to_vec();
    bytes.extend(width.to_be_bytes());
    bytes.extend(height.to_be_bytes());
    bytes.extend(b"\x08\x02\0\0\0");
    bytes
}

/// What `png(2, 3)` is in base64.
const PNG_2_3: &str = "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA=";

pub(crate) fn put(stage: &Stage, name: &str, bytes: &[u8]) {
    let path = stage.documents.path().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

fn cell(id: &str, code: &str) -> Rule {
    on(id).reply(format!("```repl\n{code}\n```")).usage(100, 10)
}

/// A session over a note and two images, with a model that sees.
pub(crate) fn stage(rules: impl IntoIterator<Item = Rule>) -> Stage {
    let mut stage = Stage::new(&NOTE, rules);
    put(&stage, "figures/a.png", &png(2, 3));
    put(&stage, "b.png", &png(1024, 1024));
    (stage.strategy, stage.sees_images) = (Strategy::Repl, true);
    stage
}

#[tokio::test]
async fn code_shows_images_to_a_sub_model_and_the_journal_has_their_digests() {
    let code = "said = llm_query('What is it?', images=['figures/a.png'])\nFINAL([said, images])";
    let stage = stage([cell("0#0", code), on("0#1").reply("a cat").usage(900, 3)]);
    let disk = Arc::new(FaultDisk::sound());
    let engine = engine_on(disk.clone());
    let result = stage.ask(&engine, "Which animal?").await;
    let answered: Value = serde_json::from_str(&result.answer.unwrap().text).unwrap();
    let listed = json!([
        { "name": "b.png", "kind": "png", "bytes": 29 },
        { "name": "figures/a.png", "kind": "png", "bytes": 29 },
    ]);
    assert_eq!(answered, json!(["a cat", listed]));
    let requests = stage.server.requests();
    assert!(requests[0].body.contains("\\n  figures/a.png (png, 29 bytes)"), "{}", requests[0].body);
    let sent: Value = serde_json::from_str(&requests[1].body).unwrap();
    let url = format!("data:image/png;base64,{PNG_2_3}");
    assert_eq!(
        sent["messages"],
        json!([{ "role": "user", "content": [
            { "type": "image_url", "image_url": { "url": url } },
            { "type": "text", "text": "What is it?" },
        ] }])
    );
    // The prompt is charged as the provider reports it.
    assert_eq!(view(&events(&engine, &result.run)).spent.input_tokens, 1000);
    let digest = blake3::hash(&png(2, 3)).to_hex().to_string();
    let kept: Vec<u8> = disk.files().into_values().flatten().collect();
    let kept = String::from_utf8_lossy(&kept);
    assert!(kept.contains(&digest) && !kept.contains(PNG_2_3));
}

#[tokio::test]
async fn a_script_of_an_agent_shows_images_too() {
    let code = "said = llm_query('What is it?', images=[images[0]['name']])
with open('output/answer.md', 'w') as file:
    file.write(said)";
    let mut stage = stage([
        on("0#0").reply("").tool_call("RunScript", &script(code)),
        on("0#1").reply("It is a dog."),
        on("0#2").reply("").tool_call("Finish", "{}"),
        on("0#3").reply("").tool_call("Finish", "{}"),
    ]);
    stage.strategy = Strategy::Agent;
    let result = stage.ask(&engine_on(Arc::new(FaultDisk::sound())), "Which animal?").await;
    assert_eq!(result.answer.unwrap().text.trim(), "It is a dog.");
    assert!(stage.server.requests()[1].body.contains("data:image/png;base64,"));
}

#[tokio::test]
async fn what_cannot_be_shown_is_an_exception_and_nothing_is_sent() {
    let code = "
def told(names):
    try:
        llm_query('What?', images=names)
    except Exception as error:
        print(type(error).__name__ + ': ' + str(error))
for name in ['c.png', '../secret.png', '/etc/passwd', 'https://example.com/a.png', 'a.md', 'empty.png',
             'text.png', 'huge.png', 'cut.png', 'large.png']:
    told([name])
told(['b.png'] * 3)
told('b.png')
told([3])
FINAL('done')";
    let mut stage = stage([cell("0#0", code)]);
    put(&stage, "empty.png", b"");
    put(&stage, "text.png", b"\0not a picture");
    put(&stage, "huge.png", &png(100_000, 100_000));
    put(&stage, "cut.png", &png(5, 5)[..20]);
    put(&stage, "large.png", &[png(5, 5), vec![0; 100]].concat());
    (stage.limits.image_bytes_max, stage.limits.call_images_max) = (100, 2);
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = stage.ask(&engine, "Which?").await;
    assert_eq!(result.answer.unwrap().text, "done");
    assert_eq!(stage.server.requests().len(), 1);
    let printed = events(&engine, &result.run).iter().find_map(|event| {
        let spelunk_types::EventKind::CellRan { output, .. } = &event.kind else { return None };
        Some(engine.workspace().blobs().text(output))
    });
    expect![[r#"
        NotFound: there is no image 'c.png' among the sources; there are 'b.png', 'cut.png', 'empty.png', 'figures/a.png', 'huge.png', 'large.png', 'text.png'
        NotFound: there is no image '../secret.png' among the sources; there are 'b.png', 'cut.png', 'empty.png', 'figures/a.png', 'huge.png', 'large.png', 'text.png'
        NotFound: there is no image '/etc/passwd' among the sources; there are 'b.png', 'cut.png', 'empty.png', 'figures/a.png', 'huge.png', 'large.png', 'text.png'
        NotFound: there is no image 'https://example.com/a.png' among the sources; there are 'b.png', 'cut.png', 'empty.png', 'figures/a.png', 'huge.png', 'large.png', 'text.png'
        NotFound: there is no image 'a.md' among the sources; there are 'b.png', 'cut.png', 'empty.png', 'figures/a.png', 'huge.png', 'large.png', 'text.png'
        ValueError: 'empty.png' cannot be shown: it is empty
        ValueError: 'text.png' cannot be shown: it does not begin like a PNG, JPEG, GIF or WebP file
        ValueError: 'huge.png' cannot be shown: it is 100000 x 100000 pixels; the maximum is 8000 per side
        ValueError: 'cut.png' cannot be shown: its header is damaged
        ValueError: 'large.png' cannot be shown: it has more than 100 bytes (`limits.image_bytes_max`)
        ValueError: a call shows at most 2 images or pages (`limits.call_images_max`), and these are 3
        TypeError: llm_query(): 'images' must be a list of names, not str
        TypeError: llm_query(): 'images' must be a list of names, not int
    "#]]
    .assert_eq(&printed.unwrap().unwrap());
}

const SHOW: &str = "
try:
    FINAL(llm_query('What is it?', images=['b.png']))
except Exception as error:
    FINAL(type(error).__name__ + ': ' + str(error))";

#[tokio::test]
async fn a_model_that_cannot_see_is_named_and_the_session_lists_no_images() {
    let mut stage = stage([cell("0#0", SHOW)]);
    stage.sees_images = false;
    let result = stage.ask(&engine_on(Arc::new(FaultDisk::sound())), "Which?").await;
    assert_eq!(
        result.answer.unwrap().text,
        "ModelError: `openai/scripted` cannot see images: choose a model that can, or set `models.NAME.vision = true` if it can"
    );
    let requests = stage.server.requests();
    assert!(requests.len() == 1 && !requests[0].body.contains("b.png"), "{requests:?}");
}

#[tokio::test]
async fn the_bytes_of_a_run_are_bounded() {
    let code = "llm_query('One?', images=['b.png', 'figures/a.png'])".to_owned() + SHOW;
    let mut stage = stage([cell("0#0", &code), on("0#1").reply("one")]);
    stage.limits.run_image_bytes_max = 80;
    let result = stage.ask(&engine_on(Arc::new(FaultDisk::sound())), "Which?").await;
    assert_eq!(
        result.answer.unwrap().text,
        "BudgetError: a run sends at most 80 bytes of images (`limits.run_image_bytes_max`): 58 were sent, and these are 29"
    );
}

/// 1,024 × 1,024 pixels are 1,024 patches at a factor of 2.46.
#[tokio::test]
async fn the_estimate_of_an_image_is_reserved_before_it_is_sent() {
    let asked = async |tokens_max: u64| {
        let mut stage = stage([cell("0#0", SHOW), on("0#1").reply("a dog").usage(800, 3)]);
        (stage.limits.tokens_max, stage.limits.sub_output_tokens_max) = (tokens_max, 100);
        stage.limits.root_output_tokens_max = 100;
        stage.limits.transcript_tokens_max = 10;
        let result = stage.ask(&engine_on(Arc::new(FaultDisk::sound())), "Which?").await;
        (result.answer.map(|answer| answer.text), stage.server.times_received("0#1"))
    };
    let (said, n_sent) = asked(20_000).await;
    assert_eq!((said.as_deref(), n_sent), (Some("a dog"), 1));
    let (said, n_sent) = asked(2_700).await;
    let refused = "BudgetError: tokens-exhausted: call `0#1` failed: token limit reached (2700)";
    assert!(said.as_deref().is_some_and(|said| said.starts_with(refused)), "{said:?}");
    assert_eq!(n_sent, 0);
}

fn source(stage: &Stage, name: &str) -> SourceSpec {
    let path = stage.documents.path().join(name).to_str().unwrap().to_owned();
    SourceSpec::Path { path, name: Some(name.to_owned()) }
}

#[tokio::test]
async fn a_named_image_is_part_of_a_direct_call() {
    let mut stage = stage([on("0#0").reply("A cat.")]);
    stage.strategy = Strategy::Direct;
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = stage.ask_over(&engine, "Which animal?", vec![source(&stage, "figures/a.png")]).await;
    assert_eq!(result.answer.unwrap().text, "A cat.");
    let with_text = vec![source(&stage, "a.md"), source(&stage, "figures/a.png")];
    stage.ask_over(&engine, "Which number?", with_text).await.answer.unwrap();
    for (request, text) in stage.server.requests().iter().zip(["Which animal?", "The magic number is 42."]) {
        let sent: Value = serde_json::from_str(&request.body).unwrap();
        let parts = &sent["messages"][1]["content"];
        assert_eq!(parts[0]["image_url"]["url"], format!("data:image/png;base64,{PNG_2_3}"));
        assert!(parts[1]["text"].as_str().unwrap().contains(text), "{parts}");
    }
    stage.sees_images = false;
    let refused = stage.ask_over(&engine, "Which?", vec![source(&stage, "b.png")]).await;
    let error = refused.error.unwrap();
    assert_eq!(
        (error.code(), error.to_string()),
        (
            ErrorCode::SourceUnreadable,
            "frame `0` could not start: `openai/scripted` cannot see images: choose a model that can, or set `models.NAME.vision = true` if it can".to_owned()
        )
    );
    assert_eq!(stage.server.requests().len(), 2);
}

const PAGES: [&str; 3] = ["BT (one) Tj ET", "BT (two) Tj ET", "BT (three) Tj ET"];

/// A session over a PDF of three pages and an image, with a model that reads PDF.
pub(crate) fn with_pdf(rules: impl IntoIterator<Item = Rule>) -> Stage {
    let mut stage = stage(rules);
    put(&stage, "report.pdf", &pdf(&PAGES));
    stage.reads_pdf = true;
    stage
}

#[tokio::test]
async fn code_shows_pages_of_a_pdf_to_a_sub_model_that_reads_it() {
    let code =
        "said = llm_query('What is on it?', images=['report.pdf#page=2', 'b.png'])\nFINAL([said, images])";
    let mut stage = with_pdf([cell("0#0", code), on("0#1").reply("a chart").usage(900, 3)]);
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = stage.ask(&engine, "Which chart?").await;
    let answered: Value = serde_json::from_str(&result.answer.unwrap().text).unwrap();
    assert_eq!(answered[0], "a chart");
    assert_eq!(answered[1][2], json!({ "name": "report.pdf", "kind": "pdf", "bytes": pdf(&PAGES).len() }));
    let requests = stage.server.requests();
    let told = "A PDF is shown by pages: `\\\"report.pdf#page=3\\\"`";
    assert!(requests[0].body.contains(told), "{}", requests[0].body);
    let sent: Value = serde_json::from_str(&requests[1].body).unwrap();
    let parts = &sent["messages"][0]["content"];
    assert_eq!((&parts[0]["type"], &parts[1]["type"]), (&json!("file"), &json!("image_url")), "{parts}");
    let data = parts[0]["file"]["file_data"].as_str().unwrap();
    let bytes = STANDARD.decode(data.strip_prefix("data:application/pdf;base64,").unwrap()).unwrap();
    let text = spelunk_context::extract(spelunk_context::ExtractKind::Pdf, &bytes).unwrap();
    assert_eq!(text, "two\n\n");
    // A model that sees pictures only is not told of the PDF.
    stage.reads_pdf = false;
    stage.ask(&engine, "Which chart, again?").await;
    let request = stage.server.requests()[2].body.clone();
    assert!(!request.contains("PDF is shown") && request.contains("b.png"), "{request}");
}

#[tokio::test]
async fn pages_that_cannot_be_shown_are_exceptions() {
    let code = "
def told(names):
    try:
        llm_query('What?', images=names)
    except Exception as error:
        print(type(error).__name__ + ': ' + str(error))
for name in ['report.pdf#page=4', 'report.pdf#page=0', 'report.pdf#page=3-2', 'report.pdf#page=x', 'b.png#page=1',
             'damaged.pdf#page=1', 'report.pdf']:
    told([name])
FINAL('done')";
    let mut stage = with_pdf([cell("0#0", code)]);
    put(&stage, "damaged.pdf", b"%PDF-1.4 and no more");
    stage.limits.call_images_max = 2;
    let engine = engine_on(Arc::new(FaultDisk::sound()));
    let result = stage.ask(&engine, "Which?").await;
    assert_eq!((result.answer.unwrap().text.as_str(), stage.server.requests().len()), ("done", 1));
    let printed = events(&engine, &result.run).iter().find_map(|event| {
        let spelunk_types::EventKind::CellRan { output, .. } = &event.kind else { return None };
        Some(engine.workspace().blobs().text(output))
    });
    expect![[r#"
        ValueError: 'report.pdf#page=4' cannot be shown: it has no page 4: it has 3
        NotFound: there is no image 'report.pdf#page=0' among the sources; there are 'b.png', 'damaged.pdf', 'figures/a.png', 'report.pdf'
        NotFound: there is no image 'report.pdf#page=3-2' among the sources; there are 'b.png', 'damaged.pdf', 'figures/a.png', 'report.pdf'
        NotFound: there is no image 'report.pdf#page=x' among the sources; there are 'b.png', 'damaged.pdf', 'figures/a.png', 'report.pdf'
        NotFound: there is no image 'b.png#page=1' among the sources; there are 'b.png', 'damaged.pdf', 'figures/a.png', 'report.pdf'
        ValueError: 'damaged.pdf#page=1' cannot be shown: it is damaged: couldn't parse input
        ValueError: a call shows at most 2 images or pages (`limits.call_images_max`), and these are 3
    "#]]
    .assert_eq(&printed.unwrap().unwrap());
    let blind = with_pdf([cell("0#0", &SHOW.replace("b.png", "report.pdf#page=1"))]);
    let blind = Stage { reads_pdf: false, ..blind };
    let result = blind.ask(&engine_on(Arc::new(FaultDisk::sound())), "Which?").await;
    assert_eq!(
        result.answer.unwrap().text,
        "ModelError: `openai/scripted` cannot read PDF: choose a model that can, or set `models.NAME.pdf = true` if it can"
    );
}
