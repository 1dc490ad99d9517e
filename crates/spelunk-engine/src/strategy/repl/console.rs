//! The console: the session of a repl frame with a person instead of the model. It runs cells and
//! prints their output; model calls are recorded and charged as in any run.

use std::sync::{Arc, Mutex};

use tokio::sync::{mpsc, oneshot};

use crate::session::{self, NOTHING_PRINTED, Ran, Session};
use crate::sync::lock;
use crate::{Answer, Program};

/// A block of code that a person typed, and where to send its output.
#[derive(Debug)]
pub struct ConsoleCell {
    /// The code.
    pub code: String,
    /// Receives the output, and the exception that ended the cell, if any.
    pub said: oneshot::Sender<String>,
}

/// A program that runs the `cells` until there are no more or one of them answers. `ready` receives the description
/// of `context`.
pub fn console(cells: mpsc::UnboundedReceiver<ConsoleCell>, ready: oneshot::Sender<String>) -> Program {
    let given = Arc::new(Mutex::new(Some((cells, ready))));
    Arc::new(move |frame, task| {
        let given = lock(&given).take();
        Box::pin(async move {
            let nothing = Answer::new(String::new(), Vec::new());
            let Some((mut cells, ready)) = given else { return Ok(nothing) };
            let (mut session, description) = Session::open(&frame, &task, None).await?;
            // If nobody listens, nobody types either, and the loop ends at once.
            drop(ready.send(description));
            while let Some(ConsoleCell { code, said }) = cells.recv().await {
                match session.run(&code).await? {
                    Ran::Answered(given) => {
                        // Closed first, so that the receiver of the answer knows that no further cell will run.
                        cells.close();
                        drop(said.send(given.text.clone()));
                        return session::settle(&frame, &task, given).await;
                    }
                    Ran::Printed(text) | Ran::Broke(text) => drop(said.send(for_people(&text))),
                }
            }
            Ok(nothing)
        })
    })
}

/// Removes the explanations meant for a model.
fn for_people(text: &str) -> String {
    let text = text.strip_prefix(NOTHING_PRINTED).unwrap_or(text);
    text.strip_prefix("Output:\n").unwrap_or(text).trim_matches('\n').to_owned()
}
