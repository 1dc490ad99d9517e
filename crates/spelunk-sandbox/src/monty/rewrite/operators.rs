//! Rules for operators: comparisons, subscripts, string concatenation, truth values.

use std::ops::Range;

use ruff_python_ast::visitor::source_order::SourceOrderVisitor as _;
use ruff_python_ast::{CmpOp, Expr, ExprBinOp, ExprCompare, ExprSubscript, Operator, UnaryOp};
use ruff_text_size::Ranged;

use super::plain::{is_named, is_number, is_plain_value};
use super::walk::Walk;
use super::{new_text, range_of, tables};
use crate::monty::source_map::SourceMap;

impl<'a> Walk<'a> {
    pub(super) fn compare(&mut self, compare: &'a ExprCompare) -> Option<SourceMap> {
        let [left, right] = &*compare.operands else { return None };
        let [op] = &*compare.ops else { return None };
        let range = range_of(compare);
        let is_open = self.session.has_handles || self.flags().lazy;
        let function = match op {
            CmpOp::Lt if self.flags().order => "__sp_lt(",
            CmpOp::Gt if self.flags().order => "__sp_gt(",
            CmpOp::LtE if self.flags().order => "__sp_le(",
            CmpOp::GtE if self.flags().order => "__sp_ge(",
            CmpOp::In if is_open && !self.is_never_handle(right) => "__sp_in(",
            CmpOp::NotIn if is_open && !self.is_never_handle(right) => "not __sp_in(",
            _ => return None,
        };
        let is_order = !matches!(op, CmpOp::In | CmpOp::NotIn);
        if self.is_prelude || is_order && (is_number(left) || is_number(right)) {
            return None;
        }
        let source_map = self.listed(format!("({function}"), [left, right], "))", &range);
        Some(if !is_order && is_cheap(left) {
            guarded(right, ["str", "list"], &range, source_map)
        } else {
            source_map
        })
    }

    pub(super) fn subscript(&mut self, subscript: &'a ExprSubscript) -> Option<SourceMap> {
        let may_be_handle = self.session.has_handles && !self.is_never_handle(&subscript.value);
        if self.is_prelude || !(may_be_handle || self.session.has_wide) {
            return None;
        }
        let range = range_of(subscript);
        let source_map = self.item_call(subscript, "__sp_item", "__sp_slice");
        let is_cheap_place = match &*subscript.slice {
            Expr::Slice(slice) => {
                [&slice.lower, &slice.upper, &slice.step].into_iter().flatten().all(|bound| is_cheap(bound))
            }
            place => is_cheap(place),
        };
        let kinds = if self.session.has_wide { ["list", "dict"] } else { ["str", "list"] };
        Some(if is_cheap_place { guarded(&subscript.value, kinds, &range, source_map) } else { source_map })
    }

    /// `item(value, idx)` or `slice(value, lower, upper, step)`, with these functions.
    pub(super) fn item_call(&mut self, subscript: &'a ExprSubscript, item: &str, slice: &str) -> SourceMap {
        let range = range_of(subscript);
        let at = range.start;
        let value = self.expr(&subscript.value);
        let function = if subscript.slice.is_slice_expr() { slice } else { item };
        let mut source_map = new_text(format!("{function}("), at);
        source_map.push(value);
        if let Expr::Slice(slice) = &*subscript.slice {
            for bound in [&slice.lower, &slice.upper, &slice.step] {
                source_map.add(", ", at);
                match bound {
                    Some(bound) => source_map.push(self.expr(bound)),
                    None => source_map.add("None", at),
                }
            }
        } else {
            source_map.add(", ", at);
            let is_tuple = matches!(&*subscript.slice, Expr::Tuple(tuple) if !tuple.parenthesized);
            let idx = self.expr(&subscript.slice);
            source_map.push(if is_tuple { idx.wrapped("(", ")", &range_of(&*subscript.slice)) } else { idx });
        }
        source_map.add(")", range.end);
        source_map
    }

    /// A value that becomes part of a string: a host object supplies its own text.
    pub(super) fn shown(&mut self, expr: &'a Expr) -> SourceMap {
        let is_open = self.session.has_handles
            && !self.is_prelude
            && matches!(expr, Expr::Name(_) | Expr::Attribute(_) | Expr::Subscript(_))
            && !self.is_never_handle(expr);
        let source_map = self.expr(expr);
        if is_open { source_map.wrapped("__sp_shown(", ")", &range_of(expr)) } else { source_map }
    }

    /// `"text" + x`.
    pub(super) fn joined(&mut self, op: &'a ExprBinOp) -> Option<SourceMap> {
        let is_text = |expr: &Expr| {
            matches!(expr, Expr::StringLiteral(_) | Expr::FString(_))
                || matches!(expr, Expr::BinOp(inner) if is_plain_value(&inner.left))
        };
        if !self.session.has_handles || op.op != Operator::Add || !(is_text(&op.left) || is_text(&op.right)) {
            return None;
        }
        self.open(op.start().to_usize());
        for side in [&*op.left, &*op.right] {
            let source_map = self.shown(side);
            self.splice(range_of(side), source_map);
        }
        Some(self.close(op.end().to_usize()))
    }

    /// Whether a value is certainly not a host object.
    pub(super) fn is_never_handle(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Name(name) => self.is_plain_name(&name.id),
            // An item of a list may be a host object, unless there are only texts, which nobody keeps in lists.
            Expr::Subscript(subscript) => {
                (self.session.has_texts_only || matches!(&*subscript.slice, Expr::Slice(_)))
                    && self.is_never_handle(&subscript.value)
            }
            Expr::Call(call) if is_named(&call.func, &["enumerate", "zip", "reversed"]) => {
                call.arguments.args.iter().all(|arg| self.is_never_handle(arg))
            }
            _ => is_plain_value(expr),
        }
    }

    /// `not x`, `x and y`, `a if x else b`, if a class defines its own truth value.
    pub(super) fn truth(&mut self, expr: &'a Expr) -> Option<SourceMap> {
        if !(self.flags().truth || self.session.has_handles) || self.is_prelude {
            return None;
        }
        match expr {
            Expr::UnaryOp(unary) if unary.op == UnaryOp::Not => {
                self.open(expr.start().to_usize());
                self.test(&unary.operand);
                Some(self.close(expr.end().to_usize()))
            }
            Expr::If(choice) => {
                self.open(expr.start().to_usize());
                self.visit_expr(&choice.body);
                self.test(&choice.test);
                self.visit_expr(&choice.orelse);
                Some(self.close(expr.end().to_usize()))
            }
            _ => None,
        }
    }

    pub(super) fn test(&mut self, expr: &'a Expr) {
        let has_truth = self.flags().truth || self.session.has_handles;
        let is_open = matches!(expr, Expr::Name(_) | Expr::Attribute(_) | Expr::Call(_) | Expr::Subscript(_));
        let source_map = match expr {
            Expr::BoolOp(op) if has_truth => {
                self.open(expr.start().to_usize());
                for value in &op.values {
                    self.test(value);
                }
                self.close(expr.end().to_usize())
            }
            _ if has_truth && is_open && !self.is_prelude => {
                self.expr(expr).wrapped("__sp_bool(", ")", &range_of(expr))
            }
            _ => self.expr(expr),
        };
        self.splice(range_of(expr), source_map);
    }
}

/// Handles two common types inline: checking the type is cheaper than a call.
fn guarded(value: &Expr, kinds: [&str; 2], range: &Range<usize>, slow: SourceMap) -> SourceMap {
    let Expr::Name(name) = value else { return slow };
    let mut source_map = new_text("(", range.start);
    source_map.push(SourceMap::kept(range.clone()));
    let is_kind = |kind| format!("__sp_b_type({}) is __sp_b_{kind}", name.id);
    let [one, other] = kinds.map(is_kind);
    source_map.add(format!(" if {one} or {other} else "), range.start);
    source_map.push(slow);
    source_map.add(")", range.end);
    source_map
}

/// Whether an expression can be evaluated in one of two places and needs no rule.
fn is_cheap(expr: &Expr) -> bool {
    match expr {
        Expr::Name(name) => tables::replacement(&name.id).is_none(),
        Expr::NumberLiteral(_) | Expr::StringLiteral(_) => true,
        Expr::UnaryOp(unary) => is_cheap(&unary.operand),
        Expr::BinOp(op) => is_number_or_name(&op.left) && is_number_or_name(&op.right),
        _ => false,
    }
}

fn is_number_or_name(expr: &Expr) -> bool {
    matches!(expr, Expr::Name(_) | Expr::NumberLiteral(_)) && is_cheap(expr)
}
