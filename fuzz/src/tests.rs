use super::*;

/// A few thousand inputs each, so that every change is fuzzed a little. `cargo run -p spelunk-fuzz` goes on from there.
fn drive(target: Target, n_inputs: usize) {
    let mut mutator = Mutator::new(1);
    for _ in 0..n_inputs {
        target(&mutator.input());
    }
}

#[test]
fn splitters_keep_their_invariants() {
    drive(splitters, 1000);
}

#[test]
fn detectors_are_total() {
    drive(detectors, 2000);
}

#[test]
fn plans_agree_with_themselves() {
    drive(plans, 300);
}

#[test]
fn landmarks_lie_inside() {
    drive(structures, 300);
}

#[test]
fn code_is_found_in_any_reply() {
    drive(cells, 500);
}

#[test]
fn a_seed_gives_the_same_inputs_again_and_another_seed_others() {
    let inputs = |seed| {
        let mut mutator = Mutator::new(seed);
        (0..20).map(|_| mutator.input()).collect::<Vec<_>>()
    };
    assert_eq!(inputs(1), inputs(1));
    assert_ne!(inputs(1), inputs(2));
}

#[test]
fn every_input_is_a_text_of_its_own() {
    let mut mutator = Mutator::new(1);
    let inputs: std::collections::BTreeSet<Vec<u8>> = (0..1000).map(|_| mutator.input()).collect();
    assert_eq!(inputs.len(), 1000);
}
