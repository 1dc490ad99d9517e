use expect_test::{Expect, expect};

use super::*;

fn check(reply: &str, expected: &Expect) {
    let (text, claims) = split(reply);
    let mut shown = format!("{text}\n--\n");
    for Citation { document, line, quote } in claims {
        shown += &format!("{document} | {line} | {quote}\n");
    }
    expected.assert_eq(&shown);
}

#[test]
fn the_evidence_block_is_taken_off_the_answer() {
    check(
        "Three services.\n\n```evidence\na/b.go:88: billingV1.Charge(ctx)\n- `c.md`:3: \"v1: still used\"\n```\n",
        &expect![[r"
            Three services.
            --
            a/b.go | 88 | billingV1.Charge(ctx)
            c.md | 3 | v1: still used
        "]],
    );
}

#[test]
fn a_path_may_hold_colons_and_a_line_may_be_a_range() {
    check(
        "Yes.\n```evidence\nC:/logs/x:y.log:7-9: disk full\n```",
        &expect![[r"
            Yes.
            --
            C:/logs/x:y.log | 7 | disk full
        "]],
    );
}

#[test]
fn a_row_of_a_database_is_cited_by_its_address() {
    check(
        "Ann.\n```evidence\n- `shop.db:orders?id=4711`: \"cancelled\"\nshop.db:stock?shelf=A%20%26%20B&bin=1: at 12:30: 7\na.md:3: why?x=1: y\n```",
        &expect![[r"
            Ann.
            --
            shop.db:orders?id=4711 | 0 | cancelled
            shop.db:stock?shelf=A%20%26%20B&bin=1 | 0 | at 12:30: 7
            a.md | 3 | why?x=1: y
        "]],
    );
}

#[test]
fn an_unclosed_block_and_noise_in_it_do_no_harm() {
    check(
        "Yes.\n```evidence\nno line number here\na.md:x: y\na.md:1:\n",
        &expect![[r"
            Yes.
            --
            a.md | 1 | 
        "]],
    );
}

#[test]
fn a_reply_without_a_block_is_all_answer() {
    check(
        "  42\n",
        &expect![[r"
            42
            --
        "]],
    );
}
