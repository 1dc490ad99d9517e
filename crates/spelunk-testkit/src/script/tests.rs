//! Which calls a pattern matches, and the order in which a rule answers.

use super::*;

fn check(pattern: &str, call: &str, expected: bool) {
    assert_eq!(on(pattern).matches(Some(call), ""), expected, "`{pattern}` against `{call}`");
}

#[test]
fn a_star_stands_for_exactly_one_part_of_a_call() {
    check("0#0", "0#0", true);
    check("0#0", "0#1", false);
    check("0.*#0", "0.3#0", true);
    check("0.*#0", "0.12#0", true);
    check("0.*#0", "0#0", false);
    check("0.*#0", "0.3.1#0", false);
    check("0#*", "0#17", true);
}

#[test]
fn a_call_rule_never_matches_a_request_without_a_call() {
    assert!(!on("*").matches(None, "anything"));
}

#[test]
fn faults_come_in_their_order_and_then_the_reply_forever() {
    let rule = on("0#0").fault(Fault::HangUp).fault(Fault::CutStream).reply("text");
    let text = || "text".to_owned();
    let expected =
        [(Some(Fault::HangUp), text()), (Some(Fault::CutStream), text()), (None, text()), (None, text())];
    assert_eq!([0, 1, 2, 3].map(|attempt_idx| rule.answer(attempt_idx)), expected.map(Some));
}
