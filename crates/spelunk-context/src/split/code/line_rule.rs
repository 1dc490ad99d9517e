//! Finds definitions by how lines begin, in any language: a keyword at the margin begins a definition, one indented
//! once begins a member. Comments and attributes directly above belong to what follows.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::CutPoint;
use crate::lines::{is_blank, lines};
use crate::pack::Strength;

const MEMBER_INDENT_MAX: usize = 4;

pub(in crate::split) fn places(text: &str) -> Vec<CutPoint> {
    let mut places = Vec::new();
    let mut above: Option<usize> = None;
    for (at, line) in lines(text) {
        let bare = line.trim_ascii_start();
        let indent = line.len() - bare.len();
        if is_blank(line) {
            above = None;
        } else if is_remark(bare) {
            above.get_or_insert(at);
        } else {
            let start = above.take().unwrap_or(at);
            let strength = match indent {
                0 if is_definition(bare) => Some(Strength::Section),
                1..=MEMBER_INDENT_MAX if begins_with_keyword(bare) || is_method(bare) => Some(Strength::Item),
                _ => None,
            };
            places.extend(strength.map(|strength| CutPoint { at: start, strength }));
        }
    }
    places
}

fn is_remark(bare: &[u8]) -> bool {
    const STARTS: [&[u8]; 7] = [b"//", b"/*", b"*", b"#", b"@", b"--", b";;"];
    STARTS.iter().any(|start| bare.starts_with(start)) && !bare.starts_with(b"#include")
}

fn is_definition(bare: &[u8]) -> bool {
    begins_with_keyword(bare) || is_c_function(bare)
}

static KEYWORDS: LazyLock<HashSet<&[u8]>> = LazyLock::new(|| {
    let keywords = "def class function func fn pub impl module export const type interface struct enum trait \
    namespace public private protected internal abstract final static sealed object data \
    defmodule defp defmacro sub procedure create CREATE local macro_rules! async typedef \
    template instance message service rpc override fun open extension protocol record newtype \
    let val task macro begin mod";
    keywords.split(' ').map(str::as_bytes).collect()
});

fn begins_with_keyword(bare: &[u8]) -> bool {
    let length = bare.iter().take_while(|byte| !byte.is_ascii_whitespace() && **byte != b'(').count();
    let word = bare.get(..length).unwrap_or_default();
    length < bare.len() && KEYWORDS.contains(word)
}

const STATEMENTS: [&[u8]; 10] =
    [b"catch", b"if", b"for", b"while", b"switch", b"return", b"else", b"do", b"import", b"from"];

/// `size(): number {`: a name, its parameters, and no statement.
fn is_method(bare: &[u8]) -> bool {
    let (word, rest) = first_word(bare);
    !word.is_empty()
        && rest.starts_with(b"(")
        && rest.trim_ascii_end().ends_with(b"{")
        && !STATEMENTS.contains(&word)
}

/// `int main(int argc) {`: words, a parenthesis, and no statement.
fn is_c_function(bare: &[u8]) -> bool {
    let line = bare.trim_ascii_end();
    let (word, rest) = first_word(bare);
    // `start() {` in a shell.
    if !word.is_empty() && line.ends_with(b"{") && rest.starts_with(b"()") {
        return true;
    }
    let has_two_words = rest.first().is_some_and(|byte| matches!(byte, b' ' | b'*' | b':' | b'\t'));
    !word.is_empty()
        && has_two_words
        && !STATEMENTS.contains(&word)
        && memchr::memchr(b'(', line).is_some()
        && memchr::memchr(b'=', line).is_none()
        && !line.ends_with(b";")
        && !line.ends_with(b",")
}

fn first_word(bare: &[u8]) -> (&[u8], &[u8]) {
    let length = bare.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    bare.split_at(length)
}
