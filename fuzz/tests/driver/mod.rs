//! The driver as people and `.ci/run` call it.

use std::process::{Command, Output};

fn drive(arguments: &[&str]) -> (Option<i32>, String) {
    let Output { status, stdout, .. } =
        Command::new(env!("CARGO_BIN_EXE_spelunk-fuzz")).args(arguments).output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap())
}

#[test]
fn a_target_is_fed_as_many_inputs_as_it_is_told() {
    let (code, said) = drive(&["sse", "20", "7"]);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.starts_with("sse: 20 inputs from seed 7 in "), "{said}");
    assert_eq!(said.lines().count(), 1);
}

#[test]
fn time_is_shared_by_all_targets() {
    let (code, said) = drive(&["all", "0s", "7"]);
    assert_eq!(code, Some(0), "{said}");
    let named: Vec<&str> = said.lines().filter_map(|line| Some(line.split_once(": 0 inputs")?.0)).collect();
    assert_eq!(named, spelunk_fuzz::TARGETS.map(|(name, _)| name));
}

#[test]
fn what_makes_no_sense_is_answered_with_the_usage() {
    for arguments in [&["nothing"][..], &["sse", "many"], &["sse", "1", "seed"], &["sse", "1m"]] {
        let (code, said) = drive(arguments);
        assert_eq!(code, Some(2), "{arguments:?}");
        assert!(said.starts_with("usage: spelunk-fuzz [all|splitters|"), "{said}");
    }
}
