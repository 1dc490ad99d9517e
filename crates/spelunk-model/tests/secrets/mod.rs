//! Nothing that holds a key prints it. Error messages are tested in the contract.

use std::time::Duration;

use spelunk_model::{
    AnthropicModel, AwsAuth, AwsSettings, AwsSource, BedrockModel, EmbeddingClient, GeminiModel, ModelError,
    ModelOptions, OpenAiModel, ResponsesModel, Secret, post_json,
};
use spelunk_testkit::{ModelServer, on, status};

use crate::adapter::{KEY, aws_keys, now};

fn options() -> ModelOptions {
    ModelOptions {
        base_url: "http://127.0.0.1:9/v1".to_owned(),
        name: "m".to_owned(),
        key: Some(Secret::new(KEY)),
        price: None,
        label_calls: false,
    }
}

#[test]
fn nothing_that_holds_a_key_prints_it() {
    let mut keys = aws_keys(Secret::new(KEY));
    keys.session_token = Some(Secret::new(KEY));
    let signed = AwsAuth::Signed { source: AwsSource::Keys(keys), now: now() };
    let bearer = AwsAuth::Bearer(Secret::new(KEY));
    let variables = [("AWS_SECRET_ACCESS_KEY".to_owned(), KEY.to_owned())].into_iter().collect();
    let file = Some(format!("[default]\naws_access_key_id = a\naws_secret_access_key = {KEY}"));
    let settings = AwsSettings {
        variables,
        credentials_file: file.clone(),
        config_file: file,
        container_token_file: Some(KEY.to_owned()),
    };
    let printed = [
        format!("{:?}", options()),
        format!("{:?}", OpenAiModel::new(options()).unwrap()),
        format!("{:?}", OpenAiModel::azure(options(), "2024-10-21").unwrap()),
        format!("{:?}", ResponsesModel::new(options()).unwrap()),
        format!("{:?}", AnthropicModel::new(options()).unwrap()),
        format!("{:?}", GeminiModel::new(options()).unwrap()),
        format!("{:?}", BedrockModel::new(options(), "us-east-1", signed.clone()).unwrap()),
        format!("{:?}", BedrockModel::new(options(), "us-east-1", bearer.clone()).unwrap()),
        format!("{:?}", EmbeddingClient::openai(options(), Duration::from_mins(1)).unwrap()),
        format!("{signed:?} {bearer:?} {settings:?} {:?}", settings.source()),
    ];
    for text in printed {
        assert!(!text.contains(KEY), "{text}");
    }
}

/// A collector that quotes the headers it received.
#[tokio::test]
async fn headers_for_a_collector_are_not_told_in_errors() {
    let echo = "authorization: Bearer token-of-collector, x-key: another-key; token-of-collector is unknown";
    let server = ModelServer::start([on("embed").always(status(401).message(echo))]).await;
    let url = format!("{}/embeddings", server.base_url());
    let headers = [("authorization", "Bearer token-of-collector"), ("x-key", "another-key")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let error = post_json(&url, &headers, "{}".to_owned(), Duration::from_secs(20)).await.unwrap_err();
    let detail = "authorization: [key], x-key: [key]; [key] is unknown".to_owned();
    assert_eq!(error, ModelError::Unauthorized { base_url: url, detail });
}

/// A key that is invalid in a header is refused before anything is sent, and not quoted.
#[test]
fn an_impossible_key_is_refused_and_not_quoted() {
    let broken = || ModelOptions { key: Some(Secret::new(format!("{KEY}\n{KEY}"))), ..options() };
    let errors = [
        OpenAiModel::new(broken()).map(drop),
        OpenAiModel::azure(broken(), "v").map(drop),
        ResponsesModel::new(broken()).map(drop),
        AnthropicModel::new(broken()).map(drop),
        GeminiModel::new(broken()).map(drop),
        EmbeddingClient::openai(broken(), Duration::from_mins(1)).map(drop),
        BedrockModel::new(options(), "r", AwsAuth::Bearer(Secret::new(format!("{KEY}\n{KEY}")))).map(drop),
    ];
    for error in errors {
        let error = error.unwrap_err();
        assert!(!format!("{error} {error:?}").contains(KEY), "{error:?}");
    }
}
