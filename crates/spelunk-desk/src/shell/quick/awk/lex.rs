//! The tokens of an awk program. What is not in every awk, and what is rarely written, is refused.

use std::iter::Peekable;
use std::str::Chars;

/// The longest program, in tokens.
const TOKENS_MAX: usize = 300;
/// Signs, the longer ones first.
const SIGNS: [&str; 35] = [
    "&&", "||", "==", "<=", ">=", "!=", "!~", "++", "--", "+=", "-=", "*=", "/=", "%=", "{", "}", "(", ")",
    "[", "]", ";", ",", "+", "-", "*", "/", "%", "!", "<", ">", "=", "~", "?", ":", "$",
];

/// A piece of a program.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    Number(f64),
    Text(String),
    /// A pattern without its slashes.
    Regex(String),
    Name(String),
    /// A name with a `(` right behind it.
    Called(String),
    Sign(&'static str),
    Line,
}

/// All tokens of a program; nothing if it is not plain.
pub(super) fn tokens(program: &str) -> Option<Vec<Token>> {
    let (mut chars, mut all) = (program.chars().peekable(), Vec::new());
    while let Some(&c) = chars.peek() {
        let token = match c {
            ' ' | '\t' => {
                chars.next();
                continue;
            }
            '#' => {
                while chars.next_if(|c| *c != '\n').is_some() {}
                continue;
            }
            '\n' => {
                chars.next();
                Token::Line
            }
            '"' => text(&mut chars)?,
            '/' if is_pattern_due(all.last())? => regex(&mut chars)?,
            '0'..='9' | '.' => number(&mut chars)?,
            c if c.is_ascii_alphabetic() || c == '_' => name(&mut chars),
            _ => sign(&mut chars)?,
        };
        all.push(token);
        if all.len() > TOKENS_MAX {
            return None;
        }
    }
    Some(all)
}

/// Whether a slash begins a pattern and divides nothing.
fn is_pattern_due(last: Option<&Token>) -> Option<bool> {
    match last {
        Some(Token::Sign("++" | "--")) => None,
        Some(Token::Number(_) | Token::Text(_) | Token::Name(_) | Token::Sign(")" | "]")) => Some(false),
        Some(Token::Regex(_) | Token::Called(_) | Token::Sign(_) | Token::Line) | None => Some(true),
    }
}

fn text(chars: &mut Peekable<Chars>) -> Option<Token> {
    chars.next();
    let mut text = String::new();
    loop {
        match chars.next()? {
            '"' => return Some(Token::Text(text)),
            '\n' => return None,
            '\\' => text.push(match chars.next()? {
                'n' => '\n',
                't' => '\t',
                c @ ('\\' | '"' | '/') => c,
                _ => return None,
            }),
            c => text.push(c),
        }
    }
}

/// A pattern. In a bracket, slashes and backslashes mean different things to different awks.
fn regex(chars: &mut Peekable<Chars>) -> Option<Token> {
    chars.next();
    let (mut regex, mut is_in_bracket) = (String::new(), false);
    loop {
        let c = chars.next()?;
        match c {
            '/' | '\\' if is_in_bracket => return None,
            '/' => return (!regex.is_empty()).then_some(Token::Regex(regex)),
            '\n' => return None,
            '\\' => match chars.next()? {
                '/' => {
                    regex.push('/');
                    continue;
                }
                // `\b` is a backspace here, and no edge of a word.
                '"' | '\n' | 'b' => return None,
                c => {
                    regex.push('\\');
                    regex.push(c);
                    continue;
                }
            },
            '[' if !is_in_bracket => {
                is_in_bracket = true;
                regex.push('[');
                if chars.next_if_eq(&'^').is_some() {
                    regex.push('^');
                }
                // A bracket first in a set is one of it.
                if chars.next_if_eq(&']').is_some() {
                    regex.push(']');
                }
                continue;
            }
            // `[[:alpha:]]` has its own end.
            '[' if chars.peek() == Some(&':') => {
                regex.push('[');
                while let Some(c) = chars.next_if(|c| *c != ']') {
                    regex.push(c);
                }
                regex.push(chars.next()?);
                continue;
            }
            ']' => is_in_bracket = false,
            _ => {}
        }
        regex.push(c);
    }
}

fn number(chars: &mut Peekable<Chars>) -> Option<Token> {
    let mut digits = String::new();
    while let Some(c) = chars.next_if(|c| c.is_ascii_digit() || *c == '.') {
        digits.push(c);
    }
    // Powers of ten and hexadecimal numbers are rare.
    let is_alone = !chars.peek().is_some_and(|c| c.is_ascii_alphabetic() || *c == '_');
    let is_short = digits.len() <= 15 && digits != ".";
    if is_alone && is_short { digits.parse().ok().map(Token::Number) } else { None }
}

fn name(chars: &mut Peekable<Chars>) -> Token {
    let mut name = String::new();
    while let Some(c) = chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
        name.push(c);
    }
    if chars.peek() == Some(&'(') { Token::Called(name) } else { Token::Name(name) }
}

fn sign(chars: &mut Peekable<Chars>) -> Option<Token> {
    let rest: String = chars.clone().take(2).collect();
    let sign = SIGNS.iter().copied().find(|sign| rest.starts_with(sign))?;
    for _ in 0..sign.len() {
        chars.next();
    }
    Some(Token::Sign(sign))
}
