//! Certainty: how likely a model considered the tokens of its reply. A small model is less certain
//! of what it makes up. Only some servers report certainty; without it, every reply is believed.

use spelunk_model::{Prompt, Reply};

use crate::{Frame, Result};

/// The prompt with temperature 0 if the model is small: local servers sample by default, and a
/// small model's likeliest reply is its best.
pub(crate) fn steady(frame: &Frame, prompt: Prompt) -> Prompt {
    Prompt { temperature_millis: frame.reader().is_small().then_some(0), ..prompt }
}

/// Asks a small model for its likeliest reply, and for its certainty; if the server rejects that, asks without.
pub(crate) async fn ask(frame: &Frame, prompt: Prompt) -> Result<Reply> {
    let prompt = steady(frame, prompt);
    match frame.ask(Prompt { wants_certainty: true, ..prompt.clone() }).await {
        Err(error) if error.to_string().contains("logprobs") => frame.ask(prompt).await,
        asked => asked,
    }
}

/// Whether the model considered a token of its reply less likely than this, in thousandths.
pub(crate) fn is_doubtful(reply: &Reply, permille_min: u16) -> bool {
    reply.certainty_permille.is_some_and(|permille| permille < permille_min)
}
