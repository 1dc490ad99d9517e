//! Percent-encoding, for names within an address.

/// Escapes the characters that are not kept, each byte as `%41`.
pub fn percent_encoded(text: &str, is_kept: impl Fn(char) -> bool) -> String {
    let mut encoded = String::with_capacity(text.len());
    for c in text.chars() {
        if is_kept(c) {
            encoded.push(c);
        } else {
            encoded.extend(c.encode_utf8(&mut [0; 4]).bytes().map(|byte| format!("%{byte:02X}")));
        }
    }
    encoded
}

/// The original text; `None` if an escape is incomplete or the result is not UTF-8.
pub fn percent_decoded(text: &str) -> Option<String> {
    let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => u8::try_from(digit(rest.next())? * 16 + digit(rest.next())?).ok()?,
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_kept_is_escaped_and_comes_back() {
        let ascii = percent_encoded("a b/ü%", |c| c.is_ascii_alphanumeric() || c == '/');
        assert_eq!(ascii, "a%20b/%C3%BC%25");
        assert_eq!(percent_encoded("ü b", char::is_alphanumeric), "ü%20b");
        assert_eq!(percent_decoded(&ascii).as_deref(), Some("a b/ü%"));
        assert_eq!(percent_decoded("%c3%bc").as_deref(), Some("ü"));
        for text in ["%", "%4", "%+1", "%ff", "%ü"] {
            assert_eq!(percent_decoded(text), None, "{text}");
        }
    }
}
