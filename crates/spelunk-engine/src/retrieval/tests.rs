//! Several runs over the same documents share one index.

use spelunk_context::{Corpus, ScanOptions, SourceInput};
use spelunk_index::StaticEmbedder;

use super::*;

fn finder(directory: &std::path::Path, who: &str) -> Retrieval {
    let text = format!("The {who} bakes bread.\n").repeat(40);
    let inputs = [SourceInput::Text { name: "book.txt".into(), bytes: text.into_bytes() }];
    let corpus = Corpus::scan(&inputs, &ScanOptions::default(), &mut |_| {}).unwrap();
    Retrieval {
        directory: Some((PrivateDir::new(directory), String::new())),
        embedder: Arc::new(|| Ok(Arc::new(StaticEmbedder::embedded()?))),
        detector: Detector::default(),
        detector_key: String::new(),
        whole: View::of(Arc::new(corpus)),
        index: Mutex::default(),
    }
}

fn find(finder: &Retrieval) -> Vec<Hit> {
    finder.find(&finder.whole, "who bakes bread?", Mode::Words, 3, &mut |_| {}).unwrap().0
}

#[test]
fn a_run_waits_for_another_that_is_at_the_same_index() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("index");
    assert!(find(&finder(&folder, "lighthouse keeper"))[0].text.contains("lighthouse"));
    let lock = std::fs::OpenOptions::new().write(true).open(folder.join("update.lock")).unwrap();
    lock.lock().unwrap();
    // Another version of the document has to be added first.
    std::thread::scope(|scope| {
        let second = scope.spawn(|| find(&finder(&folder, "miller")));
        std::thread::sleep(POLL * 2);
        lock.unlock().unwrap();
        assert!(second.join().unwrap()[0].text.contains("miller"));
    });
}

#[test]
fn many_runs_at_once_find_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let folder = directory.path().join("index");
    let found: Vec<Vec<Hit>> = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..6).map(|_| scope.spawn(|| find(&finder(&folder, "miller")))).collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    assert!(found.iter().all(|one| *one == found[0] && !one.is_empty()), "{found:?}");
}
