use expect_test::expect;

use super::*;
use crate::testing::view;

#[test]
fn an_outline_says_how_much_of_what() {
    let view = view(&[("a.md", "1234"), ("b/c.MD", "12"), ("b/.profile", "1"), ("d.rs", "123")]);
    expect![[r"
        4 documents, 10 B
        by extension:
          .md: 2 documents, 6 B
          .rs: 1 document, 3 B
          (none): 1 document, 1 B
        largest:
          a.md: 4 B
          d.rs: 3 B
          b/c.MD: 2 B
          b/.profile: 1 B"]]
    .assert_eq(&view.outline().to_string());
}

#[test]
fn one_document_needs_one_line() {
    assert_eq!(view(&[("stdin", "hello")]).outline().to_string(), "1 document, 5 B: stdin");
    assert_eq!(view(&[("stdin", "hello")]).narrow(|_| false).outline().to_string(), "0 documents, 0 B");
}

#[test]
fn an_outline_stays_short_whatever_there_is() {
    let names: Vec<String> = (0..200).map(|n| format!("{}.e{n}", "n".repeat(300))).collect();
    let texts: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x")).collect();
    let outline = view(&texts).outline();
    let shown = outline.to_string();
    assert_eq!((outline.extensions.len(), outline.largest.len()), (200, 10));
    assert_eq!(shown.lines().count(), 24);
    assert_eq!(shown.lines().nth(12), Some("  190 others: 190 documents, 190 B"));
    assert_eq!(shown.lines().map(|line| line.chars().count()).max(), Some(127));
}

#[test]
fn sizes_have_one_decimal_below_ten() {
    let shown =
        [0, 999, 1000, 1949, 9_999, 10_000, 999_999, 1_500_000, 2_000_000_000].map(|n| Size(n).to_string());
    assert_eq!(shown, ["0 B", "999 B", "1.0 kB", "1.9 kB", "9.9 kB", "10 kB", "999 kB", "1.5 MB", "2.0 GB"]);
}
