//! Sources that cannot be read or are empty.

use expect_test::expect;

use crate::scene::{NOTE, QUESTION, REPLY, Scene, answering};

/// Asks and expects an error before anything is sent or recorded.
#[track_caller]
fn refused(scene: &Scene, paths: &[&str], expected: &expect_test::Expect) {
    let server = answering(REPLY);
    let args = [&["ask", QUESTION, "--model", "tiny"], paths].concat();
    scene.spelunk(args).server(&server).run().check(expected);
    assert_eq!(server.requests(), []);
    assert_eq!(scene.runs(), [""; 0]);
}

#[test]
fn a_path_that_does_not_exist_is_answered_with_one_that_does() {
    refused(
        &Scene::new(&NOTE),
        &["note"],
        &expect![[r#"
            --- stderr
            error: `DIR/work/note` does not exist

            hint: try `DIR/work/notes`, which does exist
            --- exit 1
        "#]],
    );
    refused(
        &Scene::new(&NOTE),
        &["notes/b/c.md"],
        &expect![[r#"
            --- stderr
            error: `DIR/work/notes/b/c.md` does not exist

            hint: look in `DIR/work/notes`, the nearest directory that exists
            --- exit 1
        "#]],
    );
}

#[test]
fn a_path_through_a_file_is_not_there() {
    refused(
        &Scene::new(&NOTE),
        &["notes/a.md/b"],
        &expect![[r#"
            --- stderr
            error: `DIR/work/notes/a.md/b` does not exist

            hint: look in `DIR/work/notes`, the nearest directory that exists
            --- exit 1
        "#]],
    );
}

#[test]
fn without_a_model_the_refusal_is_the_same_and_nothing_is_made() {
    let scene = Scene::new(&NOTE);
    scene.spelunk(["ask", QUESTION, "note"]).run().check(&expect![[r#"
        --- stderr
        error: `DIR/work/note` does not exist

        hint: try `DIR/work/notes`, which does exist
        --- exit 1
    "#]]);
    assert!(!scene.exists(".spelunk"));
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_read_is_named() {
    use std::os::unix::fs::PermissionsExt as _;
    let scene = Scene::new(&NOTE);
    std::fs::set_permissions(scene.path("notes/a.md"), std::fs::Permissions::from_mode(0o000)).unwrap();
    // Root can read everything; then there is nothing to reject.
    if std::fs::read(scene.path("notes/a.md")).is_err() {
        refused(
            &scene,
            &["notes/a.md"],
            &expect![[r"
            --- stderr
            error: could not read `DIR/work/notes/a.md`
              caused by: Permission denied (os error 13)

            hint: run as a user who may read it, or exclude it
            --- exit 1
        "]],
        );
    }
}

#[test]
fn an_empty_file_holds_nothing_to_answer_from() {
    refused(
        &Scene::new(&[("empty.md", "")]),
        &["empty.md"],
        &expect![[r"
        --- stderr
        error: no readable documents in `empty.md`: skipped 1 empty

        hint: pass a path that contains text files
        --- exit 1
    "]],
    );
}

#[test]
fn an_empty_directory_holds_nothing_to_answer_from() {
    let scene = Scene::new(&[]);
    std::fs::create_dir_all(scene.path("void")).unwrap();
    refused(
        &scene,
        &["void"],
        &expect![[r"
        --- stderr
        error: no readable documents in `void`

        hint: pass a path that contains text files
        --- exit 1
    "]],
    );
}

#[test]
fn a_directory_without_readable_files_says_what_it_skipped() {
    let files = [("d/a.bin", "\0\0\0\0"), ("d/.env", "KEY=1\n"), ("d/.hidden", "h\n")];
    refused(
        &Scene::new(&files),
        &["d"],
        &expect![[r"
        --- stderr
        error: no readable documents in `d`: skipped 1 binary, 1 hidden, 1 secret

        hint: pass a skipped file itself to read it
        --- exit 1
    "]],
    );
}

#[test]
fn a_binary_file_is_not_text() {
    refused(
        &Scene::new(&[("a.bin", "\0\u{1}\u{2}\0")]),
        &["a.bin"],
        &expect![[r"
        --- stderr
        error: `a.bin` is not text: it is a binary file

        hint: extract its text first and pass that file
        --- exit 1
    "]],
    );
}

#[test]
fn a_secret_is_read_only_when_that_is_said_twice() {
    let scene = Scene::new(&[(".env", "MAGIC=42\n")]);
    refused(
        &scene,
        &[".env"],
        &expect![[r#"
            --- stderr
            error: `DIR/work/.env` may contain secrets and was not read

            hint: exclude it, or pass `--allow-secrets` if it must be read
            --- exit 1
        "#]],
    );
    let server = answering("42.\n\n```evidence\n.env:1: MAGIC=42\n```");
    let ask = scene.spelunk(["ask", QUESTION, ".env", "--allow-secrets"]).server(&server);
    ask.run().check(&expect![[r#"
        42.
          .env:1  MAGIC=42
        --- stderr
        openai/scripted (OPENAI_BASE_URL is set)
        1 file · 9 B read · 1 call · 120 tokens · $0.00 · TIME · run SHORT
        --- exit 0
    "#]]);
}

#[test]
fn empty_standard_input_holds_nothing_to_answer_from() {
    refused(
        &Scene::new(&[]),
        &["-"],
        &expect![[r#"
            --- stderr
            error: standard input is empty

            hint: pipe a text into it
            --- exit 2
        "#]],
    );
    let scene = Scene::new(&[]);
    scene.spelunk(["ask", QUESTION, "-"]).run().check(&expect![[r#"
        --- stderr
        error: standard input is empty

        hint: pipe a text into it
        --- exit 2
    "#]]);
}

#[test]
fn one_path_that_is_missing_among_good_ones_is_refused() {
    refused(
        &Scene::new(&NOTE),
        &["notes", "missing"],
        &expect![[r#"
            --- stderr
            error: `DIR/work/missing` does not exist

            hint: look in `DIR/work`, the nearest directory that exists
            --- exit 1
        "#]],
    );
}
