//! Counts and sentences; what is printed of them is tested with the command line.

use std::ops::Range;
use std::sync::Arc;

use expect_test::expect;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use spelunk_context::{Corpus, ScanOptions, SourceInput, View};

use spelunk_index::{Hit, Mark, StaticEmbedder};

use super::layout::{excerpt, laid_out};
use super::nearness::Asked;
use super::sentences::{Line, lines, sentences};
use super::{Chosen, Computed};

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

/// The computed value, and how it was computed.
fn how(view: &View, question: &str) -> String {
    match Computed::of(view, question) {
        Computed::Result { value, how } => format!("{value}: {how}"),
        other @ (Computed::Unreadable | Computed::NotAsked) => format!("{other:?}"),
    }
}

#[test]
fn lines_are_counted_by_the_words_of_the_question() {
    let view = view(&[("app.log", LOG), ("old/other.log", "ERRORS are not ERROR\n")]);
    let questions = [
        ("how many ERROR lines?", "3: lines with the word `ERROR` in any case, of 5 lines in 2 files"),
        (
            "How many Error lines are in app.log?",
            "2: lines with the word `Error` in any case, of 4 lines in `app.log`",
        ),
        (
            "How many lines contain the word gateway?",
            "2: lines with the word `gateway` in any case, of 5 lines in 2 files",
        ),
        (
            "how many lines mention \"billing refused\"?",
            "1: lines with the text `billing refused`, of 5 lines in 2 files",
        ),
        (
            "how many lines contain `03-03T09:4` in app.log?",
            "4: lines with the text `03-03T09:4`, of 4 lines in `app.log`",
        ),
        ("how many lines are there?", "5: lines in 2 files"),
        ("count the lines in other.log", "1: lines in `old/other.log`"),
        (
            "which file has the most ERROR lines?",
            "app.log: 2: lines with the word `ERROR` in any case, of 5 lines in 2 files",
        ),
        ("how many lines contain \"zebra\"?", "0: lines with the text `zebra`, of 5 lines in 2 files"),
    ];
    for (question, expected) in questions {
        assert_eq!(how(&view, question), expected, "{question}");
    }
}

#[test]
fn a_word_that_is_not_understood_stops_a_count_of_lines() {
    let view = view(&[("app.log", LOG)]);
    for question in [
        "how many lines do not contain ERROR?",
        "how many lines are without ERROR?",
        "how many non-ERROR lines?",
        "how many ERROR and INFO lines?",
        "how many INFO or ERROR lines?",
        "how many ERROR lines on 2026-03-03?",
        "how many lines contain 2026-03-03?",
        "how many ERROR lines before 2026-03-04?",
        "how many ERROR lines per file?",
        "how many ERROR lines in each file?",
        "how many ERROR lines, please?",
        "how many ERROR lines are in missing.log?",
        "how many !ERROR lines?",
        "how many long lines?",
        "how many lines contain billing refused?",
        "how many lines contain duplicates?",
        "how many lines contain \"ERROR?",
        "how many lines of code are there?",
    ] {
        assert_eq!(computed(&view, question), "cannot", "{question}");
    }
}

#[test]
fn a_level_means_the_level_where_lines_have_levels() {
    let line = |n: usize| match n % 3 {
        0 => format!("2026-03-03T09:{n:02}:00Z INFO gateway no ERROR was seen\n"),
        1 => format!("2026-03-03T09:{n:02}:00Z WARN gateway slow\n"),
        _ => format!("2026-03-03T09:{n:02}:00Z ERROR billing refused\n"),
    };
    let log = (0..30).map(line).collect::<String>() + "    at an ERROR of the trace\n";
    let logs = view(&[("app.log", &log), ("b.log", &log.replace("ERROR billing", "INFO billing"))]);
    let of = "of 62 lines in 2 files";
    let level = format!("lines with the level `ERROR` or `ERR`, {of}; 32 contain the word");
    let questions = [
        ("how many ERROR lines?", format!("10: {level} `ERROR`")),
        (
            "how many lines contain errors?",
            format!("10: lines with the level `ERROR` or `ERR`, {of}; 0 contain the word `errors`"),
        ),
        ("which file has the most error lines?", format!("app.log: 10: {level} `error`")),
        (
            "how many WARNING lines?",
            format!("20: lines with the level `WARN` or `WARNING`, {of}; 0 contain the word `WARNING`"),
        ),
        ("how many FATAL lines?", format!("0: lines with the level `FATAL`, {of}")),
        (
            "how many lines contain the word error?",
            format!("32: lines with the word `error` in any case, {of}"),
        ),
        (
            "how many INFO lines contain \"refused\"?",
            format!("10: lines with the level `INFO` and the text `refused`, {of}"),
        ),
    ];
    for (question, expected) in questions {
        assert_eq!(how(&logs, question), expected, "{question}");
    }
    assert_eq!(computed(&logs, "how many errors?"), "10");
    let mixed = view(&[("app.log", &log), ("notes.md", "An error.\n")]);
    assert_eq!(
        how(&mixed, "how many error lines?"),
        "11: lines with the level `ERROR` or `ERR` (the word in files without levels), of 32 lines in 2 files; 22 contain the word `error`"
    );
}

const MESSAGES: [&str; 4] = ["started", "no ERROR was seen", "gave up: timeout", "Timeout, errors"];

/// A line of a generated log: its level, and its message.
type Logged = (usize, usize);

/// Whether a question counts a line.
type IsCounted = fn(Logged) -> bool;

fn log_of(lines: &[Logged]) -> String {
    let line = |(at, (level, message)): (usize, &Logged)| {
        format!(
            "2026-03-03T09:{at:02}:00Z {} gateway {}\n",
            ["INFO", "WARN", "ERROR"][*level],
            MESSAGES[*message]
        )
    };
    lines.iter().enumerate().map(line).collect()
}

/// The words of a question of the grammar, whether it is about the first file only, and the lines that it counts.
fn line_questions() -> impl Strategy<Value = (Vec<&'static str>, bool, IsCounted)> {
    let openings = select(vec!["how many", "count the", "count", "what is the number of"]);
    let middles: Vec<(&[&str], IsCounted)> = vec![
        (&["lines"], |_| true),
        (&["ERROR", "lines"], |(level, _)| level == 2),
        (&["error", "lines", "are", "there"], |(level, _)| level == 2),
        (&["Warning", "lines"], |(level, _)| level == 1),
        (&["lines", "with", "the", "level", "info"], |(level, _)| level == 0),
        (&["lines", "that", "contain", "the", "word", "timeout"], |(_, message)| message >= 2),
        (&["lines", "mention", "the", "word", "error"], |(level, message)| level == 2 || message == 1),
        (&["lines", "containing", "\"gave up\""], |(_, message)| message == 2),
        (&["WARN", "lines", "with", "`timeout`"], |(level, message)| level == 1 && message == 2),
    ];
    let ends = select(vec![
        ("", false),
        ("in app.log", true),
        ("in the file app.log", true),
        ("in the logs", false),
    ]);
    (openings, select(middles), ends).prop_map(|(opening, (middle, is_counted), (end, is_first))| {
        let words = opening.split(' ').chain(middle.iter().copied()).chain(end.split_whitespace());
        (words.collect(), is_first, is_counted)
    })
}

proptest! {
    #[test]
    fn a_count_of_lines_is_exact_or_not_printed(
        first in vec((0..3_usize, 0..4_usize), 12..40),
        second in vec((0..3_usize, 0..4_usize), 12..40),
        (words, is_first, is_counted) in line_questions(),
        extra in prop_oneof!["[a-z]{2,7}q", select(vec!["not", "no", "or", "and", "per", "before", "without"]).prop_map(str::to_owned)],
        at in any::<prop::sample::Index>(),
    ) {
        let view = view(&[("app.log", &log_of(&first)), ("old/b.log", &log_of(&second))]);
        let counted = first.iter().chain(second.iter().filter(|_| !is_first)).filter(|line| is_counted(**line));
        prop_assert_eq!(computed(&view, &format!("{}?", words.join(" "))), counted.count().to_string());
        let mut longer = words.clone();
        longer.insert(at.index(words.len() + 1), &extra);
        prop_assert_eq!(computed(&view, &longer.join(" ")), "cannot", "{:?}", longer);
    }
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
        ("which order has the highest amount?", "2, south, failed: 30"),
        ("which paid order has the lowest amount?", "1, north, paid: 10"),
        ("what is the highest amount?", "30"),
        ("how many PAID orders are in South?", "1"),
        ("how many orders in total?", "4"),
    ];
    for (question, value) in questions {
        assert_eq!(computed(&view, question), value, "{question}");
    }
}

#[test]
fn text_of_a_table_is_compared_without_case() {
    let rows = view(&[("tickets.csv", "id,status\n1,open\n2,Open\n3,open\n4,open\n5,closed\n")]);
    assert_eq!(
        how(&rows, "how many rows are open?"),
        "4: SELECT COUNT(*) FROM \"tickets\" WHERE \"status\" IN ('Open', 'open'), over 5 rows"
    );
}

#[test]
fn a_value_of_several_columns_or_tables_is_ambiguous() {
    let rows = "id,status,payment\n1,open,open\n2,closed,open\n3,open,closed\n4,open,failed\n";
    let table = view(&[("orders.csv", rows)]);
    assert_eq!(computed(&table, "how many orders are open?"), "cannot");
    assert_eq!(computed(&table, "how many orders with status open?"), "3");
    let tables =
        view(&[("orders.csv", rows), ("returns.csv", "id,status,why\n1,open,late\n2,open,broken\n")]);
    assert_eq!(computed(&tables, "how many rows with status open?"), "cannot");
    assert_eq!(computed(&tables, "how many returns with status open?"), "2");
}

#[test]
fn a_count_that_cannot_be_read_is_not_guessed() {
    let table = view(&[("orders.csv", ORDERS)]);
    for question in [
        "how many orders were suspicious?",
        "which customer has the most orders?",
        "how many regions?",
        "how many paid orders in north and south?",
        "how many orders were paid at most once?",
        "how many orders are not paid?",
    ] {
        assert_eq!(computed(&table, question), "cannot", "{question}");
    }
    assert_eq!(computed(&table, "why did the order fail?"), "not asked");
    let prose = view(&[("a.md", "# Retries\n\nA call is tried three times.\n")]);
    assert_eq!(computed(&prose, "how many retries are there?"), "not asked");
}

#[test]
fn sentences_end_at_stops_and_lists_have_one_each() {
    let text = "# Title\n\n.. _target:\n\nOne is e.g. in this sentence. Two goes over\nlines.\n\n- item a\n- [only](a.md)\n\nHead\n====\n\nstart\nstop\n";
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

/// Passages as printed: the lines of their text, or the text on one line.
fn shown(hits: &[Hit], score: f32) -> Vec<String> {
    let mut asked = Asked::of("third", &[], None);
    let of_hit = |hit| {
        let of_text = |line: &Line| Chosen { score, ..chosen(hit, line.at.start..line.at.end - 1) };
        lines(&hit.text).iter().map(of_text).collect::<Vec<_>>()
    };
    let passages = laid_out(hits.iter().flat_map(of_hit).collect(), &mut asked);
    passages.into_iter().map(|passage| passage.line_text.unwrap_or(passage.text)).collect()
}

#[test]
fn near_sentences_are_shown_with_lines_around_them_and_far_ones_in_short() {
    let line =
        |n: usize| format!("sentence {n} of this text has about seventy characters, which is a line\n");
    let text = (0..30).map(line).collect::<String>();
    let hits = [hit(&text), Hit { document: "b.md".into(), ..hit(&text.replace("which", "that")) }];
    let near = shown(&hits, 2.0);
    expect![[r#"
        [
            "sentence 0 of this text has about seventy characters, which is a line\nsentence 1 of this text has about seventy characters, which is a line\nsentence 2 of this text has about seventy characters, which is a line\nsentence 3 of this text has about seventy characters, which is a line\nsentence 4 of this text has about seventy characters, which is a line\nsentence 5 of this text has about seventy characters, which is a line\nsentence 6 of this text has about seventy characters, which is a line\nsentence 7 of this text has about seventy characters, which is a line\n",
            "sentence 0 of this text has about seventy characters, that is a line\nsentence 1 of this text has about seventy characters, that is a line\nsentence 2 of this text has about seventy characters, that is a line\nsentence 3 of this text has about seventy characters, that is a line\nsentence 4 of this text has about seventy characters, that is a line\nsentence 5 of this text has about seventy characters, that is a line\n",
        ]
    "#]].assert_debug_eq(&near);
    let far = shown(&hits, 0.5);
    expect![[r#"
        [
            "sentence 0 of this text has about seventy characters, which is a line\nsentence 1 of this text has about seventy characters, which is a line\nsentence 2 of this text has about seventy characters, which is a line\nsentence 3 of this text has about seventy characters, which is a line\nsentence 4 of this text has about seventy characters, which is a line\nsentence 5 of this text has about seventy characters, which is a line\nsentence 6 of this text has about seventy characters, which is a line\nsentence 7 of this text has about seventy characters, which is a line\nsentence 8 of this text has about seventy characters, which is a line\nsentence 9 of this text has about seventy characters, which is a line\nsentence 10 of this text has about seventy characters, which is a line\nsentence 11 of this text has about seventy characters, which is a line\nsentence 12 of this text has about seventy characters, which is a line\nsentence 13 of this text has about seventy characters, which is a line\nsentence 14 of this text has about seventy characters, which is a line\nsentence 15 of this text has about seventy characters, which is a line\nsentence 16 of this text has about seventy characters, which is a line\n",
            "sentence 0 of this text has about seventy characters, that is…",
        ]
    "#]].assert_debug_eq(&far);
}

#[test]
fn few_sentences_of_one_section_are_shown() {
    let hits = ["one\n", "two\n", "three\n", "four\n"].map(hit);
    let of = |score| {
        let of_section =
            |hit| Chosen { score, headings: vec!["Numbers".into()], ..chosen(hit, 0..hit.text.len() - 1) };
        let passages = laid_out(hits.iter().map(of_section).collect(), &mut Asked::of("third", &[], None));
        passages.into_iter().map(|passage| passage.text).collect::<Vec<_>>()
    };
    assert_eq!(of(2.0), ["one\n", "two\n", "three"]);
    assert_eq!(of(0.5), ["one\n"]);
    // Without headings, nothing says what belongs together.
    assert_eq!(shown(&hits, 0.5), ["one\n", "two", "three", "four"]);
}

#[test]
fn a_long_sentence_is_shortened_around_the_words_that_weigh_most() {
    let said =
        "- A run that was stopped, by whatever limit, is resumed from its journal without asking again.";
    let of = |wanted: &str, chars_max| excerpt(said, chars_max, |word| f32::from(u8::from(word == wanted)));
    assert_eq!(of("stopped,", 30), "A run that was stopped, by…");
    assert_eq!(of("journal", 30), "… is resumed from its journal…");
    assert_eq!(of("again.", 30), "… without asking again.");
    assert_eq!(of("again.", 200), said.trim_start_matches("- "));
    assert_eq!(of("nothing", 12), "A run that…");
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
    Chosen { hit, sentence, lines, headings: Vec::new(), score: 0.0, is_entry: false, n_alike: 0 }
}

#[test]
fn an_entry_of_a_glossary_or_of_options_is_about_the_words_before_its_mark() {
    let asked = Asked::of("what is a frame?", &["a frame"], None);
    for entry in ["| **frame** | one invocation", "- Frames: invocations", "`frame` — an invocation"] {
        assert!(asked.is_entry(entry), "{entry}");
    }
    for other in
        ["| **frame number** | an integer", "A frame: an invocation", "frame", "frame:", "the frame ends"]
    {
        assert_eq!(asked.is_entry(other), other.starts_with("A "), "{other}");
    }
    let asked = Asked::of("how do I set the cost limit?", &["cost limit"], None);
    assert!(!asked.is_entry("`cost`: dollars") && !asked.is_entry("limit: calls"));
}
