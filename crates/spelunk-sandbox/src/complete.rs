//! Completeness: whether what a person has typed so far is a cell, or the beginning of one.

use monty::{ReplContinuationMode, detect_repl_continuation_mode};

/// Whether more lines belong to this code: an open bracket or string, or a block that a blank line has not ended.
pub fn needs_more(code: &str) -> bool {
    match detect_repl_continuation_mode(code) {
        // A block whose last line is indented may go on.
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
