//! Rust source without comments and the content of strings, so that checks see only code. Newlines are kept, so line
//! numbers do not change. It works line by line: block comments and the lines of a longer string count as code.

/// Removes line comments and strings.
pub(crate) fn code_only(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    for line in text.lines() {
        let line = line.replace("\\\\", "").replace("'\"'", "").replace("\\\"", "");
        for (idx, part) in line.split('"').enumerate() {
            // Every second part is in a string, unless a comment began before.
            if idx % 2 == 0 {
                let before = part.split("//").next().unwrap_or_default();
                code.push_str(before);
                if before.len() < part.len() {
                    break;
                }
            }
        }
        code.push('\n');
    }
    code
}

/// A file up to its inline tests.
pub(crate) fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or(text)
}

/// The line number of a byte offset, from 1.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// The words of a line of code.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c != '_' && !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_strings_are_removed_and_code_stays() {
        assert_eq!(code_only("a // b\nc"), "a \nc\n");
        assert_eq!(code_only(r#"f("a \" b", c)"#), "f(, c)\n");
        assert_eq!(code_only("f('\"', b)"), "f(, b)\n");
        assert_eq!(code_only(r#"f("http://a", b) // c"#), "f(, b) \n");
        assert_eq!(code_only(r#"f("a\\", b, "c")"#), "f(, b, )\n");
        assert_eq!(code_only("fn f<'a>(x: &'a str)"), "fn f<'a>(x: &'a str)\n");
        assert_eq!(code_only("a \"b\nc"), "a \nc\n");
    }
}
