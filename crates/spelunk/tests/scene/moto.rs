//! A private S3 server for tests, which `.ci/s3` installs. If there is none, such a test says so and checks nothing. A
//! proxy in front of it writes down what it is asked, and interferes.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use super::postgres::free_port;
use super::{Call, wait_for};

/// It must not be found anywhere.
pub(crate) const SECRET: &str = "Vq7Lk2xWp9Zr4Tm8Nb3Hc6Jd1Fg5Sy0AeUiOoPw";

pub(crate) struct Moto {
    process: Child,
    pub(crate) port: u16,
}

impl Drop for Moto {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// The server, or a note that there is none.
pub(crate) fn moto() -> Option<Moto> {
    // More than any test does.
    moto_that_trusts(1_000_000)
}

/// One that asks for signatures after this many requests.
#[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
pub(crate) fn moto_that_trusts(n_requests: u32) -> Option<Moto> {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/moto/bin/moto_server");
    if !program.exists() {
        println!("SKIPPED: there is no S3 server on this machine; `.ci/s3` installs it");
        return None;
    }
    let port = free_port();
    let mut server = Command::new(program);
    server.args(["-H", "127.0.0.1", "-p", &port.to_string()]);
    server.env("INITIAL_NO_AUTH_ACTION_COUNT", n_requests.to_string());
    let process = server.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let moto = Moto { process, port };
    wait_for("the start of the S3 server", || TcpStream::connect(("127.0.0.1", port)).ok());
    Some(moto)
}

impl Moto {
    /// A new bucket with these objects; keys are written as in a URL.
    pub(crate) fn bucket(&self, name: &str, objects: &[(&str, &str)]) {
        self.send("PUT", &format!("/{name}"), "", "");
        for (key, text) in objects {
            self.put(name, key, text);
        }
    }

    pub(crate) fn put(&self, bucket: &str, key: &str, text: &str) {
        self.put_in("STANDARD", bucket, key, text);
    }

    /// An object of this storage class.
    pub(crate) fn put_in(&self, class: &str, bucket: &str, key: &str, text: &str) {
        let headers =
            format!("content-type: text/plain\r\nx-amz-storage-class: {class}\r\n{}", unchecked("s3"));
        self.send("PUT", &format!("/{bucket}/{key}"), &headers, text);
    }

    /// A user with these rights, who has this key id and secret.
    pub(crate) fn user(&self, policy: &str) -> (String, String) {
        let iam = format!("content-type: application/x-www-form-urlencoded\r\n{}", unchecked("iam"));
        let ask =
            |action: &str| self.send("POST", "/", &iam, &format!("Version=2010-05-08&UserName=ann&{action}"));
        ask("Action=CreateUser");
        let key = ask("Action=CreateAccessKey");
        let encoded: Vec<String> = policy.bytes().map(|byte| format!("%{byte:02X}")).collect();
        ask(&format!("Action=PutUserPolicy&PolicyName=p&PolicyDocument={}", encoded.concat()));
        let of = |tag: &str| {
            let (_, rest) = key.split_once(&format!("<{tag}>")).unwrap();
            rest.split_once('<').unwrap().0.to_owned()
        };
        (of("AccessKeyId"), of("SecretAccessKey"))
    }

    fn send(&self, method: &str, path: &str, headers: &str, body: &str) -> String {
        let head = format!("{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\n{headers}");
        let request = format!("{head}content-length: {}\r\n\r\n{body}", body.len());
        let answer = String::from_utf8(exchange(self.port, request.as_bytes())).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{method} {path}: {answer}");
        answer
    }
}

/// A signature, where signatures are not checked.
fn unchecked(service: &str) -> String {
    format!(
        "authorization: AWS4-HMAC-SHA256 Credential=x/20260101/us-east-1/{service}/aws4_request, \
         SignedHeaders=host, Signature=0\r\n"
    )
}

fn exchange(port: u16, request: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.write_all(request).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    answer
}

/// What the proxy does with an answer.
pub(crate) enum Passing {
    Whole,
    /// Only the first bytes of its body arrive.
    Cut(usize),
}

/// Stands between the program and the server.
pub(crate) struct Proxy {
    pub(crate) port: u16,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Proxy {
    /// Asks `pass` before each request, by its path.
    pub(crate) fn before(moto: &Moto, pass: impl Fn(&str) -> Passing + Send + 'static) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let (port, upstream) = (listener.local_addr().unwrap().port(), moto.port);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let Some(head) = head(&mut stream) else { continue };
                let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
                noted.lock().unwrap().push(path.clone());
                let passing = pass(&path);
                let head = head.replacen("\r\n", "\r\nconnection: close\r\n", 1);
                let mut answer = exchange(upstream, head.as_bytes());
                if let Passing::Cut(n_bytes) = passing {
                    let body = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap() + 4;
                    answer.truncate(body + n_bytes);
                }
                drop(stream.write_all(&answer));
            }
        });
        Self { port, seen }
    }

    /// The paths of the requests since the last time, without those of lists, in order.
    pub(crate) fn objects(&self) -> Vec<String> {
        let mut seen = std::mem::take(&mut *self.seen.lock().unwrap());
        seen.retain(|path| !path.contains('?'));
        seen.sort();
        seen
    }
}

/// The head of a request that has no body.
fn head(stream: &mut TcpStream) -> Option<String> {
    let (mut head, mut byte) = (Vec::new(), [0]);
    while !head.ends_with(b"\r\n\r\n") {
        (stream.read(&mut byte).ok()? == 1).then(|| head.push(byte[0]))?;
    }
    String::from_utf8(head).ok()
}

impl Call<'_> {
    /// With the S3 server at this port, and a secret that it does not check.
    pub(crate) fn s3(self, port: u16) -> Self {
        let call = self.env("AWS_ENDPOINT_URL", &format!("http://127.0.0.1:{port}"));
        call.env("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE").env("AWS_SECRET_ACCESS_KEY", SECRET)
    }
}
