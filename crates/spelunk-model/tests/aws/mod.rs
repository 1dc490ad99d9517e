//! Fetched credentials: from a container's agent and a metadata service, both simulated by a few lines of HTTP.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use spelunk_model::{AwsAuth, AwsSource, BedrockModel, Model, ModelError, ModelOptions, Secret};
use spelunk_testkit::{ClosedPort, ModelServer, on, status};

use crate::adapter::{ask, now};

/// Serves fixed responses by method and path, one per connection, and records the requests. Its thread ends with the
/// process.
struct Service {
    endpoint: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Service {
    fn start(answers: &'static [(&'static str, u16, &'static str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let book = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { continue };
                let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
                let head: Vec<String> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
                let words: Vec<&str> = head.first().map(|line| line.split(' ').collect()).unwrap_or_default();
                let request = words.get(..2).unwrap_or_default().join(" ");
                let token = head.iter().find(|line| {
                    line.to_ascii_lowercase().contains("token: ") || line.starts_with("authorization")
                });
                book.lock().unwrap().push(format!("{request} [{}]", token.map_or("", String::as_str)));
                let answer = answers.iter().find(|(asked, ..)| *asked == request);
                let (status, body) = answer.map_or((404, ""), |(_, status, body)| (*status, *body));
                let head = format!(
                    "HTTP/1.1 {status} x\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
                    body.len()
                );
                drop(stream.write_all(format!("{head}{body}").as_bytes()));
            }
        });
        Self { endpoint, asked }
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn model(server: &ModelServer, source: AwsSource) -> BedrockModel {
    let options = ModelOptions {
        base_url: server.base_url(),
        name: "us.anthropic.claude-v1:0".to_owned(),
        key: None,
        price: None,
        label_calls: true,
    };
    BedrockModel::new(options, "eu-west-1", AwsAuth::Signed { source, now: now() }).unwrap()
}

async fn server() -> ModelServer {
    ModelServer::start([on("0#*").reply("text")]).await
}

const KEYS: &str = r#"{"Code":"Success","AccessKeyId":"AKID-fetched","SecretAccessKey":"secret-of-service","Token":"session-of-service","Expiration":"2015-08-30T18:36:00Z"}"#;
/// Four minutes from now.
const SHORT_KEYS: &str = r#"{"AccessKeyId":"AKID-fetched","SecretAccessKey":"secret-of-service","Token":"session-of-service","Expiration":"2015-08-30T12:40:00Z"}"#;

#[tokio::test]
async fn the_metadata_service_is_asked_once_while_its_keys_last() {
    let service = Service::start(&[
        ("PUT /latest/api/token", 200, "service-token"),
        ("GET /latest/meta-data/iam/security-credentials/", 200, "my-role\n"),
        ("GET /latest/meta-data/iam/security-credentials/my-role", 200, KEYS),
    ]);
    let server = server().await;
    let model = model(&server, AwsSource::Metadata { endpoint: service.endpoint.clone() });
    for id in ["0#0", "0#1"] {
        assert_eq!(ask(&model, id).await.unwrap().text, "text");
    }
    let expected = [
        "PUT /latest/api/token []",
        "GET /latest/meta-data/iam/security-credentials/ [x-aws-ec2-metadata-token: service-token]",
        "GET /latest/meta-data/iam/security-credentials/my-role [x-aws-ec2-metadata-token: service-token]",
    ];
    assert_eq!(service.asked(), expected);
    let requests = server.requests();
    let header = |name: &str| requests.first().unwrap().header(name).unwrap().to_owned();
    assert_eq!(header("x-amz-security-token"), "session-of-service");
    let signed = "AWS4-HMAC-SHA256 Credential=AKID-fetched/20150830/eu-west-1/bedrock/aws4_request, \
                  SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, Signature=";
    assert!(header("authorization").starts_with(signed), "{}", header("authorization"));
    assert_eq!(requests.first().unwrap().path, "/v1/model/us.anthropic.claude-v1%3A0/converse-stream");
}

#[tokio::test]
async fn keys_that_end_soon_are_fetched_again() {
    let service = Service::start(&[("GET /keys?a=b", 200, SHORT_KEYS)]);
    let server = server().await;
    let url = format!("{}/keys?a=b", service.endpoint);
    let model = model(&server, AwsSource::Container { url, token: Some(Secret::new("agent-token")) });
    for id in ["0#0", "0#1"] {
        assert_eq!(ask(&model, id).await.unwrap().text, "text");
    }
    assert_eq!(service.asked(), ["GET /keys?a=b [authorization: agent-token]"; 2]);
}

#[tokio::test]
async fn keys_whose_end_is_told_in_another_time_zone_are_kept_until_then() {
    // In six hours; in four minutes; unknown.
    for (expiration, n_asked) in
        [("2015-08-30T20:36:00+02:00", 1), ("2015-08-30T05:40:00-07:00", 2), ("in a while", 2)]
    {
        let keys = KEYS.replace("2015-08-30T18:36:00Z", expiration);
        let answers: &'static [_] = vec![("GET /keys", 200, &*keys.leak())].leak();
        let service = Service::start(answers);
        let server = server().await;
        let url = format!("{}/keys", service.endpoint);
        let model = model(&server, AwsSource::Container { url, token: None });
        for id in ["0#0", "0#1"] {
            assert_eq!(ask(&model, id).await.unwrap().text, "text");
        }
        assert_eq!(service.asked().len(), n_asked, "{expiration}");
    }
}

/// A gateway that quotes the headers it received.
#[tokio::test]
async fn fetched_keys_are_not_told_in_errors() {
    let service = Service::start(&[("GET /keys", 200, KEYS)]);
    let echo = "x-amz-security-token: session-of-service, secret-of-service";
    let server = ModelServer::start([on("0#*").always(status(400).message(echo))]).await;
    let url = format!("{}/keys", service.endpoint);
    let model = model(&server, AwsSource::Container { url, token: None });
    // The first request fetches the keys, the second has them cached.
    for id in ["0#0", "0#1"] {
        let detail = "x-amz-security-token: [key], [key]".to_owned();
        let error = ask(&model, id).await.unwrap_err();
        assert_eq!(error, ModelError::RequestRefused { status: 400, detail }, "{id}");
    }
}

#[tokio::test]
async fn a_service_that_gives_no_keys_is_told_without_what_it_said() {
    let service = Service::start(&[
        ("PUT /latest/api/token", 200, "service-token"),
        ("GET /latest/meta-data/iam/security-credentials/", 200, "../../evil"),
        ("GET /none", 200, r#"{"SecretAccessKey":"secret-of-service"}"#),
        ("GET /denied", 403, "secret-of-service"),
    ]);
    let closed = ClosedPort::reserve();
    let container =
        |path: &str| AwsSource::Container { url: format!("{}{path}", service.endpoint), token: None };
    let detail = |source| async {
        let server = server().await;
        let error = ask(&model(&server, source) as &dyn Model, "0#0").await.unwrap_err();
        assert_eq!(server.requests(), [], "nothing is sent unsigned");
        assert!(!format!("{error:?}").contains("secret-of"), "{error:?}");
        let ModelError::KeysMissing { detail, .. } = error else { panic!("{error:?}") };
        detail
    };
    assert_eq!(detail(container("/none")).await, "the container's agent returned no credentials");
    assert_eq!(detail(container("/denied")).await, "the credentials service returned status 403");
    let metadata = AwsSource::Metadata { endpoint: service.endpoint.clone() };
    assert_eq!(detail(metadata).await, "the machine has no IAM role");
    let closed_source = AwsSource::Metadata { endpoint: closed.base_url() };
    let expected = "the credentials service did not respond: Connection refused (os error 111)";
    assert_eq!(detail(closed_source).await, expected);
}
