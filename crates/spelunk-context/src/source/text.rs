//! Text that came with the request, such as standard input. It has a name but no path.

use crate::name::printable_text;

/// The name a text is cited by; one without a name is `text`.
pub(crate) fn name(given: &str) -> String {
    let name = printable_text(given.trim());
    if name.is_empty() { "text".to_owned() } else { name }
}
