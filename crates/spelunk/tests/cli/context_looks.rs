//! `spelunk context peek`, `grep`, `chunk`, `load` and `search`: bounded operations, each with a next step.

use expect_test::expect;

use super::context::with_guide;
use crate::scene::Scene;

/// A long text under the id `long`: 120 numbered lines.
fn with_long() -> Scene {
    let scene = with_guide();
    let lines: Vec<String> = (1..=120).map(|n| format!("line {n} of the long text, number {n}")).collect();
    scene.write("long.txt", format!("{}\n", lines.join("\n")).repeat(3).as_bytes());
    assert_eq!(scene.spelunk(["context", "add", "long.txt"]).run().code, 0);
    scene
}

#[test]
fn a_peek_shows_the_first_lines_and_counts_the_rest() {
    let scene = with_long();
    scene.spelunk(["context", "peek", "guide"]).run().check(&expect![[r#"
        # Guide

        Install it.

        ## Use

        Run it.
        --- stderr
        hint: grep `guide` for a keyword
        --- exit 0
    "#]]);
    scene.spelunk(["context", "peek", "long", "-n", "2"]).run().check(&expect![[r#"
        line 1 of the long text, number 1
        line 2 of the long text, number 2
        [358 more lines]
        --- stderr
        hint: grep `long` for a keyword, or read page 0 of `long`
        --- exit 0
    "#]]);
    scene.spelunk(["context", "peek", "long", "-n", "2", "--quiet"]).run().check(&expect![[r#"
        line 1 of the long text, number 1
        line 2 of the long text, number 2
        [358 more lines]
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn a_peek_as_json_is_complete() {
    let scene = with_guide();
    let ran = scene.spelunk(["context", "peek", "guide", "-n", "2", "--json"]).run();
    expect![[r##"
        {
          "context": {
            "access_stats": {
              "full_loads": 0,
              "greps": 0,
              "pages": 0,
              "peeks": 1
            },
            "content_type": "prose",
            "id": "guide",
            "last_accessed_ms": 0,
            "last_modified_ms": 0,
            "name": "guide.md",
            "policy": "lazy",
            "size_bytes": 38,
            "source": "file",
            "type": "document"
          },
          "lines_shown": 2,
          "metadata": {
            "file_type": "md"
          },
          "preview": "# Guide\n",
          "suggestions": [
            "grep `guide` for a keyword"
          ],
          "truncated": false
        }
    "##]]
    .assert_eq(&format!("{:#}\n", scene.normalise_json(&ran.stdout)));
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
}

#[test]
fn a_grep_shows_lines_with_what_is_around_them() {
    let scene = with_long();
    scene.spelunk(["context", "grep", "guide", "install|RUN"]).run().check(&expect![[r#"
        1-# Guide
        2-
        3:Install it.
        4-
        5-## Use
        --
        5-## Use
        6-
        7:Run it.
        --- stderr
        hint: 2 lines match: load `guide` if you need the rest
        --- exit 0
    "#]]);
    scene.spelunk(["context", "grep", "guide", "run", "--case-sensitive", "-C", "0"]).run().check(&expect![
        [r#"
            --- stderr
            hint: nothing matches: try other keywords
            --- exit 1
        "#]
    ]);
    scene.spelunk(["context", "grep", "guide", "it.", "-F", "-C", "0"]).run().check(&expect![[r#"
        3:Install it.
        7:Run it.
        --- stderr
        hint: 2 lines match: load `guide` if you need the rest
        --- exit 0
    "#]]);
    scene.spelunk(["context", "grep", "long", "number 1\\d\\d$", "-C", "0"]).run().check(&expect![[r#"
        100:line 100 of the long text, number 100
        101:line 101 of the long text, number 101
        102:line 102 of the long text, number 102
        103:line 103 of the long text, number 103
        104:line 104 of the long text, number 104
        105:line 105 of the long text, number 105
        106:line 106 of the long text, number 106
        107:line 107 of the long text, number 107
        108:line 108 of the long text, number 108
        109:line 109 of the long text, number 109
        110:line 110 of the long text, number 110
        111:line 111 of the long text, number 111
        112:line 112 of the long text, number 112
        113:line 113 of the long text, number 113
        114:line 114 of the long text, number 114
        115:line 115 of the long text, number 115
        116:line 116 of the long text, number 116
        117:line 117 of the long text, number 117
        118:line 118 of the long text, number 118
        119:line 119 of the long text, number 119
        [43 more]
        --- stderr
        hint: 63 lines match: refine the pattern, or read page 1 of `long`
        --- exit 0
    "#]]);
}

#[test]
fn a_grep_as_json_is_complete() {
    let scene = with_guide();
    let ran = scene.spelunk(["context", "grep", "guide", "install", "--json"]).run();
    ran.check(&expect![[r###"
        {"context":"guide","matches":[{"after":["","## Use"],"before":["# Guide",""],"line":3,"text":"Install it."}],"suggestions":["1 line matches: load `guide` if you need the rest"],"total_matches":1,"truncated":false}
        --- stderr
        --- exit 0
    "###]]);
}

#[test]
fn matches_are_marked_where_colour_is_asked_for() {
    let scene = with_guide();
    let grep = scene.spelunk(["context", "grep", "guide", "it", "-C", "0", "-q"]);
    let ran = grep.arg("--set").arg("output.color=always").run();
    expect![[r#"3:Install \u{1b}[1;31mit\u{1b}[0m.\n7:Run \u{1b}[1;31mit\u{1b}[0m.\n"#]]
        .assert_eq(&ran.stdout.escape_debug().to_string());
}

#[test]
fn pages_follow_each_other() {
    let scene = with_long();
    scene.spelunk(["context", "chunk", "long", "1", "-n", "3"]).run().check(&expect![[r#"
        line 4 of the long text, number 4
        line 5 of the long text, number 5
        line 6 of the long text, number 6
        [page 1; the last one is 119; lines 4-6 of 360]
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(["context", "chunk", "long", "119", "-n", "3", "--json"]).run().check(&expect![[r#"
        {"chunk":119,"content":"line 118 of the long text, number 118\nline 119 of the long text, number 119\nline 120 of the long text, number 120\n","context":"long","lines":"358-360 of 360","navigation":{"next":null,"prev":118},"total_chunks":120}
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(["context", "chunk", "guide"]).run().check(&expect![[r#"
        # Guide

        Install it.

        ## Use

        Run it.
        [the only page; lines 1-7 of 7]
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn a_load_prints_everything_and_warns_of_length() {
    let scene = with_long();
    scene.spelunk(["context", "load", "guide"]).run().check(&expect![[r#"
        # Guide

        Install it.

        ## Use

        Run it.
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(["context", "load", "guide", "--json"]).run().check(&expect![[r##"
        {"content":"# Guide\n\nInstall it.\n\n## Use\n\nRun it.\n","context":"guide","size_chars":38,"size_tokens_approx":9,"warning":null}
        --- stderr
        --- exit 0
    "##]]);
    let ran = scene.spelunk(["context", "load", "long"]).run();
    assert_eq!(ran.stdout, scene.read("long.txt"));
    expect![[r#"
        warning: long text (about 3258 tokens): grep it or read it in pages
    "#]]
    .assert_eq(&ran.stderr);
}

#[test]
fn a_load_into_a_file_is_the_text_as_it_is() {
    let scene = Scene::new(&[("crlf.txt", "one\r\ntwo \u{1b}[31m\r\nthree")]);
    scene.spelunk(["context", "add", "crlf.txt"]).run();
    let ran = scene.spelunk(["context", "load", "crlf"]).run();
    assert_eq!(ran.stdout, "one\r\ntwo \u{1b}[31m\r\nthree");
    let ran = scene.spelunk(["context", "peek", "crlf"]).run();
    assert_eq!(ran.stdout, "one\ntwo [31m\nthree\n");
}

#[test]
fn a_search_looks_into_every_context() {
    let scene = with_long();
    scene.spelunk(["context", "search", "install|line 77 "]).run().check(&expect![[r#"
        guide  (1 line)
          3:Install it.
        long  (3 lines)
          77:line 77 of the long text, number 77
          197:line 77 of the long text, number 77
          317:line 77 of the long text, number 77
        [matches in 2 of 2 contexts]
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(["context", "search", "zebra"]).run().check(&expect![[r#"
        [matches in 0 of 2 contexts]
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(["context", "search", "install", "--json"]).run().check(&expect![[r#"
        {"results":[{"context_id":"guide","match_count":1,"matches":[{"after":[],"before":[],"line":3,"text":"Install it."}],"name":"guide.md","type":"document"}],"searched":2,"unread":[]}
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn a_search_by_meaning_finds_paragraphs_that_share_no_word_with_the_question() {
    let scene = with_guide();
    scene.write(
        "cats.md",
        b"# Cats\n\nThe kitten sleeps on the sofa.\n\n# Money\n\nThe invoice is due on Friday.\n",
    );
    assert_eq!(scene.spelunk(["context", "add", "cats.md"]).run().code, 0);
    scene.spelunk(["context", "search", "payment deadline", "cats", "--semantic"]).run().check(&expect![[
        r#"
        cats:7  similarity 0.45
            The invoice is due on Friday.
        [1 passage in 1 context by meaning]
        --- stderr
        --- exit 0
    "#
    ]]);
    scene.spelunk(["context", "search", "where does the pet rest", "--semantic"]).run().check(&expect![[
        r#"
        cats:3  similarity 0.40
            The kitten sleeps on the sofa.
        guide:7  similarity 0.15
            Run it.
        guide:3  similarity 0.09
            Install it.
        [3 passages in 2 contexts by meaning]
        --- stderr
        --- exit 0
    "#
    ]]);
    let ran = scene.spelunk(["context", "search", "payment deadline", "cats", "--semantic", "--json"]).run();
    let found: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(found["results"][0]["chunk"], "# Money\n\nThe invoice is due on Friday.\n");
    // An empty query, no match, and an unknown context.
    scene.spelunk(["context", "search", " ", "--semantic"]).run().check(&expect![[r#"
        --- stderr
        error: the query is empty

        hint: write what to search for
        --- exit 2
    "#]]);
    scene.spelunk(["context", "search", "x", "nope", "--semantic"]).run().check(&expect![[r#"
        --- stderr
        error: there is no context `nope`

        hint: list the contexts to see their ids
        --- exit 1
    "#]]);
    scene.spelunk(["context", "search", "x", "cats"]).run().check(&expect![[r#"
        --- stderr
        error: the following required arguments were not provided:
          --semantic

        Usage: spelunk context search --semantic <QUERY> <ID>

        For more information, try '--help'.
        --- exit 2
    "#]]);
}

#[test]
fn a_changed_file_is_seen_as_it_is_now() {
    let scene = with_guide();
    scene.spelunk(["context", "load", "guide"]).run();
    scene.write("docs/guide.md", b"Rewritten.\n");
    scene.spelunk(["context", "load", "guide"]).run().check(&expect![[r#"
        Rewritten.
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(["context", "grep", "guide", "install"]).run().check(&expect![[r#"
        --- stderr
        hint: nothing matches: try other keywords
        --- exit 1
    "#]]);
    scene.spelunk(["context", "list"]).run().check(&expect![[r#"
        guide  document    lazy    file   prose                11 B, read 3 times, last DATE
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn an_empty_file_is_a_text_of_no_lines() {
    let scene = Scene::new(&[("empty.md", "")]);
    scene.spelunk(["context", "add", "empty.md"]).run().check(&expect![[r#"
        empty
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(["context", "peek", "empty"]).run().check(&expect![[r#"
        [empty]
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(["context", "chunk", "empty"]).run().check(&expect![[r#"
        [empty]
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(["context", "load", "empty"]).run().check(&expect![[r#"
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn secrets_are_taken_out_of_every_look() {
    let token = "ghp_Zk3vQ9xT7bLmW2rY8nHc5JdPf4SgA1uEoK6i";
    let scene = Scene::new(&[("a.txt", &format!("user = bob\ntoken = {token}\n"))]);
    scene.spelunk(["context", "add", "a.txt"]).run();
    scene.spelunk(["context", "load", "a"]).run().check(&expect![[r#"
        user = bob
        token = [secret:github-token]
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(["context", "peek", "a", "-q"]).run().check(&expect![[r#"
        user = bob
        token = [secret:github-token]
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(["context", "grep", "a", "token", "-q"]).run().check(&expect![[r#"
        1-user = bob
        2:token = [secret:github-token]
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(["context", "chunk", "a", "-q"]).run().check(&expect![[r#"
        user = bob
        token = [secret:github-token]
        [the only page; lines 1-2 of 2]
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(["context", "search", "token"]).run().check(&expect![[r#"
        a  (1 line)
          2:token = [secret:github-token]
        [matches in 1 of 1 context]
        --- stderr
        --- exit 0
    "#]]);
    let ran = scene.spelunk(["context", "load", "a", "--allow-secrets"]).run();
    assert_eq!(ran.stdout, scene.read("a.txt"));
}

#[test]
fn a_secret_cannot_be_guessed_by_searching() {
    let token = "ghp_Zk3vQ9xT7bLmW2rY8nHc5JdPf4SgA1uEoK6i";
    let scene = Scene::new(&[("a.txt", &format!("user = bob\ntoken = {token}\n"))]);
    scene.spelunk(["context", "add", "a.txt"]).run();
    let nothing = expect![[r#"
        --- stderr
        hint: nothing matches: try other keywords
        --- exit 1
    "#]];
    scene.spelunk(["context", "grep", "a", "ghp_Zk3v"]).run().check(&nothing);
    scene.spelunk(["context", "grep", "a", "ghp_Wrong"]).run().check(&nothing);
    scene.spelunk(["context", "grep", "a", "github-token"]).run().check(&nothing);
    // If a correct guess hid the line, that would reveal as much as showing it.
    let line = expect![[r#"
        1-user = bob
        2:token = [secret:github-token]
        --- stderr
        --- exit 0
    "#]];
    scene.spelunk(["context", "grep", "a", "token = (ghp_Zk3v)?", "-q"]).run().check(&line);
    scene.spelunk(["context", "grep", "a", "token = (ghp_Wrong)?", "-q"]).run().check(&line);
    scene.spelunk(["context", "search", "ghp_"]).run().check(&expect![[r#"
        [matches in 0 of 1 context]
        --- stderr
        --- exit 0
    "#]]);
    scene.spelunk(["context", "grep", "a", "ghp_Zk3v", "-q", "--allow-secrets"]).run().check(&expect![[r#"
        1-user = bob
        2:token = ghp_Zk3vQ9xT7bLmW2rY8nHc5JdPf4SgA1uEoK6i
        --- stderr
        --- exit 0
    "#]]);
}

#[test]
fn a_grep_without_a_match_exits_as_grep_does() {
    let scene = with_guide();
    scene.spelunk(["context", "grep", "guide", "zebra"]).run().check(&expect![[r#"
        --- stderr
        hint: nothing matches: try other keywords
        --- exit 1
    "#]]);
    scene.spelunk(["context", "grep", "guide", "zebra", "--json"]).run().check(&expect![[r#"
        {"context":"guide","matches":[],"suggestions":["nothing matches: try other keywords"],"total_matches":0,"truncated":false}
        --- stderr
        --- exit 1
    "#]]);
}
