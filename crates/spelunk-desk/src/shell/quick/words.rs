//! The words of a script that has nothing to expand: commands of plain words between `|`, `;`, `&&` and `||`, with their
//! output sent to a file at most. Whatever a shell would look at twice (`$`, `*`, `(`, `&`, `{`, …) is not read here.

use std::iter::Peekable;
use std::str::Chars;

/// When a pipeline runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joined {
    Always,
    /// The one before ended well.
    AfterSuccess,
    /// The one before did not.
    AfterFailure,
}

/// Where the output of a command goes instead of to the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    Replace(String),
    Append(String),
}

/// One command of a pipeline.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Stage {
    pub(super) words: Vec<String>,
    pub(super) from: Option<String>,
    pub(super) to: Option<Target>,
}

/// A pipeline and when it runs.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Step {
    pub(super) joined: Joined,
    pub(super) stages: Vec<Stage>,
}

enum Token {
    Word(String),
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

/// The steps of a script; nothing if it holds anything else.
pub(super) fn steps(script: &str) -> Option<Vec<Step>> {
    let mut tokens = Tokens { chars: script.chars().peekable() };
    let (mut steps, mut stages, mut stage) = (Vec::new(), Vec::new(), Stage::default());
    let mut joined = Joined::Always;
    loop {
        let token = tokens.next()?;
        let is_over = token.is_none();
        match token {
            Some(Token::Word(word)) => stage.words.push(word),
            Some(Token::Errors) => {}
            Some(Token::From) => put_once(&mut stage.from, tokens.word()?)?,
            Some(Token::To) => put_once(&mut stage.to, Target::Replace(tokens.word()?))?,
            Some(Token::AppendTo) => put_once(&mut stage.to, Target::Append(tokens.word()?))?,
            Some(Token::Pipe) => stages.push(whole(&mut stage)?),
            Some(Token::Join(next)) => {
                stages.push(whole(&mut stage)?);
                steps.push(Step { joined, stages: std::mem::take(&mut stages) });
                joined = next;
            }
            Some(Token::Line) | None => {
                let is_empty = stage == Stage::default() && stages.is_empty() && joined == Joined::Always;
                if !is_empty {
                    stages.push(whole(&mut stage)?);
                    steps.push(Step { joined, stages: std::mem::take(&mut stages) });
                    joined = Joined::Always;
                }
                if is_over {
                    return (!steps.is_empty()).then_some(steps);
                }
            }
        }
    }
}

fn put_once<T>(place: &mut Option<T>, value: T) -> Option<()> {
    if place.is_some() {
        return None;
    }
    *place = Some(value);
    Some(())
}

fn whole(stage: &mut Stage) -> Option<Stage> {
    let stage = std::mem::take(stage);
    (!stage.words.is_empty()).then_some(stage)
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

    /// A word where one must be.
    fn word(&mut self) -> Option<String> {
        match self.next()?? {
            Token::Word(word) if !word.is_empty() => Some(word),
            Token::Word(_)
            | Token::Pipe
            | Token::Join(_)
            | Token::Line
            | Token::From
            | Token::To
            | Token::AppendTo
            | Token::Errors => None,
        }
    }

    fn word_or_errors(&mut self) -> Option<Token> {
        let (mut word, mut is_quoted) = (String::new(), false);
        while let Some(&c) = self.chars.peek() {
            match c {
                ' ' | '\t' | '\n' | ';' | '|' | '&' => break,
                '<' | '>' => {
                    if word == "2" && !is_quoted && c == '>' {
                        self.chars.next();
                        return self.errors();
                    }
                    // `3<`, and `a>b`, which few write.
                    return None;
                }
                '\'' => {
                    self.chars.next();
                    is_quoted = true;
                    self.until_quote('\'', &mut word)?;
                }
                '"' => {
                    self.chars.next();
                    is_quoted = true;
                    self.until_quote('"', &mut word)?;
                }
                '\\' => {
                    self.chars.next();
                    is_quoted = true;
                    word.push(self.chars.next().filter(char::is_ascii_graphic)?);
                }
                c if is_plain(c) => {
                    self.chars.next();
                    word.push(c);
                }
                _ => return None,
            }
        }
        Some(Token::Word(word))
    }

    fn until_quote(&mut self, quote: char, word: &mut String) -> Option<()> {
        loop {
            match self.chars.next()? {
                c if c == quote => return Some(()),
                '$' | '`' | '\\' | '!' if quote == '"' => return None,
                c => word.push(c),
            }
        }
    }

    fn errors(&mut self) -> Option<Token> {
        let mut rest = String::new();
        while let Some(c) = self.chars.next_if(|c| is_plain(*c) || *c == '&') {
            rest.push(c);
        }
        matches!(rest.as_str(), "&1" | "/dev/null").then_some(Token::Errors)
    }
}

/// Characters that mean themselves wherever they stand in a word. `^` and `~` are left to the interpreter.
fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '.' | '/' | ',' | ':' | '=' | '@' | '%' | '+' | '-')
}
