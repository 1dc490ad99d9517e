//! The console: the session of a repl frame with a person in the model's place. Cells come in, what they print goes out;
//! calls of models are recorded and paid for as in any run.

use std::sync::{Arc, Mutex, PoisonError};

use spelunk_types::Grounding;
use tokio::sync::{mpsc, oneshot};

use super::session::{Ran, Session};
use super::{answer, open};
use crate::{Answer, Program};

/// A block of code that a person typed, and where its outcome goes.
#[derive(Debug)]
pub struct ConsoleCell {
    /// The code.
    pub code: String,
    /// What it printed, and the exception that ended it, if one did.
    pub said: oneshot::Sender<String>,
}

/// A program that runs what comes from `cells` until that ends or a cell answers. `ready` is told what `context` is.
pub fn console(cells: mpsc::UnboundedReceiver<ConsoleCell>, ready: oneshot::Sender<String>) -> Program {
    let given = Arc::new(Mutex::new(Some((cells, ready))));
    Arc::new(move |frame, task| {
        let given = given.lock().unwrap_or_else(PoisonError::into_inner).take();
        Box::pin(async move {
            let nothing =
                Answer { text: String::new(), citations: Vec::new(), grounding: Grounding::Uncited };
            let Some((mut cells, ready)) = given else { return Ok(nothing) };
            let opened = open(&frame, &task).await?;
            let description = opened.description.clone();
            let mut session = Session::open(&frame, &task, opened).await?;
            // Nobody listening means nobody typing either; the loop then ends at once.
            drop(ready.send(description));
            while let Some(ConsoleCell { code, said }) = cells.recv().await {
                match session.run(&code).await? {
                    Ran::Answered(given) => {
                        // Whoever hears the answer can tell that no further cell will run.
                        cells.close();
                        drop(said.send(given.text.clone()));
                        return answer::settle(&frame, &task, given).await;
                    }
                    Ran::Printed(text) | Ran::Broke(text) => drop(said.send(for_people(&text))),
                }
            }
            Ok(nothing)
        })
    })
}

/// Without the words that tell a model what it sees.
fn for_people(text: &str) -> String {
    let text = text.strip_prefix(super::session::NOTHING_PRINTED).unwrap_or(text);
    text.strip_prefix("Output:\n").unwrap_or(text).trim_matches('\n').to_owned()
}
