//! Where keys are sent when a run is resumed: never to a URL that only its journal names, because a journal may have
//! come with a repository.

use expect_test::expect;
use spelunk_testkit::{ModelServer, status};

use super::KEY;
use crate::scene::{NOTE, QUESTION, REPLY, Scene, n_calls, short, to_all};

/// A run that was started without a key and failed; the server would answer now.
fn begun_without_key() -> (Scene, ModelServer) {
    let rule = to_all().fault(status(400)).reply(REPLY).usage(100, 20);
    let (scene, server) = (Scene::new(&NOTE), ModelServer::start_blocking([rule]));
    let base_url = server.base_url();
    let ask = scene.spelunk(["ask", QUESTION, "notes", "--model", "openai/tiny", "--base-url", &base_url]);
    assert_eq!(ask.run().code, 1);
    (scene, server)
}

#[test]
fn a_run_that_was_begun_without_a_key_goes_on_without_one() {
    let (scene, server) = begun_without_key();
    let resumed = scene.spelunk(["resume"]).env("OPENAI_API_KEY", KEY).run();
    assert_eq!(resumed.code, 0, "{}", resumed.stderr);
    assert_eq!(n_calls(&server), 2);
    assert!(server.requests().iter().all(|request| request.header("authorization").is_none()));
}

#[test]
fn the_address_of_a_foreign_journal_gets_neither_key_nor_documents() {
    let (scene, server) = begun_without_key();
    scene.rewrite_start(&server.base_url(), "https://evil.test/v1");
    scene.spelunk(["resume"]).env("OPENAI_API_KEY", KEY).run().check(&expect![[r"
        --- stderr
        error: the run was started with a model at `https://evil.test/v1`, an address that is not in your settings

        hint: if you trust that server with your documents and your key, pass it with `--base-url`
        --- exit 2
    "]]);
    assert_eq!(n_calls(&server), 1);
}

#[test]
fn an_address_that_the_user_repeats_gets_the_key() {
    let (scene, server) = begun_without_key();
    let (base_url, run) = (server.base_url(), scene.only_run());
    let resume = scene.spelunk(["resume", short(&run), "--base-url", &base_url]);
    let resumed = resume.env("OPENAI_API_KEY", KEY).run();
    assert_eq!(resumed.code, 0, "{}", resumed.stderr);
    // The model did not have to be named or looked up again.
    assert_eq!((n_calls(&server), server.requests().len()), (2, 2));
    assert_eq!(server.requests()[1].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
}
