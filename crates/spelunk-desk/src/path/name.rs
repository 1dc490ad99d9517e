//! Sanitises names that others chose: those of attachments and of mounted documents.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::DeskPath;

/// The longest name given to an attachment.
const NAME_BYTES_MAX: usize = 120;

/// How many numbers are tried to make a name unique; a desk and a corpus hold fewer files.
const NAMES_MAX: u64 = 10_000_000;

/// Names that some systems reserve for devices, whatever the extension.
const DEVICES: [&str; 22] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9",
    "lpt1", "lpt2", "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// A name for an attachment that is valid on any system and not taken, ignoring case.
pub fn sanitised_name(given: &str, taken: &BTreeSet<String>) -> String {
    let plain: String = given.chars().filter_map(plain_char).collect();
    let last = plain.rsplit('/').map(trimmed).find(|part| !part.is_empty()).unwrap_or_default();
    let mut name = cut(last, NAME_BYTES_MAX);
    if name.is_empty() {
        "attachment".clone_into(&mut name);
    }
    let stem = name.split('.').next().unwrap_or_default().to_lowercase();
    if DEVICES.contains(&stem.as_str()) {
        name.insert(0, '_');
    }
    unique(&name, |candidate| {
        let lower = candidate.to_lowercase();
        taken.iter().any(|other| other.to_lowercase() == lower)
    })
}

/// What is at a path of a mount so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Taken {
    Free,
    /// A document, which cannot contain anything.
    Document,
    /// A directory with documents.
    Directory,
}

/// The path below `directory` for a document of this name. Components are kept if possible, so that the model finds
/// `src/main.rs` as `src/main.rs`; a component that conflicts with an existing entry gets a number.
pub(crate) fn document_path(directory: &str, name: &str, taken: impl Fn(&str) -> Taken) -> DeskPath {
    let parts = document_parts(name);
    let mut path = directory.to_owned();
    for (idx, part) in parts.iter().enumerate() {
        let wanted = format!("{path}/{part}");
        path = if idx + 1 < parts.len() {
            unique(&wanted, |candidate| taken(candidate) == Taken::Document)
        } else {
            unique(&wanted, |candidate| taken(candidate) != Taken::Free)
        };
    }
    DeskPath(Arc::from(path))
}

fn document_parts(name: &str) -> Vec<String> {
    let plain = |c: char| if is_unprintable(c) || c == '\\' { '_' } else { c };
    let mut parts: Vec<String> = name
        .split('/')
        .map(|part| part.chars().map(plain).collect::<String>())
        .filter(|part| !matches!(part.as_str(), "" | "." | ".."))
        .map(|part| cut(&part, NAME_BYTES_MAX))
        .collect();
    // A path that is too long keeps its end, which is the most informative part.
    let n_parts_max = DeskPath::PARTS_MAX - 4;
    parts.drain(..parts.len().saturating_sub(n_parts_max));
    while parts.iter().map(|part| part.len() + 1).sum::<usize>() > DeskPath::BYTES_MAX - 300 {
        parts.remove(0);
    }
    if parts.is_empty() {
        parts.push("document".to_owned());
    }
    parts
}

/// Characters that end a line, are invisible, or change the text direction.
pub(crate) fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}')
        || ('\u{200b}'..='\u{200f}').contains(&c)
        || ('\u{2028}'..='\u{202e}').contains(&c)
        || ('\u{2060}'..='\u{206f}').contains(&c)
        || ('\u{e0000}'..='\u{e0fff}').contains(&c)
}

/// Normalises a character of an attachment's name: separators become `/`, forbidden characters `_`.
fn plain_char(c: char) -> Option<char> {
    match c {
        '/' | '\\' | '\u{2044}' | '\u{2215}' | '\u{2216}' | '\u{29f8}' | '\u{ff0f}' | '\u{ff3c}' => Some('/'),
        '\u{2024}' | '\u{ff0e}' | '\u{fe52}' => Some('.'),
        '\u{2025}' | '<' | '>' | ':' | '"' | '|' | '?' | '*' => Some('_'),
        c if is_unprintable(c) => None,
        c if c.is_whitespace() => Some(' '),
        c => Some(c),
    }
}

/// Strips the dots and spaces at either end that hide a file or get lost.
fn trimmed(part: &str) -> &str {
    part.trim_matches(|c: char| c == '.' || c.is_whitespace())
}

/// Truncates to `bytes_max`, keeping a short extension.
fn cut(name: &str, bytes_max: usize) -> String {
    if name.len() <= bytes_max {
        return name.to_owned();
    }
    let extension = match name.rsplit_once('.') {
        Some((_, extension)) if extension.len() <= 16 => format!(".{extension}"),
        Some(_) | None => String::new(),
    };
    let room = bytes_max - extension.len();
    let mut stem = String::new();
    for c in name.chars() {
        if stem.len() + c.len_utf8() > room {
            break;
        }
        stem.push(c);
    }
    stem + &extension
}

/// The name, with the first number that makes it unique if necessary.
fn unique(name: &str, is_taken: impl Fn(&str) -> bool) -> String {
    if !is_taken(name) {
        return name.to_owned();
    }
    let at = name.rfind('/').map_or(0, |at| at + 1);
    let (stem, extension) = match name.rfind('.').filter(|&dot| dot > at) {
        Some(dot) => name.split_at(dot),
        None => (name, ""),
    };
    (2..NAMES_MAX)
        .map(|n| format!("{stem}-{n}{extension}"))
        .find(|candidate| !is_taken(candidate))
        .unwrap_or_else(|| name.to_owned())
}
