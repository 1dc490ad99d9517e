//! Values: what a setting can hold, and how text from a file, a variable or a flag is parsed. A
//! refusal says what the value must be; the layer that read it adds the location.

use std::fmt;

use regex::Regex;

use super::suggest::nearest;
use super::table::Kind;

/// The largest integer a setting can hold: the largest in TOML.
pub(crate) const WHOLE_MAX: u64 = 9_223_372_036_854_775_807;
const NUMBER_WHOLE_MAX: u64 = 1_000_000;
const MILLION: u64 = 1_000_000;
/// Limited, because every chunk pays for an addition to an analyst's prompt.
const PROMPT_BYTES_MAX: usize = 4000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    /// Text; also the word of a choice.
    Text(String),
    Whole(u64),
    YesNo(bool),
    Number(Decimal),
    List(Vec<String>),
}

/// A non-negative number in millionths: exact and comparable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Decimal {
    pub(crate) millionths: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// What the value must be, to follow "must be" in a message.
    pub(crate) must: String,
    pub(crate) meant: Option<&'static str>,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Written<'a> {
    /// From a variable or a flag: everything is text.
    Plain(&'a str),
    Quoted(&'a str),
    Integer {
        digits: &'a str,
        radix: u32,
    },
    Float(&'a str),
    Boolean(bool),
    List(&'a [&'a str]),
    /// Anything else in a file: dates, other lists, tables.
    Other,
}

impl Value {
    pub(crate) fn read(kind: Kind, written: Written<'_>) -> Result<Self, Refusal> {
        match kind {
            Kind::Text => read_text(written).map(Self::Text),
            Kind::VariableName => read_variable_name(written).map(Self::Text),
            Kind::Whole { min, max } => read_whole(written, min, max).map(Self::Whole),
            Kind::YesNo => read_yes_no(written).map(Self::YesNo),
            Kind::Choice(words) => read_choice(written, words).map(Self::Text),
            Kind::Number => read_number(written).map(Self::Number),
            Kind::List => read_list(written).map(Self::List),
            Kind::Extensions => read_extensions(written).map(Self::List),
            Kind::FileNames => read_file_names(written).map(Self::List),
            Kind::Prompt => read_prompt(written).map(Self::Text),
            Kind::Pattern => read_pattern(written).map(Self::Text),
        }
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    pub(crate) fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Text(text) => text.as_str().into(),
            Self::Whole(whole) => (*whole).into(),
            Self::YesNo(yes) => (*yes).into(),
            Self::Number(number) => number.to_string().parse::<f64>().ok().into(),
            Self::List(texts) => texts.as_slice().into(),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(&quoted(text.as_str())),
            Self::Whole(whole) => write!(f, "{whole}"),
            Self::YesNo(yes) => write!(f, "{yes}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::List(texts) => f.write_str(&quoted(texts.as_slice())),
        }
    }
}

/// A JSON string is also a single-line TOML string, except for one character that only TOML rejects.
fn quoted(value: impl Into<serde_json::Value>) -> String {
    value.into().to_string().replace('\u{7f}', "\\u007f")
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = format!("{:06}", self.millionths % MILLION);
        let kept = decimals.trim_end_matches('0');
        write!(f, "{}.{}", self.millionths / MILLION, if kept.is_empty() { "0" } else { kept })
    }
}

fn read_text(written: Written<'_>) -> Result<String, Refusal> {
    if let Written::Plain(text) | Written::Quoted(text) = written {
        return Ok(text.to_owned());
    }
    refuse("a string in quotes")
}

fn read_variable_name(written: Written<'_>) -> Result<String, Refusal> {
    let text = read_text(written)?;
    let is_name = text.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
        && !text.starts_with(|c: char| c.is_ascii_digit());
    if is_name { Ok(text) } else { refuse("the name of an environment variable") }
}

fn read_list(written: Written<'_>) -> Result<Vec<String>, Refusal> {
    if let Written::List(texts) = written {
        return Ok(texts.iter().map(|text| (*text).to_owned()).collect());
    }
    refuse("a list of strings in quotes")
}

fn read_extensions(written: Written<'_>) -> Result<Vec<String>, Refusal> {
    let bare = |text: String| text.strip_prefix('.').unwrap_or(&text).to_lowercase();
    let extensions: Vec<String> = read_list(written)?.into_iter().map(bare).collect();
    if extensions.iter().any(|text| text.is_empty() || text.contains(['.', '/', '*'])) {
        return refuse("a list of extensions without dots, such as `[\"proto\"]`");
    }
    Ok(extensions)
}

fn read_file_names(written: Written<'_>) -> Result<Vec<String>, Refusal> {
    let names = read_list(written)?;
    if names.iter().any(|name| name.is_empty() || name.contains(['/', '*'])) {
        return refuse("a list of full file names, such as `[\"BUILD\"]`");
    }
    Ok(names)
}

fn read_prompt(written: Written<'_>) -> Result<String, Refusal> {
    let prompt = read_text(written)?;
    if prompt.len() > PROMPT_BYTES_MAX { refuse("at most 4000 bytes long") } else { Ok(prompt) }
}

fn read_pattern(written: Written<'_>) -> Result<String, Refusal> {
    let text = read_text(written)?;
    match Regex::new(&text) {
        Ok(_) => Ok(text),
        Err(error) => {
            let said = error.to_string();
            let why = said.lines().last().unwrap_or_default().trim_start_matches("error: ");
            refuse(format!("a regular expression ({why})"))
        }
    }
}

fn read_yes_no(written: Written<'_>) -> Result<bool, Refusal> {
    if let Written::Boolean(yes) = written {
        return Ok(yes);
    }
    if let Written::Plain("true" | "yes" | "on" | "1") = written {
        return Ok(true);
    }
    if let Written::Plain("false" | "no" | "off" | "0") = written {
        return Ok(false);
    }
    refuse("`true` or `false`")
}

fn read_choice(written: Written<'_>, words: &'static [&'static str]) -> Result<String, Refusal> {
    let mut meant = None;
    if let Ok(text) = read_text(written) {
        if words.contains(&text.as_str()) {
            return Ok(text);
        }
        meant = nearest(&text, words.iter().copied());
    }
    let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    Err(Refusal { must: format!("one of {}", quoted.join(", ")), meant })
}

fn read_whole(written: Written<'_>, min: u64, max: u64) -> Result<u64, Refusal> {
    let (digits, radix) = match written {
        Written::Plain(text) => (without_underscores(text), 10),
        Written::Integer { digits, radix } => (digits.to_owned(), radix),
        Written::Quoted(_) | Written::Float(_) | Written::Boolean(_) | Written::List(_) | Written::Other => {
            return refuse("an integer");
        }
    };
    let (is_negative, magnitude) = sign_and_magnitude(&digits);
    if magnitude.is_empty() || !magnitude.chars().all(|digit| digit.is_digit(radix)) {
        return refuse("an integer");
    }
    // All digits are valid, so only the size can be wrong.
    let whole = u64::from_str_radix(magnitude, radix).unwrap_or(u64::MAX);
    if whole < min || (is_negative && whole > 0) {
        return refuse(format!("at least {min}"));
    }
    if whole > max { refuse(format!("at most {max}")) } else { Ok(whole) }
}

fn read_number(written: Written<'_>) -> Result<Decimal, Refusal> {
    let text = match written {
        Written::Plain(text) => without_underscores(text),
        Written::Integer { digits, radix: 10 } => digits.to_owned(),
        Written::Float(text) => text.to_owned(),
        Written::Integer { .. }
        | Written::Quoted(_)
        | Written::Boolean(_)
        | Written::List(_)
        | Written::Other => {
            return refuse("a number such as `2.5`");
        }
    };
    let (is_negative, magnitude) = sign_and_magnitude(&text);
    let (whole, decimals) = magnitude.split_once('.').unwrap_or((magnitude, "0"));
    let is_digits = |part: &str| !part.is_empty() && part.chars().all(|digit| digit.is_ascii_digit());
    if !is_digits(whole) || !is_digits(decimals) {
        return refuse("a number such as `2.5`");
    }
    let decimals = decimals.trim_end_matches('0');
    if decimals.len() > 6 {
        return refuse("a number with at most six decimals");
    }
    let whole = whole.parse::<u64>().unwrap_or(u64::MAX);
    let below_one = format!("{decimals:0<6}").parse::<u64>().unwrap_or(u64::MAX);
    if is_negative && (whole > 0 || below_one > 0) {
        return refuse("at least 0");
    }
    if whole > NUMBER_WHOLE_MAX || (whole == NUMBER_WHOLE_MAX && below_one > 0) {
        return refuse(format!("at most {NUMBER_WHOLE_MAX}"));
    }
    Ok(Decimal { millionths: whole * MILLION + below_one })
}

/// Splits a number into its sign and magnitude; true if it is negative.
fn sign_and_magnitude(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    }
}

/// `1_000` as `1000`; a stray underscore is kept and rejected as a digit.
fn without_underscores(text: &str) -> String {
    let is_stray = text.starts_with('_') || text.ends_with('_') || text.contains("__");
    if is_stray { text.to_owned() } else { text.replace('_', "") }
}

fn refuse<T>(must: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal { must: must.into(), meant: None })
}

#[cfg(test)]
mod tests;
