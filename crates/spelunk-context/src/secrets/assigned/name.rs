//! Names that mark their value as secret.

use std::ops::Range;

use super::NAME_BYTES_MAX;
use crate::name::is_listed;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strength {
    /// `password`: whatever is assigned to it.
    Strong,
    /// `token`: parsers have tokens too, so the value must look random.
    Weak,
}

pub(super) fn name_around(line: &[u8], at: usize) -> Range<usize> {
    let is_part = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let before = line[..at].iter().rev().take(NAME_BYTES_MAX).take_while(is_part).count();
    let behind = line[at..].iter().take(NAME_BYTES_MAX).take_while(is_part).count();
    at - before..at + behind
}

/// The strength of a name; `None` if it does not end with a word for secrets.
pub(super) fn strength_of(name: &[u8]) -> Option<Strength> {
    let words = words(name);
    let n_kept = words.iter().rposition(|word| !is_listed(QUALIFIERS, word))? + 1;
    let last = words[n_kept - 1].as_str();
    let before = n_kept.checked_sub(2).map_or("", |idx| words[idx].as_str());
    if STRONG.split(' ').any(|end| last.ends_with(end)) || (last == "key" && is_listed(KEYS, before)) {
        Some(Strength::Strong)
    } else if last.ends_with("token") || is_listed(WEAK, last) {
        Some(Strength::Weak)
    } else {
        None
    }
}

/// Suffixes of the last word that indicate a secret; `dbpassword` is one word.
const STRONG: &str = "password passwd passwort passwrd passphrase passcode pwd secret apikey accesskey secretkey \
    privatekey signingkey encryptionkey authkey masterkey accountkey";

const KEYS: &str =
    "api access secret private signing encryption auth master account shared session hmac webhook";

const WEAK: &str = "auth credential credentials jwt pass";

/// Words after a name for a secret that do not change its meaning.
const QUALIFIERS: &str = "value val hash prod production staging dev live test base64 b64 hex string str data text plain \
    old new current confirm confirmation 1 2";

/// The words of a name in lower case: `DB_PASS`, `spring.db.password`, `apiKey`. Only the last few matter.
fn words(name: &[u8]) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = b'_';
    for &byte in name {
        let is_joint = matches!(byte, b'_' | b'-' | b'.');
        let is_new = matches!(before, b'_' | b'-' | b'.')
            || (byte.is_ascii_uppercase() && before.is_ascii_lowercase())
            || (byte.is_ascii_digit() && before.is_ascii_alphabetic() && byte != b'6');
        before = byte;
        if is_joint {
            continue;
        }
        match words.last_mut() {
            Some(last) if !is_new => last.push(char::from(byte.to_ascii_lowercase())),
            Some(_) | None => words.push(char::from(byte.to_ascii_lowercase()).to_string()),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_known_by_their_last_words() {
        let of = |names: &[&str]| -> Vec<Option<Strength>> {
            names.iter().map(|name| strength_of(name.as_bytes())).collect()
        };
        let strong =
            ["DB_PASSWORD", "dbpassword", "spring.db.password", "apiKey", "X-Api-Key", "client_secret"];
        assert_eq!(of(&strong), [Some(Strength::Strong); 6]);
        let strong = ["password1", "api_key_prod", "AWS_SECRET_ACCESS_KEY", "userPwd", "SECRET_KEY_BASE64"];
        assert_eq!(of(&strong), [Some(Strength::Strong); 5]);
        assert_eq!(of(&["DB_PASS", "token", "authToken", "smtpPass", "auth"]), [Some(Strength::Weak); 5]);
        let none =
            ["token_type", "passwordLabel", "compass", "tokens", "key", "tokenizer", "secret_path", "author"];
        assert_eq!(of(&none), [None; 8]);
    }
}
