//! Which URLs are accepted, and what is shown of those that are not.

use expect_test::{Expect, expect};

use super::*;

fn check(base_url: &str, expected: &Expect) {
    let seen = match Endpoint::open(base_url) {
        Ok(endpoint) => {
            let place = if endpoint.is_local { "local" } else { "remote" };
            format!("{} {place} {}", endpoint.base_url, endpoint.host)
        }
        Err(error) => error.to_string(),
    };
    expected.assert_eq(&seen);
}

#[test]
fn a_slash_at_the_end_and_white_space_around_it_do_not_matter() {
    check("http://127.0.0.1:11434/v1", &expect!["http://127.0.0.1:11434/v1 local 127.0.0.1"]);
    check(" http://127.0.0.1:11434/v1/\n", &expect!["http://127.0.0.1:11434/v1 local 127.0.0.1"]);
    check("HTTP://Example.COM", &expect!["http://example.com remote example.com"]);
}

#[test]
fn loopback_and_unspecified_addresses_are_this_machine() {
    check("http://localhost:1234/v1", &expect!["http://localhost:1234/v1 local localhost"]);
    check("http://[::1]:8080", &expect!["http://[::1]:8080 local [::1]"]);
    check("http://127.8.9.1", &expect!["http://127.8.9.1 local 127.8.9.1"]);
    check("http://0.0.0.0:8000", &expect!["http://0.0.0.0:8000 local 0.0.0.0"]);
    check(
        "http://localhost.example.com",
        &expect!["http://localhost.example.com remote localhost.example.com"],
    );
    check("http://10.0.0.1", &expect!["http://10.0.0.1 remote 10.0.0.1"]);
}

#[test]
fn credentials_in_an_address_are_refused_and_not_shown() {
    check(
        "https://user:pass-word@host/v1",
        &expect!["could not reach `host/v1`: it must not contain credentials; set a key"],
    );
    check("https://sk-key@:bad", &expect!["could not reach `:bad`: it is not a valid URL"]);
}

#[test]
fn an_address_that_no_path_fits_after_is_refused() {
    check(
        "http://host/v1?key=abc",
        &expect!["could not reach `http://host/v1`: it must not have a query or fragment"],
    );
    check(
        "localhost:11434",
        &expect!["could not reach `localhost:11434`: it must begin with `http://` or `https://`"],
    );
    check("", &expect!["could not reach ``: it is not a valid URL"]);
}

#[test]
fn https_needs_no_provider_installed_by_the_process() {
    let endpoint = Endpoint::open("https://api.openai.com/v1").unwrap();
    assert_eq!((endpoint.host.as_str(), endpoint.is_local), ("api.openai.com", false));
    assert!(CryptoProvider::get_default().is_none());
}
