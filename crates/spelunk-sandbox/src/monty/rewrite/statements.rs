//! Rules for statements: the dispatch, and the small rules.

use ruff_python_ast::{Expr, Stmt, StmtAssert, StmtAssign, StmtDelete, StmtIf, StmtWhile, StmtWith};
use ruff_text_size::Ranged;

use super::functions::yields;
use super::plain::is_text;
use super::walk::Walk;
use super::{new_text, range_of};
use crate::monty::source_map::SourceMap;
use ruff_python_ast::visitor::source_order::SourceOrderVisitor;

impl<'a> Walk<'a> {
    pub(super) fn stmt(&mut self, stmt: &'a Stmt) -> Option<SourceMap> {
        match stmt {
            Stmt::Delete(delete) => Some(self.delete(delete)),
            Stmt::Raise(raise) => self.raise(raise),
            Stmt::Import(import) => self.import(import),
            Stmt::ImportFrom(import) => self.import_from(import),
            Stmt::ClassDef(class) => self.class(class),
            Stmt::FunctionDef(function) => Some(self.function_as(function, yields(&function.body), true)),
            Stmt::For(for_) => self.for_loop(for_),
            Stmt::If(if_) => self.if_stmt(if_),
            Stmt::While(while_) => self.while_loop(while_),
            Stmt::With(with) => self.with(with),
            Stmt::Assert(assert) => self.assert(assert),
            Stmt::Assign(assign) => self.assign(assign),
            Stmt::AugAssign(assign) => self.aug_assign(assign),
            _ => None,
        }
    }

    fn if_stmt(&mut self, if_: &'a StmtIf) -> Option<SourceMap> {
        if !(self.flags().truth || self.session.has_handles) {
            return None;
        }
        self.open(if_.start().to_usize());
        self.test(&if_.test);
        self.visit_body(&if_.body);
        for clause in &if_.elif_else_clauses {
            if let Some(test) = &clause.test {
                self.test(test);
            }
            self.visit_body(&clause.body);
        }
        Some(self.close(if_.end().to_usize()))
    }

    fn while_loop(&mut self, while_: &'a StmtWhile) -> Option<SourceMap> {
        if !(self.flags().truth || self.session.has_handles) {
            return None;
        }
        self.open(while_.start().to_usize());
        self.test(&while_.test);
        self.visit_body(&while_.body);
        self.visit_body(&while_.orelse);
        Some(self.close(while_.end().to_usize()))
    }

    /// `assert x, 3`: the interpreter's exceptions take a string.
    fn assert(&mut self, assert: &'a StmtAssert) -> Option<SourceMap> {
        let message = assert.msg.as_deref().filter(|message| !is_text(message))?;
        self.open(assert.start().to_usize());
        self.test(&assert.test);
        self.wrap(message, "__sp_str(");
        Some(self.close(assert.end().to_usize()))
    }

    /// `async with` has nothing to wait for here: what it guards is handled by the host.
    fn with(&mut self, with: &'a StmtWith) -> Option<SourceMap> {
        if !with.is_async {
            return None;
        }
        let range = range_of(with);
        self.open(range.start);
        let n_async = self.source.get(range.clone()).and_then(|text| text.find("with")).unwrap_or(0);
        self.replace(range.start..range.start + n_async, "");
        for item in &with.items {
            self.wrap(&item.context_expr, "__sp_entered(");
            if let Some(target) = &item.optional_vars {
                self.visit_expr(target);
            }
        }
        self.visit_body(&with.body);
        Some(self.close(range.end))
    }

    /// Assignments to properties, and unpacking of generators.
    fn assign(&mut self, assign: &'a StmtAssign) -> Option<SourceMap> {
        if let [Expr::Attribute(target)] = &*assign.targets
            && (self.session.properties.contains(target.attr.as_str()) || self.flags().hooks)
        {
            let range = range_of(assign);
            let mut source_map = new_text("__sp_set(", range.start);
            source_map.push(self.expr(&target.value));
            source_map.add(format!(", \"{}\", ", target.attr), range.start);
            source_map.push(self.expr(&assign.value));
            source_map.add(")", range.end);
            return Some(source_map);
        }
        let is_awaited = assign.targets.iter().any(
            |target| matches!(target, Expr::Name(name) if self.survey.awaited.contains(name.id.as_str())),
        );
        if is_awaited && self.survey.awaits {
            self.open(assign.start().to_usize());
            self.is_awaited = true;
            self.visit_expr(&assign.value);
            self.is_awaited = false;
            return Some(self.close(assign.end().to_usize()));
        }
        let is_unpacked =
            assign.targets.iter().any(|target| matches!(target, Expr::Tuple(_) | Expr::List(_)));
        if is_unpacked
            && (self.flags().lazy || self.session.has_handles)
            && !self.is_never_handle(&assign.value)
        {
            self.open(assign.start().to_usize());
            for target in &assign.targets {
                self.visit_expr(target);
            }
            self.wrap(&assign.value, "__sp_all(");
            return Some(self.close(assign.end().to_usize()));
        }
        None
    }

    /// `obj.prop += 1`.
    fn aug_assign(&mut self, assign: &'a ruff_python_ast::StmtAugAssign) -> Option<SourceMap> {
        let Expr::Attribute(target) = &*assign.target else { return None };
        if !self.session.properties.contains(target.attr.as_str()) || !matches!(&*target.value, Expr::Name(_))
        {
            return None;
        }
        let range = range_of(assign);
        let object = self.text_of(&*target.value).to_owned();
        let name = target.attr.as_str();
        let head =
            format!("__sp_set({object}, \"{name}\", __sp_get({object}, \"{name}\") {} (", assign.op.as_str());
        Some(self.expr(&assign.value).wrapped(head, "))", &range))
    }

    fn delete(&mut self, delete: &'a StmtDelete) -> SourceMap {
        let range = range_of(delete);
        let indent = self.own_lines(&range);
        let mut source_map = SourceMap::default();
        // `del (a, b)` is `del a, b`.
        let targets = if let [Expr::Tuple(tuple)] = &*delete.targets { &tuple.elts } else { &delete.targets };
        for (idx, target) in targets.iter().enumerate() {
            if idx > 0 {
                let between = indent.map_or_else(|| "; ".to_owned(), |indent| format!("\n{indent}"));
                source_map.add(between, range.start);
            }
            source_map.push(self.delete_one(target, indent));
        }
        source_map
    }

    fn delete_one(&mut self, target: &'a Expr, indent: Option<&str>) -> SourceMap {
        let range = range_of(target);
        match target {
            Expr::Subscript(subscript) => self.item_call(subscript, "__sp_del_item", "__sp_del_slice"),
            Expr::Attribute(attribute) => self.expr(&attribute.value).wrapped(
                "__sp_delattr(",
                format!(", \"{}\")", attribute.attr),
                &range,
            ),
            _ => {
                let name = self.text_of(target).trim_matches(['(', ')']).to_owned();
                match indent {
                    // Leaving a handler unbinds its name: the only way the interpreter has to unbind one.
                    Some(indent) => new_text(
                        format!(
                            "{name}\n{indent}try:\n{indent} raise SystemExit\n{indent}except SystemExit as {name}:\n{indent} pass"
                        ),
                        range.start,
                    ),
                    None => new_text(format!("{name} = None"), range.start),
                }
            }
        }
    }
}
