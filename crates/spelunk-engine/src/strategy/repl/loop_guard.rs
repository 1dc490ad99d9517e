//! Detects models that make no progress: replies without code, and repeated code. The model gets a
//! message; if that does not help, it is asked for its best partial answer.

use spelunk_sandbox::ParsedReply;
use spelunk_types::ErrorCode;

use super::Turn;
use crate::session::repeats::{self, Novelty, Repeats};

const TALK_MAX: u32 = 3;

const NUDGE: &str = "No code was found in your reply, so nothing was run. Write a code block fenced with ```repl. If you have the answer, write `FINAL(\"your answer\")` in such a block.";
const NUDGE_CUT: &str = "Your reply was cut off inside a code block. Write shorter blocks.";

#[derive(Debug, Default)]
pub(super) struct LoopGuard {
    n_talks: u32,
    repeats: Repeats,
}

impl LoopGuard {
    /// The next message after this reply; `said` is the output of its cells.
    pub(super) fn judge(&mut self, found: &ParsedReply, mut said: Vec<String>) -> Turn {
        if found.cells.is_empty() && said.is_empty() {
            self.n_talks += 1;
            let stuck = self.n_talks >= TALK_MAX;
            return if stuck { Turn::Stuck(ErrorCode::ModelStuck) } else { Turn::Message(NUDGE.to_owned()) };
        }
        self.n_talks = 0;
        let mut done: Vec<String> = found.cells.iter().map(|cell| cell.code.clone()).collect();
        done.extend(found.final_text.as_ref().map(|text| format!("{text:?}")));
        match self.repeats.judge(&done, &said) {
            Novelty::New => {}
            Novelty::Again => said.push(repeats::NUDGE.to_owned()),
            Novelty::Stuck => return Turn::Stuck(ErrorCode::ModelStuck),
        }
        if found.cells.iter().any(|cell| cell.is_cut) {
            said.push(NUDGE_CUT.to_owned());
        }
        Turn::Message(said.join("\n\n"))
    }
}
