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
