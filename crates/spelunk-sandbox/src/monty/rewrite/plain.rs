//! Which expressions are plain: of builtin types, created here, without a call that could wait.

use ruff_python_ast::helpers::any_over_expr;
use ruff_python_ast::{Expr, ExprCall};

use super::tables;

pub(super) fn is_named(expr: &Expr, names: &[&str]) -> bool {
    match expr {
        Expr::Name(name) => names.contains(&name.id.as_str()),
        Expr::Attribute(attribute) => names.contains(&attribute.attr.as_str()),
        _ => false,
    }
}

pub(super) fn is_number(expr: &Expr) -> bool {
    matches!(expr, Expr::NumberLiteral(_))
        || matches!(expr, Expr::Call(call) if is_named(&call.func, &["len", "int", "float"]))
}

pub(super) fn is_text(expr: &Expr) -> bool {
    matches!(expr, Expr::StringLiteral(_) | Expr::FString(_))
}

/// Whether a value is created here and has a builtin type.
pub(super) fn is_plain_value(expr: &Expr) -> bool {
    match expr {
        Expr::List(_)
        | Expr::Tuple(_)
        | Expr::Set(_)
        | Expr::Dict(_)
        | Expr::ListComp(_)
        | Expr::SetComp(_)
        | Expr::DictComp(_)
        | Expr::Generator(_)
        | Expr::StringLiteral(_)
        | Expr::FString(_)
        | Expr::NumberLiteral(_)
        | Expr::BooleanLiteral(_)
        | Expr::NoneLiteral(_)
        | Expr::Compare(_)
        | Expr::BytesLiteral(_) => true,
        Expr::BinOp(op) => is_plain_value(&op.left) || is_plain_value(&op.right),
        Expr::Call(call) => match &*call.func {
            Expr::Name(name) => tables::PLAIN_CALLS.contains(name.id.as_str()),
            Expr::Attribute(attribute) => tables::PLAIN_METHODS.contains(attribute.attr.as_str()),
            _ => false,
        },
        _ => false,
    }
}

/// Whether an exception has one string argument, as the interpreter's do.
pub(super) fn is_plain_message(call: &ExprCall) -> bool {
    if !call.arguments.keywords.is_empty() {
        return false;
    }
    match &*call.arguments.args {
        [] | [Expr::StringLiteral(_) | Expr::FString(_)] => true,
        [Expr::BinOp(op)] => is_plain_value(&op.left),
        [Expr::Call(inner)] => is_named(&inner.func, &["str", "repr", "format", "join"]),
        _ => false,
    }
}

/// Whether an expression calls something that is neither a builtin nor a method of a builtin value.
pub(super) fn has_foreign_call(expr: &Expr) -> bool {
    any_over_expr(expr, |expr| {
        let Expr::Call(call) = expr else { return false };
        match &*call.func {
            Expr::Name(name) => !tables::NATIVE_BUILTINS.contains(name.id.as_str()),
            Expr::Attribute(attribute) => !tables::METHODS.contains(attribute.attr.as_str()),
            _ => true,
        }
    })
}
