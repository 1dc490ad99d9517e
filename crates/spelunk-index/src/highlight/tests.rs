use super::*;
use crate::testing::{ranked, view};

#[track_caller]
fn check(text: &str, question: &str, expected: (u64, &str, &str)) {
    let ranking = ranked(&view(&[("retries.md", text)]), question);
    let Mark { line, text, ranges } = &ranking.passages[0].mark;
    let ranges: Vec<String> = ranges.iter().map(|range| format!("{range:?}")).collect();
    assert_eq!((*line, text.as_str(), ranges.join(" ").as_str()), expected);
}

#[test]
fn the_line_with_most_different_words_is_marked() {
    check(
        "cache cache cache\n\nThe cache is evicted.\r\n",
        "cache eviction evict",
        (3, "The cache is evicted.", "4..9 13..20"),
    );
    check("the cache\na cache\n", "cache", (1, "the cache", "4..9"));
    check("cache\nthe cache, a cache\n", "cache", (2, "the cache, a cache", "4..9 13..18"));
}

#[test]
fn a_name_and_its_parts_are_one_mark() {
    check("set maxRetryCount here", "max_retry_count", (1, "set maxRetryCount here", "4..17"));
}

#[test]
fn a_passage_found_by_name_is_marked_where_it_begins() {
    check("\n\nhello\n", "retry", (3, "hello", ""));
}
