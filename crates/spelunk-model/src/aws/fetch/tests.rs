//! Parsing the output of programs. The services are tested over HTTP in `tests/aws`.

use std::time::UNIX_EPOCH;

use super::*;

async fn printed(script: &str) -> Result<AwsKeys, String> {
    let command = ["sh", "-c", script].map(str::to_owned).to_vec();
    keys(&AwsSource::Process { command }).await.map_err(|error| error.to_string())
}

#[tokio::test]
async fn a_program_prints_keys() {
    let json = r#"{"Version":1,"AccessKeyId":"AKID","SecretAccessKey":"secret-of-program","SessionToken":"t","Expiration":"2015-08-30T12:36:00Z"}"#;
    let keys = printed(&format!("echo '{json}'")).await.unwrap();
    assert_eq!((keys.access_key_id.as_str(), keys.secret_access_key.expose()), ("AKID", "secret-of-program"));
    assert_eq!(keys.session_token.map(|token| token.expose().to_owned()).as_deref(), Some("t"));
    assert_eq!(keys.expires_at, Some(UNIX_EPOCH + Duration::from_mins(24_015_636)));
}

#[tokio::test]
async fn a_program_that_fails_is_told_and_what_it_printed_is_not() {
    let prefix = "no credentials for AWS: ";
    let failed = |script: &'static str| async move { printed(script).await.map(drop).unwrap_err() };
    assert_eq!(
        failed("echo secret-of-program; exit 3").await,
        format!("{prefix}`sh` exited with exit status: 3")
    );
    assert_eq!(failed("echo secret-of-program").await, format!("{prefix}`sh` returned no credentials"));
    assert_eq!(
        failed("yes secret-of-program | head -c 1000000").await,
        format!("{prefix}`sh` printed too much")
    );
    let missing = keys(&AwsSource::Process { command: vec!["no-such-program".to_owned()] }).await;
    let detail = "`no-such-program` could not be started: No such file or directory (os error 2)";
    assert_eq!(missing.map(drop).unwrap_err().to_string(), format!("{prefix}{detail}"));
    let empty = keys(&AwsSource::Process { command: Vec::new() }).await;
    assert_eq!(empty.map(drop).unwrap_err().to_string(), format!("{prefix}`credential_process` is empty"));
}
