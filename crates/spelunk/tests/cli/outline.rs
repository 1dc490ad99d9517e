//! `spelunk outline`: what there is to read, and the landmarks of one file.

use expect_test::{Expect, expect};

use crate::scene::Scene;

const FILES: [(&str, &str); 4] = [
    ("docs/guide.md", "# Guide\n\nWords.\n\n## Install\n\n```sh\n# not a heading\n```\n\n## Use\n"),
    ("docs/app.py", "import os\n\ndef main():\n    pass\n\nclass App:\n    def run(self):\n        pass\n"),
    ("docs/app.toml", "name = 1\n[server]\nport = 80\n[client]\nport = 81\n"),
    ("docs/.hidden", "h\n"),
];

#[track_caller]
fn check(args: &[&'static str], expected: &Expect) {
    Scene::new(&FILES).spelunk([&["outline"], args].concat()).run().check(expected);
}

#[test]
fn a_folder_is_shown_by_extension_and_size() {
    check(
        &["docs"],
        &expect![[r#"
        3 documents, 186 B
        by extension:
          .py: 1 document, 76 B
          .md: 1 document, 63 B
          .toml: 1 document, 47 B
        largest:
          app.py: 76 B
          guide.md: 63 B
          app.toml: 47 B
        --- stderr
        Skipped: 1 hidden
        --- exit 0
    "#]],
    );
}

#[test]
fn json_holds_the_same() {
    check(
        &["docs", "--json", "-q"],
        &expect![[r#"
        {"bytes":186,"documents":3,"extensions":[{"bytes":76,"documents":1,"extension":"py"},{"bytes":63,"documents":1,"extension":"md"},{"bytes":47,"documents":1,"extension":"toml"}],"largest":[{"bytes":76,"name":"app.py"},{"bytes":63,"name":"guide.md"},{"bytes":47,"name":"app.toml"}]}
        --- stderr
        --- exit 0
    "#]],
    );
}

#[test]
fn of_one_document_the_landmarks_are_shown() {
    check(
        &["docs/guide.md"],
        &expect![[r#"
        1 document, 63 B: docs/guide.md
        type: prose
        1: # Guide
        5:   ## Install
        11:   ## Use
        --- stderr
        --- exit 0
    "#]],
    );
    check(
        &["docs/app.py"],
        &expect![[r#"
        1 document, 76 B: docs/app.py
        type: source_code
        3: def main():
        6: class App:
        --- stderr
        --- exit 0
    "#]],
    );
    check(
        &["docs/app.toml"],
        &expect![[r#"
        1 document, 47 B: docs/app.toml
        type: config
        2: [server]
        4: [client]
        --- stderr
        --- exit 0
    "#]],
    );
}

#[test]
fn of_one_document_json_holds_the_landmarks() {
    check(
        &["docs/guide.md", "--json"],
        &expect![[r###"
            {"bytes":63,"custom_type":null,"documents":1,"extensions":[{"bytes":63,"documents":1,"extension":"md"}],"landmarks":[{"depth":0,"line":1,"text":"# Guide"},{"depth":1,"line":5,"text":"## Install"},{"depth":1,"line":11,"text":"## Use"}],"landmarks_left_out":0,"largest":[{"bytes":63,"name":"docs/guide.md"}],"type":"prose","whole":true}
            --- stderr
            --- exit 0
        "###]],
    );
}

#[test]
fn flags_say_which_files_count() {
    check(
        &["--include", "*.py", "--exclude", "docs/x"],
        &expect![[r#"
        1 document, 76 B: docs/app.py
        type: source_code
        3: def main():
        6: class App:
        --- stderr
        Skipped: 2 filtered, 1 hidden
        --- exit 0
    "#]],
    );
}

#[test]
fn standard_input_has_landmarks_too() {
    let scene = Scene::new(&[]);
    scene.spelunk(["outline", "-"]).stdin("# One\n\ntext\n\n## Two\n").run().check(&expect![[r#"
        1 document, 20 B: stdin
        type: prose
        1: # One
        5:   ## Two
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn a_terminal_never_gets_escapes_from_a_document() {
    let scene = Scene::new(&[("a.md", "# One\u{1b}]0;owned\u{7} title\n\n## Two\n\ntext\n")]);
    scene.spelunk(["outline", "a.md"]).run().check(&expect![[r#"
        1 document, 36 B: a.md
        type: prose
        1: # One]0;owned title
        3:   ## Two
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn a_path_that_does_not_exist_is_refused() {
    check(
        &["doc"],
        &expect![[r#"
            --- stderr
            error: `DIR/work/doc` does not exist

            hint: try `DIR/work/docs`, which does exist
            --- exit 1
        "#]],
    );
}
