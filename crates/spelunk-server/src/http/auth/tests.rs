//! Tokens: wrong, expired, malformed, and valid ones.

use axum::http::HeaderValue;
use proptest::prelude::*;

use super::*;

fn made(name: &str, scopes: &str, until_s: Option<u64>) -> (String, Tokens) {
    let made =
        NewToken::make(name, scopes, until_s, [7; 32]).map_err(|failure| failure.0.to_string()).unwrap();
    (made.token, Tokens::parse(&made.line).unwrap())
}

fn headers(value: &str) -> HeaderMap {
    [(header::AUTHORIZATION, HeaderValue::from_str(value).unwrap())].into_iter().collect()
}

#[test]
fn a_token_is_known_by_its_digest_and_says_who_calls() {
    let (token, tokens) = made("ci", "run,read", None);
    assert!(!format!("{tokens:?}").contains(&token));
    let client = tokens.client(&headers(&format!("bearer {token}")), "x", 0).unwrap();
    assert_eq!((client.name.as_str(), client.scopes()), ("ci", vec!["read", "run"]));
    let own: HeaderMap = [("x-api-key".parse().unwrap(), HeaderValue::from_str(&token).unwrap())]
        .into_iter()
        .collect::<HeaderMap<HeaderValue>>();
    assert_eq!(tokens.client(&own, "x", 0).unwrap().name, "ci");
}

#[test]
fn wrong_and_missing_tokens_are_refused() {
    let (token, tokens) = made("ci", "read", None);
    for given in ["", "Bearer", "Bearer ", "Basic abc", "Bearer nope", &format!("Bearer {token}x"), &token] {
        let refused = tokens.client(&headers(given), "x", 0).unwrap_err();
        assert_eq!(refused.status, StatusCode::UNAUTHORIZED, "{given}");
    }
    assert_eq!(tokens.client(&HeaderMap::new(), "x", 0).unwrap_err().code, "token-missing");
}

#[test]
fn a_token_ends_on_its_day() {
    let (token, tokens) = made("ci", "admin", Some(1_000));
    let given = headers(&format!("Bearer {token}"));
    assert_eq!(tokens.client(&given, "x", 999).map(|client| client.scope), Ok(Scope::Admin));
    assert_eq!(tokens.client(&given, "x", 1_000).unwrap_err().detail, "the token has expired");
}

#[test]
fn without_tokens_the_address_is_the_client() {
    let client = Tokens::default().client(&HeaderMap::new(), "127.0.0.1", 0).unwrap();
    assert_eq!(client, Client { name: "127.0.0.1".into(), scope: Scope::Admin });
}

#[test]
fn a_file_with_anything_else_in_it_is_refused_and_not_repeated() {
    let digest = blake3::hash(b"x").to_string();
    for (text, says) in [
        ("ci\n".to_owned(), "no scopes (read, run, admin) in line 1"),
        ("# a comment\n\nci read spelunk_0123\n".to_owned(), "no token digest in line 3"),
        (format!("ci write {digest}"), "no scopes (read, run, admin) in line 1"),
        (format!("c/i read {digest}"), "no name in line 1"),
        (format!("ci read {digest} until=soon"), "no `until=SECONDS` in line 1"),
        (format!("ci read {digest} until=1 more"), "too many words in line 1"),
        (format!("ci read {digest}\nci run {digest}"), "contains the name `ci` twice"),
    ] {
        let refused = Tokens::parse(&text).unwrap_err();
        assert!(refused.contains(says), "{text}: {refused}");
        assert!(!refused.contains("spelunk_0123"));
    }
}

#[test]
fn methods_need_the_scope_of_what_they_do() {
    let scopes =
        [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::DELETE].map(|m| Scope::of_method(&m));
    assert_eq!(scopes, [Scope::Read, Scope::Read, Scope::Run, Scope::Run, Scope::Admin]);
}

proptest! {
    #[test]
    fn no_file_breaks_the_parser(text in "\\PC{0,200}") {
        drop(Tokens::parse(&text));
    }
}
