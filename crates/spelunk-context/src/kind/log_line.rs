//! Recognises the line that begins a record of a log.

/// Whether a line begins with a time or a level, perhaps in brackets or after an address.
pub(crate) fn is_log_start(line: &[u8]) -> bool {
    const HEAD_BYTES: usize = 56;
    const LEVELS: [&str; 10] =
        ["TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "ERROR", "FATAL", "CRITICAL", "SEVERE", "PANIC"];
    if matches!(line.first(), None | Some(b' ' | b'\t')) {
        return false;
    }
    let head = line.get(..HEAD_BYTES).unwrap_or(line);
    let bare = head.strip_prefix(b"[").or_else(|| head.strip_prefix(b"<")).unwrap_or(head);
    let has_level = || LEVELS.iter().any(|level| bare.starts_with(level.as_bytes()));
    has_date(head) || has_clock(head) || is_epoch(bare) || has_level()
}

/// `10:59`: two digits each.
fn has_clock(head: &[u8]) -> bool {
    head.windows(5).any(|window| is_pattern(window, b"dd:dd"))
}

/// `2024-01-31` or `2024/01/31`.
fn has_date(head: &[u8]) -> bool {
    head.windows(10).any(|window| is_pattern(window, b"dddd-dd-dd") || is_pattern(window, b"dddd/dd/dd"))
}

fn is_epoch(head: &[u8]) -> bool {
    let n_digits = head.iter().take_while(|byte| byte.is_ascii_digit()).count();
    matches!(n_digits, 10 | 13) && head.first().is_some_and(|&byte| byte == b'1')
}

fn is_pattern(window: &[u8], pattern: &[u8]) -> bool {
    window.iter().zip(pattern).all(|(byte, &wanted)| match wanted {
        b'd' => byte.is_ascii_digit(),
        _ => *byte == wanted,
    })
}
