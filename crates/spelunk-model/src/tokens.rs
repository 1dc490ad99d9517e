//! Token estimates, for reserving before a call. The provider's own count is the truth afterwards.

/// An estimate of the tokens of a text that errs on the high side: a token per four ASCII bytes, and one per two bytes
/// of anything else.
pub fn estimate_tokens(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
    let other = text.len() as u64 - ascii;
    ascii.div_ceil(4) + other.div_ceil(2)
}

#[cfg(test)]
mod tests {
    use super::estimate_tokens;

    #[test]
    fn ascii_counts_a_quarter_of_a_token_per_byte_and_the_rest_half() {
        assert_eq!(estimate_tokens(""), 0);
        assert_eq!(estimate_tokens("a"), 1);
        assert_eq!(estimate_tokens("abcd"), 1);
        assert_eq!(estimate_tokens("abcde"), 2);
        assert_eq!(estimate_tokens("äö"), 2);
        assert_eq!(estimate_tokens("日本"), 3);
        assert_eq!(estimate_tokens("abcd日本"), 4);
    }
}
