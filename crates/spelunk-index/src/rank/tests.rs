use proptest::prelude::*;
use spelunk_context::{Corpus, ScanOptions, SourceInput};

use super::*;
use crate::Query;
use crate::testing::{put, ranked, view};

/// `document:first-last` of every passage, best first.
fn places(ranking: &Ranking) -> Vec<String> {
    let place = |p: &Hit| format!("{}:{}-{}", p.document, p.line_start, p.line_end);
    ranking.passages.iter().map(place).collect()
}

#[test]
fn the_passage_that_answers_comes_first() {
    let view = view(&[
        ("guide/install.md", "Install it with cargo.\nThen run it.\n".repeat(3)),
        (
            "guide/cache.md",
            "# Cache\n\nEntries are evicted after an hour.\nThe cache is on disk.\n".to_owned(),
        ),
        ("src/http.rs", "fn retry() {}\n// a cache would help here\n".to_owned()),
    ]);
    let ranking = ranked(&view, "When are cache entries evicted?");
    assert_eq!(places(&ranking), ["guide/cache.md:1-4", "src/http.rs:1-2"]);
    let first = &ranking.passages[0];
    assert_eq!(first.text, "# Cache\n\nEntries are evicted after an hour.\nThe cache is on disk.\n");
    assert_eq!((first.doc_idx, first.span.clone(), first.twins), (0, 0..first.text.len(), 0));
    assert_eq!(first.matched, ["cache", "entries", "evicted"]);
    assert_eq!(ranking.words, ["cache", "entries", "evicted"]);
    assert_eq!((ranking.documents_searched, ranking.bytes_searched), (3, view.bytes()));
    assert_eq!(ranking.passages_matched, 2);
}

#[test]
fn no_word_found_is_no_passage() {
    let view = view(&[("a", "one two three")]);
    assert_eq!(ranked(&view, "zebra").passages, []);
    assert_eq!(ranked(&view, "").passages, []);
    assert_eq!(ranked(&view, "?").words, Vec::<String>::new());
    assert_eq!(ranked(&view.narrow(|_| false), "one").documents_searched, 0);
}

#[test]
fn equal_passages_come_in_the_order_of_name_and_line() {
    let line = |n: u32| format!("the cache {n}\n");
    let view = view(&[("b", line(1)), ("a", line(2)), ("c", line(3) + &line(4))]);
    let options = RankOptions { passages_max: 9, passage_lines: 1, bytes_max: 999 };
    let ranking = rank(&view, "cache", &options, &mut |_| {}).unwrap();
    assert_eq!(places(&ranking), ["a:1-1", "b:1-1", "c:1-1", "c:2-2"]);
}

#[test]
fn the_same_text_is_listed_once_with_a_count_of_the_others() {
    let view = view(&[
        ("a", "License: MIT\n"),
        ("b", "License:\tMIT"),
        ("c", "License: MIT\n"),
        ("d", "License: GPL"),
    ]);
    let ranking = ranked(&view, "license");
    let twins: Vec<_> = ranking.passages.iter().map(|p| (p.document.as_str(), p.twins)).collect();
    assert_eq!(twins, [("b", 2), ("d", 0)]);
    assert_eq!(ranking.passages_matched, 4);
}

#[test]
fn what_is_too_long_is_passed_over_for_what_fits() {
    let long = format!("cache cache {}\n", "x ".repeat(50));
    let view = view(&[("a", long.as_str()), ("b", "a cache\n"), ("c", "the cache\n")]);
    let some = |passages_max, bytes_max| {
        let options = RankOptions::new(passages_max, bytes_max);
        places(&rank(&view, "cache", &options, &mut |_| {}).unwrap())
    };
    assert_eq!(some(9, 8), ["b:1-1"]);
    assert_eq!(some(9, 18), ["b:1-1", "c:1-1"]);
    assert_eq!(some(1, 999), ["b:1-1"]);
    assert_eq!(some(0, 999), Vec::<String>::new());
}

#[test]
fn a_huge_single_line_is_searched_in_pieces() {
    let text = format!("{}needle{}", "x ".repeat(50_000), " y".repeat(50_000));
    let view = view(&[("min.js", text.as_str())]);
    let ranking = ranked(&view, "needle");
    let found: Vec<_> = ranking.passages.iter().map(|p| (p.line_start, p.line_end, p.text.len())).collect();
    assert_eq!(found, [(1, 1, 2000)]);
    assert_eq!(ranking.passages[0].span, 100_000..102_000);
}

#[test]
fn other_languages_are_searched_too() {
    let view = view(&[
        ("ja", "東京都の天気は晴れです。\n"),
        ("ru", "Привет, мир!\n"),
        ("de", "Größe des Speichers\n"),
    ]);
    assert_eq!(places(&ranked(&view, "天気はどう?")), ["ja:1-1"]);
    assert_eq!(places(&ranked(&view, "ПРИВЕТ")), ["ru:1-1"]);
    assert_eq!(places(&ranked(&view, "größe")), ["de:1-1"]);
}

#[test]
fn a_document_that_changed_stops_the_ranking() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let mut file = tempfile::NamedTempFile::new_in(directory.path()).unwrap();
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
        file.persist(directory.path().join(name)).unwrap();
    };
    write("a", "one");
    write("b", "two");
    let sources = [SourceInput::Path(directory.path().to_owned())];
    let view = View::of(Corpus::scan(&sources, &ScanOptions::default(), &mut |_| {}).unwrap().into());
    write("b", "other");
    let error = rank(&view, "one", &RankOptions::new(1, 99), &mut |_| {}).unwrap_err();
    assert_eq!(error.to_string(), "`b` changed since it was scanned");
}

#[test]
fn progress_ends_where_the_totals_said() {
    let view = view(&[("a", "one"), ("b", "three")]);
    let mut last = None;
    rank(&view, "one", &RankOptions::new(1, 99), &mut |progress| last = Some(progress)).unwrap();
    let expected = RankProgress { documents_done: 2, documents_total: 2, bytes_done: 8, bytes_total: 8 };
    assert_eq!(last, Some(expected));
}

#[test]
fn documents_without_the_words_are_not_read_again_after_a_scan_for_them() {
    let directory = tempfile::tempdir().unwrap();
    put(&directory.path().join("a"), b"one");
    put(&directory.path().join("b"), b"two");
    let scanned = |needles| {
        let sources = [SourceInput::Path(directory.path().to_owned())];
        View::of(Corpus::scan_for(needles, &sources, &ScanOptions::default(), &mut |_| {}).unwrap().into())
    };
    let (plain, sought) = (scanned(None), scanned(Query::new("one").needles()));
    put(&directory.path().join("b"), b"other");
    let on = |view: &View, question: &str| {
        rank(view, question, &RankOptions::new(1, 99), &mut |_| {}).map(|ranking| places(&ranking)).ok()
    };
    assert_eq!(on(&sought, "one"), Some(vec!["a:1-1".to_owned()]));
    assert_eq!((on(&plain, "one"), on(&sought, "two")), (None, None));
}

#[test]
fn a_document_found_by_its_name_is_redacted_though_the_scan_did_not_check_it() {
    let directory = tempfile::tempdir().unwrap();
    put(&directory.path().join("zanzibar.txt"), b"it is ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z5A\n");
    let sources = [SourceInput::Path(directory.path().to_owned())];
    let needles = Query::new("zanzibar").needles();
    let corpus = Corpus::scan_for(needles, &sources, &ScanOptions::default(), &mut |_| {}).unwrap();
    let ranking = rank(&View::of(corpus.into()), "zanzibar", &RankOptions::new(1, 99), &mut |_| {}).unwrap();
    assert_eq!(ranking.passages[0].text, "it is [secret:github-token]\n");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_scan_for_the_words_leads_to_the_same_ranking(
        texts in proptest::collection::vec(
            "(cache|Re_try|retries|limit|[a-d ]{1,6}|\u{e9}|\n| ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z5A ){1,12}x",
            1..8,
        ),
        question in "(cache|retry|secret|key|go|\u{e9}t\u{e9}| ){1,3}",
    ) {
        let source = |(n, text): (usize, &String)| SourceInput::Text {
            name: format!("cached{n}").repeat(n % 2) + "d",
            bytes: text.as_bytes().to_vec(),
        };
        let sources: Vec<_> = texts.iter().enumerate().map(source).collect();
        let ranking = |needles| {
            let corpus = Corpus::scan_for(needles, &sources, &ScanOptions::default(), &mut |_| {}).unwrap();
            rank(&View::of(corpus.into()), &question, &RankOptions::new(9, 999), &mut |_| {}).unwrap()
        };
        prop_assert_eq!(ranking(None), ranking(Query::new(question.as_str()).needles()));
    }

    #[test]
    fn a_ranking_does_not_depend_on_the_number_of_threads(
        texts in proptest::collection::vec("(cache|retry|limit|[a-d ]{1,6}|\n){1,30}x", 1..8),
        threads in 2_usize..6,
    ) {
        let named: Vec<(String, String)> =
            texts.into_iter().enumerate().map(|(n, text)| (format!("d{n}"), text)).collect();
        let view = view(&named);
        let options = RankOptions { passages_max: 5, passage_lines: 2, bytes_max: 500 };
        let on = |threads| {
            let threads = NonZeroUsize::new(threads).unwrap();
            rank_with(threads, &view, "retry the cache limit", &options, &mut |_| {}).unwrap()
        };
        prop_assert_eq!(on(1), on(threads));
    }
}
