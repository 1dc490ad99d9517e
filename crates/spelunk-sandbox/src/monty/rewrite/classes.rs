//! Rules for classes. The interpreter has methods and plain variables; `__sp_class` adds the rest afterwards.

use ruff_python_ast::visitor::source_order::SourceOrderVisitor;
use ruff_python_ast::{Expr, ExprCall, Stmt, StmtClassDef, StmtFunctionDef};
use ruff_text_size::Ranged;

use super::functions::yields;
use super::walk::Walk;
use super::{new_text, range_of};
use crate::monty::source_map::SourceMap;

impl<'a> Walk<'a> {
    pub(super) fn class(&mut self, class: &'a StmtClassDef) -> Option<SourceMap> {
        let range = range_of(class);
        let indent = self.indent_of(range.start)?.to_owned();
        let is_simple = class.arguments.as_ref().is_none_or(|arguments| arguments.is_empty())
            && class.body.iter().all(is_simple_member)
            && !(self.is_prelude && class.decorator_list.is_empty());
        if self.is_prelude && class.arguments.is_none() {
            return None;
        }
        let class_at = self.class_at(class);
        self.open(range.start);
        // The decorators see the finished class.
        self.replace(range.start..class_at, "");
        let header_end = class
            .arguments
            .as_ref()
            .map_or(class.name.end().to_usize(), |arguments| arguments.end().to_usize());
        self.splice(class.name.end().to_usize()..header_end, SourceMap::default());
        self.classes.push((class.name.to_string(), None));
        self.class_body(class);
        self.classes.pop();
        let mut source_map = self.close(range.end);
        source_map.push(self.finished(class, is_simple, &indent));
        Some(source_map)
    }

    fn class_at(&self, class: &StmtClassDef) -> usize {
        let after =
            class.decorator_list.last().map_or(class.start().to_usize(), |last| last.end().to_usize());
        let text = self.source.get(after..class.name.start().to_usize()).unwrap_or_default();
        after + text.rfind("class").unwrap_or(0)
    }

    fn class_body(&mut self, class: &'a StmtClassDef) {
        let mut n_decorators = 0;
        for stmt in &class.body {
            if let Stmt::FunctionDef(method) = stmt {
                let source_map = self.method(method, &mut n_decorators);
                self.splice(range_of(stmt), source_map);
            } else {
                self.visit_stmt(stmt);
            }
        }
    }

    /// A method. Its decorators are evaluated before it and applied after it, by assignments.
    fn method(&mut self, method: &'a StmtFunctionDef, n_decorators: &mut usize) -> SourceMap {
        let range = range_of(method);
        let is_generator = yields(&method.body);
        let first = method.parameters.posonlyargs.first().or(method.parameters.args.first());
        let first = first.map(|parameter| parameter.parameter.name.to_string());
        if let Some(class) = self.classes.last_mut() {
            class.1 = first;
        }
        let indent = self.indent_of(range.start).unwrap_or("    ").to_owned();
        let mut source_map = SourceMap::default();
        let mut applied = Vec::new();
        for decorator in &method.decorator_list {
            let at = decorator.start().to_usize();
            let text = self.text_of(&decorator.expression);
            if let Some(function) = known_decorator(text) {
                applied.push(function.to_owned());
                continue;
            }
            *n_decorators += 1;
            let name = format!("__sp_d{n_decorators}");
            source_map.add(format!("{name} = "), at);
            let value = match &decorator.expression {
                // `@x.setter` follows `@property` on the same name, which is a class variable here.
                Expr::Attribute(attribute)
                    if matches!(attribute.attr.as_str(), "setter" | "getter" | "deleter") =>
                {
                    SourceMap::kept(range_of(&decorator.expression))
                }
                other => self.expr(other),
            };
            source_map.push(value);
            source_map.add(format!("\n{indent}"), at);
            applied.push(name);
        }
        if is_generator {
            applied.push("__sp_generator".to_owned());
        }
        source_map.push(self.function_as(method, is_generator, false));
        for name in applied.iter().rev() {
            source_map.add(format!("\n{indent}{0} = {name}({0})", method.name), range.end);
        }
        if let Some(class) = self.classes.last_mut() {
            class.1 = None;
        }
        source_map
    }

    fn finished(&mut self, class: &'a StmtClassDef, is_simple: bool, indent: &str) -> SourceMap {
        // Errors here are reported at the name of the class.
        let at = range_of(&class.name).start;
        let name = class.name.as_str();
        let mut source_map = SourceMap::default();
        let members: Vec<String> = members(class).into_iter().map(|name| format!("\"{name}\"")).collect();
        if is_simple {
            source_map.add(format!("\n{indent}__sp_members({name}, [{}])", members.join(", ")), at);
        } else {
            source_map.add(format!("\n{indent}{name} = __sp_class({name}, ("), at);
            if let Some(arguments) = &class.arguments {
                for base in &arguments.args {
                    source_map.push(self.expr(base));
                    source_map.add(", ", at);
                }
            }
            source_map.add(format!("), [{}]", members.join(", ")), at);
            let keywords = class.arguments.as_ref().map(|arguments| &arguments.keywords);
            for keyword in keywords.into_iter().flatten() {
                if let Some(argument) =
                    keyword.arg.as_ref().filter(|argument| argument.as_str() != "metaclass")
                {
                    source_map.add(format!(", {argument}="), at);
                    source_map.push(self.expr(&keyword.value));
                }
            }
            source_map.add(")", at);
        }
        for decorator in class.decorator_list.iter().rev() {
            source_map.add(format!("\n{indent}{name} = "), decorator.start().to_usize());
            source_map.push(self.expr(&decorator.expression));
            source_map.add(format!("({name})"), decorator.start().to_usize());
        }
        source_map
    }

    /// `super().m(...)` and `super(C, self).m(...)`.
    pub(super) fn method_call_of(&mut self, call: &'a ExprCall) -> Option<SourceMap> {
        let Expr::Attribute(attribute) = &*call.func else { return None };
        let Expr::Call(inner) = &*attribute.value else { return None };
        let function = self.super_of(inner)?;
        Some(self.call_of(call, &format!("{function}, \"{}\")", attribute.attr)))
    }

    /// `super()` used as a value.
    pub(super) fn super_call(&mut self, call: &'a ExprCall) -> Option<SourceMap> {
        let function = self.super_of(call)?;
        Some(new_text(format!("{function}, None)"), call.start().to_usize()))
    }

    fn super_of(&self, call: &ExprCall) -> Option<String> {
        if !matches!(&*call.func, Expr::Name(name) if name.id.as_str() == "super") {
            return None;
        }
        if let [class, object] = &*call.arguments.args {
            return Some(format!("__sp_super({}, {}", self.text_of(class), self.text_of(object)));
        }
        let (class, first) = self.classes.last()?;
        Some(format!("__sp_super({class}, {}", first.as_deref().unwrap_or("None")))
    }
}

fn is_simple_member(stmt: &Stmt) -> bool {
    stmt.as_function_def_stmt().is_none_or(|method| method.decorator_list.is_empty())
}

/// Decorators that need no evaluation.
fn known_decorator(text: &str) -> Option<&'static str> {
    match text {
        "property"
        | "cached_property"
        | "functools.cached_property"
        | "abstractproperty"
        | "abc.abstractproperty" => Some("__sp_property"),
        "staticmethod" => Some("__sp_staticmethod"),
        "classmethod" => Some("__sp_classmethod"),
        "abstractmethod" | "abc.abstractmethod" | "override" | "typing.override" => Some("__sp_same"),
        _ => None,
    }
}

fn members(class: &StmtClassDef) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let mut add = |name: &str| {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    };
    for stmt in &class.body {
        match stmt {
            Stmt::FunctionDef(method) => add(&method.name),
            Stmt::ClassDef(inner) => add(&inner.name),
            Stmt::Assign(assign) => {
                assign.targets.iter().filter_map(Expr::as_name_expr).for_each(|name| add(&name.id));
            }
            Stmt::AnnAssign(assign) => {
                if let (Expr::Name(name), Some(_)) = (&*assign.target, &assign.value) {
                    add(&name.id);
                }
            }
            _ => {}
        }
    }
    names
}
