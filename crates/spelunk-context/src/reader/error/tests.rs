//! Messages that no other test covers.

use super::ReadError;
use crate::Reader;

#[test]
fn a_value_within_its_bounds_passes() {
    assert!(ReadError::check("matches", 0, 0, 10).is_ok());
    assert!(ReadError::check("matches", 10, 0, 10).is_ok());
    assert_eq!(
        ReadError::check("matches", 11, 0, 10).unwrap_err().to_string(),
        "matches must be between 0 and 10, not 11"
    );
}

#[test]
fn an_empty_document_has_one_page_and_no_line() {
    let empty = Reader::of_bytes("empty", [].into());
    assert_eq!(empty.page(1, 50).unwrap_err().to_string(), "`empty` has no page 1: the only page is 0");
    assert_eq!(
        empty.lines(1..=1).unwrap_err().to_string(),
        "`empty` has no line 1: it has 0, counted from 1"
    );
}
