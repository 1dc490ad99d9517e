//! What calls share of the cache, and when it is evicted.

use proptest::prelude::*;

use super::*;

fn kept(tokens: &[i32], used: u64) -> Sequence {
    Sequence { tokens: tokens.to_vec(), reserved: None, used }
}

fn busy(tokens: &[i32], reserved: usize) -> Sequence {
    Sequence { tokens: tokens.to_vec(), reserved: Some(reserved), used: 9 }
}

#[test]
fn a_conversation_goes_on_in_its_own_sequence() {
    let sequences = [kept(&[1, 2, 3], 1), kept(&[], 0)];
    let start = place(&sequences, &[1, 2, 3, 4, 5], 10, 100).unwrap();
    assert_eq!(start, Start { own: 0, from: 0, n_common: 3, forgotten: 0 });
}

#[test]
fn another_question_after_the_same_beginning_copies_it() {
    let sequences = [kept(&[1, 2, 3, 4], 5), kept(&[7], 1)];
    let start = place(&sequences, &[1, 2, 9], 10, 100).unwrap();
    assert_eq!(start, Start { own: 1, from: 0, n_common: 2, forgotten: 0 });
}

#[test]
fn the_beginning_of_a_call_that_runs_is_shared_too() {
    let sequences = [busy(&[1, 2, 3], 20), kept(&[], 0)];
    let start = place(&sequences, &[1, 2, 4], 10, 100).unwrap();
    assert_eq!(start, Start { own: 1, from: 0, n_common: 2, forgotten: 0 });
}

#[test]
fn the_last_token_of_a_prompt_is_always_computed() {
    let sequences = [kept(&[1, 2, 3], 1)];
    assert_eq!(place(&sequences, &[1, 2, 3], 10, 100).unwrap().n_common, 2);
}

#[test]
fn what_was_used_longest_ago_makes_room() {
    let sequences = [kept(&[1; 40], 3), kept(&[2; 40], 2), kept(&[3; 10], 1)];
    let start = place(&sequences, &[5, 6], 30, 100).unwrap();
    assert_eq!((start.own, start.forgotten), (2, 0b010));
    let start = place(&sequences, &[5, 6], 90, 100).unwrap();
    assert_eq!((start.own, start.forgotten), (2, 0b011));
}

#[test]
fn a_call_waits_for_cells_that_are_promised_and_for_a_sequence() {
    assert_eq!(place(&[busy(&[1], 90), kept(&[], 0)], &[5, 6], 20, 100), None);
    assert_eq!(place(&[busy(&[1], 10)], &[5, 6], 20, 100), None);
    assert!(place(&[busy(&[1], 70), kept(&[], 0)], &[5, 6], 20, 100).is_some());
}

fn sequences() -> impl Strategy<Value = Vec<Sequence>> {
    let tokens = proptest::collection::vec(0_i32..3, 0..12);
    let one = (tokens, proptest::option::of(0_usize..30), 0_u64..5)
        .prop_map(|(tokens, reserved, used)| Sequence { tokens, reserved, used });
    proptest::collection::vec(one, 1..5)
}

proptest! {
    #[test]
    fn promises_are_never_more_than_there_are_cells(
        sequences in sequences(),
        prompt in proptest::collection::vec(0_i32..3, 1..12),
        n_reply in 0_usize..20,
    ) {
        let n_cells = 60;
        if let Some(start) = place(&sequences, &prompt, n_reply, n_cells) {
            prop_assert!(sequences[start.own].reserved.is_none());
            prop_assert!(start.n_common < prompt.len());
            prop_assert_eq!(&sequences[start.from].tokens[..start.n_common], &prompt[..start.n_common]);
            let mut left = prompt.len() + n_reply;
            for (idx, sequence) in sequences.iter().enumerate() {
                let is_forgotten = start.forgotten >> idx & 1 == 1;
                prop_assert!(!(is_forgotten && (sequence.reserved.is_some() || idx == start.own)));
                if idx != start.own && !is_forgotten {
                    left += held(sequence);
                }
            }
            prop_assert!(left <= n_cells);
        }
    }
}
