//! The line editor of `spelunk repl`: history across sessions, and completion of names.

use std::borrow::Cow;
use std::collections::BTreeSet;

use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::DefaultHistory;
use rustyline::validate::Validator;
use rustyline::{Context, Helper};
use spelunk_fs::PrivateDir;

/// The names defined at the start of a session.
const NAMES: &str = "FINAL FINAL_VAR SHOW_VARS budget chunk collections context enumerate for grep import isinstance json len \
    lines llm_query llm_query_batched outline peek print range re rlm_query rlm_query_batched search sorted";

pub(super) struct Editor {
    lines: Option<rustyline::Editor<Names, DefaultHistory>>,
    workspace: PrivateDir,
}

const HISTORY: &str = "repl_history";

impl Editor {
    pub(super) fn new(workspace: PrivateDir) -> Self {
        let mut lines = rustyline::Editor::new().ok();
        if let Some(lines) = &mut lines {
            lines.set_helper(Some(Names::default()));
            // A new workspace has no history yet.
            if workspace.is_file(HISTORY) {
                drop(lines.load_history(&workspace.root().join(HISTORY)));
            }
        }
        Self { lines, workspace }
    }

    /// The next cell, read line by line until it is complete; `None` at the end of input. Ctrl-C discards the current
    /// cell.
    pub(super) fn read_cell(&mut self) -> Option<String> {
        let lines = self.lines.as_mut()?;
        let mut code = String::new();
        loop {
            let prompt = if code.is_empty() { ">>> " } else { "... " };
            match lines.readline(prompt) {
                Ok(line) => {
                    code += &line;
                    if !spelunk_sandbox::needs_more(&code) {
                        break;
                    }
                    code.push('\n');
                }
                Err(ReadlineError::Interrupted) => code.clear(),
                Err(_) if code.trim().is_empty() => return None,
                Err(_) => break,
            }
        }
        drop(lines.add_history_entry(code.trim_end()));
        // The editor opens the file by its path, so make sure that it is a regular file in the workspace.
        if self.workspace.open_or_create(HISTORY).is_ok() {
            drop(lines.save_history(&self.workspace.root().join(HISTORY)));
        }
        if let Some(names) = lines.helper_mut() {
            names.learn(&code);
        }
        Some(code)
    }
}

#[derive(Default)]
struct Names {
    typed: BTreeSet<String>,
}

impl Names {
    fn learn(&mut self, code: &str) {
        let words = code.split(|c: char| !c.is_alphanumeric() && c != '_');
        self.typed.extend(words.filter(|word| word.len() > 2).map(str::to_owned));
    }

    /// Names that begin with the word at the cursor, and where that word begins.
    fn matching(&self, line: &str, position: usize) -> (usize, Vec<String>) {
        let before = line.get(..position).unwrap_or_default();
        let start = before.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |at| {
            at + before.get(at..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8)
        });
        let word = before.get(start..).unwrap_or_default();
        if word.is_empty() {
            return (start, Vec::new());
        }
        let known = NAMES.split(' ').chain(self.typed.iter().map(String::as_str));
        let found: BTreeSet<String> =
            known.filter(|name| name.starts_with(word)).map(str::to_owned).collect();
        (start, found.into_iter().collect())
    }
}

impl Completer for Names {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        position: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        Ok(self.matching(line, position))
    }
}

impl Hinter for Names {
    type Hint = String;
}

impl Highlighter for Names {
    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        Cow::Borrowed(prompt)
    }
}

impl Validator for Names {}

impl Helper for Names {}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn a_name_is_completed_from_the_session_and_from_what_was_typed() {
        let mut names = Names::default();
        names.learn("hits = grep('x')");
        assert_eq!(names.matching("print(hi", 8), (6, vec!["hits".to_owned()]));
        assert_eq!(names.matching("llm_query_", 10), (0, vec!["llm_query_batched".to_owned()]));
        assert_eq!(names.matching("é = gr", 7), (5, vec!["grep".to_owned()]));
        assert_eq!(names.matching("x = ", 4), (4, Vec::new()));
    }
}
