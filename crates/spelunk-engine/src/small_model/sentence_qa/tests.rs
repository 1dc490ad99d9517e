//! What is shown, and what is doubted.

use super::*;

fn sentence(line: u64, text: &str) -> Sentence {
    Sentence { document: "book.txt".to_owned(), line, text: text.to_owned() }
}

fn passage(line_start: u64, text: &str) -> FoundPassage {
    let (document, text) = ("book.txt".to_owned(), text.to_owned());
    FoundPassage { document, doc_idx: 0, line_start, text, score: 1.0, similarity: None }
}

const QUESTION: &str = "Who has run the post office in Uluness since 1950? Be brief.";

#[test]
fn an_answer_from_a_sentence_about_something_else_is_doubted() {
    let shown = [
        sentence(3, "The tax office in Uluness has been run by Olga Berg since 1950."),
        sentence(9, "The post office in Elegate has been run by Ada Lind since 1950."),
    ];
    let from = |answer: &str| doubts(QUESTION, &basis(QUESTION, &shown, answer));
    assert_eq!(
        from("Result: Olga Berg").unwrap(),
        "The tax office in Uluness has been run by Olga Berg since 1950.\n(not in this sentence: post)"
    );
    assert_eq!(from("It was Ada Lind.").unwrap().lines().last(), Some("(not in this sentence: uluness)"));
    assert_eq!(from("It is not known."), None);
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
        sentence(3, "The tax office in Uluness has been run by Olga Berg."),
        sentence(4, "Olga Berg runs the post offices in Uluness, or so it is said."),
    ];
    // "run" and "runs" count as different words.
    let question = "Who runs the post office in Uluness?";
    assert_eq!(doubts(question, &basis(question, &shown, "Olga Berg")), None);
}

#[test]
fn the_sentences_with_the_rarest_words_come_first() {
    let text = "The night was long. The number of the inn at Elegate is 12.\nThe number of the mill is 9.";
    let passages = [passage(7, text), passage(20, "A mill is a mill. Its number is 4.")];
    let shown = best(&passages, "What is the number of the inn at Elegate?");
    let lines: Vec<(u64, &str)> =
        shown.iter().map(|sentence| (sentence.line, sentence.text.as_str())).collect();
    assert_eq!(
        lines,
        [
            (7, "The number of the inn at Elegate is 12."),
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
    let question = "Who has run the post office in Uluness since 1950? Say it.";
    let seen = [
        ("The brewery in Uluness has been run by Felix since 1950.", Some("post office / brewery")),
        ("The tax office in Uluness has been run by Olga.", Some("post office / tax office")),
        ("The post office in Uluness has been run by Olga.", None),
        ("The post office has been run by Olga.", None),
        ("Nothing of the kind.", None),
        ("In Uluness it rains.", None),
        ("", None),
    ];
    for (text, expected) in seen {
        assert_eq!(instead(question, text).as_deref(), expected, "{text}");
    }
    assert_eq!(instead("Who runs the pub?", "Mara runs the inn."), None);
    assert_eq!(instead("", "Mara runs the inn."), None);
}

#[test]
fn that_the_text_does_not_say_it_is_known_by_our_own_sentence() {
    for text in [
        UNSAID,
        "the text does not say it",
        "**The text does not say who runs it.**",
        "\"The text does not say it.\"",
    ] {
        assert!(is_unsaid(text), "{text}");
    }
    for text in ["Olga Berg", "She was ill; the text does not say why.", ""] {
        assert!(!is_unsaid(text), "{text}");
    }
}
