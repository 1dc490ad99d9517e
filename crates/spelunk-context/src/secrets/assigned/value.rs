//! Locates the value of a name, and classifies its notation.

use std::ops::Range;

use super::{BLANKS_MAX, VALUE_BYTES_MAX};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Written {
    /// In quotes, or between the tags of an element: data.
    Quoted,
    /// Without quotes or blanks, as in shells, environments, URLs and connection strings: data.
    Tight,
    /// Without quotes, to the end of its line: data, or code without a semicolon.
    Bare,
    /// Without quotes, with more text after it; or in quotes within a call.
    Code,
    /// In quotes, next to the quoted name.
    Listed,
}

/// The value assigned to the name at `name`, if any. `line` ends where the line does.
pub(super) fn value_at(line: &[u8], name: &Range<usize>) -> Option<(Range<usize>, Written)> {
    let before = name.start.checked_sub(1).map(|at| line[at]);
    if before == Some(b'/') {
        // It is the last part of a path.
        return None;
    }
    let rest = &line[name.end..];
    let n_escapes = rest.iter().take(ESCAPES_MAX).take_while(|byte| **byte == b'\\').count();
    let is_quoted = rest.get(n_escapes).is_some_and(|byte| is_quote(*byte));
    let mut at = name.end;
    if is_quoted {
        at += n_escapes + 1;
        at += usize::from(line.get(at) == Some(&b']'));
    }
    let blanks = n_blanks(&line[at..]);
    at += blanks;
    let is_flag = line[name.clone()].starts_with(b"--");
    let sign = sign(&line[at..], is_quoted, before == Some(b'<'));
    let (length, is_tight) = match sign {
        Some(Sign::Is(length)) => (length, blanks == 0 && length == 1 && line[at] == b'='),
        Some(Sign::Next(length)) => {
            let at = at + length + n_blanks(&line[at + length..]);
            return string(line, at).flatten().map(|(value, _)| (value, Written::Listed));
        }
        Some(Sign::Element) => return element(line, at + 1),
        None if is_flag && !is_quoted && blanks == 1 => return argument(line, at),
        None => return None,
    };
    at += length;
    let blanks = n_blanks(&line[at..]);
    at += blanks;
    if let Some(found) = string(line, at) {
        return found;
    }
    if !is_quoted && let Some(at) = behind_type(line, at) {
        return string(line, at).flatten();
    }
    if let Some(at) = within_call(line, at) {
        return string(line, at).flatten().map(|(value, _)| (value, Written::Code));
    }
    let is_upper = !line[name.clone()].iter().any(u8::is_ascii_lowercase);
    let is_parameter = matches!(before, Some(b'?' | b'&' | b';'));
    if is_tight && blanks == 0 && (is_upper || is_flag || is_parameter) {
        return bare(line, at, Written::Tight);
    }
    // A quoted member has quoted values.
    if is_quoted { None } else { bare(line, at, Written::Bare) }
}

/// Escapes before a quote, in a string nested in another.
const ESCAPES_MAX: usize = 3;

enum Sign {
    Is(usize),
    /// A comma: arguments of a call, or just a list.
    Next(usize),
    Element,
}

fn sign(rest: &[u8], is_quoted: bool, is_tag: bool) -> Option<Sign> {
    const SIGNS: [&[u8]; 7] = [b"===", b"==", b"=>", b":=", b"?=", b"=", b":"];
    if rest.starts_with(b"::") || rest.starts_with(b"=~") {
        return None;
    }
    if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(sign)) {
        return Some(Sign::Is(sign.len()));
    }
    if rest.starts_with(b">") && (is_tag || is_quoted) {
        return Some(Sign::Element);
    }
    if !is_quoted {
        return None;
    }
    // `name="password" value="…"`, `{"name": "PASSWORD", "value": "…"}`, `put("password", "…")`.
    if rest.starts_with(b"value=") {
        return Some(Sign::Is(6));
    }
    let behind = rest.strip_prefix(b",")?;
    let blanks = n_blanks(behind);
    let member =
        [&b"\"value\":"[..], b"'value':"].into_iter().find(|member| behind[blanks..].starts_with(member));
    Some(match member {
        Some(member) => Sign::Is(1 + blanks + member.len()),
        None => Sign::Next(1),
    })
}

fn n_blanks(rest: &[u8]) -> usize {
    rest.iter().take(BLANKS_MAX).take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

fn argument(line: &[u8], at: usize) -> Option<(Range<usize>, Written)> {
    if let Some(found) = string(line, at) {
        return found;
    }
    let (value, _) = bare(line, at, Written::Tight)?;
    Some((value, Written::Bare))
}

fn element(line: &[u8], at: usize) -> Option<(Range<usize>, Written)> {
    let length = memchr::memchr(b'<', &line[at..])?;
    line[at + length..].starts_with(b"</").then_some((at..at + length, Written::Quoted))
}

/// The quoted string here, with a prefix such as `b`; `Some(None)` if the quote is not closed on its line.
#[expect(clippy::option_option, reason = "no string, and one that does not end, are two things")]
fn string(line: &[u8], at: usize) -> Option<Option<(Range<usize>, Written)>> {
    let prefix = line[at..].iter().take(2).take_while(|byte| b"bBrRuUL@".contains(byte)).count();
    let n_escapes = line[at + prefix..].iter().take(ESCAPES_MAX).take_while(|byte| **byte == b'\\').count();
    let quote_at = at + prefix + n_escapes;
    let quote = *line.get(quote_at).filter(|byte| is_quote(**byte))?;
    let start = quote_at + 1;
    let mut end = start;
    while end < line.len() && end - start <= VALUE_BYTES_MAX {
        let escapes = line[end..].iter().take(ESCAPES_MAX + 1).take_while(|byte| **byte == b'\\').count();
        match line.get(end + escapes) {
            Some(byte) if *byte == quote && escapes <= n_escapes => {
                return Some(Some((start..end, Written::Quoted)));
            }
            // An escaped quote, or another escape.
            Some(_) | None => end += escapes + 1,
        }
    }
    Some(None)
}

/// The start of the string after `: &str =` or `: Optional[str] =`.
fn behind_type(line: &[u8], at: usize) -> Option<usize> {
    const TYPE_BYTES_MAX: usize = 48;
    let is_type = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_&'<>[]:.|?* ".contains(byte);
    let length = line[at..].iter().take(TYPE_BYTES_MAX).take_while(is_type).count();
    let behind = line[at + length..].strip_prefix(b"=").filter(|_| length > 0)?;
    let at = at + length + 1 + n_blanks(behind);
    line.get(at).is_some_and(|byte| is_quote(*byte)).then_some(at)
}

/// The start of the string in `String::from("…")`.
fn within_call(line: &[u8], at: usize) -> Option<usize> {
    const CALL_BYTES_MAX: usize = 48;
    let is_path = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_.:!".contains(byte);
    let length = line[at..].iter().take(CALL_BYTES_MAX).take_while(is_path).count();
    let open = at + length;
    let is_call =
        length > 0 && line.get(open) == Some(&b'(') && line.get(open + 1).is_some_and(|byte| is_quote(*byte));
    is_call.then_some(open + 1)
}

fn bare(line: &[u8], at: usize, written: Written) -> Option<(Range<usize>, Written)> {
    let ends: &[u8] = match written {
        Written::Tight => b"\"'`<>;\\&#",
        Written::Quoted | Written::Bare | Written::Code | Written::Listed => b"\"'`<>;\\,",
    };
    let is_part = |byte: &&u8| (byte.is_ascii_graphic() && !ends.contains(byte)) || !byte.is_ascii();
    let length = line[at..].iter().take(VALUE_BYTES_MAX + 1).take_while(is_part).count();
    let value = at..at + length;
    if written == Written::Tight {
        return Some((value, written));
    }
    if is_expression(&line[value.clone()]) {
        return None;
    }
    let behind = &line[value.end..];
    let blanks = n_blanks(behind);
    let is_last = match behind.get(blanks) {
        None | Some(b'\r') => true,
        Some(b'#') => blanks > 0,
        Some(_) => false,
    };
    if is_last {
        return Some((value, Written::Bare));
    }
    // Enclosing brackets of code are not part of it.
    let is_outside = |byte: &&u8| !b"()[]{}".contains(byte);
    let length = line[value].iter().take_while(is_outside).count();
    let is_called = line.get(at + length).is_some_and(|byte| b"([".contains(byte));
    (!is_called).then_some((at..at + length, Written::Code))
}

fn is_expression(value: &[u8]) -> bool {
    let name_bytes =
        value.iter().take_while(|byte| byte.is_ascii_alphabetic() || b"_.:!".contains(byte)).count();
    let (name, behind) = value.split_at(name_bytes);
    let is_path = memchr::memchr2(b'.', b':', name.trim_ascii()).is_some_and(|at| at > 0);
    let is_applied = matches!(behind.first(), Some(b'(' | b'[' | b'{'))
        && behind.last().is_some_and(|byte| b"()[]{}:,".contains(byte));
    !name.is_empty()
        && ((is_path && behind.is_empty())
            || is_applied
            || (is_path && matches!(behind, b")" | b"]" | b"}" | b"?")))
}
