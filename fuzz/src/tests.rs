use super::*;

/// A few hundred inputs each, so that every change is fuzzed a little. `cargo run -p spelunk-fuzz` does more.
fn drive(name: &str, n_inputs: usize) {
    let (_, target) = TARGETS.iter().find(|(known, _)| *known == name).unwrap();
    let mut mutator = Mutator::new(1).with(&corpus(name));
    for _ in 0..n_inputs {
        target(&mutator.input());
    }
}

#[test]
fn splitters_keep_their_invariants() {
    drive("splitters", 1000);
}

#[test]
fn detectors_are_total() {
    drive("detectors", 2000);
}

#[test]
fn plans_agree_with_themselves() {
    drive("plans", 300);
}

#[test]
fn landmarks_lie_inside() {
    drive("structures", 300);
}

#[test]
fn code_is_found_in_any_reply() {
    drive("cells", 500);
}

#[test]
fn the_other_targets_keep_their_invariants() {
    for (name, _) in &TARGETS[5..] {
        drive(name, 200);
    }
}

#[test]
fn every_kept_input_keeps_the_invariants_whatever_is_chosen() {
    for (name, target) in TARGETS {
        for kept in corpus(name) {
            if kept.was_found() {
                target(&kept.bytes);
            }
            for choice in 0..8_u64 {
                let number = choice.wrapping_mul(0x9e37_79b9_7f4a_7c15) & !7 | choice;
                target(&[&number.to_le_bytes(), kept.body()].concat());
            }
        }
    }
}

#[test]
fn what_strangers_write_has_a_corpus_of_small_files() {
    for (name, _) in &TARGETS[4..] {
        assert!(!corpus(name).is_empty(), "{name} has no corpus");
        for CorpusFile { path, bytes } in corpus(name) {
            assert!(bytes.len() <= 4096, "{} is too large to be kept", path.display());
        }
    }
}

#[test]
fn pieces_are_the_whole() {
    let bytes: Vec<u8> = (0..=255).collect();
    for number in [0, 1, u64::MAX] {
        let pieces = choice::pieces(number, &bytes);
        assert!(pieces.len() > 1, "{number} cuts nothing");
        assert_eq!(pieces.concat(), bytes);
    }
}

#[test]
fn a_seed_gives_the_same_inputs_again_and_another_seed_others() {
    let inputs = |seed| {
        let mut mutator = Mutator::new(seed).with(&corpus("settings"));
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
