//! Access tokens and their scopes. A token is shown once, when it is created; the server stores its digest, scopes and
//! expiry. A token file has one line per token: `NAME SCOPES DIGEST [until=SECONDS]`.

use std::collections::BTreeSet;
use std::path::Path;

use axum::http::{HeaderMap, Method, StatusCode, header};
use blake3::Hash;
use spelunk_app::failure::{Failure, Usage};

use super::Problem;

const FILE_BYTES_MAX: u64 = 1 << 20;
const TOKENS_MAX: usize = 1_000;
const NAME_CHARS_MAX: usize = 60;
/// The prefix of every token, so that scanners for leaked keys can recognize it.
const PREFIX: &str = "spelunk_";

/// What a token allows. Each scope includes the ones before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scope {
    /// Read runs and contexts.
    Read,
    /// Start, stop and resume runs; register contexts.
    Run,
    Admin,
}

impl Scope {
    pub(crate) const ALL: [Self; 3] = [Self::Read, Self::Run, Self::Admin];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Run => "run",
            Self::Admin => "admin",
        }
    }

    fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.name() == word)
    }

    pub(crate) fn of_method(method: &Method) -> Self {
        match *method {
            Method::GET | Method::HEAD | Method::OPTIONS => Self::Read,
            Method::DELETE => Self::Admin,
            _ => Self::Run,
        }
    }
}

/// The caller. The queue is fair between client names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Client {
    /// The name of the token, or the IP address if no token is required.
    pub(crate) name: String,
    pub(crate) scope: Scope,
}

impl Client {
    pub(crate) fn scopes(&self) -> Vec<&'static str> {
        Scope::ALL.into_iter().filter(|scope| *scope <= self.scope).map(Scope::name).collect()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Token {
    name: String,
    scope: Scope,
    digest: Hash,
    /// Unix time.
    until_s: Option<u64>,
}

/// All tokens; if empty, no token is required.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tokens {
    tokens: Vec<Token>,
}

impl Tokens {
    /// Reads a token file.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let refused_with = |what: String, hint: &str| {
            Usage::new(format!("the token file `{}` {what}", path.display()), hint)
        };
        let create = "create one with `spelunk serve --new-token NAME --token-file FILE`";
        let refused = |what: String| refused_with(what, create);
        let too_long = path.metadata().is_ok_and(|file| file.len() > FILE_BYTES_MAX);
        if too_long {
            return Err(refused("is too large".into()).into());
        }
        #[expect(clippy::disallowed_methods, reason = "the binary reads what the user names")]
        let text =
            std::fs::read_to_string(path).map_err(|error| refused(format!("cannot be read: {error}")))?;
        let correct = "correct or delete that line of the file";
        let tokens = Self::parse(&text).map_err(|what| refused_with(what, correct))?;
        if tokens.tokens.is_empty() {
            return Err(refused("contains no tokens".into()).into());
        }
        Ok(tokens)
    }

    fn parse(text: &str) -> Result<Self, String> {
        let mut tokens: Vec<Token> = Vec::new();
        for (idx, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            // The line itself is not repeated: somebody may have put a token there.
            let token = parse_line(line).map_err(|what| format!("has {what} in line {}", idx + 1))?;
            if tokens.iter().any(|other| other.name == token.name) {
                return Err(format!("contains the name `{}` twice", token.name));
            }
            tokens.push(token);
        }
        if tokens.len() > TOKENS_MAX {
            return Err(format!("contains more than {TOKENS_MAX} tokens"));
        }
        Ok(Self { tokens })
    }

    /// Accepts only the token that was just created.
    pub fn only(made: &NewToken) -> Self {
        Self::parse(&made.line).unwrap_or_default()
    }

    pub(crate) fn are_asked_for(&self) -> bool {
        !self.tokens.is_empty()
    }

    /// The client of a request: the token it carries, or the address if no token is required.
    pub(crate) fn client(&self, headers: &HeaderMap, address: &str, now_s: u64) -> Result<Client, Problem> {
        if !self.are_asked_for() {
            return Ok(Client { name: address.to_owned(), scope: Scope::Admin });
        }
        let given = bearer(headers).ok_or_else(|| {
            let title = "A token is required.";
            Problem::new(StatusCode::UNAUTHORIZED, "token-missing", title, "the request has no bearer token")
                .hint("send `Authorization: Bearer TOKEN`")
        })?;
        let given = blake3::hash(given.as_bytes());
        // Every token is compared, and hashes in constant time, so that timing reveals nothing about any of them.
        let mut known = None;
        for token in &self.tokens {
            if token.digest == given {
                known = Some(token);
            }
        }
        let refused = |detail: &str| {
            Problem::new(StatusCode::UNAUTHORIZED, "token-refused", "The token was rejected.", detail)
                .hint("ask the operator of the server for another one")
        };
        let token = known.ok_or_else(|| refused("the token is unknown"))?;
        if token.until_s.is_some_and(|until_s| until_s <= now_s) {
            return Err(refused("the token has expired"));
        }
        Ok(Client { name: token.name.clone(), scope: token.scope })
    }
}

fn parse_line(line: &str) -> Result<Token, &'static str> {
    let mut words = line.split_whitespace();
    let name = words.next().filter(|name| is_name(name)).ok_or("no name")?;
    let scopes: Option<BTreeSet<Scope>> =
        words.next().unwrap_or_default().split(',').map(Scope::of).collect();
    let scope = scopes.and_then(|scopes| scopes.last().copied()).ok_or("no scopes (read, run, admin)")?;
    let digest = words.next().and_then(|word| Hash::from_hex(word).ok()).ok_or("no token digest")?;
    let until_s = match words.next().map(|word| word.strip_prefix("until=")) {
        None => None,
        Some(seconds) => Some(seconds.and_then(|text| text.parse().ok()).ok_or("no `until=SECONDS`")?),
    };
    if words.next().is_some() {
        return Err("too many words");
    }
    Ok(Token { name: name.to_owned(), scope, digest, until_s })
}

fn is_name(name: &str) -> bool {
    let is_good = |c: char| c.is_ascii_alphanumeric() || "-_.@".contains(c);
    (1..=NAME_CHARS_MAX).contains(&name.len()) && name.chars().all(is_good)
}

/// The token in the `Authorization` header. Clients of Anthropic's API use a header of their own.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let authorization = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = authorization.and_then(|value| {
        let (scheme, token) = value.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
    });
    token.or_else(|| headers.get("x-api-key")?.to_str().ok()).filter(|token| !token.is_empty())
}

/// A new token and its line for the token file.
pub struct NewToken {
    /// The token that a client sends.
    pub token: String,
    /// The line that the server stores, with a hash of the token.
    pub line: String,
}

impl NewToken {
    /// Creates a token from 32 random bytes.
    pub fn make(name: &str, scopes: &str, until_s: Option<u64>, random: [u8; 32]) -> Result<Self, Failure> {
        let token = format!("{PREFIX}{}", Hash::from_bytes(random));
        let until = until_s.map(|until_s| format!(" until={until_s}")).unwrap_or_default();
        let line = format!("{name} {scopes} {}{until}\n", blake3::hash(token.as_bytes()));
        parse_line(line.trim()).map_err(|what| Usage {
            message: format!("invalid token: it has {what}"),
            hint: "name it with letters, digits, `-`, `_`, `.` or `@`; scopes are read, run and admin".into(),
        })?;
        Ok(Self { token, line })
    }

    /// What to append to a token file that contains `text`, or why nothing can be added to it.
    pub fn addition(&self, text: &str) -> Result<String, String> {
        let name = self.line.split(' ').next().unwrap_or_default();
        if Tokens::parse(text)?.tokens.iter().any(|token| token.name == name) {
            return Err(format!("already contains a token named `{name}`"));
        }
        let line_end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        Ok(format!("{line_end}{}", self.line))
    }
}

#[cfg(test)]
mod tests;
