//! Support: which sentences of the shown text support an answer. A sentence supports it if it contains a
//! value of the answer (a number, a name, a path) or, if it has none, most of its words, and shares words with the question.
//! Sentences continue over wrapped lines; headings, list items and table rows are blocks of their own.

use std::collections::HashMap;

use spelunk_types::Citation;

const CITATIONS_MAX: usize = 3;
const QUOTE_CHARS_MAX: usize = 300;

#[derive(Debug, Clone)]
pub(crate) struct Excerpt {
    pub(crate) document: String,
    pub(crate) line_start: u64,
    pub(crate) text: String,
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Support {
    /// The sentences that support it, best first.
    pub(crate) citations: Vec<Citation>,
    /// The values of the answer that are neither in the shown text nor in the question.
    pub(crate) unknown_values: Vec<String>,
}

pub(crate) fn support(question: &str, answer: &str, excerpts: &[Excerpt]) -> Support {
    let sentences: Vec<Sentence<'_>> = excerpts.iter().flat_map(sentences_of).collect();
    let mut values = values(question, answer);
    // A Chinese answer to an English text contains words that the text cannot contain.
    if !excerpts.iter().any(|excerpt| excerpt.text.chars().any(is_unspaced)) {
        values.retain(|value| !value.chars().any(is_unspaced));
    }
    let has_values = values.iter().any(|value| is_distinctive(value));
    let is_shown =
        |value: &&String| excerpts.iter().any(|excerpt| contains_value(&excerpt.text, value.as_str()));
    let (known, mut unknown): (Vec<&String>, Vec<&String>) = values.iter().partition(is_shown);
    // An answer in other words than the text's is not made up.
    if !has_values && unknown.len() <= known.len() {
        unknown.clear();
    }
    let asked = content_words(question);
    let weights = weights(&asked, &sentences);
    let mut rated: Vec<(f64, &Sentence<'_>)> = Vec::new();
    for sentence in &sentences {
        let n_values = known.iter().filter(|value| contains_value(&sentence.text, value.as_str())).count();
        let shared: f64 = words(&sentence.text).filter_map(|word| weights.get(&word)).sum();
        // One word of several proves little: "the legal team" is not "the finance team".
        let n_values_min = if has_values { 1 } else { (2 * values.len()).div_ceil(3).max(1) };
        if n_values >= n_values_min && shared > 0.0 {
            #[expect(clippy::cast_precision_loss, reason = "values are few")]
            rated.push((n_values as f64 * VALUE_WEIGHT + shared, sentence));
        }
    }
    rated.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let best = rated.first().map_or(0.0, |(rating, _)| *rating);
    let near = rated.iter().filter(|(rating, _)| *rating * 2.0 >= best);
    Support {
        citations: near.take(CITATIONS_MAX).map(|(_, sentence)| sentence.citation()).collect(),
        unknown_values: unknown.into_iter().cloned().collect(),
    }
}

/// A value weighs as much as this many units of rare words.
const VALUE_WEIGHT: f64 = 2.0;

/// A sentence, or a line of text without sentences.
#[derive(Debug, PartialEq, Eq)]
struct Sentence<'e> {
    document: &'e str,
    line: u64,
    /// On one line.
    text: String,
}

impl Sentence<'_> {
    fn citation(&self) -> Citation {
        let quote = self.text.chars().take(QUOTE_CHARS_MAX).collect::<String>();
        Citation { document: self.document.to_owned(), line: self.line, quote: quote.trim_end().to_owned() }
    }
}

fn sentences_of(excerpt: &Excerpt) -> Vec<Sentence<'_>> {
    let mut sentences = Vec::new();
    let (mut block, mut block_line) = (String::new(), excerpt.line_start);
    // The offsets in the block at which its lines begin.
    let mut starts: Vec<usize> = Vec::new();
    let mut close = |block: &mut String, starts: &mut Vec<usize>, first: u64| {
        for (start, text) in split(block) {
            let line = starts.partition_point(|line_start| *line_start <= start).saturating_sub(1);
            let line = first + line as u64;
            sentences.push(Sentence { document: &excerpt.document, line, text: text.to_owned() });
        }
        block.clear();
        starts.clear();
    };
    for (line, text) in (excerpt.line_start..).zip(excerpt.text.lines()) {
        let text = text.trim();
        let continues = !starts.is_empty() && continues_block(text) && block.len() < BLOCK_BYTES_MAX;
        if !continues {
            close(&mut block, &mut starts, block_line);
            block_line = line;
        }
        if text.is_empty() {
            continue;
        }
        if !block.is_empty() {
            block.push(' ');
        }
        starts.push(block.len());
        block.push_str(text);
    }
    close(&mut block, &mut starts, block_line);
    sentences
}

/// Longer blocks are not prose.
const BLOCK_BYTES_MAX: usize = 4_000;

/// Whether a line may continue the sentence of the line before it: running text does; headings, list items, table rows
/// and code do not.
fn continues_block(line: &str) -> bool {
    let Some(first) = line.chars().next() else { return false };
    let is_item = |line: &str| {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        rest.len() < line.len() && rest.starts_with(['.', ')'])
    };
    let is_code = line.ends_with([';', '{', '}', ')', ':', ',']) && line.contains(['=', '(', '{', '"']);
    (first.is_alphabetic() || matches!(first, '(' | '"' | '\'' | '`' | '“') || first.is_ascii_digit())
        && !is_item(line)
        && !is_code
}

/// The sentences of a block with their offsets. CJK sentences end without a space.
fn split(block: &str) -> Vec<(usize, &str)> {
    let mut cuts = vec![0];
    for (idx, c) in block.char_indices() {
        let end = idx + c.len_utf8();
        let rest = block.get(end..).unwrap_or_default();
        let begins_anew = rest.strip_prefix(' ').is_some_and(|rest| {
            rest.starts_with(|c: char| c.is_uppercase() || !c.is_ascii() || "\"'(`".contains(c))
        });
        if matches!(c, '。' | '！' | '？') || (matches!(c, '.' | '?' | '!') && begins_anew) {
            cuts.push(end);
        }
    }
    cuts.push(block.len());
    let pieces = cuts.windows(2).filter_map(|pair| {
        let text = block.get(pair[0]..pair[1])?;
        let start = pair[0] + (text.len() - text.trim_start().len());
        Some((start, text.trim())).filter(|(_, text)| !text.is_empty())
    });
    pieces.collect()
}

/// The values of an answer: distinctive words that are not in the question. If there are none, its other words.
fn values(question: &str, answer: &str) -> Vec<String> {
    let asked = question.to_lowercase();
    let is_new = |word: &str| !contains_value(&asked, &word.to_lowercase());
    let (mut values, mut begins_sentence) = (Vec::new(), true);
    let answer = without_separators(answer);
    for (word, ends_sentence) in tokens(&answer) {
        let is_name = word.starts_with(char::is_uppercase) && !begins_sentence;
        if (is_distinctive(word) || is_name) && is_new(word) {
            values.push(word.to_owned());
        }
        begins_sentence = ends_sentence;
    }
    if values.is_empty() {
        values.extend(content_words(&answer).into_iter().filter(|word| is_new(word)));
    }
    values.sort_unstable();
    values.dedup();
    values
}

/// Whether a word is a number, a path, an identifier or an abbreviation.
fn is_distinctive(word: &str) -> bool {
    word.contains(|c: char| c.is_ascii_digit())
        || word.chars().skip(1).any(|c| "_/.@".contains(c) || c.is_uppercase())
}

/// The words of an answer, and whether a sentence ends after each. Words of a script without spaces end where another
/// script begins.
fn tokens(answer: &str) -> Vec<(&str, bool)> {
    let is_part = |c: char| c.is_alphanumeric() || "_./:@+-".contains(c);
    let mut tokens = Vec::new();
    for word in answer.split(|c: char| !is_part(c)) {
        let mut rest = word;
        while let Some(first) = rest.chars().next() {
            let is_first = is_unspaced(first);
            let end = rest.find(|c| is_unspaced(c) != is_first).unwrap_or(rest.len());
            let (token, behind) = rest.split_at(end);
            let bare = token.trim_matches(|c: char| !(c.is_alphanumeric() || "/_".contains(c)));
            if !bare.is_empty() {
                tokens.push((bare, token.ends_with(['.', ':'])));
            }
            rest = behind;
        }
    }
    tokens
}

/// Whether a text contains a value as separate words, ignoring case and thousands separators.
fn contains_value(text: &str, value: &str) -> bool {
    contains_word(&without_separators(text).to_lowercase(), &without_separators(value).to_lowercase())
}

/// The text without the commas of numbers such as 1,500.
fn without_separators(text: &str) -> String {
    let bytes = text.as_bytes();
    let is_digit = |idx: usize| bytes.get(idx).is_some_and(u8::is_ascii_digit);
    let is_separator = |idx: usize| {
        bytes[idx] == b','
            && idx > 0
            && is_digit(idx - 1)
            && (1..=3).all(|n| is_digit(idx + n))
            && !is_digit(idx + 4)
    };
    text.char_indices().filter(|(idx, _)| !is_separator(*idx)).map(|(_, c)| c).collect()
}

/// Whether a text contains a word as a separate word; a number is no part of another one. Scripts without spaces have no
/// separate words.
fn contains_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| (c.is_alphanumeric() && !is_unspaced(c)) || c == '_';
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    // Whether the word continues with these two characters.
    let goes_on = |edge: Option<char>, first: Option<char>, second: Option<char>| {
        first.is_some_and(|c| is_part(c) || is_digit(edge) && ".,".contains(c) && is_digit(second))
    };
    !word.is_empty()
        && text.match_indices(word).any(|(start, _)| {
            let (before, after) = text.split_at(start);
            let (mut before, mut after) = (before.chars().rev(), after.chars().skip(word.chars().count()));
            !goes_on(word.chars().next(), before.next(), before.next())
                && !goes_on(word.chars().next_back(), after.next(), after.next())
        })
}

/// Whether a letter belongs to a script that does not separate words by spaces.
fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c), 0x0E00..=0x0EFF | 0x1000..=0x109F | 0x2E80..=0x9FFF | 0xF900..=0xFAFF | 0xFF66..=0xFF9F | 0x20000..=0x3FFFF)
}

/// The rarer a word of the question is among the sentences, the more it weighs; a word of every
/// other sentence weighs nothing, so no list of stop words is needed.
fn weights(asked: &[String], sentences: &[Sentence<'_>]) -> HashMap<String, f64> {
    let n = sentences.len().max(1);
    let weight = |word: &String| {
        let n_with =
            sentences.iter().filter(|sentence| words(&sentence.text).any(|other| other == *word)).count();
        #[expect(clippy::cast_precision_loss, reason = "sentences are few")]
        let weight = ((n + 2) as f64 / (2 * n_with.max(1)) as f64).ln().max(0.0);
        (n_with > 0 && weight > 0.0).then(|| (word.clone(), weight))
    };
    asked.iter().filter_map(weight).collect()
}

/// The distinct words of a text that may indicate its subject.
fn content_words(text: &str) -> Vec<String> {
    let mut all: Vec<String> =
        words(text).filter(|word| word.chars().count() > 2 || !word.is_ascii()).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

#[cfg(test)]
mod tests;
