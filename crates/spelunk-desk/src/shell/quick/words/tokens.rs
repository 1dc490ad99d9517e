//! The tokens of a plain script. A word keeps apart what was quoted, what was not, and the names of variables.

use std::iter::Peekable;
use std::str::Chars;

use super::Joined;

/// A piece of a script.
#[derive(Debug)]
pub(super) enum Token {
    Word(Word),
    Pipe,
    Join(Joined),
    /// The end of a line, which may be empty.
    Line,
    From,
    To,
    AppendTo,
    /// `2>&1` or `2>/dev/null`: there is nothing on standard error that it could move.
    Errors,
}

/// A word before its variables are put in.
#[derive(Debug, Default)]
pub(super) struct Word {
    pub(super) parts: Vec<Part>,
}

/// A part of a word.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    Bare(String),
    Quoted(String),
    /// The name of a variable.
    Variable {
        name: String,
        is_quoted: bool,
    },
}

impl Word {
    /// What it says, if nothing in it is quoted or a variable: only such a word can be a keyword.
    pub(super) fn bare(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Bare(text)] => Some(text),
            _ => None,
        }
    }

    fn push_bare(&mut self, c: char) {
        match self.parts.last_mut() {
            Some(Part::Bare(text)) => text.push(c),
            _ => self.parts.push(Part::Bare(c.to_string())),
        }
    }

    fn push_quoted(&mut self, c: char) {
        match self.parts.last_mut() {
            Some(Part::Quoted(text)) => text.push(c),
            _ => self.parts.push(Part::Quoted(c.to_string())),
        }
    }
}

/// All tokens of a script; nothing if it is not plain.
pub(super) fn all(script: &str) -> Option<Vec<Token>> {
    let (mut reader, mut all) = (Tokens { chars: script.chars().peekable() }, Vec::new());
    while let Some(token) = reader.next()? {
        all.push(token);
    }
    Some(all)
}

struct Tokens<'a> {
    chars: Peekable<Chars<'a>>,
}

impl Tokens<'_> {
    /// The next token, if any; nothing at all where the script is not plain.
    #[expect(clippy::option_option, reason = "the outer one is the refusal, the inner one the end")]
    fn next(&mut self) -> Option<Option<Token>> {
        while self.chars.next_if(|c| matches!(c, ' ' | '\t')).is_some() {}
        let Some(&first) = self.chars.peek() else { return Some(None) };
        let token = match first {
            '#' => {
                while self.chars.next_if(|&c| c != '\n').is_some() {}
                return Some(self.next_line());
            }
            '\n' => {
                self.chars.next();
                Token::Line
            }
            ';' => {
                self.chars.next();
                if self.chars.peek() == Some(&';') {
                    return None;
                }
                Token::Join(Joined::Always)
            }
            '|' => {
                self.chars.next();
                match self.chars.peek() {
                    Some('|') => {
                        self.chars.next();
                        Token::Join(Joined::AfterFailure)
                    }
                    Some('&') => return None,
                    Some(_) | None => Token::Pipe,
                }
            }
            '&' => {
                self.chars.next();
                self.chars.next_if_eq(&'&')?;
                Token::Join(Joined::AfterSuccess)
            }
            '<' => {
                self.chars.next();
                self.plain_target()?;
                Token::From
            }
            '>' => {
                self.chars.next();
                let is_append = self.chars.next_if_eq(&'>').is_some();
                self.plain_target()?;
                if is_append { Token::AppendTo } else { Token::To }
            }
            _ => return self.word_or_errors().map(Some),
        };
        Some(Some(token))
    }

    fn next_line(&mut self) -> Option<Token> {
        self.chars.next().map(|_| Token::Line)
    }

    /// Refuses `<<`, `<(`, `>&`, `>|` and the like.
    fn plain_target(&mut self) -> Option<()> {
        (!matches!(self.chars.peek(), Some('<' | '>' | '(' | '&' | '|'))).then_some(())
    }

    fn word_or_errors(&mut self) -> Option<Token> {
        let mut word = Word::default();
        while let Some(&c) = self.chars.peek() {
            match c {
                ' ' | '\t' | '\n' | ';' | '|' | '&' => break,
                '<' | '>' => {
                    if word.bare() == Some("2") && c == '>' {
                        self.chars.next();
                        return self.errors();
                    }
                    // `3<`, and `a>b`, which few write.
                    return None;
                }
                '\'' => {
                    self.chars.next();
                    word.parts.push(Part::Quoted(String::new()));
                    loop {
                        match self.chars.next()? {
                            '\'' => break,
                            c => word.push_quoted(c),
                        }
                    }
                }
                '"' => {
                    self.chars.next();
                    word.parts.push(Part::Quoted(String::new()));
                    self.until_quote(&mut word)?;
                }
                '\\' => {
                    self.chars.next();
                    let c = self.chars.next().filter(char::is_ascii_graphic)?;
                    word.push_quoted(c);
                }
                '$' => {
                    self.chars.next();
                    let name = self.variable()?;
                    word.parts.push(Part::Variable { name, is_quoted: false });
                }
                c if is_plain(c) => {
                    self.chars.next();
                    word.push_bare(c);
                }
                _ => return None,
            }
        }
        Some(Token::Word(word))
    }

    /// The rest of a text in double quotes.
    fn until_quote(&mut self, word: &mut Word) -> Option<()> {
        loop {
            match self.chars.next()? {
                '"' => return Some(()),
                '`' | '!' => return None,
                // A backslash stands for itself before what needs none.
                '\\' => match self.chars.next()? {
                    c @ ('$' | '`' | '"' | '\\') => word.push_quoted(c),
                    '\n' | '!' => return None,
                    c => {
                        word.push_quoted('\\');
                        word.push_quoted(c);
                    }
                },
                // At the end of a pattern it is no variable.
                '$' if matches!(self.chars.peek(), Some('"' | ' ' | '|' | ')')) => word.push_quoted('$'),
                '$' => {
                    let name = self.variable()?;
                    word.parts.push(Part::Variable { name, is_quoted: true });
                }
                c => word.push_quoted(c),
            }
        }
    }

    /// `x` or `{x}` behind a `$`.
    fn variable(&mut self) -> Option<String> {
        let is_braced = self.chars.next_if_eq(&'{').is_some();
        let mut name = String::new();
        while let Some(c) = self.chars.next_if(|c| c.is_ascii_alphanumeric() || *c == '_') {
            name.push(c);
        }
        if is_braced {
            self.chars.next_if_eq(&'}')?;
        }
        // `a[1]` behind `$a` is text, and few mean it.
        let is_clear = is_braced || self.chars.peek() != Some(&'[');
        (is_clear && is_name(&name)).then_some(name)
    }

    fn errors(&mut self) -> Option<Token> {
        let mut rest = String::new();
        while let Some(c) = self.chars.next_if(|c| is_plain(*c) || *c == '&') {
            rest.push(c);
        }
        matches!(rest.as_str(), "&1" | "/dev/null").then_some(Token::Errors)
    }
}

/// Whether a text can be the name of a variable.
pub(super) fn is_name(text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    text.starts_with(is_letter) && text.chars().all(|c| is_letter(c) || c.is_ascii_digit())
}

/// Characters that mean themselves wherever they stand in a word. `^` and `~` are left to the interpreter.
pub(super) fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '/' | ',' | ':' | '=' | '@' | '%' | '+' | '-')
}
