use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::join_all;
use spelunk_context::{Corpus, ScanOptions, SourceInput};

use super::*;
use crate::testing::chunk_of;

#[test]
fn the_last_text_is_kept_and_those_before_it_are_let_go_of() {
    let source = SourceInput::Text { name: "a.log".into(), bytes: b"one\ntwo\n".to_vec() };
    let corpus = Corpus::scan(&[source], &ScanOptions::default(), &mut |_| {}).unwrap();
    let view = View::of(Arc::new(corpus));
    let document = view.find("a.log").unwrap();
    let texts = Texts::default();
    for chunk in [chunk_of(0..4, 1), chunk_of(4..8, 2), chunk_of(0..4, 1)] {
        texts.get(&view, document, chunk.segment.as_ref()).unwrap();
    }
    let held = texts.state.into_inner().unwrap();
    let (place, text) = held.last.unwrap();
    assert_eq!((place, text.as_str()), ((0, 0), "one\n"));
    assert_eq!(held.in_use.get(&(0, 4)).and_then(Weak::upgrade), None, "it was let go of");
}

#[tokio::test]
async fn everything_is_read_by_few_threads_and_answers_go_to_whom_they_belong() {
    let readers = Readers::default();
    let (n_now, n_most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let reads = (0..500_usize).map(|idx| {
        let (n_now, n_most) = (Arc::clone(&n_now), Arc::clone(&n_most));
        readers.have(move || {
            n_most.fetch_max(n_now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            std::thread::yield_now();
            n_now.fetch_sub(1, Ordering::SeqCst);
            idx * 2
        })
    });
    let read = join_all(reads.collect::<Vec<_>>()).await;
    assert_eq!(read, (0..500).map(|idx| idx * 2).collect::<Vec<_>>());
    assert!(n_most.load(Ordering::SeqCst) <= *THREADS_MAX);
    assert_eq!(readers.0.available_permits(), *THREADS_MAX);
}

#[tokio::test]
async fn a_panic_reaches_who_asked_and_nobody_else() {
    let readers = Arc::new(Readers::default());
    let asking = Arc::clone(&readers);
    let asked = async move {
        asking.have(|| -> u8 { std::panic::resume_unwind(Box::new("a reader that panics")) }).await
    };
    let asked = std::panic::AssertUnwindSafe(asked);
    let panic = futures_util::FutureExt::catch_unwind(asked).await.unwrap_err();
    assert_eq!(panic.downcast_ref::<&str>(), Some(&"a reader that panics"));
    assert_eq!(readers.have(|| 7).await, 7);
}

#[tokio::test]
async fn what_nobody_waits_for_any_more_does_not_hold_up_the_others() {
    let readers = Readers::default();
    let (finish, finished) = std::sync::mpsc::channel::<()>();
    {
        let dropped = readers.have(move || finished.recv());
        futures_util::pin_mut!(dropped);
        assert!(futures_util::poll!(dropped.as_mut()).is_pending());
    }
    drop(finish);
    assert_eq!(readers.have(|| 2).await, 2);
}
