//! Chooses the first strategy of a run by the size of its text. A database is always queried.

use spelunk_context::{Outline, estimate_tokens};
use spelunk_types::{Limits, Strategy};

use crate::ModelCapacity;

/// The strategy to begin with. `is_typed`: the answer must match a schema.
pub fn first_strategy(outline: &Outline, limits: &Limits, reader: ModelCapacity, is_typed: bool) -> Strategy {
    if outline.documents == 0 {
        Strategy::Direct
    } else if is_typed {
        Strategy::Repl
    } else if outline.databases == 0
        && estimate_tokens(outline.bytes) <= reader.span(limits.direct_tokens_max)
    {
        Strategy::Direct
    } else {
        Strategy::Auto
    }
}
