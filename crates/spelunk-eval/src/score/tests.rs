//! Scores of answers as models write them.

mod real;

use super::*;
use crate::Kind;

fn task(scoring: Scoring, answer: &[&str]) -> Task {
    Task {
        id: "t".into(),
        kind: Kind::Needle,
        variant: String::new(),
        seed: 1,
        tokens: 8000,
        question: "?".into(),
        answer: answer.iter().map(|item| (*item).to_owned()).collect(),
        scoring,
        accept: Vec::new(),
        tolerance: 0.0,
        language: String::new(),
        files: vec!["t/a.txt".into()],
    }
}

fn scores(task: &Task, answers: &[&str]) -> Vec<String> {
    answers
        .iter()
        .map(|answer| {
            let scored = score(task, answer);
            format!("{:.2} {:?}", scored.score, scored.form)
        })
        .collect()
}

#[test]
fn a_value_counts_wherever_the_prose_around_it_stands() {
    let task = task(Scoring::Exact, &["835407"]);
    let right = [
        "ANSWER: 835407",
        "It stands in the middle.\n\nANSWER: 835407\n\n```evidence\nbook.txt:3: is 835407\n```",
        "**Answer:** `835407`.",
        "Final answer: 835407",
        "ANSWER:\n835407",
        "ANSWER: value\n\nANSWER: 835407",
        "## Summary\n\nIt is there.\n\n## Per-File Findings\n\n- ANSWER: 111111\n\n## Recommendations\n\nANSWER: 835407\n\n## Coverage\n\n- 1 document",
    ];
    assert_eq!(scores(&task, &right), vec!["1.00 Asked"; right.len()]);
    assert_eq!(scores(&task, &["The number is 835407."]), ["1.00 Prose"]);
}

#[test]
fn a_guess_among_several_and_a_wrong_value_count_nothing() {
    let task = task(Scoring::Exact, &["835407"]);
    let wrong = ["ANSWER: 835408", "ANSWER: 835407 or 111111", "ANSWER: absent", "ANSWER: 8354070"];
    assert_eq!(scores(&task, &wrong), vec!["0.00 Asked"; wrong.len()]);
    let none = ["", "I cannot tell", "ANSWER: <value>", "835407 and 111111"];
    assert_eq!(scores(&task, &none), ["0.00 Missing", "0.00 Missing", "0.00 Missing", "0.00 Prose"]);
}

#[test]
fn an_answer_may_be_given_in_any_of_the_forms_that_are_asked_for() {
    let exact = task(Scoring::Exact, &["835407"]);
    let marked = [
        "Result: 835407",
        "I looked at 111111 first.\n\nFinal answer = 835407",
        "It is there: <answer>835407</answer>",
        "The mill has 111111.\n{\"answer\": \"835407\"}",
        "```json\n{\"answer\": 835407}\n```",
    ];
    assert_eq!(scores(&exact, &marked), vec!["1.00 Asked"; marked.len()]);
    let bare = [
        "835407",
        "The mill has 111111, this one not.\n\n835407",
        "835407\n\nFound in 2 of 300 lines, next to 111111.",
    ];
    assert_eq!(scores(&exact, &bare), vec!["1.00 Prose"; bare.len()]);
    let number = task(Scoring::Number, &["5"]);
    let counted =
        ["5\n\nComputed from 3 of 40 rows: all; counted.", "There are 3 of one kind and 2 of another.\n\n5"];
    assert_eq!(scores(&number, &counted), vec!["1.00 Prose"; counted.len()]);
    let pairs = task(Scoring::Pairs, &["(12, 45)"]);
    assert_eq!(scores(&pairs, &["<answer>(12, 45)</answer> and (1, 2) not"]), ["1.00 Asked"]);
}

#[test]
fn a_number_loses_a_quarter_with_each_step() {
    let task = task(Scoring::Number, &["1200"]);
    let answers = [
        "ANSWER: 1200",
        "ANSWER: 1,201",
        "ANSWER: 1198 messages",
        "ANSWER: 3",
        "ANSWER: none",
        "There are 1200 of 9 kinds.",
    ];
    assert_eq!(
        scores(&task, &answers),
        ["1.00 Asked", "0.75 Asked", "0.56 Asked", "0.00 Asked", "0.00 Asked", "1.00 Prose"]
    );
    assert_eq!(score(&task, "ANSWER: 1188").off, Some(0.01));
    assert!(score(&task, "ANSWER: 99999999999999999999999999999999999").score < 1e-9);
}

#[test]
fn digits_may_be_grouped_as_code_groups_them() {
    let exact = task(Scoring::Exact, &["64000"]);
    assert_eq!(scores(&exact, &["ANSWER: 64_000", "ANSWER: 64_001"]), ["1.00 Asked", "0.00 Asked"]);
    let number = task(Scoring::Number, &["64000"]);
    assert_eq!(scores(&number, &["ANSWER: 64_000", "ANSWER: _64000_"]), ["1.00 Asked", "1.00 Asked"]);
    let name = task(Scoring::Exact, &["v1_a"]);
    assert_eq!(scores(&name, &["ANSWER: v1_a", "ANSWER: v1a"]), ["1.00 Asked", "0.00 Asked"]);
}

#[test]
fn one_choice_counts_and_two_do_not() {
    let among = ["delivery", "billing"].map(str::to_owned).to_vec();
    let task = task(Scoring::Choice { among }, &["billing"]);
    let answers = [
        "ANSWER: Billing",
        "ANSWER: delivery",
        "ANSWER: billing, delivery",
        "ANSWER: size",
        "It is billing.",
        "Hm.",
    ];
    assert_eq!(
        scores(&task, &answers),
        ["1.00 Asked", "0.00 Asked", "0.00 Asked", "0.00 Asked", "1.00 Prose", "0.00 Missing"]
    );
}

#[test]
fn sets_pairs_and_paths_are_scored_by_what_they_share() {
    let numbers = task(Scoring::Set, &["111111", "222222"]);
    let answers = [
        "ANSWER: 222222, 111111",
        "ANSWER:\n- 111111\n- 222222",
        "ANSWER: 111111",
        "ANSWER: 111111, 333333",
        "ANSWER: none",
    ];
    assert_eq!(
        scores(&numbers, &answers),
        ["1.00 Asked", "1.00 Asked", "0.67 Asked", "0.50 Asked", "0.00 Asked"]
    );

    let pairs = task(Scoring::Pairs, &["(12, 45)", "(12, 77)"]);
    let answers = [
        "ANSWER: (12, 45); (77, 12)",
        "ANSWER: (12,45), (12,77)",
        "ANSWER: 12-45",
        "ANSWER: [[12, 45]; [1, 2]]",
    ];
    assert_eq!(scores(&pairs, &answers), ["1.00 Asked", "1.00 Asked", "0.67 Asked", "0.50 Asked"]);

    let paths = task(Scoring::Paths, &["src/a.rs", "src/b.rs"]);
    let answers = ["ANSWER: src/a.rs, ./src/b.rs", "ANSWER: tree/src/a.rs:12", "ANSWER: a.rs"];
    assert_eq!(scores(&paths, &answers), ["1.00 Asked", "0.67 Asked", "0.00 Asked"]);
}

#[test]
fn to_say_that_it_is_not_there_is_right_only_without_an_offer() {
    let task = task(Scoring::Absent, &["absent"]);
    let answers = [
        "ANSWER: absent",
        "ANSWER: not stated in the text",
        "The documents do not mention it.",
        "Nothing was found. The searches were:\n\n- pump",
        "ANSWER: 835407",
        "ANSWER: absent, or 835407",
        "ANSWER: Ada Barahart",
        "",
        "The text does not say it.",
        "I looked everywhere, in vain, and mean it.\n\nn/a",
        "It is not stated, but one may guess.\n\nAda Barahart",
        "It is Ada Barahart. Nothing else was found.",
        "Result: unknown",
    ];
    assert_eq!(
        scores(&task, &answers),
        [
            "1.00 Asked",
            "1.00 Asked",
            "1.00 Prose",
            "1.00 Prose",
            "0.00 Asked",
            "0.00 Asked",
            "0.00 Asked",
            "0.00 Missing",
            "1.00 Prose",
            "1.00 Prose",
            "0.00 Prose",
            "0.00 Prose",
            "1.00 Asked"
        ]
    );
}

proptest::proptest! {
    #[test]
    fn any_answer_has_a_score_between_nothing_and_all(answer in "(ANSWER: ?)?[ -~äß\n(),;0-9]{0,80}", which in 0_usize..7) {
        let among = vec!["1".to_owned()];
        let all = [
            Scoring::Exact, Scoring::Number, Scoring::Choice { among }, Scoring::Set, Scoring::Pairs, Scoring::Paths,
            Scoring::Absent,
        ];
        let scored = score(&task(all[which].clone(), &["1"]), &answer);
        proptest::prop_assert!((0.0..=1.0).contains(&scored.score), "{scored:?}");
    }
}
