//! Our reserved names inside a session, and how they are hidden from the model.

/// The prefix of names in the prelude and in rewritten code. Cells cannot use such names.
pub(super) const RESERVED: &str = "__sp_";

/// The prefix of a host function that is called synchronously.
pub(super) const NOW: &str = "__sp_f_";
/// The prefix of a host function that is called and awaited later.
pub(super) const LATER: &str = "__sp_a_";

/// Whether the host may ask for a variable of this name.
pub(super) fn is_variable(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && chars.all(|char| char.is_alphanumeric() || char == '_')
        && !name.starts_with(RESERVED)
}
