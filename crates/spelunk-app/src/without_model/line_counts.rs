//! Counts of lines, for the questions of a small closed grammar: `how many ERROR lines are in app.log?`, `how many lines
//! contain the word gateway?`, `which file has the most ERROR lines?`. With any other word, nothing is counted: a word that
//! was not understood would make the count wrong.

use std::collections::HashMap;

use spelunk_context::{DocEntry, RowTable, View};

use super::computed::{BYTES_MAX, Computed, Order, ROWS_MAX};
use crate::units::count;

/// The names of each level; the single letters occur only in logs.
const LEVELS: [&[&str]; 9] = [
    &["trace"],
    &["debug", "d"],
    &["info", "i"],
    &["notice"],
    &["warn", "warning", "w"],
    &["error", "err", "e"],
    &["fatal", "f"],
    &["critical", "crit"],
    &["severe"],
];
const LEVEL_COLUMNS: [&str; 4] = ["level", "severity", "loglevel", "lvl"];

const OPENINGS: &[&str] =
    &["how many", "count all", "count the", "count", "what is the number of", "number of"];
const CONTAIN: &[&str] =
    &["contain", "that contain", "containing", "mention", "that mention", "mentioning", "with"];

/// The count that a question asks for; `None` if a word of it is not understood.
pub(super) fn count_lines(view: &View, question: &str) -> Option<Computed> {
    let asked = LinesAsked::of(view, question)?;
    let level = asked.terms.iter().find(|term| matches!(term, Term::Level { .. }));
    let (mut n_lines, mut n_with_word, mut n_with_levels) = (0_u64, 0_u64, 0_usize);
    let mut by_file: Vec<(&str, u64)> = Vec::new();
    for document in &asked.documents {
        let text = view.read(document).ok()?;
        let levels = level.and_then(|_| levels(view, document));
        n_with_levels += usize::from(levels.is_some());
        let mut n_found = 0;
        for (line, number) in text.lines().zip(1..) {
            let own = levels.as_ref().map(|levels| levels.get(&number));
            n_lines += 1;
            n_found += u64::from(asked.terms.iter().all(|term| match (term, own) {
                (Term::Level { level, .. }, Some(own)) => own == Some(level),
                (Term::Level { .. } | Term::Word { .. } | Term::Text(_), _) => term.is_in(line),
            }));
            n_with_word += u64::from(level.is_some_and(|term| term.is_in(line)));
        }
        by_file.push((&document.name, n_found));
    }
    let n_found: u64 = by_file.iter().map(|(_, n_found)| n_found).sum();
    // A word that is nowhere may have been meant otherwise.
    if n_found == 0 && asked.terms.iter().any(|term| !term.is_certain(n_with_levels)) {
        return None;
    }
    let named: Vec<String> =
        asked.terms.iter().map(|term| term.shown(n_with_levels, by_file.len())).collect();
    let place = match by_file.as_slice() {
        [(name, _)] => format!("`{name}`"),
        _ => format!("{} files", by_file.len()),
    };
    let mut how = if named.is_empty() {
        format!("lines in {place}")
    } else {
        format!("lines with {}, of {} in {place}", named.join(" and "), count(n_lines, "line"))
    };
    if let [Term::Level { word, .. }] = asked.terms.as_slice()
        && n_with_word != n_found
    {
        how += &format!("; {n_with_word} contain the word `{word}`");
    }
    let value = match asked.file {
        None => n_found.to_string(),
        Some(order) => extreme(&by_file, order)?,
    };
    Some(Computed::Result { value, how })
}

/// The files with the most or fewest lines: `app.log: 131`.
fn extreme(by_file: &[(&str, u64)], order: Order) -> Option<String> {
    let counts = by_file.iter().map(|(_, n_found)| *n_found);
    let best = match order {
        Order::Falling => counts.max().filter(|most| *most > 0),
        Order::Rising => counts.min(),
    }?;
    let files = by_file.iter().filter(|(_, n_found)| *n_found == best);
    let mut shown: Vec<String> = files.map(|(name, n_found)| format!("{name}: {n_found}")).collect();
    if shown.len() > ROWS_MAX {
        shown.truncate(ROWS_MAX);
        shown.push("…".to_owned());
    }
    Some(shown.join(", "))
}

struct LinesAsked<'v> {
    /// Whether the file with the most or fewest lines is asked for.
    file: Option<Order>,
    /// What a line must have, all of it.
    terms: Vec<Term>,
    documents: Vec<&'v DocEntry>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Term {
    /// A level of a log, as an index of `LEVELS`; in a document without levels, the word.
    Level { level: usize, word: String },
    /// A whole word, in any case.
    Word { word: String, is_said: bool },
    /// A text in quotes, exactly.
    Text(String),
}

impl<'v> LinesAsked<'v> {
    /// `(how many|count|which file has the most) [LEVEL|"TEXT"] lines [are there] [in FILE] [contain TERM] [in FILE]`.
    fn of(view: &'v View, question: &str) -> Option<Self> {
        let tokens = tokens(question)?;
        let mut left = tokens.as_slice();
        let file = if take(&mut left, &["which file has the most"]) {
            Some(Order::Falling)
        } else if take(&mut left, &["which file has the fewest"]) {
            Some(Order::Rising)
        } else if take(&mut left, OPENINGS) {
            None
        } else {
            return None;
        };
        let mut terms = Vec::new();
        if !take(&mut left, &["lines", "line"]) {
            terms.push(term(&mut left).filter(|term| !matches!(term, Term::Word { .. }))?);
            if !take(&mut left, &["lines", "line"]) {
                return None;
            }
        }
        take(&mut left, &["are there", "there are"]);
        let mut documents = None;
        if take(&mut left, &["in", "are in"]) {
            documents = Some(place(view, &mut left)?);
        }
        if take(&mut left, CONTAIN) {
            terms.push(term(&mut left)?);
        }
        if documents.is_none() && take(&mut left, &["in"]) {
            documents = Some(place(view, &mut left)?);
        }
        let documents = documents.unwrap_or_else(|| view.documents().collect());
        let is_read = left.is_empty() && !documents.is_empty() && !view.has_databases();
        is_read.then_some(Self { file, terms, documents })
    }
}

struct Token<'q> {
    text: &'q str,
    is_quoted: bool,
}

/// `None` if quotes are not closed.
fn tokens(question: &str) -> Option<Vec<Token<'_>>> {
    let mut tokens = Vec::new();
    let mut rest = question.trim_end_matches(|c: char| c.is_whitespace() || "?.!".contains(c)).trim_start();
    while let Some(first) = rest.chars().next() {
        let is_quoted = matches!(first, '"' | '`');
        let (text, behind) = if is_quoted {
            rest.get(1..)?.split_once(first)?
        } else {
            rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len()))
        };
        tokens.push(Token { text, is_quoted });
        rest = behind.trim_start();
    }
    Some(tokens)
}

/// Takes the first of these phrases that comes next.
fn take(left: &mut &[Token<'_>], phrases: &[&str]) -> bool {
    for phrase in phrases {
        let Some((next, behind)) = left.split_at_checked(phrase.split(' ').count()) else { continue };
        let is_it =
            |(token, known): (&Token<'_>, &str)| !token.is_quoted && token.text.eq_ignore_ascii_case(known);
        if next.iter().zip(phrase.split(' ')).all(is_it) {
            *left = behind;
            return true;
        }
    }
    false
}

/// What a line must have: `ERROR`, `the level error`, `gateway`, `the word gateway`, `"gave up"`.
fn term(left: &mut &[Token<'_>]) -> Option<Term> {
    let (is_level, is_said) =
        (take(left, &["the level", "level"]), take(left, &["the word", "word", "the text", "text"]));
    let (token, behind) = left.split_first()?;
    *left = behind;
    let word = token.text.to_owned();
    if token.is_quoted {
        return (!is_level && !word.is_empty()).then_some(Term::Text(word));
    }
    let singular = word.strip_suffix(['s', 'S']).unwrap_or(&word);
    let level = level(&word).or_else(|| level(singular)).filter(|_| word.len() > 1 && !is_said);
    if let Some(level) = level {
        return Some(Term::Level { level, word });
    }
    let is_word = word.chars().all(|c| c.is_alphanumeric() || "_-".contains(c))
        && word.starts_with(|c: char| c.is_alphanumeric())
        // A date, such as `2026-03-02`.
        && !(word.starts_with(|c: char| c.is_ascii_digit()) && word.contains('-'));
    (is_word && !is_level).then_some(Term::Word { word, is_said })
}

/// `app.log`, `the file app.log`, `the logs`.
fn place<'v>(view: &'v View, left: &mut &[Token<'_>]) -> Option<Vec<&'v DocEntry>> {
    if take(left, &["the logs", "the files", "all logs", "all files", "these logs", "these files"]) {
        return Some(view.documents().collect());
    }
    let is_one = take(left, &["the file", "the log", "this file", "this log", "file"]);
    let is_named = |document: &&DocEntry, name: &str| {
        document.name.strip_suffix(name).is_some_and(|above| above.is_empty() || above.ends_with('/'))
    };
    let named: Vec<&DocEntry> = match left.first() {
        Some(token) => view.documents().filter(|document| is_named(document, token.text)).collect(),
        None => Vec::new(),
    };
    match named.as_slice() {
        [_] => {
            *left = left.get(1..)?;
            Some(named)
        }
        _ => (is_one && view.documents().len() == 1).then(|| view.documents().collect()),
    }
}

fn level(word: &str) -> Option<usize> {
    LEVELS.iter().position(|names| names.iter().any(|name| name.eq_ignore_ascii_case(word)))
}

/// The levels of the lines of a document; `None` if its format has none.
fn levels(view: &View, document: &DocEntry) -> Option<HashMap<u64, usize>> {
    let rows = RowTable::of(&view.only([document.idx]), BYTES_MAX)?;
    let is_level = |name: &String| LEVEL_COLUMNS.iter().any(|known| known.eq_ignore_ascii_case(name));
    let column = rows.columns().iter().position(is_level)?;
    let mut levels = HashMap::new();
    for row in 0..rows.len() {
        if let Some(level) = rows.cell(row, column).and_then(level)
            && let Some((_, line)) = rows.place(row)
            && levels.insert(line, level).is_some()
        {
            // Several records are on one line.
            return None;
        }
    }
    (!levels.is_empty()).then_some(levels)
}

impl Term {
    fn is_in(&self, line: &str) -> bool {
        match self {
            Self::Level { word, .. } | Self::Word { word, .. } => has_word(line, word),
            Self::Text(text) => line.contains(text),
        }
    }

    /// Whether it is understood even if no line has it.
    fn is_certain(&self, n_with_levels: usize) -> bool {
        match self {
            Self::Level { .. } => n_with_levels > 0,
            Self::Word { is_said, .. } => *is_said,
            Self::Text(_) => true,
        }
    }

    fn shown(&self, n_with_levels: usize, n_documents: usize) -> String {
        match self {
            Self::Level { level, .. } if n_with_levels > 0 => {
                let names = LEVELS[*level].iter().filter(|name| name.len() > 1);
                let names: Vec<String> = names.map(|name| format!("`{}`", name.to_uppercase())).collect();
                let others =
                    if n_with_levels < n_documents { " (the word in files without levels)" } else { "" };
                format!("the level {}{others}", names.join(" or "))
            }
            Self::Level { word, .. } | Self::Word { word, .. } => format!("the word `{word}` in any case"),
            Self::Text(text) => format!("the text `{text}`"),
        }
    }
}

/// Whether a line contains a whole word, in any case.
fn has_word(line: &str, word: &str) -> bool {
    let (line, word) = (line.to_lowercase(), word.to_lowercase());
    let is_edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric() && c != '_');
    line.match_indices(&word).any(|(at, found)| {
        let (before, after) = (line.get(..at), line.get(at + found.len()..));
        is_edge(before.and_then(|text| text.chars().next_back()))
            && is_edge(after.and_then(|text| text.chars().next()))
    })
}
