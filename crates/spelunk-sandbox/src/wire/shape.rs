//! Checks the shape of a frame before it is parsed: how many values it contains and how deeply they are nested. A short
//! frame can describe a huge tree (`[[],[],…`), which the parser would build.

use super::WireError;

/// The maximum number of values in one frame. At some 50 bytes each, this bounds the cost of a hostile frame.
pub(crate) const VALUES_MAX: usize = 8_000_000;
/// The maximum nesting, one less than where the parser stops.
pub(crate) const BRACKETS_MAX: usize = 127;

/// Refuses a frame that would be too expensive to parse. Any other fault is left to the parser.
pub(crate) fn check(body: &[u8]) -> Result<(), WireError> {
    let (mut n_values, mut depth) = (1_usize, 0_usize);
    let mut is_text = false;
    let mut is_escaped = false;
    for byte in body {
        if is_text {
            is_text = is_escaped || *byte != b'"';
            is_escaped = !is_escaped && *byte == b'\\';
            continue;
        }
        match byte {
            b'"' => is_text = true,
            b',' => n_values += 1,
            b'[' | b'{' => {
                n_values += 1;
                depth += 1;
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > BRACKETS_MAX {
            return Err(WireError::Size(format!("nested deeper than {BRACKETS_MAX}")));
        }
        if n_values > VALUES_MAX {
            return Err(WireError::Size(format!("of more than {VALUES_MAX} values")));
        }
    }
    Ok(())
}
