//! Colour only where it is wanted. The streams of these tests are pipes, so nothing is coloured unless requested.

use expect_test::expect;

use crate::scene::{NOTE, QUESTION, REPLY, Scene, answering};

/// Makes escape sequences visible.
fn visible(text: &str) -> String {
    text.replace('\u{1b}', "ESC")
}

#[test]
fn a_pipe_gets_no_escapes() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let ran = scene.ask(&server).run();
    assert_eq!((ran.stdout.matches('\u{1b}').count(), ran.stderr.matches('\u{1b}').count()), (0, 0));
    assert_eq!(ran.stderr.matches('\r').count(), 0);
}

#[test]
fn always_colours_the_places_of_citations() {
    let (scene, server) = (Scene::new(&NOTE), answering(REPLY));
    let ran = scene.ask(&server).arg("--set=output.color=always").env("NO_COLOR", "1").run();
    expect![[r"
        The magic number is 42.
          ESC[36ma.md:3ESC[0m  The magic number is 42.
    "]]
    .assert_eq(&visible(&ran.stdout));
    assert_eq!(ran.stderr.matches('\u{1b}').count(), 0);
}

#[test]
fn always_colours_passages_and_never_does_not() {
    let scene = Scene::new(&NOTE);
    let ran = scene.spelunk(["ask", QUESTION, "--set", "output.color=always"]).run();
    expect![[r#"
        No model is configured. Best-matching passages:

        ESC[36mnotes/a.md:3ESC[0m  Numbers
            ESC[1mThe magic number is 42.ESC[0m
    "#]]
    .assert_eq(&visible(&ran.stdout));
    let ran = scene.spelunk(["ask", QUESTION, "--set", "output.color=never"]).run();
    expect![[r#"
        No model is configured. Best-matching passages:

        notes/a.md:3  Numbers
            **The magic number is 42.**
    "#]]
    .assert_eq(&visible(&ran.stdout));
}

#[test]
fn always_colours_the_labels_of_errors() {
    let scene = Scene::new(&NOTE);
    let ran = scene.spelunk(["show", "--set", "output.color=always"]).run();
    expect![[r#"
        ESC[1;31merror:ESC[0m there are no runs here

        ESC[1;36mhint:ESC[0m ask something first, such as `spelunk ask "what is this?" .`
    "#]]
    .assert_eq(&visible(&ran.stderr));
    let ran = scene.spelunk(["show"]).run();
    expect![[r#"
        error: there are no runs here

        hint: ask something first, such as `spelunk ask "what is this?" .`
    "#]]
    .assert_eq(&visible(&ran.stderr));
}

#[test]
fn escapes_in_a_reply_do_not_reach_the_terminal() {
    let (scene, server) = (Scene::new(&NOTE), answering("a\u{1b}]0;owned\u{7}b\u{1b}[31m red\r\nnext"));
    let ran = scene.ask(&server).run();
    assert_eq!(ran.stdout, "a]0;ownedb[31m red\nnext\n");
    assert_eq!(ran.stderr.matches('\u{1b}').count(), 0);
}
