//! Questions and their kinds.

use expect_test::expect;

use super::QuestionKind;

#[test]
fn questions_have_kinds_by_their_words() {
    let questions = [
        "Review this project for security problems",
        "How many requests failed?",
        "Summarise the thesis",
        "What is this?",
        "Compare src and tests",
        "Who wrote the budget chapter?",
        "Where is `parse_config` defined?",
        "the accountant's recount",
        "Which services still call the v1 billing API?",
        "List all endpoints",
        "What does error E42 mean?",
        "",
    ];
    let kinds: Vec<String> =
        questions.iter().map(|question| format!("{:?}  {question}", QuestionKind::of(question))).collect();
    expect![[r#"
        Analysis  Review this project for security problems
        Aggregation  How many requests failed?
        Summary  Summarise the thesis
        Summary  What is this?
        Comparison  Compare src and tests
        Needle  Who wrote the budget chapter?
        Needle  Where is `parse_config` defined?
        Open  the accountant's recount
        Open  Which services still call the v1 billing API?
        Aggregation  List all endpoints
        Open  What does error E42 mean?
        Open  
    "#]]
    .assert_eq(&(kinds.join("\n") + "\n"));
}
