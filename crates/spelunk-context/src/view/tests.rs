use proptest::prelude::*;

use super::*;
use crate::testing::{scan, tree, view};

fn names(view: &View) -> Vec<&str> {
    view.documents().map(|document| document.name.as_str()).collect()
}

#[test]
fn a_view_of_everything_has_the_digest_of_its_corpus() {
    let root = tree(&[("a", "1"), ("b", "22")]);
    let corpus = Arc::new(scan(&[root.path()]).unwrap());
    let view = View::of(Arc::clone(&corpus));
    assert_eq!((view.digest(), view.bytes()), (corpus.digest().clone(), 3));
}

#[test]
fn a_narrowed_view_finds_only_its_own() {
    let all = view(&[("a", "1"), ("b", "22"), ("c", "333")]);
    let some = all.narrow(|document| document.bytes > 1);
    assert_eq!((names(&some), some.bytes()), (vec!["b", "c"], 5));
    assert_eq!(some.find("a"), None);
    assert_eq!(some.find("b"), all.find("b"));
    assert_eq!(some.find("d"), None);
    assert_ne!(some.digest(), all.digest());
    assert_eq!(some.narrow(|_| false).documents().len(), 0);
}

#[test]
fn text_is_read_decoded_and_shared() {
    let view = view(&[("a", "\u{feff}x\r\n")]);
    let text = view.read(view.find("a").unwrap()).unwrap();
    assert_eq!(&*text, "x\r\n");
}

proptest! {
    #[test]
    fn narrowing_never_widens(first in any::<u8>(), second in any::<u8>()) {
        let kept_by = |mask: u8| move |document: &DocEntry| mask >> document.idx & 1 == 1;
        let texts: Vec<(String, String)> = (0..8).map(|n| (format!("d{n}"), format!("text {n}"))).collect();
        let texts: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
        let once = view(&texts).narrow(kept_by(first));
        let twice = once.narrow(kept_by(second));
        prop_assert!(twice.documents().all(|document| once.find(&document.name) == Some(document)));
        let both = view(&texts).narrow(kept_by(first & second));
        prop_assert_eq!(names(&twice), names(&both));
    }
}
