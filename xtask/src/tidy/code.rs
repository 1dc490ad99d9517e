//! Rust source without comments and the content of literals, so that checks see only code. Newlines are kept, so line
//! numbers do not change.

/// Blanks out comments, strings and characters.
pub(crate) fn code_only(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_word_before = code.ends_with(|c: char| c == '_' || c.is_alphanumeric());
        let n_bytes = literal_bytes(rest, is_word_before).unwrap_or(0);
        if n_bytes == 0 {
            code.push(first);
            rest = after(rest, first.len_utf8());
        } else {
            let (blanked, following) = rest.split_at(n_bytes);
            code.extend(blanked.chars().map(|c| if c == '\n' { '\n' } else { ' ' }));
            rest = following;
        }
    }
    code
}

/// The line numbers, from 1, where a string occurs in code.
pub(crate) fn lines_with(code: &str, needle: &str) -> Vec<usize> {
    code.match_indices(needle).map(|(at, _)| line_of(code, at)).collect()
}

/// The line number of a byte offset, from 1.
pub(crate) fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

/// The length of a comment or literal at the start of `rest`; `None` if it starts with code.
fn literal_bytes(rest: &str, is_word_before: bool) -> Option<usize> {
    if rest.starts_with("//") {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return Some(block_comment_bytes(rest));
    }
    if rest.starts_with('"') {
        return Some(string_bytes(rest));
    }
    if rest.starts_with('\'') {
        return character_bytes(rest);
    }
    let is_raw = !is_word_before && ["r\"", "r#", "br\"", "br#"].iter().any(|start| rest.starts_with(start));
    if is_raw { raw_string_bytes(rest) } else { None }
}

fn block_comment_bytes(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut depth = 0_usize;
    let mut at = 0;
    while at < bytes.len() {
        match bytes.get(at..at + 2) {
            Some(b"/*") => {
                depth += 1;
                at += 2;
            }
            Some(b"*/") => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            Some(_) | None => at += 1,
        }
    }
    bytes.len()
}

fn string_bytes(rest: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// A quote begins a character if another follows after a single character or an escape; otherwise it is a lifetime.
fn character_bytes(rest: &str) -> Option<usize> {
    let mut chars = rest.char_indices().skip(1);
    let (_, first) = chars.next()?;
    if first == '\\' {
        chars.next()?;
        return chars.find(|(_, c)| *c == '\'').map(|(at, _)| at + 1);
    }
    match chars.next() {
        Some((at, '\'')) => Some(at + 1),
        Some(_) | None => None,
    }
}

fn raw_string_bytes(rest: &str) -> Option<usize> {
    let opening = rest.find('"')?;
    let marks = rest.get(..opening)?.trim_start_matches(['b', 'r']);
    // `r#name` is an identifier, not a string.
    if !marks.chars().all(|c| c == '#') {
        return None;
    }
    let closing = format!("\"{marks}");
    let inside = after(rest, opening + 1);
    Some(inside.find(&closing).map_or(rest.len(), |at| opening + 1 + at + closing.len()))
}

fn after(text: &str, n_bytes: usize) -> &str {
    text.get(n_bytes..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_become_spaces_and_code_stays() {
        assert_eq!(code_only("a // b\nc"), "a     \nc");
        assert_eq!(code_only("a /* b /* c */\n */ d"), "a             \n    d");
        assert_eq!(code_only(r#"f("a \" b", c)"#), "f(        , c)");
        assert_eq!(code_only("f(r#\"a \" b\"#, c)"), "f(          , c)");
        assert_eq!(code_only("f('\"', '\\'', '\\u{41}')"), "f(   ,     ,         )");
        assert_eq!(code_only("fn f<'a>(x: &'a str)"), "fn f<'a>(x: &'a str)");
        assert_eq!(code_only("let r#type = for\"x\";"), "let r#type = for   ;");
    }

    #[test]
    fn what_never_closes_ends_with_the_file() {
        assert_eq!(code_only("a \"b"), "a   ");
        assert_eq!(code_only("a /* b"), "a     ");
        assert_eq!(code_only("a r#\"b"), "a     ");
        assert_eq!(code_only("'"), "'");
    }

    #[test]
    fn lines_are_counted_from_one() {
        assert_eq!(lines_with("a\nb a\n\na", "a"), [1, 2, 4]);
    }
}
