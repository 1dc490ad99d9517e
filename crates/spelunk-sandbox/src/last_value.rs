//! Passes the value of a cell's last expression to the host, which wants the value, not its text.

use ruff_python_ast::Stmt;
use ruff_python_parser::parse_module;
use ruff_text_size::Ranged as _;

use crate::fence::is_shallow;

/// Wraps the last statement in a call of `function` if it is an expression; otherwise, or if the
/// code cannot be parsed, returns it unchanged. Line numbers stay the same.
pub fn last_value_to(function: &str, code: &str) -> String {
    if !is_shallow(code) {
        return code.to_owned();
    }
    let parsed = parse_module(code);
    let Some(Stmt::Expr(last)) = parsed.as_ref().ok().and_then(|parsed| parsed.suite().last()) else {
        return code.to_owned();
    };
    let (from, to) = (last.start().to_usize(), last.end().to_usize());
    let part = |range| code.get(range).unwrap_or_default();
    // In parentheses of its own: a tuple is one argument.
    format!("{}{function}(({})){}", part(0..from), part(from..to), part(to..code.len()))
}

#[cfg(test)]
mod tests {
    use super::last_value_to;

    #[test]
    fn the_last_expression_is_given_to_the_function() {
        let cells = [
            ("x = 1\nx + 1  # two\n", "x = 1\nf((x + 1))  # two\n"),
            ("1, 2;", "f((1, 2));"),
            ("(\n  'é'\n)", "f(((\n  'é'\n)))"),
            ("await g()", "f((await g()))"),
            ("x = 1", "x = 1"),
            ("if x:\n    y", "if x:\n    y"),
            ("+++", "+++"),
            ("", ""),
        ];
        for (code, expected) in cells {
            assert_eq!(last_value_to("f", code), expected);
        }
        let deep = format!("{}1{}", "(".repeat(100_000), ")".repeat(100_000));
        assert_eq!(last_value_to("f", &deep), deep);
    }
}
