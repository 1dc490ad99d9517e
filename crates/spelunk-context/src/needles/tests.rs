use proptest::prelude::*;

use super::*;

fn places(words: &[&str], text: &str) -> Vec<usize> {
    let needles = Needles::of(words.iter().map(|word| word.as_bytes().into()).collect()).unwrap();
    let mut places = Vec::new();
    while let Some(at) = needles.find(text.as_bytes(), places.last().map_or(0, |at| at + 1)) {
        places.push(at);
    }
    places
}

#[test]
fn words_are_found_in_any_case_with_underscores_and_at_the_end() {
    assert_eq!(places(&["retry", "hf9"], "RETRY, a re__tr_y and hf9"), [0, 9, 22]);
    assert_eq!(places(&["retry"], "ret"), Vec::<usize>::new());
    assert_eq!(places(&["retry"], "re-try reply"), Vec::<usize>::new());
}

#[test]
fn a_word_is_found_at_every_place() {
    for n_before in 0..12 {
        for n_after in 0..12 {
            let text = format!("{}hf9{}", "x".repeat(n_before), "y".repeat(n_after));
            assert_eq!(places(&["hf9"], &text), [n_before], "{text}");
            assert_eq!(places(&["hf9y"], &text).len(), n_after.min(1), "{text}");
        }
    }
}

#[test]
fn two_letters_are_too_few() {
    assert_eq!(Needles::of(vec![b"ab"[..].into()]), None);
}

proptest! {
    #[test]
    fn no_word_is_missed(text in "[a-dA-D_ ]{0,40}", word in "[a-d]{3,6}") {
        let found = places(&[&word], &text);
        let bare = text.replace('_', "").to_ascii_lowercase();
        prop_assert_eq!(found.is_empty(), !bare.contains(&word));
    }
}
