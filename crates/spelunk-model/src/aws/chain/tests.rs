//! Which source is chosen for what the binary found.

use std::sync::Arc;
use std::time::UNIX_EPOCH;

use expect_test::{Expect, expect};

use super::*;

const CREDENTIALS: &str = "\
[default]
aws_access_key_id = AKID-default
aws_secret_access_key = secret-of-default
[work]
aws_access_key_id = AKID-work
aws_secret_access_key = secret-of-work
aws_session_token = token-of-work
";
const CONFIG: &str = "\
[profile tool]
credential_process = 'get keys' --for tool
region = eu-central-1
[profile role]
role_arn = arn:aws:iam::1:role/x
[profile empty]
region = us-west-2
";

fn settings(variables: &[(&str, &str)]) -> AwsSettings {
    let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    AwsSettings { variables, ..AwsSettings::default() }
}

fn with_files(variables: &[(&str, &str)]) -> AwsSettings {
    AwsSettings {
        credentials_file: Some(CREDENTIALS.to_owned()),
        config_file: Some(CONFIG.to_owned()),
        ..settings(variables)
    }
}

fn check(settings: &AwsSettings, expected: &Expect) {
    let shown = match settings.source() {
        Ok(source) => format!("{source:?}"),
        Err(error) => error.to_string(),
    };
    for secret in ["secret-of", "token-of"] {
        assert!(!shown.contains(secret), "{shown}");
    }
    expected.assert_eq(&shown);
}

#[test]
fn variables_come_first() {
    let variables = [
        ("AWS_ACCESS_KEY_ID", "AKID"),
        ("AWS_SECRET_ACCESS_KEY", "secret-of-variables"),
        ("AWS_SESSION_TOKEN", "token-of-variables"),
    ];
    check(
        &with_files(&variables),
        &expect![[
            r#"Keys(AwsKeys { access_key_id: "AKID", secret_access_key: Secret([key]), session_token: Some(Secret([key])), expires_at: None })"#
        ]],
    );
    check(
        &settings(&[("AWS_ACCESS_KEY_ID", "AKID"), ("AWS_SECRET_ACCESS_KEY", " ")]),
        &expect![[
            r#"no credentials for AWS: `AWS_ACCESS_KEY_ID` is set, but `AWS_SECRET_ACCESS_KEY` is not"#
        ]],
    );
}

#[test]
fn a_profile_gives_keys_or_names_a_program() {
    check(
        &with_files(&[]),
        &expect![[
            r#"Keys(AwsKeys { access_key_id: "AKID-default", secret_access_key: Secret([key]), session_token: None, expires_at: None })"#
        ]],
    );
    check(
        &with_files(&[("AWS_PROFILE", "work")]),
        &expect![[
            r#"Keys(AwsKeys { access_key_id: "AKID-work", secret_access_key: Secret([key]), session_token: Some(Secret([key])), expires_at: None })"#
        ]],
    );
    check(
        &with_files(&[("AWS_PROFILE", "tool")]),
        &expect![[r#"Process { command: ["get keys", "--for", "tool"] }"#]],
    );
    check(
        &with_files(&[("AWS_PROFILE", "role")]),
        &expect![[
            r#"no credentials for AWS: the profile uses `role_arn`, which is not supported; set `credential_process`, or export keys with `aws configure export-credentials`"#
        ]],
    );
    check(
        &with_files(&[("AWS_PROFILE", "empty")]),
        &expect!["no credentials for AWS: the profile contains no keys"],
    );
    check(
        &with_files(&[("AWS_PROFILE", "lost")]),
        &expect!["no credentials for AWS: there is no profile `lost`"],
    );
}

#[test]
fn a_container_and_a_machine_come_last() {
    check(
        &settings(&[
            ("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "/v2/x"),
            ("AWS_CONTAINER_AUTHORIZATION_TOKEN", "token-of-container"),
        ]),
        &expect![[r#"Container { url: "http://169.254.170.2/v2/x", token: Some(Secret([key])) }"#]],
    );
    check(
        &settings(&[("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1:9/keys?a=b")]),
        &expect![[r#"Container { url: "http://127.0.0.1:9/keys?a=b", token: None }"#]],
    );
    check(&settings(&[]), &expect![[r#"Metadata { endpoint: "http://169.254.169.254" }"#]]);
    check(
        &settings(&[("AWS_EC2_METADATA_DISABLED", "True")]),
        &expect!["no credentials for AWS: none are set in variables, a profile or a container"],
    );
}

#[test]
fn keys_are_not_taken_from_a_stranger_over_plain_http() {
    let trusted = |url: &str| settings(&[("AWS_CONTAINER_CREDENTIALS_FULL_URI", url)]).source().is_ok();
    assert!(trusted("https://keys.example.com/x"));
    assert!(trusted("http://localhost/x"));
    assert!(trusted("http://169.254.170.23/v1/credentials"));
    assert!(!trusted("http://keys.example.com/x"));
    assert!(!trusted("http://169.254.170.99/x"));
    assert!(!trusted("file:///etc/passwd"));
    assert!(!trusted("nonsense"));
}

#[test]
fn the_region_and_the_api_key_are_found() {
    assert_eq!(settings(&[]).region(), None);
    assert_eq!(settings(&[("AWS_DEFAULT_REGION", "eu-west-3")]).region().as_deref(), Some("eu-west-3"));
    let both = [("AWS_DEFAULT_REGION", "eu-west-3"), ("AWS_REGION", "us-east-1")];
    assert_eq!(settings(&both).region().as_deref(), Some("us-east-1"));
    assert_eq!(with_files(&[("AWS_PROFILE", "tool")]).region().as_deref(), Some("eu-central-1"));
    let settings = settings(&[("AWS_BEARER_TOKEN_BEDROCK", "secret-of-bedrock")]);
    let now: Now = Arc::new(|| UNIX_EPOCH);
    assert_eq!(format!("{:?}", settings.auth(Arc::clone(&now)).unwrap()), "Bearer(Secret([key]))");
    let signed = format!("{:?}", with_files(&[]).auth(now).unwrap());
    assert!(signed.starts_with("Signed(Keys("), "{signed}");
    assert!(!format!("{settings:?}").contains("secret-of"), "{settings:?}");
}
