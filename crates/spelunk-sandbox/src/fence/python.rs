//! Python in an unlabelled fence: whether a text is a program at all.

use ruff_python_ast::token::{TokenFlags, TokenKind};
use ruff_python_ast::{Expr, Stmt};
use ruff_python_parser::lexer::lex;
use ruff_python_parser::{Mode, parse_module};

/// The longest unlabelled text that is accepted as a program.
const BYTES_MAX: usize = 256 * 1024;
/// The maximum depth of its syntax tree. Trees are walked and dropped recursively.
const DEPTH_MAX: u64 = 1_000;

/// Whether a text parses and does something. Data and lists of words also parse, but are output or an answer in a
/// fence; a program calls, assigns, looks up, defines, or shows one variable.
pub(super) fn does_something(text: &str, indent: usize) -> bool {
    if text.len() > BYTES_MAX {
        return false;
    }
    let code = dedent(text, indent);
    if !is_shallow(&code) {
        return false;
    }
    parse_module(&code).is_ok_and(|parsed| parsed.suite().iter().any(|statement| !is_inert(statement)))
}

/// Code without the indentation of its fence, or its own if less, with `\n` line ends and none at the end.
pub(super) fn dedent(text: &str, indent: usize) -> String {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let margin = indent.min(margin_of(first));
    let mut code = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (line, newline) = match line.strip_suffix('\n') {
            Some(line) => (line.strip_suffix('\r').unwrap_or(line), "\n"),
            None => (line, ""),
        };
        code.push_str(line.get(margin.min(margin_of(line))..).unwrap_or_default());
        code.push_str(newline);
    }
    if code.ends_with('\n') {
        code.pop();
    }
    code
}

fn margin_of(line: &str) -> usize {
    line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// Whether a text consists of complete tokens and matching brackets, and its syntax tree cannot be
/// deep. Depth comes from open brackets, indentation, and tokens that follow each other without a
/// comma; each counts, whether it nests or not. On a line with a `lambda`, commas separate nothing.
pub(crate) fn is_shallow(code: &str) -> bool {
    let mut lexer = lex(code, Mode::Module);
    let mut open: Vec<(TokenKind, u64)> = Vec::new();
    let (mut depth, mut run, mut has_lambda) = (0_u64, 0_u64, false);
    loop {
        let token = lexer.next_token();
        if token == TokenKind::Unknown || lexer.current_flags().contains(TokenFlags::UNCLOSED_STRING) {
            return false;
        }
        if token == TokenKind::EndOfFile {
            return true;
        }
        if token == TokenKind::Indent {
            depth += 1;
        } else if token == TokenKind::Dedent {
            depth = depth.saturating_sub(1);
        } else if token == TokenKind::Newline {
            (run, has_lambda) = (0, false);
        } else if let Some(closing) = closing_of(token) {
            open.push((closing, run));
            (depth, run) = (depth + run + 1, 0);
        } else if matches!(token, TokenKind::Rpar | TokenKind::Rsqb | TokenKind::Rbrace) {
            let Some((_, outer)) = open.pop().filter(|(closing, _)| *closing == token) else { return false };
            (depth, run) = (depth.saturating_sub(outer + 1), outer + 1);
        } else if token == TokenKind::Comma && !has_lambda {
            run = 0;
        } else if !token.is_trivia() {
            run += 1;
            has_lambda |= token == TokenKind::Lambda;
        }
        if depth + run > DEPTH_MAX {
            return false;
        }
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "a token is one of three brackets, or of no interest")]
fn closing_of(token: TokenKind) -> Option<TokenKind> {
    match token {
        TokenKind::Lpar => Some(TokenKind::Rpar),
        TokenKind::Lsqb => Some(TokenKind::Rsqb),
        TokenKind::Lbrace => Some(TokenKind::Rbrace),
        _ => None,
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "every other statement does something")]
fn is_inert(statement: &Stmt) -> bool {
    match statement {
        Stmt::Expr(statement) => !is_variable(&statement.value) && is_data(&statement.value),
        // To Python, `Answer: 42` is an annotation.
        Stmt::AnnAssign(statement) => statement.value.is_none(),
        _ => false,
    }
}

/// Whether it looks like a variable name. `Paris` is an answer, and so are the keywords of JSON.
fn is_variable(expression: &Expr) -> bool {
    let name = expression.as_name_expr().map(|name| name.id.as_str()).unwrap_or_default();
    name.starts_with(|c: char| c == '_' || c.is_lowercase()) && !["true", "false", "null"].contains(&name)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "every other expression computes something")]
fn is_data(expression: &Expr) -> bool {
    match expression {
        Expr::Name(_)
        | Expr::StringLiteral(_)
        | Expr::BytesLiteral(_)
        | Expr::NumberLiteral(_)
        | Expr::BooleanLiteral(_)
        | Expr::NoneLiteral(_)
        | Expr::EllipsisLiteral(_) => true,
        Expr::UnaryOp(unary) => is_data(&unary.operand),
        Expr::BinOp(binary) => is_data(&binary.left) && is_data(&binary.right),
        Expr::BoolOp(or) => or.values.iter().all(is_data),
        Expr::Compare(compare) => compare.operands.iter().all(is_data),
        Expr::Tuple(tuple) => tuple.elts.iter().all(is_data),
        Expr::List(list) => list.elts.iter().all(is_data),
        Expr::Set(set) => set.elts.iter().all(is_data),
        Expr::Dict(dict) => {
            dict.items.iter().all(|item| item.key.as_ref().is_none_or(is_data) && is_data(&item.value))
        }
        _ => false,
    }
}
