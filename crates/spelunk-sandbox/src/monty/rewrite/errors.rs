//! Rules for exceptions. The interpreter has only builtin classes; others are wrapped in one until caught.

use ruff_python_ast::visitor::source_order::SourceOrderVisitor;
use ruff_python_ast::{ExceptHandler, Expr, StmtRaise};
use ruff_text_size::Ranged;

use super::walk::Walk;
use super::{range_of, tables};
use crate::monty::source_map::SourceMap;

impl<'a> Walk<'a> {
    pub(super) fn raise(&mut self, raise: &'a StmtRaise) -> Option<SourceMap> {
        let exception = raise.exc.as_deref()?;
        if self.is_prelude || self.is_native_exception(exception) && raise.cause.is_none() {
            return None;
        }
        let range = range_of(raise);
        self.open(range.start);
        let given = [Some(exception), raise.cause.as_deref()].into_iter().flatten();
        let source_map = self.listed("__sp_raise(".to_owned(), given, ")", &range);
        self.splice(range_of(exception).start..range.end, source_map);
        Some(self.close(range.end))
    }

    fn is_native_exception(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Name(name) => {
                tables::NATIVE_EXCEPTIONS.contains(name.id.as_str()) && self.is_builtin(&name.id)
            }
            Expr::Call(call) => self.is_native_exception(&call.func),
            _ => false,
        }
    }

    /// Whether an `except` names only builtin classes.
    fn is_native_catch(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Tuple(tuple) => tuple.elts.iter().all(|one| self.is_native_catch(one)),
            _ => self.is_native_exception(expr),
        }
    }

    /// Rewrites the parts of a handler in place. Returns `false` if there is nothing to do.
    pub(super) fn handler(&mut self, handler: &'a ExceptHandler) -> bool {
        let ExceptHandler::ExceptHandler(inner) = handler;
        let Some(class) = &inner.type_ else { return false };
        if self.is_prelude {
            return false;
        }
        let is_native = self.is_native_catch(class);
        if is_native && inner.name.is_none() {
            return false;
        }
        if !is_native {
            self.wrap(class, "__sp_catch(");
        }
        if let (Some(name), Some(first)) = (&inner.name, inner.body.first()) {
            let at = first.start().to_usize();
            let text = match self.indent_of(at) {
                Some(indent) => format!("{name} = __sp_caught({name})\n{indent}"),
                None => format!("{name} = __sp_caught({name}); "),
            };
            self.splice(at..at, super::new_text(text, at));
        }
        self.visit_body(&inner.body);
        true
    }
}
