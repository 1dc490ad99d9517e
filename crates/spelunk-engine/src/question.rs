//! The text of a question: its sentences, those that explain it, and the names in it.

mod asking;
mod counting;
mod names;
mod sentences;

pub(crate) use self::asking::told;
pub(crate) use self::counting::is_counting;
pub(crate) use self::names::{first_block, first_program, names_in};
pub(crate) use self::sentences::sentences;
