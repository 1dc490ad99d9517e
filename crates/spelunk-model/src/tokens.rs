//! Token estimates, for reserving before a call. The provider's own count is the truth afterwards.

/// An estimate of the tokens of a text that errs on the high side: a token per four ASCII bytes, and one per two bytes
/// of anything else.
pub fn estimate_tokens(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
    let other = text.len() as u64 - ascii;
    ascii.div_ceil(4) + other.div_ceil(2)
}
