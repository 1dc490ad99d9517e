//! Contexts that do not exist, cannot be read or are queried wrongly, and a damaged registry.

use expect_test::{Expect, expect};

use crate::scene::Scene;

/// Two contexts: `guide`, with nine lines, and `notes`.
fn scene() -> Scene {
    let scene = Scene::new(&[("guide.md", &"one line\n".repeat(9)), ("notes.md", "# Notes\n")]);
    assert_eq!(scene.spelunk(["context", "add", "guide.md"]).run().code, 0);
    assert_eq!(scene.spelunk(["context", "add", "notes.md"]).run().code, 0);
    scene
}

#[track_caller]
fn refused(args: &[&'static str], expected: &Expect) {
    let scene = scene();
    let registry = scene.read(".spelunk/registry.json");
    scene.spelunk([&["context"], args].concat()).run().check(expected);
    assert_eq!(scene.read(".spelunk/registry.json"), registry);
}

#[test]
fn an_unknown_context_is_answered_with_the_nearest() {
    refused(
        &["peek", "giude"],
        &expect![[r#"
            --- stderr
            error: there is no context `giude`

            hint: did you mean `guide`?
            --- exit 1
        "#]],
    );
    refused(
        &["load", "zebra"],
        &expect![[r#"
        --- stderr
        error: there is no context `zebra`

        hint: list the contexts to see their ids
        --- exit 1
    "#]],
    );
    refused(
        &["rm", "note"],
        &expect![[r#"
        --- stderr
        error: there is no context `note`

        hint: did you mean `notes`?
        --- exit 1
    "#]],
    );
    refused(
        &["grep", "guid", "x", "--json"],
        &expect![[r#"
            {"error":{"causes":[],"code":"context-not-found","hint":"did you mean `guide`?","message":"there is no context `guid`"}}
            --- stderr
            error: there is no context `guid`

            hint: did you mean `guide`?
            --- exit 1
        "#]],
    );
}

#[test]
fn an_unknown_kind_is_answered_with_the_known_ones() {
    refused(
        &["list", "--kind", "documents"],
        &expect![[r#"
        --- stderr
        error: there is no kind `documents`

        hint: the kinds are `identity`, `project`, `temporal`, `document`, `memory`, `tool_result`, `web`
        --- exit 2
    "#]],
    );
    refused(
        &["add", "guide.md", "--kind", "Bad Kind"],
        &expect![[r#"
            --- stderr
            error: `Bad Kind` is not a valid kind

            hint: use 1 to 64 lowercase letters, digits, `_`, `-`, and no built-in name
            --- exit 2
        "#]],
    );
}

#[test]
fn an_id_that_cannot_be_is_refused() {
    refused(
        &["add", "guide.md", "--id", ""],
        &expect![[r#"
        --- stderr
        error: `` is not a valid context id: it is empty

        hint: use a short id on one line, such as `project:notes`
        --- exit 2
    "#]],
    );
    refused(
        &["add", "guide.md", "--id", "stats"],
        &expect![[r#"
        --- stderr
        error: `stats` is not a valid context id: it is a reserved word

        hint: put a prefix before it, as in `document:stats`
        --- exit 2
    "#]],
    );
    refused(
        &["add", "-"],
        &expect![[r#"
        --- stderr
        error: text from standard input needs an id

        hint: set one with `--id`
        --- exit 2
    "#]],
    );
}

#[test]
fn numbers_out_of_range_are_refused() {
    refused(
        &["peek", "guide", "-n", "0"],
        &expect![[r#"
        --- stderr
        error: lines of a peek must be between 1 and 50, not 0

        hint: give a value from 1 to 50
        --- exit 2
    "#]],
    );
    refused(
        &["peek", "guide", "-n", "5000"],
        &expect![[r#"
        --- stderr
        error: lines of a peek must be between 1 and 50, not 5000

        hint: give a value from 1 to 50
        --- exit 2
    "#]],
    );
    refused(
        &["peek", "guide", "-n", "-3"],
        &expect![[r#"
        --- stderr
        error: unexpected argument '-3' found

          tip: to pass '-3' as a value, use '-- -3'

        Usage: spelunk context peek [OPTIONS] <ID>

        For more information, try '--help'.
        --- exit 2
    "#]],
    );
    refused(
        &["chunk", "guide", "9"],
        &expect![[r#"
        --- stderr
        error: `guide` has no page 9: the only page is 0

        hint: ask for a page from 0 to 0
        --- exit 2
    "#]],
    );
    refused(
        &["chunk", "guide", "18446744073709551615"],
        &expect![[r#"
        --- stderr
        error: `guide` has no page 18446744073709551615: the only page is 0

        hint: ask for a page from 0 to 0
        --- exit 2
    "#]],
    );
    refused(
        &["chunk", "guide", "0", "-n", "0"],
        &expect![[r#"
        --- stderr
        error: lines of a page must be between 1 and 200, not 0

        hint: give a value from 1 to 200
        --- exit 2
    "#]],
    );
    refused(
        &["grep", "guide", "line", "-C", "100000"],
        &expect![[r#"
        --- stderr
        error: lines of context must be between 0 and 10, not 100000

        hint: give a value from 0 to 10
        --- exit 2
    "#]],
    );
}

#[test]
fn a_broken_pattern_is_pointed_at() {
    refused(
        &["grep", "guide", "line (one|two"],
        &expect![[r#"
            --- stderr
            error: the pattern is not a valid regular expression: unclosed group
                line (one|two
                     ^

            hint: correct it, or search for a literal string (`literal`)
            --- exit 2
        "#]],
    );
    refused(
        &["search", "a{3,1}"],
        &expect![[r#"
            --- stderr
            error: the pattern is not a valid regular expression: invalid repetition count range, the start must be <= the end
                a{3,1}
                 ^

            hint: correct it, or search for a literal string (`literal`)
            --- exit 2
        "#]],
    );
    refused(
        &["grep", "guide", ""],
        &expect![[r#"
        --- stderr
        error: the pattern is empty

        hint: give a pattern to search for
        --- exit 2
    "#]],
    );
}

#[test]
fn a_pattern_that_would_ruin_other_engines_is_searched_in_linear_time() {
    let scene = Scene::new(&[("a.txt", &format!("{}!\n", "a".repeat(5000)))]);
    scene.spelunk(["context", "add", "a.txt"]).run();
    scene.spelunk(["context", "grep", "a", "(a+)+$"]).run().check(&expect![[r#"
        --- stderr
        hint: nothing matches: try other keywords
        --- exit 1
    "#]]);
}

#[test]
fn what_cannot_be_a_context_is_refused() {
    refused(
        &["add", "guid.md"],
        &expect![[r#"
            --- stderr
            error: could not read the context `guid`
              caused by: `DIR/work/guid.md` does not exist

            hint: try `DIR/work/guide.md`, which does exist
            --- exit 1
        "#]],
    );
    refused(
        &["add", "guid.md", "--id", "x"],
        &expect![[r#"
            --- stderr
            error: could not read the context `x`
              caused by: `DIR/work/guid.md` does not exist

            hint: try `DIR/work/guide.md`, which does exist
            --- exit 1
        "#]],
    );
    refused(
        &["add", ".", "--pattern", "[a"],
        &expect![[r#"
        --- stderr
        error: `[a` is not a valid file pattern: error parsing glob '[a': unclosed character class; missing ']'

        hint: use a pattern such as `*.md` or `**/*.md`
        --- exit 2
    "#]],
    );
}

#[test]
fn a_binary_file_is_refused_and_left_out_of_a_directory() {
    let scene = Scene::new(&[("a.bin", "\0\u{1}\u{2}\0")]);
    scene.spelunk(["context", "add", "a.bin"]).run().check(&expect![[r#"
        --- stderr
        error: could not read the context `a`
          caused by: `DIR/work/a.bin` is not text: it is a binary file

        hint: extract its text first and pass that file
        --- exit 1
    "#]]);
    scene.write("b.md", b"text\n");
    scene.spelunk(["context", "add", "."]).run().check(&expect![[r#"
        b
        --- stderr
        1 registered, 0 already known, skipped: 1 binary
        --- exit 0
    "#]]);
}

#[test]
fn standard_input_that_is_not_text_is_refused() {
    let scene = Scene::new(&[]);
    let add = scene.spelunk(["context", "add", "-", "--id", "x"]).stdin([0xff, 0xfe, 0xfd]);
    add.run().check(&expect![[r#"
        --- stderr
        error: standard input is not UTF-8

        hint: write it to a file and add it
        --- exit 2
    "#]]);
}

#[test]
fn a_file_that_vanished_is_named_and_comes_back() {
    let scene = scene();
    std::fs::rename(scene.path("guide.md"), scene.path("away.md")).unwrap();
    scene.spelunk(["context", "peek", "guide"]).run().check(&expect![[r#"
        --- stderr
        error: could not read the context `guide`
          caused by: `DIR/work/guide.md` does not exist

        hint: look in `DIR/work`, the nearest directory that exists
        --- exit 1
    "#]]);
    scene.spelunk(["context", "search", "line|notes"]).run().check(&expect![[r#"
        notes  (1 line)
          1:# Notes
        [guide: could not read the context `guide`: `DIR/work/guide.md` does not exist]
        [matches in 1 of 1 context]
        --- stderr
        --- exit 0
    "#]]);
    std::fs::rename(scene.path("away.md"), scene.path("guide.md")).unwrap();
    scene.spelunk(["context", "peek", "guide", "-n", "1", "-q"]).run().check(&expect![[r#"
        one line
        [8 more lines]
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn what_is_too_large_to_load_is_refused() {
    refused(
        &["load", "guide", "--set", "limits.load_bytes_max=20"],
        &expect![[r#"
        --- stderr
        error: `guide` is too large to load in full: 81 bytes; the maximum is 20

        hint: grep it or read it in pages
        --- exit 1
    "#]],
    );
}

#[test]
fn a_registry_cut_in_half_gives_its_good_entries_with_a_warning() {
    let scene = scene();
    let registry = scene.read(".spelunk/registry.json");
    let half = registry.find("\"id\":\"notes\"").unwrap() + 20;
    scene.write(".spelunk/registry.json", &registry.as_bytes()[..half]);
    scene.spelunk(["context", "list"]).run().check(&expect![[r#"
        guide  document    lazy    file   prose                81 B, never read
        --- stderr
        warning: the registry was damaged: 1 context was kept, 1 lost; the damaged file is `DIR/work/.spelunk/registry.json.damaged-1`
        --- exit 0
    "#]]);
    scene.spelunk(["context", "add", "notes.md"]).run().check(&expect![[r#"
        notes
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(["context", "list"]).run().check(&expect![[r#"
        guide  document    lazy    file   prose                81 B, never read
        notes  document    lazy    file   prose                 8 B, never read
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn a_registry_that_is_no_registry_is_not_overwritten_in_silence() {
    let scene = scene();
    scene.write(".spelunk/registry.json", b"not json at all\n");
    scene.spelunk(["context", "list"]).run().check(&expect![[r#"
        --- stderr
        warning: the registry was damaged: 0 contexts were kept, 0 lost; the damaged file is `DIR/work/.spelunk/registry.json.damaged-1`
        no contexts; add one with `spelunk context add PATH`
        --- exit 0
    "#]]);
}

#[test]
fn a_registry_of_a_newer_version_is_left_alone() {
    let scene = scene();
    let newer = b"{\"version\":9,\"contexts\":[]}\n";
    scene.write(".spelunk/registry.json", newer);
    scene.spelunk(["context", "list", "--json"]).run().check(&expect![[r#"
        {"error":{"causes":[],"code":"registry-newer","hint":"use the newer version of spelunk","message":"the registry `DIR/work/.spelunk/registry.json` was written by a newer version of spelunk: version 9"}}
        --- stderr
        error: the registry `DIR/work/.spelunk/registry.json` was written by a newer version of spelunk: version 9

        hint: use the newer version of spelunk
        --- exit 1
    "#]]);
    assert_eq!(scene.read(".spelunk/registry.json").as_bytes(), newer);
}

#[test]
fn an_id_that_is_taken_has_a_code_of_its_own() {
    refused(
        &["add", "notes.md", "--id", "guide", "--json"],
        &expect![[r#"
        {"error":{"causes":[],"code":"context-exists","hint":"use another id, or pass `--replace` to replace the context","message":"the context `guide` already exists"}}
        --- stderr
        error: the context `guide` already exists

        hint: use another id, or pass `--replace` to replace the context
        --- exit 1
    "#]],
    );
}
