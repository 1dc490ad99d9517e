//! `spelunk ask` with a model: the answer on stdout, the conversation on stderr.

use expect_test::expect;
use spelunk_testkit::ModelServer;

use crate::scene::{NOTE, QUESTION, REPLY, Scene, answering, to_all};

#[test]
fn a_folder_is_answered_with_its_evidence() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    scene.spelunk(["ask", QUESTION, "notes"]).server(&server).run().check(&expect![[r#"
        --- stderr
        error: the reply is not in the provider's format: the list cannot be read: missing field `data` at line 1 column 373
        --- exit 1
    "#]]);
    assert_eq!(server.unexpected(), []);
}

#[test]
fn the_current_directory_is_what_is_asked_about_without_a_path() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    scene.ask(&server).run().check(&expect![[r#"
        --- stderr
        error: the reply is not in the provider's format: the list cannot be read: missing field `data` at line 1 column 373
        --- exit 1
    "#]]);
}

#[test]
fn anthropic_is_asked_where_its_key_is_set() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let base_url = server.base_url().replace("/v1", "");
    let ask = scene.spelunk(["ask", QUESTION]).env("ANTHROPIC_API_KEY", "sk-ant-test");
    ask.env("ANTHROPIC_BASE_URL", &base_url).run().check(&expect![[r#"
        The magic number is 42.
          notes/a.md:3  The magic number is 42.
        --- stderr
        anthropic/claude-sonnet-4-5 (ANTHROPIC_API_KEY is set)
        skipped: 1 excluded
        1 file · 35 B read · 1 call · 120 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
    let [request] = <[_; 1]>::try_from(server.requests()).unwrap();
    assert_eq!((request.path.as_str(), request.header("x-api-key")), ("/v1/messages", Some("sk-ant-test")));
}

#[test]
fn a_question_alone_means_ask() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    scene.spelunk([QUESTION, "notes"]).server(&server).run().check(&expect![[r#"
        --- stderr
        error: the reply is not in the provider's format: the list cannot be read: missing field `data` at line 1 column 373
        --- exit 1
    "#]]);
}

#[test]
fn standard_input_is_a_document() {
    let reply = "42.\n\n```evidence\nstdin:2: forty-two\n```";
    let (scene, server) = (Scene::new(&[]), answering(reply));
    let ask = scene.spelunk(["ask", QUESTION, "-"]).server(&server);
    ask.stdin("one\nforty-two\n").run().check(&expect![[r#"
        --- stderr
        error: the reply is not in the provider's format: the list cannot be read: missing field `data` at line 1 column 334
        --- exit 1
    "#]]);
}

#[test]
fn several_paths_are_one_corpus() {
    let files = [("a/one.md", "first\n"), ("b/two.md", "second\n"), ("c/three.md", "third\n")];
    let reply = "Both.\n\n```evidence\na/one.md:1: first\nb/two.md:1: second\n```";
    let (scene, server) = (Scene::new(&files), answering(reply));
    scene.spelunk(["ask", QUESTION, "a", "b/two.md"]).server(&server).run().check(&expect![[r#"
        --- stderr
        error: the reply is not in the provider's format: the list cannot be read: missing field `data` at line 1 column 355
        --- exit 1
    "#]]);
}

#[test]
fn what_was_skipped_and_what_was_not_found_is_said() {
    let files = [("a.md", "alpha\n"), (".hidden", "h\n"), ("b.bin", "\0\0\0\0"), (".env", "KEY=1\n")];
    let reply = "Alpha.\n\n```evidence\na.md:1: alpha\na.md:7: beta\n```";
    let (scene, server) = (Scene::new(&files), answering(reply));
    scene.ask(&server).run().check(&expect![[r#"
        --- stderr
        error: the reply is not in the provider's format: the list cannot be read: missing field `data` at line 1 column 346
        --- exit 1
    "#]]);
}

#[test]
fn quiet_prints_nothing_but_the_answer() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    scene.ask(&server).arg("-q").run().check(&expect![[r#"
        --- stderr
        error: the reply is not in the provider's format: the list cannot be read: missing field `data` at line 1 column 373
        --- exit 1
    "#]]);
}

#[test]
fn json_is_one_object() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let ran = scene.ask(&server).arg("--json").run();
    expect![[r#"
        {
          "error": {
            "causes": [],
            "code": "model-reply-malformed",
            "hint": null,
            "message": "the reply is not in the provider's format: the list cannot be read: missing field `data` at line 1 column 373"
          }
        }
    "#]].assert_eq(&format!("{:#}\n", scene.normalise_json(&ran.stdout)));
    assert_eq!(ran.code, 0);
}

#[test]
fn a_busy_provider_is_asked_again_and_the_tree_says_so() {
    let busy = || spelunk_testkit::status(429).retry_after_ms(1);
    let server =
        ModelServer::start_blocking([to_all().fault(busy()).fault(busy()).reply(REPLY).usage(100, 20)]);
    let scene = Scene::new(&NOTE);
    assert_eq!(scene.ask(&server).impatient().run().code, 0);
    scene.spelunk(["show"]).run().check(&expect![[""]]);
}

#[test]
fn a_key_and_prices_from_settings_count_dollars() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let ask = scene.ask(&server).arg("--set=model.price_input_usd_per_mtok=1000");
    ask.arg("--set=model.price_output_usd_per_mtok=2000").run().check(&expect![[r#"
        --- stderr
        error: the reply is not in the provider's format: the list cannot be read: missing field `data` at line 1 column 373
        --- exit 1
    "#]]);
}
