use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::testing::{copy_tree, flip, names_below, put, scratch, truncate, view};
use crate::{Mode, Notice, StaticEmbedder};

fn options() -> IndexOptions {
    IndexOptions { embedder: Some(Arc::new(StaticEmbedder::embedded().unwrap())) }
}

fn open(directory: &Path) -> Index {
    Index::open(directory, options()).unwrap()
}

fn update(index: &mut Index, view: &View) -> UpdateReport {
    index.update(view, &UpdateOptions::default(), &mut |_| ControlFlow::Continue(())).unwrap()
}

/// What is wrong with it, if anything.
fn damage(index: &Index) -> Option<&str> {
    match &index.state {
        State::Damaged(why) => Some(why),
        State::Empty | State::Ready(_) => None,
    }
}

fn indexed(view: &View) -> (TempDir, Index) {
    let directory = scratch();
    let mut index = open(directory.path());
    update(&mut index, view);
    (directory, index)
}

fn query(text: &str, mode: Mode) -> Query {
    Query { mode, ..Query::new(text) }
}

/// The documents and first lines of the hits, best first.
fn places(index: &Index, view: &View, query: &Query) -> Vec<String> {
    let found = index.search(view, query).unwrap();
    found.hits.iter().map(|hit| format!("{}:{}", hit.document, hit.line_start)).collect()
}

fn words(index: &Index, view: &View, text: &str) -> Vec<String> {
    places(index, view, &query(text, Mode::Words))
}

const TEXTS: [(&str, &str); 6] = [
    ("docs/cars.md", "# Repair\n\nHow to fix an automobile when the engine does not start.\n"),
    ("docs/food.md", "# Bread\n\nMix flour and water, wait an hour and bake the loaf.\n"),
    ("src/http_server.rs", "fn max_retry_count() -> u32 {\n    HttpServer2::default().limit\n}\n"),
    ("src/cache.py", "def evict(cache):\n    return cache.popitem(last=False)\n"),
    ("zh.txt", "数据库连接超时，请稍后重试。\n"),
    ("other.txt", "สวัสดีชาวโลก\nمرحبا بالعالم\nCrème brûlée für Große Straßen\n"),
];

#[test]
fn names_other_scripts_phrases_and_filters_find_what_they_should() {
    let view = view(&TEXTS);
    let (_directory, index) = indexed(&view);
    for (text, expected) in [
        ("maxRetryCount", "src/http_server.rs:1"),
        ("retry counts", "src/http_server.rs:1"),
        ("httpserver2", "src/http_server.rs:1"),
        ("baking bread", "docs/food.md:1"),
        ("连接超时", "zh.txt:1"),
        ("ชาวโลก", "other.txt:1"),
        ("مَرحبا", "other.txt:1"),
        ("creme brulee", "other.txt:1"),
        ("grosse STRASSEN", "other.txt:1"),
        ("\"bake the loaf\"", "docs/food.md:1"),
        ("evict type:python", "src/cache.py:1"),
        ("water path:docs/*.md", "docs/food.md:1"),
    ] {
        assert_eq!(words(&index, &view, text).first().map(String::as_str), Some(expected), "{text}");
    }
    for text in
        ["\"the bake loaf\"", "evict type:rust", "water -flour", "water path:src", "fix -path:docs", "zebra"]
    {
        assert_eq!(words(&index, &view, text), [""; 0], "{text}");
    }
}

#[test]
fn meaning_finds_what_words_do_not() {
    let view = view(&TEXTS);
    let (_directory, index) = indexed(&view);
    assert_eq!(words(&index, &view, "mending a vehicle"), [""; 0]);
    let found = index.search(&view, &query("mending a vehicle", Mode::Meaning)).unwrap();
    assert_eq!(found.hits[0].document, "docs/cars.md");
    assert!(found.hits[0].similarity.unwrap() > found.hits[1].similarity.unwrap());
    assert_eq!(places(&index, &view, &query("mending a vehicle", Mode::Hybrid))[0], "docs/cars.md:1");
    let hits = index.search(&view, &query("bread flour", Mode::Hybrid)).unwrap().hits;
    assert!(hits.iter().all(|hit| hit.similarity.is_some()), "{hits:?}");
    // Exclusions apply to meaning, too.
    assert!(
        !places(&index, &view, &query("mending a vehicle -engine", Mode::Hybrid))
            .contains(&"docs/cars.md:1".to_owned())
    );
}

#[test]
fn a_hit_says_where_it_is_and_what_it_matched() {
    let text = [
        "# Setup\n\n",
        &"Filler line about nothing.\n".repeat(30),
        "\n## Retries\n\nFailed requests are retried.\n",
    ]
    .concat();
    let view = view(&[("a.md", &text)]);
    let (_directory, index) = indexed(&view);
    let found = index.search(&view, &query("failed retries", Mode::Words)).unwrap();
    let hit = &found.hits[0];
    assert_eq!(hit.matched, ["failed", "retries"]);
    assert_eq!(Some(hit.text.as_str()), text.get(hit.span.clone()));
    assert_eq!((hit.mark.line, hit.mark.text.as_str()), (36, "Failed requests are retried."));
    assert_eq!(hit.mark.ranges, [0..6, 20..27]);
    assert_eq!(
        text.lines().nth(usize::try_from(hit.line_end).unwrap() - 1),
        Some("Failed requests are retried.")
    );
    assert_eq!((found.documents, found.documents_missing, found.notices.as_slice()), (1, 0, [].as_slice()));
}

/// An index remembers which documents of the last corpus it holds.
#[test]
fn one_index_answers_for_several_corpora_in_turn() {
    let both = view(&[("a.md", "red apples\n"), ("b.md", "green apples\n")]);
    let (_directory, index) = indexed(&both);
    let changed = view(&[("a.md", "red apples\n"), ("b.md", "green pears\n")]);
    let other = view(&[("b.md", "green apples\n"), ("c.md", "apples\n")]);
    for _ in 0..2 {
        assert_eq!(words(&index, &both, "apples"), ["a.md:1", "b.md:1"]);
        assert_eq!(words(&index, &changed, "apples"), ["a.md:1"]);
        let found = index.search(&other, &query("apples", Mode::Words)).unwrap();
        assert_eq!((found.hits.len(), found.documents, found.documents_missing), (1, 1, 1));
        assert_eq!(words(&index, &both.narrow(|document| document.name == "b.md"), "apples"), ["b.md:1"]);
    }
}

#[test]
fn only_what_the_view_holds_is_found() {
    let whole = view(&[("a.txt", "the same words here"), ("b.txt", "other same words there")]);
    let (_directory, index) = indexed(&whole);
    let narrow = whole.narrow(|document| document.name == "b.txt");
    for mode in [Mode::Words, Mode::Meaning, Mode::Hybrid] {
        assert_eq!(places(&index, &narrow, &query("same words", mode)), ["b.txt:1"], "{mode:?}");
    }
    // A document changed since is not found either, and that is reported.
    let changed = view(&[("a.txt", "the same words HERE"), ("b.txt", "other same words there")]);
    let found = index.search(&changed, &query("same words", Mode::Words)).unwrap();
    assert_eq!((found.hits.len(), found.documents_missing), (1, 1));
}

#[test]
fn copies_are_folded_and_counted() {
    let page = "Permission is hereby granted, free of charge, to any person obtaining a copy of this software and files";
    let mut texts: Vec<(String, String)> = (0..30)
        .map(|n| (format!("copy{n:02}.txt"), format!("{page} in {}\n", if n < 25 { 2000 } else { 2000 + n })))
        .collect();
    texts.push(("short.txt".to_owned(), "A permission slip.\n".to_owned()));
    let view = view(&texts);
    let (_directory, index) = indexed(&view);
    let found = index.search(&view, &query("permission granted", Mode::Words)).unwrap();
    let shown: Vec<_> = found.hits.iter().map(|hit| (hit.document.as_str(), hit.twins)).collect();
    assert_eq!(shown, [("copy00.txt", 29), ("short.txt", 0)]);
}

#[test]
fn nothing_asked_and_too_much_asked_are_said() {
    let view = view(&TEXTS);
    let (_directory, index) = indexed(&view);
    for text in ["", "  \n", "!!! ...", "path:docs"] {
        let found = index.search(&view, &Query::new(text)).unwrap();
        assert_eq!((found.hits.len(), found.notices), (0, vec![Notice::NothingAsked]), "{text:?}");
    }
    let long = format!("{} bread", "flour water ".repeat(90_000));
    let found = index.search(&view, &Query::new(long)).unwrap();
    assert_eq!(found.notices, [Notice::QueryCut]);
    assert_eq!(found.hits[0].document, "docs/food.md");
}

#[test]
fn an_empty_index_finds_nothing_and_says_what_is_missing() {
    let view = view(&TEXTS);
    let directory = scratch();
    let index = open(directory.path());
    let found = index.search(&view, &Query::new("bread")).unwrap();
    assert_eq!((found.hits.len(), found.documents, found.documents_missing), (0, 0, 6));
    assert!(!index.holds(&view, &UpdateOptions::default()));
}

#[test]
fn without_a_model_words_are_found_and_meaning_is_refused() {
    let view = view(&TEXTS);
    let directory = scratch();
    let mut index = Index::open(directory.path(), IndexOptions::default()).unwrap();
    update(&mut index, &view);
    let found = index.search(&view, &query("bread", Mode::Hybrid)).unwrap();
    assert_eq!((found.mode, found.hits[0].document.as_str()), (Mode::Words, "docs/food.md"));
    assert!(matches!(found.notices[..], [Notice::WordsOnly { .. }]));
    assert!(matches!(index.search(&view, &query("bread", Mode::Meaning)), Err(IndexError::NoVectors { .. })));
    // With a model, the next update computes vectors, and reports the rebuild.
    let mut index = open(directory.path());
    assert!(matches!(index.search(&view, &query("bread", Mode::Meaning)), Err(IndexError::NoVectors { .. })));
    assert_eq!(update(&mut index, &view).rebuilt, Some(Rebuilt::OtherModel));
    assert_eq!(places(&index, &view, &query("loaf of bread", Mode::Meaning))[0], "docs/food.md:1");
}

/// Counts what it embeds.
struct Counting(StaticEmbedder, AtomicUsize);

impl Embedder for Counting {
    fn id(&self) -> &'static str {
        "counting"
    }
    fn dimensions(&self) -> usize {
        self.0.dimensions()
    }
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.1.fetch_add(texts.len(), Ordering::Relaxed);
        if texts.iter().any(|text| text.contains("unspeakable")) {
            return Err(EmbedError::Remote {
                model: "counting".to_owned(),
                why: "no".to_owned(),
                source: None,
            });
        }
        self.0.embed(texts)
    }
}

#[test]
fn no_text_is_embedded_twice() {
    let counting = Arc::new(Counting(StaticEmbedder::embedded().unwrap(), AtomicUsize::new(0)));
    let n_embedded = || counting.1.load(Ordering::Relaxed);
    let directory = scratch();
    let embedder: Option<Arc<dyn Embedder>> = Some(counting.clone());
    let mut index = Index::open(directory.path(), IndexOptions { embedder }).unwrap();
    let before = view(&[("a.txt", "one text"), ("b.txt", "another text"), ("c.txt", "a third")]);
    assert_eq!(update(&mut index, &before).embedded, 3);
    assert_eq!(n_embedded(), 3);
    // Moved, copied, removed and restored: nothing new.
    for texts in [
        vec![("d/a.txt", "one text"), ("b.txt", "another text"), ("b2.txt", "another text")],
        vec![("c.txt", "a third")],
        vec![("a.txt", "one text"), ("c.txt", "a third")],
    ] {
        update(&mut index, &view(&texts));
    }
    assert_eq!(n_embedded(), 3);
    // A model that does not respond fails the update; finished work is kept.
    let unlucky = view(&[("c.txt", "a third"), ("x.txt", "unspeakable")]);
    let outcome = index.update(&unlucky, &UpdateOptions::default(), &mut |_| ControlFlow::Continue(()));
    assert!(matches!(outcome, Err(IndexError::Embed { .. })));
    assert_eq!(words(&index, &unlucky, "third"), ["c.txt:1"]);
    assert!(!index.holds(&unlucky, &UpdateOptions::default()));
}

#[test]
fn secrets_are_not_in_the_index() {
    let secret = ["ghp_", "Zx81kfjQ0aPwLm3nRt6yBvC4dEgHiJ2sUo5X"].concat();
    let view = view(&[("notes.txt", format!("The deploy token is {secret} for now.\n"))]);
    let (directory, index) = indexed(&view);
    assert_eq!(words(&index, &view, "deploy token"), ["notes.txt:1"]);
    assert_eq!(words(&index, &view, &secret), [""; 0]);
    let found = index.search(&view, &Query::new("deploy token")).unwrap();
    assert!(!found.hits[0].text.contains("ghp_"));
    for name in names_below(directory.path()) {
        let bytes = files::read_whole(&directory.path().join(&name), u64::MAX - 1).unwrap().unwrap();
        let lower = String::from_utf8_lossy(&bytes).to_lowercase();
        assert!(!lower.contains("zx81kfjq0apwlm"), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn nobody_else_may_read_it() {
    use std::os::unix::fs::PermissionsExt as _;
    let (directory, _index) = indexed(&view(&TEXTS));
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&directory.path().join("words")), 0o700);
    assert_eq!(mode(&directory.path().join("vectors")), 0o700);
    for name in names_below(directory.path()) {
        assert_eq!(mode(&directory.path().join(&name)), 0o600, "{name}");
    }
}

#[test]
fn an_update_that_is_stopped_goes_on_later() {
    let texts: Vec<_> = (0..40)
        .map(|n| (format!("d{n:02}.txt"), format!("document number{n} about thing{}\n", n % 7)))
        .collect();
    let view = view(&texts);
    let directory = scratch();
    let mut index = open(directory.path());
    let (mut n_updates, mut n_added) = (0, 0);
    loop {
        // Stops once five more are done.
        let stop = |progress: IndexProgress| {
            if progress.documents_done >= 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let report = index.update(&view, &UpdateOptions::default(), &mut |progress| stop(progress)).unwrap();
        n_updates += 1;
        assert!(n_updates < 20 && report.rebuilt.is_none());
        let (n_documents, _) = index.size();
        assert!(n_documents > n_added || !report.interrupted);
        n_added = n_documents;
        if !report.interrupted {
            break;
        }
    }
    assert!(n_updates > 1 && index.holds(&view, &UpdateOptions::default()));
    let (_fresh_directory, fresh) = indexed(&view);
    for text in ["number13", "thing3", "document"] {
        let all = Query { hits_max: 100, ..query(text, Mode::Words) };
        assert_eq!(sorted(places(&index, &view, &all)), sorted(places(&fresh, &view, &all)), "{text}");
    }
    // Stopped before anything was done, it is still a valid index.
    let directory = scratch();
    let mut index = open(directory.path());
    let report = index.update(&view, &UpdateOptions::default(), &mut |_| ControlFlow::Break(())).unwrap();
    assert!(report.interrupted && damage(&index).is_none());
}

fn sorted(mut places: Vec<String>) -> Vec<String> {
    places.sort();
    places
}

#[test]
fn commits_on_the_way_hold_whole_documents_and_what_is_partial_is_not_found() {
    let texts: Vec<_> =
        (0..30).map(|n| (format!("d{n:02}.txt"), format!("common word{n}\n").repeat(400))).collect();
    let view = view(&texts);
    let directory = scratch();
    let mut index = open(directory.path());
    let options = UpdateOptions { commit_bytes: 10_000, ..UpdateOptions::default() };
    index.update(&view, &options, &mut |_| ControlFlow::Continue(())).unwrap();
    let (_fresh_directory, fresh) = indexed(&view);
    assert_eq!(index.size(), fresh.size());
    let all = Query { hits_max: 200, ..query("common word17", Mode::Words) };
    assert_eq!(places(&index, &view, &all)[..3], places(&fresh, &view, &all)[..3]);
}

#[test]
fn a_second_process_is_told_who_is_at_work_and_can_search() {
    let view = view(&TEXTS);
    let (directory, index) = indexed(&view);
    let _lock = index.lock().unwrap();
    let mut second = open(directory.path());
    let refused = second.update(&view, &UpdateOptions::default(), &mut |_| ControlFlow::Continue(()));
    match refused {
        Err(IndexError::Locked { pid, .. }) => assert_eq!(pid, Some(std::process::id())),
        other => panic!("{other:?}"),
    }
    assert_eq!(words(&second, &view, "bread"), ["docs/food.md:1"]);
}

#[test]
fn an_update_with_nothing_to_do_writes_nothing() {
    let view = view(&TEXTS);
    let (directory, mut index) = indexed(&view);
    let stamp = files::stamp(&directory.path().join(CATALOGUE)).unwrap();
    let report = update(&mut index, &view);
    assert_eq!((report.unchanged, report.added, report.passages), (6, 0, 0));
    assert_eq!(files::stamp(&directory.path().join(CATALOGUE)).unwrap(), stamp);
}

/// The results of a few queries, or the damage error.
fn answers(directory: &Path, view: &View) -> Result<Vec<Vec<String>>, IndexError> {
    let index = Index::open(directory, options())?;
    let asked =
        [("bread", Mode::Words), ("mending a vehicle", Mode::Meaning), ("cache eviction", Mode::Hybrid)];
    asked
        .iter()
        .map(|(text, mode)| {
            let found = index.search(view, &query(text, *mode))?;
            Ok(found
                .hits
                .iter()
                .map(|hit| format!("{} {:?} {:?}", hit.document, hit.similarity, hit.scope))
                .collect())
        })
        .collect()
}

#[test]
fn damage_to_any_file_is_seen_and_mended() {
    let view = view(&TEXTS);
    let (directory, index) = indexed(&view);
    drop(index);
    let expected = answers(directory.path(), &view).unwrap();
    let mut n_damaged = 0;
    for name in names_below(directory.path()) {
        for damage in [0, 1, 2, 3_usize] {
            let copy = scratch();
            copy_tree(directory.path(), copy.path());
            let path = copy.path().join(&name);
            match damage {
                0 => truncate(&path, 0),
                1 => truncate(&path, files::stamp(&path).unwrap().bytes / 2),
                2 => flip(&path, 0),
                _ => flip(&path, files::stamp(&path).unwrap().bytes / 2),
            }
            // A changed file gives the right result or an error, never a different result.
            let was_seen = match answers(copy.path(), &view) {
                Ok(answers) => {
                    assert_eq!(answers, expected, "{name} {damage}");
                    false
                }
                Err(IndexError::Damaged { .. }) => true,
                Err(other) => panic!("{name} {damage}: {other}"),
            };
            let mut index = open(copy.path());
            let report = update(&mut index, &view);
            assert_eq!(matches!(report.rebuilt, Some(Rebuilt::Damaged(_))), was_seen, "{name} {damage}");
            assert_eq!(answers(copy.path(), &view).unwrap(), expected, "{name} {damage}");
            n_damaged += usize::from(was_seen);
        }
    }
    assert!(n_damaged >= 30, "{n_damaged}");
}

#[test]
fn a_missing_file_and_strangers_files_are_seen() {
    let view = view(&TEXTS);
    let (directory, index) = indexed(&view);
    drop(index);
    for name in ["catalogue", "words/meta.json", "vectors/rows-00000.bin", "vectors/keys-00000.bin"] {
        let copy = scratch();
        copy_tree(directory.path(), copy.path());
        files::remove(&copy.path().join(name)).unwrap();
        assert!(damage(&open(copy.path())).is_some(), "{name}");
    }
    // Unknown files are ignored.
    put(&directory.path().join("words/stranger.txt"), b"hello");
    assert_eq!(damage(&open(directory.path())), None);
}

#[test]
fn another_way_to_tell_types_reads_everything_again_but_embeds_nothing() {
    let view = view(&TEXTS);
    let (_directory, mut index) = indexed(&view);
    let detector = Detector::default().with_override("cache.py", "prose").unwrap();
    let options = UpdateOptions { detector, detector_key: "prose".to_owned(), ..UpdateOptions::default() };
    let report = index.update(&view, &options, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!((report.rebuilt, report.added, report.embedded), (Some(Rebuilt::OtherCut), 6, 0));
    assert_eq!(words(&index, &view, "evict kind:prose"), ["src/cache.py:1"]);
    let again = index.update(&view, &options, &mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!((again.rebuilt, again.unchanged), (None, 6));
}

#[test]
fn a_rebuild_that_is_stopped_still_embeds_nothing_twice() {
    let texts: Vec<_> = (0..30).map(|n| (format!("d{n:02}.txt"), format!("document number{n}\n"))).collect();
    let view = view(&texts);
    let (_directory, mut index) = indexed(&view);
    let detector = Detector::default().with_override("d*.txt", "log").unwrap();
    let options = UpdateOptions { detector, detector_key: "log".to_owned(), ..UpdateOptions::default() };
    let stop = |progress: IndexProgress| {
        if progress.documents_done >= 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let mut n_embedded = 0;
    loop {
        let report = index.update(&view, &options, &mut |progress| stop(progress)).unwrap();
        n_embedded += report.embedded;
        if !report.interrupted {
            break;
        }
        assert!(damage(&index).is_none());
    }
    assert_eq!((n_embedded, index.size().0), (0, 30));
    assert!(!names_below(&index.directory).iter().any(|name| name.starts_with("vectors-old")));
}

fn corpus() -> impl Strategy<Value = Vec<(String, String)>> {
    let text = proptest::collection::vec("(alpha|beta|gamma|delta|epsilon|zeta)", 1..12)
        .prop_map(|words| words.join(" "));
    proptest::collection::btree_map("[a-e]\\.txt", text, 1..5).prop_map(|texts| texts.into_iter().collect())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// However the documents reached their current state, the index reflects that state.
    #[test]
    fn updates_lead_to_the_same_index_as_a_fresh_build(history in proptest::collection::vec(corpus(), 1..5)) {
        let directory = scratch();
        let mut index = open(directory.path());
        for texts in &history {
            update(&mut index, &view(texts));
        }
        let last = view(history.last().unwrap());
        let (_fresh_directory, fresh) = indexed(&last);
        prop_assert_eq!(index.size(), fresh.size());
        for text in ["alpha", "beta gamma", "\"delta epsilon\"", "zeta -alpha"] {
            let all = Query { hits_max: 200, ..query(text, Mode::Words) };
            prop_assert_eq!(sorted(places(&index, &last, &all)), sorted(places(&fresh, &last, &all)));
            let near = query(text, Mode::Meaning);
            prop_assert_eq!(places(&index, &last, &near), places(&fresh, &last, &near));
        }
    }
}

/// Many documents with nearly identical passages, so that hundreds of candidates are merged into a few hits.
#[cfg(target_os = "linux")]
#[test]
fn a_search_reads_each_document_once_however_many_of_its_passages_are_candidates() {
    use std::fmt::Write as _;

    use crate::testing::{bytes_read, view_of};

    let documents = scratch();
    let sentences = [
        "the cache of server alpha was evicted after an hour of heavy traffic",
        "a second job refilled every shelf with fresh pages from storage",
        "nobody noticed because latency stayed below its usual ceiling all night",
        "engineers later wrote this summary without naming who started it",
    ];
    for n in 0..40 {
        let mut text = String::new();
        for block in 0..40 {
            for line in 0..24 {
                writeln!(text, "{}", sentences[line % sentences.len()]).unwrap();
            }
            writeln!(text, "run {}\n", n * 40 + block).unwrap();
        }
        put(&documents.path().join(format!("{n:02}.md")), text.as_bytes());
    }
    let view = view_of(documents.path());
    let (_directory, index) = indexed(&view);
    for mode in [Mode::Words, Mode::Meaning, Mode::Hybrid] {
        let (mut texts, before) = (Texts::default(), bytes_read());
        for asked in ["when was the cache of the server evicted", "who started the second job"] {
            let query = Query { hits_max: 20, ..query(asked, mode) };
            let found = index.search_with(&view, &query, &mut texts).unwrap();
            let n_folded: u64 = found.hits.iter().map(|hit| hit.twins).sum();
            assert!(n_folded > 200, "{mode:?}: {} hits, {n_folded} folded", found.hits.len());
        }
        let read = bytes_read() - before;
        // Vectors are in memory; counting itself takes a read.
        assert!(read <= view.bytes() + 4_096, "{mode:?}: {read} bytes were read of {}", view.bytes());
        // With room for three of the documents, each is read once per set of candidates; there are two such sets.
        let document_bytes = usize::try_from(view.bytes()).unwrap() / 40;
        let (mut texts, before) = (Texts::default(), bytes_read());
        texts.held_bytes_max = 3 * document_bytes;
        let query = Query { hits_max: 20, ..query("when was the cache of the server evicted", mode) };
        index.search_with(&view, &query, &mut texts).unwrap();
        let read = bytes_read() - before;
        assert!(read <= 2 * view.bytes() + 4_096, "{mode:?}: {read} bytes were read of {}", view.bytes());
    }
}
