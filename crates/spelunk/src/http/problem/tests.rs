//! Problems as clients meet them.

use expect_test::expect;

use super::*;
use crate::cli::Usage;

#[test]
fn an_error_of_the_engine_keeps_its_code_its_words_and_its_hint() {
    let usage =
        Usage { message: "there is no strategy `x`".into(), hint: "choose one of auto, direct".into() };
    expect![[r#"{"code":"usage-wrong","detail":"there is no strategy `x`","hint":"choose one of auto, direct","status":422,"title":"The request does not make sense.","type":"urn:spelunk:problem:usage-wrong"}"#]]
        .assert_eq(&Problem::from(usage).json().to_string());
}

#[test]
fn every_code_has_the_status_of_whoever_has_to_act() {
    let lines = ErrorCode::ALL.iter().map(|code| format!("{} {code}\n", status(*code).as_u16()));
    let mut lines: Vec<String> = lines.collect();
    lines.sort();
    expect![[r#""#]].assert_eq(&lines.concat());
}

#[test]
fn what_is_said_is_bounded() {
    let problem = Problem::not_found("x".repeat(DETAIL_CHARS_MAX + 1));
    assert_eq!(problem.json()["detail"].as_str().map(str::len), Some(DETAIL_CHARS_MAX));
}

#[test]
fn whoever_lacks_a_token_is_told_how_to_bring_one() {
    let response = Problem::new(StatusCode::UNAUTHORIZED, "token-missing", "t", "d").into_response();
    let header = |name| response.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    assert_eq!(header(header::CONTENT_TYPE), Some("application/problem+json"));
    assert_eq!(header(header::WWW_AUTHENTICATE), Some("Bearer realm=\"spelunk\""));
}
