//! Secrets: files are excluded by name, and secrets in text are recognised by form and replaced. What is replaced
//! depends on nothing further away than [`REDACT_REACH_BYTES`], so it does not matter how a text is split.

mod assigned;
mod find;
mod line;
mod mapped_text;
mod names;
mod redact;
mod rules;
mod secret_filters;
mod watch;
mod words;

pub use find::{REDACT_REACH_BYTES, SecretSpan, find_secrets};
pub(crate) use line::{KEY_HEAD, key_bodies, secrets_in, secrets_in_line};
pub(crate) use mapped_text::{MASK, MappedText, count_chars, incomplete_bytes, may_begin_char};
pub(crate) use names::{is_secret, is_secret_place};
pub(crate) use redact::marks_in;
pub use redact::{Redaction, redact};
pub(crate) use watch::{SecretTally, SecretWatch, Sought};
