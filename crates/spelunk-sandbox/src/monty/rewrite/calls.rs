//! Rules for calls and attributes.

use ruff_python_ast::visitor::source_order::SourceOrderVisitor as _;
use ruff_python_ast::{Expr, ExprAttribute, ExprAwait, ExprCall, Keyword};
use ruff_text_size::Ranged;

use super::plain::{has_foreign_call, is_named, is_plain_message, is_plain_value};
use super::survey::is_gathering;
use super::walk::Walk;
use super::{new_text, range_of, tables};
use crate::monty::source_map::SourceMap;

impl<'a> Walk<'a> {
    pub(super) fn attribute(&mut self, attribute: &'a ExprAttribute) -> Option<SourceMap> {
        let name = attribute.attr.as_str();
        let range = range_of(attribute);
        if self.session.properties.contains(name) {
            return Some(self.expr(&attribute.value).wrapped("__sp_get(", format!(", \"{name}\")"), &range));
        }
        let is_type_name = name == "__name__"
            && matches!(&*attribute.value, Expr::Call(call) if matches!(&*call.func, Expr::Name(function) if function.id.as_str() == "type"));
        let is_of_module = self.is_module(&attribute.value) && !matches!(name, "__name__" | "__dict__");
        if self.is_prelude || is_type_name || is_of_module {
            return None;
        }
        let is_caught =
            matches!(&*attribute.value, Expr::Name(value) if self.survey.caught.contains(value.id.as_str()));
        if tables::ATTRIBUTES.contains(name)
            || self.flags().hooks
            || is_caught && tables::ERROR_ATTRIBUTES.contains(name)
        {
            return Some(self.expr(&attribute.value).wrapped("__sp_attr(", format!(", \"{name}\")"), &range));
        }
        if tables::METHODS.contains(name) || self.is_builtin_type(&attribute.value) {
            return Some(self.bound_method(attribute));
        }
        None
    }

    /// A method as a value.
    fn bound_method(&mut self, attribute: &'a ExprAttribute) -> SourceMap {
        let call = format!(", \"{0}\", lambda __sp_o, *a, **k: __sp_o.{0}(*a, **k))", attribute.attr);
        self.expr(&attribute.value).wrapped("__sp_meth(", call, &range_of(attribute))
    }

    fn is_module(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Name(name) if self.survey.module_aliases.contains(name.id.as_str()))
    }

    fn is_builtin_type(&self, expr: &Expr) -> bool {
        matches!(expr, Expr::Name(name) if tables::BUILTIN_TYPES.contains(name.id.as_str()) && self.is_builtin(&name.id))
    }

    pub(super) fn call(&mut self, call: &'a ExprCall) -> Option<SourceMap> {
        let is_awaited = std::mem::replace(&mut self.is_awaited, false);
        if let Expr::Name(name) = &*call.func
            && self.survey.awaits
            && self.session.awaitable.contains(name.id.as_str())
            && !self.survey.bound.contains(name.id.as_str())
        {
            let made = self.plain_call(call);
            let range = range_of(call);
            return Some(if is_awaited { made } else { made.wrapped("__sp_now(", ")", &range) });
        }
        let is_append =
            matches!(&*call.func, Expr::Attribute(attribute) if attribute.attr.as_str() == "append");
        self.is_awaited = is_gathering(&call.func) || is_append && self.survey.gathers;
        if call.arguments.keywords.iter().filter(|keyword| keyword.arg.is_none()).count() > 1 {
            return Some(self.merged_call(call));
        }
        let has_batches = !self.is_prelude && (self.flags().lazy || self.session.has_handles);
        if has_batches && is_named(&call.func, &["Counter", "deque"]) && !call.arguments.args.is_empty() {
            return Some(self.lazy_call(call, "Counter"));
        }
        match &*call.func {
            Expr::Name(_) if self.is_prelude => self.super_call(call),
            Expr::Name(name) if self.is_builtin(&name.id) => self.builtin_call(call, &name.id),
            Expr::Attribute(attribute) => {
                self.method_call_of(call).or_else(|| self.method_call(call, attribute))
            }
            _ => None,
        }
    }

    /// `f(**a, **b)`: the interpreter supports only one of them.
    fn merged_call(&mut self, call: &'a ExprCall) -> SourceMap {
        let range = range_of(call);
        let mut source_map = self.expr(&call.func);
        source_map.add("(", range.start);
        for arg in &call.arguments.args {
            source_map.push(self.expr(arg));
            source_map.add(", ", range.start);
        }
        source_map.add("**{", range.start);
        for keyword in &call.arguments.keywords {
            match &keyword.arg {
                Some(name) => source_map.add(format!("\"{name}\": "), keyword.start().to_usize()),
                None => source_map.add("**", keyword.start().to_usize()),
            }
            source_map.push(self.expr(&keyword.value));
            source_map.add(", ", range.start);
        }
        source_map.add("})", range.end);
        source_map
    }

    pub(super) fn call_of(&mut self, call: &'a ExprCall, function: &str) -> SourceMap {
        let function = new_text(function, call.func.start().to_usize());
        self.call_through(call, function)
    }

    fn call_through(&mut self, call: &'a ExprCall, function: SourceMap) -> SourceMap {
        self.open(call.start().to_usize());
        self.splice(range_of(&*call.func), function);
        self.arguments(call);
        self.close(call.end().to_usize())
    }

    /// Rewrites the arguments of a call in place.
    pub(super) fn arguments(&mut self, call: &'a ExprCall) {
        for argument in call.arguments.iter_source_order() {
            let value = argument.value();
            let source_map = self.argument(call, value);
            self.splice(range_of(value), source_map);
        }
    }

    fn argument(&mut self, call: &'a ExprCall, value: &'a Expr) -> SourceMap {
        if self.session.has_handles && is_named(&call.func, &["print"]) {
            return self.shown(value);
        }
        // A generator expression that is exhausted at once need not be an iterator.
        if let Expr::Generator(_) = value
            && !is_named(&call.func, &["next", "iter", "islice"])
        {
            return self.flat(value, "__sp_flat").unwrap_or_else(|| self.plain_expr(value));
        }
        self.expr(value)
    }

    fn builtin_call(&mut self, call: &'a ExprCall, name: &str) -> Option<SourceMap> {
        let n_args = call.arguments.args.len();
        let flags = self.flags();
        let has_handles = self.session.has_handles;
        let is_replaced = match name {
            "super" => return self.super_call(call),
            "eval" | "exec" => return Some(self.evaluated(call, name)),
            "locals" => return Some(self.plain_call(call).wrapped("__sp_hide(", ")", &range_of(call))),
            "iter" if flags.lazy || has_handles => return Some(self.call_of(call, "__sp_iter_of")),
            "print" => call.arguments.find_keyword("file").is_some(),
            "len" => (flags.len || flags.namespace || has_handles) && n_args == 1,
            "bool" => (flags.truth || has_handles) && n_args == 1,
            "str" | "repr" => has_handles && n_args == 1,
            "isinstance" => flags.inherits || has_handles || !self.is_plain_check(call),
            "hasattr" | "getattr" | "setattr" | "next" => true,
            "type" => n_args == 3,
            "round" => n_args == 2,
            "bytes" => n_args > 0,
            "dict" => (has_handles || flags.namespace) && n_args == 1,
            "sorted" | "min" | "max" => flags.order || self.may_wait(call, name),
            "map" | "filter" => self.may_wait(call, name),
            _ => false,
        };
        if name == "len" && self.session.has_wide && n_args == 1 {
            return Some(self.call_of(call, "__sp_wide_len"));
        }
        if is_replaced {
            return Some(self.call_of(call, &format!("__sp_{name}")));
        }
        let is_lazy = (flags.lazy || has_handles)
            && (tables::CONSUMERS.contains(name) || matches!(name, "map" | "filter" | "reversed"));
        let is_iterator = matches!(name, "zip" | "map" | "filter" | "enumerate" | "reversed");
        if is_lazy {
            let source_map = self.lazy_call(call, name);
            return Some(if name == "reversed" {
                source_map.wrapped("iter(", ")", &range_of(call))
            } else {
                source_map
            });
        }
        if tables::NATIVE_EXCEPTIONS.contains(name) && !is_plain_message(call) {
            return Some(self.exception_call(call));
        }
        // The interpreter returns lists for these.
        if is_iterator {
            return Some(self.plain_call(call).wrapped("iter(", ")", &range_of(call)));
        }
        None
    }

    /// Whether `isinstance` checks only builtin types.
    fn is_plain_check(&self, call: &ExprCall) -> bool {
        let is_type = |expr: &Expr| matches!(expr, Expr::Name(name) if self.is_builtin(&name.id) && tables::NATIVE_BUILTINS.contains(name.id.as_str()));
        match call.arguments.args.get(1) {
            Some(Expr::Tuple(tuple)) => tuple.elts.iter().all(is_type),
            Some(other) => is_type(other),
            None => true,
        }
    }

    /// The call itself unchanged, with its arguments rewritten.
    pub(super) fn plain_call(&mut self, call: &'a ExprCall) -> SourceMap {
        let function = self.expr(&call.func);
        self.call_through(call, function)
    }

    /// A call of a function that exhausts iterables, which may be generators or host objects.
    fn lazy_call(&mut self, call: &'a ExprCall, name: &str) -> SourceMap {
        if matches!(name, "enumerate" | "zip" | "map" | "filter") {
            return self.call_of(call, &format!("__sp_{name}"));
        }
        self.open(call.start().to_usize());
        let mut is_first = true;
        for argument in call.arguments.iter_source_order() {
            let value = argument.value();
            let source_map = self.argument(call, value);
            let is_iterable = is_first && !matches!(value, Expr::Starred(_)) && !is_plain_value(value);
            let source_map =
                if is_iterable { source_map.wrapped("__sp_all(", ")", &range_of(value)) } else { source_map };
            is_first = false;
            self.splice(range_of(value), source_map);
        }
        self.close(call.end().to_usize())
    }

    /// `KeyError(("a", 1))`: the interpreter's exceptions take one string.
    fn exception_call(&mut self, call: &'a ExprCall) -> SourceMap {
        let name = self.text_of(&*call.func).to_owned();
        self.open(call.start().to_usize());
        let first =
            call.arguments.iter_source_order().next().map(|argument| argument.value().start().to_usize());
        let at = first.unwrap_or_else(|| call.end().to_usize() - 1);
        self.replace(call.start().to_usize()..at, format!("__sp_exception({name}, "));
        self.arguments(call);
        self.close(call.end().to_usize())
    }

    /// `eval(text)`: the text is rewritten like a cell.
    fn evaluated(&mut self, call: &'a ExprCall, name: &str) -> SourceMap {
        self.open(call.start().to_usize());
        for (idx, argument) in call.arguments.iter_source_order().enumerate() {
            let value = argument.value();
            let range = range_of(value);
            let source_map = self.expr(value);
            let source_map = match idx {
                0 => source_map.wrapped(format!("__sp_{name}_code("), ")", &range),
                _ => source_map.wrapped("__sp_namespace(", ")", &range),
            };
            self.splice(range, source_map);
        }
        self.close(call.end().to_usize())
    }

    /// Whether the function that a builtin calls per item may wait for the host, which a builtin cannot do.
    fn may_wait(&self, call: &'a ExprCall, name: &str) -> bool {
        let callback = match name {
            "map" | "filter" => call.arguments.args.first(),
            _ => call.arguments.find_keyword("key").map(|Keyword { value, .. }| value),
        };
        match callback {
            None | Some(Expr::NoneLiteral(_)) => false,
            Some(Expr::Lambda(lambda)) => has_foreign_call(&lambda.body),
            Some(Expr::Name(name)) => {
                !tables::NATIVE_BUILTINS.contains(name.id.as_str()) || !self.is_builtin(&name.id)
            }
            Some(_) => true,
        }
    }

    fn method_call(&mut self, call: &'a ExprCall, attribute: &'a ExprAttribute) -> Option<SourceMap> {
        if self.is_prelude {
            return None;
        }
        let name = attribute.attr.as_str();
        let args = &call.arguments.args;
        let is_module = self.is_module(&attribute.value);
        if tables::METHOD_CALLS.contains(name) && !is_module {
            return Some(self.function_of_method(call, attribute, &format!("__sp_{name}")));
        }
        if self.is_builtin_type(&attribute.value) && tables::METHODS.contains(name) {
            // The interpreter supports `str.lower(x)` only as `x.lower()`.
            return Some(self.call_of(call, &format!("(lambda __sp_o, *a, **k: __sp_o.{name}(*a, **k))")));
        }
        let by_name = matches!(args.first(), Some(Expr::StringLiteral(_)));
        if by_name && args.len() == 1 && matches!(name, "start" | "end" | "span") {
            return Some(self.function_of_method(call, attribute, &format!("__sp_match_{name}")));
        }
        if name == "groups" && !call.arguments.is_empty() {
            return Some(self.function_of_method(call, attribute, "__sp_match_groups"));
        }
        let is_positional = call.arguments.keywords.is_empty();
        if !is_module && is_positional && args.len() > 1 && tables::PLACE_METHODS.contains(name) {
            return Some(self.function_of_method(call, attribute, &format!("__sp_text_{name}")));
        }
        if name == "sort" && call.arguments.find_keyword("key").is_some() && self.may_wait(call, "sorted")
            || name == "sort" && self.flags().order
        {
            return Some(self.function_of_method(call, attribute, "__sp_sort"));
        }
        if (self.flags().lazy || self.session.has_handles)
            && !is_module
            && matches!(name, "join" | "extend" | "update")
            && args.len() == 1
            && !is_plain_value(&args[0])
        {
            return Some(self.all_of_argument(call));
        }
        if (self.flags().hooks || self.session.properties.contains(name)) && !is_module {
            let function = self.bound_method(attribute);
            return Some(self.call_through(call, function));
        }
        // The attribute is called, so it is not a value itself.
        self.open(call.start().to_usize());
        let value = self.expr(&attribute.value);
        let value = if is_module { value } else { self.receiver(attribute, value) };
        self.splice(range_of(&*attribute.value), value);
        self.arguments(call);
        Some(self.close(call.end().to_usize()))
    }

    /// The value whose method is called: a text of the host may become a string of the session first.
    fn receiver(&self, attribute: &'a ExprAttribute, value: SourceMap) -> SourceMap {
        let (name, range) = (attribute.attr.as_str(), range_of(&*attribute.value));
        let function = if tables::WHOLE_METHODS.contains(name) {
            "__sp_text_of("
        } else if tables::PART_METHODS.contains(name) {
            "__sp_near("
        } else {
            return value;
        };
        if !self.session.has_handles || self.is_never_handle(&attribute.value) {
            return value;
        }
        match &*attribute.value {
            Expr::Name(name) => {
                let guard = format!("({0} if __sp_b_type({0}) is __sp_b_str else {function}", name.id);
                value.wrapped(guard, "))", &range)
            }
            _ => value.wrapped(function, ")", &range),
        }
    }

    fn all_of_argument(&mut self, call: &'a ExprCall) -> SourceMap {
        let Expr::Attribute(attribute) = &*call.func else { return self.plain_call(call) };
        self.open(call.start().to_usize());
        self.visit_expr(&attribute.value);
        let argument = &call.arguments.args[0];
        let source_map = self.argument(call, argument).wrapped("__sp_all(", ")", &range_of(argument));
        self.splice(range_of(argument), source_map);
        self.close(call.end().to_usize())
    }

    /// `m.start("name")` as `f(m, "name")`.
    pub(super) fn function_of_method(
        &mut self,
        call: &'a ExprCall,
        attribute: &'a ExprAttribute,
        function: &str,
    ) -> SourceMap {
        let range = range_of(call);
        self.open(range.start);
        let value = self.expr(&attribute.value);
        let value = self.receiver(attribute, value);
        let mut head = new_text(format!("{function}("), range.start);
        head.push(value);
        let has_arguments = !call.arguments.is_empty();
        head.add(if has_arguments { ", " } else { "" }, range.start);
        // Up to and including the opening bracket of the arguments.
        let open = call.arguments.start().to_usize() + 1;
        self.splice(range.start..open, head);
        self.arguments(call);
        self.close(range.end)
    }

    pub(super) fn generator(&mut self, expr: &'a Expr) -> Option<SourceMap> {
        if self.is_prelude {
            return None;
        }
        let stepped = self.flat(expr, "__sp_stepped");
        stepped.or_else(|| Some(self.plain_expr(expr).wrapped("iter(", ")", &range_of(expr))))
    }

    pub(super) fn awaited(&mut self, await_: &'a ExprAwait) -> SourceMap {
        self.open(await_.start().to_usize());
        self.is_awaited = true;
        if self.is_prelude {
            self.visit_expr(&await_.value);
        } else {
            self.wrap(&await_.value, "__sp_awaitable(");
        }
        self.is_awaited = false;
        self.close(await_.end().to_usize())
    }
}
