//! Rewrites a cell before it runs: code that the interpreter does not support is expressed with the prelude. The parser
//! is the interpreter's own. What the rewritten code calls is in `prelude/`; a session loads only what its cells need.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a rule names the kinds of nodes it is about; all others stay as they are, also those to come"
)]

mod calls;
mod classes;
mod errors;
mod functions;
mod imports;
mod loops;
mod operators;
mod plain;
mod statements;
mod survey;
mod tables;
mod walk;

use std::collections::{BTreeSet, HashSet};

use ruff_python_ast::Stmt;
use ruff_python_parser::parse_module;
use ruff_text_size::Ranged;

use self::survey::Survey;
pub(super) use self::tables::NATIVE_BUILTINS;
use self::walk::Walk;
use super::RefusedCell;
use super::callers::SEES_ALL;
use super::names::RESERVED;
use super::prelude;
use super::source_map::{Rewritten, SourceMap};
use crate::Setup;

/// One name from each part of the prelude that evaluated text may need: it cannot load them itself.
const EVALUATION_NEEDS: &str =
    " __sp_get __sp_class __sp_raise __sp_batches __sp_sorted __sp_item __sp_translate __sp_now";

/// What later cells need to know about earlier ones.
#[derive(Debug, Default)]
pub(super) struct Session {
    pub(super) has_handles: bool,
    /// Whether the host gave it a large text that is not ASCII.
    pub(super) has_wide: bool,
    pub(super) has_texts_only: bool,
    /// Names bound at the top level of cells, in order.
    names: Vec<String>,
    /// Builtins that cells have rebound.
    shadowed: HashSet<String>,
    properties: HashSet<String>,
    /// Features used by classes of this session that the interpreter does not support.
    flags: Flags,
    awaitable: HashSet<String>,
    loaded: BTreeSet<&'static str>,
    host_exceptions: Vec<String>,
    /// Code that defines the host's exceptions, until it has run.
    exceptions: String,
    /// Names that cells have bound to values of builtin types, and to others.
    plain: HashSet<String>,
    not_plain: HashSet<String>,
}

/// Features that have a cost once they are possible.
#[derive(Debug, Default, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts about a session")]
pub(super) struct Flags {
    len: bool,
    /// Some class has `__bool__` or `__len__`.
    truth: bool,
    order: bool,
    inherits: bool,
    /// There are generators.
    lazy: bool,
    /// Some code inspects its own namespace.
    namespace: bool,
    hooks: bool,
}

#[derive(Debug)]
pub(super) struct PreparedCell {
    pub(super) code: Rewritten,
    /// Prelude code that must run first.
    pub(super) parts: Vec<String>,
    pub(super) is_async: bool,
    /// Names it can see, if it asks for them.
    pub(super) names: Option<Vec<String>>,
}

impl Session {
    pub(super) fn new(setup: &Setup) -> Self {
        let mut session = Self::default();
        session.names.extend(setup.variables.iter().map(|(name, _)| name.clone()));
        session.names.extend(setup.functions.iter().map(|function| function.name.clone()));
        session.names.extend(setup.exceptions.iter().cloned());
        session
            .awaitable
            .extend(setup.functions.iter().filter(|function| function.is_awaitable).map(|f| f.name.clone()));
        session.shadowed.extend(session.names.iter().cloned());
        session.host_exceptions.clone_from(&setup.exceptions);
        for name in &setup.exceptions {
            session.exceptions.push_str(&format!(
                "class {name}:\n    pass\n{name} = __sp_class({name}, (Exception,), [])\n__sp_host_exceptions[\"{name}\"] = {name}\n"
            ));
        }
        session.not_plain.extend(session.names.iter().cloned());
        session
    }

    /// Whether a name is Python's own and no cell has bound it.
    pub(super) fn is_builtin(&self, name: &str) -> bool {
        let is_known = NATIVE_BUILTINS.contains(name) || tables::NATIVE_EXCEPTIONS.contains(name);
        is_known && !self.shadowed.contains(name)
    }

    pub(super) fn cell(&mut self, code: &str) -> Result<PreparedCell, RefusedCell> {
        check_nesting(code)?;
        let parsed = parse_module(code).map_err(|error| refused(code, &error))?;
        let body = &parsed.syntax().body;
        let survey = Survey::of(body);
        check_names(&survey)?;
        self.learn(&survey);
        let is_async = survey.awaits;
        let mut walk = Walk::new(code, self, &survey, false);
        let mut source_map = walk.module(body);
        if let Some(Stmt::Expr(last)) = body.last() {
            source_map = walk.with_echo(body, last);
        }
        let code = source_map.finish(code);
        let names = self.flags.namespace.then(|| self.names.clone());
        let mut text = code.text.clone();
        if self.host_exceptions.iter().any(|name| survey.names.contains(name)) {
            text.push_str(" __sp_raise");
        }
        if survey.names.contains("eval") || survey.names.contains("exec") {
            text.push_str(EVALUATION_NEEDS);
        }
        let parts = self.needed(&text);
        Ok(PreparedCell { code, parts, is_async, names })
    }

    /// Prepares text given to `eval` or `exec`. The prelude it needs was loaded with the cell.
    pub(super) fn text(&mut self, code: &str, is_expression: bool) -> Result<String, RefusedCell> {
        let code = if is_expression { code.trim() } else { code };
        check_nesting(code)?;
        // Text that does not parse is left to the interpreter, which reports the right location.
        let Ok(parsed) = parse_module(code) else { return Ok(code.to_owned()) };
        let body = &parsed.syntax().body;
        let survey = Survey::of(body);
        check_names(&survey)?;
        self.learn(&survey);
        Ok(Walk::new(code, self, &survey, false).module(body).finish(code).text)
    }

    /// The prelude code that a text needs and the session has not loaded.
    pub(super) fn needed(&mut self, text: &str) -> Vec<String> {
        let parts = prelude::needed(text, &self.loaded);
        self.loaded.extend(parts.iter().copied());
        let mut code: Vec<String> = parts.into_iter().map(|part| prelude::code(part).to_owned()).collect();
        // The host's exceptions are defined only when code can see them: most cells do not need them.
        let may_meet = self.loaded.contains("errors") || self.flags.namespace;
        if may_meet && !self.exceptions.is_empty() {
            let exceptions = std::mem::take(&mut self.exceptions);
            code.extend(self.needed(&exceptions));
            code.push(exceptions);
        }
        code
    }

    fn learn(&mut self, survey: &Survey) {
        for name in &survey.module_names {
            if !self.names.contains(name) {
                self.names.push(name.clone());
            }
        }
        self.shadowed.extend(survey.module_names.iter().cloned());
        self.properties.extend(survey.properties.iter().cloned());
        self.plain.extend(survey.plain.iter().cloned());
        // Only names bound at the top level persist in later cells.
        let lasting = survey.not_plain.iter().filter(|name| survey.module_names.contains(name));
        self.not_plain.extend(lasting.cloned());
        let flags = &mut self.flags;
        flags.len |= survey.defines("__len__");
        flags.truth |= survey.defines("__bool__") || survey.defines("__len__");
        flags.order |= ["__lt__", "__gt__", "__le__", "__ge__"].iter().any(|name| survey.defines(name));
        flags.order |= survey.names.contains("total_ordering");
        flags.order |= survey.names.contains("dataclass") && survey.keywords.contains("order");
        flags.hooks |= ["__getattr__", "__setattr__"].iter().any(|name| survey.defines(name));
        flags.inherits |= survey.inherits;
        flags.lazy |= survey.yields;
        flags.namespace |= SEES_ALL.iter().any(|name| survey.names.contains(*name));
        for (module, sets) in tables::MODULE_FLAGS {
            if survey.modules.iter().any(|name| name == module || name.starts_with(&format!("{module}."))) {
                sets(flags);
            }
        }
    }
}

/// The prelude's own code, prepared once per process.
pub(super) fn prelude_code(code: &str) -> String {
    let parsed = parse_module(code).expect("the prelude parses");
    let mut session = Session::default();
    let survey = Survey::of(&parsed.syntax().body);
    session.learn(&survey);
    session.flags = Flags::default();
    Walk::new(code, &session, &survey, true).module(&parsed.syntax().body).finish(code).text
}

/// Code nested this deeply could exhaust the stack of the parser.
fn check_nesting(code: &str) -> Result<(), RefusedCell> {
    if monty::source_within_nesting_bound(code, 0) {
        return Ok(());
    }
    let message = "the code is nested too deeply".to_owned();
    Err(RefusedCell { kind: "SyntaxError", message, start: 0, end: 0 })
}

fn check_names(survey: &Survey) -> Result<(), RefusedCell> {
    if let Some((what, at)) = survey.outside {
        let message = format!("'{what}' outside function");
        return Err(RefusedCell { kind: "SyntaxError", message, start: at, end: at + what.len() });
    }
    let Some((name, at)) = &survey.reserved else { return Ok(()) };
    let message = format!("names that begin with `{RESERVED}` are reserved, such as `{name}`");
    Err(RefusedCell { kind: "SyntaxError", message, start: *at, end: *at + name.len() })
}

fn refused(code: &str, error: &ruff_python_parser::ParseError) -> RefusedCell {
    let message = error.error.to_string();
    let lower = message.to_lowercase();
    let kind = if lower.contains("indent") { "IndentationError" } else { "SyntaxError" };
    let start = error.location.start().to_usize().min(code.len());
    let end = error.location.end().to_usize().min(code.len());
    RefusedCell { kind, message, start, end }
}

fn range_of(node: &impl Ranged) -> std::ops::Range<usize> {
    node.start().to_usize()..node.end().to_usize()
}

fn new_text(text: impl Into<String>, at: usize) -> SourceMap {
    SourceMap::new(text, at)
}
