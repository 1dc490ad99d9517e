//! Names that are ours inside a session, and how they are kept out of the model's sight.

/// What the names of the prelude and of rewritten code begin with. Cells cannot use such names.
pub(super) const RESERVED: &str = "__sp_";

/// What the name of a host function follows where it is called and waited for.
pub(super) const NOW: &str = "__sp_f_";
/// What it follows where it is called and awaited later.
pub(super) const LATER: &str = "__sp_a_";

/// Whether the host may ask for a variable of this name.
pub(super) fn is_variable(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && chars.all(|char| char.is_alphanumeric() || char == '_')
        && !name.starts_with(RESERVED)
}
