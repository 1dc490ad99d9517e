//! What patterns cost.

use super::super::{Backslash, Manner, Pattern, Syntax};

#[test]
fn repetitions_are_written_out() {
    let manner = Manner {
        syntax: Syntax::Extended,
        ignore_case: false,
        whole_line: false,
        in_brackets: Backslash::Member,
    };
    let rows = [
        // Characters, a set of eight, and four for the pattern itself.
        ("abc", 4 + 3, 1),
        ("a[bc]*d", 4 + 2 + 8, 1),
        ("(ab){3}", 4 + 6, 1),
        ("((ab){3}c){2,5}", 4 + 35, 1),
        ("x(a|bc)y|z", 4 + 6, 1),
        // Up to twelve open places are few.
        ("[ab]{12}", 4 + 96, 1),
        ("[ab]{13}", 4 + 104, 13 * 16),
        ("c.{2,20}d", 4 + 2 + 160, 22 * 16),
        ("(a|b){13}", 4 + 26 + 104, 39 * 16),
        ("error|warning|fatal|panic|a|b|c|d|e|f|g|h|i|j", 4 + 32, 1),
    ];
    for (pattern, n_parts, n_times) in rows {
        let cost = Pattern::compile(pattern, manner).unwrap().cost;
        assert_eq!((cost.n_parts(), cost.n_times()), (n_parts, n_times), "{pattern}");
    }
}
