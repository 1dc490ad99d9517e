//! What is shown, and what is doubted.

use super::*;

fn sentence(line: u64, text: &str) -> Sentence {
    Sentence { document: "book.txt".to_owned(), line, text: text.to_owned() }
}

fn passage(line_start: u64, text: &str) -> FoundPassage {
    let (document, text) = ("book.txt".to_owned(), text.to_owned());
    FoundPassage { document, doc_idx: 0, line_start, text, score: 1.0, similarity: None }
}

const QUESTION: &str =
    "Who has kept the pumping station at Uluness since the war? End your reply with `ANSWER: value`.";

#[test]
fn an_answer_from_a_sentence_about_something_else_is_doubted() {
    let shown = [
        sentence(3, "The signal station at Uluness has been kept by Olga Berg since the war."),
        sentence(9, "The pumping station at Elegate has been kept by Ada Lind since the war."),
    ];
    let from = |answer: &str| doubts(QUESTION, &basis(QUESTION, &shown, answer));
    assert_eq!(
        from("ANSWER: Olga Berg").unwrap(),
        "The signal station at Uluness has been kept by Olga Berg since the war.\n(not in this sentence: pumping)"
    );
    assert_eq!(from("It was Ada Lind.").unwrap().lines().last(), Some("(not in this sentence: uluness)"));
    assert_eq!(from("ANSWER: absent"), None);
}

#[test]
fn an_answer_rests_on_the_sentences_with_its_values_or_most_of_its_words() {
    let question = "Where does the spare key of the pump house hang?";
    let shown = [
        sentence(1, "The spare key of the pump house hangs behind the blue barometer in the hall."),
        sentence(2, "The hall was built in 1912 by Olga Berg."),
        sentence(3, "The blue door is shut."),
    ];
    let lines = |answer: &str| basis(question, &shown, answer).iter().map(|s| s.line).collect::<Vec<_>>();
    assert_eq!(lines("The spare key of the pump house hangs behind the blue barometer."), [1]);
    assert_eq!(lines("In 1912."), [2]);
    assert_eq!(lines("It is 12 years old."), Vec::<u64>::new());
    assert_eq!(lines("The hall."), [1, 2]);
    assert_eq!(lines("The pump house."), Vec::<u64>::new());
}

#[test]
fn an_answer_from_the_right_sentence_stands() {
    let shown = [
        sentence(3, "The signal station at Uluness has been kept by Olga Berg."),
        sentence(4, "Olga Berg keeps the pumping stations at Uluness since that war."),
    ];
    // "kept" and "keeps" are two words to us.
    let question = "Who keeps the pumping station at Uluness since the war?";
    assert_eq!(doubts(question, &basis(question, &shown, "Olga Berg")), None);
}

#[test]
fn the_sentences_with_the_rarest_words_come_first() {
    let text =
        "The night was long. The number of the lighthouse at Elegate is 12.\nThe number of the mill is 9.";
    let passages = [passage(7, text), passage(20, "A mill is a mill. Its number is 4.")];
    let shown = best(&passages, "What is the number of the lighthouse at Elegate?");
    let lines: Vec<(u64, &str)> =
        shown.iter().map(|sentence| (sentence.line, sentence.text.as_str())).collect();
    assert_eq!(
        lines,
        [
            (7, "The number of the lighthouse at Elegate is 12."),
            (8, "The number of the mill is 9."),
            (20, "Its number is 4.")
        ]
    );
}

#[test]
fn passages_are_shown_whole_where_the_question_has_other_words() {
    let passages = [passage(1, "Bread is made at night. Nobody sees it."), passage(5, "Rain.")];
    let shown = best(&passages, "Which hour do bakers prefer for baking loaves?");
    assert_eq!(shown.len(), 3);
    assert_eq!(best(&[], "Why?"), []);
}

#[test]
fn words_have_forms() {
    for (a, b) in [("station", "stations"), ("opened", "open"), ("registration", "registrations"), ("é", "é")]
    {
        assert!(is_form_of(a, b), "{a} {b}");
    }
    for (a, b) in [("war", "wart"), ("number", "numeral"), ("light", "lighthouse"), ("", "a")] {
        assert!(!is_form_of(a, b), "{a} {b}");
    }
}

#[test]
fn what_stands_instead_is_seen() {
    let instead = |question: &str, text: &str| {
        instead(question, &asked_words(question), text)
            .map(|Instead { asked, there }| format!("{asked} / {there}"))
    };
    let question = "Who has kept the pumping station at Uluness since the war? Say it.";
    let seen = [
        (
            "The lighthouse at Uluness has been kept by Felix since the war.",
            Some("pumping station / lighthouse"),
        ),
        ("The signal station at Uluness has been kept by Olga.", Some("pumping station / signal station")),
        ("The pumping station at Uluness has been kept by Olga.", None),
        ("The pumping station has been kept by Olga.", None),
        ("Nothing of the kind.", None),
        ("At Uluness it rains.", None),
        ("", None),
    ];
    for (text, expected) in seen {
        assert_eq!(instead(question, text).as_deref(), expected, "{text}");
    }
    assert_eq!(instead("Who runs the pub?", "Mara runs the inn."), None);
    assert_eq!(instead("", "Mara runs the inn."), None);
}
