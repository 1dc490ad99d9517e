//! Fetches credentials from a program, a container's agent or a machine's metadata service. All are local, so they
//! answer quickly or not at all.

use std::process::Stdio;
use std::time::{Duration, UNIX_EPOCH};

use reqwest::RequestBuilder;
use tokio::io::AsyncReadExt;
use tokio::process::Command;

use super::chain::{AwsSource, missing};
use super::keys::AwsKeys;
use crate::http::{Endpoint, deepest_cause};
use crate::wire::aws::Credentials;
use crate::{ModelError, Secret, time};

const SERVICE_TIMEOUT: Duration = Duration::from_secs(2);
/// The timeout for a program: it may ask a person for a code.
const PROCESS_TIMEOUT: Duration = Duration::from_mins(1);
const ANSWER_BYTES_MAX: u64 = 65_536;

pub(crate) async fn keys(source: &AwsSource) -> Result<AwsKeys, ModelError> {
    match source {
        AwsSource::Keys(keys) => Ok(keys.clone()),
        AwsSource::Process { command } => of_process(command).await,
        AwsSource::Container { url, token } => {
            let endpoint = Endpoint::open_with_query(url)?;
            let mut request = endpoint.client.get(url);
            if let Some(token) = token {
                let token = token.header("").ok_or_else(|| missing("the container's token is not valid"))?;
                request = request.header("authorization", token);
            }
            parsed(&answer(request).await?, "the container's agent")
        }
        AwsSource::Metadata { endpoint } => of_metadata(endpoint).await,
    }
}

async fn of_process(command: &[String]) -> Result<AwsKeys, ModelError> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(missing("`credential_process` is empty"));
    };
    let shown = format!("`{program}`");
    let unusable = |detail: String| missing(&format!("{shown} {detail}"));
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| unusable(format!("could not be started: {error}")))?;
    let stdout = child.stdout.take();
    let read = async {
        let mut text = String::new();
        if let Some(stdout) = stdout {
            stdout.take(ANSWER_BYTES_MAX).read_to_string(&mut text).await?;
        }
        let status = child.wait().await?;
        Ok::<_, std::io::Error>((text, status))
    };
    match tokio::time::timeout(PROCESS_TIMEOUT, read).await {
        Ok(Ok((text, _))) if text.len() as u64 >= ANSWER_BYTES_MAX => {
            Err(unusable("printed too much".to_owned()))
        }
        Ok(Ok((text, status))) if status.success() => parsed(&text, &shown),
        Ok(Ok((_, status))) => Err(unusable(format!("exited with {status}"))),
        Ok(Err(error)) => Err(unusable(format!("could not be read: {error}"))),
        Err(_) => Err(unusable("took too long".to_owned())),
    }
}

/// Version 2 of the service: a token first, then the name of the role, then its credentials.
async fn of_metadata(endpoint: &str) -> Result<AwsKeys, ModelError> {
    let client = Endpoint::open(endpoint)?.client;
    let put = client.put(format!("{endpoint}/latest/api/token"));
    let token = answer(put.header("x-aws-ec2-metadata-token-ttl-seconds", "21600")).await?;
    let token =
        Secret::new(token).header("").ok_or_else(|| missing("the metadata service returned no token"))?;
    let get = |path: &str| {
        let url = format!("{endpoint}/latest/meta-data/iam/security-credentials/{path}");
        client.get(url).header("x-aws-ec2-metadata-token", token.clone())
    };
    let roles = answer(get("")).await?;
    let role = roles.lines().next().map(str::trim).unwrap_or_default();
    let is_name =
        !role.is_empty() && role.chars().all(|c| c.is_ascii_alphanumeric() || "+=,.@_-".contains(c));
    if !is_name {
        return Err(missing("the machine has no IAM role"));
    }
    parsed(&answer(get(role)).await?, "the metadata service")
}

/// The body of a response. Errors do not name the address: the problem is missing credentials, not the service.
async fn answer(request: RequestBuilder) -> Result<String, ModelError> {
    let reason = |error: reqwest::Error| {
        if error.is_timeout() {
            return missing("none are set, and this machine has no metadata service");
        }
        missing(&format!("the credentials service did not respond: {}", deepest_cause(&error)))
    };
    let mut response = request.timeout(SERVICE_TIMEOUT).send().await.map_err(reason)?;
    if !response.status().is_success() {
        return Err(missing(&format!(
            "the credentials service returned status {}",
            response.status().as_u16()
        )));
    }
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(reason)? {
        body.extend_from_slice(&chunk);
        if body.len() as u64 > ANSWER_BYTES_MAX {
            return Err(missing("the response of the credentials service is too long"));
        }
    }
    String::from_utf8(body).map_err(|_| missing("the response of the credentials service is not text"))
}

fn parsed(text: &str, who: &str) -> Result<AwsKeys, ModelError> {
    // The parser's error would quote its input, which may contain a key.
    let read: Option<Credentials> = serde_json::from_str(text).ok();
    let Some(Credentials { access_key_id: Some(id), secret_access_key: Some(secret), token, expiration }) =
        read
    else {
        return Err(missing(&format!("{who} returned no credentials")));
    };
    Ok(AwsKeys {
        access_key_id: id,
        secret_access_key: Secret::new(secret),
        session_token: token.map(Secret::new),
        // An unreadable expiry may be close: such keys are used for the current request only.
        expires_at: expiration.map(|text| time::parse(&text).unwrap_or(UNIX_EPOCH)),
    })
}

#[cfg(test)]
mod tests;
