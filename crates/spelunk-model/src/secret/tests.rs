//! A key cannot be read back, and it is redacted from foreign text.

use super::*;

#[test]
fn neither_form_of_printing_shows_the_key() {
    let secret = Secret::new("sk-very-secret");
    assert_eq!(format!("{secret} {secret:?} {:?}", Some(&secret)), "[key] Secret([key]) Some(Secret([key]))");
}

#[test]
fn the_header_is_sensitive_and_printing_it_shows_nothing() {
    let header = Secret::new(" sk-very-secret\n").header("Bearer ").unwrap();
    assert_eq!(header.as_bytes(), b"Bearer sk-very-secret");
    assert_eq!(format!("{header:?}"), "Sensitive");
}

#[test]
fn a_key_that_no_header_can_carry_makes_no_header() {
    assert!(Secret::new("sk-one\nsk-two").header("Bearer ").is_none());
}

#[test]
fn every_occurrence_of_the_key_is_replaced() {
    let secret = Secret::new("sk-very-secret");
    assert_eq!(secret.redact("sk-very-secret is wrong: sk-very-secret"), "[key] is wrong: [key]");
}

#[test]
fn a_placeholder_that_local_servers_take_is_left_alone() {
    assert_eq!(Secret::new("").redact("not found"), "not found");
    assert_eq!(Secret::new("x").redact("an extra word"), "an extra word");
}
