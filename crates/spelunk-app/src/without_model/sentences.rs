//! Sentences of a passage, and the words that one shares with a question.

use std::ops::Range;

/// A shorter line is not continued by the next one.
const FLOWING_BYTES_MIN: usize = 40;

/// A line of a text that is not blank, with its line ending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) at: Range<usize>,
    kind: LineKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LineKind {
    Blank,
    /// A heading, a rule, the underline of a heading or a fence: it says nothing by itself.
    Frame,
    /// A link and nothing else, as in a table of contents.
    Link,
    /// A line that is complete by itself: an item, a row, code.
    Own,
    /// A line that may continue the one before.
    Flowing,
}

/// The lines of a text.
pub(super) fn lines(text: &str) -> Vec<Line> {
    let (mut at, mut is_code) = (0, false);
    let mut lines: Vec<Line> = Vec::new();
    for piece in text.split_inclusive('\n') {
        let from = at;
        at += piece.len();
        let is_fence = piece.trim_start().starts_with("```");
        is_code ^= is_fence;
        let kind = if is_code && !is_fence { LineKind::Own } else { kind(piece) };
        // The line above is a heading.
        if is_underline(piece.trim_end())
            && let Some(above) = lines.last_mut()
        {
            above.kind = LineKind::Frame;
        }
        lines.push(Line { at: from..at, kind });
    }
    lines
}

/// Whether a line underlines a heading, as in reStructuredText.
fn is_underline(line: &str) -> bool {
    let first = line.chars().next().filter(|first| "=-~^\"'*+#".contains(*first));
    line.len() >= 4 && first.is_some_and(|first| line.chars().all(|c| c == first))
}

fn kind(line: &str) -> LineKind {
    let said = line.trim();
    if said.is_empty() {
        return LineKind::Blank;
    }
    let is_underline = said.chars().all(|c| "=-~^*+_#`.:|".contains(c)) || said.starts_with("```");
    if is_underline || (said.starts_with('#') && said.trim_start_matches('#').starts_with(' ')) {
        return LineKind::Frame;
    }
    let item = ["- ", "* ", "+ "].iter().find_map(|mark| said.strip_prefix(mark));
    let numbered =
        said.split_once(". ").filter(|(n, _)| n.len() < 4 && n.bytes().all(|b| b.is_ascii_digit()));
    let text = item.or(numbered.map(|(_, text)| text)).unwrap_or(said);
    let is_link = text.starts_with('[') && text.ends_with(')') && text.contains("](") && !text.contains(") ");
    if is_link || said.contains(". . .") || said.contains(".....") {
        return LineKind::Link;
    }
    let is_own = item.is_some() || numbered.is_some() || said.starts_with('|') || line.starts_with("    ");
    if is_own { LineKind::Own } else { LineKind::Flowing }
}

/// The sentences of a text. Without prose, each line is one.
pub(super) fn sentences(text: &str, lines: &[Line], is_prose: bool) -> Vec<Range<usize>> {
    let mut blocks: Vec<Range<usize>> = Vec::new();
    let mut goes_on = false;
    for line in lines {
        match line.kind {
            LineKind::Blank | LineKind::Frame | LineKind::Link => {}
            LineKind::Flowing if goes_on && is_prose => {
                if let Some(last) = blocks.last_mut() {
                    last.end = line.at.end;
                }
            }
            LineKind::Own | LineKind::Flowing => blocks.push(line.at.clone()),
        }
        // A short line ends what it says.
        let is_text = matches!(line.kind, LineKind::Own | LineKind::Flowing);
        goes_on = is_text && line.at.len() >= FLOWING_BYTES_MIN;
    }
    blocks.into_iter().flat_map(|block| split(text, block, is_prose)).collect()
}

/// Splits a block after each full stop, question mark or exclamation mark that a space and a capital follow.
fn split(text: &str, block: Range<usize>, is_prose: bool) -> Vec<Range<usize>> {
    let said = text.get(block.clone()).unwrap_or_default();
    let mut parts = Vec::new();
    let mut from = 0;
    let ends = said.char_indices().filter(|(_, c)| is_prose && matches!(c, '.' | '?' | '!'));
    for (at, _) in ends {
        let after = said.get(at + 1..).unwrap_or_default();
        let next = after.trim_start();
        let begins = next.chars().next().is_some_and(|c| c.is_uppercase() || "`\"*[(".contains(c));
        if begins && next.len() < after.len() {
            parts.push(from..at + 1);
            from = at + 1 + (after.len() - next.len());
        }
    }
    parts.push(from..said.trim_end().len().max(from));
    let trimmed = |part: Range<usize>| {
        let lead = said.get(part.clone()).map_or(0, |text| text.len() - text.trim_start().len());
        block.start + part.start + lead..block.start + part.end
    };
    parts.into_iter().map(trimmed).filter(|part| part.start < part.end).collect()
}

/// Words that say nothing about a question.
const STOP_WORDS: &[&str] = &[
    "about", "and", "any", "are", "can", "could", "did", "does", "for", "from", "has", "have", "how", "into",
    "its", "not", "should", "that", "the", "their", "then", "there", "these", "they", "this", "was", "were",
    "what", "when", "where", "which", "while", "who", "why", "will", "with", "would", "you", "your",
];

/// The share of the question's words that a sentence has, from 0 to 1.
pub(super) fn words_shared(question: &str, sentence: &str) -> f32 {
    let (asked, said) = (words(question), words(sentence));
    let n_shared = asked.iter().filter(|asked| said.iter().any(|said| is_same(asked, said))).count();
    #[expect(clippy::cast_precision_loss, reason = "a question has few words")]
    let share = n_shared as f32 / asked.len().max(1) as f32;
    share
}

/// How much of a sentence is words rather than code in backticks, from 0.5 to 1: a list of paths answers little.
pub(super) fn plainness(sentence: &str) -> f32 {
    let in_code: usize = sentence.split('`').skip(1).step_by(2).map(str::len).sum();
    #[expect(clippy::cast_precision_loss, reason = "a sentence is short")]
    let share = in_code as f32 / sentence.len().max(1) as f32;
    1.0 - share / 2.0
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    words.filter(|word| word.chars().count() > 2 && !STOP_WORDS.contains(&word.as_str())).collect()
}

/// Whether two words are forms of one: the shorter is most of the longer and begins it.
fn is_same(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let stem = short.strip_suffix(['e', 's', 'y']).unwrap_or(short);
    let is_plural = long.strip_suffix('s') == Some(short);
    short == long || is_plural || (stem.len() >= 4 && long.starts_with(stem) && long.len() <= stem.len() + 4)
}
