//! Tells whether typed code is a complete cell or the beginning of one.

use monty::{ReplContinuationMode, detect_repl_continuation_mode};

/// Whether this code is incomplete: an open bracket or string, or a block not yet ended by a blank line.
pub fn needs_more(code: &str) -> bool {
    match detect_repl_continuation_mode(code) {
        // A block whose last line is indented may continue.
        ReplContinuationMode::Complete => {
            code.lines().next_back().is_some_and(|line| line.starts_with([' ', '\t']))
                && !code.ends_with('\n')
        }
        ReplContinuationMode::IncompleteImplicit => true,
        ReplContinuationMode::IncompleteBlock => !code.ends_with('\n'),
    }
}

#[cfg(test)]
mod tests {
    use super::needs_more;

    #[test]
    fn a_block_goes_on_until_a_blank_line() {
        let typed = [
            "x = 1",
            "x = (1,",
            "for x in y:",
            "for x in y:\n    print(x)",
            "for x in y:\n    print(x)\n",
            "x = )",
        ];
        let wants: Vec<bool> = typed.iter().map(|code| needs_more(code)).collect();
        assert_eq!(wants, [false, true, true, true, false, false]);
    }
}
