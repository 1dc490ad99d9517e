//! Sentences, values, and which of them support an answer.

use expect_test::{Expect, expect};

use super::*;

fn excerpt(document: &str, line_start: u64, text: &str) -> Excerpt {
    Excerpt { document: document.to_owned(), line_start, text: text.to_owned() }
}

fn check_sentences(text: &str, expected: &Expect) {
    let excerpt = excerpt("a.txt", 10, text);
    let lines =
        sentences_of(&excerpt).into_iter().map(|sentence| format!("{}: {}\n", sentence.line, sentence.text));
    expected.assert_eq(&lines.collect::<String>());
}

#[test]
fn sentences_continue_over_wrapped_lines() {
    check_sentences(
        "# Timeouts\n\nThe client waits for thirty\nseconds. Then it closes\nthe connection, e.g. after\na restart.\n\n\
         - first item\n- second item,\n  continued\n1. numbered\n| a | b |\n",
        &expect![[r#"
            10: # Timeouts
            12: The client waits for thirty seconds.
            13: Then it closes the connection, e.g. after a restart.
            17: - first item
            18: - second item, continued
            20: 1. numbered
            21: | a | b |
        "#]],
    );
    check_sentences(
        "let a = 1;\nlet b = call(a,\n    2);\n",
        &expect![[r#"
            10: let a = 1;
            11: let b = call(a,
            12: 2);
        "#]],
    );
    check_sentences(
        "超时为三十秒。然后连接关闭。\n",
        &expect![[r#"
            10: 超时为三十秒。
            10: 然后连接关闭。
        "#]],
    );
    check_sentences("", &expect![""]);
}

fn check(question: &str, answer: &str, expected: &Expect) {
    let excerpts = [
        excerpt(
            "guide.md",
            5,
            "The cache keeps 4,096 entries. It is emptied at midnight.\nThe queue keeps 512 entries, and\nold ones \
             are dropped. Written by Ada Lind.\n",
        ),
        excerpt("src/cache.py", 40, "def evict(self, limit=300):\n    raise CacheFull(limit)\n"),
    ];
    let Support { citations, unknown_values } = support(question, answer, &excerpts);
    let lines = citations.iter().map(|citation| {
        let Citation { document, line, quote } = citation;
        format!("{document}:{line}: {quote}\n")
    });
    let unknown = unknown_values.iter().map(|value| format!("unknown: {value}\n"));
    expected.assert_eq(&lines.chain(unknown).collect::<String>());
}

#[test]
fn a_sentence_supports_an_answer_by_its_value_and_its_subject() {
    check(
        "How many entries does the cache hold?",
        "The cache holds 4096 entries.",
        &expect![[r#"
            guide.md:5: The cache keeps 4,096 entries.
        "#]],
    );
    check(
        "Wie viele Einträge hat die `queue`?",
        "512",
        &expect![[r#"
            guide.md:6: The queue keeps 512 entries, and old ones are dropped.
        "#]],
    );
    check(
        "How many entries does the cache hold?",
        "It holds 8000.",
        &expect![[r#"
        unknown: 8000
    "#]],
    );
    check(
        "Which exception does evict raise?",
        "`CacheFull`",
        &expect![[r#"
        src/cache.py:41: raise CacheFull(limit)
    "#]],
    );
    check(
        "When is the cache emptied?",
        "at midnight",
        &expect![[r#"
        guide.md:5: It is emptied at midnight.
    "#]],
    );
    check(
        "When is the cache emptied?",
        "Every night, once more.",
        &expect![[r#"
        unknown: every
        unknown: more
        unknown: night
        unknown: once
    "#]],
    );
    check("缓存有多少条目？", "有4096条", &expect![""]);
    check(
        "缓存有多少条目？",
        "有8000条",
        &expect![[r#"
        unknown: 8000
    "#]],
    );
    check("", "", &expect![""]);
}

#[test]
fn values_are_what_an_answer_adds_to_its_question() {
    let cases = [
        ("What is the port?", "The port is 8080.", vec!["8080"]),
        ("Who wrote it?", "It was written by Ada Lind.", vec!["Ada", "Lind"]),
        ("Where is `evict` defined?", "In src/cache.py, as evict.", vec!["src/cache.py"]),
        ("Is 512 the limit of the queue?", "Yes, 512 is.", vec!["yes"]),
        ("Which colour?", "blue", vec!["blue"]),
        ("谁写的？", "李四写的", vec!["李四写的"]),
    ];
    for (question, answer, expected) in cases {
        assert_eq!(values(question, answer), expected, "{question}");
    }
}

#[test]
fn words_are_separate_where_the_script_separates_them() {
    assert!(contains_word("the port 80 is", "80"));
    assert!(!contains_word("the port 8080 is", "80"));
    assert!(!contains_word("max_size", "max"));
    assert!(contains_word("端口是八十号", "八十"));
    assert!(!contains_word("anything", ""));
}

#[test]
fn what_only_resembles_an_answer_does_not_support_it() {
    let excerpts = [excerpt(
        "rules.md",
        1,
        "Orders above 1,500 euros need the approval of the finance team.\nThe service was not affected in March.\n\
         Version 2.1.3 costs 17.5 euros.\n",
    )];
    let cited = |question: &str, answer: &str| support(question, answer, &excerpts).citations.len();
    assert_eq!(cited("Which orders need approval?", "Orders above 1,500 euros."), 1);
    assert_eq!(cited("Which orders need approval?", "Orders above 1500 euros."), 1);
    assert_eq!(cited("Who gives the approval of orders?", "The finance team."), 1);
    for (question, answer) in [
        ("Which orders need approval?", "Orders above 500 euros."),
        ("Which orders need approval?", "Orders above 1,5 euros."),
        ("Which orders need approval?", "Orders above 7,500 euros."),
        ("Who gives the approval of orders?", "The legal team."),
        ("Was the service affected in March?", "Yes, it was."),
        ("What does the version cost?", "5 euros."),
        ("What does the version cost?", "17 euros."),
        ("Which version is it?", "Version 2.1"),
    ] {
        assert_eq!(cited(question, answer), 0, "{answer}");
    }
}
