//! Rules for loops over generators and host objects: such a loop fetches batches, because it cannot wait.

use ruff_python_ast::helpers::any_over_expr;
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_expr};
use ruff_python_ast::{Comprehension, Expr, StmtFor};
use ruff_text_size::Ranged;

use super::walk::Walk;
use super::{new_text, range_of};
use crate::monty::source_map::SourceMap;

impl<'a> Walk<'a> {
    pub(super) fn for_loop(&mut self, for_: &'a StmtFor) -> Option<SourceMap> {
        let is_open = (self.flags().lazy || self.session.has_handles)
            && !self.is_prelude
            && !self.is_never_handle(&for_.iter);
        if !for_.is_async && !is_open {
            return None;
        }
        let range = range_of(for_);
        let Some(indent) = self.own_lines_of_loop(for_) else { return Some(self.eager_loop(for_)) };
        let name = self.temporary();
        let at = range.start;
        // If the code holds the iterator, a loop that stops early leaves the rest in it.
        let function = if for_.iter.is_call_expr() { "__sp_batches" } else { "__sp_held" };
        let mut source_map = new_text(format!("{name} = {function}("), at);
        source_map.push(self.expr(&for_.iter));
        source_map.add(format!(")\n{indent}while {name}.more():\n{indent} for "), at);
        self.open(for_.target.start().to_usize());
        self.visit_expr(&for_.target);
        source_map.push(self.close(for_.target.end().to_usize()));
        source_map.add(format!(" in {name}.batch"), range_of(&*for_.iter).start);
        // From the colon on, the body is unchanged: the added level takes one column of indentation.
        self.open(for_.iter.end().to_usize());
        self.visit_body(&for_.body);
        let body_end = for_.body.last().map_or(range.end, |last| last.end().to_usize());
        source_map.push(self.close(body_end));
        source_map.add(format!("\n{indent} else:\n{indent}  continue\n{indent} break"), body_end);
        if !for_.orelse.is_empty() {
            self.open(body_end);
            self.visit_body(&for_.orelse);
            source_map.push(self.close(range.end));
        }
        Some(source_map)
    }

    /// A loop that shares its lines with other code fetches all items at once.
    fn eager_loop(&mut self, for_: &'a StmtFor) -> SourceMap {
        let range = range_of(for_);
        self.open(range.start);
        if for_.is_async {
            let n_async = self.source.get(range.clone()).and_then(|text| text.find("for")).unwrap_or(0);
            self.replace(range.start..range.start + n_async, "");
        }
        self.visit_expr(&for_.target);
        self.wrap(&for_.iter, "__sp_all(");
        self.visit_body(&for_.body);
        self.visit_body(&for_.orelse);
        self.close(range.end)
    }

    /// The iterating clause of a comprehension.
    pub(super) fn comprehension(&mut self, comprehension: &'a Comprehension) {
        let is_open = self.flags().lazy || self.session.has_handles || comprehension.is_async;
        if comprehension.is_async {
            let start = comprehension.start().to_usize();
            let n_async = self.source.get(start..).and_then(|text| text.find("for")).unwrap_or(0);
            self.replace(start..start + n_async, "");
        }
        self.visit_expr(&comprehension.target);
        let batch = self.batch_names.last().filter(|(range, _)| *range == range_of(&comprehension.iter));
        match batch.cloned() {
            Some((range, name)) => self.replace(range, name),
            None if is_open && !self.is_prelude && !self.is_never_handle(&comprehension.iter) => {
                self.wrap(&comprehension.iter, "__sp_all(");
            }
            None => self.visit_expr(&comprehension.iter),
        }
        for test in &comprehension.ifs {
            self.test(test);
        }
    }

    /// The indentation of a loop that can be expanded to two.
    fn own_lines_of_loop(&self, for_: &StmtFor) -> Option<&'a str> {
        let indent = self.indent_of(for_.start().to_usize())?;
        let first = for_.body.first()?;
        match self.indent_of(first.start().to_usize()) {
            Some(body) if body.len() < indent.len() + 2 || body.starts_with('\t') => None,
            _ => Some(indent),
        }
    }

    /// Evaluates a comprehension batch by batch, so that discarded items are never all in memory at once.
    pub(super) fn flat(&mut self, expr: &'a Expr, function: &str) -> Option<SourceMap> {
        let generators: &'a [Comprehension] = match expr {
            Expr::ListComp(comprehension) => &comprehension.generators,
            Expr::SetComp(comprehension) => &comprehension.generators,
            Expr::DictComp(comprehension) => &comprehension.generators,
            Expr::Generator(comprehension) => &comprehension.generators,
            _ => return None,
        };
        let [only] = generators else { return None };
        let is_open = (self.flags().lazy || self.session.has_handles) && !self.is_prelude && !only.is_async;
        if !is_open || self.is_never_handle(&only.iter) || binds_or_awaits(expr) {
            return None;
        }
        let range = range_of(expr);
        let name = self.temporary();
        let iter = self.expr(&only.iter);
        self.open(range.start);
        self.batch_names.push((range_of(&only.iter), name.clone()));
        walk_expr(self, expr);
        self.batch_names.pop();
        let made = self.close(range.end);
        let mut source_map = new_text(format!("{function}(lambda {name}: "), range.start);
        // A generator expression that is the only argument of a call has no brackets.
        let is_bare = matches!(expr, Expr::Generator(generator) if !generator.parenthesized);
        source_map.push(if is_bare { made.wrapped("(", ")", &range) } else { made });
        source_map.add(", ", range.start);
        source_map.push(iter);
        source_map.add(")", range.end);
        Some(source_map)
    }
}

/// Whether an expression binds names outside itself or awaits: then it cannot be moved into a function.
fn binds_or_awaits(expr: &Expr) -> bool {
    any_over_expr(expr, |expr| {
        matches!(expr, Expr::Named(_) | Expr::Await(_) | Expr::Yield(_) | Expr::YieldFrom(_))
    })
}
