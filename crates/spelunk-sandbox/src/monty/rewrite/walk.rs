//! The walk over a cell. Every node yields a source map; by default its text with those of its children.

use std::ops::Range;

use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_except_handler, walk_expr, walk_stmt};
use ruff_python_ast::{
    Comprehension, ConversionFlag, ExceptHandler, Expr, ExprContext, InterpolatedStringElement, Stmt,
    StmtExpr,
};
use ruff_text_size::Ranged;

use super::survey::Survey;
use super::{Flags, Session, new_text, range_of, tables};
use crate::monty::source_map::SourceMap;

/// Expressions nested deeper are left alone: the walk is recursive, and the interpreter's own error is good enough.
pub(super) const DEPTH_MAX: usize = 150;

pub(super) struct Walk<'a> {
    pub(super) source: &'a str,
    pub(super) session: &'a Session,
    pub(super) survey: &'a Survey,
    pub(super) is_prelude: bool,
    frames: Vec<Frame>,
    depth: usize,
    /// Enclosing classes, innermost last, with the first parameter of the method.
    pub(super) classes: Vec<(String, Option<String>)>,
    pub(super) n_temporaries: usize,
    /// Comprehension clauses that iterate over a batch, and the name of the batch.
    pub(super) batch_names: Vec<(Range<usize>, String)>,
    /// Whether the context expects an awaitable.
    pub(super) is_awaited: bool,
}

/// A node whose text is being assembled.
struct Frame {
    source_map: SourceMap,
    at: usize,
}

impl<'a> Walk<'a> {
    pub(super) fn new(source: &'a str, session: &'a Session, survey: &'a Survey, is_prelude: bool) -> Self {
        Self {
            source,
            session,
            survey,
            is_prelude,
            frames: Vec::new(),
            depth: 0,
            classes: Vec::new(),
            n_temporaries: 0,
            batch_names: Vec::new(),
            is_awaited: false,
        }
    }

    pub(super) fn module(&mut self, body: &'a [Stmt]) -> SourceMap {
        self.open(0);
        self.visit_body(body);
        self.close(self.source.len())
    }

    /// A whole cell whose last expression is echoed.
    pub(super) fn with_echo(&mut self, body: &'a [Stmt], last: &'a StmtExpr) -> SourceMap {
        self.open(0);
        for stmt in body.iter().take(body.len() - 1) {
            self.visit_stmt(stmt);
        }
        let range = range_of(last);
        let is_bare = matches!(&*last.value, Expr::Tuple(tuple) if !tuple.parenthesized);
        let (open, close) = if is_bare { ("__sp_echo((", "))") } else { ("__sp_echo(", ")") };
        let source_map = self.expr(&last.value).wrapped(open, close, &range);
        self.splice(range, source_map);
        self.close(self.source.len())
    }

    pub(super) fn flags(&self) -> Flags {
        self.session.flags
    }

    /// Whether a name has its builtin meaning.
    pub(super) fn is_builtin(&self, name: &str) -> bool {
        !self.survey.bound.contains(name) && !self.session.shadowed.contains(name)
    }

    /// Whether a name is only ever bound to values of builtin types.
    pub(super) fn is_plain_name(&self, name: &str) -> bool {
        if self.survey.not_plain.contains(name) || self.session.not_plain.contains(name) {
            return false;
        }
        self.survey.plain.contains(name) || self.session.plain.contains(name)
    }

    pub(super) fn open(&mut self, at: usize) {
        self.frames.push(Frame { source_map: SourceMap::default(), at });
    }

    pub(super) fn close(&mut self, end: usize) -> SourceMap {
        let mut frame = self.frames.pop().expect("every node that is opened is closed once");
        frame.source_map.keep(frame.at..end.max(frame.at));
        frame.source_map
    }

    pub(super) fn splice(&mut self, range: Range<usize>, source_map: SourceMap) {
        if let Some(frame) = self.frames.last_mut() {
            frame.source_map.keep(frame.at..range.start.max(frame.at));
            frame.source_map.push(source_map);
            frame.at = range.end;
        }
    }

    pub(super) fn replace(&mut self, range: Range<usize>, text: impl Into<String>) {
        let at = range.start;
        self.splice(range, new_text(text, at));
    }

    /// Puts an expression into a call, where it is.
    pub(super) fn wrap(&mut self, expr: &'a Expr, before: &str) {
        let source_map = self.expr(expr).wrapped(before, ")", &range_of(expr));
        self.splice(range_of(expr), source_map);
    }

    /// New text around expressions, which commas separate.
    pub(super) fn listed(
        &mut self,
        before: String,
        exprs: impl IntoIterator<Item = &'a Expr>,
        after: &str,
        range: &Range<usize>,
    ) -> SourceMap {
        let mut source_map = new_text(before, range.start);
        for (idx, expr) in exprs.into_iter().enumerate() {
            source_map.add(if idx == 0 { "" } else { ", " }, range.start);
            source_map.push(self.expr(expr));
        }
        source_map.add(after, range.end);
        source_map
    }

    /// The text of a node with the source maps of its children.
    pub(super) fn plain_expr(&mut self, expr: &'a Expr) -> SourceMap {
        self.open(expr.start().to_usize());
        walk_expr(self, expr);
        self.close(expr.end().to_usize())
    }

    pub(super) fn plain_stmt(&mut self, stmt: &'a Stmt) -> SourceMap {
        self.open(stmt.start().to_usize());
        walk_stmt(self, stmt);
        self.close(stmt.end().to_usize())
    }

    pub(super) fn expr(&mut self, expr: &'a Expr) -> SourceMap {
        if self.depth >= DEPTH_MAX {
            return SourceMap::kept(range_of(expr));
        }
        self.depth += 1;
        let is_awaited = self.is_awaited;
        let is_passed_on = matches!(
            expr,
            Expr::List(_)
                | Expr::Tuple(_)
                | Expr::Starred(_)
                | Expr::ListComp(_)
                | Expr::Generator(_)
                | Expr::If(_)
                | Expr::Call(_)
        );
        self.is_awaited = is_awaited && is_passed_on;
        let source_map = self.ruled_expr(expr);
        self.is_awaited = is_awaited;
        self.depth -= 1;
        source_map
    }

    fn ruled_expr(&mut self, expr: &'a Expr) -> SourceMap {
        let ruled = match expr {
            Expr::Name(name) if name.ctx == ExprContext::Load => self.name(name),
            Expr::Attribute(attribute) if attribute.ctx == ExprContext::Load => self.attribute(attribute),
            Expr::Call(call) => self.call(call),
            Expr::Generator(_) => self.generator(expr),
            Expr::Await(await_) => Some(self.awaited(await_)),
            Expr::Yield(yield_) => Some(self.yielded(yield_)),
            Expr::YieldFrom(yield_) => Some(self.yielded_from(yield_)),
            Expr::Compare(compare) => self.compare(compare),
            Expr::BinOp(op) => self.joined(op),
            Expr::ListComp(_) | Expr::SetComp(_) | Expr::DictComp(_) => self.flat(expr, "__sp_flat"),
            Expr::Subscript(subscript) if subscript.ctx == ExprContext::Load => self.subscript(subscript),
            Expr::BoolOp(_) | Expr::UnaryOp(_) | Expr::If(_) => self.truth(expr),
            _ => None,
        };
        ruled.unwrap_or_else(|| self.plain_expr(expr))
    }

    fn name(&mut self, name: &ruff_python_ast::ExprName) -> Option<SourceMap> {
        let id = name.id.as_str();
        let at = name.start().to_usize();
        if self.is_prelude {
            // The prelude must not break if a cell rebinds `len`.
            let is_kept = self.survey.bound.contains(id) || !tables::NATIVE_BUILTINS.contains(id);
            return (!is_kept).then(|| new_text(format!("__sp_b_{id}"), at));
        }
        if !self.is_builtin(id) {
            return None;
        }
        tables::replacement(id).map(|code| new_text(code, at))
    }

    /// The indentation of the line on which a statement begins, if it is the first on that line.
    pub(super) fn indent_of(&self, at: usize) -> Option<&'a str> {
        let line_start = self.source.get(..at)?.rfind('\n').map_or(0, |newline| newline + 1);
        let before = self.source.get(line_start..at)?;
        before.trim().is_empty().then_some(before)
    }

    /// The indentation of a statement that shares its lines with no other, so that it can be expanded.
    pub(super) fn own_lines(&self, range: &Range<usize>) -> Option<&'a str> {
        let indent = self.indent_of(range.start)?;
        let rest = self.source.get(range.end..)?.lines().next().unwrap_or_default().trim_start();
        (rest.is_empty() || rest.starts_with('#')).then_some(indent)
    }

    pub(super) fn temporary(&mut self) -> String {
        self.n_temporaries += 1;
        format!("__sp_t{}", self.n_temporaries)
    }

    pub(super) fn text_of(&self, node: &impl Ranged) -> &'a str {
        self.source.get(range_of(node)).unwrap_or_default()
    }
}

impl<'a> SourceOrderVisitor<'a> for Walk<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        let source_map = self.stmt(stmt).unwrap_or_else(|| self.plain_stmt(stmt));
        self.splice(range_of(stmt), source_map);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        let source_map = self.expr(expr);
        self.splice(range_of(expr), source_map);
    }

    // Annotations have no effect at run time, and their names may not exist.
    fn visit_annotation(&mut self, _expr: &'a Expr) {}

    fn visit_comprehension(&mut self, comprehension: &'a Comprehension) {
        self.comprehension(comprehension);
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        self.open(handler.start().to_usize());
        if !self.handler(handler) {
            walk_except_handler(self, handler);
        }
        let source_map = self.close(handler.end().to_usize());
        self.splice(range_of(handler), source_map);
    }

    fn visit_interpolated_string_element(&mut self, element: &'a InterpolatedStringElement) {
        let InterpolatedStringElement::Interpolation(inner) = element else { return };
        if inner.debug_text.is_none() {
            let value = self.shown(&inner.expression);
            self.splice(range_of(&*inner.expression), value);
            for element in inner.format_spec.iter().flat_map(|spec| &spec.elements) {
                self.visit_interpolated_string_element(element);
            }
            return;
        }
        // `{x=}` shows the code as written, which is not the code that runs.
        let value = self.expr(&inner.expression);
        if value.is_original() {
            self.splice(range_of(&*inner.expression), value);
            return;
        }
        let range = range_of(inner);
        let tail = self.source.get(range_of(&*inner.expression).end..range.end).unwrap_or_default();
        let n_tail = tail.find(['!', ':', '}']).unwrap_or(tail.len());
        let written =
            self.source.get(range.start + 1..range_of(&*inner.expression).end + n_tail).unwrap_or_default();
        let mut source_map =
            new_text(format!("{}{{", written.replace('{', "{{").replace('}', "}}")), range.start);
        source_map.push(value);
        let conversion = match (inner.conversion, &inner.format_spec) {
            (ConversionFlag::None, None) | (ConversionFlag::Repr, _) => "!r",
            (ConversionFlag::None, Some(_)) => "",
            (ConversionFlag::Str, _) => "!s",
            (ConversionFlag::Ascii, _) => "!a",
        };
        let spec = inner
            .format_spec
            .as_ref()
            .map_or_else(String::new, |spec| format!(":{}", self.text_of(&**spec).trim_start_matches(':')));
        source_map.add(format!("{conversion}{spec}}}"), range.end);
        self.splice(range, source_map);
    }
}
