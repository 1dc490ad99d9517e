//! A first pass over a cell: which names it binds and uses, whether it awaits or yields, what its classes define.

use std::collections::HashSet;

use ruff_python_ast::visitor::source_order::{
    SourceOrderVisitor, walk_comprehension, walk_except_handler, walk_expr, walk_keyword, walk_pattern,
    walk_stmt,
};
use ruff_python_ast::{
    Alias, Comprehension, ExceptHandler, Expr, ExprContext, Identifier, Keyword, Parameter, Pattern, Stmt,
    StmtClassDef,
};
use ruff_text_size::Ranged;

use super::super::names::RESERVED;
use super::walk::DEPTH_MAX;

#[derive(Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a cell")]
pub(super) struct Survey {
    /// Names bound anywhere.
    pub(super) bound: HashSet<String>,
    /// Names bound at the top level, in order.
    pub(super) module_names: Vec<String>,
    /// Names read anywhere.
    pub(super) names: HashSet<String>,
    pub(super) awaits: bool,
    pub(super) yields: bool,
    pub(super) inherits: bool,
    pub(super) properties: HashSet<String>,
    methods: HashSet<String>,
    pub(super) keywords: HashSet<String>,
    /// Whether it awaits several things at once.
    pub(super) gathers: bool,
    pub(super) awaited: HashSet<String>,
    pub(super) caught: HashSet<String>,
    pub(super) modules: Vec<String>,
    pub(super) module_aliases: HashSet<String>,
    /// The first reserved name, and its offset.
    pub(super) reserved: Option<(String, usize)>,
    /// The first `yield` or `return` outside of a function, and its offset.
    pub(super) outside: Option<(&'static str, usize)>,
    /// Names that are only ever bound to values of builtin types, and those that are not.
    pub(super) plain: HashSet<String>,
    pub(super) not_plain: HashSet<String>,
    n_scopes: usize,
    depth: usize,
}

impl Survey {
    pub(super) fn of(body: &[Stmt]) -> Self {
        let mut survey = Self::default();
        survey.visit_body(body);
        survey
    }

    pub(super) fn defines(&self, method: &str) -> bool {
        self.methods.contains(method)
    }

    fn bind(&mut self, name: &str, at: usize) {
        self.check(name, at);
        self.bound.insert(name.to_owned());
        if self.n_scopes == 0 && !self.module_names.iter().any(|known| known == name) {
            self.module_names.push(name.to_owned());
        }
    }

    fn assign(&mut self, target: &Expr, value: Option<&Expr>) {
        match target {
            Expr::Name(name) => {
                let is_plain = value.is_some_and(super::plain::is_plain_value);
                let names = if is_plain { &mut self.plain } else { &mut self.not_plain };
                names.insert(name.id.to_string());
            }
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|target| self.assign(target, None)),
            Expr::List(list) => list.elts.iter().for_each(|target| self.assign(target, None)),
            Expr::Starred(starred) => self.assign(&starred.value, None),
            _ => {}
        }
    }

    fn check(&mut self, name: &str, at: usize) {
        if name.starts_with(RESERVED) && self.reserved.is_none() {
            self.reserved = Some((name.to_owned(), at));
        }
    }

    /// A statement that only a function may have.
    fn in_function(&mut self, what: &'static str, at: usize) {
        if self.n_scopes == 0 && self.outside.is_none() {
            self.outside = Some((what, at));
        }
    }

    fn scoped(&mut self, visit: impl FnOnce(&mut Self)) {
        self.n_scopes += 1;
        visit(self);
        self.n_scopes -= 1;
    }

    fn class(&mut self, class: &StmtClassDef) {
        let bases = class.arguments.as_ref().map_or(0, |arguments| {
            let is_object = |base: &Expr| matches!(base, Expr::Name(name) if name.id.as_str() == "object");
            arguments.args.iter().filter(|base| !is_object(base)).count()
        });
        self.inherits |= bases > 0;
        for stmt in &class.body {
            if let Stmt::FunctionDef(method) = stmt {
                self.methods.insert(method.name.to_string());
                for decorator in &method.decorator_list {
                    let is_property = match &decorator.expression {
                        Expr::Name(name) => matches!(name.id.as_str(), "property" | "cached_property"),
                        Expr::Attribute(attribute) => {
                            matches!(attribute.attr.as_str(), "setter" | "cached_property" | "getter")
                        }
                        _ => false,
                    };
                    if is_property {
                        self.properties.insert(method.name.to_string());
                    }
                }
            }
        }
    }

    fn import(&mut self, alias: &Alias, module: Option<&str>) {
        let name = alias.name.as_str();
        self.modules.push(module.unwrap_or(name).to_owned());
        let top = if module.is_none() { name.split('.').next().unwrap_or(name) } else { name };
        let bound = alias.asname.as_ref().map_or(top, Identifier::as_str);
        if module.is_none() {
            self.module_aliases.insert(bound.to_owned());
        }
        if name != "*" {
            self.bind(bound, alias.start().to_usize());
        }
    }
}

impl<'a> SourceOrderVisitor<'a> for Survey {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(function) => {
                self.bind(&function.name, function.name.start().to_usize());
                self.awaits |= function.is_async;
                self.scoped(|this| walk_stmt(this, stmt));
                return;
            }
            Stmt::ClassDef(class) => {
                self.bind(&class.name, class.name.start().to_usize());
                self.class(class);
                self.scoped(|this| walk_stmt(this, stmt));
                return;
            }
            Stmt::Import(import) => {
                for alias in &import.names {
                    self.import(alias, None);
                }
                self.awaits |= import.names.iter().any(|alias| alias.name.as_str() == "asyncio");
            }
            Stmt::ImportFrom(import) => {
                let module = import.module.as_ref().map_or("", Identifier::as_str);
                for alias in &import.names {
                    self.import(alias, Some(module));
                }
                self.awaits |= module == "asyncio";
            }
            Stmt::Global(global) => {
                for name in &global.names {
                    let n_scopes = std::mem::take(&mut self.n_scopes);
                    self.bind(name, name.start().to_usize());
                    self.n_scopes = n_scopes;
                }
            }
            Stmt::With(with) => {
                self.awaits |= with.is_async;
                for item in &with.items {
                    if let Some(target) = &item.optional_vars {
                        self.assign(target, None);
                    }
                }
            }
            Stmt::For(for_) => {
                self.awaits |= for_.is_async;
                self.assign(&for_.target, None);
            }
            Stmt::Assign(assign) => {
                assign.targets.iter().for_each(|target| self.assign(target, Some(&assign.value)));
            }
            Stmt::Return(_) => self.in_function("return", stmt.start().to_usize()),
            Stmt::AnnAssign(assign) => self.assign(&assign.target, assign.value.as_deref()),
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        if self.depth >= DEPTH_MAX {
            return;
        }
        self.depth += 1;
        match expr {
            Expr::Name(name) => {
                let at = name.start().to_usize();
                if name.ctx == ExprContext::Load {
                    self.check(&name.id, at);
                    self.names.insert(name.id.to_string());
                    self.awaits |= name.id.as_str() == "asyncio";
                } else {
                    self.bind(&name.id, at);
                }
            }
            Expr::Named(named) => self.assign(&named.target, Some(&named.value)),
            Expr::Await(await_) => {
                self.awaits = true;
                names_in(&await_.value, &mut self.awaited);
            }
            Expr::Call(call) if is_gathering(&call.func) => {
                self.gathers = true;
                call.arguments.args.iter().for_each(|arg| names_in(arg, &mut self.awaited));
            }
            Expr::Yield(_) | Expr::YieldFrom(_) => {
                self.yields = true;
                self.in_function("yield", expr.start().to_usize());
            }
            Expr::Lambda(_)
            | Expr::ListComp(_)
            | Expr::SetComp(_)
            | Expr::DictComp(_)
            | Expr::Generator(_) => {
                self.scoped(|this| walk_expr(this, expr));
                self.depth -= 1;
                return;
            }
            _ => {}
        }
        walk_expr(self, expr);
        self.depth -= 1;
    }

    fn visit_comprehension(&mut self, comprehension: &'a Comprehension) {
        self.assign(&comprehension.target, None);
        self.awaits |= comprehension.is_async;
        walk_comprehension(self, comprehension);
    }

    fn visit_keyword(&mut self, keyword: &'a Keyword) {
        if let Some(name) = &keyword.arg {
            self.keywords.insert(name.to_string());
        }
        walk_keyword(self, keyword);
    }

    fn visit_parameter(&mut self, parameter: &'a Parameter) {
        self.not_plain.insert(parameter.name.to_string());
        self.bind(&parameter.name, parameter.name.start().to_usize());
    }

    fn visit_except_handler(&mut self, handler: &'a ExceptHandler) {
        let ExceptHandler::ExceptHandler(inner) = handler;
        if let Some(name) = &inner.name {
            self.caught.insert(name.to_string());
            self.bind(name, name.start().to_usize());
        }
        walk_except_handler(self, handler);
    }

    fn visit_pattern(&mut self, pattern: &'a Pattern) {
        let name = match pattern {
            Pattern::MatchAs(pattern) => pattern.name.as_ref(),
            Pattern::MatchStar(pattern) => pattern.name.as_ref(),
            Pattern::MatchMapping(pattern) => pattern.rest.as_ref(),
            _ => None,
        };
        if let Some(name) = name {
            self.bind(name, name.start().to_usize());
        }
        walk_pattern(self, pattern);
    }
}

/// Functions that take awaitables.
const GATHERING: &str =
    "gather create_task ensure_future as_completed wait wait_for shield run_until_complete";

pub(super) fn is_gathering(function: &Expr) -> bool {
    let name = match function {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        _ => return false,
    };
    GATHERING.split(' ').any(|known| known == name)
}

fn names_in(expr: &Expr, names: &mut HashSet<String>) {
    match expr {
        Expr::Name(name) => {
            names.insert(name.id.to_string());
        }
        Expr::Starred(starred) => names_in(&starred.value, names),
        Expr::List(list) => list.elts.iter().for_each(|one| names_in(one, names)),
        _ => {}
    }
}
