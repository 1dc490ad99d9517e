//! The text of a question: its sentences, those of them that ask, and the names in it.

mod asking;
mod names;
mod sentences;

pub(crate) use self::asking::{questions, told};
pub(crate) use self::names::{first_block, first_program, identifiers_in, names_in};
pub(crate) use self::sentences::sentences;
