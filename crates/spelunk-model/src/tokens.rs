//! Token estimates, for reserving budget before a call. Afterwards the provider's own count applies.

/// Estimates the tokens of a text: one per four ASCII bytes, and one per two bytes of anything else. Close for prose.
/// The path of a run depends on it, so the formula must not change.
pub fn estimate_tokens(text: &str) -> u64 {
    let ascii = text.bytes().filter(u8::is_ascii).count() as u64;
    let other = text.len() as u64 - ascii;
    ascii.div_ceil(4) + other.div_ceil(2)
}

/// A higher estimate, for cost. Tokenizers split numbers into one to three digits and give punctuation a token each, so
/// tables, hashes and code have more tokens than prose of the same length. Here two digits, two punctuation characters
/// in a row or two capitals are a token; prose comes out a tenth higher.
pub fn estimate_tokens_high(text: &str) -> u64 {
    let (mut n_plain, mut n_capital, mut n_other, mut tokens) = (0_u64, 0_u64, 0_u64, 0_u64);
    let mut run = (Class::Plain, 0_u64);
    for byte in text.bytes() {
        let class = Class::of(byte);
        let len = if run.0 == class { run.1 + 1 } else { 1 };
        match class {
            Class::Plain => n_plain += 1,
            Class::Capital => n_capital += 1,
            Class::Other => n_other += 1,
            // The first of each pair.
            Class::Digit | Class::Sign => tokens += len % 2,
        }
        run = (class, len);
    }
    tokens + n_plain.div_ceil(4) + n_capital.div_ceil(2) + n_other.div_ceil(2)
}

/// Character classes that tokenizers treat alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Lowercase letters and spaces.
    Plain,
    Capital,
    Digit,
    Sign,
    /// Not ASCII.
    Other,
}

impl Class {
    fn of(byte: u8) -> Self {
        match byte {
            b'0'..=b'9' => Self::Digit,
            b'A'..=b'Z' => Self::Capital,
            byte if byte.is_ascii_punctuation() => Self::Sign,
            byte if byte.is_ascii() => Self::Plain,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{estimate_tokens, estimate_tokens_high};

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

    /// Compared with a tokenizer that takes three digits and one punctuation character at a time.
    #[test]
    fn numbers_tables_and_hashes_are_not_counted_as_prose() {
        // 202 6 - 11 - 16 , 173 . 25 , 88 and the newline are 13.
        assert_eq!(estimate_tokens_high("2026-11-16,173.25,88\n"), 14);
        assert_eq!(estimate_tokens("2026-11-16,173.25,88\n"), 6);
        assert_eq!(estimate_tokens_high("7,8,9,"), 6);
        assert_eq!(estimate_tokens_high("7f3a9c0e51d24b68"), 9);
        // Repeated punctuation is cheap.
        assert_eq!(estimate_tokens_high("--------"), 4);
        assert_eq!(estimate_tokens_high(r#"{"name":"abc","age":30}"#), 11);
        assert_eq!(estimate_tokens_high("HTTP"), 2);
        assert_eq!(estimate_tokens_high(""), 0);
        assert_eq!(estimate_tokens_high("日本"), 3);
        let prose = "The harbour was quiet, and nobody had seen the boat since Tuesday. ".repeat(20);
        assert_eq!((estimate_tokens(&prose), estimate_tokens_high(&prose)), (335, 375));
    }
}
