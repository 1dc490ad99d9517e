//! Groups of lines.

use proptest::prelude::*;

use super::grouped;

#[test]
fn lines_are_grouped_by_tokens_and_a_long_one_stands_alone() {
    let lines: Vec<String> = [40, 40, 400, 4].iter().map(|n| "x".repeat(*n)).collect();
    let sizes: Vec<usize> = grouped(&lines, 25).iter().map(Vec::len).collect();
    assert_eq!(sizes, [2, 1, 1]);
    assert_eq!(grouped(&[], 25), [Vec::<String>::new()]);
}

proptest! {
    #[test]
    fn no_line_is_lost_and_order_is_kept(lines in proptest::collection::vec("[a-z ]{0,60}", 0..40), max in 1_u64..40) {
        prop_assert_eq!(grouped(&lines, max).concat(), lines);
    }
}
