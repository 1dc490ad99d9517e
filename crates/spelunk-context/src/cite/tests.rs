use proptest::prelude::*;

use super::*;
use crate::testing::view;

const TEXT: &str = "first line\r\nthe  second\tline\n\n  the third\nline ends here\nfirst line\n";

fn check_citation(view: &View, citation: &Citation) -> (Citation, Found) {
    check_citations(view, std::slice::from_ref(citation)).remove(0)
}

fn cite(document: &str, line: u64, quote: &str) -> Citation {
    Citation { document: document.into(), line, quote: quote.into() }
}

#[track_caller]
fn check(line: u64, quote: &str, expected: (u64, Found)) {
    let view = view(&[("a.md", TEXT)]);
    let (citation, found) = check_citation(&view, &cite("a.md", line, quote));
    assert_eq!((citation, found), (cite("a.md", expected.0, quote), expected.1));
}

#[test]
fn a_quote_on_its_line_is_exact_whatever_the_whitespace() {
    check(2, "the second line", (2, Found::Exact));
    check(2, "  second\n\n line\t", (2, Found::Exact));
    check(1, "first line the second", (1, Found::Exact));
    check(4, "the third line ends here", (4, Found::Exact));
    check(6, "first line", (6, Found::Exact));
}

#[test]
fn a_quote_elsewhere_is_moved_to_the_nearest_line() {
    check(1, "the third line", (4, Found::Moved));
    check(5, "first line", (6, Found::Moved));
    check(3, "first line", (1, Found::Moved));
    check(0, "first line", (1, Found::Moved));
    check(u64::MAX, "first line", (6, Found::Moved));
}

#[test]
fn a_quote_that_is_not_there_is_missing_and_stays_as_it_was() {
    check(1, "First line", (1, Found::Missing));
    check(1, "firstline", (1, Found::Missing));
    check(1, "", (1, Found::Missing));
    check(1, " \n\t", (1, Found::Missing));
    check(1, "first line first line", (1, Found::Missing));
}

#[test]
fn matches_may_overlap() {
    let view = view(&[("a", "a\na\na\nb")]);
    assert_eq!(check_citation(&view, &cite("a", 2, "a a")), (cite("a", 2, "a a"), Found::Exact));
    assert_eq!(check_citation(&view, &cite("a", 1, "a a b")), (cite("a", 2, "a a b"), Found::Moved));
}

#[test]
fn the_document_is_found_with_or_without_a_leading_dot() {
    let view = view(&[("docs/a.md", "x"), ("b", "y")]);
    assert_eq!(
        check_citation(&view, &cite("./docs/a.md", 1, "x")),
        (cite("docs/a.md", 1, "x"), Found::Exact)
    );
    assert_eq!(check_citation(&view, &cite("a.md", 1, "x")), (cite("a.md", 1, "x"), Found::Missing));
    let narrowed = view.narrow(|document| document.name == "b");
    assert_eq!(check_citation(&narrowed, &cite("docs/a.md", 1, "x")).1, Found::Missing);
}

#[test]
fn a_document_that_changed_cannot_be_cited() {
    let root = crate::testing::tree(&[("a", "x y")]);
    let view = View::of(crate::testing::scan(&[root.path()]).unwrap().into());
    assert_eq!(check_citation(&view, &cite("a", 1, "x y")).1, Found::Exact);
    crate::testing::put(root.path(), "a", b"x z");
    assert_eq!(check_citation(&view, &cite("a", 1, "x y")).1, Found::Missing);
}

#[test]
fn a_hostile_pair_of_text_and_quote_takes_linear_time() {
    let text = "a ".repeat(200_000);
    let quote = format!("{}b", "a ".repeat(100_000));
    assert_eq!(nearest_line(&text, &quote, 1), None);
}

fn normal(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

proptest! {
    #[test]
    fn a_citation_is_found_if_and_only_if_the_normalised_text_contains_it(
        text in "[ab \n\t\u{a0}é]{0,40}",
        quote in "[ab \né]{0,5}",
        line in 0_u64..6,
    ) {
        let contains = !normal(&quote).is_empty() && normal(&text).contains(&normal(&quote));
        let found = nearest_line(&text, &quote, line);
        prop_assert_eq!(found.is_some(), contains);
        // The quote does begin on that line.
        if let Some(found) = found {
            let skipped = usize::try_from(found - 1).unwrap();
            let from_line: Vec<&str> = text.split_inclusive('\n').skip(skipped).collect();
            let in_line = from_line[0].chars().count();
            let starts = (0..in_line).any(|n| {
                let rest: String = from_line.concat().chars().skip(n).collect();
                !rest.starts_with(char::is_whitespace) && normal(&rest).starts_with(&normal(&quote))
            });
            prop_assert!(starts);
        }
    }
}

#[test]
fn what_was_not_shown_is_no_evidence() {
    let mut shown = Shown::default();
    shown.add("a.md", 1, "import os\n");
    shown.add("a.md", 10, "the tenth line\nfirst of two\n");
    shown.add("a.md", 12, "second of two");
    shown.add("b.md", 1, "another document\n");
    let check = |document: &str, line: u64, quote: &str| {
        let (citation, found) = shown.check(&cite(document, line, quote));
        (format!("{}:{}", citation.document, citation.line), found)
    };
    assert_eq!(check("a.md", 10, "tenth line"), ("a.md:10".into(), Found::Exact));
    assert_eq!(check("./a.md", 3000, "tenth line"), ("a.md:10".into(), Found::Moved));
    assert_eq!(check("a.md", 11, "of two second"), ("a.md:11".into(), Found::Exact));
    // Lines that are not consecutive in the document are not continuous text.
    assert_eq!(check("a.md", 1, "os the tenth"), ("a.md:1".into(), Found::Missing));
    assert_eq!(check("a.md", 1, "another document"), ("a.md:1".into(), Found::Missing));
    assert_eq!(check("c.md", 1, "another document"), ("c.md:1".into(), Found::Missing));
    let lines: Vec<u64> = (0..20).filter(|&line| shown.has_line("a.md", line)).collect();
    assert_eq!(lines, [1, 10, 11, 12]);
}

proptest! {
    #[test]
    fn a_part_of_a_document_gives_no_other_citation_than_the_whole(
        lines in prop::collection::vec("[ab]{0,2}", 1..12), first in 0_usize..12, n_lines in 0_usize..12,
        quote in "[ab]{1,2}", line in 0_u64..14,
    ) {
        let text: String = lines.iter().flat_map(|line| [line.as_str(), "\n"]).collect();
        let part: Vec<&str> = lines.iter().skip(first).take(n_lines).map(String::as_str).collect();
        let mut shown = Shown::default();
        shown.add("a.md", first as u64 + 1, &part.join("\n"));
        let (citation, found) = shown.check(&cite("a.md", line, &quote));
        if found != Found::Missing {
            prop_assert!(shown.has_line("a.md", citation.line));
            prop_assert_eq!(nearest_line(&text, &citation.quote, citation.line), Some(citation.line));
        }
    }
}
