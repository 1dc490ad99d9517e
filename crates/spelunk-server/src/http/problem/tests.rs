//! Problems as clients see them.

use expect_test::expect;
use spelunk_app::failure::Usage;

use super::*;

#[test]
fn an_error_of_the_engine_keeps_its_code_its_words_and_its_hint() {
    let usage = Usage::new("there is no strategy `x`", "choose one of auto, direct");
    expect![[r#"{"code":"usage-wrong","detail":"there is no strategy `x`","hint":"choose one of auto, direct","status":422,"title":"The request is invalid.","type":"urn:spelunk:problem:usage-wrong"}"#]]
        .assert_eq(&Problem::from(usage).json().to_string());
}

fn status_line(code: ErrorCode) -> String {
    format!("{} {code}\n", status(code).as_u16())
}

#[test]
fn every_code_has_the_status_of_whoever_has_to_act() {
    let mut lines: Vec<String> = ErrorCode::ALL.iter().copied().map(status_line).collect();
    lines.sort();
    expect![[r#"
        404 context-not-found
        404 run-not-found
        409 cancelled
        409 context-exists
        409 corpus-changed
        409 index-locked
        409 run-ambiguous
        409 run-finished
        409 run-locked
        409 settings-changed
        422 calls-exhausted
        422 cells-exhausted
        422 children-exceeded
        422 cost-exhausted
        422 depth-exceeded
        422 desk-full
        422 embedding-model-missing
        422 fleet-unusable
        422 index-other-model
        422 journal-newer
        422 model-not-found
        422 model-unauthorized
        422 price-unknown
        422 query-too-long
        422 registry-newer
        422 sandbox-unconfined
        422 schema-invalid
        422 setting-invalid
        422 setting-unknown
        422 source-empty
        422 source-not-found
        422 source-unreadable
        422 time-exhausted
        422 tokens-exhausted
        422 tool-outcome-unknown
        422 tool-unavailable
        422 turns-exhausted
        422 usage-wrong
        422 workspace-untrusted
        500 archive-damaged
        500 blob-damaged
        500 bug
        500 embedding-model-damaged
        500 index-damaged
        500 journal-damaged
        500 journal-unwritable
        500 replay-diverged
        500 sandbox-failed
        500 workspace-unusable
        502 answer-invalid
        502 model-overloaded
        502 model-prompt-too-long
        502 model-rate-limited
        502 model-reply-empty
        502 model-reply-malformed
        502 model-reply-too-long
        502 model-request-refused
        502 model-server-error
        502 model-stream-cut
        502 model-stuck
        502 model-timed-out
        502 model-unreachable
        502 report-invalid
        503 fleet-unavailable
        503 model-not-configured
    "#]]
    .assert_eq(&lines.concat());
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
