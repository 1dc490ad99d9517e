//! Habits of models that lead nowhere: talking without code, and running the same code again. Each is named to the
//! model; when that does not help, it is asked for what it has.

use spelunk_sandbox::Found;
use spelunk_types::ErrorCode;

use super::Turn;

const TALK_MAX: u32 = 3;
const REPEATS_MAX: u32 = 3;

const NUDGE: &str = "No code was found in your reply, so nothing was run. Write a block of code, fenced with ```repl. If you have the answer, write `FINAL(\"your answer\")` in such a block.";
const NUDGE_CUT: &str = "Your reply was cut off before the end of its block of code. Write shorter blocks.";
const NUDGE_REPEAT: &str = "This is the same code as before, with the same result. Try something else, or answer with what you have.";

#[derive(Debug, Default)]
pub(super) struct Habits {
    n_talks: u32,
    n_repeats: u32,
    last: Option<(Vec<String>, Vec<String>)>,
}

impl Habits {
    /// What the model is told after this reply, `said` being what its cells came to.
    pub(super) fn judge(&mut self, found: &Found, mut said: Vec<String>) -> Turn {
        if found.cells.is_empty() && said.is_empty() {
            self.n_talks += 1;
            let stuck = self.n_talks >= TALK_MAX;
            return if stuck { Turn::Stuck(ErrorCode::ModelStuck) } else { Turn::Said(NUDGE.to_owned()) };
        }
        self.n_talks = 0;
        let cells: Vec<String> = found.cells.iter().map(|cell| cell.code.clone()).collect();
        let now = (cells, said.clone());
        if self.last.as_ref() == Some(&now) {
            self.n_repeats += 1;
            if self.n_repeats >= REPEATS_MAX {
                return Turn::Stuck(ErrorCode::ModelStuck);
            }
            said.push(NUDGE_REPEAT.to_owned());
        } else {
            self.n_repeats = 0;
        }
        self.last = Some(now);
        if found.cells.iter().any(|cell| cell.is_cut) {
            said.push(NUDGE_CUT.to_owned());
        }
        Turn::Said(said.join("\n\n"))
    }
}
