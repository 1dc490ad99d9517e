//! Names and where they lead.

use std::sync::Arc;

use expect_test::{Expect, expect};
use spelunk_context::{Corpus, ScanOptions, SourceInput};

use super::*;

pub(crate) fn view(files: &[(&str, &str)]) -> View {
    let input = |(name, text): &(&str, &str)| SourceInput::Text {
        name: (*name).to_owned(),
        bytes: text.as_bytes().to_vec(),
    };
    let inputs: Vec<SourceInput> = files.iter().map(input).collect();
    View::of(Arc::new(Corpus::scan(&inputs, &ScanOptions::default(), &mut |_| {}).unwrap()))
}

fn check(files: &[(&str, &str)], question: &str, rounds: usize, expected: &Expect) {
    let trail = follow(&view(files), question, rounds);
    let lines: Vec<String> = trail
        .into_iter()
        .map(|Sentence { document, line, text }| format!("{document}:{line}: {text}\n"))
        .collect();
    expected.assert_eq(&lines.concat());
}

const TRAVELS: &str = "It rained. The concert in Selewick of 1882 was conducted by Simon Ravum. Nobody minded.\n\
    The concert in Selewick of 1876 was conducted by Rosa Berg.\n\
    Simon Ravum was born in Elegate, by the sea.\n\
    The library at Elegate was opened in 1821.\n\
    The library at Dalik was opened in 1850.\n";

#[test]
fn names_lead_from_line_to_line() {
    let question =
        "When was the library opened where the conductor of the concert in Selewick of 1882 was born?";
    check(
        &[("travels.md", TRAVELS)],
        question,
        0,
        &expect![[r#"
            travels.md:1: The concert in Selewick of 1882 was conducted by Simon Ravum.
            travels.md:2: The concert in Selewick of 1876 was conducted by Rosa Berg.
        "#]],
    );
    check(
        &[("travels.md", TRAVELS)],
        question,
        3,
        &expect![[r#"
            travels.md:1: The concert in Selewick of 1882 was conducted by Simon Ravum.
            travels.md:2: The concert in Selewick of 1876 was conducted by Rosa Berg.
            travels.md:3: Simon Ravum was born in Elegate, by the sea.
            travels.md:4: The library at Elegate was opened in 1821.
        "#]],
    );
}

#[test]
fn a_request_is_followed_by_its_number() {
    let log = "00:01 gateway req=06c47642 user=6349 accepted\n00:02 gateway req=3cf55c17 user=1444 accepted\n\
        00:03 billing req=3cf55c17 declined, code E516\n";
    check(
        &[("system.log", log)],
        "Which user got the code E516?",
        1,
        &expect![[r#"
            system.log:3: 00:03 billing req=3cf55c17 declined, code E516
            system.log:2: 00:02 gateway req=3cf55c17 user=1444 accepted
        "#]],
    );
}

#[test]
fn a_name_on_many_lines_leads_nowhere_and_no_trail_is_endless() {
    let common = "Acme did it.\n".repeat(ASKED_LINES_MAX + 1);
    check(&[("a.txt", &common)], "What did Acme do?", 3, &expect![""]);
    let chain = (0..200).map(|n| format!("see N{n}x and N{}x", n + 1)).collect::<Vec<_>>().join("\n");
    let trail = follow(&view(&[("a.txt", &chain)]), "What is in N0x and N100x?", 1000);
    assert_eq!(trail.len(), LINES_MAX);
    check(&[("a.txt", "text")], "", 3, &expect![""]);
}

#[test]
fn a_name_is_a_word_of_its_own() {
    assert!(holds("call write_task(x)", "write_task"));
    assert!(!holds("call write_tasks(x)", "write_task"));
    assert!(!holds("rewrite_task", "write_task"));
    assert!(holds("rewrite_task and write_task", "write_task"));
    assert!(holds("über Köln", "Köln"));
}

#[test]
fn names_on_a_line_are_told() {
    assert_eq!(names_on("Later that evening Ada Lovelace of Köln met B2c."), ["Ada Lovelace", "Köln", "B2c"]);
    assert_eq!(names_on("Simon Ravum, Rosa Berg"), ["Simon Ravum", "Rosa Berg"]);
    assert_eq!(names_on(""), <[&str; 0]>::default());
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test plays the user, who removes a file")]
fn a_document_that_is_gone_leads_nowhere_and_stops_nothing() {
    let directory = tempfile::tempdir().unwrap();
    for name in ["a.txt", "b.txt"] {
        std::fs::write(directory.path().join(name), "It was Acme.\n").unwrap();
    }
    let inputs = [SourceInput::Path(directory.path().to_owned())];
    let corpus = Corpus::scan(&inputs, &ScanOptions::default(), &mut |_| {}).unwrap();
    std::fs::remove_file(directory.path().join("a.txt")).unwrap();
    let trail = follow(&View::of(Arc::new(corpus)), "What about Acme?", 1);
    let documents: Vec<&str> = trail.iter().map(|sentence| sentence.document.as_str()).collect();
    assert_eq!(documents, ["b.txt"]);
}
