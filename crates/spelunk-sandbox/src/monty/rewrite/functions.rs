//! Rules for functions: generators, and methods with decorators.

use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, ExprYield, ExprYieldFrom, Stmt, StmtFunctionDef};
use ruff_text_size::Ranged;

use super::walk::Walk;
use super::{new_text, range_of};
use crate::monty::source_map::SourceMap;

impl<'a> Walk<'a> {
    /// A function, with or without its decorators.
    pub(super) fn function_as(
        &mut self,
        function: &'a StmtFunctionDef,
        is_generator: bool,
        with_decorators: bool,
    ) -> SourceMap {
        let range = range_of(function);
        let def_at = self.def_at(function);
        self.open(if with_decorators { range.start } else { def_at });
        if with_decorators {
            for decorator in &function.decorator_list {
                self.visit_decorator(decorator);
            }
        }
        if is_generator {
            let indent = self.indent_of(def_at).unwrap_or_default().to_owned();
            // Methods are wrapped after their definition: decorators are not supported in classes.
            let mark = if with_decorators { format!("@__sp_generator\n{indent}") } else { String::new() };
            let n_def = self.source.get(def_at..).and_then(|text| text.find("def")).unwrap_or(0);
            self.replace(def_at..def_at + n_def, mark);
            let at = function.parameters.start().to_usize() + 1;
            let is_alone = function.parameters.is_empty();
            self.splice(at..at, new_text(if is_alone { "__sp_g" } else { "__sp_g, " }, at));
        }
        self.visit_parameters(&function.parameters);
        self.visit_body(&function.body);
        self.close(range.end)
    }

    /// The offset of `def` or `async def`, after the decorators.
    pub(super) fn def_at(&self, function: &StmtFunctionDef) -> usize {
        let after =
            function.decorator_list.last().map_or(function.start().to_usize(), |last| last.end().to_usize());
        let text = self.source.get(after..function.name.start().to_usize()).unwrap_or_default();
        let n_def = if function.is_async { text.rfind("async") } else { text.rfind("def") };
        after + n_def.unwrap_or(0)
    }

    pub(super) fn yielded(&mut self, yield_: &'a ExprYield) -> SourceMap {
        let range = range_of(yield_);
        match &yield_.value {
            Some(value) => {
                let is_tuple = matches!(&**value, Expr::Tuple(tuple) if !tuple.parenthesized);
                let (before, after) =
                    if is_tuple { ("__sp_yield(__sp_g, (", "))") } else { ("__sp_yield(__sp_g, ", ")") };
                self.expr(value).wrapped(before, after, &range)
            }
            None => new_text("__sp_yield(__sp_g, None)", range.start),
        }
    }

    pub(super) fn yielded_from(&mut self, yield_: &'a ExprYieldFrom) -> SourceMap {
        self.expr(&yield_.value).wrapped("__sp_yield_from(__sp_g, ", ")", &range_of(yield_))
    }
}

/// Whether statements yield, not counting nested functions.
pub(super) fn yields(body: &[Stmt]) -> bool {
    struct Find(bool);
    impl<'a> SourceOrderVisitor<'a> for Find {
        fn visit_stmt(&mut self, stmt: &'a Stmt) {
            if !matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_)) {
                walk_stmt(self, stmt);
            }
        }
        fn visit_expr(&mut self, expr: &'a Expr) {
            self.0 |= matches!(expr, Expr::Yield(_) | Expr::YieldFrom(_));
            if !matches!(expr, Expr::Lambda(_)) {
                walk_expr(self, expr);
            }
        }
    }
    let mut find = Find(false);
    find.visit_body(body);
    find.0
}
