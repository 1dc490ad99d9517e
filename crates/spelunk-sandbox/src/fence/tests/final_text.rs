//! Answers in text.

use expect_test::expect;

use super::check;

#[test]
fn a_final_line_is_the_answer() {
    check(
        "I know.\nFINAL(42)\n",
        &expect![[r#"
        final: "42"
        prose: "I know."
    "#]],
    );
    check(
        "FINAL_VAR(result)",
        &expect![[r#"
        final variable: result
    "#]],
    );
    check(
        "FINAL_VAR(\"result\")  \nbye",
        &expect![[r#"
        final variable: result
        prose: "bye"
    "#]],
    );
}

// Requirement B3.2: the origin stopped at the first closing bracket.
#[test]
fn brackets_in_the_answer_are_balanced() {
    check(
        "FINAL(The answer (see f(x)) is 4)",
        &expect![[r#"
        final: "The answer (see f(x)) is 4"
    "#]],
    );
    check(
        "FINAL(a\n(b\nc)\nd)\nrest",
        &expect![[r#"
        final: "a\n(b\nc)\nd"
        prose: "rest"
    "#]],
    );
}

#[test]
fn quotes_are_respected_and_stripped() {
    check(
        "FINAL(\"a :) smile\")",
        &expect![[r#"
        final: "a :) smile"
    "#]],
    );
    check(
        "FINAL('''1) one\n2) two''')",
        &expect![[r#"
        final: "1) one\n2) two"
    "#]],
    );
    check(
        "FINAL(\"1) one\n2) two\")",
        &expect![[r#"
        final: "1) one\n2) two"
    "#]],
    );
    check(
        "FINAL(It's 5 o'clock (sharp))",
        &expect![[r#"
        final: "It's 5 o'clock (sharp)"
    "#]],
    );
    check(
        "FINAL(the word \")\" closes)",
        &expect![[r#"
        final: "the word \")\" closes"
    "#]],
    );
    check(
        "FINAL(\"a\" and \"b\")",
        &expect![[r#"
        final: "\"a\" and \"b\""
    "#]],
    );
    check(
        "FINAL('tis so)\nit's",
        &expect![[r#"
        final: "'tis so"
        prose: "it's"
    "#]],
    );
    check(
        "FINAL(\"say \\\"hi\\\"\")",
        &expect![[r#"
        final: "say \\\"hi\\\""
    "#]],
    );
}

#[test]
fn mentions_are_not_answers() {
    check(
        "I will call FINAL(answer) later",
        &expect![[r#"
        prose: "I will call FINAL(answer) later"
    "#]],
    );
    check(
        "FINAL(answer) is what I will call",
        &expect![[r#"
        prose: "FINAL(answer) is what I will call"
    "#]],
    );
    check(
        "`FINAL(a)`",
        &expect![[r#"
        prose: "`FINAL(a)`"
    "#]],
    );
    check(
        "    FINAL(indented code)",
        &expect![[r#"
        prose: "FINAL(indented code)"
    "#]],
    );
    check(
        "FINAL(",
        &expect![[r#"
        prose: "FINAL("
    "#]],
    );
    check(
        "FINAL()",
        &expect![[r#"
        prose: "FINAL()"
    "#]],
    );
    check(
        "FINAL(not closed",
        &expect![[r#"
        prose: "FINAL(not closed"
    "#]],
    );
    check(
        "FINAL_VAR(a b)",
        &expect![[r#"
        prose: "FINAL_VAR(a b)"
    "#]],
    );
    check(
        "FINALLY(a)",
        &expect![[r#"
        prose: "FINALLY(a)"
    "#]],
    );
}

#[test]
fn an_answer_in_an_inline_code_span_does_not_count() {
    check(
        "Write `x\nFINAL(a)\ny` then.",
        &expect![[r#"
        prose: "Write `x\nFINAL(a)\ny` then."
    "#]],
    );
    check(
        "A lone ` here\nFINAL(a)\n\nand ` there",
        &expect![[r#"
        final: "a"
        prose: "A lone ` here\n\nand ` there"
    "#]],
    );
    check(
        "A ``pair`` and `one`\nFINAL(a)\n",
        &expect![[r#"
        final: "a"
        prose: "A ``pair`` and `one`"
    "#]],
    );
}

// rlm#115: `FINAL(s)` within a block gave the literal `s`.
#[test]
fn an_answer_in_code_is_the_business_of_the_code() {
    check(
        "```repl\ns = 1\nFINAL(s)\n```\n",
        &expect![[r#"
        cell at line 2: "s = 1\nFINAL(s)"
    "#]],
    );
    check(
        "```text\nFINAL(no)\n```\n",
        &expect![[r#"
        prose: "```text\nFINAL(no)\n```"
    "#]],
    );
    check(
        "```\nno code here\nFINAL(no)\n```\n",
        &expect![[r#"
            prose: "```\nno code here\nFINAL(no)\n```"
        "#]],
    );
}

#[test]
fn code_within_an_answer_is_the_answer() {
    check(
        "FINAL(Use this:\n```python\nprint(1)\n```\n)\n",
        &expect![[r#"
        final: "Use this:\n```python\nprint(1)\n```"
    "#]],
    );
}

#[test]
fn the_first_answer_counts() {
    check(
        "FINAL(a)\nUser: and now?\nFINAL(b)",
        &expect![[r#"
        final: "a"
        prose: "User: and now?\nFINAL(b)"
    "#]],
    );
}
