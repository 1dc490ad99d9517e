//! The caller's prelude, run one statement at a time: each runs when a cell first mentions a name it binds. Most cells
//! mention none, and loading what the statements need from our own prelude takes longer than running most cells.

use std::collections::HashSet;

use ruff_python_ast::Stmt;
use ruff_python_parser::parse_module;
use ruff_text_size::Ranged;

use crate::InterpreterError;

/// Functions that may see every name without mentioning it.
pub(super) const SEES_ALL: [&str; 6] = ["globals", "dir", "vars", "locals", "exec", "eval"];

#[derive(Debug, Default)]
pub(super) struct CallerPrelude {
    waiting: Vec<Statement>,
}

#[derive(Debug)]
struct Statement {
    code: String,
    /// The names it binds. A statement that binds no known name runs for its effect, and does not wait.
    binds: Vec<String>,
}

impl CallerPrelude {
    pub(super) fn new(prelude: &str) -> Result<Self, InterpreterError> {
        let parsed = parse_module(prelude).map_err(|error| InterpreterError::Protocol {
            what: format!("the setup prelude is not valid Python: {error}"),
        })?;
        let of = |statement: &Stmt| Statement {
            code: prelude.get(statement.range().to_std_range()).unwrap_or_default().to_owned(),
            binds: binds(statement),
        };
        Ok(Self { waiting: parsed.syntax().body.iter().map(of).collect() })
    }

    /// The statements a cell needs, in order. Each is returned only once.
    pub(super) fn needed(&mut self, code: &str) -> Vec<String> {
        if self.waiting.is_empty() {
            return Vec::new();
        }
        let mut mentioned: HashSet<String> = words(code).map(str::to_owned).collect();
        let sees_all = SEES_ALL.iter().any(|name| mentioned.contains(*name));
        let mut is_needed = vec![sees_all; self.waiting.len()];
        // A statement that is needed may need others, before and after it.
        loop {
            let n_mentioned = mentioned.len();
            for (statement, is_needed) in self.waiting.iter().zip(&mut is_needed) {
                *is_needed |=
                    statement.binds.is_empty() || statement.binds.iter().any(|name| mentioned.contains(name));
                if *is_needed {
                    mentioned.extend(words(&statement.code).map(str::to_owned));
                }
            }
            if mentioned.len() == n_mentioned {
                break;
            }
        }
        let statements = std::mem::take(&mut self.waiting).into_iter().zip(is_needed);
        let (needed, waiting): (Vec<_>, Vec<_>) = statements.partition(|(_, is_needed)| *is_needed);
        self.waiting = waiting.into_iter().map(|(statement, _)| statement).collect();
        needed.into_iter().map(|(statement, _)| statement.code).collect()
    }
}

/// The names that a statement binds, as far as its syntax shows.
fn binds(statement: &Stmt) -> Vec<String> {
    let mut names = Vec::new();
    if let Stmt::FunctionDef(function) = statement {
        names.push(function.name.to_string());
    } else if let Stmt::Assign(assign) = statement {
        let targets = assign.targets.iter().filter_map(|target| target.as_name_expr());
        names.extend(targets.map(|target| target.id.to_string()));
    }
    names
}

/// The words of a text that could be names.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |char: char| char.is_alphanumeric() || char == '_';
    text.split(move |char| !is_part(char)).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRELUDE: &str = "\
answer = {}
def first(x):
    return second(x)
def second(x):
    return x
other = second
left, right = 1, 2
";

    #[test]
    fn a_statement_runs_when_its_name_is_first_mentioned() {
        let mut callers = CallerPrelude::new(PRELUDE).unwrap();
        // A statement that binds names in other ways does not wait.
        assert_eq!(callers.needed(""), ["left, right = 1, 2"]);
        assert_eq!(callers.needed("print(len(context))"), [""; 0]);
        assert_eq!(callers.needed("x = answer['a']"), ["answer = {}"]);
        assert_eq!(
            callers.needed("first(1)"),
            ["def first(x):\n    return second(x)", "def second(x):\n    return x"]
        );
        assert_eq!(callers.needed("first(1); answer"), [""; 0]);
        assert_eq!(callers.needed("dir()"), ["other = second"]);
    }

    #[test]
    fn what_is_no_python_is_told() {
        let error = CallerPrelude::new("def (:").unwrap_err().to_string();
        assert!(error.contains("the setup prelude is not valid Python"), "{error}");
    }
}
