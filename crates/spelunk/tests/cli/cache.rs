//! The reply cache: a question that was answered is not paid for again, unless the user says so.

use expect_test::expect;

use crate::scene::{NOTE, REPLY, Scene, answering};

#[test]
fn the_same_question_is_answered_from_the_cache() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    scene.answered(&server);
    scene.ask(&server).run().check(&expect![[""]]);
    let calls: Vec<_> = server.requests().into_iter().filter(|request| request.method == "POST").collect();
    assert_eq!(calls.len(), 1);
}

#[test]
fn no_cache_asks_again() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    scene.answered(&server);
    scene.ask(&server).arg("--no-cache").run().check(&expect![[""]]);
    let calls: Vec<_> = server.requests().into_iter().filter(|request| request.method == "POST").collect();
    assert_eq!(calls.len(), 2);
}
