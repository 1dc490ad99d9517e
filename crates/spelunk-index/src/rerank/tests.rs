use spelunk_context::View;

use crate::testing::{scratch, view};
use crate::{Index, IndexOptions, Mode, Query, UpdateOptions};

fn order(view: &View, text: &str) -> Vec<String> {
    let directory = scratch();
    let mut index = Index::open(directory.path(), IndexOptions::default()).unwrap();
    index.update(view, &UpdateOptions::default(), &mut |_| std::ops::ControlFlow::Continue(())).unwrap();
    let found = index.search(view, &Query { mode: Mode::Words, ..Query::new(text) }).unwrap();
    found.hits.into_iter().map(|hit| hit.document).collect()
}

#[test]
fn words_side_by_side_as_asked_come_before_the_same_words_apart() {
    let view = view(&[
        ("apart.txt", "The timeout of a session, and what a request is, beside rivers and mountains."),
        ("together.txt", "Of clouds, birds, and what a session is, before the request timeout goes by."),
    ]);
    assert_eq!(order(&view, "request timeout")[0], "together.txt");
    assert_eq!(order(&view, "timeout request").len(), 2);
}

#[test]
fn all_the_words_once_come_before_one_of_them_often() {
    let view = view(&[
        ("often.txt", "cache cache cache cache cache cache cache cache cache cache cache cache"),
        (
            "all.txt",
            "when the cache is full the oldest entry is evicted from memory, which takes a while to do",
        ),
        ("none.txt", "something about the weather and other things"),
    ]);
    assert_eq!(order(&view, "cache evicted oldest"), ["all.txt", "often.txt"]);
}
