//! Counts and sentences; what is printed of them is tested with the command line.

use std::ops::Range;
use std::sync::Arc;

use spelunk_context::{Corpus, ScanOptions, SourceInput, View};

use spelunk_index::{Hit, Mark, StaticEmbedder};

use super::nearness::Asked;
use super::sentences::{lines, sentences};
use super::{Chosen, Computed, different, printed};

fn view(documents: &[(&str, &str)]) -> View {
    let text = |(name, text): &(&str, &str)| SourceInput::Text {
        name: (*name).into(),
        bytes: text.as_bytes().to_vec(),
    };
    let inputs: Vec<SourceInput> = documents.iter().map(text).collect();
    View::of(Arc::new(Corpus::scan(&inputs, &ScanOptions::default(), &mut |_| {}).unwrap()))
}

/// The computed value; `cannot` or `not asked` if there is none.
fn computed(view: &View, question: &str) -> String {
    match Computed::of(view, question) {
        Computed::Result { value, .. } => value,
        Computed::Unreadable => "cannot".to_owned(),
        Computed::NotAsked => "not asked".to_owned(),
    }
}

const LOG: &str = "2026-03-03T09:41:00Z INFO gateway started\n2026-03-03T09:42:00Z ERROR billing refused\n\
                   2026-03-03T09:43:00Z ERROR gateway failed: no errors were expected\n2026-03-03T09:44:00Z INFO done\n";

const ORDERS: &str =
    "id,region,status,amount\n1,north,paid,10\n2,south,failed,30\n3,south,paid,25\n4,east,failed,5\n";

#[test]
fn lines_are_counted_by_the_words_of_the_question() {
    let view = view(&[("app.log", LOG), ("other.log", "ERRORS are not ERROR\n")]);
    assert_eq!(computed(&view, "how many ERROR lines?"), "3");
    assert_eq!(computed(&view, "How many lines contain the word gateway?"), "2");
    assert_eq!(computed(&view, "how many lines mention \"billing refused\"?"), "1");
    assert_eq!(computed(&view, "how many lines are there?"), "5");
    assert_eq!(
        Computed::of(&view, "how many ERROR lines?"),
        Computed::Result { value: "3".into(), how: "lines that contain `ERROR`, of 5 lines".into() }
    );
}

#[test]
fn rows_are_counted_and_compared_where_every_word_is_in_the_table() {
    let view = view(&[("orders.csv", ORDERS)]);
    let questions = [
        ("how many orders failed?", "2"),
        ("How many orders are there with status paid in the south region?", "1"),
        ("how many different regions are there?", "3"),
        ("which region has the most orders?", "south: 2"),
        ("which region has the most failed orders?", "east: 1, south: 1"),
        ("which region has the highest amount?", "south: 30"),
        ("what is the average amount?", "17.5"),
        ("what is the total amount of paid orders?", "35"),
        ("which region occurs only once?", "east, north"),
    ];
    for (question, value) in questions {
        assert_eq!(computed(&view, question), value, "{question}");
    }
}

#[test]
fn a_count_that_cannot_be_read_is_not_guessed() {
    let table = view(&[("orders.csv", ORDERS)]);
    for question in
        ["how many orders were suspicious?", "which customer has the most orders?", "how many regions?"]
    {
        assert_eq!(computed(&table, question), "cannot", "{question}");
    }
    assert_eq!(computed(&table, "why did the order fail?"), "not asked");
    let prose = view(&[("a.md", "# Retries\n\nA call is tried three times.\n")]);
    assert_eq!(computed(&prose, "how many retries are there?"), "not asked");
}

#[test]
fn sentences_end_at_stops_and_lists_have_one_each() {
    let text = "# Title\n\nOne is e.g. in this sentence. Two goes over\nlines.\n\n- item a\n- [only](a.md)\n\nHead\n====\n\nstart\nstop\n";
    let of = |is_prose| {
        let ranges = sentences(text, &lines(text), is_prose);
        ranges.into_iter().map(|range| text.get(range).unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(
        of(true),
        ["One is e.g. in this sentence.", "Two goes over\nlines.", "- item a", "start", "stop"]
    );
    assert_eq!(
        of(false),
        ["One is e.g. in this sentence. Two goes over", "lines.", "- item a", "start", "stop"]
    );
}

#[test]
fn forms_of_a_word_are_one_word() {
    let mut asked = Asked::of("which limits stop runs?", &["The run is stopped at a limit."], None);
    assert!((asked.nearness("The run is stopped at a limit.") - 1.0).abs() < 1e-6);
    assert!(asked.nearness("Nothing of the kind.").abs() < 1e-6);
}

#[test]
fn a_rare_word_counts_more_and_a_similar_word_counts_too() {
    let passages = ["the cache keeps replies", "the cache is a directory", "a directory of replies"];
    let mut asked = Asked::of("cache directory keeps", &passages, None);
    assert!(asked.nearness("it keeps") > asked.nearness("the cache"));
    let embedder = StaticEmbedder::embedded().unwrap();
    let mut asked = Asked::of("how do I buy an automobile?", &[], Some(&embedder));
    assert!(asked.nearness("Purchase the car.") > asked.nearness("Water the tree."));
}

#[test]
fn a_window_has_whole_lines_around_its_sentence() {
    let text = "first\nsecond\nthird\nfourth\nfifth\n";
    let hit = hit(text);
    let window = |at: &str, chars_max| {
        let start = text.find(at).unwrap();
        text.get(chosen(&hit, start..start + at.len()).window(chars_max)).unwrap()
    };
    assert_eq!(window("third", 36), "second\nthird\nfourth\n");
    assert_eq!(window("first", 25), "first\nsecond\n");
    assert_eq!(window("second", 12), "sec");
}

#[test]
fn a_window_ends_at_a_heading() {
    let text = "# Top\n\nabove\nsaid\n\nNext\n----\nbelow\n";
    let hit = hit(text);
    let start = text.find("said").unwrap();
    assert_eq!(text.get(chosen(&hit, start..start + 4).window(400)).unwrap(), "\nabove\nsaid\n\n");
}

#[test]
fn the_first_sentences_get_the_room_that_the_others_leave() {
    let line = "A sentence of this text has about sixty characters in all.\n";
    let text = line.repeat(12);
    let hit = hit(&text);
    let five = (0..5).map(|_| chosen(&hit, line.len() * 5..line.len() * 6 - 1)).collect();
    let n_lines: Vec<usize> = printed(five).iter().map(|passage| passage.text.lines().count()).collect();
    assert_eq!(n_lines, [8, 9, 1, 1, 1]);
}

#[test]
fn few_passages_of_one_section_are_shown() {
    let hits = ["one", "two", "three"].map(hit);
    let shown = different(hits.iter().map(|hit| chosen(hit, 0..3)).collect());
    assert_eq!(shown.iter().map(Chosen::said).collect::<Vec<_>>(), ["one", "two"]);
}

fn hit(text: &str) -> Hit {
    Hit {
        document: "a.md".into(),
        doc_idx: 0,
        line_start: 1,
        line_end: 1,
        span: 0..text.len(),
        scope: None,
        text: text.into(),
        score: 0.0,
        similarity: None,
        matched: Vec::new(),
        mark: Mark { line: 1, text: String::new(), ranges: Vec::new() },
        twins: 0,
    }
}

fn chosen(hit: &Hit, sentence: Range<usize>) -> Chosen<'_> {
    let lines = lines(&hit.text).into();
    Chosen { hit, sentence, lines, headings: Vec::new(), score: 0.0, n_alike: 0 }
}
