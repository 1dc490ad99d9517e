//! Truncates text for the model: the head, a line that reports what is missing, and the tail.

/// The head's share of the available size; the tail gets the rest.
const HEAD_SHARE: (usize, usize) = (2, 3);

/// The text, or its head and tail with a line between them that reports what was left out. `how` ends that line.
pub(crate) fn bounded(text: &str, bytes_max: u64, how: &str) -> String {
    let bytes_max = usize::try_from(bytes_max).unwrap_or(usize::MAX);
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let room = bytes_max * HEAD_SHARE.0 / HEAD_SHARE.1;
    let head = text.get(..text.floor_char_boundary(room)).unwrap_or_default();
    let head = whole_lines(head).unwrap_or(head);
    let from = text.ceil_char_boundary(text.len() - (bytes_max - room));
    let tail = text.get(from..).unwrap_or_default();
    let tail = tail
        .split_once('\n')
        .map(|(_, rest)| rest)
        .filter(|rest| rest.len() * 2 > tail.len())
        .unwrap_or(tail);
    let left_out = text.get(head.len()..text.len() - tail.len()).unwrap_or_default();
    let n_lines = left_out.matches('\n').count();
    let end = if head.ends_with('\n') { "" } else { "\n" };
    format!("{head}{end}[… {n_lines} lines, {} bytes omitted; {how} …]\n{tail}", left_out.len())
}

/// At most `chars_max` characters, with `…` if there are more.
pub(crate) fn shortened(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        None => text.to_owned(),
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
    }
}

/// Like `shortened`, on one line: newlines are escaped.
pub(crate) fn on_one_line(text: &str, chars_max: usize) -> String {
    shortened(text, chars_max).replace('\n', "\\n").replace('\r', "\\r")
}

/// `1 file`, `2 files`.
pub(crate) fn counted(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// Everything up to and including the last newline, if that is most of the text.
fn whole_lines(text: &str) -> Option<&str> {
    let end = text.rfind('\n')? + 1;
    text.get(..end).filter(|kept| kept.len() * 2 > text.len())
}

#[cfg(test)]
mod tests;
