//! Formats numbers for people (bytes, tokens, dollars, times) and makes text safe for a terminal.

use std::borrow::Cow;
use std::collections::BTreeMap;

use spelunk_types::truncate;
use unicode_width::UnicodeWidthChar as _;

/// `3.1 MB`, in powers of ten.
pub fn bytes(n: u64) -> String {
    scaled(n, &["B", "kB", "MB", "GB", "TB"], " ")
}

/// `12.3k`.
pub fn tokens(n: u64) -> String {
    scaled(n, &["", "k", "M", "G"], "")
}

fn scaled(n: u64, units: &[&str], space: &str) -> String {
    let mut scale = 0;
    let mut divisor = 1_u64;
    while n / divisor >= 1000 && scale + 1 < units.len() {
        scale += 1;
        divisor = divisor.saturating_mul(1000);
    }
    let unit = units.get(scale).copied().unwrap_or_default();
    let tenths = u128::from(n) * 10 / u128::from(divisor);
    if scale == 0 || tenths >= 1000 {
        format!("{}{space}{unit}", tenths / 10)
    } else {
        format!("{}.{}{space}{unit}", tenths / 10, tenths % 10)
    }
}

/// `$0.08`; with as many digits as are meaningful.
pub fn dollars(microusd: u64) -> String {
    let cents_up = microusd.div_ceil(10_000);
    match microusd {
        0 => "$0.00".to_owned(),
        1..=99 => "<$0.0001".to_owned(),
        100..=99_999 => format!("$0.{:04}", microusd.div_ceil(100)),
        _ => format!("${}.{:02}", cents_up / 100, cents_up % 100),
    }
}

/// `340 ms`, `4.2 s`, `3 min 20 s`.
pub fn time(ms: u64) -> String {
    match ms {
        0..=999 => format!("{ms} ms"),
        1_000..=59_999 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        _ => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1000),
    }
}

/// `1 file`, `2 files`.
pub fn count(n: u64, what: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{n} {what}{plural}")
}

/// `2 hidden, 1 secret, 3 symbolic links`.
pub fn listed(counts: &BTreeMap<String, u64>) -> String {
    let phrase = |(what, n): (&String, &u64)| match what.as_str() {
        "duplicate" => count(*n, "duplicate"),
        "encoding" => format!("{n} in another encoding"),
        "files-max" => format!("{n} beyond the maximum number of files"),
        "no-text" => format!("{n} without text"),
        "no-worker" => format!("{n} without a worker to read them"),
        "special" => count(*n, "special file"),
        "symlink" => count(*n, "symbolic link"),
        "unsafe-name" => format!("{n} with an unsafe name"),
        adjective => format!("{n} {}", adjective.replace('-', " ")),
    };
    counts.iter().map(phrase).collect::<Vec<_>>().join(", ")
}

/// Text without control characters except newline and tab, and with bidirectional controls
/// replaced: no document may move the cursor, set a title or look like another text.
pub fn safe(text: &str) -> String {
    let kept = |c: &char| !c.is_control() || matches!(c, '\n' | '\t');
    text.chars().filter(kept).map(|c| if is_bidi_control(c) { '\u{fffd}' } else { c }).collect()
}

/// Whether a character changes the direction of the text around it, which can make it look like another text.
pub(crate) fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Text for a terminal: control characters except newline and tab, and bidirectional controls, are written as `\u001b`.
/// In JSON that is the same text. Our own colour sequences are kept.
pub fn escaped(text: &str) -> Cow<'_, str> {
    let is_bad = |c: char| (c.is_control() && !matches!(c, '\n' | '\t')) || is_bidi_control(c);
    if !text.contains(is_bad) {
        return Cow::Borrowed(text);
    }
    let (mut shown, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(c) = rest.chars().next() {
        let color = color_len(rest);
        let len = if color > 0 { color } else { c.len_utf8() };
        let (taken, after) = rest.split_at(len);
        if color == 0 && is_bad(c) {
            shown += &format!("\\u{:04x}", u32::from(c));
        } else {
            shown += taken;
        }
        rest = after;
    }
    Cow::Owned(shown)
}

/// The length of a colour sequence at the start of a text; 0 if there is none.
fn color_len(text: &str) -> usize {
    let Some(rest) = text.strip_prefix("\u{1b}[") else { return 0 };
    let parameters = rest.bytes().take_while(|b| b.is_ascii_digit() || *b == b';').count();
    if rest.as_bytes().get(parameters) == Some(&b'm') { parameters + 3 } else { 0 }
}

/// Wraps the text at `width` columns between words. Continuation lines have the indentation of their first
/// line; a word longer than a line stays whole, so that it can be copied. Colour sequences take no space.
pub fn wrapped(text: &str, width: usize) -> String {
    let lines: Vec<String> = text.split('\n').map(|line| wrapped_line(line, width)).collect();
    lines.join("\n")
}

fn wrapped_line(line: &str, width: usize) -> String {
    if columns(line) <= width {
        return line.to_owned();
    }
    let indent = line.len() - line.trim_start().len();
    let (indent, rest) = line.split_at(indent);
    let (mut shown, mut used) = (indent.to_owned(), columns(indent));
    for (idx, word) in rest.split(' ').enumerate() {
        let n_columns = columns(word);
        if idx > 0 && used + 1 + n_columns > width {
            shown.truncate(shown.trim_end().len());
            shown = format!("{shown}\n{indent}");
            used = columns(indent);
        } else if idx > 0 {
            shown.push(' ');
            used += 1;
        }
        shown += word;
        used += n_columns;
    }
    shown
}

/// The columns that a text takes on a terminal, without its colour sequences.
fn columns(text: &str) -> usize {
    let (mut n_columns, mut rest) = (0, text);
    while let Some(c) = rest.chars().next() {
        let color = color_len(rest);
        n_columns += if color > 0 { 0 } else { c.width().unwrap_or_default() };
        rest = rest.get(color.max(c.len_utf8())..).unwrap_or_default();
    }
    n_columns
}

/// The beginning of a text on one line, at most `chars_max` characters.
pub fn head(text: &str, chars_max: usize) -> String {
    let line = safe(text).split_whitespace().collect::<Vec<_>>().join(" ");
    if truncate(&line, chars_max).len() == line.len() {
        return line;
    }
    format!("{}…", truncate(&line, chars_max.saturating_sub(1)).trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_people_write_them() {
        let sizes = [0, 999, 1_000, 3_141_592, 940_000_000, u64::MAX].map(bytes);
        assert_eq!(sizes, ["0 B", "999 B", "1.0 kB", "3.1 MB", "940 MB", "18446744 TB"]);
        assert_eq!([7, 12_345, 2_000_000].map(tokens), ["7", "12.3k", "2.0M"]);
        let costs = [0, 1, 100, 2_345, 99_950, 100_000, 5_000_001].map(dollars);
        assert_eq!(costs, ["$0.00", "<$0.0001", "$0.0001", "$0.0024", "$0.1000", "$0.10", "$5.01"]);
        assert_eq!([7, 4_250, 200_000].map(time), ["7 ms", "4.2 s", "3 min 20 s"]);
        assert_eq!([count(1, "file"), count(0, "file")], ["1 file", "0 files"]);
    }

    #[test]
    fn lines_are_broken_between_words_and_keep_their_indent() {
        assert_eq!(wrapped("one two three", 8), "one two\nthree");
        assert_eq!(wrapped("  one two three\nfour", 9), "  one two\n  three\nfour");
        assert_eq!(wrapped("a/path/that/is/long b", 8), "a/path/that/is/long\nb");
        assert_eq!(wrapped("\u{1b}[1mone\u{1b}[0m two", 7), "\u{1b}[1mone\u{1b}[0m two");
        assert_eq!(wrapped("日本 日本", 5), "日本\n日本");
    }

    #[test]
    fn no_text_reaches_the_terminal_with_its_escapes() {
        assert_eq!(safe("a\u{1b}]0;owned\u{7}b\n\tc\r"), "a]0;ownedb\n\tc");
        assert_eq!(head("one\n two   three", 9), "one two…");
        assert_eq!(head("one two", 9), "one two");
        assert_eq!(safe("a\u{202e}b\u{2066}c\u{200f}d"), "a\u{fffd}b\u{fffd}c\u{fffd}d");
    }

    #[test]
    fn what_was_not_made_safe_is_escaped_and_in_json_means_the_same() {
        assert_eq!(escaped("plain\n\ttext é"), "plain\n\ttext é");
        let color = "\u{1b}[1;31mred\u{1b}[0m";
        assert_eq!(escaped(color), color);
        assert_eq!(
            escaped("\u{1b}]0;owned\u{7} \u{1b}[2J \u{1b}[6n \u{9b}1m \u{202e}x\r\u{7f}\u{1b}"),
            "\\u001b]0;owned\\u0007 \\u001b[2J \\u001b[6n \\u009b1m \\u202ex\\u000d\\u007f\\u001b"
        );
        let json = serde_json::json!({ "a": "\u{202e}\u{9b}\u{7f}\u{1b}[0m" });
        let shown = escaped(&json.to_string()).into_owned();
        assert!(!shown.contains(['\u{202e}', '\u{9b}', '\u{7f}', '\u{1b}']));
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), json);
    }
}
