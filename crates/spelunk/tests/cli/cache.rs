//! The reply cache: a question that was answered is not paid for again, unless the user says so.

use expect_test::expect;

use crate::scene::{NOTE, REPLY, Scene, answering, n_calls};

#[test]
fn the_same_question_is_answered_from_the_cache() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    scene.answered(&server);
    scene.ask(&server).run().check(&expect![[r#"
        The magic number is 42.
          a.md:3  The magic number is 42.
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        1 file · 35 B read · 1 call (1 from cache) · 0 tokens · $0.00 · TIME · run SHORT2
        --- exit 0
    "#]]);
    assert_eq!(n_calls(&server), 1);
}

#[test]
fn no_cache_asks_again() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    scene.answered(&server);
    scene.ask(&server).arg("--no-cache").run().check(&expect![[r#"
        The magic number is 42.
          a.md:3  The magic number is 42.
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        1 file · 35 B read · 1 call · 120 tokens · $0.00 · TIME · run SHORT2
        --- exit 0
    "#]]);
    assert_eq!(n_calls(&server), 2);
}
